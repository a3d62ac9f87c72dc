"""A process that hangs or dies costs its file the structure, never the text, and nothing else."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fingerpost.corpus import CorpusRoot, FileToPrepare, prepare_file
from fingerpost.corpus.scan import Limits, Scan
from fingerpost.corpus.workers import Workers

INDEX = """
import json, re, resource, sys
from pathlib import Path
from fingerpost.corpus import CorpusRoot, IndexOptions, index_corpus
from fingerpost.observe.observer import ignore
from fingerpost.stores.open import open_store
root = CorpusRoot("docs", Path(sys.argv[1]).resolve())
found = index_corpus(
    open_store(sys.argv[2]), [root], embedder=None, options=IndexOptions(), observe=ignore
)
# The peak that `getrusage` tells of this process holds the process that started it.
own = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]
mib = [int(own) // 1024, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024]
told = {"documents": found.n_documents, "skipped": [i.detail for i in found.skipped], "mib": mib}
print(json.dumps(told))
"""


def job(path, text):
    return FileToPrepare(text.encode(), "docs", path, content_hash="h")


def text_of(finished):
    return "".join(chunk.text for chunk in finished.outcome.document.chunks)


def test_a_file_that_takes_too_long_is_split_as_plain_text_and_the_rest_goes_on():
    slow = "# Title\n\n" + "Some words. " * 500_000
    with Workers(1, limit_s=0.02) as workers:
        first = list(workers.prepare(iter([job("warm.md", "# A\n\nwarm\n")])))
        done = list(workers.prepare(iter([job("slow.md", slow), job("b.md", "# B\n\nnext\n")])))
    assert [one.note for one in first] == [""]
    by_path = {one.file.path: one for one in done}
    assert by_path["slow.md"].note
    assert text_of(by_path["slow.md"]) == slow
    assert by_path["slow.md"].outcome.document.chunks[0].heading_path == ()
    assert by_path["b.md"].note == ""
    assert by_path["b.md"].outcome.document.chunks[0].heading_path == ("B",)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for the memory")
@pytest.mark.parametrize("line", ["# h", "a\n"], ids=repr)
def test_ten_megabytes_of_short_lines_are_plain_text_within_the_memory_of_a_file(tmp_path, line):
    """Goal R9: in a process of its own, since the peak of memory never falls."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/big.md").write_text(f"{line}\n" * (10 * 1024**2 // (len(line) + 1)))
    (tmp_path / "docs/small.md").write_text("# Small\n\nsmall\n")
    run = subprocess.run(
        [sys.executable, "-c", INDEX, str(tmp_path / "docs"), str(tmp_path / "index")],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert told["documents"] == 2
    assert told["skipped"] == ["more than 100,000 lines; it was read as plain text"]
    assert max(told["mib"]) <= 512


def test_a_process_that_dies_is_replaced():
    with Workers(1) as workers:
        list(workers.prepare(iter([job("a.md", "a\n")])))
        workers._workers[0].process.kill()
        workers._workers[0].process.wait()
        files = [job(f"{n}.md", f"# T{n}\n\ntext {n}\n") for n in range(6)]
        done = list(workers.prepare(iter(files)))
    assert sorted(one.file.path for one in done) == sorted(file.path for file in files)
    assert all(text_of(one) == one.file.raw.decode() for one in done)
    assert sum(bool(one.note) for one in done) <= 1


def test_an_abandoned_run_leaves_no_process_and_no_thread():
    before = set(threading.enumerate())
    with Workers(2) as workers:
        results = workers.prepare(job(f"{n}.md", "text\n") for n in range(100))
        next(results)
        processes = [worker.process for worker in workers._workers]
        results.close()
    assert all(process.poll() is not None for process in processes)
    ours = set(threading.enumerate()) - before
    for thread in ours:
        thread.join(5)
    assert [thread for thread in ours if thread.is_alive()] == []


def test_a_run_that_fails_half_way_ends_its_processes_and_threads():
    before = threading.active_count()
    workers = Workers(2)

    def run():
        with workers:
            for _ in workers.prepare(job(f"{n}.md", "text\n" * 9000) for n in range(100)):
                raise OSError(28, "no space")

    with pytest.raises(OSError, match="no space"):
        run()
    assert threading.active_count() == before


def test_an_interpreter_ends_cleanly_with_a_run_that_nobody_closed():
    script = (
        "from fingerpost.corpus import FileToPrepare\n"
        "from fingerpost.corpus.workers import Workers\n"
        "def run():\n"
        "    with Workers(2) as workers:\n"
        "        yield from workers.prepare(\n"
        "            FileToPrepare(b'text\\n' * 20000, 'd', f'{n}.md', content_hash='h')\n"
        "            for n in range(400))\n"
        "held = run()\n"
        "next(held)\n"
        "raise SystemExit(6)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (6, "")


def test_the_processes_give_what_this_process_gives(tmp_path):
    for number in range(12):
        (tmp_path / f"{number}.md").write_text(
            f"# T{number}\n\nSee [next](1.md). Größe {number}\r\n"
        )
    (tmp_path / "nul.md").write_bytes(b"\0")
    with Scan([CorpusRoot("docs", tmp_path.resolve())], Limits(10**6, 100, 10**9)) as scan:
        files = list(scan.changed({}, 220, lambda file: None))
    with Workers(2) as workers:
        outcomes = {f.file.path: f.outcome for f in workers.prepare(iter(files))}
    assert outcomes == {file.path: prepare_file(file) for file in files}
