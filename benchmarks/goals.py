"""What the project set out to reach, where each figure stands, and what it is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

RETRIEVAL, TIERS = "quality-retrieval", "fit-tiers"
LARGE, SMALL = "speed-powershell-docs", "speed-agentos-docs"


@dataclass(frozen=True)
class Goal:
    """One figure of one result.

    Attributes:
        what: For people.
        result: Name of the file in ``results/``.
        path: Where the figure stands in it.
        limit: What was to be reached; ``None`` where nothing was.
        unit: Behind the figure; empty for a share.
        more_is_better: The limit is a least value, not a largest one.
        beside: What others reach, in words.
    """

    what: str
    result: str
    path: tuple[str, ...]
    limit: float | None = None
    unit: str = ""
    more_is_better: bool = False
    beside: str = ""

    def value(self, found: Mapping[str, Any]) -> float | None:
        """Return the figure, ``None`` when the result does not hold it."""
        value: Any = found
        for key in self.path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return None if value is None else float(value)

    def met(self, value: float) -> bool:
        """Return whether the limit is reached; without one it is."""
        if self.limit is None:
            return True
        return value >= self.limit if self.more_is_better else value <= self.limit

    def shown(self, value: float | None) -> str:
        """Return a figure with its unit: shares with three decimals, others with one or two."""
        if value is None:
            return "not measured"
        if not self.unit:
            return f"{value:.3f}"
        return f"{value:.0f} {self.unit}" if value >= 100 else f"{value:.2f} {self.unit}"

    def shown_limit(self) -> str:
        """Return the limit with its direction."""
        if self.limit is None:
            return ""
        sign = "≥" if self.more_is_better else "≤"
        return f"{sign} {self.limit:g} {self.unit}".strip()


def _share(what: str, name: str, figure: str, limit: float, group: str = "", **more: str) -> Goal:
    groups = ("answerability", group) if group else ()
    path = ("datasets", name, *groups, figure)
    return Goal(what, RETRIEVAL, path, limit, more_is_better=True, **more)


FAQ = "maintainers' own FAQ questions, 23 projects (docsfaq)"
QUALITY = (
    _share(f"{FAQ}, hit@1", "docsfaq", "hit@1", 0.75),
    _share(f"{FAQ}, hit@5", "docsfaq", "hit@5", 0.93),
    _share("claims to abstracts (scifact), hit@5", "scifact", "hit@5", 0.90),
    _share("the same, nDCG@10", "scifact", "ndcg@10", 0.70),
    _share("two-hop questions (hotpotqa), recall@5", "hotpotqa", "recall@5", 0.92),
    _share("answerable turns (mtrag_un), hit@5", "mtrag_un", "hit@5", 0.955, "answerable"),
    _share("eight languages pooled (xquad), hit@5", "xquad", "hit@5", 0.93),
    Goal("tiers of sources never seen, macro-F1", TIERS, ("macro-F1",), 0.60, more_is_better=True),
)


JUDGE = (
    Goal(
        "sets held out, balanced accuracy",
        "grounding",
        ("macro", "full"),
        0.72,
        more_is_better=True,
    ),
    Goal(
        "and above the cosine of claim and source",
        "grounding",
        ("macro", "gain"),
        0.10,
        more_is_better=True,
    ),
    Goal(
        "contradicted recall, fever_symmetric",
        "grounding",
        ("macro", "fever_symmetric recall"),
        0.5,
        more_is_better=True,
    ),
    Goal(
        "at precision",
        "grounding",
        ("macro", "fever_symmetric precision"),
        0.7,
        more_is_better=True,
    ),
    Goal(
        "contradicted recall, scifact",
        "grounding",
        ("macro", "scifact recall"),
        0.5,
        more_is_better=True,
    ),
    Goal("at precision", "grounding", ("macro", "scifact precision"), 0.7, more_is_better=True),
    Goal("challenge set, right", "grounding", ("macro", "challenge"), 0.95, more_is_better=True),
    Goal(
        "50 claims, 10 sources of 500 words, words only, CPU",
        "grounding",
        ("speed", "words only, CPU ms"),
        150,
        "ms",
    ),
    Goal("the same with embeddings", "grounding", ("speed", "full, CPU ms"), 150, "ms"),
)


def _speed(name: str, part: str, *, ingest: bool, limits: Mapping[str, float]) -> tuple[Goal, ...]:
    def goal(what: str, *path: str, unit: str, limit: str = "") -> Goal:
        return Goal(what, name, (part, *path), limits.get(limit), unit)

    first = (
        Goal(
            "ingest without embeddings, CPU by the block parser's own",
            name,
            ("ratios", "ingest CPU by parser CPU"),
            2.5,
            "times",
        ),
        goal("ingest without embeddings, wall", "ingest", "wall_s", unit="s", limit="ingest"),
        goal("peak memory of ingest", "ingest", "peak_mb", unit="MB", limit="peak"),
        goal("and of its largest worker", "ingest", "largest_worker_peak_mb", unit="MB"),
        Goal(
            "embedding rate by the model's alone",
            name,
            ("ratios", "embedding rate by model alone"),
            0.9,
            more_is_better=True,
        ),
    )
    both = (
        goal("chunks", "open", "chunks", unit="chunks"),
        goal("opening", "open", "open_ms", unit="ms", limit="open"),
        goal(
            "hybrid retrieval, 10 hits, wall",
            "retrieve",
            "hybrid_p50_ms",
            unit="ms",
            limit="hybrid",
        ),
        goal("hybrid retrieval, 10 hits, CPU", "retrieve", "hybrid_cpu_ms", unit="ms"),
        goal(
            "whole T1 route with embedding and verification",
            "routes",
            "t1_p50_ms",
            unit="ms",
            limit="t1",
        ),
        goal("whole T2 route", "routes", "t2_p50_ms", unit="ms"),
        goal("whole T3 route", "routes", "t3_p50_ms", unit="ms", limit="t3"),
        goal("one changed file", "reindex", "wall_s", unit="s", limit="reindex"),
        goal(
            "index and search in memory, a chunk",
            "retrieve",
            "kb_per_chunk",
            unit="KB",
            limit="memory",
        ),
        goal(
            "whole process in memory with its model, a chunk",
            "retrieve",
            "process_kb_per_chunk",
            unit="KB",
            limit="memory",
        ),
        Goal(
            "routes a second, 32 at once by one after another",
            name,
            ("ratios", "routes a second, 32 at once by 1, whole"),
            None,
            "times",
        ),
    )
    return (*first, *both) if ingest else both


SPEED_LARGE = _speed(
    LARGE,
    "whole",
    ingest=True,
    limits={"ingest": 12, "peak": 600, "open": 150, "hybrid": 8}
    | {"t1": 25, "t3": 150, "reindex": 1, "memory": 2},
)
SPEED_SMALL = _speed(
    SMALL, "whole", ingest=False, limits={"open": 60, "hybrid": 3, "t1": 25, "t3": 150}
)

COMPARED = (
    _share(f"{FAQ}, hit@1", "docsfaq", "hit@1", 0, beside="plain RRF of BM25 and MiniLM: 0.71"),
    _share(f"{FAQ}, hit@5", "docsfaq", "hit@5", 0, beside="plain RRF: 0.89; BM25: 0.80"),
    _share("claims to abstracts (scifact), hit@5", "scifact", "hit@5", 0, beside="BM25: 0.85"),
    _share(
        "two-hop questions (hotpotqa), recall@5", "hotpotqa", "recall@5", 0, beside="BM25: 0.83"
    ),
    _share(
        "answerable turns (mtrag_un), hit@5",
        "mtrag_un",
        "hit@5",
        0,
        "answerable",
        beside="BM25 of the last turn: 0.90",
    ),
    _share("eight languages pooled (xquad), hit@5", "xquad", "hit@5", 0),
    Goal(
        "tiers of sources never seen, macro-F1",
        TIERS,
        ("macro-F1",),
        beside="TF-IDF and logistic regression: 0.45",
    ),
    Goal(
        "whole T1 route over a large tree (powershell-docs)",
        LARGE,
        ("whole", "routes", "t1_p50_ms"),
        unit="ms",
    ),
    Goal("whole T3 route", LARGE, ("whole", "routes", "t3_p50_ms"), unit="ms"),
    Goal("opening its index", LARGE, ("whole", "open", "open_ms"), unit="ms"),
    Goal("one changed file of it", LARGE, ("whole", "reindex", "wall_s"), unit="s"),
    Goal(
        "first reading of it, without embeddings",
        LARGE,
        ("whole", "ingest", "wall_s"),
        unit="s",
        beside="our goal is 12 s",
    ),
)

LANES = (
    Goal(
        "CPU of a call over a bare client's, one at a time",
        "lanes",
        ("one_at_a_time", "overhead_cpu_ms"),
        1.0,
        "ms",
    ),
    Goal("the same, 32 at a time", "lanes", ("thirty_two_at_a_time", "overhead_cpu_ms"), 1.0, "ms"),
    Goal(
        "delay of the first piece of a stream", "lanes", ("first_piece", "added_wall_ms"), 1.0, "ms"
    ),
    Goal(
        "1,000 calls of a lane at once, beyond the model's half second",
        "routes",
        ("lanes", "beyond_s"),
        1.5,
        "s",
    ),
    Goal(
        "1,000 equal questions to a router at once",
        "routes",
        ("equal_routes", "beyond_s"),
        1.5,
        "s",
    ),
    Goal(
        "1,000 different questions to a router at once, unverified",
        "routes",
        ("different_routes_unverified", "beyond_s"),
        1.5,
        "s",
    ),
    Goal(
        "1,000 different questions to a router at once, verified",
        "routes",
        ("different_routes", "beyond_s"),
        1.5,
        "s",
    ),
    Goal(
        "growth of the process by a further thousand, verified",
        "routes",
        ("different_routes", "grew_mb"),
        None,
        "MB",
    ),
)
READERS = (
    Goal(
        "slowest of 100 searches, nothing written",
        "readers-powershell-docs",
        ("idle", "p99_ms"),
        None,
        "ms",
    ),
    Goal(
        "the same while another process indexes without end",
        "readers-powershell-docs",
        ("written", "p99_ms"),
        None,
        "ms",
    ),
    Goal(
        "the second by the first", "readers-powershell-docs", ("p99 written by idle",), 2.0, "times"
    ),
    Goal(
        "median search, nothing written", "readers-powershell-docs", ("idle", "p50_ms"), None, "ms"
    ),
    Goal(
        "median search while it is written",
        "readers-powershell-docs",
        ("written", "p50_ms"),
        None,
        "ms",
    ),
)
