"""Files change while somebody asks: the router and the command line follow by themselves."""

import queue
import signal
import subprocess
import sys
import threading

import anyio
import pytest

from fingerpost import QueryRouter

pytest.importorskip("watchfiles", reason="needs the extra `watch`")
QUESTION = "How many modes has Heron?"


def _edit(corpus):
    page = corpus / "guides" / "modes.md"
    page.write_text(page.read_text().replace("three modes: fast, safe and quiet", "two modes"))


@pytest.mark.anyio
async def test_an_edited_file_is_answered_anew_without_being_asked_to_refresh(corpus, story):
    settings = {"embedding_provider": "none", "watch": True, "on_event": story}
    async with QueryRouter(knowledge_corpus=[corpus], **settings) as router:
        before = await router.route(QUESTION)
        first = router.get_corpus_stats().generation
        story.events.clear()
        _edit(corpus)
        assert await anyio.to_thread.run_sync(
            story.has, lambda event: router.get_corpus_stats().generation > first
        )
        after = await router.route(QUESTION)
    assert "three modes" in before.answer
    assert "two modes" in after.answer
    assert "three modes" not in after.answer
    assert not after.cached
    assert int(after.fingerprints["generation"]) > first


def test_an_edit_between_the_first_reading_and_the_watch_is_not_lost(corpus, story):
    page = corpus / "guides" / "modes.md"

    def edit_after_reading(event):
        if event.as_dict().get("phase") == "done" and "three modes" in page.read_text():
            page.write_text(page.read_text().replace("three modes: fast, safe and quiet", "two"))
        elif event.as_dict().get("phase") == "done":
            story(event)

    settings = {"embedding_provider": "none", "watch": True, "on_event": edit_after_reading}
    with QueryRouter(knowledge_corpus=[corpus], **settings):
        assert story.has(lambda event: True, 3)


def test_a_watch_computes_no_vectors_where_none_are_wanted(corpus, runtime):
    seen = queue.SimpleQueue()

    def observe(event):
        if event.as_dict().get("phase") == "done":
            seen.put(event)

    with QueryRouter(knowledge_corpus=[corpus], embed="never", watch=True, on_event=observe):
        for number in range(3):  # vectors of one change would come before the next is read
            seen.get(timeout=5)
            (corpus / f"new{number}.md").write_text(f"# New\n\nPage {number}.\n")
        seen.get(timeout=5)
        assert runtime.n_calls == 0


class _Lines(threading.Thread):
    """Reads the lines of a process; a test waits for the one it wants, five seconds at most."""

    def __init__(self, stream):
        super().__init__(daemon=True)
        self._stream = stream
        self._seen = []
        self._changed = threading.Condition()
        self.start()

    def run(self):
        for line in self._stream:
            with self._changed:
                self._seen.append(line)
                self._changed.notify_all()

    def has(self, words, at_most_s):
        """Return whether such a line came."""
        with self._changed:
            return self._changed.wait_for(
                lambda: any(words in line for line in self._seen), at_most_s
            )


def test_the_command_that_watches_tells_each_change_and_ctrl_c_ends_it(corpus):
    command = ["index", str(corpus), "--watch", "--embedder", "none"]
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "fingerpost", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            out, err = _Lines(running.stdout), _Lines(running.stderr)
            assert err.has("watching for changes", 30)
            assert out.has("4 documents", 5)
            _edit(corpus)
            assert out.has("0 new, 1 changed", 5)
        finally:
            running.send_signal(signal.SIGINT)
            try:
                code = running.wait(10)
            finally:
                running.kill()
    err.join(5)
    assert code == 0
    with QueryRouter(knowledge_corpus=[corpus], embedding_provider="none") as router:
        assert router.index_summary.n_unchanged == 4
        assert "two modes" in router.route_sync(QUESTION).answer


@pytest.mark.anyio
async def test_a_watch_follows_a_rename_and_a_delete_and_no_source_stays_stale(corpus, story):
    page, moved = corpus / "guides" / "modes.md", corpus / "guides" / "ways.md"
    settings = {"embedding_provider": "none", "watch": True, "on_event": story}

    def settled(change):
        generation = router.get_corpus_stats().generation
        story.events.clear()
        change()
        return story.has(lambda event: router.get_corpus_stats().generation > generation)

    async with QueryRouter(knowledge_corpus=[corpus], **settings) as router:
        await router.route(QUESTION)  # kept: its file is looked at again
        assert await anyio.to_thread.run_sync(settled, lambda: _edit(corpus))
        edited = await router.route(QUESTION)
        assert await anyio.to_thread.run_sync(settled, lambda: page.rename(moved))
        renamed = await router.route(QUESTION)
        assert await anyio.to_thread.run_sync(settled, moved.unlink)
        gone = await router.route(QUESTION)
    assert not edited.stale
    assert "guides/modes.md" in {source.path for source in edited.sources}
    assert not renamed.stale
    assert "two modes" in renamed.answer
    assert {source.path for source in renamed.sources} >= {"guides/ways.md"}
    assert "guides/modes.md" not in {source.path for source in renamed.sources}
    assert not gone.stale
    assert "two modes" not in gone.answer
    assert not {"guides/modes.md", "guides/ways.md"} & {source.path for source in gone.sources}
