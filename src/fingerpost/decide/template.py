"""The template of the question that is asked about each source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from fingerpost.errors import ConfigError

_VARIABLE: Final = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_KNOWN: Final = "description"


@dataclass(frozen=True, slots=True)
class QuestionTemplate:
    """A question with a place for the description of a source.

    Attributes:
        text: Holds ``{{description}}`` at least once and no other ``{{variable}}``.

    Raises:
        ConfigError: It does not.
    """

    text: str

    def __post_init__(self) -> None:
        """Refuse a template that asks the same of every source, or needs what nobody gives."""
        if not isinstance(self.text, str):
            raise ConfigError(f"question_template is {self.text!r}, allowed is text")
        named = [name.strip() for name in _VARIABLE.findall(self.text)]
        unknown = sorted({name for name in named if name != _KNOWN})
        if unknown:
            listed = ", ".join(f"{{{{{name}}}}}" for name in unknown)
            raise ConfigError(
                f"question_template has the unknown variable {listed},"
                " allowed is {{description}} alone"
            )
        if not named:
            raise ConfigError("question_template must contain {{description}}")

    def about(self, description: str) -> str:
        """Return the question about a source. Braces in the description stay as they are."""
        return _VARIABLE.sub(lambda _: description, self.text)
