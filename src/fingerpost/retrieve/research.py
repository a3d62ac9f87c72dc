"""The built-in research pass: search again for what the evidence leaves open, in rounds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from fingerpost.retrieve.hybrid import searchable_text
from fingerpost.retrieve.question import Question, ask, rarity_of, token_set
from fingerpost.stores.base import Reader
from fingerpost.text.analyse import query_tokens
from fingerpost.types.evidence import Hit, MatchType

ROUNDS = 3
QUERIES = 4
COVERED = 0.6
FOUND = 0.35
_FEEDBACK_HITS = 3
_FEEDBACK_WORDS = 3
_FEEDBACK_SEEN = 24
_OPEN_WORDS = 4
_RESERVE_S = 0.02
_WORD = re.compile(r"[^\W\d_]{3,40}")

_LATIN_END, _HAN_START, _HAN_END = 0x0250, 0x2E80, 0xA000

Search = Callable[[str], Sequence[Hit]]
Phase = Callable[[int, int, int], None]


@dataclass(frozen=True, slots=True)
class Findings:
    """What the research pass found.

    Attributes:
        hits: New hits only, in the order found.
        synthesis: One line for each part of the question: where it is answered, or that
            nothing was found.
        uncovered: Parts for which nothing was found.
        n_rounds: Rounds that ran, 0 when nothing was open.
    """

    hits: tuple[Hit, ...]
    synthesis: str
    uncovered: tuple[str, ...]
    n_rounds: int


@dataclass(slots=True)
class _Notes:
    """What is known so far; lives for one question."""

    reader: Reader
    hits: list[Hit]
    questions: dict[str, Question] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    new: list[Hit] = field(default_factory=list)

    def question(self, part: str) -> Question:
        """Return a part analysed, once."""
        if part not in self.questions:
            self.questions[part] = ask(self.reader, part)
        return self.questions[part]

    def coverage(self, part: str) -> float:
        """Return how much of a part the hit that covers it best holds, 0 to 1."""
        question = self.question(part)
        shares = (question.coverage([searchable_text(hit)]) for hit in self.hits)
        return max(shares, default=0.0)

    def add(self, hits: Sequence[Hit], query: str) -> int:
        """Keep hits not seen before; return how many."""
        seen = {hit.chunk.id for hit in self.hits}
        fresh = [hit for hit in hits if hit.chunk.id not in seen]
        marked = [replace(hit, match_type=MatchType.RESEARCH, sub_query=query) for hit in fresh]
        self.hits += marked
        self.new += marked
        return len(fresh)


def research(
    reader: Reader,
    parts: Sequence[str],
    hits: Sequence[Hit],
    search: Search,
    *,
    remaining_s: Callable[[], float],
    phase: Phase = lambda *_: None,
) -> Findings:
    """Return what up to three rounds of further searches add.

    Each round takes the parts whose rare words the evidence does not hold, and asks again
    with those words and with telling words of the best hits (pseudo-relevance feedback,
    Rocchio, 1971) in the script of the question. It ends when all is covered, when a round
    brings nothing new, or when time or the four queries are used up.

    Args:
        reader: Says how rare a word is.
        parts: The question, or its sub-questions.
        hits: The evidence so far, best first.
        search: Runs one more query under the same filters.
        remaining_s: Seconds left.
        phase: Told of each round: number, queries asked, new hits.
    """
    notes = _Notes(reader, list(hits))
    n_rounds = 0
    for number in range(1, ROUNDS + 1):
        open_parts = [part for part in parts if notes.coverage(part) < COVERED]
        queries = list(_queries(open_parts, notes))[: QUERIES - len(notes.asked)]
        if not queries or remaining_s() < _RESERVE_S:
            break
        n_new = 0
        for query in queries:
            notes.asked.add(query)
            if remaining_s() > _RESERVE_S:
                n_new += notes.add(search(query), query)
        n_rounds = number
        phase(number, len(queries), n_new)
        if not n_new:
            break
    uncovered = tuple(p for p in parts if notes.coverage(p) < FOUND)
    return Findings(
        hits=tuple(notes.new),
        synthesis=_synthesis(parts, notes),
        uncovered=uncovered,
        n_rounds=n_rounds,
    )


def _synthesis(parts: Sequence[str], notes: _Notes) -> str:
    """Return one line for each part: the places that cover it best, or that none does."""
    lines = []
    for part in parts:
        question = notes.question(part)
        rated = [(question.coverage([searchable_text(hit)]), hit) for hit in notes.hits]
        rated.sort(key=lambda pair: (-pair[0], -pair[1].score, pair[1].chunk.id))
        places = [_place(hit) for share, hit in rated[:2] if share >= FOUND]
        lines.append(f"{part}: {'; '.join(places) if places else 'nothing found'}")
    return "\n".join(lines)


def _place(hit: Hit) -> str:
    trail = " > ".join((hit.document.title, *hit.chunk.heading_path))
    return f"{trail} ({hit.document.path}:{hit.chunk.line_start}-{hit.chunk.line_end})"


def _queries(parts: Sequence[str], notes: _Notes) -> Iterator[str]:
    for part in parts:
        for query in (_open_words(part, notes), _feedback(part, notes)):
            if query and query != part and query not in notes.asked:
                yield query


def _open_words(part: str, notes: _Notes) -> str:
    """Return the words of a part that stand in the index but in none of the hits."""
    found: set[str] = set().union(*(token_set(searchable_text(hit)) for hit in notes.hits))
    open_tokens = [t for t in notes.question(part).rarity if t not in found]
    frequency = notes.reader.document_frequency(open_tokens)
    missing = {t for t in open_tokens if frequency.get(t, 0)}
    words = [w for w in part.split() if missing.intersection(query_tokens(w))]
    return " ".join(words[:_OPEN_WORDS])


def _feedback(part: str, notes: _Notes) -> str:
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
