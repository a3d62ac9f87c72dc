"""Questions that ask for the same page.

Average linkage (Sokal and Michener, 1958) by chains of nearest neighbours (Murtagh, 1983):
quadratic in the questions, and the same questions always give the same groups.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from fingerpost.text.analyse import topic_tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fingerpost.lanes.base import EmbeddingModel

BY_WORDS: Final = 0.16
BY_MEANING: Final = 0.32
"""Mean likeness from which two groups are one, with words alone and with meaning."""
_OF_WORDS: Final = 0.3


def group(questions: Sequence[str], embedder: EmbeddingModel | None) -> list[list[int]]:
    """Return the questions in groups, each in one, in the order of their first.

    Args:
        questions: None twice; memory grows with their square.
        embedder: Tells meaning; without it words alone do.
    """
    if not questions:
        return []
    alike = by_words(questions)
    if embedder is None:
        return linked(alike, BY_WORDS)
    vectors = embedder.embed(questions)
    alike = _OF_WORDS * alike + (1 - _OF_WORDS) * np.clip(vectors @ vectors.T, 0.0, 1.0)
    return linked(alike, BY_MEANING)


def by_words(questions: Sequence[str]) -> NDArray[np.float32]:
    """Return how alike questions are by their words, 0 to 1: the cosine of their rare words.

    A word weighs by how few of the questions have it.
    """
    bags = [topic_tokens(question) for question in questions]
    spread = Counter(token for bag in bags for token in bag)
    n_all = len(questions)
    holders: dict[str, list[tuple[int, float]]] = defaultdict(list)
    lengths = np.zeros(n_all, np.float32)
    for row, bag in enumerate(bags):
        for token, weight in bag.items():
            value = weight * math.log(1 + n_all / spread[token])
            lengths[row] += value * value
            if spread[token] > 1:
                holders[token].append((row, value))
    alike = np.zeros((n_all, n_all), np.float32)
    for rows_and_values in holders.values():
        rows = np.array([row for row, _ in rows_and_values])
        values = np.array([value for _, value in rows_and_values], np.float32)
        alike[np.ix_(rows, rows)] += np.outer(values, values)
    norms = np.sqrt(np.maximum(lengths, 1e-9))
    alike /= np.outer(norms, norms)
    np.fill_diagonal(alike, 1.0)
    return alike


def linked(alike: NDArray[np.float32], least: float) -> list[list[int]]:
    """Return the rows in groups whose mean likeness to each other is at least ``least``.

    Args:
        alike: Symmetric, shape (n, n); it is not changed.
        least: Mean likeness from which two groups become one.
    """
    near = alike.astype(np.float32)
    np.fill_diagonal(near, -np.inf)
    members = {row: [row] for row in range(len(near))}
    done: list[list[int]] = []
    chain: list[int] = []
    while members:
        if not chain:
            chain.append(next(iter(members)))
        last = chain[-1]
        nearest = int(np.argmax(near[last]))
        # A tie goes to the one the chain came from, so that the chain ends.
        if len(chain) > 1 and near[last, chain[-2]] >= near[last, nearest]:
            nearest = chain[-2]
        if near[last, nearest] < least:
            # The nearest of all is too far: this group is done, and no other wants it more.
            done.append(members.pop(last))
            near[last, :] = near[:, last] = -np.inf
            chain.pop()
        elif len(chain) > 1 and nearest == chain[-2]:
            chain = chain[:-2]
            _merge(near, members, nearest, last)
        else:
            chain.append(nearest)
    return sorted(sorted(rows) for rows in done)


def _merge(near: NDArray[np.float32], members: dict[int, list[int]], kept: int, gone: int) -> None:
    n_kept, n_gone = len(members[kept]), len(members[gone])
    mean = (n_kept * near[kept] + n_gone * near[gone]) / (n_kept + n_gone)
    near[kept, :] = near[:, kept] = mean
    near[kept, kept] = -np.inf
    near[gone, :] = near[:, gone] = -np.inf
    members[kept] += members.pop(gone)
