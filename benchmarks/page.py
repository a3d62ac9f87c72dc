"""Write the tables of README.md and docs from the results that were kept.

    python benchmarks/page.py [--check]

A table stands between ``<!-- measured:NAME -->`` and ``<!-- /measured:NAME -->``; the text around
it is left alone. ``--check`` writes nothing and exits with 1 when a table is not what its results
say. No figure is typed by hand.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ablation_plot import drawn
from goals import COMPARED, JUDGE, LANES, QUALITY, READERS, SPEED_LARGE, SPEED_SMALL, Goal
from machine import RESULTS
from peers.table import show

ROOT = Path(__file__).parent.parent
PAGES = (
    "README.md", "docs/evaluation.md", "docs/how-it-works/retrieval.md",
    "docs/how-to/check-docs.md", "docs/how-to/find-gaps.md",
    "docs/how-it-works/knowledge.md", "docs/how-to/capabilities.md",
)  # fmt: skip
PLOT = "docs/ablation.svg"
TIMES = ("p50_cpu", "p95_cpu", "p50", "p95")
COLUMNS = {
    "retrieval": ("n", "hit@1", "hit@5", "hit@10", "mrr", "ndcg@10", "recall@5", "p50_ms"),
    "tiers": ("n", "accuracy", "macro_f1", "ece"),
    "routing": ("n", "accuracy", "oos_recall", "ece"),
    "grounding": ("n", "balanced_accuracy", "auroc", "recall"),
}
ANSWERED = ("docsfaq", "xquad", "mtrag_un", "hotpotqa")  # sets whose passages answer them
_MARK = re.compile(r"<!-- measured:([\w-]+) -->\n.*?<!-- /measured:\1 -->", re.DOTALL)


def result(name: str) -> dict[str, Any]:
    """Return a result as it was kept."""
    out: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return out


def measured_on(found: Mapping[str, Any]) -> str:
    """Return when and on what something was measured."""
    machine = found["machine"]
    loop = f", a plain loop of a million in {machine['loop_ms']} ms" if "loop_ms" in machine else ""
    return (
        f"Measured {found['date']} on {machine['cores']} cores of an {machine['cpu']}, load "
        f"{machine['load_1m']}, Python {machine['python']}{loop}."
    )


def shown(value: Any) -> str:
    """Return a figure as it stands in a table."""
    if value is None:
        return "–"
    if isinstance(value, dict) and "hit@1" in value:
        return " / ".join(f"{value[name]:.3f}" for name in ("hit@1", "hit@5", "recall@5"))
    if isinstance(value, dict):
        return ", ".join(f"{name} {share:.2f}" for name, share in value.items())
    if isinstance(value, list):
        return " / ".join(f"{one:.3f}" for one in value)
    return f"{value:.3f}" if isinstance(value, float) else f"{value}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return Markdown; the first column names the row."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def quality(command: str) -> str:
    """Return a row per data set, and per language or group where there are many."""
    found, columns = result(f"quality-{command}"), COLUMNS[command]
    rows = []
    for name, values in found["datasets"].items():
        rows.append((name, *(shown(values.get(column)) for column in columns)))
        for group in ("languages", "answerability"):
            for member, numbers in values.get(group, {}).items():
                rows.append((f"{name}, {member}", *(shown(numbers.get(c)) for c in columns)))
    return f"{table(('data set', *columns), rows)}\n\n{measured_on(found)}"


def fitted(name: str) -> str:
    """Return what a fit says of the sets that it left out."""
    found = result(f"fit-{name}")
    rows = found["by tier"] if name == "tiers" else found["sets"]
    rows = [row for row in rows if name != "looks" or row["set"] in ANSWERED]
    header = list(rows[0])
    text = table(header, [[shown(row.get(one)) for one in header] for row in rows])
    figures = [
        f"{key} {shown(value)}" for key, value in found.items() if isinstance(value, int | float)
    ]
    about = f"{'; '.join(figures)}.\n\n" if figures else ""
    return f"{about}{text}\n\n{measured_on(found)}"


def judged(part: str) -> str:
    """Return what the local judge of claims reaches: a row per set, or per kind of pair."""
    if part == "goals":
        return goals(JUDGE)
    found = result("grounding")
    rows = found["challenge"] if part == "challenge" else found["sets"]["sets"]
    text = table(list(rows[0]), [[shown(row.get(one)) for one in rows[0]] for row in rows])
    return f"{text}\n\n{measured_on(found)}"


def goals(wanted: Sequence[Goal]) -> str:
    """Return each goal, what was measured, and whether it is met."""
    results: dict[str, Any] = {}
    rows = []
    for goal in wanted:
        found = results.setdefault(goal.result, result(goal.result))
        value = goal.value(found)
        told = goal.limit is not None and value is not None
        verdict = "" if not told else "met" if goal.met(value) else "**missed**"
        rows.append((goal.what, goal.shown(value), goal.shown_limit(), verdict))
    several = len(results) > 1
    said = [
        (f"`{name}`: " if several else "")
        + (f"Vectors: {found['vectors']}. " if "vectors" in found else "")
        + measured_on(found)
        for name, found in results.items()
    ]
    return "\n\n".join([table(("", "measured", "goal", ""), rows), *said])


def ablated(tier: str) -> str:
    """Return a row for all of retrieval at a tier, and one without each part."""
    found = result("ablation")
    one = found["tiers"].get(tier)
    if one is None:
        return "Not measured."
    sets = list(one["questions"])
    rows = [
        (
            f"without {row['out']}" if place else row["out"],
            *(" / ".join(f"{share:.3f}" for share in row["sets"][name].values()) for name in sets),
            f"{row['mean']['ndcg@10']:.3f}",
            f"{row['cpu_ms']:.1f}",
        )
        for place, row in enumerate(one["rows"])
    ]
    asked = ", ".join(f"{name} {count}" for name, count in one["questions"].items())
    text = table(("", *sets, "mean nDCG@10", "CPU ms"), rows)
    return f"{text}\n\nQuestions: {asked}. {measured_on(found)}"


def peers() -> str:
    """Return the peers beside fingerpost, a table for each way to search."""
    found = result("peers")
    if "trees" not in found:
        return "Not measured: `peers.json` has an older form; run `python benchmarks/peers.py`."
    return f"{show(found)}\n\n{measured_on(found)}"


def languages() -> str:
    """Return what each way of search finds, a row for each language of the questions."""
    found = result("languages")
    ways = list(next(iter(found["languages"].values())))
    rows = [
        (language, *(f"{by[way]['hit@1']:.2f} / {by[way]['hit@5']:.2f}" for way in ways))
        for language, by in found["languages"].items()
    ]
    return f"{table(('questions in', *ways), rows)}\n\n{measured_on(found)}"


def cranfield() -> str:
    """Return nDCG@10 of each way over Cranfield, a column for each reading of its judgements."""
    found = result("cranfield")
    ways = found["ndcg@10"]
    gains = list(next(iter(ways.values())))
    rows = [(way, *(shown(by[gain]) for gain in gains)) for way, by in ways.items()]
    size = f"{found['n_topics']} topics, {found['n_documents']:,} documents."
    return f"{table(('nDCG@10', *gains), rows)}\n\n{size} {measured_on(found)}"


def gaps() -> str:
    """Return how well groups of unanswered questions match the pages that are missing."""
    found = result("gaps")
    kept = [
        (name, *(shown(one[key]) for key in ("missing", "logged_of_missing", "logged_of_there")))
        for name, one in found["sets"].items()
    ]
    grouped = [
        (f"{name}, {way}", *(shown(value) for value in values.values()))
        for name, one in found["sets"].items()
        for way, values in one["ways"].items()
    ]
    logged = table(("set", "questions whose page is missing", "kept", "kept of others"), kept)
    text = table(("set, way of grouping", "groups", "purity", "NMI", "B-cubed F1"), grouped)
    return f"{logged}\n\n{text}\n\n{measured_on(found)}"


def checked() -> str:
    """Return the CPU time of a check beside that of an ingest, and what it found."""
    found = result("check-powershell-docs")
    rows = [(rule, shown(count)) for rule, count in found["counts"].items()]
    said = (
        f"{found['tree']}, {found['pages']:,} pages: {found['check']['cpu_s']:.1f} s of CPU time; "
        f"an ingest by words takes {found['ingest']['cpu_s']:.1f} s, on all cores."
    )
    return f"{said}\n\n{table(('rule', 'findings'), rows)}\n\n{measured_on(found)}"


def discovered() -> str:
    """Return how well capabilities are found, how honest confidences are, and what it takes."""
    found = result("capabilities")
    ways = ("plain BM25", "words", "words and meaning")
    columns = ("recall@5", "hit@1", "hit@5", "mrr")
    rows = [
        (way, *map(shown, (found[way]["dev"]["recall@5"], *map(found[way]["held"].get, columns))))
        for way in ways
    ]
    sure = [
        (
            way,
            f"{one['told a right one']} of {one['asked, can help']}",
            f"{one['told something, cannot help']} of {one['asked, cannot help']}",
            shown(one["mean_confidence"]),
            shown(one["right"]),
        )
        for way, one in ((way, found[f"{way}: confidence, held"]) for way in ways[1:])
    ]
    took = [
        (way, *(shown(found[f"speed: {way}"][f"{part}_ms"]) for part in TIMES)) for way in ways[1:]
    ]
    tables = (
        table(("way", "recall@5, dev", *(f"{name}, held" for name in columns)), rows),
        table(
            ("held, among three servers", "told a right tool", "told one in vain", "sure", "right"),
            sure,
        ),
        table(("ms at 1,000 tools", "p50 CPU", "p95 CPU", "p50 wall", "p95 wall"), took),
    )
    return "\n\n".join((*tables, measured_on(found)))


def known() -> str:
    """Return what the platform knowledge answers, by either way of search."""
    found = result("knowledge")
    ways = ("local_model", "words_alone")
    asked = found["local_model"]
    rows = [
        (f"paraphrases ({asked['paraphrases']['n']}), {said}", *shares)
        for name, said in (
            ("answered", "answered"),
            ("cites_right", "the right entry is cited"),
            ("cites_right_first", "the right entry is cited first"),
        )
        for shares in [[shown(found[way]["paraphrases"][name]) for way in ways]]
    ]
    rows += [
        (f"{said} ({asked[name]['n']:,}), answered", *counts)
        for name, said in (("others", "other questions"), ("swapped", "swapped"))
        for counts in [[shown(found[way][name]["answered"]) for way in ways]]
    ]
    cost = found["cost"]
    said = (
        f"CPU time of a route over one page: {cost['answered_cpu_ms']} ms when the page answers, "
        f"{cost['silent_cpu_ms']} ms when nothing does, {cost['later_cpu_ms']} ms when an entry "
        f"does, and {cost['first_cpu_ms'] / 1000:.1f} s for the first such question, which makes "
        "the index and loads the model."
    )
    text = table(("", "local model", "words alone"), rows)
    return f"{text}\n\n{said} {measured_on(found)}"


def compared() -> str:
    """Return the short table of the README."""
    rows = [(one.what, one.shown(one.value(result(one.result))), one.beside) for one in COMPARED]
    return table(("", "measured", "to compare"), rows)


TABLES: dict[str, Callable[[], str]] = {
    **{name: partial(quality, name) for name in COLUMNS},
    **{f"fit-{name}": partial(fitted, name) for name in ("tiers", "looks", "fusion")},
    **{f"judge-{part}": partial(judged, part) for part in ("sets", "challenge", "goals")},
    **{f"ablation-{tier.lower()}": partial(ablated, tier) for tier in ("T1", "T2", "T3")},
    "quality-goals": partial(goals, QUALITY),
    "speed-large": partial(goals, SPEED_LARGE),
    "speed-small": partial(goals, SPEED_SMALL),
    "lanes": partial(goals, LANES),
    "languages": languages,
    "cranfield": cranfield,
    "readers": partial(goals, READERS),
    "peers": peers,
    "gaps": gaps,
    "check": checked,
    "knowledge": known,
    "capabilities": discovered,
    "compared": compared,
}


def written(page: str) -> str:
    """Return a page with its tables as the results are now."""

    def block(found: re.Match[str]) -> str:
        name = found[1]
        try:
            text = TABLES[name]()
        except FileNotFoundError as missing:
            text = f"Not measured: there is no `{Path(missing.filename).name}`."
        return f"<!-- measured:{name} -->\n{text}\n<!-- /measured:{name} -->"

    return _MARK.sub(block, page)


def current() -> dict[str, str]:
    """Return what every page, and the plot, should hold now."""
    pages = {name: written((ROOT / name).read_text(encoding="utf-8")) for name in PAGES}
    return {**pages, PLOT: drawn(result("ablation")["tiers"])}


def main() -> int:
    """Write or check the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 when stale")
    check = parser.parse_args().check
    stale = []
    for name, text in current().items():
        path = ROOT / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not check:
                path.write_text(text, encoding="utf-8")
    if stale and check:
        print(f"stale: {', '.join(stale)}; run: python benchmarks/page.py")
        return 1
    print(f"written: {', '.join(stale) or 'nothing, all is current'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
