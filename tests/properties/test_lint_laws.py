"""Laws of the check and of groups of questions, on any text."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fingerpost.corpus.blocks import parse_blocks
from fingerpost.corpus.prepare import FileToPrepare
from fingerpost.gaps.group import linked
from fingerpost.lint.headings import page_findings
from fingerpost.lint.links import link_findings
from fingerpost.lint.markup import without_code, without_comments
from fingerpost.lint.read import _line_starts, read_page
from fingerpost.lint.sketch import codes_of, likeness, sketch, words_of

PIECES = st.sampled_from([
    "# A\n", "## B {#b}\n", "text ", "`", "``", "```\n", "~~~\n", "[x](y.md)", "[x](#b)", "](", "<a href='z'>",
    "<!-- ", "-->", "{/* ", "*/}", "\n", "\n\n", "    ", "- ", "> ", "---\n", "title: x\n", "![](p.png)",
    "| a |\n|---|\n", "\r\n", "\r", "\0", "é", "見出し\n===\n", "[a]: b.md\n", "\ufeff",
])  # fmt: skip
MARKUP = st.lists(PIECES, max_size=40).map("".join)


@given(MARKUP, st.sampled_from(["a.md", "a.mdx", "a.html", "a.rst", "a.txt"]))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_and_each_finding_stands_on_a_line_of_it(text, name):
    page = read_page(FileToPrepare(text.encode(), "s", name), name)
    if hasattr(page, "reason"):
        return
    n_lines = len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    for one in (*page_findings(page), *link_findings([page], {"s": lambda _: False})):
        assert 0 <= one.line <= n_lines
        assert one.what


@given(MARKUP)
@settings(max_examples=200, deadline=None)
def test_what_is_made_blank_moves_nothing(text):
    even = text.replace("\r\n", " \n").replace("\r", "\n").replace("\0", "\ufffd")
    blocks = parse_blocks(even)
    bare = without_comments(without_code(even, blocks, _line_starts(even)))
    assert even.startswith(bare) or len(bare) <= len(even)
    for place, character in enumerate(bare):
        assert character in (even[place], " ")


@given(st.lists(st.sampled_from("abcdefgh"), max_size=80))
def test_a_text_is_like_itself_and_likeness_goes_both_ways(words):
    own = sketch(codes_of(words))
    other = sketch(codes_of(words_of(" ".join(reversed(words)))))
    assert likeness(own, own) == (1.0 if own.size else 0.0)
    assert likeness(own, other) == likeness(other, own)


@given(arrays(np.float32, (9, 9), elements=st.floats(0, 1, width=32)), st.floats(0.05, 0.95))
@settings(max_examples=200, deadline=None)
def test_groups_hold_each_row_once_and_no_two_of_them_should_be_one(values, least):
    alike = (values + values.T) / 2
    groups = linked(alike, least)
    assert sorted(row for rows in groups for row in rows) == list(range(9))
    for number, rows in enumerate(groups):
        for others in groups[number + 1 :]:
            assert alike[np.ix_(rows, others)].mean() < least + 1e-5
