"""Which sources a question was sent to, and what was asked to find out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from fingerpost.types.conversation import ConversationMessage
from fingerpost.types.question import AnswerStatus, DecisionAnswer, Question
from fingerpost.types.result import Usage
from fingerpost.types.source import Retriever


class FallbackStrategy(StrEnum):
    """What a source router does when it cannot decide."""

    DO_NOT_ROUTE = "do_not_route"
    ROUTE_TO_ALL = "route_to_all"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class SourceAssessment:
    """What a router thought of one source.

    Attributes:
        name: Of the source.
        probability: That it could help, 0 to 1; ``None`` when the router gave none.
        threshold: From which it is used, 0 to 1; ``None`` when the router has none.
        chosen: Whether it is used.
        question: What was asked about it, empty when nothing was.
        status: Whether the model answered.
    """

    name: str
    probability: float | None = None
    threshold: float | None = None
    chosen: bool = False
    question: str = ""
    status: AnswerStatus = AnswerStatus.ANSWERED


@dataclass(frozen=True, slots=True)
class SourceRouting:
    """Which sources one question is sent to.

    Attributes:
        retrievers: Those that are used, in the order in which they were given; may be empty.
        assessments: One per source, in that order.
        router: Who decided: ``decision``, ``language-model``, ``embedding``, ``words``; the class
            of one that failed in a cascade; ``none`` where a host's own was of no use.
        model: Provider and model that decided, empty when none answered.
        confidence: Estimated probability that this routing is right, 0 to 1; 0 after a fallback.
        fallback: What was done instead of a decision, ``None`` when there was one.
        reason: Why there was none, or why a cascade went on, for people.
        answers: To the other questions of the same call, by id.
        usage: One item per model call, those of ``passed`` included.
        passed: Routings of a cascade's earlier routers, which were not sure enough.
    """

    retrievers: tuple[Retriever, ...]
    assessments: tuple[SourceAssessment, ...]
    router: str
    model: str = ""
    confidence: float = 0.0
    fallback: FallbackStrategy | None = None
    reason: str = ""
    answers: Mapping[str, DecisionAnswer] = field(default_factory=dict, hash=False)
    usage: tuple[Usage, ...] = ()
    passed: tuple[SourceRouting, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the sources that are used."""
        return tuple(item.name for item in self.assessments if item.chosen)


class SourceRouter(Protocol):
    """Chooses among the sources that it was built with."""

    @abstractmethod
    async def route(
        self,
        query: str,
        conversation: Sequence[ConversationMessage] = (),
        *,
        also: Sequence[Question] = (),
        deadline: float | None = None,
        query_id: str = "",
    ) -> SourceRouting:
        """Return which sources could help with a question.

        Args:
            query: The question, made to stand alone where it was a follow-up.
            conversation: What was said before it, oldest first; the system message may be in
                it. The query itself is not.
            also: Other questions for the same call; routers that ask no decision model leave
                them unanswered.
            deadline: When it must have ended, by ``time.monotonic``.
            query_id: For events.

        Raises:
            LaneError: It could not decide and its fallback strategy is ``FAIL``.
        """
        ...
