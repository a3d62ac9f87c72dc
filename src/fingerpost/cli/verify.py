"""``fingerpost verify``."""

from __future__ import annotations

import stat
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fingerpost.cli.failure import ANSWERED, UNGROUNDED
from fingerpost.cli.options import Load, NoPathError, corpus_options
from fingerpost.cli.progress import IngestBar, case_bars
from fingerpost.cli.terminal import shown_json
from fingerpost.cli.vectors import embed_for, embed_seconds, embed_wait_option, words_alone

if TYPE_CHECKING:
    from fingerpost.pipeline.against import CheckedText
    from fingerpost.types.answer import VerifiedResponse

_MOST_BYTES = 5_000_000
FAIL_ON = ("contradicted", "unsupported", "any", "never")


@click.command()
@click.argument("text", metavar="ANSWER")
@click.argument("more", nargs=-1, metavar="[SOURCE]...")
@click.option(
    "--sources",
    multiple=True,
    metavar="PATH",
    help="Folder, file or glob of documents; several may follow.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as one JSON object.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    help="Write a page that shows each sentence with its evidence.",
)
@click.option("--explain", is_flag=True, help="Show what was measured for each verdict.")
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    default="contradicted",
    show_default=True,
    help="Exit with 4 when a claim is contradicted; or also when one is unverifiable or not "
    "checked (unsupported); or also weak, or wrongly or not cited (any).",
)
@embed_wait_option("checking")
@corpus_options
def verify(
    text: str,
    more: tuple[str, ...],
    sources: tuple[str, ...],
    as_json: bool,
    html: Path | None,
    explain: bool,
    fail_on: str,
    embed_wait: float | None,
    load: Load,
) -> int:
    """Check each claim of ANSWER, a text file or - for standard input, against documents.

    Whoever wrote it. Without --sources the documents are those of fingerpost.toml. Markers such
    as [1] are matched to the list of sources that the text ends with, or else to the files given.

    \b
    fingerpost verify answer.md --sources docs
    fingerpost verify - --sources docs notes/*.md --json < answer.md
    fingerpost verify release-notes.md --sources docs --html report.html --fail-on any
    """  # noqa: D301 - \b is click's own mark for text that is not refilled
    from fingerpost.cli.verified import checked_json, show_checked

    if html is not None and not html.parent.is_dir():
        raise click.BadParameter(f"there is no folder {html.parent}", param_hint="--html")
    given = (*sources, *more)
    began = time.monotonic()
    checked, note = _checked(text, given, embed_wait, load)
    took_ms = (time.monotonic() - began) * 1000
    if html is not None:
        from fingerpost.cli.verified_html import page_of

        page = page_of(checked, title=_name(text), took_ms=took_ms)
        try:
            html.write_text(page, encoding="utf-8")
        except OSError as error:
            said = f"cannot write {html}: {error.strerror}"
            raise click.BadParameter(said, param_hint="--html") from None
    if as_json:
        wire = checked_json(checked, took_ms=took_ms, explain=explain)
        click.echo(shown_json(wire))
    else:
        show_checked(checked, took_ms=took_ms, explain=explain)
    if note:
        click.echo(note, err=True)
    return UNGROUNDED if fails(checked.found, fail_on) else ANSWERED


def fails(found: VerifiedResponse, limit: str) -> bool:
    """Return whether the verdicts are worse than what ``--fail-on`` allows."""
    unsupported = found.contradicted_count + found.unverifiable_count + found.not_checked_count
    flawed = found.weak_count + found.wrong_citation_count + found.missing_citation_count
    return {
        "contradicted": found.contradicted_count > 0,
        "unsupported": unsupported > 0,
        "any": unsupported + flawed > 0,
        "never": False,
    }[limit]


def _name(text: str) -> str:
    return "standard input" if text == "-" else text


def _read(name: str) -> str:
    """Return the text to be checked.

    Raises:
        click.BadParameter: It cannot be read, is too long, or holds nothing.
    """
    from fingerpost.corpus.decode import Undecodable, decode

    try:
        raw = _bytes(name)
    except OSError as error:
        raise click.BadParameter(
            f"cannot read {name}: {error.strerror}", param_hint="ANSWER"
        ) from None
    if len(raw) > _MOST_BYTES:
        raise click.BadParameter(
            f"{_name(name)} is longer than {_MOST_BYTES:,} bytes", param_hint="ANSWER"
        )
    decoded = decode(raw)
    if isinstance(decoded, Undecodable):
        raise click.BadParameter(f"{_name(name)} is no text: {decoded.detail}", param_hint="ANSWER")
    text = decoded.text.removeprefix("\ufeff")
    if not text.strip():
        raise click.BadParameter(f"{_name(name)} holds no text", param_hint="ANSWER")
    return text


def _bytes(name: str) -> bytes:
    """Return what is there, at most one byte more than is allowed; no device is read."""
    if name == "-":
        if sys.stdin is None:
            raise click.BadParameter("standard input is closed", param_hint="ANSWER")
        return sys.stdin.buffer.read(_MOST_BYTES + 1)
    mode = Path(name).stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise click.BadParameter(f"{name} is a device, no text", param_hint="ANSWER")
    with Path(name).open("rb") as file:
        return file.read(_MOST_BYTES + 1)


def _checked(
    name: str, given: tuple[str, ...], embed_wait: float | None, load: Load
) -> tuple[CheckedText, str]:
    from fingerpost.library import Library
    from fingerpost.wiring import held_against

    text = _read(name)
    try:
        config = load(given).config
    except NoPathError:
        raise click.UsageError(
            "give --sources PATH: a folder, a file or a glob of documents"
        ) from None
    bar = IngestBar()
    library = Library(config.model_copy(update={"embed": "never"}), bar)
    try:
        with bar:
            library.open()
            failed = embed_for(embed_seconds(config, embed_wait), library.embed)
        state = library.store.info()
        note = failed or words_alone(library.embedding.reason, state.n_vectors, state.n_chunks)
        own_uri = "" if name == "-" else Path(name).resolve().as_uri()
        with case_bars() as draw:
            checked = held_against(
                config,
                library.store,
                library.embedding.model,
                text,
                numbered=_numbered(given),
                ignored_uri=own_uri,
                progress=lambda done, total: draw("claims", done, total),
            )
    finally:
        library.close()
    return checked, note


def _numbered(given: tuple[str, ...]) -> dict[int, str]:
    """Return what markers name when the documents were given one by one."""
    if not all(Path(path).is_file() for path in given):
        return {}
    return {number: Path(path).as_posix() for number, path in enumerate(given, start=1)}
