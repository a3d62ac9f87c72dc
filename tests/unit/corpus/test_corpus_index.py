"""Keeping an index up to date: only what changed is touched (field cases 7 and 9, goal R14)."""

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from fingerpost.corpus import (
    CorpusRoot,
    IndexOptions,
    embed_pending,
    english_share,
    index_corpus,
    index_identity,
    topics,
)
from fingerpost.errors import EmbeddingError, StoreConflictError
from fingerpost.observe.observer import ignore
from fingerpost.stores.base import WordQuery
from fingerpost.testing.models import HashEmbedder
from fingerpost.text.analyse import query_tokens
from fingerpost.types.query import Filters

WORDS_ONLY = IndexOptions(embed=False, workers=0)


def root(folder):
    return CorpusRoot("docs", folder.resolve())


def run(store, folder, embedder=None, observe=ignore, options=None, **kwargs):
    options = options or IndexOptions(embed=embedder is not None, workers=1 if embedder else 0)
    return index_corpus(
        store, [root(folder)], embedder=embedder, options=options, observe=observe, **kwargs
    )


def search(store, question):
    with store.reader() as reader:
        keys = [key for key, _ in reader.search_words(WordQuery(query_tokens(question)), 20)]
        return [stored.chunk.text for stored in reader.chunks(keys)]


def pages(store):
    with store.reader() as reader:
        return [document.path for document in reader.documents()]


def rows_and_vectors(store):
    """Return every row of the database and every byte of the vectors."""
    folder = Path(store.info().location)
    with closing(sqlite3.connect(folder / "index.sqlite")) as database:
        rows = list(database.iterdump())
    return rows, {path.name: path.read_bytes() for path in (folder / "vectors").iterdir()}


def test_an_unchanged_corpus_is_embedded_by_no_call_and_changes_no_row(docs, store):
    """Goal R14."""
    for name in ("a.md", "b.rst", "c.txt", "d.html", "e.ipynb", "sub/f.mdx"):
        (docs / name).parent.mkdir(exist_ok=True)
        (docs / name).write_text(f"# Page\n\nalpha of {name}, see [it](a.md)\n")
    (docs / "empty.md").write_text("")
    embedder = HashEmbedder()
    first = run(store, docs, embedder)
    assert (first.n_added, first.n_embedded, first.n_without_vector) == (6, first.n_chunks, 0)
    before, n_calls = rows_and_vectors(store), embedder.n_calls
    (docs / "a.md").touch()
    second = run(store, docs, embedder)
    assert (second.n_unchanged, second.n_added, second.n_changed) == (6, 0, 0)
    assert second.generation == first.generation
    assert embedder.n_calls == n_calls
    assert rows_and_vectors(store) == before


def test_a_rename_embeds_nothing_and_changes_the_path(docs, store):
    (docs / "a.md").write_text("# A\n\nalpha\n\n## B\n\nbeta [x](c.md)\n")
    (docs / "c.md").write_text("# C\n\ngamma\n")
    embedder = HashEmbedder()
    run(store, docs, embedder)
    embedder.texts.clear()
    (docs / "a.md").rename(docs / "b.md")
    summary = run(store, docs, embedder)
    assert (summary.n_moved, summary.n_added, summary.n_removed) == (1, 0, 0)
    assert embedder.texts == []
    assert pages(store) == ["b.md", "c.md"]
    (docs / "sub").mkdir()
    (docs / "b.md").rename(docs / "sub/b.md")
    summary = run(store, docs, embedder)
    assert (summary.n_moved, summary.n_added, summary.n_removed) == (1, 0, 0)
    assert embedder.texts == []
    assert pages(store) == ["c.md", "sub/b.md"]
    assert summary.n_without_vector == 0


def test_a_deleted_file_leaves_no_hit_in_words_or_vectors_of_the_next_generation(docs, store):
    """Goal R14."""
    (docs / "a.md").write_text("alpha unique_marker\n")
    (docs / "b.md").write_text("beta\n")
    embedder = HashEmbedder()
    first = run(store, docs, embedder)
    (docs / "a.md").unlink()
    second = run(store, docs, embedder)
    assert (second.n_removed, second.generation) == (1, first.generation + 1)
    assert search(store, "unique_marker") == []
    assert pages(store) == ["b.md"]
    with store.reader() as reader:
        assert reader.info.generation == second.generation
        (vector,) = embedder.embed(["alpha unique_marker"])
        near = reader.chunks([key for key, _ in reader.search_vectors(vector, 9)])
    assert [found.chunk.text for found in near] == ["beta\n"]


def test_an_edit_replaces_the_old_fact_and_embeds_only_its_section(docs, store):
    # Field case 7.
    page = docs / "modes.md"
    page.write_text(
        "# Pump\n\nIt pumps.\n\n## Modes\n\nmodes: 4\n\n## Care\n\nKeep dry. [more](other.md)\n"
    )
    (docs / "other.md").write_text("# Other\n\nother\n")
    embedder = HashEmbedder()
    run(store, docs, embedder)
    embedder.texts.clear()
    page.write_text(
        page.read_text().replace("modes: 4", "modes: 3").replace("(other.md)", "(modes.md)")
    )
    summary = run(store, docs, embedder)
    assert summary.n_changed == 1
    assert [hit for hit in search(store, "modes") if "modes:" in hit] == [
        "## Modes\n\nmodes: 3\n\n"
    ]
    assert [text for text in embedder.texts if "It pumps." in text] == []
    assert len(embedder.texts) <= 2
    with store.reader() as reader:
        ids = {document.path: document.id for document in reader.documents()}
        keys = [stored.key for stored in reader.document_chunks(ids["modes.md"])]
        kinds = {one.kind for some in reader.neighbours(keys).values() for one in some}
        assert kinds == {"beside", "section"}


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("系统现在需要重新启动才能完成安装过程。", "启动"),
        ("この装置は電源を入れる前に必ず点検してください。", "点検"),
        ("이 장치는 사용하기 전에 반드시 점검해야 합니다.", "점검"),
        ("กรุณาตรวจสอบเครื่องก่อนใช้งานทุกครั้ง", "เครื่อง"),
    ],
)
def test_words_inside_text_without_spaces_are_found(docs, store, text, question):
    # Field case 9.
    (docs / "page.md").write_text(f"# P\n\n{text}\n")
    (docs / "else.md").write_text("# Q\n\nsomething else\n")
    run(store, docs)
    assert [hit for hit in search(store, question) if text in hit]


def test_front_matter_answers_no_question(docs, store):
    # Field case 3.
    for number in range(30):
        (docs / f"p{number}.md").write_text(
            f"---\nstatus: active\nupdated: 2026-06-12\ntags: [machine]\n---\n# Page {number}\n\nText {number}.\n"
        )
    (docs / "good.md").write_text(
        "# Updates\n\nA signature stops a bad update reaching machines.\n"
    )
    (docs / "bad.md").write_text("---\nstatus: [active\nupdated: x: y\n---\n# Bad\n\nText.\n")
    summary = run(store, docs)
    assert summary.n_documents == 32
    assert "signature" in search(store, "stops a bad update reaching machines")[0]
    assert search(store, "zzqx plugh") == []
    assert search(store, "status active") == []
    with store.reader() as reader:
        assert reader.select(Filters(tags=("machine",))).n_documents == 30


def test_bytes_that_are_no_text_are_listed_and_stop_nothing(docs, store):
    (docs / "good.md").write_text("good words\n")
    (docs / "nul.md").write_bytes(b"a\0b")
    (docs / "noise.md").write_bytes(bytes(range(128, 256)) * 20)
    (docs / "big.md").write_text("x" * 5000)
    (docs / "empty.md").write_text("")
    (docs / "meta.md").write_text("---\ntitle: x\n---\n")
    (docs / "wide.md").write_bytes("wide words\n".encode("utf-16"))
    (docs / "paper.doc").write_bytes(b"words")
    options = IndexOptions(embed=False, workers=0, max_file_bytes=4000)
    summary = run(store, docs, options=options)
    assert sorted((Path(item.path).name, item.reason) for item in summary.skipped) == [
        ("big.md", "too-large"), ("empty.md", "empty"), ("meta.md", "empty"),
        ("noise.md", "encoding"), ("nul.md", "binary"), ("paper.doc", "unsupported"),
    ]  # fmt: skip
    assert pages(store) == ["good.md", "wide.md"]
    with store.reader() as reader:
        assert sorted(item.reason for item in reader.skipped()) == sorted(
            item.reason for item in summary.skipped
        )


def test_a_file_that_cannot_be_read_now_keeps_what_was_indexed(docs, store):
    if os.geteuid() == 0:
        pytest.skip("root may read every file, so none can be made unreadable; run as a user")
    page = docs / "a.md"
    page.write_text("alpha\n")
    run(store, docs)
    page.chmod(0)
    summary = run(store, docs)
    assert [item.reason for item in summary.skipped] == ["unreadable"]
    assert pages(store) == ["a.md"]


def test_a_file_that_became_binary_leaves_the_index(docs, store):
    (docs / "a.md").write_text("alpha\n")
    run(store, docs)
    (docs / "a.md").write_bytes(b"a\0")
    summary = run(store, docs)
    assert (summary.n_removed, summary.n_documents) == (1, 0)


def test_limits_on_number_and_sum_are_listed_once(docs, store):
    for number in range(5):
        (docs / f"{number}.md").write_text("word " * 20)
    summary = run(store, docs, options=IndexOptions(embed=False, workers=0, max_files=3))
    assert summary.n_documents == 3
    assert [(item.reason, item.detail) for item in summary.skipped] == [
        ("limit", "too many files; 2 files left out")
    ]


def test_a_file_of_too_many_lines_is_plain_text_stays_when_it_changes_and_is_listed_each_time(
    docs, store
):
    detail = "more than 100,000 lines; it was read as plain text"
    for text in ("# alpha\n", "# beta\n", "# beta\n"):
        (docs / "a.md").write_text(text + "x\n" * 100_000)
        (docs / "b.md").write_text("# Few\n" + "x\n" * 99_000)
        summary = run(store, docs)
        assert (summary.n_documents, summary.n_removed) == (2, 0)
        assert [(item.reason, item.detail) for item in summary.skipped] == [("limit", detail)]
    assert search(store, "alpha") == []
    with store.reader() as reader:
        paths = {path for _, path, _ in reader.headings()}
    assert paths == {(), ("Few",)}


def test_a_cancelled_run_leaves_the_last_state(docs, store):
    (docs / "a.md").write_text("alpha\n")
    before = run(store, docs)
    (docs / "a.md").write_text("beta\n")
    (docs / "b.md").write_text("gamma\n")
    after = run(store, docs, cancelled=lambda: True)
    assert (after.generation, after.n_documents) == (before.generation, 1)
    assert search(store, "alpha")
    assert run(store, docs).n_documents == 2


def test_an_interrupt_leaves_the_last_state_and_the_next_run_completes(docs, store):
    (docs / "a.md").write_text("alpha\n")
    run(store, docs)
    for number in range(20):
        (docs / f"n{number}.md").write_text(f"new {number}\n")
    calls = iter(range(100))

    def interrupt():
        if next(calls) == 10:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        run(store, docs, cancelled=interrupt)
    assert pages(store) == ["a.md"]
    assert run(store, docs).n_documents == 21


def test_a_second_writer_is_refused(docs, store):
    (docs / "a.md").write_text("alpha\n")
    with store.writer(index_identity()), pytest.raises(StoreConflictError):
        run(store, docs)


def test_indexing_without_a_model_keeps_the_vectors_that_are_there(docs, store):
    (docs / "a.md").write_text("alpha\n")
    embedder = HashEmbedder()
    run(store, docs, embedder)
    (docs / "b.md").write_text("beta\n")
    summary = run(store, docs, options=WORDS_ONLY)
    assert (summary.n_chunks, summary.n_without_vector) == (2, 1)
    embedder.texts.clear()
    assert embed_pending(store, embedder, observe=ignore, cancelled=lambda: False, threads=2) == 1
    assert len(embedder.texts) == 1


def test_progress_of_vectors_is_told_before_they_are_many(docs, store):
    (docs / "a.md").write_text("# One\n\nalpha\n\n# Two\n\nbeta\n\n# Three\n\ngamma\n")
    run(store, docs)
    told = threading.Event()

    class Slow(HashEmbedder):
        def embed(self, texts):
            if self.n_calls == 2:
                assert told.wait(5)
            return super().embed(texts)

    def observe(event):
        if (event.phase, event.done, event.total) == ("embed", 2, 3):
            told.set()

    assert embed_pending(store, Slow(), observe=observe, cancelled=lambda: False, threads=1) == 3


def test_another_model_embeds_everything_again(docs, store):
    (docs / "a.md").write_text("alpha\n")
    run(store, docs, HashEmbedder())
    other = HashEmbedder()
    other.revision = "2"
    assert run(store, docs, other).n_embedded == 1


def test_a_rebuild_reads_every_file_again(docs, store):
    (docs / "a.md").write_text("alpha\n")
    run(store, docs)
    summary = run(store, docs, options=IndexOptions(embed=False, workers=0, rebuild=True))
    assert (summary.n_changed, summary.n_unchanged) == (1, 0)


def test_progress_counts_up_to_its_total(docs, store):
    for number in range(3):
        (docs / f"{number}.md").write_text(f"text {number}\n")
    events = []
    run(store, docs, HashEmbedder(), observe=events.append)
    assert [event.phase for event in events][-1] == "done"
    last = {event.phase: (event.done, event.total) for event in events}
    assert last["parse"] == last["store"] == last["embed"] == (3, 3)


def test_one_text_that_the_model_refuses_stops_nothing(docs, store):
    class Picky(HashEmbedder):
        def embed(self, texts):
            if "bad" in texts[0]:
                raise EmbeddingError("no vector")
            return super().embed(texts)

    (docs / "a.md").write_text("# A\n\nbad\n\n## B\n\ngood\n\n## C\n\nfine\n")
    summary = run(store, docs, Picky())
    assert (summary.n_embedded, summary.n_without_vector) == (2, 1)


def test_embedding_stops_when_it_is_cancelled_and_goes_on_later(docs, store):
    for number in range(20):
        (docs / f"{number}.md").write_text(f"text {number}\n")
    run(store, docs)
    embedder = HashEmbedder()

    def stop():
        return len(embedder.texts) >= 5

    n_first = embed_pending(store, embedder, observe=ignore, cancelled=stop, threads=2)
    assert 5 <= n_first <= 7
    n_rest = embed_pending(store, embedder, observe=ignore, cancelled=lambda: False, threads=2)
    assert n_first + n_rest == 20


def test_an_error_of_the_model_reaches_the_caller_and_keeps_what_was_done(docs, store):
    class Broken(HashEmbedder):
        def embed(self, texts):
            if len(self.texts) >= 3:
                raise RuntimeError("the session died")
            return super().embed(texts)

    for number in range(6):
        (docs / f"{number}.md").write_text(f"text {number}\n")
    run(store, docs)
    with pytest.raises(RuntimeError, match="session died"):
        embed_pending(store, Broken(), observe=ignore, cancelled=lambda: False, threads=1)
    assert store.info().n_vectors == 3


def test_topics_are_headings_by_what_they_cover_with_boilerplate_last(docs, store):
    for number in range(12):
        (docs / f"{number}.md").write_text(
            f"# Subject {number}\n\n{'words ' * (number + 1)}\n\n## Examples\n\n{'x ' * 99}\n"
        )
    run(store, docs)
    with store.reader() as reader:
        found = topics(reader)
        assert found[0] == "Subject 11"
        assert found[-1] == "Examples"
        assert topics(reader, 3) == found[:3]


def test_the_share_of_english_counts_known_languages(docs, store):
    (docs / "a.md").write_text("This is the page that tells you about all of the things.\n")
    (docs / "b.md").write_text("Das ist die Seite, auf der alles über die Dinge steht.\n")
    (docs / "c.md").write_text("```\n0x1f\n```\n")
    run(store, docs)
    assert english_share(store) == 0.5
