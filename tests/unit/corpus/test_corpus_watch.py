"""Live re-indexing."""

import queue
import threading
from pathlib import Path

import pytest

from fingerpost.corpus import CorpusRoot, watch
from fingerpost.corpus.watch import is_watched


def test_only_documents_outside_ignored_folders_are_watched():
    folders = [Path("/c/docs")]
    assert is_watched(Path("/c/docs/a.md"), folders)
    assert is_watched(Path("/c/docs/sub/a.ipynb"), folders)
    assert is_watched(Path("/c/docs/renamed"), folders)
    assert not is_watched(Path("/c/docs/a.py"), folders)
    assert not is_watched(Path("/c/docs/.fingerpost/index.sqlite"), folders)
    assert not is_watched(Path("/c/docs/node_modules/a.md"), folders)
    assert not is_watched(Path("/c/other/a.md"), folders)


def test_the_beginning_and_then_each_change_call_back_and_stop_ends_it(tmp_path):
    pytest.importorskip("watchfiles", reason="needs the extra `watch`")
    stop, calls = threading.Event(), queue.SimpleQueue()
    root = CorpusRoot("docs", tmp_path.resolve())
    watching = threading.Thread(target=watch, args=([root], lambda: calls.put(1), stop))
    watching.start()
    calls.get(timeout=5)
    (tmp_path / "notes.py").write_text("no document\n")
    (tmp_path / ".fingerpost").mkdir()
    with pytest.raises(queue.Empty):
        calls.get(timeout=1.5)
    (tmp_path / "a.md").write_text("text\n")
    calls.get(timeout=5)
    stop.set()
    watching.join(5)
    assert not watching.is_alive()
