"""Nothing outside the root is read, whatever stands in the folder (goal R10)."""

import json
import os
import random
import select
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress

import pytest

from fingerpost import QueryRouter
from fingerpost.corpus import CorpusRoot, IndexOptions, index_corpus
from fingerpost.corpus.scan import Limits, Scan
from fingerpost.corpus.walk import FileRefusedError, Folder
from fingerpost.observe.observer import ignore
from fingerpost.stores.open import open_store
from fingerpost.types.wire import to_wire

CANARY = "canary-3f9a17"
LIMITS = Limits(10**6, 10**5, 10**9)


N_RACES, N_PAGES = 1000, 3
SWAP = """
import os, select, sys
docs, outside, enough = sys.argv[1:]
n_swaps = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    os.rename(docs + "/sub", docs + "/.away")
    os.symlink(outside, docs + "/sub")
    os.unlink(docs + "/sub")
    os.rename(docs + "/.away", docs + "/sub")
    n_swaps += 1
    if n_swaps == int(enough):
        print("enough", flush=True)
"""


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    """A folder with a good file, a secret beside it, and every way to reach the secret."""
    folder, outside = tmp_path / "docs", tmp_path / "docs-secret"
    (folder / "sub").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.md").write_text(CANARY)
    (folder / "good.md").write_text("good\n")
    (folder / "sub/inner.md").write_text("inner\n")
    (folder / "link.md").symlink_to(outside / "secret.md")
    (folder / "relative.md").symlink_to("../docs-secret/secret.md")
    (folder / "folder").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    (folder / "sub/up").symlink_to("..")
    (folder / "passwd.txt").symlink_to("/etc/passwd")
    (folder / "inside.md").symlink_to(folder / "good.md")
    (folder / "dangling.md").symlink_to("nowhere.md")
    (folder / "self.md").symlink_to("self.md")
    os.link(outside / "secret.md", folder / "hard.md")
    os.mkfifo(folder / "pipe.md")
    listener = socket.socket(socket.AF_UNIX)
    monkeypatch.chdir(folder)  # the path of a socket must be short
    listener.bind("socket.md")
    (folder / "..hidden..md").write_text("dots\n")
    (folder / os.fsdecode(b"bad\xff.md")).write_text("odd name\n")
    yield CorpusRoot("docs", folder.resolve())
    listener.close()


def test_links_pipes_and_sockets_are_listed_and_nothing_outside_is_read(corpus, tmp_path, caplog):
    caplog.set_level("DEBUG")
    started = time.monotonic()
    router = QueryRouter(
        knowledge_corpus=[corpus.folder], embedding_provider="none", index_dir=tmp_path / "index"
    )
    with router:
        result = router.route_sync("What does the good page say of the canary?", top_k=20)
        stats = router.get_corpus_stats()
        pages = router.retrieve_sync("good inner dots name", top_k=20, explain=True)
    assert time.monotonic() - started < 5
    assert {hit.document.path for hit in pages.candidates} == {
        "..hidden..md", "bad\\xff.md", "good.md", "sub/inner.md",
    }  # fmt: skip
    listed = {os.path.relpath(item.path, corpus.folder): item.reason for item in stats.skipped}
    assert listed == {
        "link.md": "symlink", "relative.md": "symlink", "folder": "symlink", "loop": "symlink",
        "sub/up": "symlink", "passwd.txt": "symlink", "inside.md": "symlink",
        "dangling.md": "symlink", "self.md": "symlink", "hard.md": "not-regular",
        "pipe.md": "not-regular", "socket.md": "not-regular",
    }  # fmt: skip
    for said in (json.dumps(to_wire(result)), json.dumps(to_wire(pages)), caplog.text):
        assert CANARY not in said
    files = [file for file in (tmp_path / "index").rglob("*") if file.is_file()]
    assert len(files) > 3
    assert not any(CANARY.encode() in file.read_bytes() for file in files)


def test_a_path_with_dots_reads_the_folder_that_was_named_and_nothing_beside_it(corpus):
    named = corpus.folder / "sub" / ".." / ".." / "docs" / "sub"
    with QueryRouter(knowledge_corpus=[named], embedding_provider="none") as router:
        found = router.retrieve_sync("inner canary good", top_k=20, explain=True)
    assert [hit.document.path for hit in found.candidates] == ["inner.md"]


def test_hard_links_within_the_folder_are_documents(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("text\n")
    os.link(folder / "a.md", folder / "b.md")
    with Scan([CorpusRoot("docs", folder.resolve())], LIMITS) as scan:
        assert [file.path for _, file in scan.files] == ["a.md", "b.md"]


def test_a_thousand_races_of_a_folder_swapped_for_a_link_read_nothing_outside(tmp_path):
    folder, outside = tmp_path / "docs", tmp_path / "outside"
    (folder / "sub").mkdir(parents=True)
    outside.mkdir()
    (folder / "sub/page.md").write_text("inside\n")
    (outside / "page.md").write_text(CANARY)
    swapper = subprocess.Popen(
        [sys.executable, "-c", SWAP, str(folder), str(outside), str(N_RACES)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    read, reasons, n_scans = Counter(), Counter(), 0
    with swapper:
        while n_scans < N_RACES or not select.select([swapper.stdout], [], [], 0)[0]:
            with Scan([CorpusRoot("docs", folder.resolve())], LIMITS) as scan:
                read.update(file.raw for file in scan.changed({}, 220, lambda file: None))
                reasons.update(item.reason for item in scan.skipped)
            n_scans += 1
            assert swapper.poll() is None
        assert swapper.communicate("end\n", timeout=5)[0] == "enough\n"
    assert set(read) == {b"inside\n"}
    assert reasons["symlink"] > 0


def test_a_thousand_swaps_at_any_step_of_listing_and_reading_read_nothing_outside(tmp_path):
    folder, outside = tmp_path / "docs", tmp_path / "outside"
    for place, text in ((folder, "inside\n"), (outside, CANARY)):
        (place / "sub/deep").mkdir(parents=True)
        for page in ("a.md", "sub/page.md", "sub/deep/page.md"):
            (place / page).write_text(text)
    rng = random.Random(10)
    outcomes = Counter()
    for _ in range(N_RACES):
        name = rng.choice(["sub", "sub/deep", "sub/page.md", "sub/deep/page.md"])
        moment, swapped = rng.randrange(6), folder / name
        # A hard link that is there when the folder is listed is refused by `Scan`.
        is_hard = swapped.suffix and moment >= N_PAGES and rng.random() < 0.5
        with Folder(CorpusRoot("docs", folder.resolve())) as opened:
            for step, result in enumerate(_steps(opened)):
                outcomes[result] += 1
                if step == moment:
                    swapped.rename(tmp_path / "away")
                    (os.link if is_hard else os.symlink)(outside / name, swapped)
        swapped.unlink()
        (tmp_path / "away").rename(swapped)
    assert set(outcomes) == {"start", "found", b"inside\n", "refused"}
    assert outcomes["refused"] > N_RACES // 4


def _steps(opened):
    """List, then read, a step at a time; yield what came of each."""
    yield "start"
    files = []
    for file in opened.files():
        files.append(file)
        yield "found"
    for file in files:
        try:
            yield opened.read(file, max_bytes=1000)
        except (OSError, FileRefusedError):
            yield "refused"


def test_a_file_swapped_for_a_link_or_pipe_after_it_was_listed_is_refused(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (tmp_path / "secret.md").write_text(CANARY)
    for swap in ("link", "pipe", "hard link"):
        page = folder / "page.md"
        page.write_text("text\n")
        with Folder(CorpusRoot("docs", folder.resolve())) as opened:
            (file,) = opened.files()
            page.unlink()
            if swap == "link":
                page.symlink_to(tmp_path / "secret.md")
            elif swap == "pipe":
                os.mkfifo(page)
            else:
                os.link(tmp_path / "secret.md", page)
            with pytest.raises((OSError, FileRefusedError)):
                opened.read(file, max_bytes=1000)
        page.unlink()


def test_a_file_that_grows_while_it_is_read_is_read_again_or_listed(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    page = folder / "page.md"
    page.write_bytes(b"x" * 200_000)
    stop = threading.Event()

    def grow():
        with page.open("ab", buffering=0) as file:
            while not stop.is_set():
                file.write(b"y" * 10)

    with Folder(CorpusRoot("docs", folder.resolve())) as opened:
        (file,) = opened.files()
        writer = threading.Thread(target=grow)
        writer.start()
        try:
            for _ in range(50):
                with suppress(FileRefusedError):
                    raw = opened.read(file, max_bytes=10**8)
                    assert raw.startswith(b"x" * 200_000)
                    assert set(raw[200_000:]) <= {ord("y")}
        finally:
            stop.set()
            writer.join()


def test_a_folder_that_is_gone_keeps_what_was_indexed_of_it(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("text\n")
    root = CorpusRoot("docs", folder.resolve())
    store = open_store(str(tmp_path / "index"))
    options = IndexOptions(embed=False, workers=0)
    index_corpus(store, [root], embedder=None, options=options, observe=ignore)
    folder.rename(tmp_path / "away")
    summary = index_corpus(store, [root], embedder=None, options=options, observe=ignore)
    assert (summary.n_documents, summary.n_removed) == (1, 0)
    assert [item.reason for item in summary.skipped] == ["changed-while-read"]
    store.close()


def test_a_tree_that_is_too_deep_ends_in_a_listed_folder(tmp_path):
    folder = tmp_path / "docs"
    deep = folder.joinpath(*["d"] * 70)
    deep.mkdir(parents=True)
    (deep / "a.md").write_text("text\n")
    with Folder(CorpusRoot("docs", folder.resolve())) as opened:
        assert list(opened.files()) == []
        assert [item.reason for item in opened.skipped] == ["limit"]
