"""Where the index of a corpus lives and how it is made."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from fingerpost.config.load import cache_folder
from fingerpost.config.schema import QueryRouterConfig
from fingerpost.corpus import CorpusRoot, IndexOptions, topics
from fingerpost.stores.base import Store
from fingerpost.stores.open import open_store
from fingerpost.types.ids import digest


def cores() -> int:
    """Return the number of cores that this process may use, at least 1."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:  # not on this platform
        return max(1, os.cpu_count() or 1)


def index_folder(config: QueryRouterConfig, roots: list[CorpusRoot]) -> Path:
    """Return where the index lives: configured, beside a single folder, else the user's cache.

    Two configurations with the same roots and repositories share an index; any other pair
    does not. Repositories count by their names: their folders change with every commit.
    """
    if config.index_dir is not None:
        return config.index_dir.expanduser().absolute()
    roots = [root for root in roots if root.origin is None]
    repositories = config.github_repos
    addresses = repositories.addresses if repositories is not None else ()
    alone = not addresses and len(roots) == 1 and not roots[0].include and not roots[0].is_named
    if alone and os.access(roots[0].folder, os.W_OK):
        return roots[0].folder / ".fingerpost"
    parts = [
        "\n".join((*([root.name, ""] * root.is_named), str(root.folder), *root.include))
        for root in roots
    ]
    server = repositories.base_url if repositories is not None else None
    parts += ["\n".join((address.name, server or "")) for address in addresses]
    return cache_folder() / "indexes" / digest(*sorted(parts))


def source_paths(config: QueryRouterConfig) -> dict[str, str]:
    """Return source name → path of the described sources that are documents."""
    return {
        source.name: source.retriever
        for source in config.sources
        if isinstance(source.retriever, str)
    }


def index_options(config: QueryRouterConfig, *, rebuild: bool = False) -> IndexOptions:
    """Return how documents are read and split."""
    return IndexOptions(
        max_file_bytes=int(config.max_file_mb * 1024 * 1024), embed=False, rebuild=rebuild
    )


def make_store(folder: Path) -> Store:
    """Open the index in ``folder``, which is made when it does not exist."""
    return open_store(str(folder))


def forget_index(store: Store, folder: Path) -> None:
    """Take away the folder that this run made for a corpus that turned out empty."""
    store.close()
    shutil.rmtree(folder, ignore_errors=True)


def corpus_topics(store: Store) -> tuple[str, ...]:
    """Return what the corpus is about, most covered first, at most 50."""
    with store.reader() as reader:
        return topics(reader)
