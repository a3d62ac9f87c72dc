"""A process that prepares files: frames in on standard input, frames out on standard output.

A plain subprocess, not `multiprocessing`: nothing is pickled, and the user's main module is
not run again.
"""

from __future__ import annotations

import gc
import os
import queue
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from typing import BinaryIO

from fingerpost.corpus.prepare import prepare_file
from fingerpost.corpus.wire import decode_job, encode_outcome

_MEMORY_LIMIT_BYTES = 2 * 1024**3
_LENGTH_BYTES = 8
_GC_ALLOCATIONS = 200_000
_NICENESS = 10


def read_frame(stream: BinaryIO) -> bytes | None:
    """Return the next frame, ``None`` at the end of the stream."""
    head = stream.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    size = int.from_bytes(head, "big")
    frame = stream.read(size)
    return frame if len(frame) == size else None


def write_frame(stream: BinaryIO, frame: bytes) -> None:
    """Write a frame and flush."""
    stream.write(len(frame).to_bytes(_LENGTH_BYTES, "big"))
    stream.write(frame)
    stream.flush()


def prepare_frame(frame: bytes) -> bytes:
    """Return the outcome of a job; what fails in a parser is split as plain text."""
    job = decode_job(frame)
    try:
        return encode_outcome(prepare_file(job))
    except (MemoryError, RecursionError):
        return encode_outcome(prepare_file(replace(job, plain=True)))


def give_way(process_id: int = 0) -> None:
    """Let all others of the machine go before a process, where the system knows such a thing.

    Args:
        process_id: Of the process; 0 for this one.
    """
    with suppress(AttributeError, OSError):
        lower = os.getpriority(os.PRIO_PROCESS, process_id) + _NICENESS
        os.setpriority(os.PRIO_PROCESS, process_id, lower)


def main() -> None:
    """Prepare files until standard input ends."""
    with suppress(ValueError, OSError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_memory()
    gc.freeze()
    gc.set_threshold(_GC_ALLOCATIONS)  # what a file leaves behind has no cycles
    jobs: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    threading.Thread(target=_take, args=(sys.stdin.buffer, jobs), daemon=True).start()
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a stray print must not end up between the frames
    while (frame := jobs.get()) is not None:
        write_frame(results, prepare_frame(frame))


def _take(stream: BinaryIO, jobs: queue.SimpleQueue[bytes | None]) -> None:
    """Read ahead, so that the parent never waits for us to read while we wait for it."""
    while True:
        frame = read_frame(stream)
        jobs.put(frame)
        if frame is None:
            return


def _limit_memory() -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not on every system

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_LIMIT_BYTES, _MEMORY_LIMIT_BYTES))


if __name__ == "__main__":
    main()
