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


def test_a_hostile_repetition_ends_at_once() -> None:
    assert find_quote("a" * 5000, "a" * 200_000) is None
