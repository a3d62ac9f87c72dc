"""What a filter means, the same for every store and for both legs of retrieval."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from fingerpost.text.versions import label_version
from fingerpost.types.document import Document
from fingerpost.types.query import Filters

_MAX_CACHED_PATTERNS = 256
_ANY_DEPTH = "**"
UNKNOWN_LANGUAGE = "und"


def document_filter(filters: Filters) -> Callable[[Document], bool] | None:
    """Return a test for documents by path, tag, source and metadata; ``None`` for no limit.

    Languages are a matter of chunks, see `language_passes`.
    """
    tests: list[Callable[[Document], bool]] = []
    if filters.sources:
        sources = frozenset(filters.sources)
        tests.append(lambda document: document.source in sources)
    if filters.paths:
        inside = paths_filter(filters.paths)
        tests.append(lambda document: inside(document.path))
    if filters.tags:
        tags = frozenset(tag.casefold() for tag in filters.tags)
        tests.append(lambda document: any(tag.casefold() in tags for tag in document.tags))
    allowed: dict[str, set[str]] = {}
    for name, value in filters.metadata:
        allowed.setdefault(name, set()).add(value.casefold())
    if "version" in allowed:  # v7.4 is written as it is kept
        allowed["version"] |= {label_version(value) for value in allowed["version"]} - {""}
    for name, values in allowed.items():
        tests.append(_metadata_test(name, values))
    if not tests:
        return None
    return lambda document: all(test(document) for test in tests)


def language_passes(wanted: frozenset[str], chunk_language: str, document_language: str) -> bool:
    """Return whether a chunk is in one of the wanted languages.

    A chunk whose language is not known counts as written in its document's language.
    ``wanted`` is casefolded; a code such as ``pt-BR`` also passes for ``pt``.
    """
    language = chunk_language if chunk_language != UNKNOWN_LANGUAGE else document_language
    language = language.casefold()
    return language in wanted or language.partition("-")[0] in wanted


def path_matches(glob: str, path: str) -> bool:
    """Return whether a path relative to the source root passes a glob.

    ``*`` and ``?`` stay within a folder, ``**`` as a whole part crosses folders, and a
    pattern without wildcards also means everything below the folder of that name. Case
    counts. Takes linear time in the path for each part of the pattern.
    """
    parts, plain = _compiled(glob)
    names = path.split("/")
    if plain:
        wanted = glob.strip("/").removeprefix("./").split("/")
        return not wanted[0] or names[: len(wanted)] == wanted
    return _parts_match(parts, names)


def paths_filter(globs: Sequence[str]) -> Callable[[str], bool]:
    """Return a test whether a path passes any of the globs, each as in `path_matches`.

    All globs are tried in one go: those without wildcards by looking up the folders of the
    path, the others as one expression.
    """
    plain: set[str] = set()
    patterns: list[str] = []
    for glob in dict.fromkeys(globs):
        parts, is_plain = _compiled(glob)
        if is_plain:
            plain.add(glob.strip("/").removeprefix("./"))
        else:
            patterns.append(_whole(parts))
    everything = any(not name or name.startswith("/") for name in plain)
    expression = re.compile("|".join(patterns), re.DOTALL) if patterns else None

    def passes(path: str) -> bool:
        if everything or path in plain:
            return True
        at = path.find("/")
        while at >= 0:
            if path[:at] in plain:
                return True
            at = path.find("/", at + 1)
        return expression is not None and expression.match(f"{path}/") is not None

    return passes


def _whole(parts: Sequence[re.Pattern[str] | None]) -> str:
    """Return an expression for a path with a slash after each part, in linear time.

    What stands between two ``**`` is taken where it fits first and never tried elsewhere.
    """
    blocks = [""]
    for part in parts:
        if part is None:
            blocks.append("")
        else:
            blocks[-1] += f"{part.pattern}/"
    if len(blocks) == 1:
        return f"{blocks[0]}\\Z"
    first, *middle, last = blocks
    inner = "".join(f"(?>(?:[^/]*/)*?{block})" for block in middle if block)
    return f"{first}{inner}(?:[^/]*/)*{last}\\Z" if last else f"{first}{inner}"


def _parts_match(parts: Sequence[re.Pattern[str] | None], names: Sequence[str]) -> bool:
    """Match part by part; only the last ``**`` ever has to be widened."""
    at_part = at_name = 0
    star, star_name = -1, 0
    while at_name < len(names):
        part = parts[at_part] if at_part < len(parts) else None
        if at_part < len(parts) and part is None:
            star, star_name = at_part, at_name
            at_part += 1
        elif part is not None and part.fullmatch(names[at_name]):
            at_part += 1
            at_name += 1
        elif star >= 0:
            star_name += 1
            at_part, at_name = star + 1, star_name
        else:
            return False
    return all(part is None for part in parts[at_part:])


@lru_cache(_MAX_CACHED_PATTERNS)
def _compiled(glob: str) -> tuple[tuple[re.Pattern[str] | None, ...], bool]:
    names = glob.strip("/").removeprefix("./").split("/")
    plain = not any(sign in glob for sign in "*?")
    return tuple(None if name == _ANY_DEPTH else _part(name) for name in names), plain


def _part(pattern: str) -> re.Pattern[str]:
    """Return a regular expression without backtracking into earlier stars."""
    pieces = [
        "".join("[^/]" if sign == "?" else re.escape(sign) for sign in piece)
        for piece in re.sub(r"\*+", "*", pattern).split("*")
    ]
    if len(pieces) == 1:
        return re.compile(pieces[0], re.DOTALL)
    inner = "".join(f"(?>[^/]*?{piece})" for piece in pieces[1:-1])
    return re.compile(f"{pieces[0]}{inner}[^/]*{pieces[-1]}", re.DOTALL)


def _metadata_test(name: str, values: set[str]) -> Callable[[Document], bool]:
    def passes(document: Document) -> bool:
        found = document.metadata.get(name)
        items = found if isinstance(found, list | tuple) else (found,)
        return any(_as_text(item).casefold() in values for item in items if item is not None)

    return passes


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
