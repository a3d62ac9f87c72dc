"""Rules of one page: its title, headings, sections and pictures."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from fingerpost.lint.finding import Finding
from fingerpost.lint.page import Page, Section

LONG_SECTION: Final = 1_500
"""Estimated tokens; about seven passages of the default size."""
LONG_PAGE: Final = 20_000
"""Estimated tokens; about ninety passages of the default size."""
_PASSAGE: Final = 220
# English words that name a place in a page, not a subject.
_VAGUE: Final = frozenset({
    "about", "about this document", "about this page", "additional information", "basics",
    "content", "contents", "description", "details", "document", "documentation", "faq",
    "further information", "general", "general information", "getting started", "home", "index",
    "info", "information", "intro", "introduction", "introduction and overview", "main",
    "miscellaneous", "misc", "more", "more information", "new page", "note", "notes", "other",
    "others", "overview", "page", "preface", "quick start", "quickstart", "readme", "remarks",
    "section", "start", "start here", "summary", "tbd", "title", "todo", "untitled",
    "untitled document", "various", "welcome", "what is this",
})  # fmt: skip
# As a heading these say what they head; as a title of a whole page they say nothing.
_ONLY_AS_TITLE: Final = frozenset({
    "faq", "getting started", "quick start", "quickstart", "contents", "content", "description",
    "welcome", "start", "start here", "home", "index", "readme", "documentation",
})  # fmt: skip
_NUMBERING: Final = re.compile(r"^\d[\d.)\s]*|(?<![\s:.!?…])[\s:.!?…]+$")
# The name of a type or a file says all that there is to say: System.String, std::vector.
_NAME: Final = re.compile(r"[\w<>/,-]+(?:\.|::|\[)[\w.:<>\[\]/,-]+")
_SMALL_PRINT: Final = 5


def page_findings(page: Page) -> Iterator[Finding]:
    """Yield what the rules of one page find."""
    yield from _whole(page)
    for before, section in zip((None, *page.sections), page.sections, strict=False):
        if section.level:
            yield from _heading(page, section, before)
        if section.n_tokens > LONG_SECTION:
            yield _long(page, section)
    yield from _empty(page)
    yield from _repeated(page)
    for line in page.silent_pictures:
        yield Finding("image-without-text", page.shown, line, "a picture without words")


def _whole(page: Page) -> Iterator[Finding]:
    if page.front_matter_fault:
        yield Finding("broken-front-matter", page.shown, 1, page.front_matter_fault)
    if page.unclosed_fence:
        said = "this code fence is never closed"
        yield Finding("unclosed-fence", page.shown, page.unclosed_fence, said)
    if not any(section.n_words for section in page.sections):
        yield Finding("empty-page", page.shown, 0, "the page has no text")
        return
    if page.n_tokens > LONG_PAGE:
        yield Finding("long-page", page.shown, 0, f"about {page.n_tokens:,} tokens")
    if not page.title:
        if not _is_partial(page) and page.kind not in ("text", "notebook"):
            yield Finding("missing-title", page.shown, 0, "the page has no title")
    elif _words(page.title) in _VAGUE:
        yield Finding("vague-title", page.shown, page.title_line, f"titled “{page.title}”")


def _is_partial(page: Page) -> bool:
    """Tell whether the file is made to be shown in others, as a leading underscore says."""
    name = page.path.rpartition("/")[2]
    return name.startswith("_") and not name.startswith("_index.")


def _words(heading: str) -> str:
    return _NUMBERING.sub("", heading).casefold()


def _heading(page: Page, section: Section, before: Section | None) -> Iterator[Finding]:
    above = _level_above(page, before, section)
    if above and section.level > above + 1 and not _is_small_print(section):
        said = f"level {section.level} “{section.heading}” follows level {above}"
        yield Finding("skipped-level", page.shown, section.line, said)
    words = _words(section.heading)
    vague = words in _VAGUE and words not in _ONLY_AS_TITLE and not section.is_code
    if vague and section.level > 1 and section.n_tokens > _PASSAGE:
        said = f"“{section.heading}” heads about {section.n_tokens:,} tokens"
        yield Finding("vague-heading", page.shown, section.line, said)


def _level_above(page: Page, before: Section | None, section: Section) -> int:
    """Return the level of the heading before a section's, 0 when there is none."""
    n_before = bisect_left(page.tag_headings, (section.line, 0))
    line, level = page.tag_headings[n_before - 1] if n_before else (0, 0)
    if before is None or not before.level:
        return 0
    return level if line > before.line else before.level


def _long(page: Page, section: Section) -> Finding:
    named = f"“{section.heading}”" if section.heading else "the text before any heading"
    said = f"{named} runs on for about {section.n_tokens:,} tokens"
    return Finding("long-section", page.shown, section.line, said)


def _empty(page: Page) -> Iterator[Finding]:
    for section, after in zip_longest(page.sections, page.sections[1:]):
        has_parts = after is not None and after.level > section.level
        empty = section.level and section.is_blank and not has_parts
        if empty and len(page.sections) > 1 and not _speaks_alone(section):
            said = f"nothing stands below “{section.heading}”"
            yield Finding("empty-section", page.shown, section.line, said)


def _is_small_print(section: Section) -> bool:
    """Tell whether a heading is used as a line of small print, such as a generator's mark."""
    return section.level >= _SMALL_PRINT and section.is_blank


def _speaks_alone(section: Section) -> bool:
    return _is_small_print(section) or _NAME.fullmatch(section.heading) is not None


def _repeated(page: Page) -> Iterator[Finding]:
    counts = Counter(section.path for section in page.sections if section.heading)
    told: set[tuple[str, ...]] = set()
    for section in page.sections:
        count = counts[section.path]
        if section.path in told or count < 2:  # noqa: PLR2004 - two are a repetition
            continue
        told.add(section.path)
        if section.heading:
            said = f"{count} sections are called “{section.heading}”"
            yield Finding("repeated-heading", page.shown, section.line, said)
