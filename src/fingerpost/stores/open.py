"""From the name of an index to the store that holds it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from fingerpost.errors import ConfigError

if TYPE_CHECKING:
    from fingerpost.stores.base import Store

_POSTGRES = ("postgres://", "postgresql://")
_FILE = "file://"


def open_store(location: str | Path) -> Store:
    """Return the store at a folder or URL; nothing is created before something is written.

    Args:
        location: A folder, ``file:///folder``, or ``embedded:folder``.

    Raises:
        ConfigError: The URL names a kind of store that is not part of this version, or no file
            system can have such a name.
    """
    text = str(location)
    if text.startswith(_POSTGRES):
        raise ConfigError(
            "Setting store: Postgres is not in this version; give a folder.",
            hint="Leave the setting out to keep the index beside the corpus.",
        )
    if not text.strip():
        raise ConfigError("Setting store: '' is no folder.", hint="Name a folder.")
    _require_path(text)
    if isinstance(location, str):
        text = text.removeprefix(_FILE).removeprefix("embedded:")
        scheme, separator, _ = text.partition("://")
        if separator:
            raise ConfigError(
                f"Setting store: {scheme!r} is no known kind of store; give a folder.",
                hint="A folder, or file:///folder.",
            )
    from fingerpost.stores.embedded import EmbeddedStore  # noqa: PLC0415 - loaded when used

    return EmbeddedStore(Path(text))


def _require_path(text: str) -> None:
    try:
        usable = b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise ConfigError(
            f"Setting index_dir: {text!r:.200} cannot be the name of a folder.",
            hint="Name a folder without NUL and broken characters.",
        )
