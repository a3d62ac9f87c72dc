"""A corpus that is edited while it is read: no error, no document lost, the last state found."""

import itertools
import os
import threading

import pytest

from fingerpost.corpus import CorpusRoot, IndexOptions, index_corpus
from fingerpost.observe.observer import ignore
from fingerpost.stores.open import open_store

N_PAGES, N_RUNS = 12, 6


def _version(page, number):
    return f"# Page {page}\n\n" + f"edit{number} " * 300 + "\n"


class Editor:
    """Saves one page after the other, a new version each time, as long as it is asked to.

    ``save`` is what an editor does: it writes a new file and renames it, or writes in place.
    """

    def __init__(self, folder, save):
        self.folder, self.save = folder, save
        self.n_saved = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        for page in range(N_PAGES):
            (folder / f"{page}.md").write_text(_version(page, 0))

    def _run(self):
        for number in itertools.count(1):
            page = number % N_PAGES
            self.save(self.folder / f"{page}.md", _version(page, number))
            self.n_saved = number
            if self._stop.is_set():
                return

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join(5)
        assert not self._thread.is_alive()


def rename(path, text):
    path.with_suffix(".part").write_text(text)
    path.with_suffix(".part").replace(path)


def in_place(path, text):
    """Same length, so that no moment shows a shorter file."""
    raw = text.encode().ljust(6_000, b"\n")
    descriptor = os.open(path, os.O_WRONLY)
    for start in range(0, len(raw), 200):
        os.pwrite(descriptor, raw[start : start + 200], start)
    os.close(descriptor)


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "index"))
    yield opened
    opened.close()


def _index(store, folder):
    root = CorpusRoot("docs", folder.resolve())
    options = IndexOptions(embed=False, workers=0)
    return index_corpus(store, [root], embedder=None, options=options, observe=ignore)


def _versions(store):
    """Return the versions that each page is stored in."""
    with store.reader() as reader:
        return {
            document.path: {
                word
                for stored in reader.document_chunks(document.id)
                for word in stored.chunk.text.split()
                if word.startswith("edit")
            }
            for document in reader.documents()
        }


@pytest.mark.parametrize("save", [rename, in_place])
def test_no_page_is_lost_on_the_way_and_the_last_version_is_found_in_the_end(tmp_path, store, save):
    folder = tmp_path / "docs"
    folder.mkdir()
    with Editor(folder, save) as editor:
        for _ in range(N_RUNS):
            summary = _index(store, folder)
            assert {item.reason for item in summary.skipped} <= {"changed-while-read"}
            found = _versions(store)
            assert len(found) >= N_PAGES - len(summary.skipped)
            whole = {len(words) for words in found.values()} == {1}
            assert whole or save is in_place  # what is written in pieces may be read in pieces
    assert editor.n_saved > N_PAGES
    _index(store, folder)
    last = {
        page: max(n for n in range(editor.n_saved + 1) if n % N_PAGES == page or n == 0)
        for page in range(N_PAGES)
    }
    assert _versions(store) == {f"{page}.md": {f"edit{last[page]}"} for page in last}
