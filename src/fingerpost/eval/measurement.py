"""What one evaluation found about one data set, before anyone draws or prints it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fingerpost.eval.plots import Plot

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
    """

    name: str
    values: Mapping[str, float | int | None]
    groups: Mapping[str, Mapping[str, Mapping[str, float | int | None]]] = field(
        default_factory=dict
    )
    tables: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    plots: Sequence[Plot] = ()
    failures: Sequence[Failure] = ()

    def to_json(self) -> dict[str, object]:
        """Return one flat JSON object: values, then tables and groups under their names."""
        out: dict[str, object] = {**rounded(self.values), "n_failed": len(self.failures)}
        out.update({name: _rounded_table(table) for name, table in self.tables.items()})
        for kind, members in self.groups.items():
            out[kind] = {name: rounded(values) for name, values in members.items()}
        return out


def rounded(values: Mapping[str, float | int | None]) -> dict[str, float | int | None]:
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
