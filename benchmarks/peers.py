"""Keyword retrieval of the peers and of fingerpost over the same chunks, side by side.

    python -m venv PEERS && PEERS/bin/pip install -r benchmarks/requirements-peers.txt
    python benchmarks/peers.py --tree DIR --peers-python PEERS/bin/python [--quick]

Our splitter cuts the tree once; every system indexes those chunks in a process of its own and
answers the same questions (headings of the tree) with ten hits each. Times are wall milliseconds
of one run on one machine: read the ratios, not the numbers.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from machine import keep, median_ms, peak_mb, ratio, resident_mb, step

PEERS = ("llamaindex", "haystack", "langchain", "txtai")
Search = Callable[[str], object]
Build = Callable[[list[str]], Search]


def llamaindex() -> Build:
    """Import LlamaIndex's BM25 retriever."""
    from llama_index.core.schema import TextNode
    from llama_index.retrievers.bm25 import BM25Retriever

    def build(texts: list[str]) -> Search:
        nodes = [TextNode(text=text) for text in texts]
        retriever = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=10)
        search: Search = retriever.retrieve
        return search

    return build


def haystack() -> Build:
    """Import Haystack's in-memory store with its BM25 retriever."""
    from haystack import Document
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    def build(texts: list[str]) -> Search:
        store = InMemoryDocumentStore()
        store.write_documents([Document(id=str(n), content=t) for n, t in enumerate(texts)])
        retriever = InMemoryBM25Retriever(store, top_k=10)
        return lambda question: retriever.run(query=question)

    return build


def langchain() -> Build:
    """Import LangChain's BM25 retriever (rank-bm25)."""
    from langchain_community.retrievers import BM25Retriever

    def build(texts: list[str]) -> Search:
        retriever = BM25Retriever.from_texts(texts, k=10)
        search: Search = retriever.invoke
        return search

    return build


def txtai() -> Build:
    """Import txtai with its keyword index."""
    from txtai import Embeddings

    def build(texts: list[str]) -> Search:
        index = Embeddings(keyword=True, content=True)
        index.index(list(enumerate(texts)))
        return lambda question: index.search(question.replace("'", " "), 10)

    return build


def measure_peer(name: str, chunks: Path) -> dict[str, Any]:
    """Import one peer, index the chunks and answer the questions."""
    corpus = json.loads(chunks.read_text(encoding="utf-8"))
    empty_mb = resident_mb()
    began = time.perf_counter()
    build = {
        "llamaindex": llamaindex,
        "haystack": haystack,
        "langchain": langchain,
        "txtai": txtai,
    }[name]()
    imported = time.perf_counter()
    search = build(corpus["texts"])
    built = time.perf_counter()
    out = {"import_s": round(imported - began, 2), "init_s": round(built - imported, 2)}
    out["memory_mb"] = round(resident_mb() - empty_mb)
    out["p50_ms"] = round(median_ms(search, corpus["questions"], clock=time.perf_counter), 3)
    out["cpu_p50_ms"] = round(median_ms(search, corpus["questions"], clock=time.process_time), 3)
    return {**out, "peak_mb": round(peak_mb())}


def measure_ours(chunks: Path, index: Path) -> dict[str, Any]:
    """Open the index that is on disk already and answer the same questions by words."""
    questions = json.loads(chunks.read_text(encoding="utf-8"))["questions"]
    empty_mb = resident_mb()
    began = time.perf_counter()
    from fingerpost.retrieve import search
    from fingerpost.stores.open import open_store

    imported = time.perf_counter()
    store = open_store(str(index))
    with store.reader() as reader:
        opened = time.perf_counter()

        def ask(question: str) -> object:
            return search(reader, question, embedder=None, k=10)

        out = {"import_s": round(imported - began, 2), "open_s": round(opened - imported, 3)}
        out["p50_ms"] = round(median_ms(ask, questions, clock=time.perf_counter), 3)
        out["cpu_p50_ms"] = round(median_ms(ask, questions, clock=time.process_time), 3)
        out["memory_mb"] = round(resident_mb() - empty_mb)
    store.close()
    return {**out, "peak_mb": round(peak_mb())}


def prepare(tree: Path, index: Path, chunks: Path, *, quick: bool) -> dict[str, Any]:
    """Index the tree with fingerpost; write its chunks and questions for everyone."""
    import steps
    from fingerpost.stores.open import open_store

    if quick:
        tree = steps.copied(tree, chunks.parent / "tree", 60)
    found = steps.ingest(tree, index)
    store = open_store(str(index))
    with store.reader() as reader:
        texts = [
            "\n".join([*stored.chunk.heading_path, stored.chunk.text])
            for document in reader.documents()
            for stored in reader.document_chunks(document.id)
        ]
        questions = steps.questions_of(reader)[: 20 if quick else 100]
    store.close()
    chunks.write_text(json.dumps({"texts": texts, "questions": questions}), encoding="utf-8")
    return found


def compare(ours: dict[str, Any], peers: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return each peer's time by ours; above 1 we are faster."""
    start = ours["ingest"].get("wall_s")
    return {
        name: {
            "retrieve": ratio(found.get("p50_ms"), ours["search"].get("p50_ms")),
            "retrieve CPU": ratio(found.get("cpu_p50_ms"), ours["search"].get("cpu_p50_ms")),
            "init by our ingest": ratio(found.get("init_s"), start),
            "init by our open": ratio(found.get("init_s"), ours["search"].get("open_s")),
            "memory": ratio(found.get("memory_mb"), ours["search"].get("memory_mb")),
        }
        for name, found in peers.items()
    }


def measure(options: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """Run us and every peer."""
    me, chunks, index = str(Path(__file__).resolve()), scratch / "chunks.json", scratch / "index"
    common = ["--chunks", str(chunks), "--index", str(index)]
    quick = ["--quick"] if options.quick else []
    steps_ours = [*common, "--tree", str(options.tree), *quick, "--step"]
    ours = {
        "ingest": step(me, sys.executable, *steps_ours, "prepare"),
        "search": step(me, sys.executable, *steps_ours, "ours"),
    }
    print(f"fingerpost: {json.dumps(ours)}", file=sys.stderr)
    peers: dict[str, dict[str, Any]] = {}
    for name in PEERS:
        peers[name] = step(me, options.peers_python, *common, "--step", name)
        print(f"{name}: {json.dumps(peers[name])}", file=sys.stderr)
    return {"fingerpost": ours, "peers": peers, "ratios": compare(ours, peers)}


def run_step(options: argparse.Namespace) -> dict[str, Any]:
    """Run the step that this process is for."""
    if options.step == "prepare":
        return prepare(options.tree, options.index, options.chunks, quick=options.quick)
    if options.step == "ours":
        return measure_ours(options.chunks, options.index)
    return measure_peer(options.step, options.chunks)


def main() -> None:
    """Measure, or run one step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, help="folder of Markdown files")
    parser.add_argument("--peers-python", default=sys.executable, help="python that has the peers")
    parser.add_argument("--quick", action="store_true", help="60 files; results are not kept")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--chunks", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--index", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(run_step(options)))
        return
    if options.tree is None:
        parser.error("--tree is needed")
    with tempfile.TemporaryDirectory(prefix="fingerpost-peers-") as folder:
        out = measure(options, Path(folder))
    print(json.dumps(out, indent=2))
    if not options.quick:
        print(f"kept in {keep('peers', out)}")


if __name__ == "__main__":
    main()
