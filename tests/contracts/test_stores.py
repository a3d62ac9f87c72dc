"""Every store of this version keeps the contract of stores."""

from pathlib import Path

import pytest

from fingerpost.stores.embedded import EmbeddedStore
from fingerpost.testing.store_contract import OpenStore, StoreContract


class TestEmbeddedStore(StoreContract):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> OpenStore:
        return lambda: EmbeddedStore(tmp_path / "index")
