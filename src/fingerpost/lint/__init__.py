"""What keeps a corpus from being found, followed and cited well."""

from fingerpost.lint.check import CheckReport, check_corpus
from fingerpost.lint.finding import Finding
from fingerpost.lint.rules import RULES, Rule, Severity

__all__ = ["RULES", "CheckReport", "Finding", "Rule", "Severity", "check_corpus"]
