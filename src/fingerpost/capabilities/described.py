"""A capability with all that is said of it, and the bounds on what is taken of that."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from fingerpost.text.sentences import sentences
from fingerpost.types.plan import Capability

__all__ = ["Described", "InvalidDescriptionError", "describe"]

_ID: Final = re.compile(r"\w[\w.:/@+-]{0,127}")
_MAX_DESCRIPTION: Final = 4_000
_MAX_PARAMETERS: Final = 64
_MAX_PARAMETER: Final = 300
_MAX_SUMMARY: Final = 160
_MAX_EMBEDDED: Final = 300
_CASES: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Controls, and marks that reorder or hide text: in a list for a model or a terminal they lie.
_HIDDEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]+"
)


class InvalidDescriptionError(Exception):
    """What describes a capability cannot be used; the message is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Described:
    """A capability and the texts that it is found by.

    Attributes:
        capability: What may be recommended.
        name: Its id, and its title where it has one.
        description: All of it, up to 4,000 characters; may be empty.
        parameters: Name and description of each parameter; the description may be empty.
    """

    capability: Capability
    name: str
    description: str = ""
    parameters: tuple[tuple[str, str], ...] = ()

    @property
    def texts(self) -> tuple[str, str]:
        """Return what an embedding model reads: the summary, and the name with how it goes on.

        Both together find more than either alone or all of a long description.
        """
        said = _CASES.sub(" ", self.name).replace("_", " ").replace("-", " ")
        return self.capability.summary or said, f"{said}: {self.description[:_MAX_EMBEDDED]}"


def describe(
    kind: str,
    id_: object,
    *,
    title: object = "",
    description: object = "",
    parameters: tuple[tuple[str, str], ...] = (),
) -> Described:
    """Return a capability from texts of others, on one line each and cut to their bounds.

    Args:
        kind: ``skill``, ``tool`` or ``extension``.
        id_: Letters, digits and ``. _ : / @ + -``, at most 128 characters.
        title: A name for people; what is no text counts as none.
        description: What it does; what is no text counts as none.
        parameters: Names and descriptions of its parameters.

    Raises:
        InvalidDescriptionError: The id cannot be used, or nothing is said.
    """
    if not isinstance(id_, str) or not id_:
        raise InvalidDescriptionError("it has no name")
    if not _ID.fullmatch(id_) or ".." in id_:
        raise InvalidDescriptionError(f"{one_line(id_, 60)!r} is no usable name")
    called, does = one_line(title, _MAX_PARAMETER), one_line(description, _MAX_DESCRIPTION)
    kept = tuple(
        (one_line(name, _MAX_PARAMETER), one_line(text, _MAX_PARAMETER))
        for name, text in parameters[:_MAX_PARAMETERS]
    )
    name = f"{id_} {called}" if called and called != id_ else id_
    return Described(Capability(kind, id_, _summary(description) or called), name, does, kept)


def one_line(text: object, most: int) -> str:
    """Return text on one line without characters that hide or reorder, cut to ``most``."""
    if not isinstance(text, str):
        return ""
    line = " ".join(_HIDDEN.sub(" ", text[: 4 * most]).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _summary(description: object) -> str:
    """Return the first sentence, which stands before lists of arguments and examples."""
    text = description[:_MAX_DESCRIPTION] if isinstance(description, str) else ""
    first = next(iter(sentences(text)), None)
    return "" if first is None else one_line(text[first.start : first.end], _MAX_SUMMARY)
