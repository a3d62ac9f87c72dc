"""Pages that are made to keep the check busy: work grows with their length, not its square."""

import subprocess
import sys

import pytest

# The processor, not the clock, is what a loaded machine leaves alone. 200,000 characters squared
# are hours of it.
CHECKED = """
import resource, sys
from fingerpost.corpus.prepare import FileToPrepare
from fingerpost.lint.headings import page_findings
from fingerpost.lint.read import read_page
before, piece, after, name = sys.argv[1:]
raw = (before + piece * (200_000 // len(piece)) + after).encode()
resource.setrlimit(resource.RLIMIT_CPU, (40, 40))
page = read_page(FileToPrepare(raw, "s", name), name)
print(len(list(page_findings(page))), page.shown)
"""


@pytest.mark.parametrize(
    ("before", "piece", "after", "name"),
    [
        ("# T\n\n", "<!-- ", "", "a.md"),
        ("# T\n\n", "{/* ", "", "a.mdx"),
        ("# T\n\n", "{/* ", "*/ x", "a.mdx"),
        ("# T\n\n<!-- fingerpost-check: ignore", " ", "", "a.md"),
        ("# T\n\n{/* fingerpost-check: ignore", " ", "", "a.mdx"),
        ("# T\n\n[a](", " ", "b", "a.md"),
        ("# T {#", "a", "", "a.md"),
        ("# T ", "{/* ", "", "a.md"),
        ("# T ", "{/* ", "*/ x", "a.md"),
        ("# T\n\nimport ", " ", "x", "a.mdx"),
        ("# T\n\n- ```\n  x\n  ```\n ", " ", "x\n", "a.md"),
        ("# T\n\n# ", ".", "x", "a.md"),
        ("a\n", "=", "x\n===\n", "a.md"),
        ("# T\n\n", "<a href=", "", "a.html"),
        ("# T\n\n", "<script ", "", "a.html"),
        ("# T\n\n", "<h2>", "", "a.md"),
        ("# T\n\n<a href", " ", "x>", "a.md"),
        ("# T\n\n## A {.", "a ", "", "a.md"),
        ("# T\n\n## ", "![", "", "a.md"),
    ],
)
def test_a_mark_that_is_never_closed_costs_no_more_than_its_length(before, piece, after, name):
    done = subprocess.run(
        [sys.executable, "-c", CHECKED, before, piece, after, name],
        capture_output=True,
        timeout=300,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.endswith(f" {name}\n")
