from __future__ import annotations

import pytest

from fingerpost.generate.units import UnitKind, split_units

_PAGE = """\
# Modes

Intro with a [link](https://x.example/a.b. c). There are four modes, e.g. `a.b`. Done!

Pick one:

- **fast** skips checks
- slow checks
  twice

1. Open the file.
2. Run it:
   ```sh
   helm install x
   ```

| Mode | Limit |
|------|-------|
| fast | 10    |
| slow |       |

<!-- hidden: 99 -->
Term
: What it means.
"""


def _units(hit, text=_PAGE, **more):
    return split_units(hit(text, **more), 0)


def test_every_unit_quotes_its_exact_place(hit) -> None:
    page = "front\n" + _PAGE
    for unit in _units(hit, start=6):
        quoted = page[unit.quote.start : unit.quote.end]
        words = [
            w
            for w in unit.text.replace("`", " ").split()
            if w.isalpha() and unit.kind is not UnitKind.ROW
        ]
        assert all(word in quoted for word in words), (unit, quoted)
        assert quoted.strip()


def test_sentences_are_not_cut_in_links_code_or_abbreviations(hit) -> None:
    sentences = [u.text for u in _units(hit) if u.kind is UnitKind.SENTENCE]
    assert sentences[:3] == ["Intro with a link.", "There are four modes, e.g. `a.b`.", "Done!"]


def test_items_know_the_sentence_that_introduces_them(hit) -> None:
    units = _units(hit)
    items = [u for u in units if u.kind is UnitKind.ITEM][:2]
    assert [u.text for u in items] == ["fast skips checks", "slow checks twice"]
    assert {units[u.lead].text for u in items} == {"Pick one:"}


def test_steps_keep_their_numbers_and_code_its_step(hit) -> None:
    units = _units(hit)
    steps = [u for u in units if u.kind is UnitKind.STEP]
    code = next(u for u in units if u.kind is UnitKind.CODE)
    assert [(u.number, u.text) for u in steps] == [(1, "Open the file."), (2, "Run it:")]
    assert code.text == "helm install x"
    assert code.language == "sh"
    assert code.lead == steps[1].order


def test_rows_name_their_columns_and_leave_empty_cells_out(hit) -> None:
    rows = [u.text for u in _units(hit) if u.kind is UnitKind.ROW]
    assert rows == ["Mode: fast; Limit: 10", "Mode: slow"]


def test_comments_headings_and_markup_lines_are_no_units(hit) -> None:
    texts = " ".join(u.text for u in _units(hit))
    assert "hidden" not in texts
    assert "Modes" not in texts
    assert "|" not in texts
    assert "Term: What it means." in texts


def test_a_chunk_that_begins_in_a_table_takes_the_header_from_its_prefix(hit) -> None:
    units = _units(hit, "| slow | 20 |\n", prefix="| Mode | Limit |\n|---|---|\n")
    assert [u.text for u in units] == ["Mode: slow; Limit: 20"]


def test_a_chunk_that_begins_in_a_fence_is_code(hit) -> None:
    units = _units(hit, "x = 1\n# not a heading\n```\nAfter it.\n", prefix="```python\n")
    assert [(u.kind, u.text) for u in units] == [
        (UnitKind.CODE, "x = 1\n# not a heading"),
        (UnitKind.SENTENCE, "After it."),
    ]
    assert units[0].language == "python"


def test_module_lines_and_tags_of_mdx_are_no_prose(hit) -> None:
    text = "import Tabs from '@theme/Tabs';\n\n<Tabs>\n\nReal text here.\n\n</Tabs>\n"
    assert [u.text for u in _units(hit, text, markup="mdx")] == ["Real text here."]


def test_restructured_text_code_is_code(hit) -> None:
    text = "Set it so:\n\n.. code-block:: ini\n\n    nocows=1\n\nOr like this::\n\n    nocows=2\n\nEnd.\n"
    units = _units(hit, text, markup="rst")
    assert [u.text for u in units if u.kind is UnitKind.CODE] == ["nocows=1", "nocows=2"]


def test_lists_of_command_line_options_are_one_item_each(hit) -> None:
    text = (
        "```\n  --history-max int   limit revisions (default 10)\n  -h, --help          help\n```\n"
    )
    units = _units(hit, text)
    assert [u.text for u in units] == [
        "`--history-max int limit revisions (default 10)`",
        "`-h, --help help`",
    ]


def test_html_is_read_without_its_tags(hit) -> None:
    text = "<html><style>p {x:1}</style><p>First <b>one</b>.</p><ul><li>An item</li></ul></html>"
    texts = [u.text for u in _units(hit, text, markup="html")]
    assert texts == ["First one.", "An item"]


@pytest.mark.parametrize(
    "text", ["", "   \n", "---\n", "<!-- x", "```\n", "|\n|-\n", "\x00", "a" * 200_000, "#\n" * 500]
)
def test_odd_chunks_never_raise(hit, text) -> None:
    _units(hit, text)


def test_thai_clauses_are_joined_to_sentences(hit) -> None:
    text = "ระบบนี้ตอบคำถาม จากเอกสาร และแสดงแหล่งที่มา"
    assert len(_units(hit, text)) == 1
