"""Platform knowledge: what it answers of questions about fingerpost, and of questions about others.

python benchmarks/knowledge.py --data DATA [--quick]

Every question is asked of a router whose documents are silent, so that the platform knowledge is
its only chance: ``others`` is an upper bound. ``swapped`` are the questions of the FAQs of other
projects with their name replaced by ours: most of them have no true answer.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fingerpost import QueryRouter
from fingerpost.knowledge import is_about, load_knowledge
from machine import keep

QUESTIONS = Path(__file__).parent / "data" / "knowledge.jsonl"
FILES = ("retrieval/*_queries.jsonl", "routing/*.jsonl", "tiers/*.jsonl")
PAGE = "# Heron\n\nHeron has three modes: fast, safe and quiet. The default mode is safe.\n"


def rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def others(data: Path) -> list[str]:
    """Return every English question of the development data."""
    files = [file for pattern in FILES for file in sorted(data.glob(pattern))]
    asked = [(row, row.get("question") or row.get("text")) for file in files for row in rows(file)]
    return [text for row, text in asked if text and row.get("lang", "en") == "en"]


def unanswerable(data: Path) -> list[str]:
    """Return the questions to which their own collection has no answer, and the FAQs' questions."""
    asked = [
        row["question"]
        for row in rows(data / "retrieval" / "mtrag_un_queries.jsonl")
        if not row.get("gold")
    ]
    return asked + [row["question"] for row in rows(data / "retrieval" / "docsfaq_queries.jsonl")]


def swapped(data: Path) -> list[str]:
    """Return questions about other projects that now ask about ours."""
    found = []
    for row in rows(data / "retrieval" / "docsfaq_queries.jsonl"):
        name = re.compile(rf"\b{re.escape(row['project'])}\b", re.IGNORECASE)
        if name.search(row["question"]):
            found.append(name.sub("fingerpost", row["question"]))
    return found


def ids(result: Any) -> list[str]:
    """Return the entries that an answer cites."""
    found = [source.uri for source in result.sources if source.cited]
    return [uri.removeprefix("platform:").replace("/", ":", 1) for uri in found]


def share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0


def about_us(router: QueryRouter) -> dict[str, Any]:
    """Return how many paraphrases are answered, and by the right entry."""
    asked, entries = list(rows(QUESTIONS)), load_knowledge()
    answered = first = right = 0
    missed = []
    for row in asked:
        found = ids(router.route_sync(row["question"]))
        answered += bool(found)
        first += found[:1] != [] and found[0] in row["gold"]
        is_right = not set(found).isdisjoint(row["gold"])
        right += is_right
        if not is_right:
            missed.append({"question": row["question"], "cited": found})
    return {
        "n": len(asked),
        "gate": share(sum(is_about(row["question"], entries) for row in asked), len(asked)),
        "answered": share(answered, len(asked)),
        "cites_right": share(right, len(asked)),
        "cites_right_first": share(first, len(asked)),
        "missed": missed,
    }


def about_others(router: QueryRouter, questions: list[str]) -> dict[str, Any]:
    """Return how many questions the platform answers."""
    wrong = []
    for question in questions:
        if is_about(question, load_knowledge()):
            result = router.route_sync(question[:8000])
            if any(source.uri.startswith("platform:") for source in result.sources):
                wrong.append({"question": question, "cited": ids(result)})
    return {"n": len(questions), "answered": len(wrong), "questions": wrong}


def costs(folder: str) -> dict[str, float]:
    """Return CPU milliseconds of the first question to the platform and of later ones."""
    found = {}
    with QueryRouter(knowledge_corpus=[folder], embed="wait", cache_results=False) as router:
        router.route_sync("Which modes does Heron have?")
        for name, n, question in (
            ("first_cpu_ms", 1, "What does max_tier do?"),
            ("later_cpu_ms", 20, "What does max_tier do?"),
            ("silent_cpu_ms", 20, "Who is the king of Norway?"),
            ("answered_cpu_ms", 20, "Which modes does Heron have?"),
        ):
            times = []
            for _ in range(n):
                began = time.process_time()
                router.route_sync(question)
                times.append((time.process_time() - began) * 1000)
            found[name] = round(statistics.median(times), 1)
    return found


def measure(data: Path, *, quick: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"entries": len(load_knowledge().entries)}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "heron.md").write_text(PAGE, encoding="utf-8")
        found["cost"] = costs(folder)
        for name, settings in (
            ("local_model", {"embed": "wait"}),
            ("words_alone", {"embed": "never", "embedding_provider": "none"}),
        ):
            with QueryRouter(knowledge_corpus=[folder], cache_results=False, **settings) as router:
                found[name] = {
                    "paraphrases": about_us(router),
                    "unanswerable": about_others(router, unanswerable(data)),
                    "swapped": about_others(router, swapped(data)),
                }
                if not quick:
                    found[name]["others"] = about_others(router, others(data))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--quick", action="store_true", help="fewer questions, and keeps nothing")
    options = parser.parse_args()
    found = measure(options.data, quick=options.quick)
    print(json.dumps(found, indent=1, ensure_ascii=False))
    if not options.quick:
        print(keep("knowledge", found))


if __name__ == "__main__":
    main()
