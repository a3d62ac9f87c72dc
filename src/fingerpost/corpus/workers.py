"""Files prepared by a few worker processes, in any order, each with a time limit."""

from __future__ import annotations

import atexit
import json
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import BinaryIO, Self, cast
from zlib import crc32

from fingerpost.corpus.prepare import FileToPrepare, prepare_file
from fingerpost.corpus.wire import Outcome, decode_outcome, encode_job
from fingerpost.corpus.worker import give_way, read_frame, write_frame
from fingerpost.types.ids import document_id

_AHEAD = 16
_LIMIT_S = 10.0
_LIMIT_SHARE_PER_MIB = 0.4
_START_S = 30.0
_CHECK_S = 0.5
_PATIENCE_S = 5.0
_BOOT = (
    "import json,sys; sys.path[:]=json.loads(sys.argv[1]); "
    "from fingerpost.corpus.worker import main; main()"
)


@dataclass(frozen=True, slots=True)
class Finished:
    """A file and what came of it.

    Attributes:
        file: The file.
        outcome: Its document, or why it is no text.
        note: What went wrong on the way, empty when nothing did.
    """

    file: FileToPrepare
    outcome: Outcome
    note: str = ""


@dataclass(slots=True)
class _Worker:
    """One process, the files that it holds, and since when it works on the first of them."""

    process: subprocess.Popen[bytes]
    held: deque[FileToPrepare] = field(default_factory=deque)
    since: float = 0.0
    warm: bool = False
    jobs: queue.SimpleQueue[bytes | None] = field(default_factory=queue.SimpleQueue)
    threads: list[threading.Thread] = field(default_factory=list)

    def end(self) -> None:
        """End the process, then the threads on its pipes, then the pipe that is left.

        In this order: a pipe must not be closed, not even by the interpreter as it ends, while
        a thread waits inside it.
        """
        self.jobs.put(None)
        try:
            self.process.wait(timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for thread in self.threads:
            thread.join(_PATIENCE_S)
        if self.process.stdout is not None and not any(one.is_alive() for one in self.threads):
            with suppress(OSError):
                self.process.stdout.close()

    def feed(self) -> None:
        """Write jobs until ``None``: a thread of its own, so that the writer never waits."""
        stream = cast("BinaryIO", self.process.stdin)
        with suppress(OSError, ValueError):
            while (job := self.jobs.get()) is not None:
                write_frame(stream, job)
        with suppress(OSError):
            stream.close()

    def overdue(self, now: float, limit_s: float) -> bool:
        try:
            size = len(self.held[0].raw) / 1048576
        except IndexError:
            return False
        allowed = limit_s * (1 + _LIMIT_SHARE_PER_MIB * size) + (0 if self.warm else _START_S)
        return now - self.since > allowed


class Workers:
    """A few processes that prepare files. Use as a context manager.

    A file on which a process hangs or dies is split as plain text by this process instead,
    and says so; the process is replaced.
    """

    def __init__(
        self, n_workers: int, *, limit_s: float = _LIMIT_S, gives_way: bool = False
    ) -> None:
        """Set the number of processes; they start with the first file.

        Args:
            n_workers: Processes, at least 1.
            limit_s: Seconds for a small file; large ones get 40 % more for each MiB.
            gives_way: They run when no one else wants the processor.
        """
        self._n_workers = max(1, n_workers)
        self._limit_s = limit_s
        self._gives_way = gives_way
        self._workers: list[_Worker] = []
        self._results: queue.SimpleQueue[tuple[_Worker, bytes | None]] = queue.SimpleQueue()
        self._closed = threading.Event()
        self._guarding: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Start to watch over the time limits."""
        # A run whose generator nobody closes, say because a traceback holds it, would end
        # after its threads were frozen.
        atexit.register(self._kill)
        self._guarding = threading.Thread(target=self._guard, daemon=True)
        self._guarding.start()
        return self

    def _guard(self) -> None:
        """Kill a process that is overdue; whoever waits for it then sees its end."""
        while not self._closed.wait(_CHECK_S):
            now = time.monotonic()
            for worker in list(self._workers):
                if worker.overdue(now, self._limit_s):
                    worker.process.kill()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the processes and the threads, whatever the run ended with."""
        if kind is not None:
            self._kill()
        else:
            self._end()

    def _kill(self) -> None:
        for worker in self._workers:
            worker.process.kill()
        self._end()

    def _end(self) -> None:
        """End everything that was started. Safe to call twice."""
        self._closed.set()
        for worker in self._workers:
            worker.jobs.put(None)
        for worker in self._workers:
            worker.end()
        self._workers.clear()
        if self._guarding is not None:
            self._guarding.join(_PATIENCE_S)
            self._guarding = None
        atexit.unregister(self._kill)

    def prepare(self, files: Iterable[FileToPrepare]) -> Iterator[Finished]:
        """Yield each file with what came of it, in the order in which they are done.

        Files are taken from ``files`` as they are needed: a few ahead, never all.
        """
        source = iter(files)
        exhausted = False
        n_open = 0
        while True:
            while not exhausted and n_open < self._n_workers * _AHEAD:
                file = next(source, None)
                if file is None:
                    exhausted = True
                    break
                if not self._give(file):
                    yield Finished(file, prepare_file(file), "")
                    continue
                n_open += 1
            if not n_open:
                return
            for finished in self._wait():
                n_open -= 1
                yield finished

    def _give(self, file: FileToPrepare) -> bool:
        """Hand a file to a process; tell whether there was one.

        Files of one name go to one process while it keeps up: versions of a page are much
        alike, and what was cleaned and analysed lately is remembered there.
        """
        if len(self._workers) < self._n_workers:
            started = self._start()
            if started is not None:
                self._workers.append(started)
        if not self._workers:
            return False
        name = file.path.rpartition("/")[2].encode("utf-8", "surrogatepass")
        worker = self._workers[crc32(name) % len(self._workers)]
        if len(worker.held) >= _AHEAD:
            worker = min(self._workers, key=lambda one: len(one.held))
        if not worker.held:
            worker.since = time.monotonic()
        worker.held.append(file)
        worker.jobs.put(encode_job(file))
        return True

    def _start(self) -> _Worker | None:
        try:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-c", _BOOT, json.dumps(sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except (OSError, ValueError):
            return None
        if self._gives_way:
            give_way(process.pid)
        worker = _Worker(process)
        worker.threads = [
            threading.Thread(target=self._read, args=(worker,), daemon=True),
            threading.Thread(target=worker.feed, daemon=True),
        ]
        for thread in worker.threads:
            thread.start()
        return worker

    def _read(self, worker: _Worker) -> None:
        """Pass on what a process writes; ``None`` says that it is gone."""
        stream = cast("BinaryIO", worker.process.stdout)
        while True:
            frame: bytes | None = None
            with suppress(OSError, ValueError):
                frame = read_frame(stream)
            self._results.put((worker, frame))
            if frame is None:
                return

    def _wait(self) -> list[Finished]:
        """Return what is finished next, waiting for it; replace a process that hangs."""
        while True:
            worker, frame = self._results.get()
            if frame is not None:
                file = worker.held.popleft()
                worker.since = time.monotonic()
                worker.warm = True
                outcome = decode_outcome(frame, file, document_id(file.source, file.path))
                return [Finished(file, outcome)]
            if worker.held or worker in self._workers:
                done = self._buried(worker)
                if done:
                    return done

    def _buried(self, worker: _Worker) -> list[Finished]:
        """Finish the files that a dead process held: the first one as plain text."""
        if worker in self._workers:
            self._workers.remove(worker)
        worker.end()
        held, worker.held = list(worker.held), deque()
        finished: list[Finished] = []
        for place, file in enumerate(held):
            if place == 0:
                plain = prepare_file(replace(file, plain=True))
                finished.append(Finished(file, plain, "its parser took too long or failed"))
            else:
                finished.extend(self._again(file))
        return finished

    def _again(self, file: FileToPrepare) -> list[Finished]:
        """Prepare a file that waited behind one on which its process died."""
        alone = Workers(1, limit_s=self._limit_s)
        with alone:
            return list(alone.prepare([file]))
