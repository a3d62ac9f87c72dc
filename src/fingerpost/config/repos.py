"""Settings of repositories whose documentation joins the corpus."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from fingerpost.config.address import address_fault
from fingerpost.config.fields import Name, Names, SecretField
from fingerpost.config.repository import RepositoryAddress, read_repository

ECOSYSTEM: tuple[str, ...] = ()
"""Repositories of fingerpost itself: none is published."""


def _readable(repos: tuple[str, ...]) -> tuple[str, ...]:
    names = [read_repository(repo).name for repo in repos]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} is given twice")
    return repos


def _usable(url: str | None) -> str | None:
    if url is not None and (fault := address_fault(url)):
        raise ValueError(fault)
    return url


class RepoIndexConfig(BaseModel):
    """Repositories to index. Frozen; unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    repos: Annotated[Names, AfterValidator(_readable)] = ()
    """``owner/name`` on GitHub, the address of any git repository, or the path of a local one;
    ``@`` and a branch, tag or commit behind it takes that one."""
    include_ecosystem: bool = False
    """Also take the repositories of fingerpost itself; none is published so far."""
    token: SecretField = None
    """Token for the GitHub API; ``None`` takes ``GITHUB_TOKEN`` or ``GH_TOKEN``."""
    max_files_per_repo: Annotated[int, Field(ge=1, le=10_000)] = 50
    """Most files of one repository, those nearest to its root first."""
    max_repo_mb: Annotated[float, Field(gt=0, le=10_240)] = 200.0
    """A repository that takes more to fetch is refused."""
    base_url: Annotated[Name, AfterValidator(_usable)] = None
    """Address of the API of a GitHub Enterprise server; ``None`` takes GitHub's own."""
    update: Literal["background", "wait", "missing"] = "background"
    """When ``init`` asks for new commits: while it answers, before it returns, or (``missing``)
    only where nothing was fetched yet, before it returns."""

    @property
    def addresses(self) -> tuple[RepositoryAddress, ...]:
        """Return every repository, in the order given."""
        given = (*self.repos, *(ECOSYSTEM if self.include_ecosystem else ()))
        return tuple(map(read_repository, given))
