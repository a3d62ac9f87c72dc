"""What the markers of an answer point at."""

from __future__ import annotations

import re
from urllib.parse import quote

from fingerpost.generate.plain import neutralise, plain_text
from fingerpost.types import Answer, Evidence, Hit, SourceCitation
from fingerpost.types.document import pages_of, readable_text
from fingerpost.types.evidence import MatchType
from fingerpost.types.origin import at_lines, commit_of
from fingerpost.types.source import PLATFORM

_MAX_SNIPPET = 300
_MIN_QUOTE = 20
_MAX_VERSION = 40
_SUFFIX = re.compile(
    r"(?:/?(?:index|readme|_index))?\.(?:mdx?|markdown|rst|html?|txt|ipynb)$", re.IGNORECASE
)
_SLUG = re.compile(r"[^\w\- ]+")


def cite_sources(
    answer: Answer, evidence: Evidence, *, docs_url: str | None = None
) -> tuple[SourceCitation, ...]:
    """Return the sources of an answer, numbered from 1 in the order of their markers.

    Source ``n`` is the chunk ``answer.cited_chunk_ids[n - 1]``; hits that the answer does not
    use are left out. An answer that cites nothing because it abstained gets the nearest hits,
    best first, with ``cited=False``.

    Args:
        answer: With its chunk ids.
        evidence: That the answer was made from.
        docs_url: Where the documents are published; gives each source a ``url``.

    Raises:
        ValueError: The answer cites a chunk that the evidence does not hold.
    """
    if answer.abstention is not None:
        return tuple(
            _source(index, hit, docs_url, start=None, cited=False)
            for index, hit in enumerate(evidence.hits, start=1)
        )
    by_id = {hit.chunk.id: hit for hit in (*evidence.candidates, *evidence.hits)}
    starts: dict[int, int] = {}
    for citation in answer.citations:
        if citation.quote is not None:
            starts.setdefault(citation.source_index, citation.quote.start)
    used = {citation.source_index for citation in answer.citations}
    sources: list[SourceCitation] = []
    for index, chunk_id in enumerate(answer.cited_chunk_ids, start=1):
        if chunk_id not in by_id:
            raise ValueError(f"The answer cites chunk {chunk_id}, which is not in the evidence.")
        hit, start = by_id[chunk_id], starts.get(index)
        sources.append(_source(index, hit, docs_url, start=start, cited=index in used))
    return tuple(sources)


def _source(
    index: int, hit: Hit, docs_url: str | None, *, start: int | None, cited: bool
) -> SourceCitation:
    chunk, document = hit.chunk, hit.document
    headings = tuple(plain_text(heading) for heading in chunk.heading_path)
    repo, commit = ("", "") if hit.match_type is MatchType.SOURCE else commit_of(document)
    pages = pages_of(document, chunk)
    return SourceCitation(
        index=index,
        id=chunk.id,
        title=plain_text(document.title),
        uri=_line(document.uri),
        path=_line(document.path),
        heading=headings[-1] if headings else "",
        heading_path=headings,
        line_start=chunk.line_start,
        line_end=chunk.line_end,
        snippet=_snippet(hit, start),
        relevance_score=min(max(hit.score, 0.0), 1.0),
        match_type=hit.match_type,
        source=_line(document.source),
        document_id=document.id,
        url=_url(hit, docs_url),
        language=chunk.language,
        cited=cited,
        page_start=pages[0] if pages else None,
        page_end=pages[1] if pages else None,
        version=_line(document.version)[:_MAX_VERSION],
        also_in=tuple(_line(path) for path in hit.copies),
        repo=_line(repo),
        commit=_line(commit),
    )


def _line(text: str) -> str:
    return " ".join(neutralise(text).split())


def _snippet(hit: Hit, start: int | None) -> str:
    """Return the source's own words from the first quoted ones on, cut at a word."""
    begin = 0 if start is None else max(0, start - hit.chunk.span.start)
    words = readable_text(hit.chunk, hit.document.format)
    if words != hit.chunk.text:
        begin = max(0, words.find(hit.chunk.text[begin : begin + _MIN_QUOTE]))
    text = plain_text(words[begin : begin + 4 * _MAX_SNIPPET])
    if len(text) <= _MAX_SNIPPET:
        return text
    cut = text[: _MAX_SNIPPET - 1]
    word = cut.rfind(" ")
    return (cut[:word] if word > _MAX_SNIPPET // 2 else cut) + "…"


def _url(hit: Hit, docs_url: str | None) -> str | None:
    """Return the published address of the section: path without suffix, heading as anchor.

    Of a passage from the host's own retriever the web address that came with it, of a
    repository's document that of its lines, of a page of a saved website its own.
    """
    if hit.match_type is MatchType.SOURCE:
        address = _line(hit.document.uri)
        return address if address.startswith(("https://", "http://")) else None
    if commit_of(hit.document)[1]:
        return at_lines(hit.document, hit.chunk.line_start, hit.chunk.line_end)
    if hit.document.uri.startswith(("https://", "http://")):  # of a saved website
        return _line(hit.document.uri)
    if not docs_url or hit.document.uri.startswith(f"{PLATFORM}:"):
        return None
    page = _SUFFIX.sub("", hit.document.path)
    address = f"{docs_url.rstrip('/')}/{quote(page, safe='/', errors='replace')}"
    if not hit.chunk.heading_path:
        return address
    slug = _SLUG.sub("", _line(hit.chunk.heading_path[-1]).lower()).strip().replace(" ", "-")
    return f"{address}#{quote(slug, errors='replace')}" if slug else address
