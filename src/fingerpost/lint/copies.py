"""Rules of copies: pages that are nearly the same, sections that are.

Pages are not compared with each other but looked up: near sketches agree in one of sixteen
bands of least hashes (locality-sensitive hashing), and of each band a few pages are kept to
compare with. The time grows with the pages, not with their square.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from fingerpost.lint.finding import Finding
from fingerpost.lint.page import Page, Section
from fingerpost.lint.sketch import likeness
from fingerpost.text.versions import label_version

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEARLY: Final = 0.8
"""Share of runs of five words that two versions have in common from which they are copies."""
_NEARLY_ONE: Final = 0.9
_BINS: Final = 64
_ROWS: Final = 4
_MIN_RUNS: Final = 40
_MOST_COMPARED: Final = 8
_MOST_NAMED: Final = 3
# Codes of ISO 639-1 that documentation is translated into, with or without a region.
_LANGUAGE: Final = re.compile(
    r"(?:ar|bg|bn|ca|cs|da|de|el|en|es|et|fa|fi|fr|he|hi|hr|hu|id|it|ja|ko|lt|lv|ms|nb|nl|no|pl|pt"
    r"|ro|ru|sk|sl|sr|sv|th|tr|uk|ur|vi|zh)(?:[-_][A-Za-z]{2,4})?"
)


def copy_findings(pages: Sequence[Page]) -> Iterator[Finding]:
    """Yield pages and sections that stand in more than one place."""
    groups = _alike(pages)
    for group in groups:
        yield from _of_group(group)
    yield from _sections(pages, groups)


def _alike(pages: Sequence[Page]) -> list[list[Page]]:
    """Return groups of two or more pages of which each is nearly the first."""
    kept: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    groups: dict[int, list[Page]] = {}
    for number, page in enumerate(pages):
        if page.sketch.size < _MIN_RUNS:
            continue
        bands = _bands(page.sketch)
        near = dict.fromkeys(one for band in bands for one in kept[band])
        first = next((one for one in near if _is_near(pages[one], page)), None)
        if first is not None:
            groups[first].append(page)
            continue
        groups[number] = [page]
        for band in bands:
            if len(kept[band]) < _MOST_COMPARED:
                kept[band].append(number)
    return [group for group in groups.values() if len(group) > 1]


def _is_near(one: Page, other: Page) -> bool:
    return likeness(one.sketch, other.sketch) >= NEARLY


def _bands(hashes: NDArray[np.uint64]) -> list[tuple[int, bytes]]:
    """Return what a sketch is looked up by; near sketches share one of them."""
    least = np.full(_BINS, np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(least, (hashes % np.uint64(_BINS)).astype(np.int64), hashes)
    return [
        (start, least[start : start + _ROWS].tobytes())
        for start in range(0, _BINS, _ROWS)
        if (least[start : start + _ROWS] != np.iinfo(np.uint64).max).any()
    ]


def _of_group(group: Sequence[Page]) -> Iterator[Finding]:
    by_name: dict[str, dict[tuple[str, ...], list[Page]]] = defaultdict(lambda: defaultdict(list))
    for page in sorted(group, key=lambda page: page.shown):
        by_name[_name(page)][_edition(page)].append(page)
    firsts: list[Page] = []
    for editions in by_name.values():
        copies = [pages[0] for pages in editions.values()]
        if len(copies) > 1:
            yield _versions(copies)
        firsts.append(copies[0])
        firsts += [page for pages in editions.values() for page in pages[1:]]
    seen: dict[tuple[str, ...], Page] = {}
    for page in sorted(firsts, key=lambda page: page.shown):
        first = seen.setdefault(_edition(page), page)
        share = likeness(first.sketch, page.sketch)
        if first is not page and share >= _NEARLY_ONE:
            said = f"{share:.0%} of it stands in {first.shown} too"
            yield Finding("near-duplicate-page", page.shown, 0, said)


def _name(page: Page) -> str:
    return page.path.rpartition("/")[2].rpartition(".")[0].casefold()


def _edition(page: Page) -> tuple[str, ...]:
    """Return the folders of a page's path that name a version or a language."""
    folders = page.path.split("/")[:-1]
    return tuple(part for part in folders if label_version(part) or _LANGUAGE.fullmatch(part))


def _versions(copies: Sequence[Page]) -> Finding:
    first, *others = copies
    least = min(likeness(first.sketch, other.sketch) for other in others)
    named = ", ".join(page.shown for page in others[:_MOST_NAMED])
    more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
    said = f"at least {least:.0%} the same in {named}{more}"
    return Finding("version-copies", first.shown, 0, said)


def _sections(pages: Sequence[Page], groups: Sequence[Sequence[Page]]) -> Iterator[Finding]:
    group_of = {id(page): number for number, group in enumerate(groups) for page in group}
    places: dict[int, list[tuple[Page, Section]]] = defaultdict(list)
    for page in pages:
        for section in page.sections:
            if section.fingerprint:
                places[section.fingerprint].append((page, section))
    for copies in places.values():
        told = _of_one_edition(copies, group_of) if len(copies) > 1 else ()
        if len(told) > 1:
            yield _repeated(told)


def _of_one_edition(
    copies: Sequence[tuple[Page, Section]], group_of: dict[int, int]
) -> list[tuple[Page, Section]]:
    """Return the copies of the edition that has most of them, one of each group of pages.

    What stands in another version or language too is no copy, and what stands in pages that are
    nearly one has been said of the pages.
    """
    kept: dict[tuple[str, ...], list[tuple[Page, Section]]] = defaultdict(list)
    groups: set[tuple[tuple[str, ...], int]] = set()
    for page, section in sorted(copies, key=lambda one: (one[0].shown, one[1].line)):
        group, edition = group_of.get(id(page)), _edition(page)
        if group is None or (edition, group) not in groups:
            kept[edition].append((page, section))
        if group is not None:
            groups.add((edition, group))
    return max(kept.values(), key=len)


def _repeated(copies: Sequence[tuple[Page, Section]]) -> Finding:
    (first, own), (page, section), *more = copies
    others = f" and in {len(more)} more" if more else ""
    named = f"“{section.heading}”" if section.heading else "the text before any heading"
    said = f"{named}: {section.n_words} words stand in {first.shown}:{own.line}{others} too"
    return Finding("duplicate-section", page.shown, section.line, said)
