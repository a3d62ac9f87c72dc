"""Those who ask an index go before the processes that read changed files into it (goal R16)."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from fingerpost.corpus import CorpusRoot, IndexOptions, index_corpus
from fingerpost.stores.open import open_store

LARGE = "A paragraph of the large page, one of very many.\n\n" * 25_000
CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children")


@pytest.mark.skipif(not CHILDREN.exists(), reason="needs the list of a process's children")
def test_processes_that_parse_for_an_index_that_is_there_give_way(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "small.md").write_text("# Small\n\nA page.\n")
    seen = []

    def observe(event):
        for task in Path("/proc/self/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
                children = map(int, (task / "children").read_text().split())
                seen.extend(os.getpriority(os.PRIO_PROCESS, child) - own for child in children)

    own = os.getpriority(os.PRIO_PROCESS, 0)
    options = IndexOptions(workers=1, embed=False)
    store = open_store(str(tmp_path / "index"))
    for number in range(5):
        (folder / f"large{number}.md").write_text(f"# Large {number}\n\n{LARGE}")
    index_corpus(
        store, [CorpusRoot("docs", folder)], embedder=None, options=options, observe=observe
    )
    first, seen[:] = list(seen), []
    for number in range(5):
        (folder / f"large{number}.md").write_text(f"# Larger {number}\n\n{LARGE}")
    index_corpus(
        store, [CorpusRoot("docs", folder)], embedder=None, options=options, observe=observe
    )
    store.close()
    assert first
    assert set(first) == {0}
    assert max(seen) > 0
