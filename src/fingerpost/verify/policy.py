"""What happens to claims that the sources do not support."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fingerpost.text.blocks import blocks
from fingerpost.types.answer import (
    AbstentionReason,
    Answer,
    ClaimVerdict,
    GenerationMode,
    SourceCitation,
    Verdict,
    VerifiedResponse,
)
from fingerpost.types.document import Span
from fingerpost.verify.verifier import OnUnsupported, summed_up

_DROPPED = frozenset((Verdict.CONTRADICTED, Verdict.UNVERIFIABLE))
_ONLY_SIGNS = re.compile(r"[\s>|*_+\-•‣◦·]*(?:\(?\d{1,3}[.)])?[\s>|*_\-]*(?:\[[ xX]\])?\s*")
_HEADING = re.compile(
    r"\s*(?P<heading>(?P<signs>#{1,6})(?:[ \t].*)?"
    r"|[^\r\n]+(?:\r\n|\r|\n) {0,3}(?P<line>=+|-+)"
    r"|(?P<bold>\*\*|__)[^*_\r\n]+(?<![.!。！])(?P=bold)\s*:?)\s*"
)
_BOLD_LEVEL = 7  # below every other heading
_BLANK_LINES = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))*")
_AFTER_BLANK_LINE = re.compile(r"(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)\Z")
_NOTHING_LEFT = "No statement of the answer is supported by its sources."


def apply_policy(
    answer_text: str, response: VerifiedResponse, policy: OnUnsupported
) -> tuple[str, tuple[ClaimVerdict, ...]]:
    """Return the answer's text after the policy and the claims that left it.

    ``drop`` takes out contradicted and unverifiable sentences with their markers, and the
    list item or table row when nothing of it is left, a heading whose whole text went, and the
    blank lines around them; weak and unchecked ones stay, flagged.
    ``flag`` changes nothing. ``repair`` does what ``drop`` does, once a model has written the
    sentences anew (`repair.rewrite_claims`) and they were checked again. Claims without a place
    in the answer cannot be dropped. The text may become empty.
    """
    if policy is OnUnsupported.FLAG:
        return answer_text, ()
    dropped = unsupported(response)
    return _cut(answer_text, _ranges(answer_text, response)), dropped


def unsupported(response: VerifiedResponse) -> tuple[ClaimVerdict, ...]:
    """Return the claims that may not stay: contradicted or unverifiable, with their place."""
    return tuple(c for c in response.claims if c.verdict in _DROPPED and c.span is not None)


def is_grounded(response: VerifiedResponse | None) -> bool:
    """Return whether every claim is supported; ``None``, what was never checked, is not."""
    return response is not None and response.supported_count == response.total_claims


def apply_verdict_policy(
    answer: Answer,
    sources: Sequence[SourceCitation],
    grounding: VerifiedResponse,
    *,
    nothing_left: str = _NOTHING_LEFT,
) -> tuple[Answer, tuple[SourceCitation, ...], VerifiedResponse]:
    """Drop unsupported sentences from the answer; spans of what stays move along.

    Sources that only dropped sentences cited are no longer ``cited``. The grounding is that of
    the answer as it is now; dropped claims are in its ``removed``, without a span. An answer of
    which nothing is left abstains, with the text ``nothing_left``.
    """
    dropped = unsupported(grounding)
    if not dropped:
        return answer, tuple(sources), grounding
    ranges = _ranges(answer.text, grounding)
    text = _cut(answer.text, ranges)
    gone = {id(claim) for claim in dropped}
    claims = tuple(
        claim if claim.span is None else replace(claim, span=_moved(claim.span, ranges))
        for claim in grounding.claims
        if id(claim) not in gone
    )
    kept = tuple(
        replace(citation, span=_moved(citation.span, ranges))
        for citation in answer.citations
        if not any(start <= citation.span.start < end for start, end in ranges)
    )
    cited = {citation.source_index for citation in kept}
    shown = tuple(replace(one, cited=one.cited and one.index in cited) for one in sources)
    if not text.strip():
        changed = replace(
            answer, text=nothing_left, mode=GenerationMode.ABSTAINED, citations=(),
            abstention=AbstentionReason.EVIDENCE_TOO_WEAK,
        )  # fmt: skip
    else:
        changed = replace(answer, text=text, citations=kept)
    removed = (*grounding.removed, *(replace(claim, span=None) for claim in dropped))
    return changed, shown, summed_up(replace(grounding, claims=claims, removed=removed))


def _ranges(text: str, response: VerifiedResponse) -> list[tuple[int, int]]:
    """Return the ranges to cut, ascending and disjoint, with what they leave empty."""
    placed = [(claim.span, claim.verdict) for claim in response.claims if claim.span is not None]
    merged: list[tuple[int, int]] = []
    for span in sorted(span for span, verdict in placed if verdict in _DROPPED):
        start, end = max(span.start, merged[-1][1] if merged else 0), span.end
        if merged and not text[merged[-1][1] : start].strip(" \t"):
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif end > start:
            merged.append((start, end))
    lines = _joined([_widened(text, start, end) for start, end in merged])
    emptied = _joined([*lines, *_emptied_headings(text, lines, [span for span, _ in placed])])
    return _joined([_with_blank_lines(text, start, end, emptied) for start, end in emptied])


def _emptied_headings(
    text: str, ranges: Sequence[tuple[int, int]], claims: Sequence[Span]
) -> Iterator[tuple[int, int]]:
    """Yield the place of each heading that had text and has none left."""
    cuts = list(ranges)
    later: list[tuple[int, int]] = []  # (start, level) of the headings after, last one first
    for start, end, level in reversed(list(_headings(text))):
        if any(claim.start < end and claim.end > start for claim in claims):
            continue  # a sentence with a line under it
        over = next((at for at, other in reversed(later) if other <= level), len(text))
        later.append((start, level))
        had_text = any(end <= cut < over for cut, _ in ranges)
        if had_text and not _left(text, end, over, cuts).strip():
            cuts = _joined([*cuts, (start, end)])
            yield start, end


def _headings(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and level of each heading: with signs, underlined, or a bold line."""
    for block in blocks(text):
        match = None if block.is_code else _HEADING.fullmatch(text, block.start, block.end)
        if match is None:
            continue
        if match["signs"]:
            level = len(match["signs"])
        elif match["line"]:
            level = 1 if match["line"].startswith("=") else 2
        else:
            level = _BOLD_LEVEL
        yield match.start("heading"), block.end, level


def _with_blank_lines(
    text: str, start: int, end: int, ranges: Sequence[tuple[int, int]]
) -> tuple[int, int]:
    """Return the range with the blank lines that would be one too many once it is gone."""
    after = _BLANK_LINES.match(text, end)
    beyond = after.end() if after else end
    if not _left(text, 0, start, ranges).strip():
        return 0, beyond
    if not _left(text, end, len(text), ranges).strip():
        return len(text[:start].rstrip()), len(text)
    return start, beyond if _AFTER_BLANK_LINE.search(text, 0, start) else end


def _left(text: str, start: int, end: int, ranges: Sequence[tuple[int, int]]) -> str:
    """Return what the ranges leave of ``text[start:end]``."""
    inside = [(max(start, a), min(end, b)) for a, b in ranges if a < end and b > start]
    return _cut(text[start:end], [(a - start, b - start) for a, b in inside])


def _joined(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _widened(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the range with the blanks around it, or with its whole line when that empties."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    before, after = text[line_start:start], text[end:line_end]
    if _ONLY_SIGNS.fullmatch(before) and _ONLY_SIGNS.fullmatch(after):
        return line_start, min(len(text), line_end + 1)
    while end < line_end and text[end] in " \t":
        end += 1
    if end == line_end:
        while start > line_start and text[start - 1] in " \t":
            start -= 1
    return start, end


def _cut(text: str, ranges: Sequence[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in ranges:
        parts.append(text[at:start])
        at = end
    parts.append(text[at:])
    return "".join(parts)


def _moved(span: Span, ranges: Sequence[tuple[int, int]]) -> Span:
    return Span(_offset(span.start, ranges), _offset(span.end, ranges))


def _offset(at: int, ranges: Sequence[tuple[int, int]]) -> int:
    """Return where an offset of the old text stands in the new one."""
    return at - sum(min(at, end) - start for start, end in ranges if start < at)
