"""What leaves the answer under the drop policy."""

import pytest

from fingerpost.types.answer import Answer, Citation, GenerationMode
from fingerpost.types.document import Span
from fingerpost.verify import CitationVerifier, OnUnsupported, apply_policy, apply_verdict_policy

SOURCE = "Helm uses four modes.\nThe chart is written in Go.\nReleases are kept for ten days."
STANDS, FALLS = "The chart is written in Go [1].", "Helm uses 3 modes [1]."


def checked(answer):
    return CitationVerifier().verify_sync(answer, [SOURCE])


def dropped(answer):
    text, _ = apply_policy(answer, checked(answer), OnUnsupported.DROP)
    return text


def test_a_contradicted_sentence_leaves_with_its_marker():
    answer = "Helm uses 3 modes [1]. The chart is written in Go. [1]"
    assert dropped(answer) == "The chart is written in Go. [1]"


def test_the_last_sentence_leaves_no_blank_behind():
    answer = "The chart is written in Go. [1] Helm uses 3 modes. [1]"
    assert dropped(answer) == "The chart is written in Go. [1]"


def test_a_list_item_leaves_with_its_sign_and_line():
    answer = "Facts:\n\n- Helm uses 3 modes [1].\n- The chart is written in Go [1].\n"
    assert dropped(answer) == "Facts:\n\n- The chart is written in Go [1].\n"


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (f"{STANDS}\n\n- {FALLS}", STANDS),
        (f"{STANDS}\n\n- {FALLS}\n", STANDS),
        (f"{FALLS}\n\n{STANDS}", STANDS),
        (f"{FALLS}\r\n\r\n{STANDS}\r\n", f"{STANDS}\r\n"),
        (f"{STANDS}\n\n{FALLS}\n\n{FALLS}\n\n{STANDS}", f"{STANDS}\n\n{STANDS}"),
        (f"{FALLS}\n\n{FALLS}", ""),
    ],
)
def test_what_leaves_takes_its_blank_lines_along(answer, left):
    assert dropped(answer) == left


@pytest.mark.parametrize("heading", ["## Modes", "Modes\n-----", "**Modes**"])
def test_a_heading_leaves_with_the_whole_of_its_text(heading):
    assert dropped(f"{heading}\n\n{FALLS}\n\n## Chart\n\n{STANDS}") == f"## Chart\n\n{STANDS}"
    assert dropped(f"{STANDS}\n\n{heading}\n\n- {FALLS}\n- {FALLS}\n") == STANDS
    assert dropped(f"{heading}\n\n{FALLS}") == ""


@pytest.mark.parametrize(
    "answer",
    [
        f"# Helm\n\n{FALLS}\n\n## Chart\n\n{STANDS}",
        f"# Helm\n\n## Modes\n\n{FALLS}\n\n## Chart\n\n{STANDS}",
    ],
)
def test_a_heading_stays_while_one_below_it_has_text(answer):
    assert dropped(answer) == f"# Helm\n\n## Chart\n\n{STANDS}"


def test_a_heading_that_never_had_text_and_a_comment_in_code_stay():
    code = f"```bash\n# Modes\n```\n\n{FALLS}\n\n# Empty\n\n# Chart\n\n{STANDS}"
    assert dropped(code) == f"```bash\n# Modes\n```\n\n# Empty\n\n# Chart\n\n{STANDS}"


def test_a_claim_with_a_line_under_it_is_no_heading():
    assert dropped(f"{STANDS}\n-\n\n{FALLS}") == f"{STANDS}\n-"


def test_flag_changes_nothing():
    answer = "Helm uses 3 modes [1]."
    assert apply_policy(answer, checked(answer), OnUnsupported.FLAG) == (answer, ())


def test_what_was_dropped_is_told():
    answer = "Helm uses 3 modes. The chart is written in Go."
    _, gone = apply_policy(answer, checked(answer), OnUnsupported.DROP)
    assert [claim.claim for claim in gone] == ["Helm uses 3 modes."]


def test_spans_of_citations_and_claims_move_with_the_text():
    text = "Helm uses 3 modes [1]. The chart is written in Go [2]."
    citations = (
        Citation("[1]", 1, Span(18, 21)),
        Citation("[2]", 2, Span(text.index("[2]"), text.index("[2]") + 3)),
    )
    answer = Answer(text, GenerationMode.MODEL, citations)
    changed, _, grounding = apply_verdict_policy(answer, (), checked(text))
    assert changed.text == "The chart is written in Go [2]."
    (kept,) = changed.citations
    assert changed.text[kept.span.start : kept.span.end] == "[2]"
    (claim,), (gone,) = grounding.claims, grounding.removed
    assert changed.text[claim.span.start : claim.span.end] == changed.text
    assert (gone.claim, gone.span, gone.verdict) == ("Helm uses 3 modes.", None, "contradicted")
    assert grounding.overall_grounded


def test_an_answer_of_which_nothing_is_left_abstains():
    answer = Answer("Helm uses 3 modes [1].", GenerationMode.MODEL)
    changed, _, grounding = apply_verdict_policy(answer, (), checked(answer.text))
    assert changed.mode is GenerationMode.ABSTAINED
    assert changed.abstention is not None
    assert changed.text
    assert (grounding.total_claims, len(grounding.removed)) == (0, 1)
