"""A checked text as one page of HTML that needs nothing else and runs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from importlib import resources

from fingerpost.cli.render import LOOK, feature_lines
from fingerpost.cli.terminal import plain
from fingerpost.cli.verified import notes_of, pieces, summary_lines
from fingerpost.pipeline.against import CheckedText
from fingerpost.types.answer import ClaimVerdict

# No text of a document or an answer can load or run anything, whatever slipped through.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page_of(checked: CheckedText, *, title: str, took_ms: float) -> str:
    """Return the page: the text on the left, each claim's evidence on the right of it."""
    style = resources.files("fingerpost.cli").joinpath("verified.css").read_text("utf-8")
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{_shown(title)} · verified</title>\n<style>\n{style}</style>\n</head>\n<body>",
            *_header(checked, title, took_ms),
            "<main>",
            *_rows(checked),
            "</main>\n</body>\n</html>\n",
        )
    )


def _shown(text: str) -> str:
    """Return text as it stands, harmless in HTML, without characters that no reader sees."""
    return escape(plain(text), quote=True)


def _header(checked: CheckedText, title: str, took_ms: float) -> Iterator[str]:
    head, *more = summary_lines(checked, took_ms=took_ms)
    yield f'<header>\n<h1>{_shown(title)}</h1>\n<p class="verdict">{_shown(head)}</p>'
    yield from (f"<p>{_shown(line)}</p>" for line in more)
    legend = "".join(
        f'<span class="{verdict.value}"><span class="mark">{mark}</span> '
        f"{verdict.value.replace('_', ' ')} {checked.found.count(verdict)}</span>"
        for verdict, (mark, _) in LOOK.items()
    )
    yield f'<p class="legend">{legend}</p>\n</header>'


def _rows(checked: CheckedText) -> Iterator[str]:
    number = 0
    for piece, claim in pieces(checked):
        if claim is None:
            yield f'<div class="row"><div class="said between">{_shown(piece)}</div></div>'
            continue
        number += 1
        yield (
            f'<section class="row {claim.verdict.value}" id="claim-{number}">'
            f'<div class="said claim" tabindex="0" aria-describedby="evidence-{number}">'
            f"{_shown(piece)}</div>"
            f'<aside class="evidence" id="evidence-{number}">{_evidence(claim)}</aside></section>'
        )


def _evidence(claim: ClaimVerdict) -> str:
    mark, _ = LOOK[claim.verdict]
    notes = "; ".join(notes_of(claim) or [claim.verdict.value])
    parts = [f'<p class="note">{mark} {_shown(notes)}</p>']
    if claim.source_ref:
        parts.append(f'<p class="place">{_shown(claim.source_ref)}</p>')
    if claim.source_snippet:
        parts.append(f'<p class="quote">{_shown(claim.source_snippet)}</p>')
    listed = "".join(f"<li>{_shown(line)}</li>" for line in feature_lines(claim))
    parts.append(f"<details><summary>why</summary><ul>{listed}</ul></details>")
    return "".join(parts)
