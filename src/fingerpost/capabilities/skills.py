"""Skills: folders with a ``SKILL.md``. Only its front matter is read; nothing in them is run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fingerpost.capabilities.described import Described, InvalidDescriptionError, describe
from fingerpost.corpus.decode import Undecodable, decode
from fingerpost.corpus.frontmatter import read_front_matter
from fingerpost.corpus.locate import CorpusRoot
from fingerpost.corpus.scan import Limits, Scan
from fingerpost.corpus.walk import FileRefusedError, why_refused
from fingerpost.types.plan import SkippedCapability

__all__ = ["read_skills"]

_NAME: Final = "SKILL.md"
_OPENED: Final = re.compile(r"\ufeff?(?:---|\+\+\+)[ \t]*[\r\n]")
_LIMITS: Final = Limits(
    max_file_bytes=1024 * 1024, max_files=10_000, max_total_bytes=64 * 1024 * 1024
)


def read_skills(folder: str | Path) -> Iterator[Described | SkippedCapability]:
    """Yield the skills of a folder, by path, or why one of them cannot be used.

    The folder holds a ``SKILL.md``, or folders that do, however deep. Links are not followed,
    hidden folders below it are passed over, and a file of more than 1 MiB is not read.
    """
    try:
        place = Path(folder).expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        yield SkippedCapability(str(folder), getattr(error, "strerror", None) or str(error))
        return
    if not place.is_dir():
        yield SkippedCapability(str(folder), "it is no folder")
        return
    root = CorpusRoot("skills", place, include=(_NAME, f"**/{_NAME}"))
    with Scan([root], _LIMITS) as scan:
        for opened, file in scan.files:
            shown = opened.shown(file.path)
            try:
                raw = opened.read(file, max_bytes=_LIMITS.max_file_bytes)
                yield _skill(raw, place.joinpath(*file.parts[:-1]).name)
            except (OSError, FileRefusedError) as error:
                yield SkippedCapability(shown, ": ".join(why_refused(error)))
            except InvalidDescriptionError as error:
                yield SkippedCapability(shown, str(error))
        for skipped in scan.skipped:
            yield SkippedCapability(skipped.path, f"{skipped.reason}: {skipped.detail}")


def _skill(raw: bytes, folder: str) -> Described:
    """Return the skill that a ``SKILL.md`` describes.

    Raises:
        InvalidDescriptionError: It has no front matter with a usable name and a description.
    """
    text = decode(raw)
    if isinstance(text, Undecodable):
        raise InvalidDescriptionError(f"{text.reason}: {text.detail}")
    front = read_front_matter(text.text)
    if front.end <= 1 and _OPENED.match(text.text):
        raise InvalidDescriptionError(
            "its front matter cannot be read: it is not closed, or no plain YAML or TOML"
        )
    said = front.metadata
    if not isinstance(said.get("description"), str):
        raise InvalidDescriptionError("its front matter has no description")
    return describe("skill", said.get("name", folder), description=said["description"])
