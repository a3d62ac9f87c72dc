"""Comparing the identity of an index with the one that a run wants."""

from __future__ import annotations

from dataclasses import asdict, replace

from fingerpost.errors import IndexMismatchError
from fingerpost.stores.base import IndexIdentity
from fingerpost.types.ids import digest

_SPLITTING = ("splitter", "max_tokens")
_EMBEDDING = ("embedder", "embedder_revision", "dimension")


def identity_fingerprint(identity: IndexIdentity) -> str:
    """Return a hash over everything that shaped an index."""
    return digest(*(f"{name}={value}" for name, value in sorted(asdict(identity).items())))


def same_splitting(one: IndexIdentity, other: IndexIdentity) -> bool:
    """Return whether documents split under one identity are right under the other."""
    return all(getattr(one, name) == getattr(other, name) for name in _SPLITTING)


def same_embedding(one: IndexIdentity, other: IndexIdentity) -> bool:
    """Return whether vectors made under one identity can be compared with the other's."""
    return all(getattr(one, name) == getattr(other, name) for name in _EMBEDDING)


def with_embedding_of(current: IndexIdentity | None, wanted: IndexIdentity) -> IndexIdentity:
    """Return the identity; one that names no embedding model takes the index's own.

    Whoever has no vectors to add takes none away, also when others came while it waited to write.
    """
    if current is None or wanted.embedder:
        return wanted
    return replace(wanted, **{name: getattr(current, name) for name in _EMBEDDING})


def require_same(expected: IndexIdentity, found: IndexIdentity, *, where: str) -> None:
    """Refuse an index of another identity.

    Raises:
        IndexMismatchError: Names each field that differs, with both values.
    """
    wrong = [
        f"{name}: expected {value!r}, found {asdict(found)[name]!r}"
        for name, value in asdict(expected).items()
        if asdict(found)[name] != value
    ]
    if wrong:
        raise IndexMismatchError(
            f"The index {where} was built differently: {'; '.join(wrong)}.",
            hint="Run `fingerpost index` with the same paths to bring it up to date.",
        )
