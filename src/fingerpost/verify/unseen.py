"""Text as a reader sees it: without comments, escapes and characters that show nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from fingerpost.verify.shown import Shown

JOINER = "\u2060"
"""Stands for what is not seen inside a word."""

_OPENS, _CLOSES = "<!--", "-->"
_UNSEEN = re.compile(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\r\n]{0,2000}(?:\x07|\x1b\\)|[@-Z\\-_])?"
    "|[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"
    "\u00ad\u0300-\u036f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20d0-\u20ff"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_HIDES = re.compile(f"{_OPENS}|{_ENTITY.pattern}|{_UNSEEN.pattern}")
_LOOKALIKES = str.maketrans(
    "аеоӏрсухіјѕһԁԛԝкАВЕКМНОРСТУХІЈЅοινρυκΑΒΕΖΗΙΚΜΝΟΡΤΥΧոօս",
    "aeolpcyxijshdqwkABEKMHOPCTYXIJSoivpukABEZHIKMNOPTYXnou",
)
_LOOKALIKE = re.compile(f"[{''.join(map(chr, _LOOKALIKES))}]")
_LETTERS = re.compile(r"[^\W\d_]+")
_CODE = re.compile(
    r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|\Z)|(`+)(?!`).{1,2000}?(?<!`)\2(?!`)",
    re.DOTALL | re.MULTILINE,
)
_BLOCK_TAG = (
    "p|div|br|hr|ul|ol|li|dl|dt|dd|table|thead|tbody|tfoot|tr|h[1-6]|blockquote|section|article"
    "|details|summary|figure|figcaption|center|aside|header|footer|main"
)
_TAG = re.compile(
    rf"</?(?:(?P<block>{_BLOCK_TAG})|(?P<apart>sup|td|th)"
    r"|a|abbr|b|cite|code|del|em|font|i|img|ins|kbd|mark|q|s|samp|small|span|strong|sub|u|var)"
    r"(?:\s[^<>]{0,2000})?/?>",
    re.IGNORECASE,
)
_INDENT = 16
_QUOTE_SIGNS = re.compile(r"^(?:[ \t]{0,3}>(?![=\d]))+", re.MULTILINE)
_LATIN = re.compile(r"[A-Za-z]")


def without_unseen(text: str) -> str:
    """Return the text as it looks, for comparison."""
    found = seen(text)
    return text if found is None else found.text


def seen(text: str) -> Shown | None:
    """Return what is seen of a text and where it stands; ``None`` when that is all of it.

    Comments, escapes and characters without a shape are left out, references such as
    ``&amp;`` are what they stand for, and a letter of another alphabet that looks like a Latin
    one among Latin ones is that one.
    """
    if _HIDES.search(text) is None and _LOOKALIKE.search(text) is None:
        return None
    pieces: list[str] = []
    starts: list[int] = []
    places: list[int] = []
    at = length = 0
    for start, end, put in [*_hidden(text), (len(text), len(text), "")]:
        if start > at:
            pieces.append(text[at:start])
            starts.append(length)
            places.append(at)
            length += start - at
        if put:
            pieces.append(put)
            starts += [length, length + len(put) - 1]
            places += [start, end - 1]
            length += len(put)
        at = end
    return Shown(_LETTERS.sub(_as_it_looks, "".join(pieces)), tuple(starts), tuple(places))


def without_comments(text: str) -> str:
    """Return the text with each comment of HTML as blanks, or joiners inside a word.

    The length, and so every offset, stays; line ends stay where blanks stand.
    """
    pieces: list[str] = []
    at = 0
    for start, end in _comments(text):
        inside = text[start - 1 : start].isalnum() and text[end : end + 1].isalnum()
        put = JOINER * (end - start) if inside else re.sub(r"[^\r\n]", " ", text[start:end])
        pieces += [text[at:start], put]
        at = end
    return "".join([*pieces, text[at:]])


def as_read(answer: str) -> str:
    """Return an answer with blanks for what is markup of HTML or of quotations around its words.

    Comments, tags and the signs of quoted lines go; a tag that begins a part of its own, as
    ``<li>`` does, ends the paragraph before it. Code keeps what looks like tags. The length, and
    so every offset, stays.
    """
    text = without_comments(answer)
    pieces: list[str] = []
    at = line = 0
    for tag in _tags(text):
        start, end = tag.span()
        line = max(line, text.rfind("\n", at, start) + 1)
        is_row = text[line : line + _INDENT].lstrip(" \t>").startswith("|")
        put = _in_place_of(tag, apart=tag["block"] is not None and not is_row)
        pieces += [text[at:start], put]
        at = end
    return _QUOTE_SIGNS.sub(lambda signs: " " * len(signs[0]), "".join([*pieces, text[at:]]))


def _tags(text: str) -> Iterator[re.Match[str]]:
    """Yield the tags of HTML outside of code, in order."""
    found = list(_TAG.finditer(text))
    code = [match.span() for match in _CODE.finditer(text)] if found else []
    following = iter(code)
    start = end = -1
    for tag in found:
        while end <= tag.start() and (place := next(following, None)):
            start, end = place
        if not start <= tag.start() < end:
            yield tag


def _in_place_of(tag: re.Match[str], *, apart: bool) -> str:
    """Return as many signs as the tag has: an empty line, joiners inside a word, or blanks."""
    length = tag.end() - tag.start()
    if apart:
        return "\n\n" + " " * (length - 2)
    around = tag.string[tag.start() - 1 : tag.start()] + tag.string[tag.end() : tag.end() + 1]
    inside = len(around) == 2 and around.isalnum()  # noqa: PLR2004 - a letter on both sides
    return (JOINER if inside and not (tag["block"] or tag["apart"]) else " ") * length


def _comments(text: str) -> Iterator[tuple[int, int]]:
    """Yield where comments stand; one that does not end is none, nor is one alone in code."""
    at = text.find(_OPENS)
    while at >= 0:
        end = text.find(_CLOSES, at + 2)  # the shortest is <!-->
        if end < 0:
            return
        end += len(_CLOSES)
        if text[at - 1 : at] != "`" or text[end : end + 1] != "`":
            yield at, end
        at = text.find(_OPENS, end)


def _hidden(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield what is not seen, in order: where it stands, and what is seen in its place."""
    at = 0
    for start, end in [*_comments(text), (len(text), len(text))]:
        for match in _HIDES.finditer(text, at, start):
            put = unescape(match[0]) if match[0][0] == "&" else ""
            if match[0] not in (_OPENS, put):  # no comment, no name that is known
                yield match.start(), match.end(), _UNSEEN.sub("", put)
        if end > start:
            yield start, end, ""
        at = end


def _as_it_looks(word: re.Match[str]) -> str:
    letters = word[0]
    if letters.isascii() or _LATIN.search(letters) is None:
        return letters
    return letters.translate(_LOOKALIKES)
