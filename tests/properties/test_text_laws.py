"""Laws of the text functions, on any text."""

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.text import (
    analyse,
    analyse_joined,
    detect_language,
    estimate_tokens,
    query_tokens,
    sentences,
)
from fingerpost.text.identifiers import MAX_TOKEN

any_text = st.text(st.characters(), max_size=200)
markup = st.lists(
    st.sampled_from(
        ["a", "Word. ", "e.g. ", "`", "``", "```\n", "~~~\n", "\n", "\r\n", "\n\n", "# ", "- ", "1. ",
         "|", "> ", "    ", "。", "?", "!", '"', ")", "… ", "ก ", "v2.1", ".", " ", "\t", "<a>\n", "---\n"]
    ),
    max_size=60,
).map("".join)  # fmt: skip


@given(any_text | markup)
@settings(max_examples=300, deadline=None)
def test_no_function_raises_and_tokens_are_clean(text):
    tokens = analyse(text)
    assert all(0 < len(token) <= MAX_TOKEN for token in tokens)
    assert all(token.split() == [token] for token in tokens)
    " ".join(tokens).encode()
    assert estimate_tokens(text) >= 0
    assert len(detect_language(text)) in (2, 3)


@given(any_text | markup)
@settings(max_examples=200, deadline=None)
def test_the_joined_form_is_the_tokens(text):
    assert analyse_joined(text) == " ".join(analyse(text))


@given(any_text)
@settings(max_examples=300, deadline=None)
def test_a_compatible_form_gives_the_same_tokens(text):
    assert analyse(unicodedata.normalize("NFKC", text)) == analyse(text)
    assert analyse(unicodedata.normalize("NFD", text)) == analyse(text)


@given(st.lists(st.from_regex(r"[A-Za-z]{1,12}", fullmatch=True), max_size=8))
def test_the_tokens_of_the_lower_case_are_among_those_of_any_case(words):
    text = " ".join(words)
    assert set(analyse(text.lower())) <= set(analyse(text))


@given(any_text, any_text)
def test_a_blank_separates_tokens(left, right):
    assert analyse(left) + analyse(right) == analyse(f"{left} {right}")


@given(any_text | markup)
@settings(deadline=None)
def test_a_question_asks_for_tokens_of_the_index(text):
    weights = query_tokens(text)
    assert set(weights) <= set(analyse(text))
    assert len(weights) <= 256
    assert all(weight > 0 for weight in weights.values())
    assert bool(weights) == bool(analyse(text))


@given(any_text | markup)
@settings(max_examples=300, deadline=None)
def test_sentences_are_ordered_disjoint_trimmed_and_lose_nothing(text):
    end = 0
    for span in sentences(text):
        assert not text[end : span.start].strip()
        assert span.start < span.end
        piece = text[span.start : span.end]
        assert piece == piece.strip()
        end = span.end
    assert not text[end:].strip()


@given(markup)
@settings(deadline=None)
def test_a_sentence_never_ends_inside_a_fence(text):
    block = "```\na. B\n\nc. D\n```"
    whole = f"{text.replace('`', '').replace('~', '')}\n\n{block}\n\nafter"
    assert block in [whole[span.start : span.end] for span in sentences(whole)]


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=200))
def test_the_count_of_plain_text_is_that_of_the_pattern(text):
    from fingerpost.text import tokens

    for letters, pattern in tokens._PATTERNS.items():
        assert tokens._ascii_count(text, letters) == len(pattern.findall(text))
