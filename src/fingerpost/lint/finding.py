"""What a rule found, and where."""

from __future__ import annotations

from dataclasses import dataclass

from fingerpost.lint.rules import RULES, Rule, Severity


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found.

    Attributes:
        rule: Id of its rule.
        path: Of the page, as the user would write it from the checked folder.
        line: From 1; 0 for the page or file as a whole.
        what: What is wrong, a phrase with the words that matter.
        todo: What to do here; empty where the rule's own remedy says it.
    """

    rule: str
    path: str
    line: int
    what: str
    todo: str = ""

    @property
    def severity(self) -> Severity:
        """Return how grave it is."""
        return self.described.severity

    @property
    def described(self) -> Rule:
        """Return its rule."""
        return RULES[self.rule]

    @property
    def place(self) -> str:
        """Return path and line as editors take them."""
        return f"{self.path}:{self.line}" if self.line else self.path
