from __future__ import annotations

from dataclasses import replace

import pytest

from fingerpost.generate import extract_answer
from fingerpost.types import Tier

_CODES = """\
## Exit codes

| code | meaning |
|---|---|
| 0 | answered |
| 1 | another error |
| 2 | usage or settings |
| 3 | no answer found |
| 7 | the deadline passed |
| 8 | another error of the deadline code |
"""
_POOLS = """\
## Pools

Providers that share a variable share a pool. They skip it together.

| Variable | Shared by |
|---|---|
| `A_KEY` | text |
| `B_KEY` | speech |
| `C_KEY` | images |
"""


def test_a_question_for_all_rows_gets_the_whole_table(hit, evidence) -> None:
    page = hit(_CODES, headings=("Exit codes",))
    answer = extract_answer("Which exit codes are there?", evidence(page))
    assert answer.text.count("- code: ") == 6


def test_a_code_in_one_row_gets_that_row_alone(hit, evidence) -> None:
    page = hit(_CODES, headings=("Exit codes",))
    answer = extract_answer("What does exit code 7 mean?", evidence(page))
    assert answer.text == "- code: 7; meaning: the deadline passed [1]"


def test_a_table_right_below_the_best_sentence_belongs_to_it(hit, evidence) -> None:
    answer = extract_answer("Which variables share a pool?", evidence(hit(_POOLS)))
    assert all(f"`{name}_KEY`" in answer.text for name in "ABC")


def test_a_long_list_says_how_many_items_are_missing(hit, evidence) -> None:
    text = "## Colours\n\nThe colours are:\n\n" + "".join(f"- shade{n} of it\n" for n in range(22))
    answer = extract_answer("Which colours are there?", evidence(hit(text)))
    assert answer.text.count("\n- shade") == 15
    assert answer.text.endswith("… +7")


def test_a_lead_in_brings_its_table_from_the_next_chunk(hit, evidence) -> None:
    lead = "The router ships five official modes:"
    first = hit(lead, headings=("Modes",))
    table = hit("| Mode | Use |\n|---|---|\n| fast | drafts |\n| slow | print |\n", start=50, headings=("Modes",))  # fmt: skip
    table = replace(table, chunk=replace(table.chunk, ordinal=1))
    found = replace(evidence(first), candidates=(first, table))
    answer = extract_answer("Which modes does the router ship?", found)
    assert "Mode: fast; Use: drafts [2]" in answer.text


def test_what_a_list_goes_on_in_is_quoted_with_it_or_not_at_all(hit, evidence) -> None:
    answering = hit("The cache of the router keeps 1000 entries.", path="a.md")
    other = hit("Colours of the desk:\n\n- red\n- blue\n", path="b.md", headings=("Desk",))
    tail = "- the cache of the router keeps many more entries than the desk\n"
    further = hit(tail, path="b.md", headings=("Desk",), start=40)
    further = replace(further, chunk=replace(further.chunk, ordinal=1))
    question = "How many entries does the cache of the router keep?"
    alone = evidence(answering, other)
    found = replace(alone, candidates=(answering, other, further))
    assert extract_answer(question, found) == extract_answer(question, alone)
    colours = extract_answer("What are the colours of the desk?", found)
    assert "- red [1]\n- blue [1]" in colours.text
    assert "more entries than the desk [2]" in colours.text


def test_a_list_that_is_parted_over_chunks_is_written_as_one(hit, evidence) -> None:
    first = hit("The modes are:\n\n1. Draft\n2. Print\n", headings=("Modes",))
    second = hit("3. Archive\n4. Delete\n", headings=("Modes",), start=50)
    second = replace(second, chunk=replace(second.chunk, ordinal=1))
    found = replace(evidence(first), candidates=(first, second))
    answer = extract_answer("Which modes are there?", found)
    listed = "1. Draft [1]\n2. Print [1]\n3. Archive [2]\n4. Delete [2]"
    assert answer.text == f"The modes are: [1]\n\n{listed}"


def test_a_lead_in_without_what_it_introduces_is_left_out(hit, evidence) -> None:
    found = evidence(
        hit("The cache of the router keeps 1000 entries.", path="a.md"),
        hit("The cache of the router keeps the following entries:", path="b.md"),
    )
    answer = extract_answer("How many entries does the cache of the router keep?", found)
    assert answer.text == "The cache of the router keeps 1000 entries [1]."


def test_steps_begin_at_the_first_and_keep_the_code_between(hit, evidence) -> None:
    text = (
        "1. Install the package:\n\n   ```sh\n   npm add rss\n   ```\n\n"
        "   Set the site first.\n\n2. Create a feed file for the RSS feed.\n"
    )
    answer = extract_answer("How do I create an RSS feed?", evidence(hit(text)))
    places = [answer.text.index(part) for part in ("1. Install", "npm add rss", "2. Create")]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "filler",
    [
        "## See also\n\n- [Rotate keys by hand](a.md)\n- [How to rotate keys](b.md) explained\n",
        "How to rotate keys\n",
        "- [How to rotate the keys](b.md)\n",
        "- [ ] I can rotate the keys\n",
    ],
)
def test_links_labels_and_further_reading_are_no_answers(hit, evidence, filler) -> None:
    page = hit("The router rotates the keys when one is exhausted.", path="a.md")
    found = evidence(page, hit(filler, path="b.md"))
    answer = extract_answer("How do I rotate keys?", found, tier=Tier.MULTI_SOURCE)
    assert answer.text == "The router rotates the keys when one is exhausted [1]."


def test_a_wide_row_shows_its_label_and_what_is_asked(hit, evidence) -> None:
    text = (
        "| # | Tool | Kind | Size | Licence | Home |\n|---|---|---|---|---|---|\n"
        "| 1 | hammer | hand | 3 | MIT | shed |\n| 2 | drill | power | 9 | BSD | box |\n"
    )
    answer = extract_answer("What is the licence of the drill?", evidence(hit(text)))
    assert answer.text == "- Tool: drill; Licence: BSD [1]"


def test_the_remedy_after_a_message_is_part_of_the_answer(hit, evidence) -> None:
    text = "> **MissingSharp**: Could not find Sharp. Install the package by hand.\n"
    answer = extract_answer("How do I fix MissingSharp?", evidence(hit(text)))
    assert "Install the package by hand [1]." in answer.text


def test_line_breaks_of_html_part_what_they_stand_between(hit, evidence) -> None:
    text = "**Type:** `number`<br />\n**Default:** `4321`\n"
    answer = extract_answer("What is the default type?", evidence(hit(text)))
    assert answer.text == "Type: `number`; Default: `4321` [1]"


def test_a_part_that_is_the_question_is_not_reported_missing(hit, evidence) -> None:
    question = "What keeps the cache (of keys)?"
    found = evidence(
        hit("The router keeps the cache.", sub_query=question),
        sub_queries=(question, "the keys (in the cache"),
        uncovered=(question,),
    )
    answer = extract_answer(question, found, tier=Tier.RESEARCH)
    assert "###" not in answer.text
    assert "The router keeps the cache [1]." in answer.text
