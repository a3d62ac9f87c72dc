"""Laws of splitting, for any text."""

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from fingerpost.corpus import FileToPrepare, prepare_file
from fingerpost.corpus.blocks import parse_blocks
from fingerpost.corpus.decode import decode
from fingerpost.corpus.formats import even_lines
from fingerpost.corpus.mdx import blank_components
from fingerpost.text.tokens import estimate_tokens

LINES = st.sampled_from([
    "# Head", "## Sub ##", "Setext", "===", "---", "- item", "  - nested", "1. one", "2) two",
    "> quote", "> > deep", "```", "~~~py", "````", "    code", "\tcode", "| a | b |", "|---|:-:|",
    "| 1 | 2 |", "<div>", "</div>", "<!-- c", "-->", "<Tabs>", "[r]: /u", "text *a* `b_c`", "", "",
    " ", "***", "+++", "title: x", ":::tip[T]", ":::", "import x from 'y'", "export const a = {",
    "}", "a\x0bb\x0cc\x85d\u2028e", "\ufeff", "\x00", "lo" + "ng " * 150, "x" * 900, "中文字" * 40,
    "<p hidden>", "{/* c */}", "   ~~~", "\\", "![i](u)", "<pre>", "</pre>", "#", "####### no",
])  # fmt: skip
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])
DOCUMENTS = st.lists(st.tuples(LINES, ENDS), max_size=40).map(
    lambda lines: "".join(line + end for line, end in lines)
)
PATHS = st.sampled_from(["a.md", "a.mdx", "a.rst", "a.txt", "a.html", "a.ipynb"])
LIMITS = st.sampled_from([40, 80, 220])


def check(raw, path, max_tokens):
    outcome = prepare_file(FileToPrepare(raw, "docs", path, max_tokens=max_tokens))
    if not hasattr(outcome, "document"):
        return
    text = decode(raw).text
    chunks = outcome.document.chunks
    at = chunks[0].span.start if chunks else len(text)
    if chunks:
        assert text[:at].strip("\ufeff") == "" or text.lstrip("\ufeff")[:3] in ("---", "+++")
    for ordinal, chunk in enumerate(chunks):
        assert chunk.ordinal == ordinal
        assert chunk.span.start == at
        assert text[chunk.span.start : chunk.span.end] == chunk.text
        assert chunk.text
        at = chunk.span.end
        assert estimate_tokens(chunk.search_text) <= max_tokens
        assert chunk.n_tokens >= estimate_tokens(chunk.search_text)
        lines = text[: chunk.span.start].replace("\r\n", "\n").replace("\r", "\n").count("\n")
        split_pair = text[chunk.span.start - 1 : chunk.span.start + 1] == "\r\n"
        assert chunk.line_start == lines + 1 - (split_pair and chunk.span.start > 0)
        assert chunk.line_end >= chunk.line_start
    assert at == len(text)
    assert len({chunk.id for chunk in chunks}) == len(chunks)


@settings(max_examples=250, deadline=None)
@given(text=DOCUMENTS, path=PATHS, max_tokens=LIMITS)
def test_chunks_cover_the_text_rebuild_it_and_stay_under_the_limit(text, path, max_tokens):
    check(text.encode(), path, max_tokens)


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=400), path=PATHS, max_tokens=LIMITS)
def test_any_text_is_covered(text, path, max_tokens):
    check(text.encode("utf-8", "replace"), path, max_tokens)


@settings(max_examples=100, deadline=None)
@given(raw=st.binary(max_size=300), path=PATHS)
def test_any_bytes_are_a_document_or_refused(raw, path):
    check(raw, path, 220)


@settings(max_examples=400, deadline=None)
@given(text=DOCUMENTS)
def test_top_level_blocks_are_those_of_the_parser_itself(text):
    text = even_lines(text)
    plain = MarkdownIt("commonmark").enable("table")
    plain.core.ruler.enableOnly(["normalize", "block"])
    tokens = plain.parse(text)
    expected = [
        (token.map[0], int(token.tag[1]), tokens[place + 1].content)
        if token.type == "heading_open"
        else (token.map[0], 0, "")
        for place, token in enumerate(tokens)
        if token.level == 0 and token.nesting >= 0 and token.map and token.type != "inline"
    ]
    found = [(block.start, block.level, block.title) for block in parse_blocks(text)]
    if found[:1] != expected[:1]:
        assert found[0] == (0, 0, "")  # lines before the first block have one of their own
        found = found[1:]
    assert found == expected


@settings(max_examples=200, deadline=None)
@given(text=DOCUMENTS)
def test_blanking_components_keeps_every_place(text):
    text = even_lines(text)
    blanked = blank_components(text)
    assert len(blanked) == len(text)
    assert all(new in (old, " ") for old, new in zip(text, blanked, strict=True))
