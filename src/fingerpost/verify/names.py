"""Names, identifiers, flags and code that a claim must share with its evidence."""

from __future__ import annotations

import re
from typing import NamedTuple

from fingerpost.verify.words import fold

_CODE = re.compile(r"`+([^`\n]+?)`+")
_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
# snake_case, dotted.name, call(), lowerCamel, path/to/file.ext, ./path, /etc/x, E1043,
# CVE-2024-1, me@host.org
# What prose writes the same way (and/or, U.S, JavaScript, CO2) is a word, not an identifier.
_IDENTIFIER = re.compile(
    r"(?<![\w./-])(?:"
    r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+|(?:\.{1,2}/|~/|/)[\w.-]+(?:/[\w.-]+)*/?|[\w.-]+(?:/[\w.-]+){2,}|[\w-]+/[\w-]+\.[a-z]\w{1,4}"
    r"|[A-Za-z]\w*(?:_\w+)+|[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+(?:\(\))?"
    r"|[a-z]{2,}(?:[A-Z][a-z0-9]+)+|[A-Z]{1,5}-?\d{3,}\w*(?:-\d+)?|[A-Za-z_]\w*\(\))(?![\w/]|-\w)"
)
_CAPITAL_RUN = re.compile(
    r"(?<![\w-])(?:[A-ZÀ-ÖØ-Þ][\w'’&-]*[\w]|[A-Z])(?:\s+(?:(?:of|de|van|von|der|the|la|du|del)\s+)?"
    r"[A-ZÀ-ÖØ-Þ][\w'’&-]*\w)*"
)
_OPENS = re.compile(r"(?:^|[.!?:;\n|]|[-*•]\s)[\s\"'“„«(*_`]*$")
_ABBREVIATION_DOT = re.compile(r"\b(?:e\.g|i\.e|etc|z\.B|p\. ex)$")


_NUMERIC = re.compile(r"\s*[\d.,_ ]+\s*")  # compared as a quantity
_JOINTS = re.compile(r"[-_./](?=\w)")


class Mention(NamedTuple):
    """A name or identifier as written, where it stands."""

    text: str
    start: int
    end: int


def identifiers(text: str) -> list[Mention]:
    """Return code spans, flags and identifiers in order, none inside another."""
    found = [
        Mention(match[1].strip(), match.start(1), match.end(1))
        for match in _CODE.finditer(text)
        if not _NUMERIC.fullmatch(match[1])
    ]
    covered = {at for one in found for at in range(one.start, one.end)}
    for pattern in (_FLAG, _IDENTIFIER):
        for match in pattern.finditer(text):
            inside = not covered.isdisjoint(range(match.start(), match.end()))
            word = match[0].rstrip(".")
            if (
                not inside
                and any(mark.isalpha() for mark in word)
                and not _ABBREVIATION_DOT.match(word)
            ):
                found.append(Mention(word, match.start(), match.start() + len(word)))
                covered.update(range(match.start(), match.start() + len(word)))
    return sorted(found, key=lambda mention: mention.start)


def names(text: str) -> list[Mention]:
    """Return runs of capitalised words; a sentence's own first capital opens none by itself.

    German nouns look like names: callers leave German text out.
    """
    found = []
    for match in _CAPITAL_RUN.finditer(text):
        start, end = match.span()
        if _OPENS.search(text[:start]):
            first = re.match(r"\S+", match[0])
            rest_starts = start + first.end() if first else end
            inner = any(mark.isupper() for mark in match[0].split()[0][1:])
            if rest_starts >= end and not inner:
                continue
        found.append(Mention(match[0], start, end))
    return found


def stands_in(identifier: str, text: str) -> bool:
    """Return whether the identifier stands in the text as a whole, not inside a longer one."""
    bare = identifier.removesuffix("()")
    pattern = rf"(?<![\w-])(?<!\w\.){re.escape(bare)}(?![\w]|-\w)"
    if bare in text and re.search(pattern, text):
        return True
    if bare.startswith("-") or not re.search(r"\s", bare):
        return False
    spaced = re.sub(r"\s+", r"\\s+", re.escape(re.sub(r"\s+", " ", bare)).replace(r"\ ", " "))
    return re.search(rf"(?<![\w-]){spaced}(?![\w]|-\w)", text, re.IGNORECASE) is not None


def rivals(identifier: str, others: list[Mention]) -> list[Mention]:
    """Return the mentions that look like another value of the same thing.

    Flags rival flags; other names rival each other when they share a part and are joined alike.
    """
    flag = identifier.startswith("-")
    parts = _parts(identifier)
    found = []
    for other in others:
        if fold(other.text).removesuffix("s") == fold(identifier).removesuffix("s"):
            continue
        other_flag = other.text.startswith("-")
        alike = _JOINTS.findall(other.text) == _JOINTS.findall(identifier)
        kindred = not flag and not other_flag and alike and bool(parts & _parts(other.text))
        if (flag and other_flag) or kindred:
            found.append(other)
    return found


def _parts(identifier: str) -> frozenset[str]:
    split = re.sub(r"([a-z])([A-Z])", r"\1 \2", identifier)
    return frozenset(part for part in re.split(r"[^A-Za-z0-9]+", split.casefold()) if len(part) > 1)


_ACRONYM = re.compile(r"^[A-Z]{2,6}s?$")


def abbreviated(name: str, text: str) -> bool:
    """Return whether the text has the name's acronym, or spells out the acronym it is."""
    if _ACRONYM.match(name):
        letters = name.rstrip("s")
        small = r"(?:\s+(?:of|and|the|for|de|der|du))?[\s-]+"
        spelled = small.join(rf"{letter}\w+" for letter in letters)
        return re.search(rf"\b{spelled}", text, re.IGNORECASE) is not None
    initials = "".join(part[0] for part in name.split() if part[0].isupper())
    return len(initials) > 1 and initials in text and bool(re.search(rf"\b{initials}\b", text))
