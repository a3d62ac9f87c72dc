"""A corpus to its findings."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from glob import has_magic
from os.path import lexists
from pathlib import Path

from fingerpost.corpus.decode import Undecodable
from fingerpost.corpus.locate import CorpusRoot, locate
from fingerpost.corpus.reading import is_converted
from fingerpost.corpus.scan import Limits, Scan
from fingerpost.corpus.walk import FoundFile, readable
from fingerpost.errors import ConfigError, EmptyCorpusError
from fingerpost.lint.copies import copy_findings
from fingerpost.lint.finding import Finding
from fingerpost.lint.headings import page_findings
from fingerpost.lint.links import link_findings
from fingerpost.lint.page import Page
from fingerpost.lint.read import is_checked, read_page
from fingerpost.lint.rules import RULES, Severity
from fingerpost.types.document import SkippedFile

_MAX_FILES = 1_000_000
_MAX_TOTAL_BYTES = 64 * 1024**3
_PASSAGE = 220
_UNSUPPORTED = frozenset({"unsupported", "symlink", "not-regular"})
_ORDER = {rule: number for number, rule in enumerate(RULES)}

Progress = Callable[[str, int, int], None]
"""Takes what is done, how much of it, and of how much."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What was found in a corpus.

    Attributes:
        findings: Gravest rule first, then by path and line.
        n_pages: Pages that were read.
        n_ignored: Findings that a remark in their page switched off.
        took_s: Wall time.
    """

    findings: tuple[Finding, ...]
    n_pages: int
    n_ignored: int
    took_s: float

    def counts(self) -> dict[str, int]:
        """Return rule id → number of findings, gravest rule first, without those of none."""
        found = Counter(finding.rule for finding in self.findings)
        return {rule: found[rule] for rule in RULES if found[rule]}

    @property
    def has_errors(self) -> bool:
        """Tell whether a finding is an error."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)


def check_corpus(
    paths: Sequence[str | Path],
    *,
    only: Collection[str] = (),
    ignore: Collection[str] = (),
    max_file_bytes: int = 10 * 1024 * 1024,
    progress: Progress = lambda _label, _done, _total: None,
) -> CheckReport:
    """Return what keeps a corpus from being found, followed and cited well. Writes nothing.

    A page switches rules off for itself with ``<!-- fingerpost-check: ignore RULE -->``.

    Args:
        paths: Folders, files or globs, as for an index.
        only: Rules to apply; empty for all.
        ignore: Rules to leave out.
        max_file_bytes: A larger file is an ``unread-file``, as it would be for an index.
        progress: Told of each page.

    Raises:
        ConfigError: A rule is not known.
        EmptyCorpusError: The paths hold no page, not even one that cannot be read.
    """
    began = time.monotonic()
    _refuse_unknown([*only, *ignore])
    roots, missing = locate(paths)
    limits = Limits(max_file_bytes, _MAX_FILES, _MAX_TOTAL_BYTES)
    with Scan(roots, limits, skipped=missing) as scan:
        pages = list(_pages(scan, roots, progress))
        skipped = list(scan.skipped)
    if not pages:
        _refuse_missing(paths)
    if not pages and not any(_rule_of(item) == "unread-file" for item in skipped):
        raise EmptyCorpusError(
            f"no page in {', '.join(str(path) for path in paths) or 'no path'}",
            hint="Name a folder that holds Markdown, HTML, reStructuredText, notebooks or text.",
        )
    pages.sort(key=lambda page: page.shown)
    wanted = (set(only) or set(RULES)) - set(ignore)
    found = [one for one in _findings(pages, roots, skipped) if one.rule in wanted]
    ignored = {page.shown: page.ignored for page in pages if page.ignored}
    kept = [one for one in found if one.rule not in ignored.get(one.path, ())]
    kept.sort(key=lambda one: (_ORDER[one.rule], one.path, one.line))
    return CheckReport(tuple(kept), len(pages), len(found) - len(kept), time.monotonic() - began)


def _refuse_unknown(rules: Collection[str]) -> None:
    unknown = [rule for rule in rules if rule not in RULES]
    if unknown:
        raise ConfigError(f"no rule is called {unknown[0]}", hint=f"Rules: {', '.join(RULES)}.")


def _refuse_missing(paths: Sequence[str | Path]) -> None:
    gone = [
        path for path in paths if not has_magic(str(path)) and not Path(path).expanduser().exists()
    ]
    if gone:
        raise EmptyCorpusError(
            f"there is no folder or file {gone[0]}", hint="Look at how its path is written."
        )


def _pages(scan: Scan, roots: Sequence[CorpusRoot], progress: Progress) -> Iterator[Page]:
    folders = {root.name: _shown_folder(root) for root in roots}
    done = 0

    def seen(_file: FoundFile) -> None:
        nonlocal done
        done += 1
        progress("reading", done, len(scan.files))

    for file in scan.changed({}, _PASSAGE, seen):
        if is_converted(file.path):
            continue  # converting needs a process of its own, and what it gives has no markup
        if not is_checked(file.path):
            continue
        page = read_page(file, f"{folders[file.source]}{file.path}")
        if isinstance(page, Undecodable):
            scan.skip(file, page.reason, page.detail)
        else:
            yield page


def _shown_folder(root: CorpusRoot) -> str:
    """Return a root's folder as it is written from here, with its slash."""
    here = Path.cwd()
    inside = root.folder.is_relative_to(here)
    folder = root.folder.relative_to(here) if inside else root.folder
    return "" if folder == Path() else f"{readable(str(folder))}/"


def _findings(
    pages: Sequence[Page], roots: Sequence[CorpusRoot], skipped: Sequence[SkippedFile]
) -> Iterator[Finding]:
    for item in skipped:
        if item.reason == "ignored":
            continue
        said = f"{item.reason}: {item.detail}" if item.detail else item.reason
        yield Finding(_rule_of(item), _from_here(item.path), 0, said)
    for page in pages:
        yield from page_findings(page)
    yield from link_findings(pages, {root.name: partial(_exists, root.folder) for root in roots})
    yield from copy_findings(pages)


def _rule_of(item: SkippedFile) -> str:
    if item.reason == "empty":
        return "empty-page"
    return "unsupported-file" if item.reason in _UNSUPPORTED else "unread-file"


def _from_here(path: str) -> str:
    given = Path(path)
    return str(given.relative_to(Path.cwd())) if given.is_relative_to(Path.cwd()) else path


def _exists(folder: Path, path: str) -> bool:
    """Tell whether a path of a folder is there; nothing is opened."""
    try:
        return lexists(folder / path)
    except (OSError, ValueError):  # too long, or holds a NUL
        return False
