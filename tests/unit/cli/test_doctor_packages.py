"""``fingerpost doctor`` on packages and on an index without text."""

import json
import tomllib
from importlib import metadata
from pathlib import Path

from fingerpost.cli.doctor_packages import EXTRAS

PYPROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"


def findings(run_main, *arguments):
    code, out, _ = run_main("doctor", "--embedder", "none", "--json", *arguments)
    assert code == 0
    return {item["name"]: item for item in json.loads(out)["findings"]}


def test_every_extra_of_the_project_is_told_with_all_its_packages(run_main):
    offered = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]["optional-dependencies"]
    del offered["dev"]
    found = findings(run_main)
    told = {name.removeprefix("extra ") for name in found if name.startswith("extra ")}
    assert told == set(offered)
    for extra, packages in offered.items():
        named = {package.partition(">=")[0] for package in packages}
        assert named == set(EXTRAS[extra][1]) - {"fingerpost-minilm"}


def test_of_an_extra_the_missing_packages_are_named_with_what_to_install(run_main, monkeypatch):
    gone, find = (
        {"python-docx", "python-pptx", "fingerpost-minilm"},
        metadata.Distribution.from_name,
    )

    def without(name):
        if name in gone:
            raise metadata.PackageNotFoundError(name)
        return find(name)

    monkeypatch.setattr(metadata.Distribution, "from_name", without)
    found = findings(run_main)
    assert found["extra documents"]["status"] == "note"
    assert found["extra documents"]["detail"] == (
        "PDF, Word and PowerPoint files: python-docx, python-pptx not installed. "
        "In the repository: pip install '.[documents]'"
    )
    assert found["extra local"]["detail"].endswith(" '.[local]' ./packages/fingerpost-minilm")


def test_an_index_whose_documents_went_away_is_told_to_hold_no_text(run_main, tmp_path):
    page = tmp_path / "docs" / "a.md"
    page.parent.mkdir()
    page.write_text("# About\n\nThe default mode is safe.\n")
    run_main("index", page.parent, "--embedder", "none")
    page.unlink()
    run_main("index", page.parent, "--embedder", "none")
    found = findings(run_main, page.parent)["index"]
    assert found["status"] == "warning"
    assert "holds no text yet" in found["detail"]
    assert "fingerpost index" in found["detail"]
