"""Quotes are found in what a reader sees of a source, and placed in the source itself."""

from __future__ import annotations

import pytest

from fingerpost.verify.quote import find_quote

TABLE = """Modes of the writer.

| Mode | Meaning | Cost |
| --- | --- | --- |
| `fast` | Keeps **no** copy | Low |
| safe | Syncs each [commit](docs/commit.md) | 2 ms |
"""


def _quoted(claim: str, source: str) -> str | None:
    span = find_quote(claim, source)
    return None if span is None else source[span.start : span.end]


def test_a_link_is_quoted_by_its_text() -> None:
    source = "Intro. See the [write path](docs/a_(b).md) and *then* restart."
    assert _quoted("See the write path and then restart.", source) == (
        "See the [write path](docs/a_(b).md) and *then* restart"
    )


def test_a_table_row_may_be_told_with_the_names_of_its_columns() -> None:
    row = "| safe | Syncs each [commit](docs/commit.md) | 2 ms |"
    assert _quoted("Mode: safe; Meaning: Syncs each commit; Cost: 2 ms", TABLE) == row


@pytest.mark.parametrize(
    "claim",
    [
        "Mode: safe; Meaning: Syncs each commit; Cost: 3 ms",
        "Mode: safe; Cost: Low",
        "Mode: fast; Meaning: Syncs each commit",
        "Meaning: safe; Mode: Syncs each commit",
    ],
)
def test_cells_of_another_row_or_column_are_no_quote(claim: str) -> None:
    assert find_quote(claim, TABLE) is None


def test_part_of_a_row_is_no_quote_when_the_rest_negates() -> None:
    assert find_quote("Mode: fast", TABLE) is None


def test_a_header_that_stands_apart_from_its_rows_still_names_the_cells() -> None:
    source = "| Key | Value |\n|---|---|\n\n| port | 8080 |\n"
    assert _quoted("Key: port; Value: 8080", source) == "| port | 8080 |"


@pytest.mark.parametrize("claim", ["snake case is used here", "Dont stop the daemon"])
def test_signs_inside_a_word_belong_to_it(claim: str) -> None:
    assert find_quote(claim, "snake_case is used here. Don't stop the daemon.") is None


def test_whole_cells_of_a_row_are_a_quote_whatever_its_other_cells_say() -> None:
    source = "| ID | Label | Local | Streams |\n|---|---|---|---|\n| dg | Deep | No | Yes |\n"
    assert _quoted("ID: dg; Label: Deep; Streams: Yes", source) == "| dg | Deep | No | Yes |"
    assert find_quote("ID: dg; Local: Yes", source) is None
    assert find_quote("ID: dg; Label: De", source) is None


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Use the `TERM` signal.", "Use the :sig:`TERM` signal."),
        ("See the `chat channels` first.", "See the :ref:`chat channels\n<irc>` first."),
        ("It is in first normal form today.", "The `key` is. It is in `first normal form <https://e.org/1>`_ today."),
        ("Please open an issue with logs.", "Please [open an issue][new] with logs."),
        ("Kindle , Fire and it 's here.", "Kindle, Fire and it 's here ."),
        ("This is fixable from Black's end.", "This is fixable from _Black_'s end."),
    ],
)  # fmt: skip
def test_marks_of_links_roles_and_emphasis_are_no_words(claim: str, source: str) -> None:
    assert find_quote(claim, source) is not None


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Set `rows[0][2]` to zero.", "Set `rows[0][1]` to zero."),
        ("Run `helm install <name>` now.", "Run `helm install <chart>` now."),
        ("It targets the .NET runtime.", "It targets the. NET runtime."),
    ],
)
def test_code_that_looks_like_a_link_is_read_whole(claim: str, source: str) -> None:
    assert find_quote(claim, source) is None


def test_a_hostile_repetition_ends_at_once() -> None:
    assert find_quote("a" * 5000, "a" * 200_000) is None
