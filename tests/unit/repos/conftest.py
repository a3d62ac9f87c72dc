"""A mirror in a folder of the test, and what it is filled from."""

import pytest

from fingerpost.config.endpoint import Endpoint
from fingerpost.config.repository import read_repository
from fingerpost.config.secrets import Secret
from fingerpost.repos import Limits, Mirror, Patience, Sources, fetch


class Place:
    """One repository and its mirror."""

    def __init__(self, folder, text, url, **more):
        self.address = read_repository(text)
        self.mirror = Mirror(folder, self.address.name)
        key = more.pop("key", "")
        limits = {"max_files": 50, "max_file_bytes": 10**6, "max_bytes": 10**7, "max_depth": 64}
        limits |= {name: more.pop(name) for name in list(more) if name in limits}
        self.sources = Sources(
            Endpoint("github", "", "", url, Secret(key) if key else None),
            Limits(**limits, is_document=lambda path: path.endswith((".md", ".rst"))),
            patience=Patience(draw=lambda: 0.0),
            **more,
        )

    def fetch(self):
        """Bring the mirror up to date; tell whether the commit is another."""
        return fetch(self.address, self.mirror, self.sources)

    @property
    def state(self):
        return self.mirror.state

    @property
    def files(self):
        """Path → text of the newest commit's files."""
        folder = self.mirror.snapshot(self.state.commit)
        return {
            str(one.relative_to(folder)): one.read_text()
            for one in sorted(folder.rglob("*"))
            if one.is_file()
        }

    @property
    def skipped(self):
        """Path → reason of what was passed over."""
        return {one.path: one.reason for one in self.state.skipped}

    @property
    def left_behind(self):
        """Names in the mirror's folder that are neither its state nor a commit of it."""
        known = {"state.json", self.state.commit, self.state.before}
        return [one.name for one in self.mirror.folder.iterdir() if one.name not in known]


@pytest.fixture
def place(tmp_path):
    def make(text, url="http://127.0.0.1:9", **more):
        return Place(tmp_path / "mirror", text, url, **more)

    return make
