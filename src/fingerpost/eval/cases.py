"""Evaluation cases, read from JSONL; a bad row is refused with its file and line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from fingerpost.decide import SourceDescription
from fingerpost.errors import EvaluationError
from fingerpost.types.answer import Verdict
from fingerpost.types.query import Turn

TIERS = ("T0", "T1", "T2", "T3")
NOT_SUPPORTED = "not_supported"
LABELS = (
    Verdict.SUPPORTED.value,
    Verdict.WEAK.value,
    Verdict.UNVERIFIABLE.value,
    Verdict.CONTRADICTED.value,
    NOT_SUPPORTED,
)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_AGENTS = frozenset({"agent", "assistant", "system", "bot", "model"})
_MAX_FAITHFULNESS = 4.0

Row = Mapping[str, object]
CaseT = TypeVar("CaseT")


@dataclass(frozen=True, slots=True)
class Passage:
    """One text of the collection that is searched."""

    id: str
    text: str
    title: str = ""
    format: str = "text"


@dataclass(frozen=True, slots=True)
class RetrievalCase:
    """A question and the passages that answer it.

    Attributes:
        id: Of the row.
        question: The last turn, as asked.
        gold: Ids of the passages; empty when nothing in the collection answers.
        grades: Relevance by passage id, > 0; every gold passage has one.
        history: Earlier turns, oldest first.
        language: Language of the question, empty when the row does not say.
        answerability: How far the collection answers it, empty when the row does not say.
    """

    id: str
    question: str
    gold: frozenset[str]
    grades: Mapping[str, float] = field(default_factory=dict, hash=False)
    history: tuple[Turn, ...] = ()
    language: str = ""
    answerability: str = ""


@dataclass(frozen=True, slots=True)
class TierCase:
    """A question and how hard it is."""

    id: str
    text: str
    tier: str
    source: str
    label_confidence: str
    language: str


@dataclass(frozen=True, slots=True)
class RoutingCase:
    """A question and the one source that serves it; ``None`` when none does.

    Cases of one ``group`` (a conversation) are not split between fitting and testing.
    """

    id: str
    text: str
    source: str | None
    rewrite: str | None = None
    language: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class ClaimCase:
    """One claim, the text it is held against, and what people found."""

    id: str
    claim: str
    source: str
    label: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class AnswerCase:
    """One whole answer, its sources, and how faithful people found it.

    Attributes:
        id: Of the row and the answer's author.
        answer: The text.
        sources: What it was written from, at least one.
        faithfulness: Mean human mark, 1 to 4, higher is better.
    """

    id: str
    answer: str
    sources: tuple[str, ...]
    faithfulness: float


def dataset_name(path: Path) -> str:
    """Return the file's stem without ``_passages`` or ``_queries``."""
    return path.stem.removesuffix("_passages").removesuffix("_queries")


def read_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield (line number from 1, object) for each line that is not blank.

    Raises:
        EvaluationError: The file cannot be read, is not UTF-8, or a line is no JSON object.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise EvaluationError(f"{path}: cannot be read: {error.strerror}") from error
    # Only real line feeds end a row: str.splitlines would also cut at U+2028 inside a string.
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise EvaluationError(f"{path}:{number}: not a line of JSON: {error}") from error
        if _SURROGATE.search(line) and not _is_text(row):
            raise EvaluationError(f"{path}:{number}: half of a surrogate pair is no text")
        if not isinstance(row, dict):
            raise EvaluationError(f"{path}:{number}: a JSON object is needed")
        yield number, row


def _is_text(row: object) -> bool:
    try:
        json.dumps(row, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def read_cases(path: Path, build: Callable[[Row], CaseT]) -> list[CaseT]:
    """Build one case from each row.

    Raises:
        EvaluationError: A row is not usable (named by file and line), or there is none.
    """
    cases: list[CaseT] = []
    for number, row in read_rows(path):
        try:
            cases.append(build(row))
        except _BadRowError as error:
            raise EvaluationError(f"{path}:{number}: {error}") from error
    if not cases:
        raise EvaluationError(f"{path}: no rows")
    return cases


class _BadRowError(Exception):
    """A row lacks something; `read_cases` adds where."""


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise _BadRowError(f"{name!r} must be text that is not blank, not {value!r:.60}")
    return value


def _optional(row: Row, name: str, default: str = "") -> str:
    value = row.get(name)
    if value is None:
        return default
    if not isinstance(value, str):
        raise _BadRowError(f"{name!r} must be text, not {value!r:.60}")
    return value


def _one_of(row: Row, name: str, allowed: Sequence[str]) -> str:
    value = _text(row, name)
    if value not in allowed:
        raise _BadRowError(f"{name!r} must be one of {', '.join(allowed)}, not {value!r:.60}")
    return value


def _texts(row: Row, name: str, *, required: bool) -> tuple[str, ...]:
    value = row.get(name, None if required else [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _BadRowError(f"{name!r} must be a list of texts, not {value!r:.60}")
    return tuple(value)


def passage(row: Row) -> Passage:
    """Build a passage."""
    text = row.get("text")
    if not isinstance(text, str):
        raise _BadRowError(f"'text' must be text, not {text!r:.60}")
    return Passage(
        id=_text(row, "id"),
        text=text,
        title=_optional(row, "title"),
        format=_optional(row, "format", "text"),
    )


def retrieval_case(row: Row) -> RetrievalCase:
    """Build a question with its gold passages; ``gold`` may be an empty list."""
    gold = _texts(row, "gold", required=True)
    return RetrievalCase(
        id=_text(row, "id"),
        question=_text(row, "question"),
        gold=frozenset(gold),
        grades=_grades(row, gold),
        history=_history(row),
        language=_optional(row, "lang"),
        answerability=_optional(row, "answerability").lower(),
    )


def _grades(row: Row, gold: Sequence[str]) -> dict[str, float]:
    value = row.get("grades")
    if value is None:
        return dict.fromkeys(gold, 1.0)
    if not isinstance(value, dict) or not all(map(_is_number, value.values())):
        raise _BadRowError("'grades' must map passage ids to numbers")
    return {item: float(value.get(item, 1.0)) for item in gold}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _history(row: Row) -> tuple[Turn, ...]:
    """Read turns given as texts (all of the user) or as pairs (role, text)."""
    value = row.get("history") or []
    if not isinstance(value, list):
        raise _BadRowError("'history' must be a list")
    turns: list[Turn] = []
    for item in value:
        if isinstance(item, str):
            turns.append(Turn("user", item))
        elif (
            isinstance(item, list)
            and len(item) == 2  # noqa: PLR2004 - a pair
            and all(isinstance(part, str) for part in item)
        ):
            turns.append(Turn("assistant" if item[0] in _AGENTS else "user", item[1]))
        else:
            raise _BadRowError("'history' must hold texts or pairs of role and text")
    return tuple(turns)


def tier_case(row: Row) -> TierCase:
    """Build a question with its tier."""
    return TierCase(
        id=_text(row, "id"),
        text=_text(row, "text"),
        tier=_one_of(row, "tier", TIERS),
        source=_optional(row, "source"),
        label_confidence=_optional(row, "label_confidence", "high"),
        language=_optional(row, "lang"),
    )


def routing_case(row: Row) -> RoutingCase:
    """Build a question with its source; ``source`` must be there, and may be null."""
    if "source" not in row:
        raise _BadRowError("'source' is missing (null when no source serves the question)")
    return RoutingCase(
        id=_text(row, "id"),
        text=_text(row, "text"),
        source=None if row["source"] is None else _text(row, "source"),
        rewrite=_optional(row, "rewrite") or None,
        language=_optional(row, "lang"),
        group=_optional(row, "group"),
    )


def source_option(row: Row) -> SourceDescription:
    """Build a source that a question may be routed to; it needs a name or a description."""
    source = SourceDescription(
        id=_text(row, "id"),
        name=_optional(row, "name"),
        description=_optional(row, "description"),
        examples=_texts(row, "intents", required=False),
    )
    if not source.heading:
        raise _BadRowError("a source needs a 'description' or a 'name'")
    return source


def is_answer_row(row: Row) -> bool:
    """Return whether a grounding row holds whole answers with human marks, not one claim."""
    return "answers" in row


def claim_case(row: Row) -> ClaimCase:
    """Build a claim with its source and label."""
    return ClaimCase(
        id=_text(row, "id"),
        claim=_text(row, "claim"),
        source=_text(row, "source"),
        label=_one_of(row, "label", LABELS),
        language=_optional(row, "lang"),
    )


def answer_cases(row: Row) -> list[AnswerCase]:
    """Build one case for each marked answer of a row."""
    identity = _text(row, "id")
    sources = _texts(row, "sources", required=True)
    answers = row.get("answers")
    if not sources or not isinstance(answers, list) or not answers:
        raise _BadRowError("'sources' and 'answers' must be lists that are not empty")
    cases: list[AnswerCase] = []
    for number, answer in enumerate(answers):
        if not isinstance(answer, dict):
            raise _BadRowError("'answers' must hold objects")
        mark = answer.get("mean")
        if not isinstance(mark, int | float) or not 1 <= mark <= _MAX_FAITHFULNESS:
            raise _BadRowError(f"an answer's 'mean' must be 1 to 4, not {mark!r:.60}")
        author = _optional(answer, "model", str(number))
        cases.append(
            AnswerCase(f"{identity}/{author}", _text(answer, "text"), sources, float(mark))
        )
    return cases
