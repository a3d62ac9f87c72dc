"""From filters to the chunk keys that pass them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fingerpost.stores.embedded.keymap import KeyMap
from fingerpost.stores.embedded.words import Within
from fingerpost.stores.filters import document_filter, language_passes
from fingerpost.types.document import Document
from fingerpost.types.query import Filters

_FEW_DOCUMENTS = 200
_NARROW = 0.5


@dataclass(frozen=True, slots=True)
class SelectedKeys:
    """Chunk keys that pass a filter.

    Attributes:
        keys: Ascending.
        mask: The same as an array of truth values by key.
        docs: Their document keys, ascending.
    """

    keys: NDArray[np.int64]
    mask: NDArray[np.bool_]
    docs: NDArray[np.int32]


def select_keys(
    filters: Filters,
    documents: Iterable[tuple[int, Document]],
    keymap: KeyMap,
    language_codes: dict[int, str],
) -> SelectedKeys:
    """Return the keys of visible chunks that pass, given every (document key, document)."""
    passes = document_filter(filters)
    wanted = frozenset(code.casefold() for code in filters.languages)
    allowed = np.zeros(int(keymap.docs.max(initial=0)) + 1, np.bool_)
    fallback = np.zeros_like(allowed)
    for doc_key, document in documents:
        if passes is None or passes(document):
            allowed[doc_key] = True
            fallback[doc_key] = bool(wanted) and language_passes(
                wanted, document.language, document.language
            )
    mask = allowed[keymap.docs] & (keymap.cids > 0)
    if wanted:
        mask &= _language_mask(wanted, keymap, language_codes, fallback)
    keys = np.flatnonzero(mask)
    return SelectedKeys(keys, mask, np.unique(keymap.docs[keys]))


def _language_mask(
    wanted: frozenset[str],
    keymap: KeyMap,
    language_codes: dict[int, str],
    fallback: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    size = max(language_codes, default=0) + 1
    direct = np.zeros(size, np.bool_)
    unknown = np.zeros(size, np.bool_)
    for language_id, code in language_codes.items():
        unknown[language_id] = code == "und"
        direct[language_id] = code != "und" and language_passes(wanted, code, code)
    by_document = unknown[keymap.languages] & fallback[keymap.docs]
    return direct[keymap.languages] | by_document


def within_words(selected: SelectedKeys | None, keymap: KeyMap) -> Within:
    """Return how a lexical search is kept inside a selection, or inside what is visible."""
    mask = keymap.cids > 0 if selected is None else selected.mask

    def accepts(keys: Iterable[int]) -> list[bool]:
        found = np.asarray(keys, np.int64)
        inside = found < len(mask)
        inside[inside] = mask[found[inside]]
        return list(inside.tolist())

    if selected is None:
        return Within(accepts)
    first, last = int(selected.keys[0]), int(selected.keys[-1])
    span = last - first + 1
    share = len(selected.keys) / span
    if len(selected.docs) <= _FEW_DOCUMENTS and share < _NARROW:
        return Within(accepts, docs=selected.docs.tolist())
    if span < _NARROW * len(mask):
        return Within(accepts, first_key=first, last_key=last, share=share)
    return Within(accepts, share=len(selected.keys) / len(mask))
