"""Files change while somebody asks: the router and the command line follow by themselves."""

import signal
import subprocess
import sys
import threading

import anyio
import pytest

from fingerpost import QueryRouter

pytest.importorskip("watchfiles", reason="needs the extra `watch`")
QUESTION = "How many modes has Heron?"


def _edit_until(corpus, is_seen):
    """Edit a page, and once more each second while nobody saw it, for five seconds at most.

    Nothing tells when the operating system begins to watch: an edit before that is not seen.
    """
    page = corpus / "guides" / "modes.md"
    text = page.read_text().replace("three modes: fast, safe and quiet", "two modes")
    for _ in range(5):
        text += "\n"
        page.write_text(text)
        if is_seen(1):
            return
    raise AssertionError("five edits were not seen")


@pytest.mark.anyio
async def test_an_edited_file_is_answered_anew_without_being_asked_to_refresh(corpus, story):
    settings = {"embedding_provider": "none", "watch": True, "on_event": story}
    async with QueryRouter(knowledge_corpus=[corpus], **settings) as router:
        before = await router.route(QUESTION)
        first = router.get_corpus_stats().generation
        story.events.clear()
        await anyio.to_thread.run_sync(
            _edit_until,
            corpus,
            lambda s: story.has(lambda e: e.as_dict().get("phase") == "done", s),
        )
        after = await router.route(QUESTION)
        summary = router.index_summary
    assert "three modes" in before.answer
    assert "two modes" in after.answer
    assert "three modes" not in after.answer
    assert not after.cached
    assert (summary.n_changed, summary.n_unchanged) == (1, 3)
    assert int(after.fingerprints["generation"]) > first


@pytest.mark.xfail(strict=True, reason="what changes before the watch begins is not seen")
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
            _edit_until(corpus, lambda seconds: out.has("0 new, 1 changed", seconds))
        finally:
            running.send_signal(signal.SIGINT)
            code = running.wait(10)
    err.join(5)
    assert code == 0
    with QueryRouter(knowledge_corpus=[corpus], embedding_provider="none") as router:
        assert router.index_summary.n_unchanged == 4
        assert "two modes" in router.route_sync(QUESTION).answer
