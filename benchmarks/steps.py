"""The steps of benchmarks/speed.py; each runs in a process of its own."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from machine import children_peak_mb, cpu_s, median_ms, peak_mb, resident_mb

MARKDOWN = {".md", ".mdx", ".markdown"}
EMPTY_MB = resident_mb()  # nothing of the product is imported yet
N_QUESTIONS = 200
N_ROUTES = 50
_OPENINGS = {1: "How do I use", 2: "What is", 3: "How does it work and how do I configure"}


class RandomVectors:
    """Stands in for the local model: its names and its questions, random vectors for chunks.

    For speed alone: how long a search takes does not depend on what the vectors say, and
    embedding 60,000 chunks takes most of an hour.
    """

    def __init__(self) -> None:
        self._model = local_model()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def embed(self, texts: Any) -> Any:
        """Return one unit vector per text, drawn from a hash of it."""
        import numpy as np

        rows = np.zeros((len(texts), self._model.dimension), dtype=np.float32)
        for place, text in enumerate(texts):
            seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
            rows[place] = np.random.default_rng(seed).standard_normal(rows.shape[1])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Remembered:
    """A model whose answer is known already: retrieval without embedding the question."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._known: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def embed(self, texts: Any) -> Any:
        """Return vectors, computed once for each text."""
        import numpy as np

        for text in texts:
            if text not in self._known:
                self._known[text] = self._model.embed([text])[0]
        return np.stack([self._known[text] for text in texts])


def files_of(tree: Path) -> list[Path]:
    """Return the Markdown files of a tree in order."""
    return sorted(p for p in tree.rglob("*") if p.suffix in MARKDOWN and p.is_file())


def parse_alone(tree: Path) -> dict[str, Any]:
    """Time the block parser over texts that are in memory already."""
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore

    texts = [path.read_text(encoding="utf-8", errors="replace") for path in files_of(tree)]
    parser = MarkdownIt("commonmark").enable("table")
    began, cpu = time.perf_counter(), cpu_s()
    for text in texts:
        state = StateCore(text, parser, {})
        for rule in ("normalize", "block"):
            next(r for r in parser.core.ruler.__rules__ if r.name == rule).fn(state)
    return {
        "files": len(texts),
        "megabytes": round(sum(len(text.encode()) for text in texts) / 1e6, 1),
        "wall_s": round(time.perf_counter() - began, 2),
        "cpu_s": round(cpu_s() - cpu, 2),
    }


def index_tree(tree: Path, index: Path) -> Any:
    """Index a tree by words with the product's own indexer; return its summary."""
    from fingerpost.corpus import IndexOptions, index_corpus, locate
    from fingerpost.stores.open import open_store

    roots, _ = locate([str(tree)])
    store = open_store(str(index))
    summary = index_corpus(
        store,
        roots,
        embedder=None,
        options=IndexOptions(embed=False),
        observe=lambda _: None,
        cancelled=lambda: False,
    )
    store.close()
    return summary


def ingest(tree: Path, index: Path) -> dict[str, Any]:
    """Time indexing by words, the package imported already."""
    import fingerpost.corpus
    import fingerpost.stores.open  # noqa: F401 - so that its import is not timed

    began, cpu = time.perf_counter(), cpu_s()
    summary = index_tree(tree, index)
    size = sum(path.stat().st_size for path in index.rglob("*") if path.is_file())
    return {
        "documents": summary.n_documents,
        "chunks": summary.n_chunks,
        "skipped": len(summary.skipped),
        "wall_s": round(time.perf_counter() - began, 2),
        "cpu_s": round(cpu_s() - cpu, 2),
        "peak_mb": round(peak_mb()),
        "largest_worker_peak_mb": round(children_peak_mb()),
        "index_mb": round(size / 1e6, 1),
    }


def fill(
    index: Path, model: Any, *, seconds: float = float("inf"), threads: int = 2
) -> dict[str, Any]:
    """Compute missing vectors with the product, for at most some seconds."""
    from fingerpost.corpus.index import embed_pending
    from fingerpost.stores.open import open_store

    store = open_store(str(index))
    began, cpu = time.perf_counter(), cpu_s()
    n_embedded = embed_pending(
        store,
        model,
        observe=lambda _: None,
        cancelled=lambda: time.perf_counter() - began > seconds,
        threads=threads,
    )
    out = {
        "embedded": n_embedded,
        "wall_s": round(time.perf_counter() - began, 2),
        "cpu_s": round(cpu_s() - cpu, 2),
        "peak_mb": round(peak_mb()),
    }
    store.close()
    return out


def open_index(index: Path) -> dict[str, Any]:
    """Time opening a finished index and the first search in it."""
    from fingerpost.retrieve import search
    from fingerpost.stores.open import open_store
    from fingerpost.types.query import Filters

    began, cpu = time.perf_counter(), cpu_s()
    store = open_store(str(index))
    with store.reader() as reader:
        n_chunks = reader.info.n_chunks
        opened, opened_cpu = time.perf_counter(), cpu_s()
        search(reader, "how do I install a module", embedder=None, filters=Filters(), k=10)
        searched = time.perf_counter()
    store.close()
    return {
        "chunks": n_chunks,
        "open_ms": round((opened - began) * 1000, 1),
        "open_cpu_ms": round((opened_cpu - cpu) * 1000, 1),
        "first_search_ms": round((searched - opened) * 1000, 1),
    }


def questions_of(reader: Any) -> list[str]:
    """Return headings spread over the corpus as questions."""
    names = [path[-1] for _, path, _ in reader.headings() if path and len(path[-1]) > 12]
    unique = list(dict.fromkeys(names))
    return unique[:: max(1, len(unique) // N_QUESTIONS)][:N_QUESTIONS]


def retrieve(index: Path, model: Any) -> dict[str, Any]:
    """Time hybrid and keyword retrieval, and one numpy product over as many vectors."""
    import numpy as np

    from fingerpost.retrieve import search
    from fingerpost.stores.open import open_store
    from fingerpost.types.query import Filters

    before_mb = resident_mb()
    store = open_store(str(index))
    with store.reader() as reader:
        questions = questions_of(reader)
        remembered = Remembered(model)
        remembered.embed(questions)

        def hybrid(question: str) -> None:
            search(reader, question, embedder=remembered, filters=Filters(), k=10)

        def words(question: str) -> None:
            search(reader, question, embedder=None, filters=Filters(), k=10)

        out: dict[str, Any] = {"chunks": reader.info.n_chunks, "vectors": reader.info.n_vectors}
        for kind, work in (("hybrid", hybrid), ("words", words)):
            out[f"{kind}_p50_ms"] = round(median_ms(work, questions, clock=time.perf_counter), 2)
            out[f"{kind}_cpu_ms"] = round(median_ms(work, questions, clock=time.process_time), 2)
        whole_mb = resident_mb() - EMPTY_MB
        used_mb = resident_mb() - before_mb
        vectors = np.random.default_rng(0).standard_normal(
            (reader.info.n_chunks, model.dimension), dtype=np.float32
        )
        query = vectors[0].copy()
        product = median_ms(lambda _: vectors @ query, questions[:50], clock=time.process_time)
    out["product_cpu_ms"] = round(product, 2)
    out["resident_mb"] = round(used_mb, 1)
    out["kb_per_chunk"] = round(used_mb * 1024 / max(1, out["chunks"]), 2)
    out["process_kb_per_chunk"] = round(whole_mb * 1024 / max(1, out["chunks"]), 2)
    return out


def embed_alone(index: Path, *, n_texts: int, threads: int) -> dict[str, Any]:
    """Time the local model alone on texts of the index, from as many threads."""
    from fingerpost.lanes.providers import load_embedder
    from fingerpost.stores.open import open_store

    store = open_store(str(index))
    with store.reader() as reader:
        ids = [document.id for document in reader.documents()]
        texts: list[str] = []
        for identity in ids:
            texts += [
                "\n".join([*stored.chunk.heading_path, stored.chunk.text])
                for stored in reader.document_chunks(identity)
            ]
            if len(texts) >= n_texts:
                break
    store.close()
    texts = texts[:n_texts]
    model = load_embedder("minilm")
    model.embed(texts[:2])
    began, cpu = time.perf_counter(), cpu_s()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda text: model.embed([text]), texts))
    return {
        "texts": len(texts),
        "wall_s": round(time.perf_counter() - began, 2),
        "cpu_s": round(cpu_s() - cpu, 2),
    }


def routes(tree: Path, index: Path) -> dict[str, Any]:
    """Time whole routes over a finished index, the question's embedding included."""
    from fingerpost import QueryRouter
    from fingerpost.stores.open import open_store

    store = open_store(str(index))
    with store.reader() as reader:
        names = questions_of(reader)
    store.close()

    async def run() -> dict[str, Any]:
        began, cpu = time.perf_counter(), cpu_s()
        async with QueryRouter(
            knowledge_corpus=[str(tree)], index_dir=index, cache_results=False
        ) as router:
            stats = router.get_corpus_stats()
            out: dict[str, Any] = {
                "chunks": stats.chunk_count,
                "vector_coverage": round(stats.vector_coverage, 3),
                "init_ms": round((time.perf_counter() - began) * 1000),
                "init_cpu_ms": round((cpu_s() - cpu) * 1000),
            }
            await router.route("a question that is not counted", tier=3)
            for tier in (1, 2, 3):
                asked = [f"{_OPENINGS[tier]} {name}?" for name in names[tier::4][:N_ROUTES]]
                took, used = [], []
                for question in asked:
                    began, cpu = time.perf_counter(), time.process_time()
                    await router.route(question, tier=tier)
                    took.append((time.perf_counter() - began) * 1000)
                    used.append((time.process_time() - cpu) * 1000)
                out[f"t{tier}_p50_ms"] = round(statistics.median(took), 1)
                out[f"t{tier}_cpu_ms"] = round(statistics.median(used), 1)
            for at_once, word in ((1, "please"), (32, "thanks")):
                asked = [f"Where is {name}, {word}" for name in names[:96]]
                out[f"routes_per_s_at_{at_once}"] = await _rate(router, asked, at_once)
            return out

    return asyncio.run(run())


async def _rate(router: Any, questions: list[str], at_once: int) -> float:
    """Return how many T1 routes a second run with so many questions at once."""
    places = asyncio.Semaphore(at_once)

    async def one(question: str) -> None:
        async with places:
            await router.route(question, tier=1)

    began = time.perf_counter()
    await asyncio.gather(*map(one, questions))
    return round(len(questions) / (time.perf_counter() - began), 1)


def reindex(tree: Path, index: Path) -> dict[str, Any]:
    """Change one file of a copy of the tree and time the next run."""
    import fingerpost.corpus
    import fingerpost.stores.open  # noqa: F401 - so that its import is not timed

    path = files_of(tree)[len(files_of(tree)) // 2]
    text = path.read_bytes()
    path.write_bytes(text + b"\n\nOne more sentence, for the benchmark.\n")
    began, cpu = time.perf_counter(), cpu_s()
    summary = index_tree(tree, index)
    took = {
        "wall_s": round(time.perf_counter() - began, 2),
        "cpu_s": round(cpu_s() - cpu, 2),
    }
    path.write_bytes(text)
    return {
        **took,
        "changed": summary.n_changed,
        "added": summary.n_added,
        "unchanged": summary.n_unchanged,
        "without_vector": summary.n_without_vector,
    }


def local_model() -> Any:
    """Load the local model."""
    from fingerpost.lanes.providers import load_embedder

    return load_embedder("minilm")


def copied(tree: Path, target: Path, most: int | None) -> Path:
    """Copy the Markdown files of a tree, spread over it when there are more than ``most``."""
    files = files_of(tree)
    if most is not None and len(files) > most:
        files = files[:: len(files) // most][:most]
    for path in files:
        place = target / path.relative_to(tree)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    return target
