"""``fingerpost chat``."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from fingerpost.cli.options import corpus_options, settings
from fingerpost.cli.progress import IngestBar
from fingerpost.cli.terminal import plain

_HELP = "/sources shows the last sources, /explain how it was routed, /new forgets, /quit ends."


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@corpus_options
def chat(
    paths: tuple[str, ...], config_file: Path | None, index_dir: Path | None, embedder: str
) -> int:
    """Talk with the documents in each PATH; follow-up questions are understood.

    Each line is a question. Ctrl-D or /quit ends.
    """
    from fingerpost.cli.ask import words_alone
    from fingerpost.config.load import load_config
    from fingerpost.router import QueryRouter

    given = settings(paths, index_dir, embedder, embed="background")
    router = QueryRouter(load_config(given, file=config_file).config)
    with ExitStack() as open_router:
        with IngestBar() as bar:
            end = router.subscribe(bar)
            open_router.enter_context(router)
            end()
        found = router.get_corpus_stats()
        note = words_alone(router, found.vector_coverage)
        click.echo(f"{found.document_count:,} documents, {found.chunk_count:,} chunks. {_HELP}")
        if note:
            click.echo(note, err=True)
        Conversation(router).run()
    return 0


class Conversation:
    """Reads questions line by line and keeps the turns."""

    def __init__(self, router: Any) -> None:
        self._router = router
        self._turns: list[tuple[str, str]] = []
        self._last: Any = None

    def run(self) -> None:
        """Answer until the input ends or the user quits."""
        prompt = click.style("? ", fg="cyan", bold=True) if sys.stdout.isatty() else ""
        while True:
            try:
                line = input(prompt).strip()
            except EOFError:
                click.echo()
                return
            if line in ("/quit", "/exit", "/q"):
                return
            if line.startswith("/"):
                self._command(line)
            elif line:
                self._answer(line)

    def _answer(self, line: str) -> None:
        from fingerpost.cli.failure import show
        from fingerpost.cli.render import show_result
        from fingerpost.errors import FingerpostError

        try:
            self._last = self._router.route_sync(line, history=self._turns)
        except FingerpostError as error:
            show(error, as_json=False)
            return
        show_result(self._last)
        click.echo()
        self._turns += [("user", line), ("assistant", self._last.answer)]

    def _command(self, line: str) -> None:
        from fingerpost.cli.render import explain_result, source_line

        if line == "/new":
            self._turns.clear()
            click.echo("forgotten")
        elif self._last is not None and line == "/sources":
            for source in self._last.sources:
                click.echo(source_line(source))
                click.echo(f"    {plain(source.snippet)}")
        elif self._last is not None and line == "/explain":
            explain_result(self._last)
        else:
            known = line in ("/sources", "/explain", "/help")
            click.echo(_HELP if known else f"{plain(line)} is no command. {_HELP}")
