"""Addresses of pages, read strictly: what two readers could understand differently is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Final
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from fingerpost.errors import PageRefusedError
from fingerpost.lanes.web.public import IpAddress

__all__ = ["Target", "read_redirect", "read_target"]

_MAX_URL: Final = 2_000
_MAX_NAME: Final = 253
_LEAST_OPEN_PORT: Final = 1024
_PORTS: Final = {"http": 80, "https": 443}
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_INSIDE: Final = (
    ".localhost", ".local", ".internal", ".intranet", ".lan", ".home", ".corp", ".arpa", ".onion",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """A page, with its host as it will be looked up.

    Attributes:
        scheme: ``http`` or ``https``.
        host: Name in ASCII and lower case, or an address without brackets.
        port: Where it is served.
        path: Path and query, in ASCII.
        address: The host when it is an address, else ``None``.
    """

    scheme: str
    host: str
    port: int
    path: str
    address: IpAddress | None = None

    @property
    def authority(self) -> str:
        """Return the host as a request names it."""
        host = f"[{self.host}]" if isinstance(self.address, IPv6Address) else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """Return the address in one way of writing."""
        return f"{self.scheme}://{self.authority}{self.path}"


def read_target(url: str) -> Target:
    """Return what an address names.

    Raises:
        PageRefusedError: It is no address of a page, or could be read in two ways. No name is
            looked up here, so a name may still lead to where it must not.
    """
    if len(url) > _MAX_URL or not url.isprintable() or "\\" in url or " " in url:
        raise PageRefusedError("the address is too long, or holds blanks or backslashes")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise PageRefusedError("the address cannot be read") from None
    if parts.scheme not in _PORTS:
        raise PageRefusedError("the address is neither http nor https")
    if "@" in parts.netloc or "%" in parts.netloc:
        raise PageRefusedError("the address holds a user name or an escaped host")
    host, address = _host(parts)
    port = _PORTS[parts.scheme] if port is None else port
    if port not in _PORTS.values() and port < _LEAST_OPEN_PORT:
        raise PageRefusedError(f"port {port} serves no pages")
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    if parts.query:
        path += "?" + quote(parts.query, safe="/%:@!$&'()*+,;=~-._?")
    return Target(parts.scheme, host, port, path, address)


def read_redirect(target: Target, location: str) -> Target:
    """Return where a redirect from a page leads.

    Raises:
        PageRefusedError: As `read_target` does.
    """
    try:
        url = urljoin(target.url, location)
    except ValueError:
        raise PageRefusedError("the address of a redirect cannot be read") from None
    return read_target(url)


def _host(parts: SplitResult) -> tuple[str, IpAddress | None]:
    """Return the host of an address, and what it is when it is no name."""
    if parts.netloc.startswith("["):
        try:
            address = ip_address(parts.hostname or "")
        except ValueError:
            raise PageRefusedError("the host is no address") from None
        return str(address), address
    name = _ascii(parts.hostname or "").removesuffix(".")
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):  # as in browsers: then the whole is an address
        try:
            address = ip_address(name)
        except ValueError:
            raise PageRefusedError("the host is an address in an unusual form") from None
        return str(address), address
    if len(labels) == 1 or len(name) > _MAX_NAME or name.endswith(_INSIDE):
        raise PageRefusedError("the host is a name inside a network")
    if not all(map(_LABEL.fullmatch, labels)):
        raise PageRefusedError("the host is no name")
    return name, None


def _ascii(host: str) -> str:
    """Return a host in the letters of the name system, other dots and digits as plain ones."""
    try:
        return host.encode("idna").decode("ascii").lower()
    except UnicodeError:
        raise PageRefusedError("the host is no name") from None
