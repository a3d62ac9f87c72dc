"""Decision models and retrievers of LangChain, both ways, with the real library."""

import math

import anyio
import pytest

from fingerpost.bridges import LangChainRetriever, from_langchain, to_langchain
from fingerpost.decide.query_router import DecisionModelQueryRouter
from fingerpost.errors import (
    DecisionError,
    InvalidDecisionResponseError,
    LaneError,
    RefusedError,
    UsageError,
)
from fingerpost.lanes.asked import ask
from fingerpost.types.question import (
    AnswerStatus,
    Choice,
    DecisionAnswer,
    DecisionResponse,
    Score,
    YesNo,
)
from fingerpost.types.result import Usage
from fingerpost.types.source import Source

decisions = pytest.importorskip(
    "langchain_core.decisions", reason="needs the extra langchain (langchain-core 1.8 or newer)"
)
documents = pytest.importorskip("langchain_core.documents", reason="needs the extra langchain")
messages = pytest.importorskip("langchain_core.messages", reason="needs the extra langchain")
retrievers = pytest.importorskip("langchain_core.retrievers", reason="needs the extra langchain")

pytestmark = pytest.mark.anyio

FITS = YesNo("fits", "Does it fit?", yes="It is about it")
LANE = Choice("lane", "Which lane?", {"howto": "Steps", "reference": None})
DEPTH = Score("depth", "How deep?", ("One line", "A page", "A book"))
ANSWERS = {
    "fits": {"type": "noul", "noul": 0.9},
    "lane": {
        "type": "choice", "choice": "reference", "confidence": 0.4,
        "probabilities": {"howto": 0.3, "reference": 0.7},
    },
    "depth": {
        "type": "score", "score": 0.9, "confidence": 0.5,
        "legend": {0: "One line", 1: "A page", 2: "A book"},
        "probabilities": {0: 0.2, 1: 0.7, 2: 0.1},
    },
}  # fmt: skip


class Theirs(decisions.BaseDecisionModel):
    """A decision model of LangChain that answers what it is told."""

    model: str = "jev-1"
    said: dict = {}  # noqa: RUF012 - a field
    asked: list = []  # noqa: RUF012 - a field
    usage: dict | None = None
    error: str = ""

    @property
    def _provider(self):
        return "theirs"

    def _classify(self, state, questions):
        if self.error:
            raise ValueError(self.error)
        self.asked.append((state, questions))
        return decisions.ClassifierResponse(
            model="jev-1.2", answers=self.said, usage=self.usage, request_id="r-1"
        )


async def test_a_langchain_model_answers_all_typed_questions():
    theirs = Theirs(said=ANSWERS, usage={"input_tokens": 11, "output_tokens": 2})
    about = {"query": "How?", "messages": [{"role": "user", "text": "hi"}]}
    response = await ask(from_langchain(theirs), about, [FITS, LANE, DEPTH])
    assert response.answers["fits"].value == pytest.approx(0.9)
    assert response.answers["lane"].label == "reference"
    assert response.answers["lane"].provider_confidence == 0.4
    assert response.answers["lane"].confidence == pytest.approx(0.4)
    assert response.answers["depth"].value == pytest.approx(0.9)
    assert response.model == "langchain/jev-1.2"
    assert response.request_id == "r-1"
    assert response.usage == (Usage("decide", "langchain/jev-1.2", 11, 2),)
    [(state, questions)] = theirs.asked
    assert state == about
    assert questions["fits"].instructions == "Does it fit?"
    assert (questions["fits"].criteria.true, questions["fits"].criteria.false) == (
        "It is about it", None,
    )  # fmt: skip
    assert questions["lane"].criteria == {"howto": "Steps", "reference": None}
    assert questions["depth"].criteria == ["One line", "A page", "A book"]


async def test_usage_that_is_not_told_is_said_to_be_a_guess():
    response = await ask(from_langchain(Theirs(said=ANSWERS)), "x", [FITS])
    assert response.usage == (Usage("decide", "langchain/jev-1.2", 0, 0, estimated=True),)


@pytest.mark.parametrize(
    "said",
    [
        {}, {"fits": ANSWERS["lane"]}, {"other": ANSWERS["fits"]},
        {"fits": {"type": "box", "box": {"top": 0, "bottom": 1, "left": 0, "right": 1}}},
    ],
)  # fmt: skip
async def test_answers_that_do_not_fit_the_questions_are_refused(said):
    with pytest.raises(InvalidDecisionResponseError):
        await ask(from_langchain(Theirs(said=said)), "x", [FITS])


async def test_whatever_a_langchain_model_raises_is_a_lane_error():
    with pytest.raises(LaneError, match="declined"):
        await ask(from_langchain(Theirs(error="declined")), "x", [FITS])


class Shelf:
    async def retrieve(self, query, top_k):
        return []


async def test_a_langchain_model_routes_sources():
    said = {"s0": {"type": "noul", "noul": 0.2}, "s1": {"type": "noul", "noul": 0.8}}
    router = DecisionModelQueryRouter(
        from_langchain(Theirs(said=said)),
        [Source("hr", "people", Shelf()), Source("it", "machines", Shelf())],
    )
    assert (await router.route("laptop?")).names == ("it",)


class Ours:
    """A decision model of ours that answers what it is told."""

    provider, model = "test", "ours"

    def __init__(self, *answers):
        self.answers = answers
        self.asked = []
        self.closed = 0

    async def decide(self, input, questions):
        self.asked.append((input, list(questions)))
        await anyio.lowlevel.checkpoint()
        usage = (Usage("decide", "test/ours", 5, 1), Usage("decide", "test/ours", 6, 0))
        given = {answer.id: answer for answer in self.answers}
        return DecisionResponse(given, "test/ours-1", usage, "r-2")

    async def close(self):
        self.closed += 1


def request(state="How?"):
    asked = {
        "fits": decisions.Noul(instructions="Does it fit?", criteria={"true": {"any": "JSON"}}),
        "lane": decisions.Choice(instructions=["Which", "lane?"], criteria={"a": None, "b": "B"}),
        "depth": decisions.Score(instructions="How deep?", criteria=["low", {"at": "high"}]),
    }
    return {"state": state, "questions": asked}


GIVEN = (
    DecisionAnswer("fits", probabilities={"yes": 0.9, "no": 0.1}),
    DecisionAnswer("lane", probabilities={"a": 0.25, "b": 0.75}),
    DecisionAnswer("depth", probabilities={"0": 0.4, "1": 0.6}),
)


def check(response):
    assert response.model == "test/ours-1"
    assert response.nouls["fits"].noul == pytest.approx(0.9)
    assert response.choices["lane"].choice == "b"
    assert response.choices["lane"].confidence == pytest.approx(0.5)
    assert response.scores["depth"].score == pytest.approx(0.6)
    assert response.scores["depth"].legend == {0: "low", 1: {"at": "high"}}
    assert response.scores["depth"].probabilities == pytest.approx({0: 0.4, 1: 0.6})
    assert response.usage["total_tokens"] == 12
    assert response.request_id == "r-2"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_our_model_is_a_langchain_decision_model(anyio_backend):
    ours = Ours(*GIVEN)
    theirs = to_langchain(ours)
    assert isinstance(theirs, decisions.BaseDecisionModel)
    check(await theirs.ainvoke(request()))
    [(about, questions)] = ours.asked
    assert about == "How?"
    assert questions == [
        YesNo("fits", "Does it fit?", '{"any": "JSON"}'),
        Choice("lane", '["Which", "lane?"]', {"a": None, "b": "B"}),
        Score("depth", "How deep?", ("low", '{"at": "high"}')),
    ]


def test_our_model_can_be_called_blocking_and_leaves_no_connection():
    ours = Ours(*GIVEN)
    check(to_langchain(ours).invoke(request()))
    assert ours.closed == 1


async def test_it_can_be_called_blocking_within_a_running_event_loop():
    check(to_langchain(Ours(*GIVEN)).invoke(request()))


async def test_both_ways_at_once_give_the_same_answers():
    there_and_back = from_langchain(to_langchain(Ours(*GIVEN)))
    asked = [YesNo("fits", "?"), Choice("lane", "?", {"a": None, "b": None}),
             Score("depth", "?", ("low", "high"))]  # fmt: skip
    response = await ask(there_and_back, "x", asked)
    straight = await ask(Ours(*GIVEN), "x", asked)
    for id_, answer in straight.answers.items():
        assert response.answers[id_].probabilities == pytest.approx(dict(answer.probabilities))


def test_messages_of_langchain_become_objects():
    ours = Ours(*GIVEN)
    state = {
        "turns": [messages.HumanMessage("hi"), messages.AIMessage("yes?")],
        "n": 1, "bad": math.nan,
    }  # fmt: skip
    to_langchain(ours).invoke(request(state))
    assert ours.asked[0][0] == {
        "turns": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "yes?"},
        ],
        "n": 1,
        "bad": None,
    }


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (DecisionAnswer("fits", AnswerStatus.REFUSED), RefusedError),
        (DecisionAnswer("fits", AnswerStatus.ABSTAINED), DecisionError),
        (DecisionAnswer("lane", label="a"), InvalidDecisionResponseError),
    ],
)
def test_what_langchain_cannot_say_is_raised_and_not_made_up(answer, kind):
    given = {one.id: one for one in GIVEN} | {answer.id: answer}
    with pytest.raises(kind):
        to_langchain(Ours(*given.values())).invoke(request())


def test_a_question_about_an_image_is_refused():
    asked = {"state": "x", "questions": {"where": decisions.Box(instructions="the cat")}}
    with pytest.raises(UsageError, match="where"):
        to_langchain(Ours()).invoke(asked)


def test_no_secret_of_the_model_is_shown():
    class Keyed(Ours):
        def __repr__(self):
            return "sk-canary"

    theirs = to_langchain(Keyed())
    assert "canary" not in f"{theirs!r} {theirs} {theirs.model_dump()}"


class Found(retrievers.BaseRetriever):
    """A retriever of LangChain with its own async half, or without."""

    found: list = []  # noqa: RUF012 - a field

    def _get_relevant_documents(self, query, *, run_manager):
        return self.found


def document(text, **metadata):
    return documents.Document(page_content=text, metadata=metadata)


async def test_documents_of_a_langchain_retriever_are_passages():
    found = [
        document("Rotate it.", source="https://x.test/a", title="Keys", score=0.5, page=3),
        document("  \n"),
        document("Second", url="u", at=object, score="high"),
    ]
    first, second = await LangChainRetriever(Found(found=found)).retrieve("keys?", 5)
    assert (first.text, first.uri, first.title, first.score) == (
        "Rotate it.", "https://x.test/a", "Keys", 0.5,
    )  # fmt: skip
    assert first.metadata["page"] == 3
    assert (second.uri, second.score) == ("u", None)
    assert second.metadata["at"] == str(object)


async def test_no_more_documents_than_wanted_are_passages():
    found = [document(f"text {n}") for n in range(9)]
    assert len(await LangChainRetriever(Found(found=found)).retrieve("x", 4)) == 4
