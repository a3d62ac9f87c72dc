"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from fingerpost.config.load import LoadedConfig
    from fingerpost.router import QueryRouter

Load = Callable[..., "LoadedConfig"]
"""Takes paths and further settings; returns the settings of the command."""


class NoPathError(click.UsageError):
    """No PATH was given, and no setting names the corpus."""

    def __init__(self) -> None:
        super().__init__(
            "give a PATH: a folder, a file or a glob, or a repository (or set knowledge_corpus or "
            "sources in fingerpost.toml)"
        )


def corpus_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options that say how the corpus is read; the command gets one argument ``load``."""

    @wraps(command)
    def run(
        *arguments: Any,
        config_file: Path | None,
        index_dir: Path | None,
        embedder: str,
        **options: Any,
    ) -> int:
        load = partial(_load, config_file=config_file, index_dir=index_dir, embedder=embedder)
        return command(*arguments, load=load, **options)

    for option in reversed(
        (
            click.option(
                "--config",
                "config_file",
                type=click.Path(path_type=Path, dir_okay=False),
                help="Settings file (default: fingerpost.toml here, if there is one).",
            ),
            click.option(
                "--index-dir",
                type=click.Path(path_type=Path, file_okay=False),
                help="Folder of the index (default: .fingerpost in a single folder, "
                "else the user's cache).",
            ),
            click.option(
                "--embedder",
                type=click.Choice(["auto", "none", "minilm", "use"]),
                default="auto",
                show_default=True,
                help="Local embedding model; none searches by words alone.",
            ),
        )
    ):
        run = option(run)
    return run


def _load(
    paths: tuple[str, ...],
    *,
    config_file: Path | None,
    index_dir: Path | None,
    embedder: str,
    update: str = "missing",
    **more: Any,
) -> LoadedConfig:
    """Return the settings of a command.

    Args:
        paths: As they were given: ``github:owner/name`` and ``git+ADDRESS`` are repositories.
        config_file: Settings file.
        index_dir: Folder of the index.
        embedder: Local embedding model, or ``auto``.
        update: When repositories are asked for new commits; see `RepoIndexConfig.update`.
        more: Further settings.
    """
    from fingerpost.config.load import load_config
    from fingerpost.config.repository import GIT_PREFIX, GITHUB_PREFIX
    from fingerpost.errors import ConfigError

    repositories = [path for path in paths if path.startswith((GITHUB_PREFIX, GIT_PREFIX))]
    folders = [path for path in paths if path not in repositories]
    given = {
        "knowledge_corpus": folders if paths else None,
        "sources": () if paths else None,
        "github_repos": {"repos": repositories} if repositories else None,
        "index_dir": None if index_dir is None else index_dir.absolute(),
        "embedding_provider": "none" if embedder == "none" else None,
        "embedding_model": embedder if embedder in ("minilm", "use") else None,
        **more,
    }
    try:
        loaded = load_config(given, file=config_file)
    except ConfigError as error:
        if str(error).startswith("knowledge_corpus is required"):
            raise NoPathError from None
        raise
    known = loaded.config.github_repos
    if known is None:
        return loaded
    chosen = {"update": update, **({"repos": ()} if paths and not repositories else {})}
    config = loaded.config.model_copy(update={"github_repos": known.model_copy(update=chosen)})
    return replace(loaded, config=config)


def require_text(router: QueryRouter) -> None:
    """Do not go on with a corpus that was named and has no text.

    Raises:
        EmptyCorpusError: It has none.
    """
    if router.corpus_shortfall is not None:
        raise router.corpus_shortfall


def tier_option(name: str, help_: str, *, lowest: int = 0) -> Callable[..., Any]:
    """Return an option for a tier as people write it: a number to 3, or T and the number.

    Args:
        name: Of the option.
        help_: What it does.
        lowest: Least tier that is allowed, 0 to 3.
    """
    allowed = {label: tier for tier in range(lowest, 4) for label in (str(tier), f"T{tier}")}

    def parse(_context: click.Context, _option: click.Parameter, text: str | None) -> int | None:
        if text is None:
            return None
        tier = allowed.get(text.strip().upper())
        if tier is None:
            raise click.BadParameter(
                f"{text!r} is no tier here: write {lowest} to 3, or T{lowest} to T3"
            )
        return tier

    return click.option(name, metavar="TIER", callback=parse, help=help_)


def parse_filters(pairs: tuple[str, ...]) -> dict[str, Any]:
    """Return filters from ``field=value`` texts; several values of one field are alternatives.

    Raises:
        click.BadParameter: A text has no ``=`` or the value is empty.
    """
    known = {
        "path": "paths",
        "tag": "tags",
        "source": "sources",
        "language": "languages",
        "lang": "languages",
    }
    found: dict[str, Any] = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not value.strip() or not name.strip():
            raise click.BadParameter(
                f"{pair!r}: write field=value, such as path=guides/** or tag=install "
                "(path, tag, source, language, or a front matter field)",
                param_hint="--filter",
            )
        if name in known:
            found.setdefault(known[name], []).append(value)
        else:
            found.setdefault("metadata", []).append((name, value))
    return found
