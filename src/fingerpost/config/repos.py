"""Settings of repositories whose documentation joins the corpus."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from fingerpost.config.fields import Name, Names, SecretField


class RepoIndexConfig(BaseModel):
    """Repositories to index. Frozen; unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    repos: Names = ()
    """``owner/name`` on GitHub, the address of any git repository, or the path of a local one;
    ``@`` and a branch, tag or commit behind it takes that one."""
    include_ecosystem: bool = False
    """Also take the repositories of fingerpost itself, where there are any."""
    token: SecretField = None
    """Token for the GitHub API; ``None`` takes ``GITHUB_TOKEN`` or ``GH_TOKEN``."""
    max_files_per_repo: Annotated[int, Field(ge=1, le=10_000)] = 50
    """Most files of one repository, those nearest to its root first."""
    max_repo_mb: Annotated[float, Field(gt=0, le=10_240)] = 200.0
    """A repository that takes more to fetch is refused."""
    base_url: Name = None
    """Address of the API of a GitHub Enterprise server; ``None`` takes GitHub's own."""
