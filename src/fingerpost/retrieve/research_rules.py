"""Further queries without a model: what a part asks for and the evidence does not hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from fingerpost.retrieve.hybrid import searchable_text
from fingerpost.retrieve.question import rarity_of, token_set
from fingerpost.retrieve.research_notes import Notes
from fingerpost.text.analyse import query_tokens

_FEEDBACK_HITS: Final = 3
_FEEDBACK_WORDS: Final = 3
_FEEDBACK_SEEN: Final = 24
_OPEN_WORDS: Final = 4
_WORD: Final = re.compile(r"[^\W\d_]{3,40}")
_LATIN_END, _HAN_START, _HAN_END = 0x0250, 0x2E80, 0xA000


def queries_by_rule(parts: Sequence[str], notes: Notes) -> Iterator[str]:
    """Yield new queries of the index for parts that are open.

    For each the words that stand in the index but in none of the hits, then the part with
    telling words of its best hits (pseudo-relevance feedback, Rocchio, 1971) in the script of
    the part.
    """
    for part in parts:
        for query in (_open_words(part, notes), _feedback(part, notes)):
            if query and query != part and query not in notes.asked:
                yield query


def web_queries(question: str, parts: Sequence[str], notes: Notes) -> list[str]:
    """Return new queries of the web, made of the question's own words alone.

    Words of documents never go there: they may be private. At first each open part is asked as
    it is, or the question when none is open; then the words of a part that nothing found holds.
    """
    if not notes.asked.intersection({question, *parts}):
        return list(parts) or [question]
    rest = (" ".join(notes.missing_words(part)) for part in parts)
    return [query for query in dict.fromkeys(rest) if query and query not in notes.asked]


def _open_words(part: str, notes: Notes) -> str:
    """Return the words of a part that stand in the index but in none of the hits."""
    found: set[str] = set().union(*(token_set(searchable_text(hit)) for hit in notes.hits))
    open_tokens = [t for t in notes.question(part).rarity if t not in found]
    frequency = notes.reader.document_frequency(open_tokens)
    missing = {t for t in open_tokens if frequency.get(t, 0)}
    words = [w for w in part.split() if missing.intersection(query_tokens(w))]
    return " ".join(words[:_OPEN_WORDS])


def _feedback(part: str, notes: Notes) -> str:
    """Return the part with telling words of its best hits, in the script of the part."""
    question = notes.question(part)
    near = sorted(notes.hits, key=lambda h: -question.coverage([searchable_text(h)]))
    counts: Counter[str] = Counter()
    for hit in near[:_FEEDBACK_HITS]:
        counts.update({w.casefold() for w in _WORD.findall(searchable_text(hit))})
    usual = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_FEEDBACK_SEEN]
    tokens = {word: list(query_tokens(word)) for word, _ in usual}
    frequency = notes.reader.document_frequency([t for some in tokens.values() for t in some])
    rated = []
    for word, n in usual:
        some = tokens[word]
        if len(some) != 1 or some[0] in question.tokens or not _same_script(word, part):
            continue
        rated.append((-n * rarity_of(frequency.get(some[0], 0), question.n_chunks), word))
    words = [word for _, word in sorted(rated)[:_FEEDBACK_WORDS]]
    return f"{part} {' '.join(words)}" if words else ""


def _same_script(word: str, part: str) -> bool:
    """Return whether ``word`` uses only blocks of letters that ``part`` uses as well."""
    used = {_block(c) for c in part if c.isalpha()}
    return all(_block(c) in used for c in word if c.isalpha())


def _block(letter: str) -> int:
    """Return a number for the writing system: Latin is one, so are Han and kana together."""
    point = ord(letter)
    if point < _LATIN_END:
        return 0
    return 1 if _HAN_START <= point < _HAN_END else point >> 8
