"""A model's answer made safe while it comes: no images, links, raw HTML or list of sources."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from fingerpost.generate.plain import neutralise, safe_prose

_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})([^\n]*)")
_MARKERS = r"(?:\[[0-9][0-9, ]{0,20}\]){1,5}(?![(\[:])"
# Code on one line, or a footnote's number that stands for a marker and does not define one.
_FOOTNOTE = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)|\[\^([0-9]{1,3})\](?!:)")
# A fence behind the marks of a list item, and tildes that would open one behind other marks.
_ITEM_FENCE = re.compile(r"( ?(?:[-*+]|\d[.)]) )((?:`{3,}[^`\n]*|~{3,}[^\n]*)\n?)")
_TILDES = re.compile(r"(?:[\s>]|[-*+](?=\s)|\d{1,9}[.)](?=\s))*(?=~~~)")
# One word with the blank behind it in which nothing can become active, whatever follows.
_FLOWING = re.compile(
    rf"(?:[^\s`<\[\]\\@:&!\x1b]|![!?.]*(?=\s)|:(?=\s)|`[^`\n]{{1,200}}`(?!`)|{_MARKERS})*\s"
)
_WEB = re.compile(r"www\.", re.IGNORECASE)
_LISTED = re.compile(r"\s*(?:$|[-*+•]|\d{1,3}[.)]|\[\d{1,3}\]|\|)")
_SOURCES = (
    "sources", "source", "references", "reference", "citations", "citation", "quellen", "quelle",
    "fuentes", "referencias", "fontes", "fonti", "références", "bronnen", "источники", "来源",
    "參考資料", "参考资料", "出典", "참고", "المصادر", "แหล่งที่มา",
)  # fmt: skip
_DECORATION = " \t#*_>:：-"
_LEAD = _DECORATION + "+0123456789.)"
_SAID_INLINE = re.compile(r"[\s*_]*[:：](?P<rest>.*)", re.DOTALL)
_ONLY_PLACES = re.compile(
    r"(?:\s|[,;、]|\[\d{1,3}\]|\*|_|`[^`\n]*`|[\w./-]{1,200}\.(?:mdx?|rst|html?|txt))*"
)
_OPENS = re.compile(r"[\[<!]|`{3}|~{3}|`{1,2}$|~{1,2}$")
_BLANK = re.compile(r"\s")
_LONGEST_LEAD = 200
_LONGEST_LIST = 2_000
_LONGEST_LINE = 20_000


@dataclass(slots=True)
class SafeStream:
    """Makes text safe that arrives in pieces split anywhere.

    Images vanish; a link leaves its text; an address becomes inline code when it stands in the
    documents and three dots otherwise; raw HTML goes; fenced code stays as it is. A list of
    sources that ends the answer is dropped, and so is what fenced the documents for the model. A
    line is held back only from the first sign in it that could become active.

    Attributes:
        known: Text of the documents; an address that stands in it may be named.
        delimiter: Letters of the lines between which the documents stood, empty for none.
    """

    known: str = ""
    delimiter: str = ""
    _held: str = ""
    _fence: tuple[int, str] | None = None
    _doubted: bool = False
    _fresh_line: bool = True
    _tail: list[str] = field(default_factory=list)
    _cut: str = ""

    def feed(self, delta: str) -> str:
        """Take the next piece and return the safe text that is certain by now."""
        delta, self._cut = self._cut + delta, ""
        if delta.endswith("\r"):
            delta, self._cut = delta[:-1], "\r"
        self._held += _BREAKS.sub("\n", delta)
        out = self._whole_lines()
        return out + self._flowing() if _BLANK.search(delta) else out

    def close(self) -> str:
        """Return the safe rest; nothing may be fed afterwards."""
        out = self._whole_lines()
        rest, self._held = self._held, ""
        out += self._line(rest) if rest else ""
        self._tail.clear()  # a list of sources was the end
        return out

    def _whole_lines(self) -> str:
        out: list[str] = []
        while (end := self._held.find("\n") + 1) or len(self._held) > _LONGEST_LINE:
            end = end or _LONGEST_LINE
            line, self._held = self._held[:end], self._held[end:]
            out.append(self._line(line))
        return "".join(out)

    def _line(self, line: str) -> str:
        """Return the safe form of a line, or of its rest when its beginning is out already."""
        fresh, self._fresh_line = self._fresh_line, line.endswith("\n")
        line = neutralise(line)
        if self._is_marked(line):
            bare = re.sub(rf"<{{0,3}}{re.escape(self.delimiter)}>{{0,3}}", "", line)
            if fresh and not bare.strip() and not line[0].isspace():
                return ""
            line = bare
        if fresh:
            return self._fresh(line)
        return safe_prose(_as_markers(line), self.known, whole_line=False)

    def _fresh(self, line: str) -> str:
        """Return the safe form of a line from its beginning on."""
        item = None if self._fence else _ITEM_FENCE.fullmatch(line)
        if item is not None and not self._doubted:  # on a line of its own it is one everywhere
            return f"\n{item[1].rstrip()}\n" + self._fresh(" " * len(item[1]) + item[2])
        if self._in_fence(line):
            return self._released() + line
        if self._ends_answer(line):
            self._tail.append(line)
            return ""
        return self._released() + self._prose(line)

    def _prose(self, line: str) -> str:
        """Return a line of prose made safe, which opens no fence that was not seen."""
        fence = _FENCE.fullmatch(line.rstrip("\n")) if self._doubted else None
        if fence is not None and not set(fence[3]) & {"`", "|"}:
            info = safe_prose(fence[3], self.known, whole_line=False)
            return f"{fence[1]}{fence[2]}{info}" + "\n" * line.endswith("\n")
        safe = safe_prose(_as_markers(line), self.known, whole_line=True)
        tildes = _TILDES.match(safe)
        return safe if tildes is None else f"{tildes.group()}\\{safe[tildes.end() :]}"

    def _is_marked(self, text: str) -> bool:
        return bool(self.delimiter) and self.delimiter in text

    def _released(self) -> str:
        """Return what was held back as a list of sources and turned out not to be the end."""
        held, self._tail = self._tail, []
        return "".join(map(self._prose, held))

    def _in_fence(self, line: str) -> bool:
        """Return whether the line is fenced code in every renderer; opens and closes fences.

        A line less indented than its fence may have left it, with the list that it stood in.
        From there on no renderer is sure what is code, and nothing is taken for it.
        """
        bare = line.rstrip("\n")
        found = _FENCE.fullmatch(bare)
        if self._fence is not None:
            indent, mark = self._fence
            if bare.strip() and len(bare) - len(bare.lstrip(" ")) < indent:
                self._fence, self._doubted = None, True
                return False
            if found and found[2].startswith(mark) and not found[3].strip():
                self._fence = None
            return True
        if self._doubted or found is None or ("`" in found[2] and "`" in found[3]):
            return False
        if "|" in found[3]:  # it may turn out to be the head of a table
            return False
        self._fence = (len(found[1]), found[2])
        return True

    def _ends_answer(self, line: str) -> bool:
        """Return whether the line begins or carries on a list of sources."""
        if self._tail and _LISTED.match(line):
            return True
        word = line.strip(_DECORATION + "\n").casefold()
        if word in _SOURCES:
            return True
        for name in _SOURCES:
            if word.startswith(name):
                said = _SAID_INLINE.fullmatch(word[len(name) :])
                rest = said["rest"] if said is not None else "?"
                if len(rest) <= _LONGEST_LIST and _ONLY_PLACES.fullmatch(rest):
                    return True
        return False

    def _flowing(self) -> str:
        """Return the words of an unfinished line that nothing to come can change."""
        if self._fence is not None or self._tail:
            return ""
        if self._fresh_line and self._undecided():
            return ""
        end = 0
        while found := _FLOWING.match(self._held, end):
            if _WEB.search(found.group()) or self._is_marked(found.group()):
                break
            end = found.end()
        if self._fresh_line and not self._held[:end].strip(_LEAD):
            return ""
        out, self._held = self._held[:end], self._held[end:]
        self._fresh_line = self._fresh_line and not out
        return neutralise(out)

    def _undecided(self) -> bool:
        """Return whether the line so far may open a fence, define a link or list sources."""
        bare = neutralise(self._held[:_LONGEST_LEAD]).lstrip(" ")
        said = bare.lstrip(_LEAD)
        if not said or bare[0] in "`~" or _OPENS.match(said):
            return True
        word = bare.strip(_DECORATION).casefold()
        return any(name.startswith(word) or word.startswith(name) for name in _SOURCES)


def _as_markers(line: str) -> str:
    """Return the line with footnotes such as ``[^1]`` as markers, outside of code."""
    if "[^" not in line:
        return line
    return _FOOTNOTE.sub(lambda found: f"[{found[2]}]" if found[2] else found[0], line)
