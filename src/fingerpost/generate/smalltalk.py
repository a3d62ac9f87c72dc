"""Replies to greetings, thanks and the like, in the language of the message."""

from __future__ import annotations

import re
from functools import lru_cache

from fingerpost.generate.phrases import phrase, phrases
from fingerpost.types import Answer, GenerationMode

_WORD = re.compile(r"\w+")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ABOUT_US = re.compile(
    r"\b(?:who|what) (?:are|r) (?:you|u)\b|\byour name\b|\bwhat can you do\b|\bhelp\b"
    r"|\bwer bist du\b|\bwer sind sie\b"
    r"|\bwie hei(?:ß|ss)t du\b|\bwas kannst du\b|\bqui[eé]n eres\b|\bc[oó]mo te llamas\b"
    r"|\bqui es[- ]tu\b|\bqui [eê]tes[- ]vous\b"
    r"|\bchi sei\b|\bquem é você\b|\bwie ben je\b|\bvem är du\b|\bkim jesteś\b|\bkdo jsi\b"
    r"|\bкто ты\b|\bкто вы\b|\bхто ти\b"
    r"|\bποιος είσαι\b|\bsen kimsin\b|\bcine ești\b|من أنت|تو کی هستی|מי אתה|(?:तुम|आप) कौन"
    r"|คุณคือใคร|bạn là ai|\bsiapa kamu\b"
    r"|你是谁|您是谁|你叫什么|あなたは誰|누구(?:세요|야|입니까)",
    re.IGNORECASE,
)


def small_talk(text: str, language: str) -> Answer:
    """Return a short reply that says what the product can do.

    Args:
        text: The message; never repeated in the reply.
        language: Of the message, ISO 639-1; languages without phrases get English.
    """
    kind = _kind(text)
    parts = [phrase(kind, language)] if kind else []
    if kind not in {"thanks", "goodbye"}:
        parts.append(phrase("abilities", language))
    return Answer(" ".join(parts), GenerationMode.SMALL_TALK)


def _kind(text: str) -> str:
    """Return ``identity``, ``thanks``, ``goodbye``, ``greeting``, or nothing."""
    if _ABOUT_US.search(text):
        return "identity"
    folded = text.casefold()
    words = set(_WORD.findall(folded))
    for kind in ("thanks", "goodbye", "greeting"):
        spaced, unspaced = _cues(kind)
        if words & spaced or any(cue in folded for cue in unspaced):
            return kind
    return ""


@lru_cache(maxsize=4)
def _cues(kind: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return cue words, and those of scripts that part no words."""
    words = phrases()[f"cue_{kind}"]["any"].split()
    unspaced = tuple(word for word in words if _UNSPACED.search(word))
    return frozenset(words), unspaced
