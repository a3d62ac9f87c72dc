"""What one evaluation found about one data set, before anyone draws or prints it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fingerpost.eval.plots import Plot

Values = dict[str, float | int | None]

_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that crashed.

    Attributes:
        case_id: Of the row.
        error: Class and message of what was raised.
    """

    case_id: str
    error: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the product made of one case.

    Attributes:
        case_id: Of the row.
        text: What was asked or claimed.
        expected: The labels or ids that are right; empty when none is.
        got: What came, best first; empty when the case crashed.
        right: Whether it counts as right; ``None`` when the case is counted apart.
        confidence: What the product states or implies, 0 to 1; ``None`` where it states nothing.
        scores: Label or id → score, higher is better.
        more: Further facts by name, JSON-safe.
    """

    case_id: str
    text: str
    expected: Sequence[str]
    got: Sequence[str]
    right: bool | None
    confidence: float | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    more: Mapping[str, object] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """Return one flat JSON object."""
        confidence = None if self.confidence is None else round(self.confidence, _DIGITS)
        return {
            "id": self.case_id,
            "text": self.text,
            "expected": list(self.expected),
            "got": list(self.got),
            "right": self.right,
            "confidence": confidence,
            "scores": rounded(self.scores),
            **self.more,
        }


@dataclass(frozen=True, slots=True)
class Measurement:
    """The numbers of one data set.

    Attributes:
        name: Of the data set.
        values: Name → number, JSON-safe; ``None`` where a measure has no value.
        groups: Kind of group (``languages``, ``sources``) → group → numbers; only where there
            is more than one group.
        tables: Name → row → column → count or share (confusion, recall by label).
        plots: In reading order.
        failures: Cases that crashed; they count as wrong in every number.
        outcomes: One for each case, in the order of the rows.
    """

    name: str
    values: Mapping[str, float | int | None]
    groups: Mapping[str, Mapping[str, Values]] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    plots: Sequence[Plot] = ()
    failures: Sequence[Failure] = ()

    outcomes: Sequence[Outcome] = ()

    @property
    def wrong(self) -> list[Outcome]:
        """Return the outcomes that count as wrong, the surest first."""
        found = [one for one in self.outcomes if one.right is False]
        return sorted(found, key=lambda one: -(one.confidence or 0.0))

    def to_json(self, *, most_wrong: int = 0) -> dict[str, object]:
        """Return one flat JSON object: values, then tables and groups under their names.

        Args:
            most_wrong: How many wrong cases it holds at most.
        """
        out: dict[str, object] = {**rounded(self.values), "n_failed": len(self.failures)}
        out.update({name: _rounded_table(table) for name, table in self.tables.items()})
        for kind, members in self.groups.items():
            out[kind] = {name: rounded(values) for name, values in members.items()}
        out["n_wrong"] = len(self.wrong)
        out["wrong"] = [one.to_json() for one in self.wrong[:most_wrong]]
        return out


def grouped(
    kinds: Mapping[str, Sequence[str]], score: Callable[[list[int]], Values]
) -> dict[str, dict[str, Values]]:
    """Return kind → group → numbers, only for kinds with more than one group.

    Args:
        kinds: Kind → the group of each case; a blank one belongs to none.
        score: Scores the cases at these places.
    """
    out: dict[str, dict[str, Values]] = {}
    for kind, names in kinds.items():
        members: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            members.setdefault(name, []).append(place)
        members.pop("", None)
        if len(members) > 1:
            out[kind] = {name: score(members[name]) for name in sorted(members)}
    return out


def rounded(values: Mapping[str, float | int | None]) -> Values:
    """Return the same values with at most four decimals."""
    return {
        name: round(value, _DIGITS) if isinstance(value, float) else value
        for name, value in values.items()
    }


def _rounded_table(table: Mapping[str, object]) -> dict[str, object]:
    out: dict[str, object] = {}
    for name, cell in table.items():
        if isinstance(cell, Mapping):
            out[name] = _rounded_table(cell)
        else:
            out[name] = round(cell, _DIGITS) if isinstance(cell, float) else cell
    return out
