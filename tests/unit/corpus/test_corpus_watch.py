"""Live re-indexing."""

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


def test_a_change_calls_back_and_stop_ends_it(tmp_path):
    pytest.importorskip("watchfiles", reason="needs the extra `watch`")
    stop, changed = threading.Event(), threading.Event()
    root = CorpusRoot("docs", tmp_path.resolve())
    watching = threading.Thread(target=watch, args=([root], changed.set, stop))
    watching.start()
    for number in range(50):
        (tmp_path / "a.md").write_text(f"text {number}\n")
        if changed.wait(0.2):
            break
    stop.set()
    watching.join(5)
    assert changed.is_set()
    assert not watching.is_alive()
