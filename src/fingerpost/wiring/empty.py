"""What there is to say of a corpus, or a part of it, that gave no text."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from fingerpost.corpus import CorpusRoot
from fingerpost.corpus.convert import EXTRA_HINT
from fingerpost.corpus.shortfall import Shortfall, shortfalls
from fingerpost.errors import EmptyCorpusError
from fingerpost.stores.base import Store
from fingerpost.types.document import SkippedFile
from fingerpost.wiring.repositories import Repositories

_FOLDER = (
    "Give a folder with .md, .mdx, .rst, .txt, .html or .ipynb files, OpenAPI descriptions, or "
    "PDF, Word and PowerPoint files (these by the extra 'documents')."
)
_LOG = logging.getLogger("fingerpost.library")


def empty_corpus(
    paths: Sequence[str | Path], skipped: Sequence[SkippedFile], repositories: Repositories
) -> EmptyCorpusError:
    """Return the error of a corpus without text: each path and repository, and why."""
    found, faults = shortfalls(paths, skipped), repositories.faults()
    said = [*map(str, found), *(f"{item.path}: {item.detail}" for item in faults)]
    listed = [*(item for path in found for item in path.skipped), *faults]
    return EmptyCorpusError(
        "no text was found in the corpus: " + "; ".join(said),
        skipped=tuple(dict.fromkeys(listed)),
        hint=" ".join(dict.fromkeys([*map(_hint, found), *repositories.hints()])),
    )


def _hint(path: Shortfall) -> str:
    is_for_extra = any(EXTRA_HINT in item.detail for item in path.skipped)
    return f"To read {path.path}, {EXTRA_HINT}." if is_for_extra else _FOLDER


def warn_of_empty_sources(store: Store, roots: Sequence[CorpusRoot]) -> None:
    """Say which described sources gave no document: nothing would be found in them."""
    named = {root.name: root for root in roots if root.is_named}
    if not named:
        return
    with store.reader() as reader:
        filled = {document.source for document in reader.documents()}
    for name in named.keys() - filled:
        _LOG.warning("source %r at %s gave no document", name, named[name].folder)
