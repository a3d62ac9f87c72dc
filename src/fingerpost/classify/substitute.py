"""A follow-up that names another thing, put in the place of the old one in the last question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from fingerpost.classify.words import filler_words, read_packaged, unspaced_characters, words_of

_LONGEST_THING = 4
_EDGES = " \t\r\n?!.,;:¿¡\"'“”()[]"
_ARTICLE = re.compile(
    r"^(?:the|a|an|der|die|das|den|dem|le|la|les|el|los|il|lo|o)\s+", re.IGNORECASE
)
_NAME = re.compile(
    r"`[^`]+`|\b(?:[A-ZÀ-ÞА-Я]|[a-z]{1,3}[A-Z])[\w&+#’-]*(?:\.[\w]+)*"
    r"(?: (?:[A-ZÀ-ÞА-Я][\w&+#’-]*|\d+(?:\.\d+)*)(?=\W|$))*"
)
_NUMBER = re.compile(r"(?<![\w.])v?\d+(?:\.\d+)*(?![\w.]*\w)")
_CHOICE = re.compile(
    r"^\s*(?:,|and|or|vs\.?|versus|und|oder|et|ou|y|o|e|и|или|with|to|from)\s*$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``substitute.json``, ready for use."""

    opening: re.Pattern[str]
    closing: re.Pattern[str]
    prepositions: frozenset[str]
    regarding: frozenset[str]
    pair: re.Pattern[str]
    pairs: dict[str, str]


def _any_of(entries: Sequence[str]) -> str:
    """Return the entries as alternatives of a pattern, longest first."""
    return "|".join(re.escape(entry) for entry in sorted(entries, key=len, reverse=True))


@lru_cache(maxsize=1)
def _words() -> _Words:
    """Return the lists."""
    lists = read_packaged("substitute.json")
    return _Words(
        re.compile(rf"^[\s¿¡]*(?:{_any_of(lists['openers'])})\s+", re.IGNORECASE),
        re.compile(rf"[\s,]+(?:{_any_of(lists['closers'])})$", re.IGNORECASE),
        frozenset(lists["prepositions"]),
        frozenset(lists["regarding"]),
        re.compile(
            rf"\b(?:{_any_of(list(lists['pairs']))})"
            rf"(?=\W*$|[,;]|\s+(?:{_any_of(lists['follows_pair'])})\b)",
            re.IGNORECASE,
        ),
        dict(lists["pairs"]),
    )


def substituted(asked: str, question: str, said: Sequence[str] = ()) -> str | None:
    """Return the question with its thing replaced by the one that the follow-up names.

    'what about Cloudflare' after 'How do I deploy to Netlify?' gives 'How do I deploy to
    Cloudflare?'. ``None`` when the follow-up says more than a thing, or when the question holds
    no thing of the same kind, or several of which none stands out.

    Args:
        asked: The follow-up.
        question: The nearest earlier question that stands alone.
        said: The whole conversation, oldest first; tells names from other words, and what all
            of it is about from what changes.
    """
    opening = _words().opening.match(asked)
    if opening is None or unspaced_characters(asked) or unspaced_characters(question):
        return None
    thing = _words().closing.sub("", asked[opening.end() :].strip(_EDGES)).strip(_EDGES)
    preposition, thing = _apart(thing)
    if not _is_thing(thing) or f" {thing.casefold()} " in f" {' '.join(words_of(question))} ":
        return None
    place = _place(preposition, thing, question, said)
    if place is None:
        return None
    start, end = place
    return _put(question, start, end, preposition, _ARTICLE.sub("", thing))


def names_newcomer(asked: str) -> bool:
    """Return whether it only names another thing, without 'the': 'what about 7?'."""
    opening = _words().opening.match(asked)
    if opening is None:
        return False
    thing = _apart(asked[opening.end() :].strip(_EDGES))[1]
    return _is_thing(thing) and _ARTICLE.match(thing) is None


def joined_pair(asked: str, questions: Sequence[str]) -> str | None:
    """Return the text with 'the two' replaced by the two things that were spoken of last.

    ``None`` when it takes up no two things, or which they are cannot be told.

    Args:
        asked: The follow-up.
        questions: Earlier questions made to stand alone, oldest first.
    """
    found = _words().pair.search(asked)
    pair = _last_two(questions) if found else None
    if found is None or pair is None:
        return None
    template = _words().pairs.get(found.group().casefold(), "{0}, {1}")
    return f"{asked[: found.start()]}{template.format(*pair)}{asked[found.end() :]}"


def takes_up_two(asked: str) -> bool:
    """Return whether the text speaks of two things that it does not name."""
    return _words().pair.search(asked) is not None


def _last_two(questions: Sequence[str]) -> tuple[str, str] | None:
    """Return the two names that were last set side by side, or asked about one after another."""
    last: list[str] = []
    for question in reversed(questions):
        spans = _spans(_NAME, question)
        names = [question[start:end] for start, end in spans]
        for (_, end), (start, _) in reversed(list(pairwise(spans))):
            if not last and _CHOICE.match(question[end:start]):
                return names[-2], names[-1]
        new = [name for name in names if name not in last]
        own = [name for name in last if name not in names]
        if new and own:
            return new[-1], own[-1]
        last = last or names
    return None


def _apart(thing: str) -> tuple[str, str]:
    """Return the preposition that opens a phrase, empty for none, and the rest."""
    first, _, rest = thing.partition(" ")
    if rest and first.casefold() in _words().prepositions:
        return first, rest.strip()
    return "", thing


def _is_thing(thing: str) -> bool:
    """Return whether it is a short noun phrase rather than a clause or nothing at all."""
    bare = _ARTICLE.sub("", thing)
    words = words_of(bare)
    if not words or len(words) > _LONGEST_THING or re.search(r"[,;:?!]", bare):
        return False
    return not filler_words(f"{bare} .") & set(words)


def _place(
    preposition: str, thing: str, question: str, said: Sequence[str]
) -> tuple[int, int] | None:
    """Return where the old thing stands in the question."""
    bare = _ARTICLE.sub("", thing)
    if _NUMBER.fullmatch(bare):
        numbers = _spans(_NUMBER, question)
        return numbers[0] if len(numbers) == 1 else None
    if _is_name(bare, said):
        acronym = bare.isupper()
        same = [
            (start, end)
            for start, end in _spans(_NAME, question)
            if question[start:end].isupper() == acronym
        ]
        return _outstanding(preposition, same, question, said)
    return _after_preposition(preposition, question)


def _is_name(thing: str, said: Sequence[str]) -> bool:
    """Return whether it is written as a name here or anywhere inside what was said."""
    if _NAME.fullmatch(thing):
        return True
    written = re.compile(rf"(?<=[\w,;:(] ){re.escape(thing)}\b", re.IGNORECASE)
    return any(
        _NAME.fullmatch(match.group()) is not None
        for line in said
        for match in written.finditer(line)
    )


def _outstanding(
    preposition: str, spans: Sequence[tuple[int, int]], question: str, said: Sequence[str]
) -> tuple[int, int] | None:
    """Return the one name that the follow-up can mean: of several, the place or the newcomer."""
    if len(spans) <= 1:
        return spans[0] if spans else None
    led = {span: _led_by(question, span[0]) for span in spans}
    if preposition:
        same = [span for span in spans if led[span] == preposition.casefold()]
        if len(same) == 1:
            return same[0]
    places = [span for span in spans if led[span] and led[span] not in _words().regarding]
    if len(places) == 1:
        return places[0]
    earlier = " ".join(line for line in said if line.strip() != question.strip()).casefold()
    fresh = [span for span in spans if question[span[0] : span[1]].casefold() not in earlier]
    return fresh[0] if len(fresh) == 1 else None


def _led_by(question: str, start: int) -> str:
    """Return the preposition right before a place, empty for none."""
    before = question[:start].split()
    word = before[-1].casefold() if before else ""
    return word if word in _words().prepositions else ""


def _after_preposition(preposition: str, question: str) -> tuple[int, int] | None:
    """Return the phrase that the same preposition leads at the end of the question."""
    if not preposition:
        return None
    led = re.compile(
        rf"\b{re.escape(preposition)}\s+((?:[\w-]+\s+){{0,3}}[\w-]+)\W*$", re.IGNORECASE
    )
    match = led.search(question)
    return match.span(1) if match else None


def _spans(pattern: re.Pattern[str], question: str) -> list[tuple[int, int]]:
    """Return where the pattern matches, the capital that opens the question left out."""
    opens = re.match(r"\W*\w+", question)
    first = opens.end() if opens else 0
    return [match.span() for match in pattern.finditer(question, first) if match.group() != "I"]


def _put(question: str, start: int, end: int, preposition: str, thing: str) -> str:
    """Return the question with the new thing in the old place, led by its own preposition."""
    head = question[:start]
    old = _led_by(question, start)
    if preposition and old and preposition.casefold() not in _words().regarding:
        head = f"{head.rstrip()[: -len(old)]}{preposition} "
    return f"{head}{thing}{question[end:]}".strip()
