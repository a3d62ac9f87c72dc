"""A writer that is killed loses nothing that it acknowledged (goal R1)."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

KILLS, SEED = 200, 20261130


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_two_hundred_kills_lose_nothing_and_leave_nothing_half_done(tmp_path):
    # Memory-backed where there is one: a kill does not test the disk, and the disk is slow.
    shared = Path("/dev/shm")
    root = shared if shared.is_dir() else tmp_path
    with tempfile.TemporaryDirectory(dir=root) as folder:
        run = subprocess.run(
            [
                sys.executable,
                str(Path(__file__).with_name("stores_kill_harness.py")),
                str(Path(folder) / "index"),
                str(KILLS),
                str(SEED),
            ],
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
    assert run.returncode == 0, run.stdout + run.stderr
    said = re.fullmatch(r"(\d+) kills, (\d+) generations, (\d+) documents\n", run.stdout)
    kills, generations, documents = (int(part) for part in said.groups())
    assert kills == KILLS
    # Some were killed before a commit, most after one. A writer that finds a derived part torn may
    # publish a generation of its own without documents.
    assert KILLS < documents <= 2 * generations
