"""An empty folder of documents and an empty index."""

import pytest

from fingerpost.stores.open import open_store


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "index"))
    yield opened
    opened.close()
