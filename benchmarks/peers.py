"""The peers and fingerpost side by side: search, memory, start, whole routes, choice of a source.

    python -m venv PEERS && PEERS/bin/pip install -r benchmarks/requirements-peers.txt
    python benchmarks/peers.py --tree DIR --peers-python PEERS/bin/python \\
        [--large DIR] [--data DATA] [--quick]

Our splitter cuts a tree once. Every system gets those chunks and the same questions (headings of
the tree), and asks for ten hits. Vectors are computed before and looked up by everyone, as from
an embedding server that answers at once. Each measurement is a process of its own; all systems
take their turn in each round, and the medians over the rounds are compared.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from machine import keep, step
from peers.table import OURS, middle, ratios, show

SYSTEMS = (OURS, "llamaindex", "haystack", "langchain", "txtai")
SIDES = {
    "keyword": SYSTEMS,
    "vector": SYSTEMS,
    "hybrid": SYSTEMS,
    "route": (OURS, "llamaindex"),
    "route_with_model": (OURS,),
}
LARGE_SIDES = {"keyword": SYSTEMS, "vector": SYSTEMS}
CHOOSERS = (OURS, "semantic_router")
ROUNDS = 3


class Runner:
    """Runs steps, ours in this python and the peers' in theirs, and says what it found."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options

    def run(self, what: str, system: str, folder: Path, **more: object) -> dict[str, Any]:
        """Run one step in a process of its own."""
        options = self._options
        python = sys.executable if system == OURS else options.peers_python
        arguments = ["--step", what, "--system", system, "--folder", str(folder)]
        for name, value in {
            "seconds": options.seconds,
            "limit-gb": options.limit_gb,
            **more,
        }.items():
            arguments += [f"--{name}", str(value)]
        if options.quick:
            arguments.append("--quick")
        limit = options.limit_s if system != OURS else 3600
        found = step(str(Path(__file__).resolve()), python, *arguments, timeout_s=limit)
        print(f"{folder.name} {what} {system}: {json.dumps(found)}", file=sys.stderr)
        return found

    def tree(
        self, tree: Path, folder: Path, sides: dict[str, tuple[str, ...]], rounds: int
    ) -> dict[str, Any]:
        """Measure all sides over one tree."""
        folder.mkdir()
        prepared = self.run("prepare", OURS, folder, tree=tree)
        if "error" in prepared:
            return prepared
        builds: list[dict[str, Any]] = []
        runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for place in range(rounds):
            builds.append(self.run("build", OURS, folder, round=place))
            for side, systems in sides.items():
                for system in systems:
                    kept = runs.setdefault((side, system), [])
                    if not any("error" in run for run in kept):
                        kept.append(self.run(side, system, folder))
        build = middle(builds)
        out = {**prepared, "rounds": rounds, "our first build": build, "sides": {}, "ratios": {}}
        for side, systems in sides.items():
            found = {system: middle(runs[side, system]) for system in systems}
            out["sides"][side] = found
            out["ratios"][side] = ratios(found, _build_s(build, side))
        return out

    def choice(self, data: Path, folder: Path) -> dict[str, Any]:
        """Measure the choice of a source."""
        folder.mkdir()
        prepared = self.run("prepare-sources", OURS, folder, data=data)
        if "error" in prepared:
            return {OURS: {"skipped": prepared["error"]}}
        out: dict[str, Any] = {}
        for system in CHOOSERS:
            found = self.run("choice", system, folder)
            out |= {system: {"skipped": found["error"]}} if "error" in found else found
        return out


def _build_s(build: dict[str, Any], side: str) -> float | None:
    """Return the seconds in which we build from files what a side searches."""
    if "skipped" in build:
        return None
    words = float(build["words_s"])
    return words if side in ("keyword", "route") else words + float(build["vectors_s"])


def measure(options: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """Run everything that was asked for."""
    runner = Runner(options)
    out: dict[str, Any] = {"versions": runner.run("versions", "peers", scratch), "trees": {}}
    rounds = 1 if options.quick else ROUNDS
    out["trees"]["small"] = runner.tree(options.tree, scratch / "small", SIDES, rounds)
    if options.large is not None:
        out["trees"]["large"] = runner.tree(options.large, scratch / "large", LARGE_SIDES, 1)
    if options.data is not None:
        out["choice"] = runner.choice(options.data, scratch / "choice")
    return out


def run_step(options: argparse.Namespace) -> dict[str, Any]:
    """Run the step that this process is for."""
    what, folder, quick = options.step, options.folder, options.quick
    if what in ("prepare", "prepare-sources", "build"):
        from peers import prepare

        if what == "prepare":
            return prepare.prepare_tree(options.tree, folder, quick=quick)
        if what == "build":
            return prepare.build(folder, options.round)
        return prepare.prepare_sources(options.data, folder, quick=quick)
    from peers import measure as timed

    if what == "versions":
        return timed.versions()
    timed.limit_memory(options.limit_gb)
    if what == "choice":
        return timed.measure_choice(options.system, folder)
    return timed.measure_search(options.system, what, folder, seconds=options.seconds)


def command(options: argparse.Namespace) -> str:
    """Return the command without the places of one machine."""
    parts = ["python benchmarks/peers.py", f"--tree {options.tree.name}"]
    parts += [f"--large {options.large.name}"] if options.large is not None else []
    parts += ["--data DATA"] if options.data is not None else []
    parts += [f"--limit-s {options.limit_s:g}", f"--limit-gb {options.limit_gb:g}"]
    return " ".join([*parts, f"--seconds {options.seconds:g}", "--peers-python PEERS/bin/python"])


def main() -> None:
    """Measure, or run one step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, help="folder of Markdown files, for all sides")
    parser.add_argument("--large", type=Path, help="larger folder, for words and vectors alone")
    parser.add_argument("--data", type=Path, help="folder that holds routing/, for the choice")
    parser.add_argument("--peers-python", default=sys.executable, help="python that has the peers")
    parser.add_argument("--quick", action="store_true", help="60 files, one round, nothing kept")
    parser.add_argument("--limit-s", type=float, default=150.0, help="for one peer's step")
    parser.add_argument("--limit-gb", type=float, default=6.0, help="memory of one step")
    parser.add_argument("--seconds", type=float, default=5.0, help="of questions in one step")
    for name, kind in (("step", str), ("system", str), ("folder", Path), ("round", int)):
        parser.add_argument(f"--{name}", type=kind, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(run_step(options)))
        return
    if options.tree is None:
        parser.error("--tree is needed")
    with tempfile.TemporaryDirectory(prefix="fingerpost-peers-") as folder:
        out = measure(options, Path(folder))
    print(show(out))
    if not options.quick:
        print(f"\nkept in {keep('peers', {'command': command(options), **out})}")


if __name__ == "__main__":
    main()
