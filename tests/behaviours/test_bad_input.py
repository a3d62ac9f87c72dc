"""Files as they lie around: strange encodings, huge lines, pipes and loops stop nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from fingerpost import EmptyCorpusError, QueryRouter

pytestmark = pytest.mark.anyio
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
WORDS = {"embedding_provider": "none"}
QUESTION, FACT = "What does the café on the roof serve?", "The café on the roof serves soup"
PAGE = f"# Menü\n\n{FACT}.\n\nIt is open daily.\n"

READABLE = {
    "utf-8": PAGE.encode(),
    "utf-8 with a mark": b"\xef\xbb\xbf" + PAGE.encode(),
    "utf-16": PAGE.encode("utf-16"),
    "utf-16 big end first": b"\xfe\xff" + PAGE.encode("utf-16-be"),
    "latin-1": PAGE.encode("latin-1"),
    "carriage returns": PAGE.replace("\n", "\r\n").encode(),
    "no line end": PAGE.rstrip().encode(),
    "NUL behind the beginning": PAGE.encode() + b" " * 9000 + b"\0 end\n",
    "a few broken bytes": PAGE.encode() + b"\xff\xfe broken \x80\n",
}


def _router(*corpus, **settings):
    return QueryRouter(knowledge_corpus=list(corpus), **WORDS, **settings)


def _folder(tmp_path, raw, name="menu.md"):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / name).write_bytes(raw)
    return folder


@pytest.mark.parametrize("kind", READABLE)
async def test_text_of_any_usual_encoding_is_answered_from_with_its_line(tmp_path, kind):
    async with _router(_folder(tmp_path, READABLE[kind])) as router:
        result = await router.route(QUESTION)
        stats = router.get_corpus_stats()
    (source,) = result.sources
    assert FACT in result.answer
    assert "\r" not in result.answer
    assert (source.title, source.line_start) == ("Menü", 1)
    assert source.line_end >= 3
    assert stats.skipped == ()


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
async def test_front_matter_is_read_behind_a_mark_and_with_any_line_end(tmp_path, mark, line_end):
    page = f"---\ntitle: Karte\ntags: [food]\n---\n{PAGE}".replace("\n", line_end)
    async with _router(_folder(tmp_path, mark + page.encode())) as router:
        result = await router.route(QUESTION, filters={"tags": "food"})
    (source,) = result.sources
    assert (source.title, "Karte" in result.answer) == ("Karte", False)
    assert FACT in result.answer


async def test_a_line_of_ten_megabytes_is_read_and_a_larger_one_is_listed(tmp_path):
    """Field note 5: one line without an end blocks nothing."""
    folder = _folder(tmp_path, PAGE.encode())
    line = b"whale " * (10 * 1024**2 // 6)
    (folder / "line.txt").write_bytes(line)
    (folder / "longer.txt").write_bytes(line + b"whale " * 2)
    (folder / "solid.txt").write_bytes(b"x" * 200_000)
    with anyio.fail_after(60):
        async with _router(folder) as router:
            result = await router.route(QUESTION)
            whale = await router.retrieve("whale", tier=1)
            stats = router.get_corpus_stats()
    assert FACT in result.answer
    assert {hit.document.path for hit in whale.hits} == {"line.txt"}
    assert [(Path(file.path).name, file.reason) for file in stats.skipped] == [
        ("longer.txt", "too-large")
    ]


def _unusable(folder):
    """Put what cannot be read into a folder; return the reason by name."""
    (folder / "nul.md").write_bytes(b"\0\1\2" * 100)
    (folder / "blank.md").write_bytes(b" \n\n")
    (folder / "nothing.md").write_bytes(b"")
    (folder / "noise.txt").write_bytes(b"\xff\xfe" + b"\x00\xd8" * 300)
    (folder / "book.doc").write_bytes(b"%PDF-1.7\n")
    os.mkfifo(folder / "pipe.md")
    (folder / "loop.md").symlink_to(folder / "loop.md")
    (folder / "up").symlink_to(folder, target_is_directory=True)
    return {
        "nul.md": "binary",
        "blank.md": "empty",
        "nothing.md": "empty",
        "noise.txt": "encoding",
        "book.doc": "unsupported",
        "pipe.md": "not-regular",
        "loop.md": "symlink",
        "up": "symlink",
    }


@needs_pipes
async def test_what_cannot_be_read_is_listed_with_its_reason_and_stops_nothing(tmp_path):
    folder = _folder(tmp_path, PAGE.encode())
    reasons = _unusable(folder)
    with anyio.fail_after(30):
        async with _router(folder) as router:
            result = await router.route(QUESTION)
            stats = router.get_corpus_stats()
    assert FACT in result.answer
    assert stats.document_count == 1
    assert {Path(file.path).name: file.reason for file in stats.skipped} == reasons
    details = {Path(file.path).name: file.detail for file in stats.skipped}
    assert (details["loop.md"], details["up"]) == ("it leads nowhere", "links are not followed")


@needs_pipes
async def test_a_corpus_of_nothing_but_unreadable_files_names_each_and_why(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    reasons = _unusable(folder)
    with pytest.raises(EmptyCorpusError) as caught:
        async with _router(folder, tmp_path / "missing", include_platform_knowledge=False):
            pass
    told = {Path(file.path).name: file.reason for file in caught.value.skipped}
    assert told.items() >= reasons.items()
    assert "missing" in told
    for words in (str(folder), "missing", *reasons.values()):
        assert words in str(caught.value)
    assert ".md" in caught.value.hint
    assert not (folder / ".fingerpost").exists()


@pytest.mark.parametrize("name", ["pipe.md", "loop.md", "nul.md"])
@needs_pipes
async def test_a_path_that_is_no_document_is_refused_by_name(tmp_path, name):
    _unusable(tmp_path)
    with pytest.raises(EmptyCorpusError, match=name):
        async with _router(tmp_path / name, include_platform_knowledge=False):
            pass


def _run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "fingerpost", *map(str, arguments), "--embedder", "none"],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@needs_pipes
def test_the_command_reads_what_can_be_read_and_lists_the_rest(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    reasons = _unusable(folder)
    nothing = _run("ask", folder, QUESTION)
    assert (nothing.returncode, "Traceback" in nothing.stderr) == (2, False)
    for words in (str(folder), *reasons.values()):
        assert words in nothing.stderr
    for number, raw in enumerate(READABLE.values()):
        (folder / f"menu{number}.md").write_bytes(raw)
    done = json.loads(_run("index", folder, "--json").stdout)
    assert {Path(file["path"]).name: file["reason"] for file in done["skipped"]} == reasons
    assert done["n_documents"] == len(READABLE)
    asked = _run("ask", folder / "menu4.md", QUESTION)
    assert (asked.returncode, FACT in asked.stdout) == (0, True)
