"""What a chat model's reply says about typed questions. Reading it never raises."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from fingerpost.decide.chat_prompt import Lettered
from fingerpost.types.chat import ChatResponse, TokenLogprob

_LEAST_LABELLED = 0.2
_PERCENT = 100.0
# What tokenizers put for a leading blank, and whatever stands around the letter.
_AROUND = re.compile(r"[ĠĊ▁\W_]+")


def token_masses(response: ChatResponse, asked: Lettered) -> dict[str, float] | None:
    """Return the probability of each label at the token that answers, ``None`` without any.

    The variants of a letter (blank before it, small, with a bracket) are one. A letter that is
    not among the reported alternatives gets an even share of what they leave of 1, at most the
    least of them: lists are cut off. What other tokens have is missing from the sum.

    Args:
        response: A reply that was asked for with ``top_logprobs``.
        asked: What was asked, its keys as shown.
    """
    token = next((one for one in response.logprobs if _bare(one.token)), None)
    if token is None:
        return None
    listed = _listed(token)
    keys = {key.casefold(): label for key, label in asked.labels.items()}
    masses: dict[str, float] = {}
    for text, probability in listed.items():
        label = keys.get(_bare(text))
        if label is not None:
            masses[label] = masses.get(label, 0.0) + probability
    unlisted = [label for label in asked.labels.values() if label not in masses]
    left = max(0.0, 1.0 - sum(listed.values()))
    least = min(listed.values())
    return masses | {label: min(least, left / len(unlisted)) for label in unlisted}


def averaged(masses: Sequence[Mapping[str, float]]) -> tuple[dict[str, float], float] | None:
    """Return the distribution over the labels and the probability of all else.

    Args:
        masses: Of `token_masses`, one per order of the options; at least one.

    Returns:
        ``None`` when the letters have less than a fifth of the probability together: the model
        then says something else than an answer.
    """
    means = {label: sum(one[label] for one in masses) / len(masses) for label in masses[0]}
    labelled = min(1.0, sum(means.values()))
    if labelled < _LEAST_LABELLED:
        return None
    total = sum(means.values())
    return {label: mean / total for label, mean in means.items()}, 1.0 - labelled


def read_shares(value: object, asked: Sequence[Lettered]) -> list[dict[str, float]] | None:
    """Return each question's distribution from a JSON reply, ``None`` when one is missing.

    The numbers of a question are scaled to sum to 1, so that percents will do; what named
    options leave of 1 is shared by those that were not named. A question whose options all
    have 0 gets an empty distribution: nothing fits.

    Args:
        value: The JSON value of the reply.
        asked: The questions as shown, the first as ``q1``.
    """
    if not isinstance(value, Mapping):
        return None
    found = [_shares(value.get(f"q{n}"), one) for n, one in enumerate(asked, start=1)]
    return None if None in found else [shares for shares in found if shares is not None]


def _shares(told: object, asked: Lettered) -> dict[str, float] | None:
    if not isinstance(told, Mapping):
        return None
    keys = {key.casefold(): label for key, label in asked.labels.items()}
    given = {keys.get(str(key).strip().casefold()): number for key, number in told.items()}
    if len(given) < len(told) or not given or None in given:
        return None
    if not all(_is_amount(number) for number in given.values()):
        return None
    amounts = {str(label): float(number) for label, number in given.items()}
    whole = _PERCENT if sum(amounts.values()) > len(amounts) else 1.0
    unnamed = [label for label in asked.labels.values() if label not in amounts]
    left = max(0.0, whole - sum(amounts.values()))
    if sum(amounts.values()) > 0:
        amounts |= {label: left / len(unnamed) for label in unnamed}
    total = sum(amounts.values())
    return {label: amount / total for label, amount in amounts.items()} if total > 0 else {}


def _is_amount(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= _PERCENT


def _listed(token: TokenLogprob) -> dict[str, float]:
    """Return the reported tokens of one place with their probabilities, at most 1 together."""
    given = {**token.alternatives, token.token: token.logprob}
    listed = {text: math.exp(min(0.0, logprob)) for text, logprob in given.items()}
    return {text: p / max(1.0, sum(listed.values())) for text, p in listed.items()}


def _bare(token: str) -> str:
    return _AROUND.sub("", token).casefold()
