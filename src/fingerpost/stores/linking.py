"""Links as they are written, kept so that they can be resolved anew when pages come or go."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from fingerpost.types.document import Link


@dataclass(frozen=True, slots=True)
class WrittenLinks:
    """The links of a document as they are written.

    Attributes:
        links: (chunk ordinal, path as written, anchor), in order; empty when it has none.
        names: What the links end in, in the form that pages are looked up by, without ``/``.
    """

    links: Sequence[tuple[int, str, str]] = ()
    names: Collection[str] = ()


class LinkWriter(Protocol):
    """What a writer does to the links of documents that are stored."""

    def unread_links(self) -> set[str]:
        """Return the ids of documents whose links as written an older version did not keep."""
        ...

    def written_links(
        self, source: str, names: Collection[str], document_ids: Collection[str] = ()
    ) -> list[tuple[str, WrittenLinks]]:
        """Return (path, links) of a source's documents with a link that ends in one of ``names``.

        Those of ``document_ids`` are among them whatever their links end in. A document whose
        links are unread is left out. In the order of their storing.
        """
        ...

    def relink(
        self, document_id: str, links: Sequence[Link], written: WrittenLinks | None = None
    ) -> None:
        """Put other links in place of a document's; nothing is written when they are the same.

        Args:
            document_id: An unknown one is ignored.
            links: As resolved now.
            written: As written, where they are not kept yet.
        """
        ...
