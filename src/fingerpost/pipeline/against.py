"""Any text, whoever wrote it, held against the documents of an index."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import unquote

from fingerpost.corpus.frontmatter import read_front_matter
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.pipeline.check import source_text
from fingerpost.retrieve import search
from fingerpost.stores.base import Reader
from fingerpost.types.answer import VerifiedResponse
from fingerpost.types.document import Document
from fingerpost.types.evidence import Hit
from fingerpost.verify import CitationVerifier, SourceText, extract_claims, listed_sources
from fingerpost.verify.unseen import without_comments

_MOST_CHARS = 2_000
_CANDIDATES = 8
_NAMED = re.compile(r"[\w./~%-]+\.[A-Za-z]{2,5}\b")


@dataclass(frozen=True, slots=True)
class CheckedText:
    """A text held against documents.

    Attributes:
        text: As it was given.
        found: The verdicts. Where nothing says what markers name, claims carry none.
        documents: Number → document, the listed ones under the numbers that the text gives them.
        listed: Marker → what the text's own list of sources says of it.
        unmatched: Markers of that list that name no document of the index.
    """

    text: str
    found: VerifiedResponse
    documents: Mapping[int, Document] = field(hash=False)
    listed: Mapping[int, str] = field(hash=False)
    unmatched: tuple[int, ...] = ()


def check_text(
    reader: Reader,
    text: str,
    verifier: CitationVerifier,
    *,
    searcher: EmbeddingModel | None = None,
    numbered: Mapping[int, str] | None = None,
    ignored_uri: str = "",
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> CheckedText:
    """Return what the documents say about each claim of the text.

    Candidates are searched for each claim by itself, so that the size of the index does not
    count; a document that the text's list of sources names is read whole.

    Args:
        reader: The index.
        text: Anything, with or without markers and a list of sources at its end.
        verifier: Holds the claims against what was found.
        searcher: The index's own embedding model; ``None`` searches by words alone.
        numbered: What markers name when the text has no list of its own.
        ignored_uri: A document that is no source: the text itself, where it is one of them.
        progress: Told how many of how many claims have been searched for.

    Raises:
        RetrievalError: The index could not be searched.
        VerificationError: See `CitationVerifier.verify`.
    """
    body, entries = listed_sources(_visible(text))
    listed = entries or dict(numbered or {})
    every = [one for one in reader.documents() if one.uri != ignored_uri] if listed else []
    named = {number: _named(said, every) for number, said in listed.items()}
    cited = {number: document for number, document in named.items() if document is not None}
    numbers = {document.id: number for number, document in cited.items()}
    hits = [
        Hit(chunk=stored.chunk, document=stored.document, score=1.0)
        for document in cited.values()
        for stored in reader.document_chunks(document.id)
    ]
    claims = extract_claims(body)
    if not listed:
        claims = [replace(claim, markers=()) for claim in claims]  # they mean nothing known
    for done, claim in enumerate(claims, start=1):
        query = claim.text[:_MOST_CHARS]
        near = search(reader, query, embedder=searcher, k=_CANDIDATES)
        hits += [hit for hit in near.hits if hit.document.uri != ignored_uri]
        progress(done, len(claims))
    sources = _sources(hits, numbers, first=max(listed, default=0) + 1)
    found = verifier.verify_sync(claims, sources)
    documents = {numbers[hit.document.id]: hit.document for hit in hits}
    return CheckedText(
        text=text,
        found=found,
        documents=documents,
        listed=listed,
        unmatched=tuple(number for number, document in named.items() if document is None),
    )


def _visible(text: str) -> str:
    """Return the text with blanks for its front matter and comments, so that offsets stay."""
    front = read_front_matter(text)
    end = max(front.end, front.opaque_end)
    return re.sub(r"[^\r\n]", " ", text[:end]) + without_comments(text[end:])


def _sources(hits: Iterable[Hit], numbers: dict[str, int], *, first: int) -> list[SourceText]:
    """Return each chunk once, under the number of its document; give new documents the next."""
    texts: dict[str, SourceText] = {}
    following = first
    for hit in hits:
        if hit.document.id not in numbers:
            numbers[hit.document.id] = following
            following += 1
        texts.setdefault(hit.chunk.id, source_text(hit, numbers[hit.document.id]))
    return list(texts.values())


def _named(said: str, documents: Iterable[Document]) -> Document | None:
    """Return the document that an entry names by path, address or title; the longest path wins."""
    told = unquote(said).casefold()
    tokens = [token.strip("./").casefold() for token in _NAMED.findall(unquote(said))]
    best: tuple[int, Document] | None = None
    for document in documents:
        path, title = document.path.casefold(), document.title.casefold().strip()
        shares = [
            min(len(path), len(token))
            for token in tokens
            if f"/{path}".endswith(f"/{token}") or f"/{token}".endswith(f"/{path}")
        ]
        score = 2 * max(shares, default=0)
        if not score and title and told.strip(" .*_`[]").startswith(title):
            score = 1
        if score and (best is None or score > best[0]):
            best = (score, document)
    return None if best is None else best[1]
