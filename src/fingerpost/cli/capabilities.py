"""``fingerpost capabilities``, and the options that name what a host can do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fingerpost.cli.failure import ABSTAINED, ANSWERED
from fingerpost.cli.terminal import one_line, plain

if TYPE_CHECKING:
    from fingerpost.capabilities import CapabilityDiscoveryEngine
    from fingerpost.types.plan import CapabilityRecommendation

Offer = Callable[[str], "CapabilityDiscoveryEngine | None"]
"""Takes the name of a local model, ``auto`` or ``none``; ``None`` when no option was given."""
_REASON_WIDTH = 100


def capability_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options that name capabilities; the command gets one argument ``offer``."""

    @wraps(command)
    def run(
        *arguments: Any,
        skills: Sequence[Path],
        tools: Sequence[Path],
        extensions: Sequence[Path],
        **options: Any,
    ) -> int:
        offer = partial(_offer, skills, tools, extensions)
        return command(*arguments, offer=offer, **options)

    given = click.Path(path_type=Path)
    for name, metavar, help_ in (
        ("extensions", "FILE", "JSON list of extensions, each with id and summary."),
        ("tools", "FILE", "JSON list of tools: a result of MCP's tools/list, or OpenAI schemas."),
        ("skills", "DIR", "Folder of skills, each a folder with a SKILL.md."),
    ):
        run = click.option(
            f"--{name}", multiple=True, metavar=metavar, type=given, callback=_there, help=help_
        )(run)
    return run


def _there(
    _context: click.Context, option: click.Parameter, paths: tuple[Path, ...]
) -> tuple[Path, ...]:
    """Refuse a path that is not there: nothing of it could help, whatever the question."""
    for path in paths:
        try:
            path.expanduser().stat()
        except (OSError, RuntimeError) as error:  # RuntimeError: no such user
            why = getattr(error, "strerror", None) or str(error)
            raise click.BadParameter(f"{path}: {why}", param=option) from None
    return paths


def show_recommendations(found: Iterable[CapabilityRecommendation]) -> None:
    """Print a line for each recommendation and one that says why."""
    for item in found:
        click.echo(f"  {item.confidence:.2f}  {plain(f'{item.kind}:{item.id}')}")
        why = one_line(item.reasoning, _REASON_WIDTH)
        click.echo(click.style(f"        {plain(why)}", dim=True))


@click.command()
@click.argument("question")
@capability_options
@click.option("--exclude", multiple=True, metavar="ID", help="Leave out, as ID or kind:ID.")
@click.option("--top-k", type=click.IntRange(1, 50), default=5, help="At most so many.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--embedder",
    type=click.Choice(["auto", "none", "minilm", "use"]),
    default="auto",
    show_default=True,
    help="Local embedding model; none compares words alone.",
)
def capabilities(
    question: str,
    *,
    offer: Offer,
    exclude: tuple[str, ...],
    top_k: int,
    as_json: bool,
    embedder: str,
) -> int:
    """Recommend the skills, tools and extensions that may help with QUESTION.

    \b
    fingerpost capabilities "Send Ben a mail" --tools tools.json --skills skills
    """  # noqa: D301 - \b is click's own mark for text that is not refilled
    from fingerpost.types.wire import to_wire

    engine = offer(embedder)
    if engine is None:
        raise click.UsageError("give at least one of --skills, --tools and --extensions")
    found = engine.recommend(question, exclude, top_k)
    if as_json:
        out = {
            "recommendations": to_wire(found),
            "offered": len(engine.capabilities()),
            "skipped": to_wire(engine.skipped),
        }
        click.echo(json.dumps(out, ensure_ascii=False, indent=2))
    else:
        show_recommendations(found)
        if not found:
            click.echo(f"none of {len(engine.capabilities()):,} capabilities seems to help")
    tell_skipped(engine)
    return ANSWERED if found else ABSTAINED


def tell_skipped(engine: CapabilityDiscoveryEngine) -> None:
    """Say on stderr what could not be read."""
    for item in engine.skipped:
        click.echo(plain(f"note: {item.where}: {item.reason}"), err=True)


def _offer(
    skills: Sequence[Path], tools: Sequence[Path], extensions: Sequence[Path], embedder: str
) -> CapabilityDiscoveryEngine | None:
    if not (skills or tools or extensions):
        return None
    from fingerpost.capabilities import CapabilityDiscoveryEngine
    from fingerpost.lanes.providers.load import available, load_embedder

    ready = [model.name for model in available() if model.is_available]
    name = next(iter(ready), "none") if embedder == "auto" else embedder
    model = None if name == "none" else load_embedder(name)
    return CapabilityDiscoveryEngine(
        skills=skills, tools=tools, extensions=extensions, embedder=model
    )
