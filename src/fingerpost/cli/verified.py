"""A checked text for a terminal and for machines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fingerpost.cli.render import LOOK, counts_of, feature_lines
from fingerpost.cli.terminal import one_line, plain
from fingerpost.pipeline.against import CheckedText
from fingerpost.types.answer import ClaimVerdict, Verdict, VerifiedResponse
from fingerpost.types.document import Span
from fingerpost.types.wire import to_wire

_SNIPPET_WIDTH = 240
_TWO_COLUMNS = 70
_SIGNS_AT_END = re.compile(r"\n[ \t>]*(?:[-*+•|]|\d{1,3}[.)])?[ \t]*\Z")  # of the item to come


def checked_json(checked: CheckedText, *, took_ms: float, explain: bool) -> dict[str, Any]:
    """Return the verdicts as a JSON-ready object; what was measured only with ``explain``."""
    found = checked.found
    claims = [_claim_json(claim, checked, explain=explain) for claim in found.claims]
    wire = {
        "grounded": found.overall_grounded,
        "counts": counts_of(found),
        "supported_ratio": found.supported_ratio,
        "citation_precision": found.citation_precision,
        "citation_recall": found.citation_recall,
        "claims": claims,
        "sources": [
            {"number": number, "path": document.path, "uri": document.uri, "title": document.title}
            for number, document in sorted(checked.documents.items())
        ],
        "listed": {str(number): said for number, said in checked.listed.items()},
        "unmatched": list(checked.unmatched),
        "method": found.method,
        "fallbacks": list(found.fallbacks),
        "duration_ms": took_ms,
    }
    return {name: to_wire(value) for name, value in wire.items()}


def _claim_json(claim: ClaimVerdict, checked: CheckedText, *, explain: bool) -> dict[str, Any]:
    wire = to_wire(claim)
    if not isinstance(wire, dict):
        raise TypeError("a claim is an object")
    if not explain:
        wire.pop("features")
    line = None if claim.span is None else line_of(checked.text, claim.span)
    return {"line": line, **wire}


def show_checked(checked: CheckedText, *, took_ms: float, explain: bool) -> None:
    """Print the text, each claim coloured by its verdict, its evidence beside it.

    On a terminal of less than 70 columns the evidence stands below the claim.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    is_wide = console.width >= _TWO_COLUMNS
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(width=1)
    table.add_column(ratio=1, overflow="fold")
    if is_wide:
        table.add_column(ratio=1, overflow="fold")
    for piece, claim in pieces(checked):
        if claim is None:
            table.add_row("", Text(plain(piece), style="dim"))
            continue
        mark, colour = LOOK[claim.verdict]
        beside = list(_beside(claim))
        beside += [(line, "dim") for line in feature_lines(claim)] if explain else []
        said = Text(plain(piece), style=colour)
        evidence = Text("\n").join(Text(plain(line), style=style) for line, style in beside)
        cells = (said, evidence) if is_wide else (Text("\n").join((said, evidence)),)
        table.add_row(Text(mark, style=colour), *cells)
    console.print(table)
    for line in summary_lines(checked, took_ms=took_ms):
        console.print(Text(plain(line), style="bold" if line.startswith("NOT") else ""))


def pieces(checked: CheckedText) -> Iterator[tuple[str, ClaimVerdict | None]]:
    """Yield the text in order: each claim, and what lies between that is more than blank."""
    at = 0
    placed = [(claim, claim.span) for claim in checked.found.claims if claim.span is not None]
    for claim, span in placed:
        if _has_words(between := checked.text[at : span.start]):
            yield _SIGNS_AT_END.sub("", between).strip("\n"), None
        yield checked.text[span.start : span.end], claim
        at = max(at, span.end)
    if _has_words(rest := checked.text[at:]):
        yield rest.strip("\n"), None


def _has_words(text: str) -> bool:
    return any(sign.isalnum() for sign in text)


def _beside(claim: ClaimVerdict) -> Iterator[tuple[str, str]]:
    """Yield the lines beside a claim, each with its style."""
    if claim.source_ref:
        yield claim.source_ref, "cyan"
    if claim.source_snippet:
        yield one_line(claim.source_snippet, _SNIPPET_WIDTH), ""
    if notes := notes_of(claim):
        yield "; ".join(notes), LOOK[claim.verdict][1]


def notes_of(claim: ClaimVerdict) -> list[str]:
    """Return what is to be said of a claim besides its verdict, in words."""
    supported = claim.verdict is Verdict.SUPPORTED
    notes = [] if supported else [claim.verdict.value.replace("_", " ")]
    notes += ["wrong citation"] if claim.wrong_citation else []
    notes += ["no citation"] if claim.missing_citation else []
    told = [one for one in claim.reasons if not supported or "cited" in one or "names no" in one]
    return notes + told


def summary_lines(checked: CheckedText, *, took_ms: float) -> list[str]:
    """Return what was found of the whole, in one to three lines."""
    found = checked.found
    if not found.total_claims:
        return ["no claims: nothing in the text is a statement that a document could bear out"]
    searched = "words and vectors" if "embedding" in found.method else "words alone"
    lines = [f"{_grounding(found)} · {searched} · {took_ms:.0f} ms"]
    if cited := citation_line(checked):
        lines.append(cited)
    if checked.unmatched:
        numbers = ", ".join(f"[{number}]" for number in checked.unmatched)
        lines.append(f"the list of sources names no document of these: {numbers}")
    return lines


def _grounding(found: VerifiedResponse) -> str:
    """Return the verdicts as a sentence, which is *grounded* only when every claim is supported."""
    claims = f"{found.total_claims} claim{'s' * (found.total_claims != 1)}"
    supported = f"{found.supported_count} of {claims} supported"
    if found.supported_count == found.total_claims:
        return f"grounded: {supported}"
    others = ", ".join(
        f"{found.count(verdict)} {verdict.value.replace('_', ' ')}"
        for verdict in Verdict
        if found.count(verdict) and verdict is not Verdict.SUPPORTED
    )
    if found.overall_grounded:
        return f"{supported}, none contradicted: {others}"
    return f"NOT grounded: {supported}: {others}"


def citation_line(checked: CheckedText) -> str:
    """Return how the text cites, empty when nothing is known of what its markers name."""
    found = checked.found
    if not checked.listed:
        return ""
    if found.citation_precision is None or found.citation_recall is None:
        return "citations: none"
    return (
        f"citations: precision {found.citation_precision:.2f}, "
        f"recall {found.citation_recall:.2f}, {found.wrong_citation_count} wrong, "
        f"{found.missing_citation_count} missing"
    )


def line_of(text: str, span: Span) -> int:
    """Return the line of the text that a span begins on, from 1."""
    return 1 + text.count("\n", 0, span.start)
