"""The claims of an answer: what it says that a source could bear out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fingerpost.text.sentences import sentences
from fingerpost.types.document import Span
from fingerpost.verify.blocks import prose_blocks
from fingerpost.verify.markers import Marker, find_markers
from fingerpost.verify.shown import only_links
from fingerpost.verify.unseen import JOINER, as_read

_WORDY = re.compile(r"[^\W_]")
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]{2}")
_MUCH_SAID = 12
_AT_ONCE = 20_000  # cut in a few milliseconds, whatever the time
_STOPS = ".!?。！？؟।…"
_CLOSERS = "\"'”’»)]}*_`"
_STOP_FOLLOWS = re.compile(r"\s*[.!?,;:。！？，](?:\s|$)")
_BEFORE_MARKER = _CLOSERS + " \t\n"
_QUESTION = re.compile(r"[?？؟;](?<!;)[\"'”’»)*_`\s]*$")
_DEFINITION = re.compile(r"\[[^\]\n]{1,100}\]:\s*\S+(?:\s+[\"'(][^\n]*)?$")
# Greetings, offers, and admissions of not knowing, at the start of a sentence.
_NO_CLAIM = re.compile(
    r"""^\W*(?:
    (?:hi|hello|hey|greetings|dear|thanks|thank\ you|you'?re\ welcome|sure|certainly|of\ course
      |great\ question|good\ question|absolutely|okay|ok|hallo|guten\ (?:tag|morgen|abend)
      |danke|gerne|bonjour|bonsoir|salut|merci|hola|buen[oa]s\ (?:d[ií]as|tardes|noches)|gracias
      |ciao|grazie|ol[áa]|obrigad[oa])\b[^.]{0,60}$
    |i(?:'m|\ am)?\ (?:do\ not|don'?t|did\ not|didn'?t|can(?:no|')t|could\ not|couldn'?t|am\ not
      |not|was\ not|wasn'?t|afraid|sorry|unable|hope|apologi[sz]e)\b
    |(?:we|i)\ (?:could\ not|couldn'?t|cannot|can'?t|did\ not|didn'?t)\ find
    |sorry\b|apologies\b|unfortunately,?\ (?:i|we|there\ is\ no\ information)\b
    |(?:it|this)\ (?:may|might|could)\ (?:help|be\ (?:helpful|useful|worth))\b
    |you\ (?:may|might|could)\ (?:want|wish|also\ (?:want|try|check)|try|consider|check)\b
    |(?:please\ )?let\ me\ know\b|feel\ free\b|(?:i\ )?hope\ (?:this|that|it)\b
    |if\ you\ (?:have|need)\ (?:any|more|further)\b
    |here(?:'s|\ is|\ are)\ (?:the|an?|some|what)\b[^.]*:?$
    |(?:the\ )?(?:provided\ |given\ |retrieved\ )?(?:documents?|sources?|contexts?|passages?
      |documentation)\ (?:do(?:es)?\ not|don'?t|doesn'?t)\ (?:say|mention|contain|provide|specify
      |answer|cover|state|include)\b
    |(?:no|not\ enough)\ (?:document|information|source)s?\b.{0,40}
      \b(?:match|found|available|answer)
    |ich\ (?:wei(?:ß|ss)\ (?:es\ )?nicht|bin\ (?:mir\ )?nicht)\b|leider\b|vielleicht\ hilft\b
    |je\ ne\ (?:sais|connais|peux|trouve)\b|d[ée]sol[ée]+\b|malheureusement\b
    |(?:yo\ )?no\ (?:lo\ )?(?:s[ée]|encuentro|puedo)\b|lo\ siento\b
    |das\ wei(?:ß|ss)\ ich\ (?:leider\ )?nicht\b|non\ lo\ so\b|n[ãa]o\ sei\b|nie\ wiem\b
    |nu\ [șşs]tiu\b|dat\ weet\ ik\ niet\b|не\ знаю\b|bilmiyorum\b|δεν\ (?:γνωρίζω|ξέρω)\b
    |tôi\ không\ biết\b|わかりません|分かりません|我不知道|抱歉|对不起|모르겠습니다
    |لا\ أعرف|मुझे\ नहीं\ पता|ไม่ทราบ
    |(?:you'?re\ welcome|gern\ geschehen|avec\ plaisir|de\ nada|prego)\W*$
    )""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """One checkable sentence, list item or table row.

    Attributes:
        text: Without markers and list signs, white space as single blanks.
        span: Where it stands in the answer, markers and final punctuation included.
        markers: Source numbers that it carries, in order, without repeats.
    """

    text: str
    span: Span | None
    markers: tuple[int, ...] = ()


def extract_claims(answer: str, is_late: Callable[[], bool] = lambda: False) -> list[Claim]:
    """Return the claims of the answer in reading order.

    Code blocks, headings, questions, greetings, hedges and short lead-ins that end in a colon
    and cite nothing are no claims; list items and table rows are. A marker before or after the
    full stop belongs to the sentence it follows. Comments and tags of HTML are not read, and a
    tag such as ``<li>`` begins a claim of its own. Once ``is_late``
    says so, all that follows in a long answer is one claim.
    """
    answer = as_read(answer)
    found: list[Claim] = []
    for block, listed in _short_blocks(answer):
        if block.start >= _AT_ONCE and is_late():
            rest = Span(block.start, len(answer.rstrip()))
            return [*found, Claim(_without(answer[rest.start :], 0, []), rest)]
        for span, markers in _sentences(answer, block):
            claim = _claim(answer, span, markers)
            if claim is not None and _checkable(claim, listed=listed):
                found.append(claim)
    return found


def _short_blocks(answer: str) -> Iterator[tuple[Span, bool]]:
    """Yield the blocks of the answer; one that takes long to cut, in parts."""
    for block, listed in prose_blocks(answer):
        at = block.start
        while block.end - at > _AT_ONCE:
            limit = at + _AT_ONCE
            stop = max(answer.rfind(sign, at, limit) for sign in (". ", "\n"))
            end = stop + 1 if stop > at else limit
            yield Span(at, end), listed
            at = end
        yield Span(at, block.end), listed


def listed_claim(text: str) -> Claim:
    """Return a claim that the caller listed: no place in an answer, its markers read."""
    found = find_markers(text)
    numbers = tuple(dict.fromkeys(number for marker in found for number in marker.numbers))
    return Claim(_without(text, 0, found), None, numbers)


def claims_of(answer: str, texts: list[str]) -> list[Claim]:
    """Return listed claims with their place in the answer where they stand there verbatim."""
    found, at = [], 0
    for text in texts:
        start = answer.find(text, at) if text.strip() else -1
        claim = listed_claim(text)
        if start >= 0:
            at = start + len(text)
            claim = Claim(claim.text, Span(start, at), claim.markers)
        found.append(claim)
    return found


def _claim(answer: str, span: Span, markers: list[Marker]) -> Claim | None:
    text = _without(answer[span.start : span.end], span.start, markers)
    numbers = tuple(dict.fromkeys(number for marker in markers for number in marker.numbers))
    return Claim(text, span, numbers) if text else None


def _without(text: str, offset: int, markers: list[Marker]) -> str:
    """Return the text without its markers, blanks collapsed, none between it and a full stop."""
    pieces: list[str] = []
    starts = [0, *(marker.end - offset for marker in markers)]
    ends = [*(marker.start - offset for marker in markers), len(text)]
    for start, end in zip(starts, ends, strict=True):
        if piece := text[start:end].replace(JOINER, "").strip():
            pieces += [piece] if _STOP_FOLLOWS.match(piece) else [" ", piece]
    return " ".join("".join(pieces).split())


def _checkable(claim: Claim, *, listed: bool) -> bool:
    text = claim.text
    bare = text.rstrip(_CLOSERS + " ")
    if not _WORDY.search(text) or (_QUESTION.search(text) and " | " not in text):
        return False
    if bare.endswith((":", "：")) and not (claim.markers or _says_much(text)):
        return False
    if _DEFINITION.match(text):
        return False
    if _NO_CLAIM.match(text) or (only_links(text) and not bare.endswith(tuple(_STOPS))):
        return False
    return listed or len(_WORD.findall(text)) > 1 or _UNSPACED.search(text) is not None


def _says_much(lead: str) -> bool:
    """Return whether a sentence that leads to what follows says something by itself."""
    return len(_WORD.findall(lead)) + len(_UNSPACED.findall(lead)) >= _MUCH_SAID


def _sentences(answer: str, block: Span) -> Iterator[tuple[Span, list[Marker]]]:
    """Yield each sentence of the block with its markers.

    Markers are blanked (after a full stop) or replaced by letters (inside a sentence) before
    the text is cut, so that no marker opens a sentence; afterwards a sentence takes over the
    markers that directly follow it.
    """
    text = answer[block.start : block.end]
    markers = find_markers(text)
    whole = [Span(0, len(text))] if _is_row(answer, block) else []
    spans = whole or sentences(_masked(text, markers))
    at = 0  # markers before this one have their sentence
    for number, span in enumerate(spans):
        limit = spans[number + 1].start if number + 1 < len(spans) else len(text)
        own: list[Marker] = []
        end = span.end
        while at < len(markers) and markers[at].start < limit:
            marker = markers[at]
            if marker.start >= end:
                if text[end : marker.start].strip():
                    break
                end = marker.end
            own.append(Marker(marker.numbers, marker.start + block.start, marker.end + block.start))
            at += 1
        yield Span(span.start + block.start, end + block.start), own


def _is_row(answer: str, block: Span) -> bool:
    """Return whether the block is a row of a table, which is one claim whatever is in its cells."""
    start = max(answer.rfind("\n", 0, block.start), answer.rfind("\r", 0, block.start)) + 1
    return answer[start : block.start].lstrip(" \t>").startswith("|")


def _masked(text: str, markers: Sequence[Marker]) -> str:
    """Return the text with blanks for markers after a full stop and letters for the others."""
    pieces: list[str] = []
    at, fill = 0, "x"
    for marker in markers:
        before = text[at : marker.start]
        # Markers in a row share the full stop before the first of them.
        if bare := before.rstrip(_BEFORE_MARKER):
            fill = " " if bare[-1] in _STOPS else "x"
        pieces += [before, fill * (marker.end - marker.start)]
        at = marker.end
    return "".join([*pieces, text[at:]])
