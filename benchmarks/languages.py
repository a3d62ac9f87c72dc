"""Questions in other languages than the documents: what each way of search finds.

python benchmarks/languages.py --data DATA_DIR --cache FOLDER [--most 120]

The paragraphs of XQuAD in English are searched with its parallel questions in eight languages, by
the product's own first tier: by words alone, with the local English model, with the local
multilingual one, and with the English model and a translation. The translation is the parallel
question that people wrote, given through the place of a chat model: what it brings is the most
that a model's own translation can.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import anyio

from fingerpost.eval.cases import RetrievalCase, passage, read_cases, retrieval_case
from fingerpost.eval.index import build_index, fill_vectors, passage_ids
from fingerpost.lanes.base import EmbeddingModel
from fingerpost.lanes.providers import load_embedder
from fingerpost.retrieve import retrieve
from fingerpost.retrieve.base import RetrieveRequest, RetrieveTools
from fingerpost.retrieve.translate import Translator
from fingerpost.stores.base import Reader
from fingerpost.testing import ScriptedChat
from fingerpost.types.chat import ChatRequest
from fingerpost.types.decision import Strategy, Tier
from machine import keep

DOCUMENTS = "en"


class Translations:
    """The parallel English question of each question."""

    def __init__(self, cases: Iterable[RetrievalCase]) -> None:
        self._english = {one.id[:-3]: one.question for one in cases if one.id.endswith("-en")}

    def of(self, case: RetrievalCase) -> Translator:
        """Return what translates one question."""
        text = self._english[case.id[:-3]]

        def reply(_request: ChatRequest) -> str:
            return json.dumps({"translations": [text]})

        return Translator(ScriptedChat([reply]))


async def found(
    reader: Reader,
    cases: Iterable[RetrievalCase],
    ids: Mapping[str, str],
    embedder: EmbeddingModel | None,
    translations: Translations | None,
) -> dict[str, Any]:
    """Return hit@1, hit@5 and how often each fallback of languages was named, as shares."""
    rows = []
    for case in cases:
        request = RetrieveRequest(case.question, Tier.LOOKUP, Strategy.SIMPLE, top_k=5)
        translate = None if translations is None else translations.of(case)
        tools = RetrieveTools(embedder=embedder, translate=translate)
        evidence = await retrieve(reader, request, tools)
        ranked = [ids[hit.document.path] for hit in evidence.hits]
        # The gold of a question is the paragraph of its own language; the documents are English.
        gold = {f"{name.rpartition('-')[0]}-{DOCUMENTS}" for name in case.gold}
        named = [name for name in evidence.fallbacks if name.startswith("cross-language")]
        rows.append((ranked[:1] and ranked[0] in gold, gold & set(ranked), named))
    n = len(rows)
    return {
        "n": n,
        "hit@1": round(sum(bool(first) for first, _, _ in rows) / n, 3),
        "hit@5": round(sum(bool(some) for _, some, _ in rows) / n, 3),
        "told": round(sum(bool(named) for _, _, named in rows) / n, 3),
    }


def main() -> None:
    """Print one line for each language and way, and keep the result."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--cache", type=Path, required=True)
    options.add_argument("--most", type=int, default=120, help="questions of each language")
    given = options.parse_args()
    folder = given.data / "retrieval"
    passages = [
        one for one in read_cases(folder / "xquad_passages.jsonl", passage)
        if one.id.endswith(f"-{DOCUMENTS}")
    ]  # fmt: skip
    cases = list(read_cases(folder / "xquad_queries.jsonl", retrieval_case))
    translations, ids = Translations(cases), passage_ids(passages)
    results: dict[str, dict[str, Any]] = {}
    for way, model, translated in (
        ("words", None, None),
        ("minilm", "minilm", None),
        ("use", "use", None),
        ("minilm, translated", "minilm", translations),
    ):
        embedder = None if model is None else load_embedder(model)
        store = build_index("xquad-en", passages, given.cache / f"xquad-en-{model}.index")
        if embedder is not None:
            fill_vectors("xquad-en", store, embedder)
        with store.reader() as reader:
            for language in sorted({case.id[-2:] for case in cases}):
                own = [case for case in cases if case.id.endswith(f"-{language}")]
                own = own[:: max(1, len(own) // given.most)][: given.most]
                row = anyio.run(found, reader, own, ids, embedder, translated)
                results.setdefault(language, {})[way] = row
                print(language, way, row, flush=True)
    command = f"python benchmarks/languages.py --data DATA --cache CACHE --most {given.most}"
    keep("languages", {"command": command, "languages": results})


if __name__ == "__main__":
    main()
