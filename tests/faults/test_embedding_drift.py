"""A provider that changes an embedding model under its name: vectors of two models never meet."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from fingerpost import QueryRouter
from fingerpost.errors import EmbeddingDriftError
from fingerpost.lanes.steady import SteadyEmbedder
from fingerpost.testing import FakeClock, HashEmbedder
from fingerpost.testing.provider import ProviderServer, faults

QUESTION = "What is the default mode?"
DAY_S = 24 * 3600


def other_vectors(right):
    """Return what another model of the same name and dimension might give."""
    return [(index, vector[::-1]) for index, vector in right]


@pytest.fixture
def corpus(tmp_path):
    for name, text in (
        ("modes", "The default mode is safe. Fast mode uses eight threads."),
        ("errors", "The license file has expired. Renew it before the end of the month."),
        ("pumps", "A pump that stands still for a week is turned by hand first."),
    ):
        (tmp_path / f"{name}.md").write_text(f"# {name.title()}\n\n{text}\n")
    return tmp_path


def opened(corpus, server, **settings):
    return QueryRouter(
        knowledge_corpus=[corpus],
        embedding_provider="custom",
        embedding_model="m",
        embedding_base_url=server.url,
        **{"embed": "never", **settings},
    )


def test_a_model_that_is_as_it_was_is_asked_once_for_what_is_known_and_the_tokens_are_counted(
    corpus,
):
    with ProviderServer() as server:
        with opened(corpus, server, embed="wait") as router:
            assert router.get_corpus_stats().vector_coverage == 1
        before = len(server.requests)
        with opened(corpus, server) as router:
            results = [
                router.route_sync(QUESTION, tier=1),
                router.route_sync("And fast mode?", tier=1),
            ]
    asked = [request.texts for request in server.requests[before:] if request.kind == "embed"]
    sizes = [len(texts) for texts in asked if QUESTION in texts or "And fast mode?" in texts]
    assert sizes[0] > sizes[1] == 1
    first, second = (
        sum(one.input_tokens for one in result.usage if one.job == "embed") for result in results
    )
    assert first > second > 0
    assert not any("keyword-fallback" in result.fallbacks_used for result in results)


def test_a_changed_model_is_named_search_goes_by_words_and_the_index_keeps_one_model(
    corpus, caplog
):
    with ProviderServer() as server, opened(corpus, server, embed="wait"):
        pass
    (corpus / "new.md").write_text("# New\n\nThis page came after the change of the model.\n")
    told = []
    with (
        ProviderServer(embeddings=[faults.wrong_vectors(other_vectors)] * 40) as server,
        opened(corpus, server, on_event=told.append) as router,
    ):
        result = router.route_sync(QUESTION, tier=1)
        with pytest.raises(EmbeddingDriftError, match="no longer gives the vectors") as refused:
            router.embed_sync()
        stats = router.get_corpus_stats()
    assert "safe" in result.answer
    assert "keyword-fallback" in result.fallbacks_used
    assert any("no longer gives the vectors" in str(event) for event in told)
    assert "search goes by words" in caplog.text
    assert f"Delete {corpus / '.fingerpost'}" in refused.value.hint
    assert 0 < stats.vector_coverage < 1


def test_it_is_asked_again_daily_and_five_minutes_after_it_differed():
    clock, right = FakeClock(), HashEmbedder(8)
    known = [("a known text", right.embed(["a known text"])[0])]
    asked = []

    class Changing(HashEmbedder):
        is_other = False

        def embed(self, texts):
            asked.append(len(texts))
            vectors = super().embed(texts)
            return vectors[:, ::-1] if self.is_other else vectors

    model = Changing(8)
    steady = SteadyEmbedder(model, lambda: known, clock=clock)
    for wait in (0, DAY_S - 1, 1):
        clock.now += wait
        assert (steady.embed(["a question"]) == right.embed(["a question"])).all()
    assert asked == [2, 1, 2]
    model.is_other = True
    assert (steady.embed_each(["a question"])[0] == right.embed(["a question"])[0][::-1]).all()
    clock.now += DAY_S
    for ask in (steady.embed, steady.embed_each):
        with pytest.raises(EmbeddingDriftError):
            ask(["a question"])
    n_asked = len(asked)
    model.is_other = False
    with pytest.raises(EmbeddingDriftError):
        steady.embed(["a question"])
    assert len(asked) == n_asked
    clock.now += 300
    assert (steady.embed(["a question"]) == right.embed(["a question"])).all()


def test_a_provider_that_is_away_is_no_change_and_is_asked_again():
    right = HashEmbedder(8)
    known = [("a known text", right.embed(["a known text"])[0])]

    class Away(HashEmbedder):
        is_away = True

        def embed(self, texts):
            if self.is_away:
                raise OSError("away")
            return super().embed(texts)

    model = Away(8)
    steady = SteadyEmbedder(model, lambda: known, clock=FakeClock())
    with pytest.raises(OSError, match="away"):
        steady.embed(["a question"])
    assert steady.overhead_tokens > 0
    model.is_away = False
    assert len(steady.embed(["a question"])) == 1
    assert steady.overhead_tokens == 0


def test_questions_do_not_wait_for_each_other_while_the_first_is_checked():
    right, known_read = HashEmbedder(8), []
    meet = threading.Barrier(3, timeout=10)

    def known():
        known_read.append(1)
        return [("a known text", right.embed(["a known text"])[0])]

    class Slow(HashEmbedder):
        def embed(self, texts):
            meet.wait()  # all three are at the provider at once, or this breaks
            return super().embed(texts)

    steady = SteadyEmbedder(Slow(8), known, clock=FakeClock())
    assert steady.overhead_tokens > 0
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(steady.embed, [["a"], ["b"], ["c"]]))
    assert [len(one) for one in found] == [1, 1, 1]
    assert len(known_read) == 1
