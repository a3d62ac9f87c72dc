"""What a host sets, checked when it is built in."""

from __future__ import annotations

from typing import Final, TypeVar

from fingerpost.errors import ConfigError

T = TypeVar("T")

LONGEST_DESCRIPTION: Final = 8_000
"""Characters of a description; a question about a longer one fits no decision model."""


def checked_probability(value: float, setting: str) -> float:
    """Return a probability.

    Raises:
        ConfigError: It is no number from 0 to 1; the message names the setting.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:
        raise ConfigError(f"{setting} is {value!r}, allowed is 0 to 1")
    return float(value)


def checked_count(value: int, setting: str) -> int:
    """Return a number of things.

    Raises:
        ConfigError: It is no whole number above 0; the message names the setting.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigError(f"{setting} is {value!r}, allowed is a whole number above 0")
    return value


def checked_text(value: str, setting: str) -> str:
    """Return a text.

    Raises:
        ConfigError: It is none, or blank; the message names the setting.
    """
    if not isinstance(value, str):
        raise ConfigError(f"{setting} is a {type(value).__name__}, allowed is text")
    if not value.strip():
        raise ConfigError(f"{setting} is blank")
    return value


def checked_description(value: str, setting: str) -> str:
    """Return a description.

    Raises:
        ConfigError: It is no text, blank, or too long; the message names the setting.
    """
    if len(checked_text(value, setting)) > LONGEST_DESCRIPTION:
        raise ConfigError(
            f"{setting} has {len(value):,} characters, allowed are {LONGEST_DESCRIPTION:,}"
        )
    return value


def checked_able(value: T, method: str, setting: str) -> T:
    """Return something that the host brings.

    Raises:
        ConfigError: It has no such method; the message names the setting.
    """
    if not callable(getattr(value, method, None)):
        raise ConfigError(f"{setting} is a {type(value).__name__}, which cannot {method}")
    return value
