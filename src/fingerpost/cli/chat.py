"""``fingerpost chat``."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from typing import Any

import click

from fingerpost.cli.finding import counted
from fingerpost.cli.options import Load, corpus_options, require_text
from fingerpost.cli.progress import IngestBar
from fingerpost.cli.repositories import repository_notes
from fingerpost.cli.terminal import plain
from fingerpost.cli.vectors import words_alone

_HELP = (
    "Ask a question; /sources shows the last sources, /explain how the last question was routed, "
    "/new forgets, /quit ends."
)


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--json", "as_json", is_flag=True, help="Print each result as one line of JSON.")
@corpus_options
def chat(paths: tuple[str, ...], as_json: bool, load: Load) -> int:
    """Talk with the documents in each PATH; follow-up questions are understood.

    Each line is a question, or a command: /sources shows the last sources, /explain how the
    last question was routed, /new forgets the conversation, /quit (or Ctrl-D) ends.
    """
    from fingerpost.router import QueryRouter

    router = QueryRouter(load(paths).config)
    with ExitStack() as open_router:
        with IngestBar() as bar:
            end = router.subscribe(bar)
            open_router.enter_context(router)
            require_text(router)
            end()
        found = router.get_corpus_stats()
        n_vectors = round(found.vector_coverage * found.chunk_count)
        note = words_alone(router.embedding_reason, n_vectors, found.chunk_count)
        size = f"{counted(found.document_count, 'document')}, {counted(found.chunk_count, 'chunk')}"
        click.echo(f"{size}. {_HELP}", err=as_json)
        for told in (*repository_notes(found.repositories), *([note] if note else [])):
            click.echo(plain(told), err=True)
        Conversation(router, as_json=as_json).run()
    return 0


class Conversation:
    """Reads questions line by line and keeps the turns."""

    def __init__(self, router: Any, *, as_json: bool) -> None:
        self._router = router
        self._as_json = as_json
        self._turns: list[tuple[str, str]] = []
        self._last: Any = None

    def run(self) -> None:
        """Answer until the input ends or the user quits."""
        prompt = click.style("? ", fg="cyan", bold=True) if sys.stdout.isatty() else ""
        while True:
            try:
                line = input(prompt).strip()
            except EOFError:
                click.echo(nl=not self._as_json)
                return
            if line in ("/quit", "/exit", "/q"):
                return
            if line.startswith("/"):
                self._command(line)
            elif line:
                self._answer(line)

    def _answer(self, line: str) -> None:
        from fingerpost.cli.failure import show
        from fingerpost.cli.render import result_json, show_result
        from fingerpost.errors import FingerpostError

        try:
            self._last = self._router.route_sync(line, history=self._turns, explain=True)
        except FingerpostError as error:
            show(error, as_json=self._as_json)
            return
        if self._as_json:
            click.echo(json.dumps(result_json(self._last, explain=False), ensure_ascii=False))
        else:
            show_result(self._last)
            click.echo()
        self._turns += [("user", line), ("assistant", self._last.answer)]

    def _command(self, line: str) -> None:
        from fingerpost.cli.render import explain_result, has_several_corpora, source_line

        if line == "/new":
            self._turns.clear()
            click.echo("forgotten", err=self._as_json)
        elif self._as_json or line not in ("/sources", "/explain"):
            known = line == "/help"
            text = _HELP if known else f"{plain(line)} is no command here. {_HELP}"
            click.echo(text, err=self._as_json)
        elif self._last is None:
            click.echo("nothing was asked yet")
        elif line == "/explain":
            explain_result(self._last)
        else:
            several = has_several_corpora(self._last)
            for source in self._last.sources:
                click.echo(source_line(source, name_corpus=several))
                click.echo(f"    {plain(source.snippet)}")
