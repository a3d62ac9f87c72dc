"""Errors to sentences and exit codes."""

from __future__ import annotations

import json
import traceback

import click

from fingerpost import errors
from fingerpost.cli.terminal import plain
from fingerpost.config.traceback import wants_traceback

ANSWERED, OTHER, USAGE, ABSTAINED, UNGROUNDED, MODEL, STORE, DEADLINE = range(8)
INTERRUPTED = 130
MEANINGS = {
    ANSWERED: "answered",
    OTHER: "another error; `check` found one in the documents",
    USAGE: "usage or settings; a path that gives no document is one of them",
    ABSTAINED: "no answer found",
    UNGROUNDED: "not every claim is supported, with `--require-grounded`; "
    "`verify` found what `--fail-on` names",
    MODEL: "a model failed and nothing could stand in for it",
    STORE: "the index could not be read or written",
    DEADLINE: "the deadline passed",
    INTERRUPTED: "interrupted with Ctrl-C",
}
"""Exit code → what it says, as the documentation has it."""

_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (errors.DeadlineExceededError, DEADLINE),
    (errors.InvalidQueryError, USAGE),
    (errors.ConfigError, USAGE),
    (errors.EmptyCorpusError, USAGE),
    (errors.StoreError, STORE),
    (errors.LaneError, MODEL),
)


def exit_code(error: BaseException) -> int:
    """Return the exit code of an error, one of `MEANINGS`."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), OTHER)


def show(error: BaseException, *, as_json: bool) -> None:
    """Say what happened and what to do, on stderr; with ``--json`` an object on stdout too."""
    hint = getattr(error, "hint", "")
    known = isinstance(error, errors.FingerpostError)
    message = str(error) if known else f"{type(error).__name__}: {error}"
    if as_json:
        show_json(error, message=message, hint=hint)
    click.echo(click.style("error: ", fg="red", bold=True) + plain(message), err=True)
    if hint:
        click.echo(f"  {plain(hint)}", err=True)
    if not known:
        if wants_traceback():
            traceback.print_exception(error)
        else:
            click.echo(
                "  This is a fault of fingerpost; FINGERPOST_TRACEBACK=1 shows where.", err=True
            )


def show_json(error: BaseException, *, message: str, hint: str = "") -> None:
    """Print an error as one object on stdout."""
    problem = {"type": type(error).__name__, "message": message, "hint": hint}
    click.echo(json.dumps({"error": problem}, ensure_ascii=False))
