"""Fitted thresholds as a file, and whom they may be used with."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.decide.thresholds import (
    ProbabilityMap,
    RoutingThresholds,
    SourceThreshold,
    answered_by,
)
from fingerpost.errors import ConfigError

TEMPLATE = "Could this help?\n{{description}}"
FITTED = RoutingThresholds(
    backend="typesafe",
    model="jev-1.13.0",
    template=TEMPLATE,
    overall=0.4,
    sources={
        "api": SourceThreshold(0.35, own=True, reason="cheaper", n_yes=30, n_no=70),
        "blog": SourceThreshold(0.4, own=False, reason="only 3 questions", n_yes=3, n_no=97),
    },
    map=ProbabilityMap(0.8, -0.1, "platt"),
    waste=0.25,
    before={"cost": 0.5},
    expected={"cost": 0.2},
)


def changed(path, change) -> str:
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value), encoding="utf-8")
    return str(path)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "thresholds.json"
    FITTED.save(path)
    return path


def test_thresholds_come_back_from_their_file_as_they_were(saved) -> None:
    found = RoutingThresholds.load(saved)
    assert found.path == str(saved)
    assert dict(found) == {"api": 0.35, "blog": 0.4}
    assert {**vars(found), "path": ""} == vars(FITTED)


def test_the_file_tells_people_what_it_is_bound_to(saved) -> None:
    bound = json.loads(saved.read_text(encoding="utf-8"))["bound_to"]
    assert (bound["backend"], bound["model"], bound["template"]) == (
        "typesafe",
        "jev-1.13.0",
        TEMPLATE,
    )
    assert len(bound["template_sha256"]) == 64


def test_thresholds_serve_whom_they_were_fitted_for() -> None:
    FITTED.check("typesafe", "jev-1.13.0", TEMPLATE)


@pytest.mark.parametrize(
    ("backend", "model", "template", "named"),
    [
        ("ollama", "jev-1.13.0", TEMPLATE, "backend is 'ollama', not 'typesafe'"),
        ("typesafe", "jev-1.14.0", TEMPLATE, "'jev-1.14.0', not 'jev-1.13.0'"),
        ("typesafe", "jev-1.13.0", "Other? {{description}}", "question template is another"),
    ],
)
def test_thresholds_are_refused_with_another_backend_model_or_question(
    saved, backend, model, template, named
) -> None:
    with pytest.raises(ConfigError, match="cannot be used") as refused:
        RoutingThresholds.load(saved).check(backend, model, template)
    assert named in str(refused.value)
    assert str(saved) in str(refused.value)
    assert "fingerpost calibrate routing" in refused.value.hint
    assert f"--backend {backend} --model {model}" in refused.value.hint
    assert ("--template FILE" in refused.value.hint) == (template != TEMPLATE)


def test_a_refusal_names_only_what_differs() -> None:
    with pytest.raises(ConfigError) as refused:
        FITTED.check("typesafe", "typesafe/jev-1.14.0", TEMPLATE)
    assert "backend" not in str(refused.value)
    assert "template" not in str(refused.value)


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("typesafe", "jev-1", ("typesafe", "jev-1")),
        ("typesafe", "typesafe/jev-1", ("typesafe", "jev-1")),
        ("openrouter", "typesafe/jev-1", ("openrouter", "typesafe/jev-1")),
        ("openrouter", "openrouter/typesafe/jev-1", ("openrouter", "typesafe/jev-1")),
        ("lane", "ollama/nimble", ("ollama", "nimble")),
    ],
)
def test_a_model_is_known_by_the_backend_that_answered(provider, model, expected) -> None:
    assert answered_by(provider, model) == expected


def test_a_lane_that_reached_the_fitted_model_may_use_the_thresholds() -> None:
    FITTED.check("lane", "typesafe/jev-1.13.0", TEMPLATE)


def test_a_file_of_a_later_format_is_refused(saved) -> None:
    path = changed(saved, lambda value: value.update(format=2))
    with pytest.raises(ConfigError, match="format 2; this version reads 1"):
        RoutingThresholds.load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value.update(overall=1.5),
        lambda value: value.update(overall=float("nan")),
        lambda value: value.update(overall=True),
        lambda value: value.update(sources=["api"]),
        lambda value: value["sources"]["api"].pop("threshold"),
        lambda value: value["sources"]["api"].update(threshold="high"),
        lambda value: value["map"].update(slope=0),
        lambda value: value["map"].update(kind="magic"),
        lambda value: value["bound_to"].update(model=7),
        lambda value: value["bound_to"].update(template="Another? {{description}}"),
        lambda value: value.pop("bound_to"),
        lambda value: value.update(format=True),
        lambda value: value.update(overall=10**400),
        lambda value: value.update(before=[1]),
        lambda value: value["sources"]["api"].update(own="no"),
        lambda value: value["sources"]["api"].update(reason=7),
        lambda value: value["sources"]["api"].update(n_yes=-5),
        lambda value: value["sources"]["api"].update(n_yes=True),
        lambda value: value["sources"]["api"].update(n_no=float("inf")),
    ],
)
def test_a_file_that_cannot_be_right_is_refused_with_its_name(saved, change) -> None:
    path = changed(saved, change)
    with pytest.raises(ConfigError) as refused:
        RoutingThresholds.load(path)
    assert path in str(refused.value)
    assert refused.value.hint


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '"x"', "[" * 100_000, "\udcff"])
def test_another_file_is_refused(tmp_path, text) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(ConfigError, match=r"other\.json"):
        RoutingThresholds.load(path)


def test_a_missing_file_is_refused(tmp_path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        RoutingThresholds.load(tmp_path / "none.json")


def test_a_file_that_cannot_be_written_is_told(tmp_path) -> None:
    with pytest.raises(ConfigError, match="cannot be written"):
        FITTED.save(tmp_path / "no" / "thresholds.json")


@given(st.floats(0.02, 50), st.floats(-20, 20), st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_a_map_keeps_order_and_stays_within_bounds(slope, shift, stated) -> None:
    chart = ProbabilityMap(slope, shift, "platt")
    found = [chart(value) for value in sorted(stated)]
    assert found == sorted(found)
    assert all(0 <= value <= 1 for value in found)


@pytest.mark.parametrize(
    ("backend", "model", "asked"),
    [
        ("local", "words", "--backend local --embedder none "),
        ("local", "minilm-l6-v2-int8", "--backend local --embedder minilm "),
        ("local", "use-multilingual-v3", "--backend local --embedder use "),
        ("anthropic", "claude-x", "--backend chat --model claude-x "),
    ],
)
def test_the_command_that_cures_asks_the_model_that_answered(backend, model, asked) -> None:
    with pytest.raises(ConfigError) as refused:
        FITTED.check(backend, model, TEMPLATE)
    assert asked in refused.value.hint


@pytest.mark.parametrize(("backend", "model"), [("local", "minilm+examples"), ("mine", "m-1")])
def test_a_model_that_the_command_line_cannot_ask_is_cured_in_python(backend, model) -> None:
    with pytest.raises(ConfigError) as refused:
        FITTED.check(backend, model, TEMPLATE)
    assert "fit_thresholds" in refused.value.hint
    assert "--backend" not in refused.value.hint


def test_half_a_surrogate_pair_in_a_name_is_kept(tmp_path) -> None:
    odd = replace(FITTED, sources={"\ud800": FITTED.sources["api"]})
    odd.save(tmp_path / "odd.json")
    assert dict(RoutingThresholds.load(tmp_path / "odd.json")) == {"\ud800": 0.35}


def test_a_source_that_stands_twice_is_refused(saved) -> None:
    text = Path(saved).read_text(encoding="utf-8")
    Path(saved).write_text(
        text.replace('"sources": {', '"sources": {"api": {}, '), encoding="utf-8"
    )
    with pytest.raises(ConfigError, match="stands twice"):
        RoutingThresholds.load(str(saved))
