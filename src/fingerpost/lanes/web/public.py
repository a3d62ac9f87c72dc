"""Which internet addresses are public."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final

__all__ = ["IpAddress", "is_public"]

IpAddress = IPv4Address | IPv6Address

_GIVEN_OUT: Final = IPv6Network("2000::/3")
"""The only part of IPv6 that public addresses come from."""
_NAT64: Final = IPv6Network("64:ff9b::/96")
_UNLISTED: Final = frozenset({ip_address("168.63.129.16")})
"""Looks public and is the inside of a cloud: where Azure tells machines about themselves."""


def is_public(address: IpAddress) -> bool:
    """Return whether an address is reached by everybody alike, and by nobody from inside only.

    An IPv6 address that stands for an IPv4 one (mapped, NAT64, 6to4, Teredo) is as public as
    that.
    """
    if isinstance(address, IPv6Address):
        inner = _carried(address)
        if inner:
            return all(map(is_public, inner))
        if address not in _GIVEN_OUT:
            return False
    closed = address.is_multicast or address.is_reserved or address.is_unspecified
    return address.is_global and not closed and address not in _UNLISTED


def _carried(address: IPv6Address) -> tuple[IPv4Address, ...]:
    """Return the IPv4 addresses inside an IPv6 one."""
    if address in _NAT64:
        return (IPv4Address(int(address) & 0xFFFF_FFFF),)
    one = address.ipv4_mapped or address.sixtofour
    return (one,) if one is not None else (address.teredo or ())
