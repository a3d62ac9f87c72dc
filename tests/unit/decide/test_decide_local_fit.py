"""Learning from examples, and keeping what was learnt."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fingerpost.decide import (
    LocalSourceRouter,
    SourceDescription,
    fit_router,
    load_router,
    save_router,
)
from fingerpost.errors import ConfigError
from fingerpost.lanes.base import EmbeddingModel


class Hashed:
    """A vector per word, added up."""

    name, revision, dimension, max_tokens = "test/hashed", "1", 64, 99
    languages = frozenset({"en"})

    def embed(self, texts: list[str]) -> np.ndarray:
        rows = [
            sum((_vector(word) for word in text.casefold().split()), np.full(64, 1e-3))
            for text in texts
        ]
        return np.stack([row / np.linalg.norm(row) for row in rows]).astype(np.float32)

    def count_tokens(self, text: str) -> int:
        return len(text.split())


class Renewed(Hashed):
    revision = "2"


def _vector(word: str) -> np.ndarray:
    return np.random.default_rng(list(word.encode())).standard_normal(64)


NORTH = SourceDescription("north", "North")
SOUTH = SourceDescription("south", "South")
EXAMPLES = {
    "north": [f"where do bears sleep in {place}" for place in "abcdefghij"],
    "south": [f"how do penguins swim near {place}" for place in "abcdefghij"],
}


def fitted(embedder: EmbeddingModel | None = None) -> LocalSourceRouter:
    return fit_router([NORTH, SOUTH], EXAMPLES, embedder or Hashed())


def test_a_fitted_router_knows_questions_like_its_examples() -> None:
    router = fitted()
    assert router.decide("do bears sleep").choice == "north"
    assert router.decide("penguins swim where").choice == "south"


def test_what_is_unlike_all_examples_is_an_abstention() -> None:
    assert fitted().decide("quarterly invoice totals").abstained


def test_the_same_examples_and_seed_give_the_same_router() -> None:
    one, two = fitted().decide("bears"), fitted().decide("bears")
    assert (one, dict(one.scores)) == (two, dict(two.scores))


def test_no_text_is_embedded_twice_to_learn() -> None:
    seen: list[str] = []

    class Counting(Hashed):
        def embed(self, texts: list[str]) -> np.ndarray:
            seen.extend(texts)
            return super().embed(texts)

    router = fitted(Counting())
    assert len(seen) == len(set(seen))
    router.decide("do bears sleep")
    router.decide("do bears sleep")
    assert seen[-2:] == ["do bears sleep"] * 2


def test_a_source_without_examples_stays_in_the_running() -> None:
    third = SourceDescription("west", "lizards and cactus")
    router = fit_router([NORTH, SOUTH, third], EXAMPLES, Hashed())
    assert router.decide("lizards and cactus").choice == "west"


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        ({"east": ["x"]}, "'east', which is no source"),
        ({"north": ["x", "y"]}, "at least two sources"),
        ({"north": ["x"], "south": [" "]}, "at least two sources"),
        ({}, "at least two sources"),
    ],
)
def test_examples_that_teach_nothing_are_refused(
    examples: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        fit_router([NORTH, SOUTH], examples, Hashed())


def test_a_saved_router_decides_as_before(tmp_path: Path) -> None:
    save_router(fitted(), tmp_path / "routes")
    loaded = load_router(tmp_path / "routes", Hashed())
    for text in ("do bears sleep", "penguins", "quarterly invoice totals", ""):
        one, two = fitted().decide(text), loaded.decide(text)
        assert one.choice == two.choice
        assert one.confidence == pytest.approx(two.confidence, abs=0.01)


TOLD = {"id": "a", "name": "a", "description": "", "examples": []}


def test_a_router_that_learnt_nothing_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="learnt nothing"):
        save_router(LocalSourceRouter([NORTH, SOUTH], Hashed()), tmp_path / "routes")


def test_a_file_of_another_embedding_model_is_refused(tmp_path: Path) -> None:
    save_router(fitted(), tmp_path / "routes")
    with pytest.raises(ConfigError, match=r"learnt with test/hashed \(1\)"):
        load_router(tmp_path / "routes", Renewed())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 99}, "format 99"),
        ({"kind": "something else"}, "no saved source router"),
        ({"threshold": 7.0}, "threshold"),
        ({"format": True}, "format True"),
        ({"threshold": 1}, "threshold"),
        ({"sources": [{"id": "a"}]}, "a source is not usable"),
        ({"sources": {"a": 1}}, "a source is not usable"),
        ({"sources": [TOLD | {"examples": "text"}, TOLD]}, "a source is not usable"),
        ({"sources": [TOLD | {"name": None}, TOLD]}, "a source is not usable"),
        ({"sources": [TOLD, TOLD]}, r"routes\.npz: source id 'a' is given twice"),
        ({"sources": []}, "do not fit"),
    ],
)
def test_a_file_that_says_something_else_is_refused(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    path = tmp_path / "routes.npz"
    save_router(fitted(), path)
    with np.load(path, allow_pickle=False) as file:
        parts = dict(file)
    parts["about"] = np.array(json.dumps(json.loads(str(parts["about"])) | change))
    np.savez(path, **parts)
    with pytest.raises(ConfigError, match=message):
        load_router(path, Hashed())


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("weights", np.nan, "not finite"),
        ("weights", 1e308, "not finite"),
        ("matrix", 1e30, "not finite"),
        ("matrix", 1e308, "not finite"),
        ("weights", 1 + 1j, "no decimal fractions"),
        ("weights", "1", "no decimal fractions"),
        ("weights", np.datetime64(1, "s"), "no decimal fractions"),
    ],
)
def test_numbers_that_are_none_or_not_finite_are_refused(
    tmp_path: Path, name: str, value: object, message: str
) -> None:
    path = tmp_path / "routes.npz"
    save_router(fitted(), path)
    with np.load(path, allow_pickle=False) as file:
        parts = dict(file)
    parts[name] = np.full(parts[name].shape, value)
    np.savez(path, **parts)
    with pytest.raises(ConfigError, match=message):
        load_router(str(path), Hashed())


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(place=st.integers(0, 10**6), byte=st.integers(0, 255), cut=st.booleans())
def test_a_damaged_file_is_a_wrong_setting_that_names_it(
    tmp_path: Path, place: int, byte: int, *, cut: bool
) -> None:
    path = tmp_path / "damaged.npz"
    raw = bytearray(whole_file(tmp_path))
    raw[place % len(raw)] = byte
    path.write_bytes(raw[: place % len(raw)] if cut else raw)
    try:
        load_router(path, Hashed())
    except ConfigError as error:
        told = str(error)
    else:
        told = "damaged.npz is whole where it matters"
    assert "damaged.npz" in told


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f8', 'for",
        "{'descr': '(((((((', 'fortran_order': False, 'shape': (1,)}",
    ],
)
def test_an_array_that_lies_about_itself_is_refused(tmp_path: Path, header: str) -> None:
    path = tmp_path / "lies.npz"
    with zipfile.ZipFile(BytesIO(whole_file(tmp_path))) as good, zipfile.ZipFile(path, "w") as bad:
        for name in ("about.npy", "matrix.npy"):
            bad.writestr(name, good.read(name))
        text = header.encode() + b"\n"
        bad.writestr("weights.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)
    with pytest.raises(ConfigError, match=r"lies\.npz"):
        load_router(path, Hashed())


def whole_file(folder: Path) -> bytes:
    path = folder / "whole.npz"
    if not path.exists():
        save_router(fitted(), path)
    return path.read_bytes()


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04 broken", b"\x80\x04K\x01."])
def test_any_other_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "routes"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="no saved source router"):
        load_router(path, Hashed())
