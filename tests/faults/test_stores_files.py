"""File operations that fail at every possible place (goal R4), and a disk that is really full."""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from fingerpost.errors import StoreConflictError, StoreUnavailableError
from fingerpost.stores.embedded import EmbeddedStore
from fingerpost.stores.embedded.files import Files
from fingerpost.testing.store_documents import IDENTITY, embed_all, fill, prepare, words

FIRST = [prepare(f"a/{n}.md", [f"pumps number {n}\n"]) for n in range(3)]
SECOND = [prepare(f"b/{n}.md", [f"valves number {n}\n"]) for n in range(3)]
ERRORS = (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EMFILE)


class FailingFiles(Files):
    """Let the N-th operation fail, and those after it too."""

    def __init__(self, fails_at: int, number: int) -> None:
        self.left = fails_at
        self.number = number
        self.failed: list[str] = []

    def _step(self, name: str) -> None:
        self.left -= 1
        if self.left < 0:
            self.failed.append(name)
            raise OSError(self.number, os.strerror(self.number))

    def make_folder(self, path):
        self._step("make_folder")
        super().make_folder(path)

    def open(self, path, flags):
        self._step("open")
        return super().open(path, flags)

    def write(self, descriptor, content):
        self._step("write")
        super().write(descriptor, content)

    def truncate(self, descriptor, size):
        self._step("truncate")
        super().truncate(descriptor, size)

    def sync(self, descriptor):
        self._step("sync")
        super().sync(descriptor)

    def replace(self, source, target):
        self._step("replace")
        super().replace(source, target)

    def remove(self, path):
        self._step("remove")
        super().remove(path)


def _found(folder: Path, text: str) -> int:
    store = EmbeddedStore(folder)
    try:
        with store.reader() as reader:
            keys = [key for key, _ in reader.search_words(words(text), 10)]
            return len(reader.chunks(keys))
    finally:
        store.close()


@pytest.fixture
def folder(tmp_path):
    """A folder in memory where there is one: the number of runs is large."""
    shared = Path("/dev/shm")
    place = shared if shared.is_dir() else tmp_path
    with tempfile.TemporaryDirectory(dir=place, ignore_cleanup_errors=True) as name:
        yield Path(name)


@pytest.mark.parametrize("number", ERRORS, ids=[errno.errorcode[item] for item in ERRORS])
@pytest.mark.parametrize("existing", [True, False], ids=["second run", "first run"])
def test_each_file_operation_may_fail_and_the_run_can_be_repeated(folder, number, existing):
    base = folder / "base"
    if existing:
        fill(EmbeddedStore(base), FIRST)
    fails_at = 0
    operations, messages = set(), set()
    while True:
        index = folder / f"run{fails_at}"
        if existing:
            shutil.copytree(base, index)
        files = FailingFiles(fails_at, number)
        try:
            fill(EmbeddedStore(index, files=files), SECOND)
        except StoreUnavailableError as error:
            said = str(error) if error.retryable else ""
            messages.add(os.strerror(number) in said)
        else:
            assert _found(index, "valves") == 3
            if not files.failed:
                break
            assert set(files.failed) <= {"open", "write", "replace", "remove"}
        operations.update(files.failed)
        assert _found(index, "pumps") == (3 if existing else 0)
        fill(EmbeddedStore(index), SECOND)
        assert (_found(index, "pumps"), _found(index, "valves")) == (3 if existing else 0, 3)
        assert EmbeddedStore(index).info().n_vectors == (6 if existing else 3)
        # Threads of a word index that failed may still be writing there.
        shutil.rmtree(index, ignore_errors=True)
        fails_at += 1
    assert {"open", "write", "sync", "make_folder"} <= operations
    assert fails_at > 10
    assert messages == {True}


def test_after_a_failed_sync_the_writer_does_not_try_again(tmp_path):
    class NoSync(Files):
        fails = False

        def sync(self, descriptor):
            if self.fails:
                self.fails = False  # a second try would seem to succeed, with pages lost
                raise OSError(errno.EIO, "sync failed")
            super().sync(descriptor)

    files = NoSync()
    store = EmbeddedStore(tmp_path / "index", files=files)
    with store.writer(IDENTITY) as writer:
        writer.put(FIRST)
        writer.commit()
        embed_all(writer)
        files.fails = True
        with pytest.raises(StoreUnavailableError, match="sync failed"):
            writer.commit()
        with pytest.raises(StoreUnavailableError, match="stopped after an error"):
            writer.commit()
        with pytest.raises(StoreUnavailableError):
            writer.put(SECOND)
    assert store.info().n_vectors == 0
    fill(store, [])
    assert store.info().n_vectors == 3


LIMITED = """
import resource, signal, sys
from pathlib import Path
from fingerpost.errors import StoreUnavailableError
from fingerpost.stores.embedded import EmbeddedStore
from fingerpost.testing.store_documents import IDENTITY, embed_all, hash_vector, prepare
hash_vector("")  # numpy loads its random part at the first call
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = EmbeddedStore(Path(sys.argv[1]))
many = [prepare(f"b/{n}.md", [f"valves number {n} {'filler ' * 50}\\n"]) for n in range(60)]
limit = getattr(resource, sys.argv[2])
resource.setrlimit(limit, (int(sys.argv[3]), resource.getrlimit(limit)[1]))
try:
    with store.writer(IDENTITY) as writer:
        writer.put(many)
        embed_all(writer)
        writer.commit()
except StoreUnavailableError as error:
    print("refused:", error)
else:
    print("done")
"""


@pytest.mark.parametrize(
    ("limit", "value"),
    [("RLIMIT_FSIZE", size) for size in (600, 6_000, 40_000, 150_000)]
    + [("RLIMIT_NOFILE", count) for count in (6, 9, 12, 16)],
)
def test_limits_of_the_system_on_sqlite_and_tantivy_give_a_typed_error(tmp_path, limit, value):
    index = tmp_path / "index"
    fill(EmbeddedStore(index), FIRST)
    run = subprocess.run(
        [sys.executable, "-c", LIMITED, str(index), limit, str(value)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(("refused:", "done"))
    assert value > 100_000 or run.stdout.startswith("refused:") or limit == "RLIMIT_NOFILE"
    assert _found(index, "pumps") == 3
    fill(EmbeddedStore(index), SECOND)
    assert (_found(index, "pumps"), _found(index, "valves") > 0) == (3, True)


@contextmanager
def _mounted(folder: Path, options: str):
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if (
        shutil.which("mount") is None
        or subprocess.run(mount, check=False, capture_output=True).returncode
    ):
        pytest.skip("this user may not mount a small file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


def _fill_up(store: EmbeddedStore) -> None:
    for n in range(200):
        text = f"valves {n} " + " ".join(f"word{n}x{i}" for i in range(2000))
        fill(store, [prepare(f"big/{n}.md", [text])])


def test_a_disk_that_is_full_loses_nothing_and_goes_on_when_there_is_room(tmp_path):
    with _mounted(tmp_path / "small", "size=2m") as disk:
        index = disk / "index"
        store = EmbeddedStore(index)
        fill(store, FIRST)
        with pytest.raises(StoreUnavailableError):
            _fill_up(store)
        assert _found(index, "pumps") == 3
        before = EmbeddedStore(index).info().n_documents
        subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)
        fill(EmbeddedStore(index), SECOND)
        assert EmbeddedStore(index).info().n_documents == before + 3


def test_an_index_on_a_read_only_disk_still_answers(tmp_path):
    with _mounted(tmp_path / "disk", "size=8m") as disk:
        index = disk / "index"
        fill(EmbeddedStore(index), FIRST)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        assert _found(index, "pumps") == 3
        with (
            pytest.raises(StoreUnavailableError, match="Read-only"),
            EmbeddedStore(index).writer(IDENTITY),
        ):
            pass


def test_a_lock_of_a_dead_owner_is_free_at_once(tmp_path):
    index = tmp_path / "index"
    code = (
        "import os, sys; from pathlib import Path\n"
        "from fingerpost.stores.embedded import EmbeddedStore\n"
        "from fingerpost.testing.store_documents import IDENTITY\n"
        "writer = EmbeddedStore(Path(sys.argv[1])).writer(IDENTITY); writer.__enter__()\n"
        "print(os.getpid(), flush=True); sys.stdin.read()\n"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", code, str(index)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with owner:
        pid = owner.stdout.readline().strip()
        with (
            pytest.raises(StoreConflictError, match=rf"pid {pid}, since 20\d\d-"),
            EmbeddedStore(index).writer(IDENTITY),
        ):
            pass
        owner.kill()
    assert fill(EmbeddedStore(index), FIRST) == 1
