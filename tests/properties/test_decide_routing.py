"""Laws of the router that asks a decision model, and of the cascade."""

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.decide.cascade import CascadeQueryRouter
from fingerpost.decide.query_router import DecisionModelQueryRouter
from fingerpost.types.question import AnswerStatus, DecisionAnswer, DecisionResponse
from fingerpost.types.routing import FallbackStrategy
from fingerpost.types.source import Source

_SHARE = st.floats(0, 1)
_SAID = st.one_of(_SHARE, st.sampled_from([AnswerStatus.REFUSED, AnswerStatus.ABSTAINED]))
_ROWS = st.lists(st.tuples(_SAID, st.none() | _SHARE), min_size=1, max_size=8)
_FALLBACKS = st.sampled_from([FallbackStrategy.DO_NOT_ROUTE, FallbackStrategy.ROUTE_TO_ALL])


class Shelf:
    async def retrieve(self, query, top_k):
        return []


class Scripted:
    provider, model = "test", "scripted"

    def __init__(self, said):
        self.said = said

    async def decide(self, input, questions):
        answers = {}
        for question, said in zip(questions, self.said, strict=True):
            if isinstance(said, AnswerStatus):
                answers[question.id] = DecisionAnswer(question.id, said)
            else:
                shares = {"yes": said, "no": 1 - said}
                answers[question.id] = DecisionAnswer(question.id, probabilities=shares)
        return DecisionResponse(answers, "test/scripted")


def _router(rows, least, strategy):
    sources = [
        Source(f"s{n}", f"shelf {n}", Shelf(), min_probability=own)
        for n, (_, own) in enumerate(rows)
    ]
    return DecisionModelQueryRouter(
        Scripted([said for said, _ in rows]),
        sources,
        min_probability=least,
        fallback_strategy=strategy,
    )


@settings(deadline=None)
@given(_ROWS, _SHARE, _FALLBACKS)
def test_a_source_is_used_exactly_when_its_answer_reaches_its_threshold(rows, least, strategy):
    router = _router(rows, least, strategy)
    routing = anyio.run(router.route, "q")
    answered = [not isinstance(said, AnswerStatus) for said, _ in rows]
    assert [item.name for item in routing.assessments] == [s.name for s in router.sources]
    assert routing.retrievers == tuple(s for s in router.sources if s.name in routing.names)
    assert 0 <= routing.confidence <= 1
    if not any(answered):
        assert routing.fallback is strategy
        assert routing.confidence == 0
        assert len(routing.names) == (len(rows) if strategy is FallbackStrategy.ROUTE_TO_ALL else 0)
        return
    assert routing.fallback is None
    for item, (_, own), told in zip(routing.assessments, rows, answered, strict=True):
        assert item.threshold == (least if own is None else own)
        assert (item.probability is not None) == told
        assert item.chosen == (told and item.probability >= item.threshold)
    assert all(answered) or routing.confidence <= 0.5


@settings(deadline=None)
@given(st.lists(st.tuples(_ROWS, _FALLBACKS), min_size=1, max_size=4), _SHARE)
def test_a_cascade_ends_at_the_first_sure_routing_or_at_the_last(script, accept_at):
    n = min(len(rows) for rows, _ in script)
    routers = [_router(rows[:n], 0.5, strategy) for rows, strategy in script]
    alone = [anyio.run(router.route, "q") for router in routers]
    routing = anyio.run(CascadeQueryRouter(routers, accept_at=accept_at).route, "q")
    sure = [one.fallback is None and one.confidence >= accept_at for one in alone]
    place = next((n for n, yes in enumerate(sure) if yes), len(alone) - 1)
    assert len(routing.passed) == place
    assert routing.assessments == alone[place].assessments
    assert [one.assessments for one in routing.passed] == [one.assessments for one in alone[:place]]
    assert all(one.reason for one in routing.passed)
