"""What `fingerpost check` finds in a tree, and its CPU time beside that of an ingest by words.

python benchmarks/check.py --tree /path/to/docs
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from machine import cpu_s, keep, ratio


def ran(*arguments: str) -> tuple[float, dict[str, Any]]:
    """Return the CPU seconds of a command in a process of its own, and the JSON it prints."""
    before = cpu_s()
    command = [sys.executable, "-m", "fingerpost", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
    return round(cpu_s() - before, 2), json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, required=True)
    tree = parser.parse_args().tree
    check_cpu, found = ran("check", str(tree))
    with tempfile.TemporaryDirectory() as folder:
        options = ("--no-embed", "--embedder", "none", "--index-dir", folder)
        index_cpu, indexed = ran("index", str(tree), *options)
    result = {
        "tree": tree.name,
        "pages": found["n_pages"],
        "documents": indexed["n_documents"],
        "check": {"cpu_s": check_cpu, "wall_s": found["took_s"]},
        "ingest": {"cpu_s": index_cpu, "wall_s": round(indexed["took_s"], 2)},
        "cpu_ratio": ratio(check_cpu, index_cpu),
        "counts": found["counts"],
    }
    print(json.dumps(result, indent=2))
    print(keep(f"check-{tree.name}", result))


if __name__ == "__main__":
    main()
