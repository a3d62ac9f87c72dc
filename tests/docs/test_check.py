"""Our own documents pass our own check, and the page of the check tells all of its rules."""

from pathlib import Path

import pytest

from fingerpost.lint import RULES, Severity, check_corpus

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "check-docs.md").read_text(encoding="utf-8")


def test_our_documents_have_no_error_and_no_warning():
    report = check_corpus([ROOT / "docs"])
    assert [
        (one.rule, one.place, one.what)
        for one in report.findings
        if one.severity is not Severity.INFO
    ] == []


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_page_tells_what_each_rule_finds(rule):
    assert f"| `{rule.id}` | {rule.severity} | {rule.finds} |" in PAGE
