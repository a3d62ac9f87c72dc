"""The command group. Commands are imported when they run, so that ``--help`` is quick."""

from __future__ import annotations

import errno
import io
import logging
import os
import sys
from importlib import import_module
from typing import Any

import click

from fingerpost import __version__
from fingerpost.cli.failure import INTERRUPTED, OTHER, exit_code, show, show_json
from fingerpost.cli.terminal import plain
from fingerpost.config.traceback import wants_traceback

COMMANDS = {
    "ask": ("fingerpost.cli.ask", "ask", "Answer a question from documents."),
    "chat": ("fingerpost.cli.chat", "chat", "Talk with documents in the terminal."),
    "verify": ("fingerpost.cli.verify", "verify", "Check any text against documents."),
    "index": ("fingerpost.cli.index", "index", "Read documents and build their index."),
    "stats": ("fingerpost.cli.stats", "stats", "Show what an index holds."),
    "check": ("fingerpost.cli.check", "check", "Find what keeps documents from being found."),
    "gaps": ("fingerpost.cli.gaps", "gaps", "Show the pages that questions miss."),
    "doctor": ("fingerpost.cli.doctor", "doctor", "Check this installation and its settings."),
    "capabilities": (
        "fingerpost.cli.capabilities",
        "capabilities",
        "Recommend tools and skills for a question.",
    ),
    "calibrate": (
        "fingerpost.cli.calibrate",
        "calibrate_group",
        "Fit a decision model's thresholds on labelled data.",
    ),
    "knowledge": (
        "fingerpost.cli.knowledge",
        "knowledge_group",
        "Write what fingerpost knows about itself anew.",
    ),
    "eval": ("fingerpost.cli.eval", "eval_group", "Measure quality on labelled data."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and loads one when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the command names in the order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command, ``None`` when there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_) for name, (_, _, help_) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fingerpost")
def cli() -> None:
    """Grounded answers from documentation: every claim with its source and a verdict."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; the codes are `fingerpost.cli.failure.MEANINGS`."""
    _prepare_streams()
    code = _run(arguments)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Nobody reads on; keep the interpreter from trying again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        sys.stderr.write(f"error: cannot write the output: {error.strerror}\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = OTHER
    sys.exit(code)


def _prepare_streams() -> None:
    """Show what a terminal cannot encode as ``?``, and log lines without tracebacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    line = logging.StreamHandler()
    line.setFormatter(_OneLine("%(levelname)s: %(message)s"))
    # Commands refuse a corpus without text, and that error says all that there is to say.
    line.addFilter(lambda record: record.name != "fingerpost.library.empty")
    logging.basicConfig(level=logging.WARNING, handlers=[line])


class _OneLine(logging.Formatter):
    """Writes a log record without its traceback, unless that was asked for."""

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the name of the base class
        return super().formatException(ei) if wants_traceback() else ""

    def format(self, record: logging.LogRecord) -> str:
        return plain(super().format(record)).rstrip()


def _run(arguments: list[str] | None) -> int:
    as_json = "--json" in (sys.argv if arguments is None else arguments)
    try:
        code: Any = cli.main(args=arguments, prog_name="fingerpost", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except click.ClickException as error:
        if as_json:
            show_json(error, message=error.format_message())
        error.show()
        return error.exit_code
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except SystemExit:  # click ends so when the reader of a pipe has gone
        return 0
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EPIPE) or error.filename is not None:
            show(error, as_json=False)
            return exit_code(error)
        click.echo(f"error: cannot write the output: {error.strerror}", err=True)
        return OTHER
    except Exception as error:  # the last border: a sentence and a code
        show(error, as_json=as_json)
        return exit_code(error)
    return code if isinstance(code, int) else 0
