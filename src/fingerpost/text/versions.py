"""Versions of documentation: in paths, in front matter and in questions, and their order.

A version is written as numbers (``7.4``, ``v2``, ``version-3``, ``1.2.x``, ``2.0-beta``) or as a
word for a line of development (``latest``, ``next``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile
from typing import Final, NamedTuple

from fingerpost.types.document import Document

_CURRENT: Final = frozenset({"current", "latest", "stable"})
_UNRELEASED: Final = frozenset(
    {"canary", "edge", "main", "master", "next", "nightly", "preview", "trunk", "unreleased"}
)
_WORDS: Final = _CURRENT | _UNRELEASED
_CUES: Final = frozenset({"rel", "release", "v", "ver", "version"})
# A number behind these counts the parts of one document.
_COUNTED: Final = frozenset(
    {"chapter", "day", "exercise", "lab", "lesson", "level", "module", "part", "section", "step",
     "unit", "week"}
)  # fmt: skip
_NUMBER = r"\d{1,4}(?:\.\d{1,5}){0,3}(?:\.[x*](?![\w]))?"
_PRE = r"[-_.]?(?:alpha|beta|rc|preview|pre|snapshot|dev|nightly)[-_.]?\d{0,4}"
_LABEL: Final = re.compile(
    rf"(?:(?P<name>[a-z][a-z0-9-]*?)[-_@ ])?(?P<v>v|version|release)?"
    rf"(?P<number>{_NUMBER})(?P<pre>{_PRE})?"
)
_LONGEST_WHOLE: Final = 3
_ASKED: Final = re.compile(
    rf"(?:\b(?P<cue>versions?|release|v)\s?v?|\b(?P<name>[A-Z][\w+-]*)[ -]v?|(?<![\w.$€£,-])v?)"
    rf"(?P<number>{_NUMBER})(?P<pre>{_PRE})?(?![\w%]|[.,]\d)"
    rf"|\b(?P<word>{'|'.join(sorted(_WORDS))})\s+(?:version|release|branch|build|docs?)\b",
)
_DIGITS: Final = re.compile(r"\d+")
_LEADING: Final = re.compile(r"\d{1,9}(?!\d)")  # front matter may say anything
_ANY: Final = 99_999  # what ``x`` stands for: the newest of its line
_COVERING: Final = 2
_MAX_QUESTION_CHARS: Final = 4000


@dataclass(frozen=True, slots=True)
class AskedVersion:
    """A version that a question names.

    Attributes:
        version: As in `label_version`.
        name: What it is a version of, casefolded, where only that tells it from a count:
            ``helm`` in "Helm 3"; empty when the number itself says that it is a version.
        told_by: What says that no measure is meant: ``version``, or the name before it,
            casefolded; empty when nothing does ("0.5 seconds").
    """

    version: str
    name: str = ""
    told_by: str = field(default="", compare=False)

    def fits(self, version: str, where: str) -> int:
        """Return how well a document's version answers: 2 exactly, 1 in its line, 0 not.

        Args:
            version: Of the document.
            where: Casefolded source, path and title of the document.
        """
        if not version or (self.name and self.name not in where):
            return 0
        if version == self.version:
            return 2
        asked, own = _numbers(self.version), _numbers(version)
        in_line = bool(asked) and own[: len(asked)] == asked
        covered = len(own) >= _COVERING and asked[: len(own)] == own
        return int(in_line or covered)


@lru_cache(maxsize=4096)
def label_version(label: str) -> str:
    """Return the version that a label such as a folder's name stands for, empty when none.

    ``v1.2``, ``version-1.2`` and ``helm-v1.2`` are ``1.2``; a lone whole number is none.
    """
    low = label.strip().casefold()
    if low in _WORDS:
        return low
    found = _LABEL.fullmatch(low)
    if found is None or found["name"] in _COUNTED:
        return ""
    number, is_told = found["number"], found["v"] or found["name"] in _CUES
    if "." not in number and (not is_told or len(number) > _LONGEST_WHOLE):
        return ""
    return _joined(number, found["pre"])


class VersionedPath(NamedTuple):
    """What a path tells of the version.

    Attributes:
        version: As in `label_version`, empty when none.
        plain: Path without the folder of the version: where the page of the current version
            stands when it has no such folder.
        page: Source and path without the version: the same for every version of one page.
        place: Number of the folder that tells the version, from 0; -1 when none does.
    """

    version: str
    plain: str
    page: str
    place: int


@lru_cache(maxsize=16_384)
def versioned_path(source: str, path: str) -> VersionedPath:
    """Return the version that a path tells: the last folder that is one, else the source's name.

    Where ``versioned_docs`` holds the versions, ``docs`` beside it holds the current one.
    """
    parts = path.split("/")
    for place in range(len(parts) - 2, -1, -1):
        version = label_version(parts[place])
        if version and (version != "main" or parts[place - 1 : place] != ["src"]):
            before = current_folder("/".join(parts[:place]))
            plain = "/".join(filter(None, (before, *parts[place + 1 :])))
            return VersionedPath(version, plain, f"{source}/{plain}", place)
    names = source.split("/")
    for place, name in enumerate(names):
        version = label_version(name)
        if version:
            page = "/".join((*names[:place], *names[place + 1 :], path))
            return VersionedPath(version, path, page, -1)
    return VersionedPath("", path, f"{source}/{path}", -1)


def current_folder(above: str) -> str:
    """Return where the current version stands beside the versions in the folder ``above``."""
    return "/".join("docs" if name == "versioned_docs" else name for name in above.split("/"))


@lru_cache(maxsize=4096)
def version_order(version: str) -> tuple[int, tuple[int, ...]]:
    """Return what orders the versions of a page, the one to be preferred greatest.

    Released numbers by their value; above them the current version, which has a word or no
    version at all; below them what is not released: words and pre-releases.
    """
    if not version or version in _CURRENT:
        return 2, ()
    if version in _UNRELEASED:
        return 0, (_ANY,)
    found = (_ANY if part in ("x", "*") else _number(part) for part in _parts(version))
    return int("-" not in version), tuple(takewhile(lambda one: one >= 0, found))


@lru_cache(maxsize=256)
def asked_versions(text: str) -> tuple[AskedVersion, ...]:
    """Return the versions that a question names, in order, each once.

    A whole number is one only behind ``version``, ``v`` or a name that begins with a capital.
    """
    found = map(_asked_version, _ASKED.finditer(text[:_MAX_QUESTION_CHARS]))
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _asked_version(match: re.Match[str]) -> AskedVersion | None:
    if match["word"]:
        return AskedVersion(match["word"], told_by="version")
    number, name = match["number"], (match["name"] or "").casefold()
    has_v = match[0][: -len(number) or None].rstrip().endswith("v")
    version, told_by = _joined(number, match["pre"]), name
    if match["cue"] or has_v or _is_place(match):
        told_by = "version"
    if "." in number or match["cue"] or has_v:
        return AskedVersion(version, told_by=told_by)
    return AskedVersion(version, name, told_by) if name else None


def _is_place(match: re.Match[str]) -> bool:
    """Return whether a number ends a question behind "in"."""
    behind = match.string[match.end() :].strip(" ?!.")
    return not match["name"] and not behind and match.string[: match.start()].endswith(" in ")


def is_of(asked: AskedVersion, document: Document) -> int:
    """Return how well a document is of a version that is asked for. See `AskedVersion.fits`."""
    own = {versioned_path(document.source, document.path).version, document.version}
    return max(asked.fits(version, _where(document)) for version in own)


def versions_there(text: str, documents: Iterable[Document]) -> frozenset[AskedVersion]:
    """Return those versions that a question names which one of some documents is of."""
    asked = asked_versions(text)
    if not asked:
        return frozenset()
    return frozenset(one for one in asked if any(is_of(one, page) for page in documents))


def versions_missing(text: str, documents: Iterable[Document]) -> tuple[AskedVersion, ...]:
    """Return the versions that a question names when versioned documents are of none of them.

    What is told by a name is one only where the documents have that name: "on Python 3.8" asks
    the pages of another program for no version of them.
    """
    asked = asked_versions(text)
    pages = list(documents) if asked else []
    if not any(versioned_path(page.source, page.path).version or page.version for page in pages):
        return ()
    if versions_there(text, pages):
        return ()
    places = " ".join(map(_where, pages))
    return tuple(
        one for one in asked if one.told_by == "version" or (one.told_by and one.told_by in places)
    )


def without_versions(text: str, versions: AbstractSet[AskedVersion]) -> str:
    """Return a question without those of the versions that it names; a name before one stays."""
    if not versions:
        return text
    return _ASKED.sub(lambda match: _cut(match, versions), text)


def _cut(match: re.Match[str], versions: AbstractSet[AskedVersion]) -> str:
    return match["name"] or "" if _asked_version(match) in versions else match[0]


def _where(document: Document) -> str:
    return f"{document.source}/{document.path} {document.title}".casefold()


@lru_cache(maxsize=4096)
def without_numbers(title: str) -> str:
    """Return a title casefolded and without digits, the same for every version of a page."""
    return " ".join(_DIGITS.sub(" ", title.casefold().replace(".", " ")).split())


def _joined(number: str, pre: str | None) -> str:
    return f"{number}-{pre.strip('-_.')}" if pre else number


def _parts(version: str) -> list[str]:
    return version.partition("-")[0].split(".")


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers that a version fixes, none of a word."""
    return tuple(_number(part) for part in _parts(version) if _LEADING.fullmatch(part))


def _number(part: str) -> int:
    """Return the number that a part begins with, -1 without one or with one too long to be."""
    found = _LEADING.match(part)
    return int(found[0]) if found else -1
