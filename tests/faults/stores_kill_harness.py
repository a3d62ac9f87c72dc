"""Kills a writer N times at random moments and looks at the index after each (goal R1).

Run as a program: ``stores_kill_harness.py FOLDER KILLS SEED``. It never opens the index
itself: writers and inspectors are forked children, so that no thread is alive at a fork.
"""

import os
import random
import select
import signal
import sys
import time
import traceback
from pathlib import Path

import numpy as np

from fingerpost.stores.embedded import EmbeddedStore
from fingerpost.testing.store_documents import IDENTITY, hash_vector, prepare, words


def document(number: int, version: int):
    unique = f"unique{number}x{version}"
    return prepare(
        f"d/{number}.md",
        [f"{unique} first section about pumps\n", f"{unique} second section of valves\n"],
    )


def write(folder: Path, start: int, pipe: int) -> None:
    """Put two documents, embed one, commit, acknowledge; for ever."""
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


def inspect(folder: Path, acknowledged: tuple[int, int], pipe: int, *, everything: bool) -> None:
    """Compare every document, or the last ones, with what was written; report the newest."""
    generation, number = acknowledged
    started = time.monotonic()
    with EmbeddedStore(folder).reader() as reader:
        assert time.monotonic() - started < 2, "slow to open"
        info = reader.info
        assert info.generation >= generation, f"{info.generation} < {generation}"
        assert not any("expected" in note for note in info.notes), info.notes
        known = {item.path: item for item in reader.documents()}
        assert len(known) == info.n_documents
        last = max((int(path[2:-3]) for path in known), default=-1)
        assert last >= number + (1 if generation else 0) - (0 if generation else 1)
        assert len(known) == last + 1
        first = 0 if everything else max(0, last - 12)
        n_vectors = 0
        for n in range(first, last + 1):
            version = 1 if n % 2 == 0 and n < last - 1 else 0
            expected = document(n, version)
            stored = reader.document_chunks(expected.document.id)
            assert [item.chunk for item in stored] == list(expected.chunks), f"half of {n}"
            hits = reader.search_words(words(f"unique{n}x{version}"), 5)
            assert [key for key, _ in hits] == [item.key for item in stored], f"words of {n}"
            if version:
                assert reader.search_words(words(f"unique{n}x0"), 5) == [], f"old words of {n}"
            rows = reader.vectors([item.key for item in stored])
            for row, item in zip(rows, stored, strict=True):
                text = f"{item.chunk.heading_path[0]}\n{item.chunk.search_text}"
                assert not row.any() or float(row @ hash_vector(text)) > 0.98, f"vector of {n}"
                n_vectors += bool(row.any())
        if everything:
            assert n_vectors == info.n_vectors
        os.write(pipe, f"{info.generation} {last}".encode())


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


def kill_once(folder: Path, rng: random.Random, state: tuple[int, int]) -> tuple[int, int]:
    """Let a writer run for a random time after its first sign of life; return what it said."""
    read_end, write_end = os.pipe()
    child = forked(lambda: write(folder, state[1] + 2 if state[0] else 0, write_end))
    os.close(write_end)
    wait_first = rng.random() < 0.7
    if wait_first:
        select.select([read_end], [], [], 20)
    time.sleep(rng.random() * 0.03)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    said = b""
    while block := os.read(read_end, 65536):
        said += block
    os.close(read_end)
    lines = [line for line in said.decode().splitlines() if line.count(" ") == 1]
    if lines:
        generation, number = lines[-1].split()
        return int(generation), int(number)
    return state


def inspected(folder: Path, state: tuple[int, int], *, everything: bool) -> tuple[int, int]:
    """Inspect in a child; return generation and last batch as they are found.

    A commit may stand without its acknowledgement; the next writer goes on behind it.
    """
    read_end, write_end = os.pipe()
    child = forked(lambda: inspect(folder, state, write_end, everything=everything))
    os.close(write_end)
    said = os.read(read_end, 100).decode()
    os.close(read_end)
    if os.waitpid(child, 0)[1]:
        sys.exit(f"bad index, acknowledged {state}")
    generation, last = (int(part) for part in said.split())
    return (generation, last - 1) if last >= 0 else state


def main() -> None:
    folder, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    state = (0, 0)
    document(0, 0)  # what is made at the first call is made before the forks
    hash_vector("")
    for turn in range(kills):
        state = kill_once(folder, rng, state)
        everything = turn % 50 == 49 or turn == kills - 1
        state = inspected(folder, state, everything=everything)
    sys.stdout.write(f"{kills} kills, generation {state[0]}, {state[1] + 2} documents\n")


if __name__ == "__main__":
    main()
