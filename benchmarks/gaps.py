"""Do the groups of `fingerpost gaps` match the pages that are missing?

    python benchmarks/gaps.py --data ../shared/data [--quick]

Pages are taken out of a corpus, its questions are asked of what is left, and the gap log that
comes of it is grouped. A question is right with the others that its page would have answered.
Of unanswerable turns of conversations (mtrag_un) each asks for a page of its own.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fingerpost import QueryRouter
from fingerpost.gaps import read_gaps
from fingerpost.gaps.group import by_words, group
from fingerpost.lanes.providers import load_embedder
from fingerpost.observe.gap_log import Gap
from machine import keep


@dataclass(frozen=True)
class Asked:
    """A question, the page that answers it, and whether that page was left in the corpus."""

    question: str
    page: str
    is_there: bool
    history: tuple[tuple[str, str], ...] = ()


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def docsfaq(data: Path, corpus: Path) -> list[Asked]:
    """Write every second page of each length; a page is one FAQ file of a project."""
    return _paged(data, corpus, "docsfaq", lambda row: f"{row['project']} {row['path']}", 1)


def xquad(data: Path, corpus: Path) -> list[Asked]:
    """Write three of four English paragraphs; a page is a paragraph."""
    return _paged(data, corpus, "xquad", lambda row: row["group"], 4)


def _paged(data: Path, corpus: Path, name: str, page_of: Any, share: int) -> list[Asked]:
    passages = [p for p in rows(data / f"{name}_passages.jsonl") if p["lang"] == "en"]
    queries = [q for q in rows(data / f"{name}_queries.jsonl") if q["lang"] == "en"]
    page = {passage["id"]: page_of(passage) for passage in passages}
    pages = sorted(set(page.values()))
    gone = set(pages[::share]) if share > 1 else set(pages[::2])
    for number, passage in enumerate(passages):
        own = page[passage["id"]]
        if own not in gone:
            path = corpus / own.replace(" ", "/") / f"{number}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# {own.split()[0]}\n\n{passage['text']}\n", encoding="utf-8")
    return [
        Asked(query["question"], page[query["gold"][0]], page[query["gold"][0]] not in gone)
        for query in queries
    ]


def mtrag_un(data: Path, corpus: Path) -> list[Asked]:
    """Write all passages; a turn that none answers asks for a page of its own."""
    for passage in rows(data / "mtrag_un_passages.jsonl"):
        path = corpus / passage["collection"] / f"{passage['id']}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        title = passage.get("title") or passage["id"]
        path.write_text(f"# {title}\n\n{passage['text']}\n", encoding="utf-8")
    return [
        Asked(
            query["question"],
            query["id"],
            query["answerability"] == "ANSWERABLE",
            tuple(({"agent": "assistant"}.get(who, who), text) for who, text in query["history"]),
        )
        for query in rows(data / "mtrag_un_queries.jsonl")
        if query["answerability"] in ("ANSWERABLE", "UNANSWERABLE")
    ]


SETS = {"docsfaq": docsfaq, "xquad": xquad, "mtrag_un": mtrag_un}


def ask_all(corpus: Path, log: Path, asked: Sequence[Asked]) -> dict[int, list[Gap]]:
    """Ask each question with the gap log on; return its gaps by its place."""
    found: dict[int, list[Gap]] = defaultdict(list)
    n_before = 0
    with QueryRouter(
        knowledge_corpus=[str(corpus)], gap_log=log, embed="wait", include_platform_knowledge=False
    ) as router:
        for number, one in enumerate(asked):
            router.route_sync(one.question, history=one.history)
            gaps = read_gaps(log).gaps if log.exists() else ()
            found[number] = list(gaps[n_before:])
            n_before = len(gaps)
    return found


def connected(questions: Sequence[str], least: float = 0.2) -> list[list[int]]:
    """Return groups of questions joined by any pair that shares words: the plain way."""
    alike = by_words(questions)
    left, groups = set(range(len(questions))), []
    while left:
        reach, own = [min(left)], set()
        while reach:
            row = reach.pop()
            if row in left:
                left.discard(row)
                own.add(row)
                reach += [other for other in left if alike[row, other] >= least]
        groups.append(sorted(own))
    return groups


def by_nearest(gaps: Sequence[Gap]) -> list[list[int]]:
    """Return groups of questions whose nearest page is one."""
    groups: dict[str, list[int]] = defaultdict(list)
    for row, gap in enumerate(gaps):
        groups[gap.near[0].path if gap.near else f"none {row}"].append(row)
    return list(groups.values())


def measures(groups: Sequence[Sequence[int]], gold: Sequence[str]) -> dict[str, float]:
    """Return purity, normalised mutual information and B-cubed F1 of groups."""
    n_all, sizes = len(gold), Counter(gold)
    pure = precision = recall = shared = 0.0
    for rows_ in groups:
        for label, count in (inside := Counter(gold[row] for row in rows_)).items():
            precision += count * count / len(rows_)
            recall += count * count / sizes[label]
            shared += count / n_all * math.log(count * n_all / (len(rows_) * sizes[label]))
        pure += max(inside.values())
    spread = sum(map(_entropy, (list(sizes.values()), [len(one) for one in groups])))
    precision, recall = precision / n_all, recall / n_all
    return {
        "groups": len(groups),
        "purity": round(pure / n_all, 3),
        "nmi": round(2 * shared / spread if spread else 1.0, 3),
        "b3_f1": round(2 * precision * recall / (precision + recall), 3),
    }


def _entropy(sizes: Sequence[int]) -> float:
    total = sum(sizes)
    return -sum(size / total * math.log(size / total) for size in sizes)


def measured(name: str, data: Path, *, quick: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "docs"
        asked = SETS[name](data, corpus)
        asked = asked[: 40 if quick else None]
        found = ask_all(corpus, Path(folder) / "gaps.jsonl", asked)
    logged = {number: gaps[0] for number, gaps in found.items() if gaps}
    gone = [number for number, one in enumerate(asked) if not one.is_there]
    there = [number for number, one in enumerate(asked) if one.is_there]
    questions = {gap.question: number for number, gap in logged.items() if number in set(gone)}
    gaps = [logged[number] for number in questions.values()]
    gold = [asked[number].page for number in questions.values()]
    return {
        "questions": len(asked),
        "missing": len(gone),
        "logged_of_missing": round(sum(n in logged for n in gone) / len(gone), 3),
        "logged_of_there": round(sum(n in logged for n in there) / len(there), 3),
        "reasons": dict(Counter(gap.reason for gap in logged.values())),
        "grouped": len(gaps),
        "pages": len(set(gold)),
        "ways": dict(_ways(gaps, gold)),
    }


def _model() -> Any:
    return load_embedder("minilm")


def _ways(gaps: Sequence[Gap], gold: Sequence[str]) -> Iterator[tuple[str, dict[str, float]]]:
    questions = [gap.question for gap in gaps]
    yield "by meaning (default)", measures(group(questions, _model()), gold)
    yield "by words (no model)", measures(group(questions, None), gold)
    yield "plain: pairs that share words", measures(connected(questions), gold)
    yield "plain: nearest page", measures(by_nearest(gaps), gold)
    yield "plain: each alone", measures([[row] for row in range(len(gaps))], gold)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    found = {
        name: measured(name, arguments.data / "retrieval", quick=arguments.quick)
        for name in arguments.sets
    }
    print(json.dumps(found, indent=2, ensure_ascii=False))
    if not arguments.quick:
        print(keep("gaps", {"sets": found}))


if __name__ == "__main__":
    main()
