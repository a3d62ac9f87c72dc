"""A thousand mutated documents and the hostile ones: no crash, no loss, no slow one (goal R9)."""

import subprocess
import sys
from pathlib import Path

import pytest

N_MUTATED, BLOCK = 1000, 250
N_HOSTILE = 21
MAX_MIB = 512
BLOCKS = [("hostile", N_HOSTILE)] + [
    (f"{first}-{first + BLOCK}", BLOCK) for first in range(0, N_MUTATED, BLOCK)
]


@pytest.mark.slow
@pytest.mark.parametrize(("cases", "number"), BLOCKS)
def test_documents_lose_no_character_and_keep_within_time_and_memory(cases, number):
    """In a process of its own, since the peak of memory never falls."""
    run = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("corpus_harness.py")), *cases.split("-")],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    n_documents, _, peak, _ = run.stdout.split()
    assert int(n_documents) == number
    assert int(peak) <= MAX_MIB
