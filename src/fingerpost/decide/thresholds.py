"""From which probability a source is used: fitted numbers, bound to who was asked what."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from fingerpost.config.providers import BY_NAME, DECIDERS
from fingerpost.errors import ConfigError

_FORMAT: Final = 1
_KIND: Final = "fingerpost routing thresholds"
_MAKE: Final = (
    "fingerpost calibrate routing LABELS.jsonl --sources SOURCES.jsonl --out FILE makes one."
)
MAPS: Final = ("none", "temperature", "platt")
LANE: Final = "lane"
_EMBEDDERS: Final = {"words": "none", "minilm-l6-v2-int8": "minilm", "use-multilingual-v3": "use"}
"""Model of the local decision model → what the command line calls its embeddings."""
_EDGE: Final = 1e-6
_STRONGEST: Final = 30.0


@dataclass(frozen=True, slots=True)
class ProbabilityMap:
    """Makes a stated probability honest: a line on the scale of log odds.

    Attributes:
        slope: Below 1 makes probabilities less sure; > 0.
        shift: Added to the log odds.
        kind: One of `MAPS`: ``none`` (as stated), ``temperature`` (slope alone), ``platt``.
    """

    slope: float = 1.0
    shift: float = 0.0
    kind: str = "none"

    def __call__(self, probability: float) -> float:
        """Return the calibrated probability, 0 to 1; greater ones stay greater."""
        if self.kind == "none":
            return probability
        strength = self.slope * log_odds(probability) + self.shift
        return 1 / (1 + math.exp(-max(-_STRONGEST, min(_STRONGEST, strength))))


@dataclass(frozen=True, slots=True)
class SourceThreshold:
    """The threshold of one source.

    Attributes:
        threshold: From this probability of yes on the source is used, 0 to 1.
        own: Whether it was fitted for this source alone.
        reason: Why it has or has not one of its own, for people.
        n_yes: Labelled questions that the source serves.
        n_no: Those that it does not serve.
    """

    threshold: float
    own: bool
    reason: str
    n_yes: int
    n_no: int


@dataclass(frozen=True)
class RoutingThresholds(Mapping[str, float]):
    """Source name → threshold, good for one backend, model and question template alone.

    The same number means different things to different models, so `check` refuses any other.

    Attributes:
        backend: The provider whose answers were used.
        model: Its concrete model, as the answers named it.
        template: The question that was asked about each source, with ``{{description}}`` in it.
        overall: One threshold over all sources, for those that have no own.
        sources: Source name → what was fitted.
        map: Makes the probabilities honest. Thresholds hold for those that the model states.
        waste: What using a needless source was taken to cost, missing the right one being 1.
        before: Measures with every threshold at 0.5 and no map.
        expected: The same measures, cross-validated: what to expect of questions not seen.
        path: The file it was read from, empty when none.
    """

    backend: str
    model: str
    template: str
    overall: float
    sources: Mapping[str, SourceThreshold] = field(hash=False)
    map: ProbabilityMap = ProbabilityMap()
    waste: float = 0.5
    before: Mapping[str, float] = field(default_factory=dict, hash=False)
    expected: Mapping[str, float] = field(default_factory=dict, hash=False)
    path: str = ""

    def __getitem__(self, name: str) -> float:
        return self.sources[name].threshold

    def __iter__(self) -> Iterator[str]:
        return iter(self.sources)

    def __len__(self) -> int:
        return len(self.sources)

    def check(self, provider: str, model: str, template: str) -> None:
        """Refuse to be used with answers of another kind.

        Args:
            provider: Of the model that was asked.
            model: The concrete model that answered, as `DecisionResponse.model` names it.
            template: The question template that was asked.

        Raises:
            ConfigError: One of the three differs; the message says which, the hint what to run.
        """
        backend, model = answered_by(provider, model)
        wrong = []
        if backend != self.backend:
            wrong.append(f"the backend is {backend!r}, not {self.backend!r}")
        if model != self.model:
            wrong.append(f"the model that answered is {model!r}, not {self.model!r}")
        if template != self.template:
            wrong.append(
                f"the question template is another ({_digest(template)[:12]}, "
                f"not {_digest(self.template)[:12]})"
            )
        if wrong:
            raise ConfigError(
                f"the fitted thresholds{self._where()} cannot be used: {'; '.join(wrong)}. "
                "A threshold of one says nothing of another",
                hint=self._cure(backend, model, other_template=template != self.template),
            )

    def save(self, path: str | Path) -> None:
        """Write a JSON file that people can read.

        Raises:
            ConfigError: It cannot be written.
        """
        text = json.dumps(self._to_json(), ensure_ascii=False, indent=2, allow_nan=False)
        try:
            # A name with half a surrogate pair is written as the escape that JSON has for it.
            Path(path).write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise ConfigError(f"{path}: cannot be written: {error.strerror}") from error

    @classmethod
    def load(cls, path: str | Path) -> RoutingThresholds:
        """Read a file that `save` wrote.

        Raises:
            ConfigError: It cannot be read, is of another format, or holds what cannot be a
                threshold.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
            value = json.loads(text, object_pairs_hook=_unique)
        except OSError as error:
            raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
        except (ValueError, RecursionError, MemoryError) as error:
            raise ConfigError(f"{path}: not JSON: {error}", hint=_MAKE) from error
        if not isinstance(value, dict) or value.get("kind") != _KIND:
            raise ConfigError(f"{path}: not a file of routing thresholds", hint=_MAKE)
        if not _is_count(value.get("format")) or value["format"] != _FORMAT:
            raise ConfigError(
                f"{path}: format {value.get('format')!r}; this version reads {_FORMAT}", hint=_MAKE
            )
        try:
            return cls._from_json(value, str(path))
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise ConfigError(f"{path}: {what}", hint=_MAKE) from error

    def _to_json(self) -> dict[str, object]:
        return {
            "kind": _KIND,
            "format": _FORMAT,
            "bound_to": {
                "backend": self.backend,
                "model": self.model,
                "template": self.template,
                "template_sha256": _digest(self.template),
            },
            "waste": self.waste,
            "overall": self.overall,
            "sources": {name: asdict(one) for name, one in self.sources.items()},
            "map": asdict(self.map),
            "before": dict(self.before),
            "expected": dict(self.expected),
        }

    @classmethod
    def _from_json(cls, value: Mapping[str, Any], path: str) -> RoutingThresholds:
        bound = value["bound_to"]
        template = _text(bound, "template")
        if bound["template_sha256"] != _digest(template):
            raise ValueError("the template was changed by hand: it no longer fits its hash")
        return cls(
            backend=_text(bound, "backend"),
            model=_text(bound, "model"),
            template=template,
            overall=_number(value, "overall", 0, 1),
            sources={
                name: SourceThreshold(
                    threshold=_number(one, "threshold", 0, 1),
                    own=_flag(one, "own"),
                    reason=_text(one, "reason"),
                    n_yes=_count(one, "n_yes"),
                    n_no=_count(one, "n_no"),
                )
                for name, one in value["sources"].items()
            },
            map=_map(value["map"]),
            waste=_number(value, "waste", 0),
            before={name: _number(value["before"], name) for name in value["before"]},
            expected={name: _number(value["expected"], name) for name in value["expected"]},
            path=path,
        )

    def _where(self) -> str:
        return f" of {self.path}" if self.path else ""

    def _cure(self, backend: str, model: str, *, other_template: bool) -> str:
        asked = _options(backend, model)
        if not asked:
            return (
                "Fit them anew in Python, with fit_thresholds of fingerpost.decide.calibrate: "
                "fingerpost calibrate routing cannot ask this model."
            )
        template = " --template FILE" if other_template else ""
        return (
            "Fit them anew: fingerpost calibrate routing LABELS.jsonl --sources SOURCES.jsonl "
            f"{asked}{template} --out {self.path or 'FILE'}"
        )


def _options(backend: str, model: str) -> str:
    """Return the options of the command that ask this model, empty when none do."""
    if backend == "local":
        embedder = _EMBEDDERS.get(model)
        return f"--backend local --embedder {embedder}" if embedder else ""
    if backend in DECIDERS:
        return f"--backend {backend} --model {model}"
    return f"--backend chat --model {model}" if backend in BY_NAME else ""


def _map(value: Mapping[str, Any]) -> ProbabilityMap:
    kind, slope = _text(value, "kind"), _number(value, "slope", 0)
    if kind not in MAPS or slope == 0:
        raise ValueError(f"'map' must be {', '.join(MAPS)} with a slope above 0")
    return ProbabilityMap(slope, _number(value, "shift"), kind)


def answered_by(provider: str, model: str) -> tuple[str, str]:
    """Return the backend and its concrete model, for a model that was asked and its answer.

    A lane answers in the name of the model that it reached.

    Args:
        provider: Of the decision model that was asked.
        model: `DecisionResponse.model`, with or without the provider before it.
    """
    named = model.startswith(f"{provider}/") or (provider == LANE and "/" in model)
    backend, _, rest = (model if named else f"{provider}/{model}").partition("/")
    return backend, rest


def log_odds(probability: float) -> float:
    """Return the log odds, those of 0 and 1 kept finite."""
    inside = min(max(probability, _EDGE), 1 - _EDGE)
    return math.log(inside / (1 - inside))


def _digest(template: str) -> str:
    return hashlib.sha256(template.encode("utf-8", "surrogatepass")).hexdigest()


def _text(value: Mapping[str, Any], name: str) -> str:
    found = value[name]
    if not isinstance(found, str):
        raise TypeError(f"{name!r} must be text, not {found!r:.60}")
    return found


def _flag(value: Mapping[str, Any], name: str) -> bool:
    found = value[name]
    if not isinstance(found, bool):
        raise TypeError(f"{name!r} must be true or false, not {found!r:.60}")
    return found


def _count(value: Mapping[str, Any], name: str) -> int:
    found = value[name]
    if not _is_count(found):
        raise TypeError(f"{name!r} must be a whole number from 0, not {found!r:.60}")
    return int(found)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in an object")
    return found


def _number(
    value: Mapping[str, Any], name: str, low: float = -math.inf, high: float = math.inf
) -> float:
    found = value[name]
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        raise TypeError(f"{name!r} must be a number, not {found!r:.60}")
    if not low <= found <= high:
        raise ValueError(f"{name!r} must be {low} to {high}, not {found}")
    return float(found)
