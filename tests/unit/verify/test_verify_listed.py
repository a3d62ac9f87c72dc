"""The list of sources that a text may end with."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.verify import listed_sources

BODY = "The default mode is safe [1]. Fast mode uses eight threads [2].\n\n"


@pytest.mark.parametrize(
    ("ending", "entries"),
    [
        ("Sources\n[1] modes.md\n[2] fast.md\n", {1: "modes.md", 2: "fast.md"}),
        ("**Sources:**\n\n1. [Modes](modes.md)\n2. fast.md, line 3\n", {1: "[Modes](modes.md)", 2: "fast.md, line 3"}),
        ("[1]: https://docs.example.org/modes\n", {1: "https://docs.example.org/modes"}),
        ("[^1]: modes.md\n\n[^2]: fast.md\n", {1: "modes.md", 2: "fast.md"}),
        ("参考资料：\n［1］ modes.md\n【2】 fast.md\n", {1: "modes.md", 2: "fast.md"}),
        ("- [1] modes.md\n- [2] fast.md", {1: "modes.md", 2: "fast.md"}),
        ("Quellen\n[1] Der sichere Modus\n", {1: "Der sichere Modus"}),
    ],
)  # fmt: skip
def test_a_list_at_the_end_is_read_and_blanked(ending, entries):
    found = listed_sources(BODY + ending)
    assert found.entries == entries
    assert found.body.startswith(BODY)
    assert not found.body[len(BODY) :].strip()


@pytest.mark.parametrize(
    "text",
    [
        BODY,
        f"{BODY}1. Open the gate.\n2. Close it.\n",
        f"{BODY}This is what the two of them say of it.\n[1] The gate opens at noon.\n",
        f"{BODY}```\nSources\n[1] modes.md\n```\n",
        "",
    ],
)
def test_steps_sentences_and_code_are_no_list(text):
    assert listed_sources(text) == (text, {})


def test_what_stands_after_the_list_is_still_part_of_the_text():
    text = f"{BODY}Sources\n[1] modes.md\n\nThe moon is made of cheese.\n"
    found = listed_sources(text)
    assert found.entries == {1: "modes.md"}
    assert found.body.rstrip().endswith("The moon is made of cheese.")


@given(
    st.lists(
        st.sampled_from(
            ["Sources", "[1] a.md", "[2]: b.md", "1. c.md", "- [3] d", "Prose here.", "", "```", "\u2028", "  "]
        ),
        max_size=12,
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
)  # fmt: skip
def test_the_text_keeps_its_length_and_its_lines(lines, end):
    text = end.join(lines)
    found = listed_sources(text)
    assert len(found.body) == len(text)
    for was, now in zip(text, found.body, strict=True):
        assert now == was or (now == " " and was not in "\r\n")


def test_a_long_run_of_entries_that_is_no_list_takes_no_time():
    text = "A sentence that heads nothing at all, as it ends here.\n" + "[1] said so\n" * 20_000
    began = time.process_time()
    assert listed_sources(text).entries == {}
    assert time.process_time() - began < 4


@pytest.mark.parametrize(
    "last",
    [
        "The mode is unsafe. [1]",
        "The mode is unsafe [^1]",
        "The port is 9090",
        "- The mode is unsafe",
        "1. Mode is unsafe",
        "> Mode is unsafe",
        "| port | open |",
        "默认模式是不安全的模式",
    ],
)
def test_the_last_statement_before_a_list_is_not_taken_for_its_heading(last):
    found = listed_sources(f"{last}\n\n[1] modes.md\n")
    assert found.entries == {1: "modes.md"}
    assert found.body.startswith(last)
