"""What the commands say of repositories."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fingerpost.types.stats import RepositoryStats

_SHOWN_HASH = 10


def repository_line(repository: RepositoryStats) -> str:
    """Return one repository with its commit, what is there of it, and what went wrong."""
    parts = []
    if repository.commit:
        fetched = datetime.fromtimestamp(repository.fetched_at, UTC)
        parts += [
            f"commit {repository.commit[:_SHOWN_HASH]}",
            f"{repository.n_files:,} files",
            f"{repository.n_chunks:,} chunks",
            f"fetched {fetched:%Y-%m-%d %H:%M} UTC",
        ]
    if repository.n_left_out:
        parts.append(f"{repository.n_left_out:,} more files left out (max_files_per_repo)")
    if repository.error:
        parts.append(f"not up to date: {_reason(repository)}")
    return f"{repository.name}: {', '.join(parts) or 'not fetched yet'}"


def repository_notes(repositories: Iterable[RepositoryStats]) -> list[str]:
    """Return a note for each that is not as its server has it."""
    return [f"note: {one.name}: {_reason(one)}" for one in repositories if one.error]


def _reason(repository: RepositoryStats) -> str:
    return repository.error.removeprefix(f"{repository.name}: ")
