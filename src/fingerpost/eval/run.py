"""Running cases: one that crashes is recorded and the rest go on."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from fingerpost.eval.measurement import Failure, Measurement

_LOG = logging.getLogger("fingerpost.eval")

Progress = Callable[[str, int, int], None]
"""Takes what is being done, how many are done and how many there are."""


class Identified(Protocol):
    """A case with an id."""

    @property
    def id(self) -> str:
        """Return the id of the row."""
        ...


CaseT = TypeVar("CaseT", bound=Identified)
OutcomeT = TypeVar("OutcomeT")


def silent(label: str, done: int, total: int) -> None:
    """Take progress and show nothing."""


def run_cases(
    label: str,
    cases: Sequence[CaseT],
    attempt: Callable[[CaseT], OutcomeT],
    *,
    instead: OutcomeT,
    progress: Progress = silent,
) -> tuple[list[OutcomeT], list[Failure]]:
    """Run each case in order.

    Args:
        label: Names the run in progress and log.
        cases: What to run.
        attempt: Runs one case.
        instead: Outcome of a case that crashed; it should score as wrong.
        progress: Told after each case.

    Returns:
        One outcome per case, in order, and the crashes.
    """
    outcomes: list[OutcomeT] = []
    failures: list[Failure] = []
    for case in cases:
        try:
            outcomes.append(attempt(case))
        except Exception as error:
            _LOG.debug("%s: case %s crashed", label, case.id, exc_info=True)
            failures.append(Failure(case.id, f"{type(error).__name__}: {error}"))
            outcomes.append(instead)
        progress(label, len(outcomes), len(cases))
    return outcomes, failures


@dataclass(frozen=True, slots=True)
class Run:
    """One command's measurements.

    Attributes:
        command: ``eval retrieval``, …
        measurements: In the order of the arguments.
        took_ms: Wall milliseconds of the whole.
    """

    command: str
    measurements: Sequence[Measurement]
    took_ms: float

    def to_json(self, *, most_wrong: int = 0) -> dict[str, object]:
        """Return the one object that ``--json`` prints."""
        found = {one.name: one.to_json(most_wrong=most_wrong) for one in self.measurements}
        return {
            "command": self.command,
            "datasets": found,
            "took_ms": round(self.took_ms, 1),
        }

    def outcomes(self) -> Iterator[dict[str, object]]:
        """Yield one JSON object for each case of each data set."""
        for measurement in self.measurements:
            for outcome in measurement.outcomes:
                yield {"dataset": measurement.name, **outcome.to_json()}

    def failures(self) -> Mapping[str, Sequence[Failure]]:
        """Return the crashed cases by data set, only where there are any."""
        return {one.name: one.failures for one in self.measurements if one.failures}


def timed_run(command: str, measure: Sequence[Callable[[], Measurement]]) -> Run:
    """Take all measurements one after the other."""
    began = time.perf_counter()
    measurements = [one() for one in measure]
    return Run(command, measurements, (time.perf_counter() - began) * 1000)
