"""A source says whether its file is still what was indexed."""

import os

import anyio
import pytest

from fingerpost import Passage, QueryRouter, Source

QUESTION = "How many modes has Heron?"
WORDS = {"embedding_provider": "none"}


def _edit(corpus):
    page = corpus / "guides" / "modes.md"
    page.write_text(page.read_text().replace("three modes", "seven modes"))
    return page


def _flags(result):
    return {source.path: source.stale for source in result.sources}


def test_a_source_is_fresh_until_its_file_is_edited_and_again_after_a_refresh(corpus):
    with QueryRouter(knowledge_corpus=[corpus], cache_results=False, **WORDS) as router:
        fresh = router.route_sync(QUESTION)
        _edit(corpus)
        edited = router.route_sync(QUESTION)
        router.refresh_sync()
        again = router.route_sync(QUESTION)
    assert set(_flags(fresh).values()) == {False}
    assert not fresh.stale
    assert _flags(edited)["guides/modes.md"] is True
    assert edited.stale
    assert "three modes" in edited.answer
    assert not again.stale
    assert "seven modes" in again.answer


def test_a_kept_answer_does_not_hide_that_its_source_changed(corpus):
    with QueryRouter(knowledge_corpus=[corpus], **WORDS) as router:
        router.route_sync(QUESTION)
        page = corpus / "guides" / "modes.md"
        before = page.read_bytes()
        _edit(corpus)
        edited = router.route_sync(QUESTION)
        page.write_bytes(before)
        restored = router.route_sync(QUESTION)
        page.unlink()
        gone = router.route_sync(QUESTION)
    assert [result.cached for result in (edited, restored, gone)] == [True, True, True]
    assert [result.stale for result in (edited, restored, gone)] == [True, False, True]


def test_an_edit_that_keeps_size_and_times_is_seen(corpus):
    page = corpus / "guides" / "modes.md"
    with QueryRouter(knowledge_corpus=[corpus], **WORDS) as router:
        assert not router.route_sync(QUESTION).stale
        status = page.stat()
        page.write_text(page.read_text().replace("three modes", "seven modes"))
        os.utime(page, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert page.stat().st_size == status.st_size
        assert router.route_sync(QUESTION).stale


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs symlinks")
@pytest.mark.parametrize("what", ["guides/modes.md", "guides"])
def test_a_link_to_the_same_text_is_not_what_was_indexed(corpus, tmp_path, what):
    outside = tmp_path / "outside"
    with QueryRouter(knowledge_corpus=[corpus], **WORDS) as router:
        assert not router.route_sync(QUESTION).stale
        (corpus / what).rename(outside)
        (corpus / what).symlink_to(outside)
        assert router.route_sync(QUESTION).stale


def test_the_stream_ends_with_the_same_flag(corpus):
    async def last(router):
        return [event async for event in router.stream(QUESTION)][-1].result

    async def main():
        async with QueryRouter(knowledge_corpus=[corpus], **WORDS) as router:
            _edit(corpus)
            return await last(router)

    assert anyio.run(main).stale


class Wiki:
    async def retrieve(self, query, top_k):
        return [Passage("Heron has three modes, says the wiki.", title="Wiki", uri="wiki:1")]


def test_of_a_passage_of_the_hosts_own_retriever_it_is_not_known():
    with QueryRouter(sources=[Source("wiki", "The modes of Heron", Wiki())], **WORDS) as router:
        result = router.route_sync(QUESTION)
    assert {source.source: source.stale for source in result.sources} == {"wiki": None}
    assert not result.stale
