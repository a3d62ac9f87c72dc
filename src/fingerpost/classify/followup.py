"""A follow-up is rewritten to stand alone, from the conversation, without a model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fingerpost.classify.dependence import is_acceptance, is_chatter, leans_on_history
from fingerpost.classify.words import filler_words, unspaced_characters, words_of
from fingerpost.types.query import Turn

_MAX_TURNS_BACK = 6
_MAX_TERMS = 8
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


def rewrite_follow_up(text: str, history: Sequence[Turn]) -> str | None:
    """Return the question made to stand alone, ``None`` when it stands alone already.

    What is missing is added in brackets after the question as it was asked: 'and for Windows?
    (install the CLI on macOS)'. A bare 'yes' after an offer of the assistant becomes what was
    offered. Only words of the conversation are added, so the language stays its own.

    Args:
        text: The question.
        history: Earlier turns, oldest first.
    """
    asked = text.strip()
    if not asked or not history or len(asked) > _READ or _repeats_first(asked, history):
        return None
    if is_acceptance(asked):
        offer = _offer(history)
        return _bracketed(asked, offer) if offer else None
    if is_chatter(asked) or not leans_on_history(asked, _texts(history)):
        return None
    topic = _topic(asked, history)
    return _bracketed(asked, topic) if topic else None


def accepts_offer(text: str, history: Sequence[Turn]) -> bool:
    """Return whether the text agrees to something that the assistant has just offered."""
    return bool(history) and is_acceptance(text) and bool(_offer(history))


def _texts(history: Sequence[Turn]) -> list[str]:
    """Return what was said, cut to what is worth reading."""
    return [turn.text[:_READ] for turn in history]


def _repeats_first(asked: str, history: Sequence[Turn]) -> bool:
    """Return whether it repeats the question that opened the conversation."""
    first = next((turn.text for turn in history if turn.role == "user"), "")
    return words_of(asked) == words_of(first[: 2 * _READ])


def _bracketed(asked: str, topic: str) -> str:
    """Return question and topic in one line."""
    return f"{asked} ({topic})"


def _offer(history: Sequence[Turn]) -> str:
    """Return what the last turn offers, empty when it is no offer or not the assistant's."""
    last = history[-1]
    if last.role != "assistant":
        return ""
    found = _OFFER.findall(last.text[-_OFFER_WINDOW:])
    if not found:
        return ""
    return _OFFER_OPENING.sub("", found[-1].strip(_EDGES)).strip(_EDGES)


def _topic(asked: str, history: Sequence[Turn]) -> str:
    """Return the phrases of earlier user turns that the question leans on, nearest last.

    Walks back to the nearest turn that stands alone. The question that opened the conversation
    is named as well: it mostly holds the subject, and leaving it out found less.
    """
    users = [
        (position, turn.text[:_READ])
        for position, turn in enumerate(history)
        if turn.role == "user" and not is_chatter(turn.text[:_READ])
    ]
    known = set(words_of(asked))
    nearest = ""
    anchor = ""
    for position, said in reversed(users[-_MAX_TURNS_BACK:]):
        phrase = _phrase(said, known)
        anchor = phrase or anchor
        nearest = nearest or phrase
        known.update(words_of(phrase))
        if phrase and not leans_on_history(said, _texts(history[:position])):
            break
    opening = _phrase(users[0][1], known) if users else ""
    return "; ".join(phrase for phrase in dict.fromkeys((opening, anchor, nearest)) if phrase)


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
