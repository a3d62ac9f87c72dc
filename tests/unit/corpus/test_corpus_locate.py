"""Paths, files and globs that the user names."""

import pytest

from fingerpost.corpus import CorpusRoot, locate
from fingerpost.corpus.walk import Folder


def write(path, text="text\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def found(root):
    with Folder(root) as folder:
        return [file.path for file in folder.files()]


def test_a_folder_is_a_source_of_its_own_name(tmp_path):
    write(tmp_path / "docs/a.md")
    roots, skipped = locate([tmp_path / "docs"])
    assert roots == [CorpusRoot("docs", (tmp_path / "docs").resolve())]
    assert skipped == []


def test_files_of_one_folder_are_one_source_and_their_neighbours_are_not_taken(tmp_path):
    for name in ("a.md", "b.md", "c.md"):
        write(tmp_path / "docs" / name)
    roots, _ = locate([tmp_path / "docs/a.md", tmp_path / "docs/c.md"])
    assert [found(root) for root in roots] == [["a.md", "c.md"]]


def test_globs_keep_to_what_they_say(tmp_path):
    for name in ("a.md", "x/b.md", "x/y/c.md", "x/d.txt", "e-1.md", "e-2.md"):
        write(tmp_path / "docs" / name)

    def files(pattern):
        roots, skipped = locate([tmp_path / pattern])
        assert skipped == []
        return [path for root in roots for path in found(root)]

    assert files("docs/*.md") == ["a.md", "e-1.md", "e-2.md"]
    assert files("docs/**/*.md") == ["a.md", "e-1.md", "e-2.md", "x/b.md", "x/y/c.md"]
    assert files("docs/x/*") == ["b.md", "d.txt"]
    assert files("docs/e-[!1].md") == ["e-2.md"]
    assert files("docs/?/b.md") == ["x/b.md"]


@pytest.mark.parametrize(
    ("given", "strangers"),
    [
        ("notes/one.md", ("notes/other", "notes/venv")),
        ("notes/*.md", ("notes/other", "notes/venv")),
        ("notes/mine/*.md", ("notes/other", "notes/venv", "notes/mine/deep")),
        ("notes/mine/**/*.md", ("notes/other", "notes/venv")),
        ("notes/*/one.md", ("notes/mine/deep",)),
    ],
)
def test_a_folder_that_no_glob_reaches_is_not_looked_into(tmp_path, given, strangers):
    for name in ("one.md", "mine/one.md", "mine/deep/one.md"):
        write(tmp_path / "notes" / name)
    for name in strangers:
        write(tmp_path / name / "inner/pyvenv.cfg")
        (tmp_path / name / "inner/away").symlink_to("/")
        (tmp_path / name / "away").symlink_to("/")
    roots, _ = locate([tmp_path / given])
    (root,) = roots
    with Folder(root) as folder:
        assert [file.path for file in folder.files()]
        passed = [item.path for item in folder.skipped]
    unreached = tuple(str(tmp_path / name) for name in strangers)
    assert [path for path in passed if path.startswith(unreached)] == []


def test_a_folder_or_file_inside_a_given_folder_is_not_taken_twice(tmp_path):
    write(tmp_path / "docs/sub/a.md")
    roots, _ = locate(
        [tmp_path / "docs/sub", tmp_path / "docs", tmp_path / "docs", tmp_path / "docs/sub/a.md"]
    )
    assert [root.folder for root in roots] == [(tmp_path / "docs").resolve()]


def test_a_hidden_folder_that_is_named_is_taken_although_its_parent_passes_it_over(tmp_path):
    write(tmp_path / "docs/.notes/a.md")
    write(tmp_path / "docs/b.md")
    roots, _ = locate([tmp_path / "docs", tmp_path / "docs/.notes"])
    assert [found(root) for root in roots] == [["b.md"], ["a.md"]]


def test_folders_of_the_same_name_get_the_folders_above_before_it(tmp_path):
    for project in ("one", "two"):
        write(tmp_path / project / "docs/a.md")
    roots, _ = locate([tmp_path / "one/docs", tmp_path / "two/docs"])
    assert [root.name for root in roots] == ["one/docs", "two/docs"]


def test_paths_that_give_nothing_are_listed_with_the_reason(tmp_path):
    write(tmp_path / "image.png")
    write(tmp_path / "paper.doc")
    roots, skipped = locate(
        [tmp_path / "missing", tmp_path / "no/*.md", tmp_path / "image.png", tmp_path / "paper.doc"]
    )
    assert roots == []
    assert [item.reason for item in skipped] == [
        "unreadable", "unreadable", "unsupported", "unsupported",
    ]  # fmt: skip
    assert locate([]) == ([], [])


def test_ignored_folders_and_other_files_are_no_documents_and_documents_we_cannot_read_are_listed(
    tmp_path,
):
    for name in ("a.md", "b.py", "c.RTF", "d.HTML", "node_modules/e.md", ".git/f.md", ".h.md"):
        write(tmp_path / "docs" / name)
    root = CorpusRoot("docs", (tmp_path / "docs").resolve())
    with Folder(root) as folder:
        assert [file.path for file in folder.files()] == [".h.md", "a.md", "d.HTML"]
        assert [(item.path, item.reason) for item in folder.skipped] == [
            (f"{root.folder}/c.RTF", "unsupported")
        ]


def test_a_virtual_environment_is_passed_over_whatever_its_name_and_listed(tmp_path):
    write(tmp_path / "docs/a.md")
    write(tmp_path / "docs/tools/env/lib/package/README.md")
    write(tmp_path / "docs/tools/b.md")
    (tmp_path / "docs/tools/env/pyvenv.cfg").write_text("home = /usr/bin\n")
    root = CorpusRoot("docs", (tmp_path / "docs").resolve())
    with Folder(root) as folder:
        assert [file.path for file in folder.files()] == ["a.md", "tools/b.md"]
        assert [(item.path, item.reason, item.detail) for item in folder.skipped] == [
            (f"{root.folder}/tools/env", "ignored", "a Python virtual environment")
        ]


def test_a_virtual_environment_that_is_named_is_read(tmp_path):
    write(tmp_path / "docs/env/pyvenv.cfg")
    write(tmp_path / "docs/env/a.md")
    write(tmp_path / "docs/env/lib/b.md")
    roots, _ = locate([tmp_path / "docs/env"])
    assert [found(root) for root in roots] == [["a.md", "lib/b.md"]]
    roots, _ = locate([tmp_path / "docs", tmp_path / "docs/env/lib"])
    assert [found(root) for root in roots] == [[], ["b.md"]]


@pytest.mark.parametrize(
    "path",
    ["", "~nosuch/x", "x" * 5000, "docs/[z-a]*", "a\0b", "\ud800", "/" + "y/" * 4000 + "*.md"],
)
def test_a_path_that_cannot_be_looked_at_is_skipped_with_a_reason(path):
    roots, skipped = locate([path])
    assert roots == []
    assert [(item.path, item.reason) for item in skipped] == [(path, "unreadable")]
    assert skipped[0].detail


def test_a_file_whose_name_looks_like_a_pattern_is_taken_alone(tmp_path):
    for name in ("a[z-a].md", "a[1].md", "a1.md", "b*.md", "bc.md", "d[[e].md"):
        write(tmp_path / name)
    roots, _ = locate([tmp_path / name for name in ("a[z-a].md", "a[1].md", "b*.md", "d[[e].md")])
    assert found(roots[0]) == ["a[1].md", "a[z-a].md", "b*.md", "d[[e].md"]


def test_signs_that_expressions_know_stand_for_themselves_in_brackets(tmp_path):
    for sign in "[&~|-ax":
        write(tmp_path / f"{sign}.md")
    roots, skipped = locate([tmp_path / "[[&&~~||--]*.md"])
    assert skipped == []
    assert sorted(found(roots[0])) == sorted(f"{sign}.md" for sign in "[&~|-")
