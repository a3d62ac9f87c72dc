"""Text of documents made safe and readable: no images, links, raw HTML or control codes.

What a document says is shown to people and fed to renderers, so it is rebuilt as plain prose:
link text stays and targets go, addresses become inline code that no renderer follows, and
whatever could steer a terminal or reverse the reading direction is removed.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from functools import lru_cache

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)?|[@-Z\\-_])")
_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# C0 and C1 controls but tab and line feed, direction overrides and isolates, tag characters and
# supplementary variation selectors (both smuggle hidden text), byte order marks, surrogates.
_UNSAFE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e01ef\ud800-\udfff]"
)
_CODE_SPAN = re.compile(r"(?<!`)(`{1,4})(?!`)([^`]{1,2000}|[^\n]{1,2000}?[^`])(?<!`)\1(?!`)")
_COMMENT = re.compile(r"<!--.*?(?:-->|$)|\{/\*.*?(?:\*/\}|$)", re.DOTALL)
_SHORTCODE = re.compile(r"\{\{[<%].{0,500}?[>%]\}\}|\{[#:][^{}\n]{1,200}\}", re.DOTALL)
_BADGE = re.compile(r"\[!\[[^\]]{0,500}\]\([^()]{0,2000}\)\]\([^()]{0,2000}\)")
_IMAGE = re.compile(
    r"!\[[^\]]{0,1000}\](?:\((?:[^()]|\([^()]{0,500}\)){0,2000}\)|\[[^\]]{0,200}\])"
)
_LINK = re.compile(
    r"\[((?:[^\[\]]|\[[^\[\]]{0,300}\]){0,1000})\]"
    r"(?:\((?:[^()]|\([^()]{0,500}\)){0,2000}\)|\[[^\[\]]{0,200}\])"
)
_REFERENCE = re.compile(r"^\s{0,8}\[[^\]\n]{1,300}\]:\s*\S.*$", re.MULTILINE)
# A definition may stand in a quote or a list, and its address on the next line.
_DEFINITION = re.compile(r"^(?:[\s>*+\-]|\d{1,9}[.)])*\[[^\]\n]{1,300}\]:.*$", re.MULTILINE)
_GAP = re.compile(r"(?<=\S)[ \t]{2,}(?=\S)")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,100}\]:?")
_ROLE = re.compile(r":[a-z][a-z:+-]{1,30}:`([^`<>]{1,300}?)(?:\s*<[^<>`]{0,300}>)?`")
_RST_LINK = re.compile(r"`([^`<>]{1,300}?)\s*<[^<>`]{1,500}>`__?")
_RST_TARGET = re.compile(r"`([^`<>]{1,300})`__?(?!\w)")
_AUTOLINK = re.compile(r"<((?:[a-zA-Z][a-zA-Z0-9+.-]{1,30}:|[^\s<>@]{1,100}@)[^\s<>]{1,2000})>")
_BREAK_TAG = re.compile(r"<(?:br|hr|/p|/li|/div|/td|/th)\b[^<>]{0,200}>", re.IGNORECASE)
_LINE_TAG = re.compile(r"\s*(?:<br\s*/?>\s*)+", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][\w.:-]{0,60}(?:\s[^<>]{0,1000}|/)?>|<[!?/]?>")
_BOLD = re.compile(r"(\*\*\*|\*\*|\*)(?=[^\s*])([^*\n]{1,1000}?)(?<=[^\s*])\1")
_UNDERLINED = re.compile(r"(?<![\w`])(__?)(?=[^\s_])([^_\n]{1,1000}?)(?<=[^\s_])\1(?![\w`])")
_STRUCK = re.compile(r"~~(?=\S)([^~\n]{1,1000}?)~~")
_DUNDER = re.compile(r"(?<![\w`])__[a-z][a-z0-9]{0,40}__(?![\w`])")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
# Marks of a block quote on its further lines; its first is left out by whoever cuts the text.
_QUOTED = re.compile(r"(?<=\n)[ \t]{0,12}>[ \t]?")
_ADMONITION = re.compile(
    r"^\s*\[!\w{1,20}\]\s*|^\s*(?:\.\. |:{2,4})\w[\w-]{0,30}(?:::)?\s*", re.MULTILINE
)
_ADDRESS = re.compile(
    r"(?<![a-zA-Z`])(?:(?:[a-zA-Z][a-zA-Z0-9+.-]{1,30}://|www\.)[^\s<>`\"'）」】]{1,2000}"
    r"|(?:javascript|data|vbscript|mailto|file):[^\s<>`]{1,2000}"
    r"|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+)",
    re.IGNORECASE,
)
_ELEMENT = re.compile(r"</?[A-Za-z!?][^<>\n]{0,200}>")
_INDEXED = re.compile(r"(?<![\w`])[\w.]{1,80}(?:\[\s*\d{1,6}\s*\])+")
_BRACKETED = re.compile(r"[\[［【]\s*(\d[\d\s,，、-]{0,40})[\]］】]")
_BLANKS = re.compile(r"\s+")
_TICKS = re.compile(r"`+")
# While prose is rewritten, each code span is one character of a private range.
_FIRST_SPAN = 0xE100
_MAX_SPANS = 0x1000
_PRIVATE = re.compile("[\ue100-\uf0ff]")
# Where the ticks of a code span would be escaped, or join those of its neighbour.
_TOUCHING = re.compile(r"(?<=[\\\ue100-\uf0ff])(?=[\ue100-\uf0ff])")
_ACTIVE_SIGN = re.compile(r"[\[\]<`@\\&\ue100-\uf0ff]|//|(?i:www\.|[a-z]:\S)")
# Without any of these a text is plain already.
_MARKUP = re.compile(r"[\[\]［【<>`*_~\\{}&@]|//|\.\.|::|(?i:www\.|[a-z]:\S)")


def neutralise(text: str) -> str:
    r"""Return the text without terminal sequences, direction overrides and hidden characters.

    Line breaks become ``\n``; tabs, joiners and direction marks that scripts need stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub("", _BREAKS.sub("\n", _ANSI.sub("", text)))


def plain_text(markup: str) -> str:
    """Return what a reader sees of inline Markdown, MDX, reStructuredText or HTML, on one line.

    Inline code stays in backticks, addresses and literal tags become inline code, images and
    link targets vanish. The result holds no link, image or tag in any Markdown renderer, and
    no ``[1]`` outside code that could pass for a marker of ours. What was read lately is
    remembered: questions about one subject find the same chunks.
    """
    return _remembered(markup) if len(markup) <= _MAX_REMEMBERED else _plain(markup)


_MAX_REMEMBERED = 1_200


def _plain(markup: str) -> str:
    text = neutralise(markup)
    if not _MARKUP.search(text):
        return _BLANKS.sub(" ", text).strip()
    text = _QUOTED.sub("", text) if ">" in text else text
    text = _BLANKS.sub(" ", _unlinked(_ADMONITION.sub("", text)))
    if "`" in text:
        text, spans = _set_aside(text)
        text = _put_back(_prose(text), spans)
    else:
        text = _prose(text)
    return _BLANKS.sub(" ", text).strip()


_remembered = lru_cache(maxsize=2_048)(_plain)


def code_text(code: str) -> str:
    """Return code as written but for control codes, trailing blanks and outer blank lines."""
    lines = [line.rstrip() for line in neutralise(code).expandtabs(4).split("\n")]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    margin = min((len(x) - len(x.lstrip(" ")) for x in lines if x), default=0)
    return "\n".join(line[margin:] for line in lines)


def safe_prose(markup: str, known: str, *, whole_line: bool) -> str:
    """Return a line of a model's Markdown with nothing active left in it; emphasis stays.

    Args:
        markup: One line, or the rest of one; its line end stays.
        known: Text of the documents; an address that stands in it becomes inline code, any
            other three dots.
        whole_line: The line's beginning is there, so that it may define a link.
    """
    text = neutralise(markup)
    if not _ACTIVE_SIGN.search(text):
        return text
    text, spans = _lifted(text)
    text = _COMMENT.sub("", text)
    if whole_line:
        text = _DEFINITION.sub("", text)
    shown = _FOOTNOTE.sub("", _IMAGE.sub("", _BADGE.sub("", text)))
    text = text if shown == text else _GAP.sub(" ", shown)
    text = _LINK.sub(_link_text, _LINK.sub(_link_text, text))
    text = _TAG.sub("", _BREAK_TAG.sub(" ", _AUTOLINK.sub(r"\1", text)))

    def address(found: re.Match[str]) -> str:
        shown = _address_as_code(found)
        _, named, after = shown.split("`") if "`" in shown else ("", "", shown)
        is_known = named and not _PRIVATE.search(named) and named in known
        if not is_known or len(spans) == _MAX_SPANS:
            return f"…{after}"
        return f"{_stand_in(spans, f'`{named}`')}{after}"

    text = _ADDRESS.sub(address, text)
    text = re.sub(r"<(?=[A-Za-z/!?])", "< ", text.replace("![", "! ["))
    if whole_line:  # what went may have stood before one
        text = _DEFINITION.sub("", text)
    text = _TOUCHING.sub(" ", re.sub(r"\](?=\()", "] ", text))
    return _PRIVATE.sub(lambda found: spans[ord(found.group()) - _FIRST_SPAN], text)


def _lifted(text: str) -> tuple[str, list[str]]:
    """Return a line with a private character for each code span, and the spans as written.

    Back-ticks that no renderer is sure to pair on this line become apostrophes: such as open
    a span that another line may close, and all from one on that a backslash may take away.
    """
    text = _PRIVATE.sub("", text)
    runs = list(_TICKS.finditer(text))
    later: dict[int, list[int]] = {}
    for at in range(len(runs) - 1, -1, -1):
        later.setdefault(len(runs[at].group()), []).append(at)
    spans: list[str] = []
    parts: list[str] = []
    done = at = 0
    while at < len(runs) and len(spans) < _MAX_SPANS:
        begin = runs[at].start()
        if text[begin - 1 : begin] == "\\":
            break
        alike = later[len(runs[at].group())]
        while alike and alike[-1] <= at:
            alike.pop()
        if alike:
            parts.append(text[done:begin].replace("`", "'"))
            at = alike[-1]
            done = runs[at].end()
            parts.append(_stand_in(spans, text[begin:done]))
        at += 1
    parts.append(text[done:].replace("`", "'"))
    return "".join(parts), spans


def _stand_in(spans: list[str], span: str) -> str:
    """Keep a code span and return the character that stands for it."""
    spans.append(span)
    return chr(_FIRST_SPAN + len(spans) - 1)


def _link_text(found: re.Match[str]) -> str:
    """Return a link's text; a marker that was made a link is a marker again."""
    text = found.group(1).strip()
    if not text.strip("[] ").isdigit():
        return text
    return found.group() if found.group().endswith("]") else f"[{text.strip('[] ')}]"


def _unlinked(text: str) -> str:
    """Return the text with links, roles and comments that may hold code spans resolved."""
    if "`" in text:
        text = _ROLE.sub(r"`\1`", text)
        text = _RST_TARGET.sub(r"\1", _RST_LINK.sub(r"\1", text)) if "`_" in text else text
    if "<!" in text or "{/" in text:
        text = _COMMENT.sub(" ", text)
    if "[" not in text:
        return text
    text = _IMAGE.sub("", _BADGE.sub("", text))
    text = _FOOTNOTE.sub("", _REFERENCE.sub("", text))
    return _LINK.sub(r"\1", _LINK.sub(r"\1", text))


def _set_aside(text: str) -> tuple[str, list[str]]:
    """Return the text with a private character for each code span, and the spans."""
    spans: list[str] = []

    def keep(found: re.Match[str]) -> str:
        if len(spans) == _MAX_SPANS:
            return found.group(2).replace("`", "'")
        return _stand_in(spans, _code_span(found.group(2)))

    return _CODE_SPAN.sub(keep, _PRIVATE.sub("", text)), spans


def _put_back(text: str, spans: list[str]) -> str:
    """Return the text with its code spans; one that fell into inserted code loses its ticks."""
    parts = text.split("`")
    for at in range(len(parts)):
        inside = at % 2 == 1
        parts[at] = _PRIVATE.sub(lambda found: _span_of(found.group(), spans, inside), parts[at])  # noqa: B023 - used at once
    return "`".join(parts)


def _span_of(private: str, spans: list[str], inside: bool) -> str:  # noqa: FBT001 - private
    span = spans[ord(private) - _FIRST_SPAN]
    return span.strip("`") if inside else span


def _outside_code(text: str, rewrite: Callable[[str], str]) -> str:
    """Return the text with ``rewrite`` applied between code spans, which become one-line."""
    if "`" not in text:
        return rewrite(text)
    parts: list[str] = []
    at = 0
    for found in _CODE_SPAN.finditer(text):
        parts.extend((rewrite(text[at : found.start()]), _code_span(found.group(2))))
        at = found.end()
    parts.append(rewrite(text[at:]))
    return "".join(parts)


def _code_span(content: str) -> str:
    """Return inline code that no content can break out of."""
    line = _BLANKS.sub(" ", content).strip().replace("`", "'")
    return f"`{line}`" if line else ""


def _prose(text: str) -> str:
    """Return prose between code spans without markup; addresses and tags become code."""
    if not text:
        return text
    text = text.replace("`", "'")
    if "<" in text:
        text = _LINE_TAG.sub(_line_break, text)
        text = _TAG.sub("", _BREAK_TAG.sub(" ", _AUTOLINK.sub(r"\1", text)))
    if "{" in text:
        text = _SHORTCODE.sub("", text)
    text = _without_emphasis(text)
    if "\\" in text:
        text = _ESCAPE.sub(r"\1", text)
    if "&" in text:
        text = neutralise(html.unescape(text)).replace("`", "'")
    return _defused(text)


def _line_break(found: re.Match[str]) -> str:
    """Return what parts two lines on one: nothing more where punctuation parts them already."""
    before = found.string[: found.start()].rstrip("*_ ")[-1:]
    inside = before and found.end() < len(found.string)
    return (
        "; "
        if inside and (before.isalnum() or before in "`'\")" or _PRIVATE.match(before))
        else " "
    )


def _without_emphasis(text: str) -> str:
    if "*" in text:
        text = _BOLD.sub(r"\2", _BOLD.sub(r"\2", text))
    if "_" in text:
        text = _DUNDER.sub(r"`\g<0>`", text)
        text = _outside_code(text, lambda part: _UNDERLINED.sub(r"\2", part))
    return _STRUCK.sub(r"\1", text) if "~~" in text else text


def _defused(text: str) -> str:
    """Return prose in which nothing is active Markdown or looks like a marker of ours."""
    text = _outside_code(text, lambda part: _ADDRESS.sub(_address_as_code, part))
    if "<" in text:
        text = _outside_code(text, lambda part: _ELEMENT.sub(_as_code, part))
        text = _outside_code(text, lambda part: re.sub(r"<(?=[A-Za-z/!?])", "< ", part))
    if not any(mark in text for mark in "[]［【"):
        return text
    text = _outside_code(text, lambda part: _INDEXED.sub(_as_code, part))
    return _outside_code(text, _without_brackets)


def _without_brackets(text: str) -> str:
    text = _BRACKETED.sub(r"(\1)", text)
    text = text.replace("![", "! [")
    return re.sub(r"\](?=[(\[:])", "] ", text)


def _as_code(found: re.Match[str]) -> str:
    return f"`{found.group()}`"


def _address_as_code(found: re.Match[str]) -> str:
    """Return an address as code; the punctuation of the sentence around it stays outside."""
    address = found.group()
    kept = address.rstrip(".,;:!?]}*_'\"")
    if kept.count(")") > kept.count("("):
        kept = kept.rstrip(").,;:")
    return f"`{kept}`{address[len(kept) :]}" if kept else address
