"""A report as one page of HTML that needs nothing else and runs nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import click

from fingerpost.cli.terminal import plain

# No text of a document or an answer can load or run anything, whatever slipped through.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def html_option(help_: str) -> Callable[[Any], Any]:
    """Return the option ``--html FILE``; its folder must be there."""
    return click.option(
        "--html",
        type=click.Path(path_type=Path, dir_okay=False, writable=True),
        callback=_in_a_folder,
        metavar="FILE",
        help=help_,
    )


def _in_a_folder(
    _context: click.Context, _parameter: click.Parameter, path: Path | None
) -> Path | None:
    if path is not None and not path.parent.is_dir():
        raise click.BadParameter(f"there is no folder {path.parent}")
    return path


def shown(text: str) -> str:
    """Return text as it stands, harmless in HTML, without characters that no reader sees."""
    return escape(plain(text), quote=True)


def write_page(path: Path, *, title: str, body: Iterable[str]) -> None:
    """Write a page, and say on stderr where it is.

    Args:
        path: Where to.
        title: Its title and first heading, as plain text.
        body: Lines of HTML that follow it.

    Raises:
        click.BadParameter: It cannot be written.
    """
    style = resources.files("fingerpost.cli").joinpath("page.css").read_text("utf-8")
    page = "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{shown(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>",
            f"<h1>{shown(title)}</h1>",
            *body,
            "</body>\n</html>\n",
        )
    )
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        said = f"cannot write {path}: {error.strerror}"
        raise click.BadParameter(said, param_hint="--html") from None
    click.echo(f"wrote {plain(str(path))}", err=True)
