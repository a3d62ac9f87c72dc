"""Questions in another language than the documents': translated for the search, or said so."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fingerpost.decide.chat_fence import fill_fenced
from fingerpost.errors import LaneError
from fingerpost.lanes.base import ChatModel
from fingerpost.lanes.structured import ask_json
from fingerpost.prompts import load_prompt
from fingerpost.text.language import detect_language
from fingerpost.types.chat import ChatRequest, Message

if TYPE_CHECKING:
    from fingerpost.retrieve.run import Run

_ENOUGH: Final = 0.2
_MOSTLY: Final = 0.5
_LONGEST: Final = 1_000
_TOKENS_EACH: Final = 120
_TOKENS_MORE: Final = 60
_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {"translations": {"type": "array", "items": {"type": "string"}}},
    "required": ["translations"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Translator:
    """Asks a chat model for questions in the language of the documents.

    Attributes:
        chat: The model.
        deadline: When a call must have ended, by the lane's clock; ``None`` for no limit.
        query_id: For events.
    """

    chat: ChatModel
    deadline: float | None = None
    query_id: str = ""

    async def translations(self, texts: Sequence[str], language: str) -> dict[str, str]:
        """Return text → translation, in one call.

        What comes back in another language than was asked for is left out, and so is a text that
        came back as it was.

        Args:
            texts: At least one, each shown up to 1,000 characters.
            language: ISO 639-1 code.

        Raises:
            LaneError: The model could not be asked, or its reply not be read.
        """
        shown = [text[:_LONGEST] for text in texts]
        prompt = fill_fenced(
            load_prompt("translate"),
            language=language,
            questions="\n".join(json.dumps(text, ensure_ascii=False) for text in shown),
        )
        request = ChatRequest(
            (Message("user", prompt),),
            job="translate",
            max_tokens=len(texts) * _TOKENS_EACH + _TOKENS_MORE,
            temperature=0.0,
            schema=_SCHEMA,
            deadline=self.deadline,
            query_id=self.query_id,
        )

        def read(value: object) -> list[str] | None:
            items = value.get("translations") if isinstance(value, dict) else value
            if not isinstance(items, list) or len(items) != len(texts):
                return None
            return [_one_line(item) for item in items]

        given = await ask_json(self.chat, request, read)
        return {
            text: translation
            for text, translation in zip(texts, given, strict=True)
            if translation.casefold() != text.casefold() and _fits(translation, language)
        }


def _one_line(item: object) -> str:
    return " ".join(item.split())[:_LONGEST] if isinstance(item, str) else ""


def _fits(translation: str, language: str) -> bool:
    """Return whether a text says something and nothing speaks against its language."""
    has_words = any(map(str.isalpha, translation))
    return has_words and detect_language(translation) in (language, "und")


def other_language(text: str, languages: Mapping[str, int]) -> str:
    """Return the language of most documents when the text's is another one, empty when not.

    Empty also when the text's language cannot be told, when a fifth of the documents is in it,
    or when no language has half of them.

    Args:
        text: A question.
        languages: ISO 639-1 code → number of chunks; ``und`` is left aside.
    """
    asked = detect_language(text)
    known = {code: n for code, n in languages.items() if code != "und" and n > 0}
    total = sum(known.values())
    if asked == "und" or not total or known.get(asked, 0) >= _ENOUGH * total:
        return ""
    main = max(known, key=lambda code: known[code])
    return main if known[main] >= _MOSTLY * total else ""


async def translate_stage(run: Run, texts: Sequence[str]) -> None:
    """Have the questions that need it translated, for the searches that follow.

    Without a model, or with one that fails (``translate-skip``), each is searched as it was
    asked, and a fallback says how little that is: ``cross-language-words`` when only what both
    languages write alike can match, ``cross-language-vectors`` when the embedding model knows
    both.
    """
    language = await run.in_thread(lambda: _target(run))
    if not language:
        return
    translator = run.tools.translate
    if translator is None:
        run.fall_back(*_without(run, language))
        return
    asked = [text for text in dict.fromkeys(texts) if text not in run.translated]
    if not asked:
        return
    started = time.perf_counter()
    reason = ""
    try:
        found = await translator.translations(asked, language)
        run.translated.update(found)
        if len(found) < len(asked):
            reason = f"no translation into {language!r} was written"
    except LaneError as error:
        reason = f"{type(error).__name__}: {error}"
    run.took("translate", started)
    if reason:
        run.fall_back("translate-skip", reason)
        run.fall_back(*_without(run, language))


def _target(run: Run) -> str:
    wanted = {code.casefold() for code in run.request.filters.languages}
    languages = run.reader.languages()
    if wanted:
        languages = {code: n for code, n in languages.items() if code.casefold() in wanted}
    return other_language(run.request.text, languages)


def _without(run: Run, language: str) -> tuple[str, str]:
    """Return the fallback of a search in the wrong language, and its reason."""
    asked, embedder = detect_language(run.request.text), run.tools.embedder
    said = f"the question is in {asked!r} and most documents are in {language!r}"
    has_vectors = embedder is not None and run.reader.info.n_vectors > 0
    if has_vectors and embedder is not None and {asked, language} <= embedder.languages:
        return "cross-language-vectors", f"{said}: its words hardly match, its vector does"
    return "cross-language-words", f"{said}: little more than what both write alike can match"
