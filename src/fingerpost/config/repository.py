"""Addresses of repositories: what the user wrote, read strictly before anything is asked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

GITHUB_PREFIX: Final = "github:"
GIT_PREFIX: Final = "git+"
_OWN: Final = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9-]{0,38}))/([A-Za-z0-9_.-]{1,100})")
_SCP: Final = re.compile(
    r"((?:([A-Za-z0-9_.-]+)@)?([A-Za-z0-9][A-Za-z0-9.-]*):(?!//)([^@]+))(?:@(.*))?"
)
_USER: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_SSH_PATH: Final = re.compile(r"[\w~./+-]+")
_REF: Final = re.compile(r"[\w][\w./+=#-]{0,254}")
_SCHEMES: Final = ("https", "http", "ssh", "file")
_DEFAULT_PORTS: Final = {"https": 443, "http": 80, "ssh": 22}


@dataclass(frozen=True, slots=True)
class RepositoryAddress:
    """A repository as it will be asked for.

    Attributes:
        kind: ``github`` (by the API), ``http``, ``ssh`` or ``local`` (by git).
        name: ``github:owner/name``, or the address without user and password; with ``@ref``
            where one was given. Unique in a corpus: the name of its source.
        repo: ``owner/name`` on GitHub; of a local one its path; else what git is given.
        ref: Branch, tag or commit; empty for the default branch.
        host: Empty for a local one.
        port: 0 for a local one.
        web: Address of its pages where git fetches from a host that is known; empty else.
    """

    kind: Literal["github", "http", "ssh", "local"]
    name: str
    repo: str
    ref: str = ""
    host: str = ""
    port: int = 0
    web: str = ""


def read_repository(text: str) -> RepositoryAddress:
    """Return what an entry of ``repos`` names.

    Raises:
        ValueError: It can be no repository, or be read in two ways. The message does not hold
            the address, which may hold a password.
    """
    given = text.strip().removeprefix(GIT_PREFIX)
    if not given or given.startswith("-") or not given.isprintable() or "\\" in given:
        raise ValueError("a repository is blank, begins with '-', or holds unusual characters")
    own = given.removeprefix(GITHUB_PREFIX)
    name, _, ref = own.partition("@")
    if _OWN.fullmatch(name) and not name.endswith((".", "/..")):
        return _github(name, _checked_ref(ref, "@" in own))
    if own != given:
        raise ValueError("a repository of GitHub is written github:owner/name")
    if "://" in given:
        return _by_url(given)
    found = _SCP.fullmatch(given)
    if found and not Path(given).exists():
        address, user, host, path, ref = found.groups("")
        has_ref = found.group(5) is not None
        return _ssh(address, user, host, _DEFAULT_PORTS["ssh"], path, _checked_ref(ref, has_ref))
    return _local(given)


def _github(repo: str, ref: str) -> RepositoryAddress:
    repo = repo.removesuffix(".git")
    return RepositoryAddress("github", _named(f"{GITHUB_PREFIX}{repo}", ref), repo, ref)


def _by_url(given: str) -> RepositoryAddress:
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError:
        raise ValueError("the address of a repository cannot be read") from None
    if parts.scheme not in _SCHEMES:
        raise ValueError(f"the address of a repository begins with one of {', '.join(_SCHEMES)}")
    if parts.query or parts.fragment or "%" in parts.netloc or " " in given:
        raise ValueError("the address of a repository holds a query, a fragment or an escaped host")
    if parts.password is not None:
        raise ValueError(
            "the address of a repository holds a password, which others would see: use ssh, or "
            "clone it and give the path of the clone"
        )
    path, has_ref, ref = parts.path.partition("@")
    ref = _checked_ref(ref, has_ref)
    if parts.scheme == "file":
        if parts.netloc:
            raise ValueError("a file:// address of a repository has no host: file:///folder")
        return _local(path, ref)
    host = (parts.hostname or "").rstrip(".")
    if not host or ":" in host or not path.strip("/") or port == 0:
        raise ValueError("the address of a repository names a host, not by IPv6, and a path")
    return _at_host(parts.scheme, parts.username or "", host, port, path, ref)


def _at_host(
    scheme: str, user: str, host: str, port: int | None, path: str, ref: str
) -> RepositoryAddress:
    usual = _DEFAULT_PORTS[scheme]
    place = host if port in (None, usual) else f"{host}:{port}"
    if scheme == "ssh":
        address = f"ssh://{user}{'@' * bool(user)}{place}{path}"
        return _ssh(address, user, host, port or usual, path, ref)
    if place == "github.com" and _OWN.fullmatch(path.strip("/")):
        return _github(path.strip("/"), ref)
    address = f"{scheme}://{place}{path}"
    return RepositoryAddress(
        "http", _named(address, ref), address, ref, host, port or usual, _web(host, path)
    )


def _ssh(address: str, user: str, host: str, port: int, path: str, ref: str) -> RepositoryAddress:
    is_safe = _SSH_PATH.fullmatch(path) and not path.lstrip("/").startswith("-")
    if not is_safe or host.startswith("-") or (user and not _USER.fullmatch(user)):
        raise ValueError("the address of a repository holds what ssh could take for an option")
    return RepositoryAddress(
        "ssh", _named(address, ref), address, ref, host, port, web=_web(host, path)
    )


def _local(given: str, ref: str = "") -> RepositoryAddress:
    """Return a folder; ``@`` begins a ref where what stands before it is one, and all is none."""
    path = Path(given).expanduser()
    if not ref and not path.exists():
        places = [at for at, sign in enumerate(given) if sign == "@"]
        for at in reversed(places):
            if Path(given[:at]).expanduser().is_dir():
                path, ref = Path(given[:at]).expanduser(), _checked_ref(given[at + 1 :], given)
    place = str(path.absolute())
    return RepositoryAddress("local", _named(place, ref), place, ref)


def _named(address: str, ref: str) -> str:
    return f"{address}@{ref}" if ref else address


def _checked_ref(ref: str, given: object) -> str:
    if not given:
        return ""
    if not _REF.fullmatch(ref) or ".." in ref or ref.endswith((".lock", "/", ".")) or "//" in ref:
        raise ValueError("what stands behind '@' is no name of a branch, a tag or a commit")
    return ref


def _web(host: str, path: str) -> str:
    """Return where a repository is shown on the web, empty when its host is not known."""
    known = host in ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org")
    return f"https://{host}/{path.strip('/').removesuffix('.git')}" if known else ""
