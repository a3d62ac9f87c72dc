"""A follow-up is rewritten to stand alone, from the conversation, without a model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fingerpost.classify.dependence import is_acceptance, is_chatter, leans_on_history
from fingerpost.classify.substitute import (
    joined_pair,
    names_newcomer,
    substituted,
    takes_up_two,
)
from fingerpost.classify.words import filler_words, unspaced_characters, words_of
from fingerpost.types.query import Turn

_MAX_TURNS_BACK = 6
_MAX_TERMS = 8
_LONGEST_TITLE = 6
_LONGEST_PHRASE = 10
_LONGEST_UNSPACED = 40
_OFFER_WINDOW = 400
_READ = 2_000
_TOKEN = re.compile(r"`[^`]+`|\S+")
_NAME = re.compile(
    r"`[^`]+`|[\"“][^\"”]{2,60}[\"”]"
    r"|\b[A-ZÀ-ÞА-Я][\w&+#'’.-]*"
    r"(?: (?:of (?:the )?|the |and |de |von )?[A-ZÀ-ÞА-Я0-9][\w&+#'’.-]*)*"
)
_EDGES = " \t\r\n?!.,;:\"'“”‘’()[]。？！，、；：؟"
_BRACKETS = re.compile(r"\s*[()（）]\s*")
_OFFER = re.compile(
    r"[^.!?。！？\n]*(?:\?|？|؟)"
    r"|[^.!?\n]*\b(?:i can|i could|let me know if|would you like)\b[^.!?\n]*",
    re.IGNORECASE,
)
_OFFER_OPENING = re.compile(
    r"^(?:so|well|also|if you (?:like|want),?)?\s*"
    r"(?:would you like(?: me)?(?: to)?|do you want(?: me)?(?: to)?"
    r"|shall i|should i|may i|can i|i can(?: also)?|i could(?: also)?|let me know if you"
    r"(?: would like(?: me)?(?: to)?| want(?: me)?(?: to)?)?|soll ich|möchtest du|¿?quieres que"
    r"|veux-tu que|voulez-vous que|vuoi che|quer que)\s+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Question:
    """An earlier question as understood; whether it still leans, whether it replaced a thing."""

    text: str
    leans: bool
    replaced: bool = False


def rewrite_follow_up(text: str, history: Sequence[Turn]) -> str | None:
    """Return the question made to stand alone, ``None`` when it stands alone already.

    A follow-up that names another thing takes the place of the old one: 'and for Windows?' after
    'How do I install it on macOS?' is 'How do I install it on Windows?'. 'The two' become what
    was spoken of last. Anything else keeps its wording, and what is missing is added in one pair
    of brackets at the end: 'how do I remove it? (install the CLI)'. A bare 'yes' after an offer
    of the assistant gets what was offered. Only words of the conversation are added, so the
    language stays its own.

    Args:
        text: The question.
        history: Earlier turns, oldest first.
    """
    asked = text.strip()
    if not asked or not history or len(asked) > _READ or repeats_first(asked, history):
        return None
    if is_acceptance(asked):
        offer = _offer(history)
        return _bracketed(asked, offer) if offer else None
    if is_chatter(asked):
        return None
    questions = _resolved(history)
    if paired := joined_pair(asked, [question.text for question in questions]):
        return paired
    if not takes_up_two(asked) and not leans_on_history(asked, _texts(history)):
        return None
    return _put_in_place(asked, questions, _texts(history)) or _with_topic(
        asked, questions, history
    )


def accepts_offer(text: str, history: Sequence[Turn]) -> bool:
    """Return whether the text agrees to something that the assistant has just offered."""
    return bool(history) and is_acceptance(text) and bool(_offer(history))


def _texts(history: Sequence[Turn]) -> list[str]:
    """Return what was said, cut to what is worth reading."""
    return [turn.text[:_READ] for turn in history]


def repeats_first(asked: str, history: Sequence[Turn]) -> bool:
    """Return whether it repeats the question that opened the conversation."""
    first = next((turn.text for turn in history if turn.role == "user"), "")
    return words_of(asked) == words_of(first[: 2 * _READ])


def _bracketed(asked: str, topic: str) -> str:
    """Return question and topic in one line; the only brackets at its end are the topic's."""
    return f"{asked} ({_BRACKETS.sub(' ', topic).strip()})"


def _offer(history: Sequence[Turn]) -> str:
    """Return what the last turn offers, empty when it is no offer or not the assistant's."""
    last = history[-1]
    if last.role != "assistant":
        return ""
    found = _OFFER.findall(last.text[-_OFFER_WINDOW:])
    if not found:
        return ""
    return _OFFER_OPENING.sub("", found[-1].strip(_EDGES)).strip(_EDGES)


def _resolved(history: Sequence[Turn]) -> list[_Question]:
    """Return the user's last questions, oldest first, those that name another thing in full."""
    users = [
        (position, turn.text[:_READ])
        for position, turn in enumerate(history)
        if turn.role == "user" and not is_chatter(turn.text[:_READ])
    ]
    texts = _texts(history)
    found: list[_Question] = []
    for position, said in users[-_MAX_TURNS_BACK:]:
        earlier = texts[:position]
        leans = leans_on_history(said, earlier)
        full = _put_in_place(said, found, earlier) if leans else None
        found.append(_Question(full or said, leans and full is None, full is not None))
    return found


def _put_in_place(asked: str, questions: Sequence[_Question], said: Sequence[str]) -> str | None:
    """Return the nearest full question with its thing replaced by the one asked about now."""
    nearest = next((question.text for question in reversed(questions) if not question.leans), None)
    return None if nearest is None else substituted(asked, nearest, said)


def _opening(asked: str, full: _Question, history: Sequence[Turn], known: set[str]) -> str:
    """Return the topic of the conversation's first turn where it is still the topic, else ''.

    So it is for a title, for a first question that shares words with the full question nearest
    by, and for a full question that names nothing, unless the follow-up is a bare newcomer to it.
    """
    first = next((turn.text[:_READ] for turn in history if turn.role == "user"), "")
    if is_chatter(first):
        return ""
    titled = "?" not in first and len(words_of(first)) <= _LONGEST_TITLE
    fillers = filler_words(first) | filler_words(full.text)
    shared = (set(words_of(first)) & set(words_of(full.text))) - fillers
    bare = not names_newcomer(asked) and not _names(full.text, fillers)
    still = titled or ((shared or bare) and not full.replaced)
    return _phrase(first, known) if still else ""


def _with_topic(asked: str, questions: Sequence[_Question], history: Sequence[Turn]) -> str | None:
    """Return the question with the phrases it leans on: back to the nearest full question."""
    known = set(words_of(asked))
    phrases: list[str] = []
    for question in reversed(questions):
        phrase = _phrase(question.text, known)
        if phrase:
            phrases.append(phrase)
            known.update(words_of(phrase))
        if phrase and not question.leans:
            break
    full = next((question for question in reversed(questions) if not question.leans), None)
    opening = _opening(asked, full or _Question("", leans=True), history, known)
    # The full question and the last one: what lies between repeats either.
    kept = [phrase for phrase in dict.fromkeys((opening, *phrases[-1:], *phrases[:1])) if phrase]
    return _bracketed(asked, "; ".join(kept)) if kept else None


def _names(said: str, fillers: frozenset[str]) -> list[str]:
    """Return the capitalised names inside a question, each once, in order."""
    bare = said.strip()
    names: list[str] = []
    for match in _NAME.finditer(bare):
        words = match.group().strip(_EDGES).split()
        while words and fillers.issuperset(words_of(words[0])):
            words = words[1:]
        opens = match.start() == 0 and len(words) == 1
        if words and not opens:
            names.append(" ".join(words))
    return list(dict.fromkeys(names))


def _phrase(said: str, known: set[str]) -> str:
    """Return the part of a question that carries its topic, empty when it adds nothing."""
    if unspaced_characters(said):
        bare = said.strip(_EDGES)[:_LONGEST_UNSPACED]
        return "" if bare in known else bare
    fillers = filler_words(said)
    tokens = [(token, words_of(token)) for token in _TOKEN.findall(said)]
    carrying = [
        position
        for position, (_, words) in enumerate(tokens)
        if any(word not in fillers for word in words)
    ]
    if not any(word not in known | fillers for place in carrying for word in tokens[place][1]):
        return ""
    short = carrying[-1] - carrying[0] < _LONGEST_PHRASE
    named = [] if short else _names(said, fillers)
    if named:
        return ", ".join(named)
    chosen = range(carrying[0], carrying[-1] + 1) if short else carrying[-_MAX_TERMS:]
    return " ".join(tokens[place][0].strip(_EDGES) for place in chosen)


def earlier_questions(history: Sequence[Turn], limit: int = 2) -> tuple[str, ...]:
    """Return the user's last questions, oldest first, at most ``limit``.

    Retrieval lets them count a little, so that a question that leans on them without showing
    it finds its topic.
    """
    return tuple(turn.text for turn in history if turn.role == "user")[-limit:]
