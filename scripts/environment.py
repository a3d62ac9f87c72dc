"""One virtual environment for everything: made at the first call, at hand at the next."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(os.environ.get("FINGERPOST_VENV", ROOT / ".venv"))
# Taken away, so that no command of the product mistakes it for a setting.
GIVEN = os.environ.pop("FINGERPOST_PYTHON", "")
# Where it is set, each of several hundred commands would compile all that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
NEEDED = (3, 11)
_SHAPING = ("pyproject.toml", "constraints.txt", "packages/fingerpost-minilm/pyproject.toml")


def python() -> Path:
    """Return the environment's interpreter, installing what is missing.

    Nothing is installed again until a file that shapes the environment changes. An interpreter
    named by ``FINGERPOST_PYTHON`` is used as it is.
    """
    if GIVEN:
        return Path(GIVEN)
    interpreter = FOLDER / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = FOLDER / "fingerpost.stamp"
    wanted = _fingerprint()
    if interpreter.exists() and stamp.exists() and stamp.read_text() == wanted:
        return interpreter
    print(f"setting up {FOLDER} (once, about a minute)", file=sys.stderr, flush=True)
    if not interpreter.exists():
        _make(interpreter)
    # What is imported is compiled then; to compile all that is installed takes a third of the time.
    constraints = ["--no-compile", "-c", str(ROOT / "constraints.txt")]
    _pip(interpreter, "install", *constraints, str(ROOT / "packages" / "fingerpost-minilm"))
    extras = "local,multilingual,watch,documents,otel,plots,dev"
    _pip(interpreter, "install", *constraints, "-e", f"{ROOT}[{extras}]")
    stamp.write_text(wanted)
    return interpreter


def run(*arguments: str) -> int:
    """Run the environment's interpreter with the arguments; return its exit code."""
    return subprocess.run([str(python()), *arguments], cwd=ROOT, check=False).returncode


def _fingerprint() -> str:
    parts = [str(ROOT), *((ROOT / name).read_text() for name in _SHAPING)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _make(interpreter: Path) -> None:
    base = _base_python()
    made = subprocess.run(
        [base, "-m", "venv", str(FOLDER)], check=False, capture_output=True, text=True
    )
    if made.returncode or not interpreter.exists():
        shutil.rmtree(FOLDER, ignore_errors=True)
        sys.exit(
            f"cannot make a virtual environment with {base}:\n{made.stdout}{made.stderr}\n"
            "On Debian and Ubuntu: apt install python3-venv"
        )


def _base_python() -> str:
    if sys.version_info >= NEEDED:
        return sys.executable
    for minor in range(15, NEEDED[1] - 1, -1):
        found = shutil.which(f"python3.{minor}")
        if found:
            return found
    sys.exit(f"fingerpost needs Python 3.11 or newer; this is {sys.version.split()[0]}")


def _pip(interpreter: Path, *arguments: str) -> None:
    done = subprocess.run(
        [str(interpreter), "-m", "pip", "--disable-pip-version-check", "-q", *arguments],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"pip {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
