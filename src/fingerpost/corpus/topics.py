"""What a corpus is about, in the words of its headings."""

from __future__ import annotations

from collections import defaultdict

from fingerpost.stores.base import Reader

_MIN_REPEATS = 10
_MAX_SHARE = 0.02


def topics(reader: Reader, limit: int = 50) -> tuple[str, ...]:
    """Return unique headings, those that cover most text first, sources in turn.

    A heading covers the text of its section and of the sections below it. Headings that stand
    in many documents (more than 10 and 2 % of them: "Examples", "See also") say what the
    pages look like, not what they are about, and come after all others.

    Args:
        reader: The index.
        limit: Most topics.
    """
    sources = {document.id: document.source for document in reader.documents()}
    covered: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    spelled: dict[str, str] = {}
    documents: dict[str, set[str]] = defaultdict(set)
    for document_id, heading_path, n_chars in reader.headings():
        source = sources.get(document_id, "")
        for heading in dict.fromkeys(heading_path):
            folded = heading.casefold()
            spelled.setdefault(folded, heading)
            covered[source][folded] += n_chars
            documents[folded].add(document_id)
    often = max(_MIN_REPEATS, _MAX_SHARE * len(sources))
    ranked = [
        sorted(by_heading, key=lambda one: (len(documents[one]) > often, -by_heading[one], one))
        for _, by_heading in sorted(covered.items())
    ]
    chosen: dict[str, None] = {}
    for place in range(max((len(headings) for headings in ranked), default=0)):
        for headings in ranked:
            if place < len(headings) and len(chosen) < limit:
                chosen.setdefault(headings[place])
    return tuple(spelled[heading] for heading in chosen)
