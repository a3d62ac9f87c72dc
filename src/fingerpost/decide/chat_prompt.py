"""Typed questions as a chat model is asked them: fenced as data, their options lettered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from fingerpost.decide.chat_fence import fill_fenced, one_line, shown
from fingerpost.lanes.asked import labels_of
from fingerpost.prompts import load_prompt
from fingerpost.types.chat import ChatRequest, Message
from fingerpost.types.question import Choice, DecisionInput, Question, YesNo

_ANSWER_TOKENS = 4
_ENTRY_TOKENS = 12


@dataclass(frozen=True, slots=True)
class Lettered:
    """A question whose options stand in one order, each behind a key.

    Attributes:
        question: The question.
        labels: Key → label of `labels_of`, in the order shown. Keys are letters, or numbers
            from 1 when there are more than 26 options.
    """

    question: Question
    labels: dict[str, str]


def lettered(question: Question, labels: Sequence[str] | None = None) -> Lettered:
    """Return the question with a key for each option.

    Args:
        question: The question.
        labels: All of `labels_of` in another order; ``None`` takes their own.
    """
    ordered = labels_of(question) if labels is None else labels
    has_letters = len(ordered) <= len(ascii_uppercase)
    keys = ascii_uppercase if has_letters else [str(n) for n in range(1, len(ordered) + 1)]
    return Lettered(question, dict(zip(keys, ordered, strict=False)))


def orders_of(question: Question, count: int) -> list[tuple[str, ...]]:
    """Return at most ``count`` different orders of the question's labels, its own one first.

    Each is followed by its reverse, so that an even number favours no place. The levels of a
    score are only ever rising or falling.
    """
    labels = labels_of(question)
    n_turns = -(-count // 2) if isinstance(question, Choice) else 1
    starts = [turn * len(labels) // n_turns for turn in range(n_turns)]
    turned = [labels[start:] + labels[:start] for start in starts]
    return list(dict.fromkeys(order for one in turned for order in (one, one[::-1])))[:count]


@dataclass(frozen=True, slots=True)
class Asking:
    """What all requests of one call share.

    Attributes:
        input: What the questions are about.
        deadline: When the call must have ended, by the lane's clock.
        query_id: For events.
    """

    input: DecisionInput
    deadline: float | None
    query_id: str

    def for_letter(self, asked: Lettered, *, top_logprobs: int) -> ChatRequest:
        """Return the request for the letter of one question's answer."""
        text = one_line(asked.question.text)
        return self._request(
            "decide",
            {"question": text, "options": _options(asked), "letters": ", ".join(asked.labels)},
            max_tokens=_ANSWER_TOKENS,
            top_logprobs=top_logprobs,
        )

    def for_json(self, asked: Sequence[Lettered]) -> ChatRequest:
        """Return the request for the probabilities of all options of all questions."""
        listed = [
            f"q{n}. {one_line(one.question.text)}\n{_options(one)}"
            for n, one in enumerate(asked, start=1)
        ]
        n_entries = sum(len(one.labels) + 1 for one in asked) + 1
        return self._request(
            "decide_all",
            {"questions": "\n\n".join(listed)},
            max_tokens=n_entries * _ENTRY_TOKENS,
            schema=_schema(asked),
        )

    def _request(
        self,
        name: str,
        values: dict[str, str],
        *,
        max_tokens: int,
        top_logprobs: int = 0,
        schema: dict[str, object] | None = None,
    ) -> ChatRequest:
        filled = fill_fenced(load_prompt(name), input=shown(self.input), **values)
        return ChatRequest(
            (Message("user", filled),),
            job="decide",
            max_tokens=max_tokens,
            temperature=0.0,
            schema=schema,
            top_logprobs=top_logprobs,
            deadline=self.deadline,
            query_id=self.query_id,
        )


def _options(asked: Lettered) -> str:
    return "\n".join(
        f"{key}) {_told(asked.question, label)}" for key, label in asked.labels.items()
    )


def _told(question: Question, label: str) -> str:
    if isinstance(question, YesNo):
        description = question.yes if label == "yes" else question.no
    elif isinstance(question, Choice):
        description = question.options[label]
    else:
        return one_line(question.levels[int(label)])
    return one_line(f"{label}: {description}" if description else label)


def _schema(asked: Sequence[Lettered]) -> dict[str, object]:
    def closed(properties: dict[str, object]) -> dict[str, object]:
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    return closed(
        {
            f"q{n}": closed({key: {"type": "number"} for key in one.labels})
            for n, one in enumerate(asked, start=1)
        }
    )
