"""``fingerpost gaps``."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fingerpost.cli.options import Load, NoPathError, corpus_options
from fingerpost.cli.page import html_option, shown, write_page
from fingerpost.cli.progress import IngestBar, case_bars
from fingerpost.cli.terminal import one_line, plain, shown_json
from fingerpost.cli.vectors import embed_for, embed_seconds, embed_wait_option

if TYPE_CHECKING:
    from fingerpost.config.schema import QueryRouterConfig
    from fingerpost.gaps import KeptGaps, MissingPage, MissingPages, Rechecked
    from fingerpost.lanes.base import EmbeddingModel
    from fingerpost.observe.gap_log import NearPage

_SHOWN = 10
_EXAMPLES = 3
_UNITS = {"h": 3600, "d": 86_400, "w": 604_800}
_AGO = re.compile(r"(\d{1,6})([hdw])")
_SAID = {
    "same": "it has not changed since",
    "changed": "it changed since: it may be answered now",
    "gone": "it is gone",
    "unknown": "",
}


def _since(_context: click.Context, _parameter: click.Parameter, value: str | None) -> float:
    """Return the seconds since the epoch of a date or of how long ago; 0 for neither."""
    if value is None:
        return 0.0
    ago = _AGO.fullmatch(value)
    if ago:
        return max(0.0, time.time() - int(ago[1]) * _UNITS[ago[2]])
    try:
        given = datetime.fromisoformat(value)
        at = (given if given.tzinfo else given.replace(tzinfo=UTC)).astimezone(UTC).timestamp()
    except (ValueError, OverflowError):  # no date, or none of the years 1 to 9999 in UTC
        raise click.BadParameter(f"{value!r}: write 2026-11-01, or 36h, 7d, 4w") from None
    return max(0.0, at)


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--since",
    callback=_since,
    metavar="DATE",
    help="Only questions since a date, 2026-11-01, or since so long ago: 36h, 7d, 4w.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the pages as one JSON object.")
@html_option("Write the pages as a page of HTML.")
@click.option("--all", "show_all", is_flag=True, help=f"Print all pages, not {_SHOWN}.")
@click.option(
    "--recheck",
    type=click.Path(path_type=Path, exists=True),
    metavar="DIR",
    help="Ask the questions again of the documents in DIR, and say which have an answer now.",
)
@embed_wait_option("asking again")
@corpus_options
def gaps(
    file: Path | None,
    since: float,
    as_json: bool,
    html: Path | None,
    show_all: bool,
    recheck: Path | None,
    embed_wait: float | None,
    load: Load,
) -> int:
    """Show the pages that questions of FILE miss, most wanted first.

    FILE is what the setting gap_log names, and by default that of fingerpost.toml. Questions
    are grouped by meaning where an embedding model is installed, else by their words.

    \b
    fingerpost gaps gaps.jsonl --since 7d
    fingerpost gaps gaps.jsonl --recheck docs
    """  # noqa: D301 - \b is click's own mark for text that is not refilled
    from fingerpost.gaps import missing_pages

    config = _settings(load, recheck)
    path = file or config.gap_log
    if path is None:
        raise click.UsageError("give FILE, or set gap_log in fingerpost.toml")
    kept = _kept(path, since, is_set=file is None)
    found = missing_pages(kept.gaps, _embedder(config, kept))
    again = None if recheck is None else _recheck(found, config, embed_wait)
    if html is not None:
        write_page(html, title="Pages that are missing", body=_html(found, kept, again, since))
    if as_json:
        click.echo(shown_json(_wire(found, kept, again)))
    else:
        _show(found, kept, again, since, limit=len(found.pages) if show_all else _SHOWN)
    return 0


def _kept(path: Path, since: float, *, is_set: bool) -> KeptGaps:
    """Return what a log holds; one of the settings that is not there yet holds nothing."""
    from fingerpost.gaps import KeptGaps, read_gaps

    path = path.expanduser()
    if is_set and not any(lexists(one) for one in (path, path.with_name(f"{path.name}.1"))):
        return KeptGaps((), 0)
    return read_gaps(path, since=since)


def _settings(load: Load, recheck: Path | None) -> QueryRouterConfig:
    try:
        return load(() if recheck is None else (str(recheck),)).config
    except NoPathError:  # a log can be read without a corpus
        return load((".",)).config


def _embedder(config: QueryRouterConfig, kept: KeptGaps) -> EmbeddingModel | None:
    """Return the local model for the questions, ``None`` when there is none or none is wanted."""
    from fingerpost.errors import EmbeddingError, MissingExtraError
    from fingerpost.lanes.providers import load_embedder
    from fingerpost.text.language import detect_language

    if config.embedding_provider == "none" or not kept.gaps:
        return None
    n_english = sum(detect_language(gap.question) in ("en", "und") for gap in kept.gaps)
    english = 2 * n_english >= len(kept.gaps)
    wanted = config.embedding_model
    names = [wanted] if wanted in ("minilm", "use") else ["minilm"] if english else ["use"]
    for name in names:
        try:
            return load_embedder(name, folder=config.embedding_folder)
        except (MissingExtraError, EmbeddingError):
            continue
    return None


def _recheck(
    found: MissingPages, config: QueryRouterConfig, embed_wait: float | None
) -> list[Rechecked]:
    from fingerpost.gaps import recheck
    from fingerpost.router import QueryRouter

    own = config.model_copy(update={"embed": "never", "gap_log": None, "on_event": None})
    router = QueryRouter(own)
    with IngestBar() as bar:
        router.subscribe(bar)
        router.init_sync()
        embed_for(embed_seconds(config, embed_wait), router.embed_sync)
    with router, case_bars() as draw:
        done: list[Rechecked] = []
        for page in found.pages:
            done.append(recheck(page, router.route_sync))
            draw("asking again", len(done), len(found.pages))
    return done


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def _reasons(page: MissingPage) -> str:
    from fingerpost.observe.gap_log import REASONS

    return ", ".join(f"{REASONS[reason]} ({count:,})" for reason, count in page.reasons)


def _notes(found: MissingPages, kept: KeptGaps) -> Iterator[str]:
    if found.n_not_of_documents:
        yield f"{found.n_not_of_documents:,} more are no gap of the documents (filters, no index)"
    if found.n_left_out:
        were = "was" if found.n_left_out == 1 else "were"
        yield f"{_count(found.n_left_out, 'older question')} {were} left out"
    if kept.n_unreadable:
        yield f"{_count(kept.n_unreadable, 'line')} could not be read"


def _summary(found: MissingPages, since: float) -> str:
    if not found.pages:
        when = f" since {_day(since)}" if since else " yet"
        return f"no question went unanswered{when}"
    n_asked = sum(page.n_asked for page in found.pages)
    how = "by meaning" if found.by_meaning else "by words alone"
    asked = f"{_count(n_asked, 'question')} without an answer"
    return f"{asked}, pages missing: {len(found.pages):,} (grouped {how})"


def _count(number: int, of: str) -> str:
    return f"{number:,} {of}{'s' * (number != 1)}"


def _again(again: Rechecked) -> str:
    pages = ", ".join(dict.fromkeys(path for _, path in again.answered if path))
    named = f" by {pages}" if pages else ""
    return f"{len(again.answered)} of {again.n_asked} answered now{named}"


def _near(page: NearPage) -> str:
    return page.url or f"{page.path}:{page.line}"


def _show(
    found: MissingPages,
    kept: KeptGaps,
    again: Sequence[Rechecked] | None,
    since: float,
    *,
    limit: int,
) -> None:
    for number, page in enumerate(found.pages[:limit]):
        click.echo(click.style(f"{page.n_asked:>4,} × {plain(page.title)}", bold=True))
        click.echo(f"       asked {_day(page.first_at)} to {_day(page.last_at)}; {_reasons(page)}")
        for question, count in page.questions[:_EXAMPLES]:
            often = f" ({count:,} times)" if count > 1 else ""
            click.echo(f"       “{one_line(question, 100)}”{often}")
        if len(page.questions) > _EXAMPLES:
            n_more = len(page.questions) - _EXAMPLES
            click.echo(f"       … and {_count(n_more, 'other question')}")
        if page.nearest is not None:
            said = _SAID[page.since]
            click.echo(f"       nearest: {plain(_near(page.nearest))}{'; ' * bool(said)}{said}")
        if again is not None:
            click.echo(f"       {plain(_again(again[number]))}")
    if len(found.pages) > limit:
        click.echo(f"… and {len(found.pages) - limit:,} more (--all prints them)")
    click.echo(_summary(found, since))
    for note in _notes(found, kept):
        click.echo(note)


def _wire(found: MissingPages, kept: KeptGaps, again: Sequence[Rechecked] | None) -> dict[str, Any]:
    from fingerpost.types.wire import to_wire

    pages: list[dict[str, Any]] = []
    for number, page in enumerate(found.pages):
        pages.append({
            "title": page.title,
            "n_asked": page.n_asked,
            "first_at": page.first_at,
            "last_at": page.last_at,
            "reasons": dict(page.reasons),
            "questions": [{"question": text, "count": count} for text, count in page.questions],
            "nearest": to_wire(page.nearest),
            "nearest_since": page.since.value,
            "weight": round(page.weight, 3),
        })  # fmt: skip
        if again is not None:
            answered = [{"question": text, "path": path} for text, path in again[number].answered]
            pages[-1] |= {"n_asked_again": again[number].n_asked, "answered_now": answered}
    return {
        "pages": pages,
        "by_meaning": found.by_meaning,
        "n_not_of_documents": found.n_not_of_documents,
        "n_left_out": found.n_left_out,
        "n_unreadable": kept.n_unreadable,
    }


def _html(
    found: MissingPages, kept: KeptGaps, again: Sequence[Rechecked] | None, since: float
) -> Iterator[str]:
    for line in (_summary(found, since), *_notes(found, kept)):
        yield f"<p>{shown(line)}</p>"
    for number, page in enumerate(found.pages):
        yield f"<section><h2>{shown(page.title)} <small>{page.n_asked:,} ×</small></h2>"
        yield (
            f'<p class="faint">asked {_day(page.first_at)} to {_day(page.last_at)}; '
            f"{shown(_reasons(page))}</p><ul>"
        )
        for question, count in page.questions:
            yield f"<li>{shown(question)} <small>{count:,} ×</small></li>"
        yield "</ul>"
        if page.nearest is not None:
            yield f"<p>nearest: {_link(page.nearest)} {_SAID[page.since]}</p>"
        if again is not None:
            yield f"<p>{shown(_again(again[number]))}</p>"
        yield "</section>"


def _link(page: NearPage) -> str:
    """Return a link to a page; an address that no browser should follow is shown as text."""
    address = page.url or page.uri
    text = shown(f"{page.path}:{page.line}")
    if not address.startswith(("https://", "http://", "file://")):
        return f"<code>{text}</code>"
    return f'<a href="{shown(address)}" rel="noopener noreferrer">{text}</a>'
