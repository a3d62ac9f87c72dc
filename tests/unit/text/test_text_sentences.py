"""Sentence spans: what ends a sentence and what does not."""

import time

import pytest

from fingerpost.text import sentences


def cut(text):
    return [text[span.start : span.end] for span in sentences(text)]


@pytest.mark.parametrize(
    "parts",
    [
        ["Use e.g. Docker.", "Or i.e. this one."],
        ["Dr. Smith vs. Jones.", "Mr. X left."],
        ["It needs v2.1.", "Then edit config.toml.", "Done."],
        ["It costs 3.50 dollars!", "Really?", "Yes."],
        ["See No. 5 and Fig. 3.", "Next."],
        ["By J. R. Smith.", "Next one."],
        ["Press Ctrl, Alt, etc. and go.", "The end."],
        ["Files, folders, etc.", "The rest stays."],
        ["Wait...", "Then go on... or not."],
        ['He said "Stop."', "Then (it was late.)", "We left."],
        ['"Really?" he asked.', "She nodded."],
        ["**Bold.**", "Next."],
        ["Run `a. B. c` now.", "Then ``x ` y. Z`` too."],
        ["Use ASP.NET.", "Core is new."],
        ["Run npm install.", "kubectl then works."],
        ["Am 3. Oktober war es schön.", "Das geht z. B. so."],
        ["He won in 2012.", "Then he left."],
        ["М. Горький, т.е. писатель.", "Он жил."],
        ["यह वाक्य है।", "दूसरा वाक्य॥"],
        ["هل هذا سؤال؟", "نعم."],
        ["یہ جملہ ہے۔", "دوسرا جملہ۔"],
    ],
)
def test_prose_is_cut_at_full_stops_only(parts):
    assert parts == cut(" ".join(parts))


def test_scripts_without_blanks_are_cut_after_their_stops():
    parts = ["今天天气好。", "「走吧！」", "他说３．１４。", "これは文です。", "次？"]
    assert parts == cut("".join(parts))


def test_thai_is_cut_at_a_blank_once_a_clause_is_long():
    long_clause = "การตั้งค่าเริ่มต้นของโปรแกรมนี้จะถูกบันทึกไว้ในไฟล์คอนฟิกของผู้ใช้งาน"
    assert [long_clause, "ระบบ อ่านไฟล์"] == cut(f"{long_clause} ระบบ อ่านไฟล์")


def test_lines_of_markup_break():
    text = (
        "# Title\nOne. Two\ngoes on.\n\n- item a. More\n- item b\n1. first\n\n"
        "| a | b. c |\n|---|---|\n| x | y |\nAfter\n\n> quoted. Still\n> quoted\nOut"
    )
    assert cut(text) == [
        "# Title", "One.", "Two\ngoes on.", "- item a.", "More", "- item b", "1. first",
        "| a | b. c |\n|---|---|", "| x | y |", "After", "> quoted.", "Still\n> quoted", "Out",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "code",
    [
        "```py\nx = 1. \n\ny. Z\n```",
        "~~~\na. B\n```\nc. D\n~~~~",
        "````\n```\na. B\n```\n````",
        "```\nnever closed. Yes\n\n# no heading",
    ],
)
def test_a_fenced_block_is_one_span(code):
    assert ["Before.", code] == cut(f"Before.\n{code}")


def test_text_goes_on_after_a_fence():
    assert cut("```\nx\n```\nAfter. More.") == ["```\nx\n```", "After.", "More."]


def test_indented_code_is_one_span():
    assert cut("Text.\n\n    a. B\n    c. D\nMore.") == ["Text.", "a. B\n    c. D", "More."]


def test_indented_lines_of_a_list_are_prose():
    assert cut("- item\n\n    One. Two.") == ["- item", "One.", "Two."]


def test_line_ends_of_windows_break_alike():
    assert cut("# T\r\nAa. Bb.\r\n\r\n- c\r\n") == ["# T", "Aa.", "Bb.", "- c"]


@pytest.mark.parametrize("blank", ["", " \n\t\r\n"])
def test_blank_text_has_no_sentence(blank):
    assert sentences(blank) == []


@pytest.mark.parametrize(
    "unit",
    [
        "a. ",
        "?",
        "`",
        "a`b ``c ",
        '"',
        ". ",
        "- x\n",
        "a.",
        " ",
        "> ",
        ":-",
        "<a",
        "ก ",
        "。",
        "\r",
        "|-",
        "[!",
    ],
)
def test_time_grows_with_the_length(unit):
    text = unit * 6_000

    def cost(subject):
        times = []
        for _ in range(3):
            started = time.process_time()
            sentences(subject)
            times.append(time.process_time() - started)
        return min(times)

    assert cost(text * 2) / max(cost(text), 5e-3) < 4
