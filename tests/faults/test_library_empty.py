"""A corpus without text is an error that names every path and why it gave nothing."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from fingerpost import EmptyCorpusError, QueryRouter
from fingerpost.cli.main import main
from fingerpost.errors import ConfigError

DOCUMENTS_ALONE = {"embedding_provider": "none", "include_platform_knowledge": False}


def _make(folder):
    """Fill a folder with every kind of path that gives nothing; return path → what is said."""
    for name in ("empty", "others", "binary", "big", "blank", "mixed", "books", "globbed/deep"):
        (folder / name).mkdir(parents=True)
    (folder / "others/logo.png").write_bytes(b"\x89PNG")
    (folder / "binary/a.md").write_bytes(b"a\0b")
    (folder / "big/a.md").write_text("word " * 300_000)
    (folder / "big/b.md").write_text("word " * 300_000)
    (folder / "blank/a.md").write_text("---\ntitle: only a title\n---\n \n")
    (folder / "mixed/a.txt").write_bytes(bytes(range(128, 256)) * 20)
    (folder / "mixed/b.md").write_bytes(b"\0")
    (folder / "mixed/link.md").symlink_to("b.md")
    (folder / "books/a.doc").write_bytes(b"%PDF")
    (folder / "globbed/a.md").write_bytes(b"\0")
    (folder / "globbed/b.txt").write_bytes(b"\0")
    (folder / "globbed/deep/away").symlink_to("/")
    os.mkfifo(folder / "pipe.md")
    (folder / "photo.jpg").write_bytes(b"\xff")
    (folder / "alone.md").write_text("\n")
    return {
        "missing": ": unreadable (no such file or folder)",
        "empty": ": empty (no file of a format that is read)",
        "others": ": empty (no file of a format that is read)",
        "binary": f": 1 binary, such as {folder}/binary/a.md (NUL byte in the first 8 KiB)",
        "big": f": 2 too-large, such as {folder}/big/a.md (1.4 MiB, limit 1.0 MiB)",
        "blank": f": 1 empty, such as {folder}/blank/a.md (no text)",
        "mixed": (
            f": 1 symlink, such as {folder}/mixed/link.md (links are not followed), and "
            f"1 encoding, such as {folder}/mixed/a.txt (100 % of it is not UTF-8, limit 30 %), "
            f"and 1 binary, such as {folder}/mixed/b.md (NUL byte in the first 8 KiB)"
        ),
        "books": f": 1 unsupported, such as {folder}/books/a.doc (this format is not read)",
        "nothing/*.md": ": unreadable (no such folder)",
        "empty/*.md": ": empty (no document matches it)",
        "globbed/*.rst": ": empty (no document matches it)",
        "globbed/*.txt": f": 1 binary, such as {folder}/globbed/b.txt (NUL byte in the first 8 KiB)",
        "pipe.md": ": not-regular (neither a file nor a folder)",
        "photo.jpg": ": unsupported (.jpg is no format that is read)",
        "alone.md": ": empty (no text)",
    }


@pytest.fixture
def barren(tmp_path):
    folder = tmp_path.resolve() / "corpus"
    folder.mkdir()
    said = {str(folder / name): reason for name, reason in _make(folder).items()}
    return SimpleNamespace(folder=folder, said=said, index=tmp_path / "index")


def test_each_path_alone_is_named_with_the_reason(barren):
    for path, said in barren.said.items():
        router = QueryRouter(knowledge_corpus=[path], max_file_mb=1, **DOCUMENTS_ALONE)
        with pytest.raises(EmptyCorpusError) as caught:
            router.init_sync()
        assert str(caught.value).partition("corpus: ")[2] == f"{path}{said}"
        assert caught.value.skipped
        assert caught.value.hint
    assert not list(barren.folder.rglob(".fingerpost"))


def test_all_paths_together_are_all_named_with_their_reasons(barren):
    router = QueryRouter(
        knowledge_corpus=list(barren.said),
        max_file_mb=1,
        index_dir=barren.index,
        **DOCUMENTS_ALONE,
    )
    with pytest.raises(EmptyCorpusError) as caught:
        router.init_sync()
    parts = str(caught.value).partition("corpus: ")[2].split("; ")
    assert parts == [f"{path}{said}" for path, said in barren.said.items()]
    assert len({item.path for item in caught.value.skipped}) == 18
    assert not barren.index.exists()


def test_a_path_that_is_empty_is_seen_in_the_message():
    with pytest.raises(EmptyCorpusError, match=r"corpus: '': unreadable \(an empty path\)"):
        QueryRouter(knowledge_corpus=[""], **DOCUMENTS_ALONE).init_sync()


def test_no_path_at_all_is_a_wrong_setting():
    with pytest.raises(ConfigError, match="knowledge_corpus"):
        QueryRouter(knowledge_corpus=[], embedding_provider="none")


@pytest.mark.parametrize("command", ["index", "ask", "chat"])
def test_every_command_names_them_and_ends_with_the_code_of_wrong_use(barren, capsys, command):
    question = ["What?"] if command == "ask" else []
    paths = [str(barren.folder / "empty"), str(barren.folder / "missing")]
    with pytest.raises(SystemExit) as ended:
        main([command, *paths, *question, "--embedder", "none"])
    said = capsys.readouterr().err
    assert ended.value.code == 2, said
    assert f"{paths[0]}: empty (no file of a format that is read)" in said
    assert f"{paths[1]}: unreadable (no such file or folder)" in said


def test_a_pdf_alone_without_its_extra_says_how_to_install_it_and_no_other_way(tmp_path):
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7")
    script = (
        "import sys\n"
        "sys.modules['pypdfium2'] = None\n"
        "from fingerpost import EmptyCorpusError, QueryRouter\n"
        "try:\n"
        f"    QueryRouter(knowledge_corpus=[{str(tmp_path)!r}], **{DOCUMENTS_ALONE}).init_sync()\n"
        "except EmptyCorpusError as error:\n"
        "    print(error.hint)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    said = f"To read {tmp_path}, in the repository: pip install '.[documents]'."
    assert run.stdout.strip() == said, run.stderr


def test_a_corpus_that_lost_its_text_keeps_its_index_folder(tmp_path):
    page = tmp_path / "docs" / "a.md"
    page.parent.mkdir()
    page.write_text("text\n")
    with QueryRouter(knowledge_corpus=[str(page.parent)], embedding_provider="none"):
        pass
    page.unlink()
    with pytest.raises(EmptyCorpusError, match="docs: empty"):
        QueryRouter(knowledge_corpus=[str(page.parent)], **DOCUMENTS_ALONE).init_sync()
    assert (page.parent / ".fingerpost").is_dir()
