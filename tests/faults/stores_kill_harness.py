"""Kills a writer N times at random moments and looks at the whole index after each (goal R1).

Run as a program: ``stores_kill_harness.py FOLDER KILLS SEED``. It never opens an index itself:
writers and inspectors are forked children, so that no thread is alive at a fork. A writer arms
a timer of the system whose signal ends it there and then, as ``kill -9`` does.
"""

import os
import random
import signal
import sqlite3
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path

import numpy as np

from fingerpost.stores import EdgeKind
from fingerpost.stores.embedded import EmbeddedStore
from fingerpost.stores.embedded.words import check_files
from fingerpost.testing.store_documents import IDENTITY, hash_vector, prepare, words

KILLS_PER_INDEX = 25
SECTIONS = 2
NAMES = 2**41


def document(number: int, version: int):
    unique = f"unique{number}x{version}"
    prepared = prepare(
        f"d/{number}.md",
        [f"{unique} first section about pumps\n", f"{unique} second section of valves\n"],
    )
    return replace(prepared, names=[(NAMES + number,)] * SECTIONS)


def write(folder: Path, start: int, pipe: int, fuse: tuple[int, float]) -> None:
    """Put two documents, embed one, commit, acknowledge; until the timer ends the process.

    Args:
        folder: The index.
        start: Number of the first document.
        pipe: Takes a line for each commit.
        fuse: After how many commits the timer is armed, and its seconds.
    """
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    n_left, seconds = fuse
    if not n_left:
        signal.setitimer(signal.ITIMER_REAL, seconds)
    store = EmbeddedStore(folder)
    with store.writer(IDENTITY) as writer:
        number = start
        while True:
            batch = [document(number, 0), document(number + 1, 0)]
            writer.put(batch)
            if number > 1:
                writer.put([document(number - 2, 1)])
            pending = writer.pending_vectors(2)
            vectors = np.stack([hash_vector(text) for _, text in pending])
            writer.put_vectors([key for key, _ in pending], vectors)
            generation = writer.commit()
            os.write(pipe, f"{generation} {number}\n".encode())
            number += 2
            n_left -= 1
            if not n_left:
                signal.setitimer(signal.ITIMER_REAL, seconds)


def inspect(folder: Path, acknowledged: tuple[int, int], pipe: int) -> None:
    """Compare every document with what was written; report the newest."""
    generation, number = acknowledged
    started = time.process_time()
    with EmbeddedStore(folder).reader() as reader:
        assert time.process_time() - started < 2, "slow to open"
        info = reader.info
        assert info.generation >= generation, f"{info.generation} < {generation}"
        assert not any("expected" in note for note in info.notes), info.notes
        known = {item.path for item in reader.documents()}
        last = len(known) - 1
        assert known == {f"d/{n}.md" for n in range(last + 1)}
        assert last >= (number + 1 if generation else -1)
        assert info.n_documents == last + 1
        assert info.n_chunks == SECTIONS * (last + 1)
        everywhere = list(words("section").tokens)
        if info.n_chunks:
            assert reader.document_frequency(everywhere) == dict.fromkeys(
                everywhere, info.n_chunks
            ), "words and database count differently"
        assert sum(check_document(reader, n, last) for n in range(last + 1)) == info.n_vectors
        check_files_of(folder, info)
        os.write(pipe, f"{info.generation} {last}".encode())


def check_document(reader, number: int, last: int) -> int:
    """Check text, words and vectors of one document; return how many vectors it has."""
    version = 1 if number % 2 == 0 and number < last - 1 else 0
    expected = document(number, version)
    stored = reader.document_chunks(expected.document.id)
    assert [item.chunk for item in stored] == list(expected.chunks), f"half of {number}"
    hits = reader.search_words(words(f"unique{number}x{version}"), 5)
    assert [key for key, _ in hits] == [item.key for item in stored], f"words of {number}"
    if version:
        assert reader.search_words(words(f"unique{number}x0"), 5) == [], f"old {number}"
    first, second = (item.key for item in stored)
    around = reader.neighbours([first, second])
    edges = {(key, one.key, one.kind) for key, some in around.items() for one in some}
    expected_edges = {(first, second, EdgeKind.SHARED), (second, first, EdgeKind.SHARED)}
    assert edges >= expected_edges, f"graph of {number}"
    rows = reader.vectors([item.key for item in stored])
    for row, item in zip(rows, stored, strict=True):
        text = f"{item.chunk.heading_path[0]}\n{item.chunk.search_text}"
        assert not row.any() or float(row @ hash_vector(text)) > 0.98, f"vector of {number}"
    return int(rows.any(axis=1).sum())


def check_files_of(folder: Path, info) -> None:
    """Ask SQLite for its own check and counts, and the segments of the words for theirs."""
    if not info.generation:
        return
    connection = sqlite3.connect(folder / "index.sqlite")
    assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    counts = connection.execute(
        "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM chunks),"
        " (SELECT max(generation) FROM generations)"
    ).fetchone()
    assert counts == (info.n_documents, info.n_chunks, info.generation)
    chains = [row[0] for row in connection.execute("SELECT chain FROM generations ORDER BY 1")]
    connection.close()
    assert len(chains) == info.generation, "a generation is missing in the ledger"
    (words_folder,) = (folder / "words").iterdir()
    check_files(words_folder, set())


def forked(work) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return child


def said_by(work) -> tuple[str, int]:
    """Run something in a child with a pipe; return all it said and how it ended."""
    read_end, write_end = os.pipe()
    child = forked(lambda: work(write_end))
    os.close(write_end)
    said = b""
    while block := os.read(read_end, 65536):
        said += block
    os.close(read_end)
    return said.decode(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_once(folder: Path, rng: random.Random, state: tuple[int, int]) -> tuple[int, int]:
    """Let a writer run until its timer ends it; return the last commit that it acknowledged."""
    fuse = rng.randrange(4), 1e-6 + rng.random() * 0.03
    start = state[1] + 2 if state[0] else 0
    said, ended = said_by(lambda pipe: write(folder, start, pipe, fuse))
    if ended != -signal.SIGALRM:
        sys.exit(f"the writer ended with {ended}")
    lines = [line for line in said.splitlines() if line.count(" ") == 1]
    if not lines:
        return state
    generation, number = lines[-1].split()
    return int(generation), int(number)


def inspected(folder: Path, state: tuple[int, int]) -> tuple[int, int]:
    """Inspect in a child; return generation and last batch as they are found.

    A commit may stand without its acknowledgement; the next writer goes on behind it.
    """
    said, ended = said_by(lambda pipe: inspect(folder, state, pipe))
    if ended:
        sys.exit(f"bad index, acknowledged {state}")
    generation, last = (int(part) for part in said.split())
    return (generation, last - 1) if last >= 0 else state


def main() -> None:
    folder, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    signal.alarm(0)
    document(0, 0)  # what is made at the first call is made before the forks
    hash_vector("")
    n_documents = n_generations = 0
    for first in range(0, kills, KILLS_PER_INDEX):
        state = (0, 0)
        for _ in range(first, min(first + KILLS_PER_INDEX, kills)):
            state = kill_once(folder / str(first), rng, state)
            state = inspected(folder / str(first), state)
        n_generations += state[0]
        n_documents += state[1] + 2
    sys.stdout.write(f"{kills} kills, {n_generations} generations, {n_documents} documents\n")


if __name__ == "__main__":
    main()
