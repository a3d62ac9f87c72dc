"""Results for people and for machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from fingerpost.cli.terminal import one_line, plain
from fingerpost.text.versions import versioned_path
from fingerpost.types.answer import ClaimVerdict, SourceCitation, Verdict, VerifiedResponse
from fingerpost.types.decision import ClassificationResult
from fingerpost.types.evidence import Hit
from fingerpost.types.question import AnswerStatus
from fingerpost.types.result import QueryResult
from fingerpost.types.routing import SourceRouting
from fingerpost.types.source import PLATFORM
from fingerpost.types.wire import to_wire

LOOK = {
    Verdict.SUPPORTED: ("✓", "green"),
    Verdict.WEAK: ("~", "yellow"),
    Verdict.UNVERIFIABLE: ("?", "yellow"),
    Verdict.CONTRADICTED: ("✗", "red"),
    Verdict.NOT_CHECKED: ("-", "white"),
}
"""Verdict → sign and colour."""
_TIER_NAMES = ("trivial", "lookup", "multi-source", "research")
_CLAIM_WIDTH = 76
_SUPPORTED_SHOWN = 8
_FEATURES_SHOWN = 6
_COPIES_SHOWN = 5
_DOUBT = "Note: the documents may not answer this question; this is what comes nearest to it."


def result_json(result: QueryResult, *, explain: bool) -> dict[str, Any]:
    """Return the result as a JSON-ready object; what is only for `--explain` only with it."""
    wire = to_wire(result)
    if not isinstance(wire, dict):
        raise TypeError("a result is an object")
    wire.pop("candidates")
    wire["stale"] = result.stale
    wire["doubtful"] = result.doubtful
    if result.grounding is not None:
        grounding = wire["grounding"]
        grounding["counts"] = counts_of(result.grounding)
        if not explain:
            for claim in (*grounding["claims"], *grounding["removed"]):
                claim.pop("features")
    if explain:
        wire["candidates"] = [candidate_json(hit) for hit in result.candidates]
    return wire


def counts_of(found: VerifiedResponse) -> dict[str, int]:
    """Return how many claims there are of each kind; wrong and missing citations apart."""
    counts = {verdict.value: found.count(verdict) for verdict in Verdict}
    return {
        "claims": found.total_claims,
        **counts,
        "wrong_citation": found.wrong_citation_count,
        "missing_citation": found.missing_citation_count,
    }


def candidate_json(hit: Hit) -> dict[str, Any]:
    """Return where a candidate stands and its rank on each leg."""
    return {
        "id": hit.chunk.id,
        "path": hit.document.path,
        "source": hit.document.source,
        "heading_path": list(hit.chunk.heading_path),
        "line_start": hit.chunk.line_start,
        "line_end": hit.chunk.line_end,
        "score": hit.score,
        "match_type": hit.match_type.value,
        "lexical_rank": hit.lexical_rank,
        "lexical_score": hit.lexical_score,
        "vector_rank": hit.vector_rank,
        "vector_score": hit.vector_score,
        "fused_rank": hit.fused_rank,
        "fused_score": hit.fused_score,
        "sub_query": hit.sub_query,
        "note": hit.note,
        "also_in": list(hit.copies),
        "n_chunks": hit.n_chunks,
    }


def show_result(result: QueryResult) -> None:
    """Print answer, sources, verdicts, and how the question was routed."""
    click.echo(plain(result.answer))
    if result.doubtful:
        click.echo("\n" + click.style(_DOUBT, fg="yellow"))
    if result.sources:
        cited = any(source.cited for source in result.sources)
        click.echo("\n" + click.style("Sources" if cited else "Nearest sources", bold=True))
        several = has_several_corpora(result)
        for source in result.sources:
            click.echo("  " + source_line(source, name_corpus=several))
    if result.grounding is not None and result.grounding.claims:
        click.echo("\n" + click.style("Verdicts", bold=True))
        for claim in _told(result.grounding.claims):
            click.echo("  " + claim_line(claim))
        hidden = result.grounding.total_claims - len(_told(result.grounding.claims))
        if hidden:
            click.echo(f"  … and {hidden} more supported claims (--json lists all)")
    click.echo("\n" + click.style(plain(route_line(result)), dim=True))
    if result.rewritten_query:
        click.echo(click.style(f"asked as: {plain(result.rewritten_query)}", dim=True))
    if result.translated_query:
        click.echo(click.style(f"searched as: {plain(result.translated_query)}", dim=True))


def _told(claims: tuple[ClaimVerdict, ...]) -> list[ClaimVerdict]:
    """Return every claim that is not supported, and the first few that are."""
    supported = [claim for claim in claims if claim.verdict is Verdict.SUPPORTED]
    few = set(map(id, supported[:_SUPPORTED_SHOWN]))
    return [c for c in claims if c.verdict is not Verdict.SUPPORTED or id(c) in few]


def has_several_corpora(result: QueryResult) -> bool:
    """Return whether a path alone does not say where it is."""
    searched = {hit.document.source for hit in result.candidates}
    cited = {source.source for source in result.sources}
    return result.classification.routing is not None or len(searched | cited) > 1


def source_line(source: SourceCitation, *, name_corpus: bool = False) -> str:
    """Return ``[1] path › heading, lines a-b`` of one source.

    An entry of the platform knowledge is told by its uri, ``platform:faq/…``: it is no file.
    """
    trail = " › ".join(source.heading_path) or source.title
    lines = f"lines {source.line_start}-{source.line_end}"
    if source.line_start == source.line_end:
        lines = f"line {source.line_start}"
    lines = f"{pages_line(source)}{lines}"
    place = _place(source.source, source.path, source.uri, name_corpus=name_corpus)
    notes = "".join(f" ({note})" for note in _source_notes(source))
    text = f"[{source.index}] {place} › {trail}, {lines}{notes}"
    return plain(text + (f"  {source.url}" if source.url else ""))


def _place(corpus: str, path: str, uri: str, *, name_corpus: bool) -> str:
    if uri.startswith(f"{PLATFORM}:"):
        return uri
    return f"{corpus}: {path}" if name_corpus else path


def pages_line(source: SourceCitation) -> str:
    """Return ``page 3, `` or ``slides 4-5, `` of a source with pages, else nothing."""
    if source.page_start is None or source.page_end is None:
        return ""
    name = "slide" if source.path.lower().endswith(".pptx") else "page"
    if source.page_start == source.page_end:
        return f"{name} {source.page_start}, "
    return f"{name}s {source.page_start}-{source.page_end}, "


def _source_notes(source: SourceCitation) -> Iterator[str]:
    """Yield its version where the path does not show it, where else it stands, if it is stale."""
    if source.version and source.version not in source.path:
        yield f"version {source.version}"
    if source.also_in:
        others = [versioned_path(source.source, path).version or path for path in source.also_in]
        shown = ", ".join(others[:_COPIES_SHOWN])
        more = len(others) - _COPIES_SHOWN
        yield f"also in {shown}" + (f" and {more} more" if more > 0 else "")
    if source.stale:
        yield "changed since it was indexed"


def claim_line(claim: ClaimVerdict) -> str:
    """Return one claim with its verdict and what speaks for or against it."""
    mark, colour = LOOK[claim.verdict]
    head = click.style(f"{mark} {claim.verdict.value:<12}", fg=colour)
    notes = list(claim.reasons) if claim.verdict is not Verdict.SUPPORTED else []
    notes += ["wrong citation"] if claim.wrong_citation else []
    notes += ["no citation"] if claim.missing_citation else []
    where = f"  [{claim.source_index}]" if claim.source_index else ""
    why = f"  ({plain('; '.join(notes))})" if notes else ""
    return f"{head} {one_line(claim.claim, _CLAIM_WIDTH)}{where}{why}"


def feature_lines(claim: ClaimVerdict) -> list[str]:
    """Return what was measured of a claim, what counted most first."""
    weighed = [note for note in claim.features if note.weight][:_FEATURES_SHOWN]
    over = [note for note in claim.features if not note.weight]
    return [
        f"confidence {claim.confidence:.2f}",
        *(f"{note.weight:+.2f}  {note.told or note.name}" for note in weighed),
        *(f"{note.name}: {note.told}" for note in over),
    ]


def route_line(result: QueryResult) -> str:
    """Return tier, confidence, mode, grounding, fallbacks and time on one line."""
    chosen = result.classification
    how = f"{chosen.decided_by.value}, confidence {chosen.confidence:.2f}"
    tier = f"{chosen.tier.label} {_TIER_NAMES[chosen.tier]} ({how})"
    parts = [
        tier,
        result.generation_mode.value,
        _grounding(result),
        "fallbacks: " + (", ".join(result.fallbacks_used) or "none"),
        *_sources(result),
        _search(result),
        f"{result.duration_ms:.0f} ms",
    ]
    more = [
        *(["cut off at its token limit"] if result.truncated else []),
        *(["cached"] if result.cached else []),
    ]
    return " · ".join(parts + more)


def _sources(result: QueryResult) -> list[str]:
    routing = result.classification.routing
    if routing is None:
        return []
    return ["sources: " + (", ".join(routing.names) or "none")]


def _search(result: QueryResult) -> str:
    if result.tiers_used == (0,):
        return "nothing searched"
    if result.retrieval_mode == "keyword-only":
        return "words alone"
    if not 0 < result.vector_coverage < 1:
        return "words and vectors"
    share = int(100 * result.vector_coverage) or "under 1"  # rounded down: 100 % is all of them
    return f"words, and vectors of {share}% of chunks"


def _grounding(result: QueryResult) -> str:
    found = result.grounding
    if found is None:
        return f"grounding: {result.grounding_status.replace('_', ' ')}"
    if not found.total_claims:
        return "grounding: no claims"
    counted = f"{found.supported_count} of {found.total_claims} claims supported"
    if not found.overall_grounded:
        return f"NOT grounded: {counted}"
    full = found.supported_count == found.total_claims
    return f"grounded: {counted}" if full else f"{counted}, none contradicted"


def explain_result(result: QueryResult) -> None:
    """Print why the tier was chosen, every candidate with its ranks, and the record of the run."""
    click.echo("\n" + click.style("Why this tier", bold=True))
    for line in _tier_lines(result.classification):
        click.echo(f"  {plain(line)}")
    if result.classification.routing is not None:
        click.echo("\n" + click.style("Which sources", bold=True))
        for line in _routing_lines(result.classification.routing):
            click.echo(f"  {plain(line)}")
    if result.sub_queries:
        click.echo("\n" + click.style("Parts of the question", bold=True))
        for number, part in enumerate(result.sub_queries, start=1):
            found = "  (nothing found)" if part in result.uncovered else ""
            click.echo(f"  {number}  {plain(part)}{found}")
    _show_candidates(result)
    if result.grounding is not None and result.grounding.claims:
        click.echo("\n" + click.style("Why each verdict", bold=True))
        for claim in _told(result.grounding.claims):
            click.echo(f"  {claim_line(claim)}")
            for line in feature_lines(claim):
                click.echo(click.style(f"      {plain(line)}", dim=True))
    spent = ", ".join(f"{name} {value:.1f} ms" for name, value in result.timings.items())
    click.echo(f"\n  {spent}")
    record = ", ".join(f"{name} {value}" for name, value in result.fingerprints.items())
    click.echo(f"  {plain(record)}, trace {plain(result.trace_id)}  (--json keeps the request too)")


def _show_candidates(result: QueryResult) -> None:
    words = result.lexical_weight
    legs = "" if words is None else f" (words {words:.2f}, vectors {1 - words:.2f})"
    click.echo("\n" + click.style(f"{len(result.candidates):,} candidates{legs}", bold=True))
    if result.candidates:
        click.echo("  " + _columns("source", "part", "fused", "words", "vector", "score  place"))
    markers = {source.id: f"[{source.index}]" for source in result.sources if source.cited}
    parts = {part: str(number) for number, part in enumerate(result.sub_queries, start=1)}
    several = has_several_corpora(result)
    for hit in result.candidates:
        marker, part = markers.get(hit.chunk.id, "-"), parts.get(hit.sub_query, "-")
        click.echo("  " + candidate_line(hit, marker=marker, part=part, name_corpus=several))


def _tier_lines(chosen: ClassificationResult) -> Iterator[str]:
    """Yield who decided, by what threshold, what was thought of each tier and by which signals."""
    yield chosen.reasoning
    limit = "" if chosen.threshold is None else f", threshold {chosen.threshold:.2f}"
    yield f"decided by {chosen.decided_by.value}, confidence {chosen.confidence:.2f}{limit}"
    if chosen.escalated_from is not None:
        yield f"raised from {chosen.escalated_from.label}: confidence below the threshold"
    if chosen.scores:
        shown = ", ".join(f"{name} {value:.2f}" for name, value in chosen.scores.items())
        yield f"probabilities: {shown}"
    for name, weight in chosen.signals:
        yield f"{weight:+.2f}  {name}"


def _routing_lines(routing: SourceRouting) -> Iterator[str]:
    """Yield who chose among the sources, and what was thought of each."""
    who = f"{routing.router} ({routing.model})" if routing.model else routing.router
    yield f"decided by {who}, confidence {routing.confidence:.2f}"
    if routing.reason:
        yield routing.reason
    for item in routing.assessments:
        said = "-" if item.probability is None else f"{item.probability:.2f}"
        limit = "" if item.threshold is None else f" (from {item.threshold:.2f})"
        state = "" if item.status is AnswerStatus.ANSWERED else f", {item.status.value}"
        yield f"{'used' if item.chosen else 'not '}  {said}{limit}{state}  {item.name}"


def candidate_line(hit: Hit, *, marker: str, part: str, name_corpus: bool = False) -> str:
    """Return the ranks of one candidate in columns.

    Args:
        hit: The candidate.
        marker: ``[n]`` of the source that it became, ``-`` when the answer does not cite it.
        part: Number of the part of the question that found it, ``-`` for the whole question.
        name_corpus: Put the name of its source before the path.
    """
    fused = "-" if hit.fused_rank is None else f"#{hit.fused_rank}"
    words = _rank(hit.lexical_rank, hit.lexical_score)
    vector = _rank(hit.vector_rank, hit.vector_score)
    document = hit.document
    where = _place(document.source, document.path, document.uri, name_corpus=name_corpus)
    place = f"{where}:{hit.chunk.line_start}-{hit.chunk.line_end}"
    trail = one_line(" › ".join(hit.chunk.heading_path), 48)
    note = f"  ({hit.note})" if hit.note else ""
    last = f"{hit.score:.3f}  {place} {trail}{note}"
    return plain(_columns(marker, part, fused, words, vector, last))


def _columns(*cells: str) -> str:
    source, part, fused, words, vector, last = cells
    return f"{source:<6}  {part:<4}  {fused:<5}  {words:<12} {vector:<12} {last}"


def _rank(rank: int | None, score: float | None) -> str:
    if rank is None:
        return "-" if score is None else f"- ({score:.2f})"
    return f"#{rank}" + ("" if score is None else f" ({score:.2f})")
