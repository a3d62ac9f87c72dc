"""Why a corpus gave no text: each path that the user named, with what was skipped of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fingerpost.corpus.formats import format_of, is_unsupported
from fingerpost.corpus.locate import CorpusRoot, locate, may_hold, pattern_of
from fingerpost.corpus.walk import readable
from fingerpost.types.document import SkippedFile

_NO_PATH = "''"


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A path that was named and gave no text.

    Attributes:
        path: As the user wrote it.
        skipped: What was skipped of it, never empty: the path itself where nothing in it was
            a document.
    """

    path: str
    skipped: tuple[SkippedFile, ...]

    def __str__(self) -> str:
        """Return one line for people: each reason with its number and an example."""
        first: dict[str, SkippedFile] = {}
        for item in self.skipped:
            first.setdefault(item.reason, item)
        if [item.path for item in self.skipped] == [self.path]:
            parts = [_with_detail(reason, item) for reason, item in first.items()]
        else:
            counts = Counter(item.reason for item in self.skipped)
            parts = [
                f"{counts[reason]} {reason}, such as {_with_detail(item.path, item)}"
                for reason, item in first.items()
            ]
        return f"{self.path or _NO_PATH}: {', and '.join(parts)}"


def shortfalls(paths: Sequence[str | Path], skipped: Sequence[SkippedFile]) -> list[Shortfall]:
    """Return the paths of a corpus that gave no text, in their order, with the reasons.

    Args:
        paths: The paths as they were named; none of them gave any.
        skipped: What a pass over them skipped.
    """
    return [_shortfall(str(path), skipped) for path in paths]


def _shortfall(path: str, skipped: Sequence[SkippedFile]) -> Shortfall:
    roots, unlocated = locate([path])
    if unlocated:
        return Shortfall(path, tuple(unlocated))
    (root,) = roots
    concerned = tuple(item for item in skipped if _concerns(root, item.path))
    if concerned:
        return Shortfall(path, concerned)
    what = "no document matches it" if root.include else "no file of a format that is read"
    return Shortfall(path, (SkippedFile(path, "empty", what),))


def _concerns(root: CorpusRoot, path: str) -> bool:
    """Tell whether a skipped file, or a folder that was passed over, lies in a root."""
    folder = readable(str(root.folder)).rstrip("/")
    if path != folder and not path.startswith(f"{folder}/"):
        return False
    below = path[len(folder) :].lstrip("/")
    is_file = format_of(below) or is_unsupported(below)
    if not root.include:
        return True
    parts = below.split("/") if below else []
    return any(
        pattern_of(glob).fullmatch(below) if is_file else may_hold(glob, parts)
        for glob in root.include
    )


def _with_detail(text: str, item: SkippedFile) -> str:
    return f"{text} ({item.detail})" if item.detail else text
