"""What the host's own code says of claims: for a limited time, checked, with one typed error.

Every function raises `VerificationError` when the hook fails, takes longer than ``seconds``, or
gives something else than it should.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager

from fingerpost.errors import VerificationError
from fingerpost.observe.hooks import call_hook
from fingerpost.verify.base import Entailment, EntailmentHook

ClaimHook = Callable[[str], Sequence[str] | Awaitable[Sequence[str]]]


async def hooked_claims(hook: ClaimHook, seconds: float, answer: str) -> list[str]:
    """Return the claims of an answer."""
    with _failures("claim extractor", seconds):
        return _texts(await call_hook(hook, None, seconds, answer))


async def entailment(hook: EntailmentHook, seconds: float, premise: str, claim: str) -> Entailment:
    """Return what the entailment hook says of a premise and a claim."""
    with _failures("entailment hook", seconds):
        return _entailment(await call_hook(hook, None, seconds, premise, claim))


@contextmanager
def _failures(hook: str, seconds: float) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise VerificationError(f"the {hook} took longer than {seconds:g} s") from error
    except Exception as error:
        raise VerificationError(f"the {hook} failed: {error}") from error


def _texts(said: object) -> list[str]:
    if isinstance(said, Sequence) and not isinstance(said, str):
        texts = [text for text in said if isinstance(text, str)]
        if len(texts) == len(said):
            return texts
    raise TypeError(f"it gave {type(said).__name__}, not a sequence of strings")


def _entailment(said: object) -> Entailment:
    if not isinstance(said, Entailment):
        raise TypeError(f"it gave {type(said).__name__}, not Entailment")
    return said
