"""How a question is to be looked up, in detail, and what could be done with the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class ExecutionPlan:
    """What a plan-aware classifier proposes. Retrieval may do less, never more.

    Attributes:
        vector: Search by meaning.
        bm25: Search by words.
        graph: Expand along links.
        raptor: Search summaries.
        memory: Search earlier conversations.
        multimodal: Search images, audio and video.
        hyde_hypotheses: How many hypothetical passages to search with, 0 to 5.
        memory_types: Which memories, may be empty.
        modalities: Which media, may be empty.
        prefer_recent: Newer documents count more.
        graph_depth: Links to follow, 0 to 3.
        raptor_layers: Layers of summaries, 0 is the text itself.
        deep_research: Run the research pass.
    """

    vector: bool = True
    bm25: bool = True
    graph: bool = False
    raptor: bool = False
    memory: bool = False
    multimodal: bool = False
    hyde_hypotheses: int = 0
    memory_types: tuple[str, ...] = ()
    modalities: tuple[str, ...] = ()
    prefer_recent: bool = False
    graph_depth: int = 0
    raptor_layers: tuple[int, ...] = ()
    deep_research: bool = False


@dataclass(frozen=True, slots=True)
class Capability:
    """Something a host can do, offered to the classifier.

    Attributes:
        kind: ``skill``, ``tool`` or ``extension``.
        id: Unique within its kind.
        summary: One line.
    """

    kind: str
    id: str
    summary: str = ""

    @property
    def full_id(self) -> str:
        """Return ``kind:id``."""
        return f"{self.kind}:{self.id}"

    def is_among(self, names: Sequence[str]) -> bool:
        """Return whether one of the names is its id, with or without its kind before it."""
        return self.id in names or self.full_id in names


class CapabilitySource(Protocol):
    """Knows what a host can do; asked before each classification, so it must be quick."""

    def capabilities(self) -> Sequence[Capability]:
        """Return what may be recommended, the most general first; at most 50 are shown."""
        ...


@runtime_checkable
class CapabilitySearch(Protocol):
    """A `CapabilitySource` may have these as well; it is then asked for what is near a question.

    Both are called in a worker thread, for several questions at once.
    """

    def nearest(
        self, question: str, excluded_capability_ids: Sequence[str] = (), k: int = 30
    ) -> Sequence[Capability]:
        """Return up to ``k`` capabilities, the nearest first, to be shown to a classifier."""
        ...

    def recommend(
        self, question: str, excluded_capability_ids: Sequence[str] = (), k: int = 5
    ) -> Sequence[CapabilityRecommendation]:
        """Return up to ``k`` capabilities that may help, the best first; empty when none may."""
        ...


@dataclass(frozen=True, slots=True)
class CapabilityRecommendation:
    """A capability that may help with a question.

    Attributes:
        kind: ``skill``, ``tool`` or ``extension``.
        id: Of a capability that was offered.
        reasoning: Why, for people.
        confidence: 0 to 1.
        priority: 1 is first.
    """

    kind: str
    id: str
    reasoning: str
    confidence: float
    priority: int


@dataclass(frozen=True, slots=True)
class SkippedCapability:
    """Something that could not be read as a capability.

    Attributes:
        where: File, with the number of the entry in it.
        reason: A sentence fragment for people.
    """

    where: str
    reason: str
