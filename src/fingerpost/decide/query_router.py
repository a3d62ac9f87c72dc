"""Chooses sources by asking a decision model one yes/no question about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from fingerpost.decide.base import BaseSourceRouter
from fingerpost.decide.conversation import ConversationWindow, MessageFilter
from fingerpost.decide.options import checked_able, checked_probability
from fingerpost.decide.sources import Described
from fingerpost.decide.template import QuestionTemplate
from fingerpost.decide.thresholds import RoutingThresholds
from fingerpost.errors import ConfigError, LaneError, RefusedError
from fingerpost.lanes.asked import ask, called
from fingerpost.lanes.base import DecisionModel
from fingerpost.types.conversation import ConversationMessage
from fingerpost.types.question import (
    AnswerStatus,
    DecisionAnswer,
    DecisionResponse,
    Question,
    YesNo,
)
from fingerpost.types.routing import FallbackStrategy, SourceAssessment, SourceRouting

DEFAULT_QUESTION_TEMPLATE: Final = (
    "Might a source of this description hold something that helps to answer the query?\n"
    "{{description}}"
)


class DecisionModelQueryRouter(BaseSourceRouter):
    """Routes a query to every source that a decision model thinks could help with it.

    One yes/no question per source, all in a single call. A source is used when its probability
    of yes reaches its threshold; when none does, nothing is retrieved. A refused or abstained
    answer is neither yes nor no: that source is not used, and its assessment says so. What a
    retriever returned is never part of a question or of its input, unless a message quotes it.

    The confidence of a routing is that of its least sure decision. That of one source is the
    probability of yes where it is used, one minus it where it is not; from a threshold other than
    0.5 the odds of the threshold are taken off first, unless fitted thresholds bring a map that
    makes probabilities honest. A source without an answer counts as 0.5.

    Args:
        decision_model: Whom to ask.
        retrievers: Retrievers with a description each, or sources.
        question_template: Must contain ``{{description}}`` and no other variable.
        min_probability: Of yes, 0 to 1, both included, from which a source is used.
        fallback_strategy: What to do when the model fails, or answers about no source.
        max_messages: See `ConversationWindow`.
        max_message_length: See `ConversationWindow`.
        message_filter: See `ConversationWindow`.
        thresholds: Thresholds by name of source, over ``min_probability`` and under a source's
            own. Fitted ones are checked against the model once it has answered; sources that
            they do not name take their `overall`.

    Raises:
        ConfigError: A value is not allowed; the message names it and the rule.
    """

    def __init__(
        self,
        decision_model: DecisionModel,
        retrievers: Described,
        *,
        question_template: str = DEFAULT_QUESTION_TEMPLATE,
        min_probability: float = 0.5,
        fallback_strategy: FallbackStrategy = FallbackStrategy.DO_NOT_ROUTE,
        max_messages: int = 10,
        max_message_length: int = 2000,
        message_filter: MessageFilter | None = None,
        thresholds: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(retrievers, kind="decision", fallback_strategy=fallback_strategy)
        self._model = checked_able(decision_model, "decide", "decision_model")
        self._template = QuestionTemplate(question_template)
        self._texts = [self._template.about(source.description) for source in self._sources]
        self._window = ConversationWindow(max_messages, max_message_length, message_filter)
        self._fitted = thresholds if isinstance(thresholds, RoutingThresholds) else None
        if not isinstance(thresholds, Mapping | None):
            raise ConfigError(f"thresholds is {thresholds!r}, allowed are numbers by source name")
        self._thresholds = self._all_thresholds(min_probability, thresholds or {})

    async def route(
        self,
        query: str,
        conversation: Sequence[ConversationMessage] = (),
        *,
        also: Sequence[Question] = (),
        deadline: float | None = None,
        query_id: str = "",
    ) -> SourceRouting:
        """Return the sources that could help. See `SourceRouter.route`.

        Raises:
            LaneError: The model failed and the fallback strategy is ``FAIL``.
            ConfigError: The thresholds were fitted for another model or question.
            InvalidQueryError: The question or the conversation is none.
        """
        questions = self._questions(also)
        try:
            response = await ask(
                self._model,
                self._window.input(query, conversation),
                [*questions, *also],
                deadline=deadline,
                query_id=query_id,
            )
        except LaneError as error:
            return self._fallen_back(error, self._assessments(questions, {}))
        if self._fitted is not None:
            self._fitted.check(called(self._model)[0], response.model, self._template.text)
        return self._decided(questions, also, response)

    def _decided(
        self, questions: Sequence[YesNo], also: Sequence[Question], response: DecisionResponse
    ) -> SourceRouting:
        assessments = self._assessments(questions, response.answers)
        answers = {question.id: response.answers[question.id] for question in also}
        silent = [item for item in assessments if item.probability is None]
        told = ", ".join(f"{item.name} {item.status}" for item in silent)
        if len(silent) == len(assessments):
            error = RefusedError(f"{response.model} answered about no source: {told}")
            error.usage = response.usage
            return self._fallen_back(error, assessments, model=response.model, answers=answers)
        return self._routed(
            assessments,
            model=response.model,
            confidence=min(map(self._sureness, assessments)),
            reason=f"no answer about {told}" if silent else "",
            answers=answers,
            usage=response.usage,
        )

    def _assessments(
        self, questions: Sequence[YesNo], answers: Mapping[str, DecisionAnswer]
    ) -> list[SourceAssessment]:
        """Return what the answers say of each source; nothing where there are none."""
        found = []
        for source, question in zip(self._sources, questions, strict=True):
            answer = answers.get(question.id)
            status = answer.status if answer else AnswerStatus.NOT_ANSWERED
            answered = answer is not None and status is AnswerStatus.ANSWERED
            probability = answer.value if answer and answered else None
            threshold = self._thresholds[source.name]
            chosen = probability is not None and probability >= threshold
            found.append(
                SourceAssessment(source.name, probability, threshold, chosen, question.text, status)
            )
        return found

    def _questions(self, also: Sequence[Question]) -> list[YesNo]:
        """Return a question for each source, under ids that tell nothing and are not taken."""
        prefix = "s"
        while any(question.id.startswith(prefix) for question in also):
            prefix += "s"
        return [YesNo(f"{prefix}{n}", text) for n, text in enumerate(self._texts)]

    def _all_thresholds(
        self, min_probability: float, thresholds: Mapping[str, float]
    ) -> dict[str, float]:
        least = checked_probability(min_probability, "min_probability")
        if self._fitted is not None:
            least = self._fitted.overall
        elif unknown := [name for name in thresholds if name not in self._retrievers]:
            raise ConfigError(f"thresholds names {unknown[0]!r}, which is no source")
        given = {
            name: checked_probability(value, f"thresholds of {name!r}")
            for name, value in thresholds.items()
        }
        own = {
            s.name: float(s.min_probability) for s in self._sources if s.min_probability is not None
        }
        return {source.name: least for source in self._sources} | given | own

    def _sureness(self, item: SourceAssessment) -> float:
        """Return how sure it is that a source is rightly used, or rightly not."""
        if item.probability is None or item.threshold is None:
            return 0.5
        if self._fitted is not None and self._fitted.map.kind != "none":
            yes = self._fitted.map(item.probability)
        else:
            yes = _against(item.probability, item.threshold)
        return yes if item.chosen else 1 - yes


def _against(probability: float, threshold: float) -> float:
    """Return the odds of a probability over those of a threshold, as a probability."""
    above, below = probability * (1 - threshold), (1 - probability) * threshold
    return above / (above + below) if above + below else 0.5
