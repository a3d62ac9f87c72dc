"""A cross-encoder in a folder: what it scores, and what is said of a folder that holds none."""

import shutil
import sys
import time
from pathlib import Path

import anyio
import pytest

from fingerpost.errors import ConfigError, MissingExtraError, ProviderTimeoutError
from fingerpost.lanes.providers.cross_encoder import CrossEncoder

FOLDER = Path(__file__).parents[2] / "data" / "cross_encoder"


@pytest.fixture
def rank():
    pytest.importorskip("onnxruntime", reason="needs the extra `local`")
    pytest.importorskip("tokenizers", reason="needs the extra `local`")
    model = CrossEncoder(FOLDER)

    def call(query, texts):
        return anyio.run(lambda: model.rerank(query, texts))

    return call


def test_texts_that_share_more_words_with_the_query_score_higher_in_their_order(rank):
    ranking = rank("which dog barks?", ["the cat sleeps", "the dog barks", "a dog"])
    cat, barks, dog = ranking.scores
    assert 0 < cat < dog < barks < 1
    assert barks == pytest.approx(0.5)  # log odds of two shared words, minus two
    (usage,) = ranking.usage
    assert (usage.job, usage.model, usage.cost_usd) == ("rerank", "local/cross_encoder", 0.0)
    assert usage.input_tokens > 0


def test_a_score_does_not_depend_on_the_other_texts(rank):
    texts = ["the dog barks", "birds", "cat " * 50, ""]
    together = rank("dog barks", texts).scores
    assert together == tuple(rank("dog barks", [text]).scores[0] for text in texts)


def test_a_deadline_that_passes_ends_the_call():
    pytest.importorskip("onnxruntime", reason="needs the extra `local`")
    model = CrossEncoder(FOLDER)
    with pytest.raises(ProviderTimeoutError, match="of 400 texts in time"):
        anyio.run(lambda: model.rerank("dog", ["dog"] * 400, deadline=time.monotonic() - 1))


def test_a_text_beyond_the_window_is_cut_at_its_end(rank):
    beginning, end = rank("dog", ["dog " + "rain " * 5_000, "rain " * 5_000 + "dog"]).scores
    assert beginning > end


def test_text_that_no_tokenizer_takes_is_scored_all_the_same(rank):
    assert len(rank("dog \ud800", ["\ud800 dog", "\x00"]).scores) == 2


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_one_of_its_files_is_refused_by_name(tmp_path, missing):
    pytest.importorskip("onnxruntime", reason="needs the extra `local`")
    for name in {"model.onnx", "tokenizer.json"} - {missing}:
        shutil.copy(FOLDER / name, tmp_path / name)
    with pytest.raises(ConfigError, match=rf"rerank_folder = .*there is no {missing}"):
        CrossEncoder(tmp_path)


def test_a_file_that_is_no_model_is_refused(tmp_path):
    pytest.importorskip("onnxruntime", reason="needs the extra `local`")
    shutil.copy(FOLDER / "tokenizer.json", tmp_path / "tokenizer.json")
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(ConfigError, match="no cross-encoder could be loaded"):
        CrossEncoder(tmp_path)


def test_an_embedding_model_is_no_cross_encoder():
    pytest.importorskip("onnxruntime", reason="needs the extra `local`")
    package = pytest.importorskip("fingerpost_minilm", reason="needs the data distribution")
    with pytest.raises(ConfigError, match="numbers for a pair, not one or two"):
        CrossEncoder(Path(package.__file__).parent)


def test_without_the_extra_the_command_that_installs_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError) as caught:
        CrossEncoder(FOLDER)
    assert "pip install '.[local]'" in caught.value.hint
