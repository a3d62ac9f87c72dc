"""The rules: what each finds, how grave it is, why it matters to retrieval, what to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Severity(StrEnum):
    """How grave a finding is; an error is wrong whatever the author meant."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that is looked for.

    Attributes:
        id: As ``--only`` and ``--ignore`` name it.
        severity: Of each of its findings.
        finds: What it finds, a phrase.
        why: Why it matters to retrieval, a sentence.
        remedy: What to do about it, a sentence.
    """

    id: str
    severity: Severity
    finds: str
    why: str
    remedy: str


_ALL: Final = (
    Rule(
        "unread-file",
        Severity.ERROR,
        "a document that cannot be read",
        "Nothing that stands in it can be found or cited.",
        "Save it as UTF-8 text below the size limit, readable for the user who indexes.",
    ),
    Rule(
        "broken-front-matter",
        Severity.ERROR,
        "front matter that is not closed, or no YAML or TOML",
        "Title, tags and version are lost, so filters miss the page and it is cited by its file "
        "name.",
        "Close it, quote values that hold a colon, and indent with blanks.",
    ),
    Rule(
        "broken-link",
        Severity.ERROR,
        "a link to a file that is not there",
        "Answers follow links from one page to the next; this one leads nowhere, for readers too.",
        "Name the file that is meant, or take the link away.",
    ),
    Rule(
        "link-case",
        Severity.WARNING,
        "a link that differs from its file in capitals",
        "It works on some systems and sites; where capitals count it leads nowhere, here too.",
        "Write the path as the file is called.",
    ),
    Rule(
        "broken-anchor",
        Severity.WARNING,
        "a link to a heading that the page does not have",
        "The link names a section and neither a reader nor the link graph arrives there.",
        "Name the anchor of a heading that is there, or give the heading that {#id}.",
    ),
    Rule(
        "missing-title",
        Severity.WARNING,
        "a page without a title",
        "The title weighs in every search and names the page in citations; now its file name does.",
        "Give it a title in the front matter or a first heading of level 1.",
    ),
    Rule(
        "vague-title",
        Severity.WARNING,
        "a title that says nothing of its page",
        "Every passage of the page is searched and cited under it.",
        "Name the subject: “Overview of guardrails”, not “Overview”.",
    ),
    Rule(
        "empty-page",
        Severity.WARNING,
        "a page without text",
        "There is nothing in it to answer from.",
        "Write it, or take it out of the corpus.",
    ),
    Rule(
        "empty-section",
        Severity.WARNING,
        "a heading with nothing below it",
        "It promises an answer that is not there.",
        "Write the section or remove the heading.",
    ),
    Rule(
        "duplicate-section",
        Severity.WARNING,
        "a section that stands word for word in another place",
        "Copies take the places of other evidence, and one of them is forgotten when it changes.",
        "Keep one and link to it.",
    ),
    Rule(
        "near-duplicate-page",
        Severity.WARNING,
        "a page that is nearly another one, and no version of it",
        "Both come up for the same questions, and an answer cites either.",
        "Merge them, or name in title and first lines what each is for.",
    ),
    Rule(
        "repeated-heading",
        Severity.WARNING,
        "sibling headings of one text",
        "A citation cannot say which of the sections is meant.",
        "Put what differs into the headings.",
    ),
    Rule(
        "unclosed-fence",
        Severity.WARNING,
        "a code fence that is never closed",
        "Everything to the end of the page is code to every reader; its headings are lost.",
        "Close the fence with as many marks as opened it.",
    ),
    Rule(
        "long-section",
        Severity.INFO,
        "a long section without a heading in it",
        "It is split into many passages that all carry one heading, and a citation says little.",
        "Put headings where the subject changes.",
    ),
    Rule(
        "long-page",
        Severity.INFO,
        "a very long page",
        "Its title and path, which weigh in search, speak for too much at once.",
        "Split it by subject.",
    ),
    Rule(
        "vague-heading",
        Severity.INFO,
        "a heading over several passages that says nothing of them",
        "Headings weigh in search; this one adds no word of the subject.",
        "Name the subject in the heading.",
    ),
    Rule(
        "skipped-level",
        Severity.INFO,
        "a heading more than one level below the one before it",
        "The path of headings that a passage carries has a hole.",
        "Use the level below the one before.",
    ),
    Rule(
        "version-copies",
        Severity.INFO,
        "a page that is nearly the same in several versions or languages",
        "Each of them takes a place among the evidence of one question.",
        "Filter by path or version when you ask, or index only what you support.",
    ),
    Rule(
        "image-without-text",
        Severity.INFO,
        "a picture without an alternative text",
        "Of a picture only that text is searched.",
        "Say in the brackets what the picture shows.",
    ),
    Rule(
        "unsupported-file",
        Severity.INFO,
        "a document in a format that is not read, or a link to one",
        "Someone may miss it: nothing in it can be found.",
        "Add it in a format that is read, or leave it out knowingly.",
    ),
)  # fmt: skip

RULES: Final[dict[str, Rule]] = {rule.id: rule for rule in _ALL}
"""Rule id → rule, gravest first."""
