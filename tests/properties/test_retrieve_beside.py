"""Laws of joining and filling: nothing lost, nothing twice, every passage is a piece of its document."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.corpus.index import prepare_text
from fingerpost.retrieve.beside import filled, holds, joined_neighbours
from fingerpost.retrieve.pack import spread
from fingerpost.types import Hit

_LINES = st.sampled_from([
    "# Cache", "## Keys", "### Deep", "The cache keeps 1000 entries.", "", "- one item", "| a | b |",
    "word " * 300, "缓存保留1000个条目。", "```sh\nrun\n```",
])  # fmt: skip
_PAGE = st.lists(_LINES, max_size=14).map("\n\n".join)


def _hits(text, path):
    prepared = prepare_text(text, path=path, source="docs", format="markdown")
    return [Hit(chunk, prepared.document, 0.5) for chunk in prepared.chunks]


@settings(max_examples=150, deadline=None)
@given(_PAGE, _PAGE, st.randoms(use_true_random=False), st.integers(0, 12))
def test_each_hit_is_in_exactly_one_passage_whose_text_is_the_documents(one, two, random, most):
    pages = {"a.md": one, "b.md": two}
    every = [hit for path, text in pages.items() for hit in _hits(text, path)]
    random.shuffle(every)
    hits = every[:most]
    passages = joined_neighbours(hits)
    assert [sum(holds(passage, hit) for passage in passages) for hit in hits] == [1] * len(hits)
    assert sum(passage.n_chunks for passage in passages) == len(hits)
    assert len({passage.chunk.id for passage in passages}) == len(passages)
    for passage in passages:
        span = passage.chunk.span
        assert pages[passage.document.path][span.start : span.end] == passage.chunk.text


@settings(max_examples=150, deadline=None)
@given(_PAGE, _PAGE, st.randoms(use_true_random=False), st.integers(0, 6))
def test_filling_stops_at_the_places_asked_for_and_short_of_them_only_without_more(
    one, two, random, k
):
    pages = {"a.md": one, "b.md": two}
    every = [hit for path, text in pages.items() for hit in _hits(text, path)]
    random.shuffle(every)
    ranked = [replace(hit, score=1 - at / 100) for at, hit in enumerate(every)]
    kept = filled(spread(ranked, k), ranked, k)
    passages = joined_neighbours(kept)
    assert len(passages) <= k
    assert len(passages) == k or len(kept) == len(ranked)
    assert len({hit.chunk.id for hit in kept}) == len(kept)
    assert all(hit in ranked for hit in kept)
