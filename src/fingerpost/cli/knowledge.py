"""``fingerpost knowledge``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fingerpost.cli.failure import ANSWERED, OTHER
from fingerpost.cli.terminal import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fingerpost.capabilities.described import Described
    from fingerpost.knowledge import Entry
    from fingerpost.types.plan import SkippedCapability

_FOLDER = Path("src/fingerpost/knowledge")


@click.group(name="knowledge")
def knowledge_group() -> None:
    """What fingerpost knows about itself."""


@knowledge_group.command()
@click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    help="Checkout of the project (default: the one that this program runs from).",
)
@click.option(
    "--tools",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Also a file of tools, as MCP's tools/list or OpenAI's APIs have them; may be repeated.",
)
@click.option(
    "--skills",
    multiple=True,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Also a folder of skills, each with a SKILL.md; may be repeated.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 when a file is stale.")
def build(root: Path | None, tools: tuple[Path, ...], skills: tuple[Path, ...], check: bool) -> int:
    """Write the platform knowledge anew from the project's pages, docstrings and tables.

    The result is the same, byte for byte, for the same sources. Tools and skills stand in files
    of their own and stay as they are unless they are given.
    """
    found = _texts(_checkout(root), tools, skills)
    stale = [file for file, text in found.items() if not _holds(file, text)]
    for file in stale if not check else ():
        file.write_text(found[file], encoding="utf-8")
    names = ", ".join(plain(str(file)) for file in stale)
    if check and stale:
        again = ["fingerpost knowledge build", *([f"--root {root}"] if root else [])]
        again += [f"--tools {file}" for file in tools] + [f"--skills {place}" for place in skills]
        click.echo(f"stale: {names}; run: {plain(' '.join(again))}", err=True)
        return OTHER
    click.echo(f"written: {names or 'nothing, all is current'}")
    return ANSWERED


def _checkout(root: Path | None) -> Path:
    """Return the folder of the project.

    Raises:
        ConfigError: None is named, and the program runs from an installed package.
    """
    from fingerpost.errors import ConfigError

    own = Path(__file__).resolve().parents[3]
    if root is not None:
        return root
    if not (own / "pyproject.toml").is_file() or not (own / _FOLDER).is_dir():
        raise ConfigError(
            "platform knowledge is built from the project's sources, and this is an installed "
            "package, which has none",
            hint="Name a checkout of this version: fingerpost knowledge build --root FOLDER.",
        )
    return own


def _texts(root: Path, tools: tuple[Path, ...], skills: tuple[Path, ...]) -> dict[Path, str]:
    """Return file → what it is to hold."""
    from fingerpost.capabilities.catalogue import read_tools
    from fingerpost.capabilities.skills import read_skills
    from fingerpost.knowledge import Knowledge, to_json
    from fingerpost.knowledge.build import build as build_knowledge

    folder = root / _FOLDER
    found = {folder / "platform.json": to_json(build_knowledge(root))}
    if tools:
        entries = [entry for file in tools for entry in _entries(read_tools(file), "tools")]
        found[folder / "tools.json"] = to_json(Knowledge(_distinct(entries)))
    if skills:
        entries = [entry for place in skills for entry in _entries(read_skills(place), "skills")]
        found[folder / "skills.json"] = to_json(Knowledge(_distinct(entries)))
    return found


def _entries(found: Iterator[Described | SkippedCapability], category: str) -> Iterator[Entry]:
    """Yield an entry for each tool or skill; say which of them cannot be used."""
    from fingerpost.knowledge import Entry
    from fingerpost.types.plan import SkippedCapability

    kind = category.removesuffix("s")
    for item in found:
        if isinstance(item, SkippedCapability):
            click.echo(f"skipped: {plain(f'{item.where}: {item.reason}')}", err=True)
            continue
        takes = "".join(
            f"- `{name}`: {text}\n" if text else f"- `{name}`\n" for name, text in item.parameters
        )
        answer = f"{item.description or item.name}\n" + (f"\nIt takes:\n\n{takes}" if takes else "")
        name = item.capability.id
        yield Entry(f"{category}:{name}", f"What does the {kind} `{name}` do?", answer)


def _distinct(entries: list[Entry]) -> tuple[Entry, ...]:
    """Return the first entry of each id."""
    return tuple({entry.id: entry for entry in reversed(entries)}.values())


def _holds(file: Path, text: str) -> bool:
    try:
        return file.read_bytes() == text.encode("utf-8")
    except OSError:
        return False
