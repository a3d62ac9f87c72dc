"""What is known of a repository, kept in a file that anybody may have damaged."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter

from fingerpost.types.document import SkippedFile

_VERSION: Final = 1
_LATEST: Final = 253_402_214_400.0
"""Seconds from the epoch to the last day that a date can name."""
_Commit = Annotated[str, Field(pattern=r"\A([0-9a-f]{40}([0-9a-f]{24})?)?\z")]
_Time = Annotated[float, Field(ge=0.0, le=_LATEST)]


@dataclass(frozen=True, slots=True)
class MirrorState:
    """What is known of a repository.

    Attributes:
        name: Of its source.
        commit: Of the newest folder, empty when nothing was fetched.
        before: The commit before that, whose folder is kept for who reads it still.
        mark: What the server said of the commit, to be asked whether it still holds.
        fetched_at: When the folder was made, seconds since the epoch; 0 when none was.
        checked_at: When the server was last asked.
        n_files: Files in the folder.
        files: Path and size of each; a folder that differs is fetched anew.
        n_left_out: Documents beyond the limits.
        skipped: What was passed over, the first 200.
        error: Why the last check failed, empty when it did not.
        hint: What to do about it.
    """

    name: str
    commit: _Commit = ""
    before: _Commit = ""
    mark: str = ""
    fetched_at: _Time = 0.0
    checked_at: _Time = 0.0
    n_files: int = 0
    files: tuple[tuple[str, int], ...] = ()
    n_left_out: int = 0
    skipped: tuple[SkippedFile, ...] = ()
    error: str = ""
    hint: str = ""


_STATES: Final = TypeAdapter(MirrorState)


def read_state(place: Path, name: str) -> MirrorState:
    """Return the state in a file; one in which nothing is known when that is not to be had."""
    with suppress(OSError, ValueError, RecursionError):
        found: Any = json.loads(place.read_bytes())
        if isinstance(found, dict) and (found.pop("version", 0), found.get("name")) == (
            _VERSION,
            name,
        ):
            # The name of a folder need not be text that pydantic takes.
            return replace(_STATES.validate_python({**found, "name": ""}), name=name)
    return MirrorState(name)


def write_state(state: MirrorState, place: Path, prefix: str) -> None:
    """Replace the file in one step.

    Args:
        state: What is known.
        place: The file.
        prefix: Of the name of the file that is filled first, in the same folder.

    Raises:
        OSError: It cannot be written; the file is as it was.
    """
    content = json.dumps({"version": _VERSION, **asdict(state)}, ensure_ascii=True)
    descriptor, name = tempfile.mkstemp(prefix=prefix, dir=place.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(content)
        Path(name).replace(place)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
