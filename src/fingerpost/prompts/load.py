"""A prompt file, its places and its hash."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fingerpost.errors import ConfigError
from fingerpost.types.ids import digest

_PLACE = re.compile(r"\{\{([a-z_]+)\}\}")
_HASH_BYTES = 8


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text with places written ``{{name}}``.

    Attributes:
        name: Of the file, without its ending.
        text: With its places.
        fingerprint: Hash of the text; stands on the results that it shaped.
    """

    name: str
    text: str
    fingerprint: str

    def fill(self, **values: str) -> str:
        """Return the text with each place filled.

        Values go in as they are: what looks like a place inside one stays text.

        Raises:
            ConfigError: A place has no value, or a value no place.
        """
        places = set(_PLACE.findall(self.text))
        if places != values.keys():
            wrong = ", ".join(sorted(places ^ values.keys()))
            raise ConfigError(f"prompt {self.name!r}: places and values differ in {wrong}")
        return _PLACE.sub(lambda found: values[found.group(1)], self.text)


@cache
def load_prompt(name: str) -> Prompt:
    """Return a prompt that ships with the package: ``classify``, ``plan``, ``answer`` and so on.

    Raises:
        ConfigError: There is none of that name.
    """
    try:
        text = files("fingerpost.prompts").joinpath(f"{name}.md").read_text("utf-8").strip()
    except FileNotFoundError as error:
        raise ConfigError(f"there is no prompt {name!r}") from error
    return Prompt(name, text, digest(text, size=_HASH_BYTES))
