"""Every chunk has words that are shown as well as searched, and its document's language."""

from __future__ import annotations

import json
import time

import pytest

from fingerpost.corpus import FileToPrepare, prepare_file
from fingerpost.corpus.prose import clean_table

_CELLS = [
    ("markdown", "# Training guide\n\nThe [learning rate](lr.md) is **0.0003**."),
    ("code", 'lr = 3e-4\nprint("hi")'),
    ("markdown", "## Checkpoints\n\nWe keep:\n\n* the best\n* the last\n\n| A | B |\n|---|---|\n| 1 | 2 |"),
    ("code", "```\nx = 1"),
]  # fmt: skip


def _chunks(text: str, path: str):
    outcome = prepare_file(FileToPrepare(text.encode(), "docs", path))
    chunks = outcome.document.chunks
    assert text.endswith("".join(chunk.text for chunk in chunks))
    return chunks


def _notebook() -> str:
    cells = [
        {
            "cell_type": kind,
            "metadata": {"tags": ["secret"]},
            "source": source.splitlines(keepends=True),
            **({"outputs": [{"text": ["printed\n"]}]} if kind == "code" else {}),
        }
        for kind, source in _CELLS
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}, indent=1)


def test_a_notebook_is_searched_as_its_cells_in_markdown() -> None:
    first, second = _chunks(_notebook(), "a.ipynb")
    assert first.heading_path == ("Training guide",)
    assert first.search_text == (
        'The learning rate is 0.0003.\n\n```python\nlr = 3e-4\nprint("hi")\n```'
    )
    assert second.heading_path == ("Training guide", "Checkpoints")
    assert second.search_text == (
        "We keep:\n\n- the best\n- the last\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\n"
        "~~~~~~~~python\n```\nx = 1\n~~~~~~~~"
    )


def test_code_of_a_notebook_that_is_split_is_fenced_in_every_part() -> None:
    source = "".join(f"value_{n} = compute({n})\n" for n in range(100))
    cell = {"cell_type": "code", "source": source}
    chunks = _chunks(json.dumps({"cells": [cell]}), "a.ipynb")
    assert len(chunks) > 2
    for chunk in chunks:
        lines = chunk.search_text.splitlines()
        assert (lines[0], lines[-1]) == ("```python", "```")
        assert all(line.startswith("value_") for line in lines[1:-1])


@pytest.mark.parametrize("gap", ["\n\n", "\n<!-- a note -->\n\n", "\n***\n\n", "\n  \n"])
def test_what_holds_no_words_joins_the_chunk_after_it(gap) -> None:
    chunks = _chunks(f"---\ntitle: T\n---\n{gap}# T\n\nWords.\n", "a.md")
    assert [chunk.search_text for chunk in chunks] == ["Words."]


def test_what_holds_no_words_at_the_end_joins_the_chunk_before_it() -> None:
    comment = "<!-- " + "a note " * 2000 + "-->\n"
    chunks = _chunks(f"# T\n\nWords.\n\n{comment}", "a.md")
    assert [chunk.search_text for chunk in chunks] == ["Words."]


def test_a_file_without_words_is_still_covered() -> None:
    (chunk,) = _chunks("***\n\n---\n", "a.md")
    assert chunk.text == "***\n\n---\n"


def test_a_page_that_is_mostly_code_has_the_language_of_its_prose() -> None:
    code = "```sh\n" + "do to cho --de la el\n" * 40 + "```\n"
    prose = "Run it with the options of your choice, and then look at what is there.\n"
    chunks = _chunks(f"# Get-Date\n\n{code}\n{prose}\n## More\n\n{code}", "a.md")
    assert {chunk.language for chunk in chunks} == {"en"}


def test_a_chunk_in_another_script_has_a_language_of_its_own() -> None:
    english = "This is the text of a page that is written in English, and it is for you.\n"
    russian = "Это раздел, который написан на русском языке и ещё не переведён.\n"
    chunks = _chunks(f"# A\n\n{english * 3}\n## B\n\n{russian}\n## C\n\nДа: x\n", "a.md")
    assert [chunk.language for chunk in chunks] == ["en", "ru", "en"]


@pytest.mark.parametrize("blank", [" ", "\t", ">", "| ", "-|"], ids=repr)
def test_a_row_of_a_table_that_is_long_and_empty_is_cleaned_in_little_time(blank):
    started = time.process_time()
    told = clean_table(f"| a |\n| --- | :-: |\n{blank * 15_000}x")
    assert time.process_time() - started < 1
    assert "a" in told.split("\n")[0]
    assert told.endswith("x")
    assert ":-:" not in told
