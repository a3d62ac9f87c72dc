"""Recommendations: by words, by meaning, with what was kept, without what was excluded."""

import sqlite3

import numpy as np
import pytest

from fingerpost import Capability, CapabilityDiscoveryEngine, ConfigError
from fingerpost.errors import EmbeddingError
from fingerpost.testing import HashEmbedder
from fingerpost.types.plan import CapabilitySearch

OFFERED = [
    Capability("tool", "convertImage", "Converts images between formats"),
    Capability("skill", "write-changelog", "Writes a changelog from commits"),
    Capability("extension", "calendar", "Reads appointments"),
    Capability("skill", "convertImage", "Tells how images are converted"),
]


def _engine(**more):
    return CapabilityDiscoveryEngine(extensions=OFFERED, **more)


def test_shared_words_recommend_with_reason_confidence_and_priority():
    first, second = _engine().recommend("How do I convert images between formats?")
    assert (first.kind, first.id, first.priority, second.priority) == ("tool", "convertImage", 1, 2)
    assert first.reasoning == ("name holds 'convert', 'images'; description holds 'formats'")
    assert 1 >= first.confidence >= second.confidence > 0


@pytest.mark.parametrize("question", ["What does the default mode do?", "2+2", "delete it all"])
def test_a_short_question_makes_nothing_near_certain(question):
    texts = ("Sorts by default mode", "Adds 2 rows", "Delete a sheet", "Reads appointments")
    offered = [Capability("tool", f"t{n}", text) for n, text in enumerate(texts * 10)]
    found = CapabilityDiscoveryEngine(extensions=offered).recommend(question, k=50)
    assert all(item.confidence < 0.75 for item in found)


@pytest.mark.parametrize(
    "question", ["", "   ", "?", "the of and", "Wie spät ist es?", "x" * 10_000]
)
def test_a_question_that_shares_no_word_gets_nothing(question):
    assert _engine().recommend(question) == ()


@pytest.mark.parametrize(
    ("excluded", "left"),
    [
        (["convertImage"], []),
        (["tool:convertImage"], ["skill:convertImage"]),
        (["skill:convertImage"], ["tool:convertImage"]),
        ("tool:convertImage", ["skill:convertImage"]),
        ("skill:convertImages", ["tool:convertImage", "skill:convertImage"]),
        (["extension:convertImage", "image"], ["tool:convertImage", "skill:convertImage"]),
    ],
)
def test_ids_are_excluded_with_their_kind_or_of_every_kind_without(excluded, left):
    engine = _engine()
    found = engine.recommend("convert images between formats", excluded)
    assert [f"{item.kind}:{item.id}" for item in found] == left
    near = [item.full_id for item in engine.nearest("convert images", excluded)]
    assert sorted(near) == sorted(
        item.full_id for item in OFFERED if item.id != "convertImage" or item.full_id in left
    )


def test_at_most_k_come_and_none_of_an_empty_catalogue():
    assert len(_engine().recommend("convert images between formats", k=1)) == 1
    assert _engine().recommend("convert images", k=0) == ()
    empty = CapabilityDiscoveryEngine(embedder=HashEmbedder())
    assert (empty.recommend("anything"), list(empty.nearest("anything"))) == ((), [])


def test_the_nearest_are_few_and_by_kind():
    near = _engine().nearest("convert images", k=2)
    assert [item.full_id for item in near] == ["skill:convertImage", "tool:convertImage"]


def test_the_engine_is_a_search():
    assert isinstance(_engine(), CapabilitySearch)


class _Synonyms(HashEmbedder):
    """Knows one thing: pictures are images."""

    def embed(self, texts):
        return super().embed([text.replace("pictures", "images") for text in texts])


def test_a_question_in_other_words_is_found_by_meaning(tmp_path):
    engine = _engine(embedder=_Synonyms(), cache_dir=tmp_path)
    question = "Converts pictures between formats"
    assert engine.nearest(question, k=1)[0].id == "convertImage"
    best = engine.recommend(question)[0]
    assert (best.kind, best.id) == ("tool", "convertImage")
    assert "similarity in meaning" in best.reasoning


def test_vectors_are_computed_once_and_only_those_of_changed_texts_anew(tmp_path):
    first = HashEmbedder()
    _engine(embedder=first, cache_dir=tmp_path)
    assert first.n_texts == 2 * len(OFFERED)
    again = HashEmbedder()
    _engine(embedder=again, cache_dir=tmp_path)
    assert again.n_texts == 0
    changed = HashEmbedder()
    new = [*OFFERED[:-1], Capability("skill", "convertImage", "Something else")]
    CapabilityDiscoveryEngine(extensions=new, embedder=changed, cache_dir=tmp_path)
    assert changed.texts == ["Something else", "convert Image: Something else"]
    other = HashEmbedder(revision="2")
    _engine(embedder=other, cache_dir=tmp_path)
    assert other.n_texts == 2 * len(OFFERED)


def test_kept_vectors_give_the_same_recommendations(tmp_path):
    fresh = _engine(embedder=HashEmbedder(), cache_dir=tmp_path)
    kept = _engine(embedder=HashEmbedder(), cache_dir=tmp_path)
    for question in ("convert images", "appointments of today", "changelog"):
        assert fresh.recommend(question) == kept.recommend(question)


def test_the_kept_file_is_its_owners_alone(tmp_path):
    _engine(embedder=HashEmbedder(), cache_dir=tmp_path / "new")
    (file,) = (tmp_path / "new").iterdir()
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.parametrize("damage", ["no database", "wrong length", "not a number", "text"])
def test_a_damaged_cache_is_computed_again_and_mended(damage, tmp_path):
    _engine(embedder=HashEmbedder(), cache_dir=tmp_path)
    (file,) = tmp_path.iterdir()
    if damage == "no database":
        file.write_bytes(b"garbage" * 1000)
    else:
        values = {
            "wrong length": b"\0" * 8,
            "not a number": np.full(64, np.nan, dtype="<f4").tobytes(),
            "text": "hello",
        }
        with sqlite3.connect(file) as database:
            database.execute("UPDATE vectors SET vector = ?", (values[damage],))
        database.close()
    mended = HashEmbedder()
    engine = _engine(embedder=mended, cache_dir=tmp_path)
    assert mended.n_texts == 2 * len(OFFERED)
    assert engine.recommend("convert images")[0].id == "convertImage"
    later = HashEmbedder()
    _engine(embedder=later, cache_dir=tmp_path)
    assert later.n_texts == 0


def test_a_cache_that_cannot_be_written_costs_no_answer(tmp_path, caplog):
    file = tmp_path / "file"
    file.write_text("in the way")
    engine = _engine(embedder=HashEmbedder(), cache_dir=file)
    assert engine.recommend("convert images")
    assert "not kept" in caplog.text


class _FailsLater(HashEmbedder):
    def embed(self, texts):
        if self.n_calls:
            raise EmbeddingError("gone")
        return super().embed(texts)


def test_an_embedder_that_fails_at_a_question_leaves_the_words(tmp_path, caplog):
    engine = _engine(embedder=_FailsLater(), cache_dir=tmp_path)
    found = engine.recommend("convert images between formats")
    assert found == _engine().recommend("convert images between formats")
    assert "by words alone" in caplog.text


def test_an_embedder_that_cannot_embed_is_refused():
    with pytest.raises(ConfigError):
        _engine(embedder="minilm")
