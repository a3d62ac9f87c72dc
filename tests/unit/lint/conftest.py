"""Corpora of a few pages, checked through the public function."""

import pytest

from fingerpost.lint import check_corpus


@pytest.fixture
def found(tmp_path, monkeypatch):
    """Return what writes pages and returns what is found: (rule, place, what) of each."""

    def check(pages, **options):
        for name, text in pages.items():
            path = tmp_path / "docs" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        monkeypatch.chdir(tmp_path / "docs")
        report = check_corpus(["."], **options)
        return [(one.rule, one.place, one.what) for one in report.findings]

    return check


@pytest.fixture
def rules(found):
    """Return what writes pages and returns the rules that find something in them."""
    return lambda pages, **options: [rule for rule, _, _ in found(pages, **options)]
