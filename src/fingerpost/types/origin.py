"""Where the documents of a repository come from, and how their lines are opened on the web."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import quote, urlsplit

from fingerpost.types.document import Document

# The part between the repository and the path of a file, by the kind of host; `at_lines` knows
# a host's way of naming lines by it.
_GITHUB, _GITLAB, _GITEA, _BITBUCKET = "/blob/", "/-/blob/", "/src/commit/", "/src/"
_SHAPES = {
    "github.com": _GITHUB,
    "gitlab.com": _GITLAB,
    "bitbucket.org": _BITBUCKET,
    "codeberg.org": _GITEA,
}
# Shown as a page, where lines have no anchors, unless the address asks for the source.
_RENDERED = (".md", ".markdown", ".mdx", ".rst", ".ipynb")


@dataclass(frozen=True, slots=True)
class Origin:
    """One commit of a repository.

    Attributes:
        repo: ``owner/name`` on GitHub, else the repository's address; never with a password.
        commit: Full hash.
        web: Address of the repository on the web, empty when its host's pages are not known.
        address: What git fetches it by.
    """

    repo: str
    commit: str
    web: str = ""
    address: str = ""

    def uri(self, path: str) -> str:
        """Return where a file can be opened: on the web, else by repository, commit and path."""
        name = quote(path, safe="/", errors="replace")
        if not self.web:
            return f"git+{self.address}@{self.commit}#{name}"
        shape = _SHAPES.get(urlsplit(self.web).hostname or "", _GITHUB)
        return f"{self.web}{shape}{self.commit}/{name}"

    def label(self, document: Document) -> Document:
        """Return the document with this origin as its ``uri`` and in its ``metadata``."""
        metadata = {**document.metadata, "repo": self.repo, "commit": self.commit}
        return replace(document, uri=self.uri(document.path), metadata=metadata)


def commit_of(document: Document) -> tuple[str, str]:
    """Return repository and commit of a document that an `Origin` labelled, else empty texts.

    A file's own front matter may say anything; its ``uri`` is not written by it.
    """
    repo, commit = document.metadata.get("repo"), document.metadata.get("commit")
    if not isinstance(repo, str) or not isinstance(commit, str) or not commit:
        return "", ""
    is_labelled = not document.uri.startswith("file:") and commit in document.uri
    return (repo, commit) if is_labelled else ("", "")


def at_lines(document: Document, first: int, last: int) -> str | None:
    """Return the web address of lines of a repository's file, ``None`` of any other document.

    Args:
        document: As `Origin.label` left it.
        first: From 1.
        last: Inclusive.
    """
    uri, commit = document.uri, commit_of(document)[1]
    if not commit or not uri.startswith(("https://", "http://")):
        return None
    if f"{_GITLAB}{commit}/" in uri:
        return f"{uri}{_plain(uri, 'plain=1')}#L{first}-{last}"
    if f"{_GITEA}{commit}/" in uri:
        return f"{uri}{_plain(uri, 'display=source')}#L{first}-L{last}"
    if f"{_GITHUB}{commit}/" in uri:
        return f"{uri}{_plain(uri, 'plain=1')}#L{first}-L{last}"
    if f"{_BITBUCKET}{commit}/" in uri:
        return f"{uri}#lines-{first}:{last}"
    return None


def _plain(uri: str, query: str) -> str:
    return f"?{query}" if uri.lower().endswith(_RENDERED) else ""
