"""Platform knowledge from this project's pages, docstrings, errors and table of providers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from fingerpost.errors import ConfigError
from fingerpost.knowledge.docstrings import Docstrings
from fingerpost.knowledge.entry import Entry, Knowledge
from fingerpost.knowledge.providers import setup_entries

FAQ: Final = "docs/faq.md"
API: Final = "docs/how-to/api-by-example.md"
TROUBLESHOOTING: Final = "docs/troubleshooting.md"

_HEADING: Final = re.compile(r"^## (.+)$", re.MULTILINE)
_MARKER: Final = re.compile(r"^<!-- faq: ([\w-]+) -->\n", re.MULTILINE)
_FENCED: Final = re.compile(r"^```(\w*)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"\[([^\]\[]+)\]\((?!https?:)[^)\s]*\)")


class _Section(NamedTuple):
    heading: str
    body: str


def build(root: Path) -> Knowledge:
    """Return the platform knowledge of a checkout; the same for the same files.

    Args:
        root: Folder of the project: ``docs`` and ``src/fingerpost`` stand in it.

    Raises:
        ConfigError: The folder is no checkout, or a page names what is not there.
    """
    said = Docstrings(root)
    entries = [
        *_faq(root),
        *setup_entries(),
        *_settings(said),
        *_api(root, said),
        *_troubleshooting(root, said),
    ]
    seen: dict[str, Entry] = {}
    for entry in entries:
        if entry.id in seen:
            raise ConfigError(
                f"two entries are called {entry.id}: in {seen[entry.id].page} and {entry.page}",
                hint="Give one of them another heading, or a marker <!-- faq: NAME -->.",
            )
        seen[entry.id] = entry
    return Knowledge(tuple(seen[name] for name in sorted(seen)))


def _sections(root: Path, page: str) -> Iterator[_Section]:
    """Yield the sections of a page below its headings of the second level.

    Raises:
        ConfigError: The page is not there.
    """
    try:
        text = (root / page).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{root} is no checkout of fingerpost: {page}: {getattr(error, 'strerror', error)}",
            hint="Platform knowledge is built from the project's sources; name their folder "
            "with --root.",
        ) from error
    code = [match.span() for match in _FENCED.finditer(text)]
    headings = [
        match
        for match in _HEADING.finditer(text)
        if not any(start <= match.start() < end for start, end in code)
    ]
    ends = [*(match.start() for match in headings[1:]), len(text)]
    for match, end in zip(headings, ends, strict=True):
        yield _Section(match[1].strip(), text[match.end() : end].strip() + "\n")


def _faq(root: Path) -> Iterator[Entry]:
    for heading, body in _sections(root, FAQ):
        marker = _MARKER.search(body)
        name = marker[1] if marker else _slug(heading)
        answer = _plain(_MARKER.sub("", body))
        yield Entry(f"faq:{name}", heading, answer, page=FAQ, code=_code(answer))


def _settings(said: Docstrings) -> Iterator[Entry]:
    for setting in said.settings():
        yield Entry(
            f"faq:setting-{setting.name}",
            f"What does the setting `{setting.name}` do?",
            f"`{setting.name}`: {setting.meaning} Its default is `{setting.default}`.\n",
            page=setting.page,
        )


def _api(root: Path, said: Docstrings) -> Iterator[Entry]:
    for heading, body in _sections(root, API):
        name = heading.strip("`")
        answer = f"`{name}`: {said.summary(name)}\n\n{_plain(body)}"
        yield Entry(f"api:{name}", f"How do I use `{name}`?", answer, page=API, code=_code(answer))


def _troubleshooting(root: Path, said: Docstrings) -> Iterator[Entry]:
    for heading, body in _sections(root, TROUBLESHOOTING):
        name = heading.strip("`")
        answer = f"`{name}`: {said.summary(name)} {_plain(body)}"
        yield Entry(
            f"troubleshooting:{name}",
            f"What does `{name}` mean, and what do I do about it?",
            answer,
            page=TROUBLESHOOTING,
            code=_code(answer),
            error=name,
        )


def _slug(heading: str) -> str:
    words = re.findall(r"[\w]+", heading.lower().replace("_", "-").replace("'", ""))
    return "-".join(words).replace("_", "-")


def _plain(body: str) -> str:
    """Return Markdown without links to other pages: they lead nowhere from inside a package."""
    return _LINK.sub(r"\1", body).strip() + "\n"


def _code(answer: str) -> str:
    return next((code for kind, code in _FENCED.findall(answer) if kind == "python"), "")
