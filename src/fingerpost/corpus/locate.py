"""What the user named (folders, files, globs) as roots with a name each."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from fingerpost.corpus.formats import (
    format_of,
    is_unsupported,
    sniffed_format,
    why_unsupported,
)
from fingerpost.corpus.site import SITE_FILES
from fingerpost.errors import ConfigError
from fingerpost.types.document import SkippedFile
from fingerpost.types.origin import Origin

_MAGIC = re.compile(r"[*?\[]")
_SET_SIGNS = re.compile(r"[\\\[&~|]|-(?=-)")  # special inside brackets for `re`, not for a glob


@dataclass(frozen=True, slots=True)
class CorpusRoot:
    """A folder that documents are taken from.

    Attributes:
        name: Name of the source, unique within a corpus.
        folder: Absolute path of the folder, symlinks in it resolved.
        include: Globs or file names relative to the folder (``*`` stays within a folder,
            ``**`` does not); empty for all supported files. The list of a saved site stands
            for the pages that it names.
        is_named: The host gave the name.
        origin: The commit that the folder holds, ``None`` of a folder of the user's own.
    """

    name: str
    folder: Path
    include: tuple[str, ...] = ()
    is_named: bool = False
    origin: Origin | None = None

    @property
    def shown(self) -> str:
        """Return the folder as people are shown it: a repository by its name."""
        return str(self.folder) if self.origin is None else self.name


def locate(
    paths: Sequence[str | Path], named: Mapping[str, str] = MappingProxyType({})
) -> tuple[list[CorpusRoot], list[SkippedFile]]:
    """Return the roots of the given paths, and the paths that give nothing.

    Files of one folder become one root. A folder inside another given folder is not taken
    twice, nor is a file inside a given folder. A folder is named after itself; where two have
    the same name, the folders above them are put before it.

    Args:
        paths: Folders, files or globs, relative to the working directory; ``~`` is expanded.
        named: Name of a source → its folder, file or glob.

    Raises:
        ConfigError: A named source shares files with another one or with ``paths``.
    """
    roots, skipped = _located(paths)
    for name, path in named.items():
        own, problems = _located([path])
        skipped.extend(problems)
        for root in own:
            _refuse_overlap(name, root, roots)
            roots.append(replace(root, name=name, is_named=True))
    return roots, skipped


def _refuse_overlap(name: str, root: CorpusRoot, others: Sequence[CorpusRoot]) -> None:
    for other in others:
        if other.name == name:
            raise ConfigError(f"sources: {name!r} is also the name of {other.folder}")
        if root.folder.is_relative_to(other.folder) or other.folder.is_relative_to(root.folder):
            raise ConfigError(
                f"sources: {name!r} at {root.folder} shares files with {other.name!r} at "
                f"{other.folder}",
                hint="Give each source a folder of its own, and list it once.",
            )


def _located(paths: Sequence[str | Path]) -> tuple[list[CorpusRoot], list[SkippedFile]]:
    folders: dict[Path, None] = {}
    included: dict[Path, list[str]] = {}
    skipped: list[SkippedFile] = []
    for given in paths:
        text = os.fspath(given)
        try:
            problem = _sort_in(text, folders, included)
        except (OSError, RuntimeError, ValueError) as error:  # no such user, too long, a NUL
            problem = "unreadable", getattr(error, "strerror", None) or str(error)
        except re.error as error:
            problem = "unreadable", f"not a usable pattern: {error}"
        if problem:
            skipped.append(SkippedFile(text, *problem))
    whole = [folder for folder in folders if not _covered(folder, folders)]
    partial = {
        folder: tuple(dict.fromkeys(patterns))
        for folder, patterns in included.items()
        if folder not in folders and not _covered(folder, folders)
    }
    roots = [(folder, ()) for folder in whole] + list(partial.items())
    names = _names([folder for folder, _ in roots])
    return [
        CorpusRoot(name, folder, include)
        for name, (folder, include) in zip(names, roots, strict=True)
    ], skipped


def _sort_in(
    text: str, folders: dict[Path, None], included: dict[Path, list[str]]
) -> tuple[str, str] | None:
    """Note what a path stands for; return why it stands for nothing (reason, detail)."""
    if not text:  # would be the working directory
        return "unreadable", "an empty path"
    path = Path(text).expanduser()
    if path.is_dir():
        folders[path.resolve()] = None
        return None
    if path.exists():
        problem = _file_problem(path)
        if not problem:
            included.setdefault(path.parent.resolve(), []).append(_literal(path.name))
        return problem
    if not _MAGIC.search(text):
        return "unreadable", "no such file or folder"
    folder, pattern = _split_glob(path)
    pattern_of(pattern)
    if not folder.is_dir():
        return "unreadable", "no such folder"
    included.setdefault(folder.resolve(), []).append(pattern)
    return None


def _literal(name: str) -> str:
    """Return a glob that only this name passes."""
    return _MAGIC.sub(lambda found: f"[{found[0]}]", name)


def _file_problem(path: Path) -> tuple[str, str] | None:
    if not path.is_file():
        return "not-regular", "neither a file nor a folder"
    if path.name in SITE_FILES or not path.suffix:
        return None
    if format_of(path.name) or sniffed_format(path.name):
        return None
    detail = f"{path.suffix} is no format that is read"
    return "unsupported", why_unsupported(path.name) if is_unsupported(path.name) else detail


def _split_glob(path: Path) -> tuple[Path, str]:
    """Return the folder before the first part with a wildcard, and the pattern after it."""
    parts = path.parts
    first = next(at for at, part in enumerate(parts) if _MAGIC.search(part))
    return Path(*parts[:first]) if first else Path(), PurePosixPath(*parts[first:]).as_posix()


def _covered(folder: Path, folders: dict[Path, None]) -> bool:
    """Tell whether another given folder already takes everything in this one."""
    return any(
        other != folder
        and folder.is_relative_to(other)
        and not any(is_ignored_folder(part) for part in folder.relative_to(other).parts)
        and not any(
            (above / ENVIRONMENT_MARK).exists()
            for above in (folder, *folder.parents)
            if above != other and above.is_relative_to(other)
        )
        for other in folders
    )


_IGNORED = frozenset({"node_modules", "__pycache__"})
# A folder below a root that holds this file is a virtual environment, whatever its name.
ENVIRONMENT_MARK = "pyvenv.cfg"


def is_ignored_folder(name: str) -> bool:
    """Tell whether a folder of that name is passed over: hidden, or made by tools."""
    return name.startswith(".") or name in _IGNORED


def _names(folders: Sequence[Path]) -> list[str]:
    """Return a name for each folder: its own, with as many folders above as make it unique."""
    names = [folder.name or "root" for folder in folders]
    depth = 1
    while len(set(names)) < len(names) and depth < max(len(folder.parts) for folder in folders):
        depth += 1
        taken = {name for name in names if names.count(name) > 1}
        names = [
            "/".join(folder.parts[1:][-depth:]) if name in taken else name
            for name, folder in zip(names, folders, strict=True)
        ]
    return names


def pattern_of(glob: str) -> re.Pattern[str]:
    """Return an expression for the relative POSIX paths that a glob stands for.

    Raises:
        re.error: A range in brackets runs backwards.
    """
    out: list[str] = []
    at = 0
    while at < len(glob):
        if glob.startswith("**/", at):
            out.append("(?:[^/]+/)*")
            at += 3
        elif glob.startswith("**", at):
            out.append(".*")
            at += 2
        elif glob[at] == "*":
            out.append("[^/]*")
            at += 1
        elif glob[at] == "?":
            out.append("[^/]")
            at += 1
        elif glob[at] == "[" and "]" in glob[at + 2 :]:
            end = glob.index("]", at + 2)
            inner = _SET_SIGNS.sub(r"\\\g<0>", glob[at + 1 : end])
            out.append(f"[{'^' + inner[1:] if inner[0] in '!^' else inner}]")
            at = end + 1
        else:
            out.append(re.escape(glob[at]))
            at += 1
    return re.compile("".join(out))


def may_hold(glob: str, parts: Sequence[str]) -> bool:
    """Tell whether a file somewhere below a folder can be one that a glob stands for.

    Args:
        glob: Relative to the root, as for `pattern_of`.
        parts: Names from the root down to the folder.
    """
    of_glob = glob.split("/")
    if len(of_glob) <= len(parts) and "**" not in glob:  # thousands of names may be given
        return False
    for part, wanted in zip(parts, of_glob, strict=False):
        if "**" in wanted:
            return True
        if not pattern_of(wanted).fullmatch(part):
            return False
    return len(of_glob) > len(parts)
