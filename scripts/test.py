"""Set everything up and run the gates: format, lint, types, layers, tests.

python3 scripts/test.py            all of it
python3 scripts/test.py tests/...  only pytest, with the arguments given
"""

from __future__ import annotations

import sys
import time

import environment

GATES = (
    ("lint", ("-m", "ruff", "check", "src", "tests", "scripts", "benchmarks", "examples")),
    (
        "format",
        (
            "-m",
            "ruff",
            "format",
            "--check",
            "src",
            "tests",
            "scripts",
            "benchmarks",
            "examples",
        ),
    ),
    ("types", ("-m", "mypy")),
    ("layers", ("-c", "from importlinter.cli import lint_imports_command as c; c()")),
    # Side by side, since many tests wait; a file stays together with what it has set up, and those
    # that take long (their folders come first) do not begin last.
    ("tests", ("-m", "pytest", "-n", "3", "--dist", "loadfile", "--no-loadscope-reorder")),
)


def main() -> int:
    if len(sys.argv) > 1:
        return environment.run("-m", "pytest", *sys.argv[1:])
    for name, arguments in GATES:
        started = time.perf_counter()
        print(f"== {name}", flush=True)
        code = environment.run(*arguments)
        print(
            f"== {name}: {'failed' if code else 'ok'} in {time.perf_counter() - started:.0f} s",
            flush=True,
        )
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
