"""The examples of the page about bridges that need other libraries run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "bridges.md"
EXAMPLES = re.findall(
    r"^```py\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)


@pytest.mark.parametrize("code", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_with_another_library_runs(code):
    for module in sorted(set(re.findall(r"from (langchain_core|llama_index)\b", code))):
        pytest.importorskip(module, reason=f"the example needs {module}")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_there_are_examples_for_each_library():
    told = " ".join(EXAMPLES)
    assert "langchain_core" in told
    assert "llama_index" in told
