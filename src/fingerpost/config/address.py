"""Addresses of servers: whether one can be used, and where it leads."""

from __future__ import annotations

from urllib.parse import urlsplit


def address_fault(url: str) -> str:
    """Return what is wrong with an address, empty when it can be used; never the address.

    An address may hold a password or a key, so no message shows it.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not url.isprintable() or " " in url:
        return "must be an address that begins with http:// or https://, followed by a host"
    if "@" in parts.netloc or parts.query or parts.fragment:
        return "must hold no user name, password, query or fragment; a key has its own setting"
    return ""


def origin_of(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port of a usable address, as a request reaches them."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return parts.scheme, (parts.hostname or "").rstrip("."), port


def host_of(url: str) -> str:
    """Return the host of a usable address, with its port where the address names one."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
