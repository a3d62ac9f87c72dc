"""What every store must do with the document graph and the summaries; see `StoreContract`."""

# ruff: noqa: D102 - the name of a test is its sentence, its numbers are examples

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fingerpost.stores import EdgeKind, Store, Summary, WrittenLinks
from fingerpost.testing.store_documents import IDENTITY, fill, prepare
from fingerpost.types.document import Link
from fingerpost.types.ids import document_id
from fingerpost.types.query import Filters

OpenStore = Callable[[], Store]


class GraphContract:
    """Tests of edges between chunks and of summaries."""

    def test_links_lead_in_both_directions_and_never_out_of_a_selection(
        self, open_store: OpenStore
    ) -> None:
        store = open_store()
        documents = [
            prepare("a.md", ["a\n"], links=["b.md", "in/c.md", "missing.md"]),
            prepare("b.md", ["b\n"], links=["in/c.md"]),
            prepare("in/c.md", ["c\n"]),
        ]
        fill(store, documents)
        with store.reader() as reader:
            assert reader.info.has_graph
            keys = [reader.document_chunks(item.document.id)[0].key for item in documents]
            a, b, c = keys
            around = reader.neighbours([*keys, 10**6])
            assert {key: {one.key for one in some} for key, some in around.items()} == {
                a: {b, c},
                b: {a, c},
                c: {a, b},
            }
            assert {one.kind for some in around.values() for one in some} == {EdgeKind.LINK}
            (inside,) = reader.neighbours([a], reader.select(Filters(paths=("in/**",)))).values()
            assert [one.key for one in inside] == [c]

    def test_links_are_put_anew_and_found_as_they_were_written(self, open_store: OpenStore) -> None:
        store = open_store()
        written = WrittenLinks([(0, "b\ud800", "x"), (0, "../c/", "")], ("b\ud800", "c"))
        a, b = replace(prepare("a.md", ["a\n"]), written=written), prepare("b.md", ["b\n"])
        fill(store, [a, b, prepare("a.md", ["a\n"], source="other")])
        moved = replace(a.document, id=document_id("docs", "d.md"), path="d.md")
        with store.writer(IDENTITY) as writer:
            assert writer.unread_links() == set()
            ((path, found),) = writer.written_links("docs", {"c", "e"})
            assert (path, list(found.links), set(found.names)) == (
                "a.md", written.links, set(written.names),
            )  # fmt: skip
            assert writer.written_links("docs", {"b", ""}) == []
            (forced,) = writer.written_links("docs", (), {b.document.id})
            assert forced == ("b.md", WrittenLinks([], []))
            writer.move(a.document.id, moved)
            assert writer.written_links("docs", {"c"}) == [("d.md", found)]
            writer.relink(moved.id, [Link(0, "b.md")])
            writer.relink("unknown", [Link(0, "b.md")])
            writer.commit()
        generation = store.info().generation
        with store.writer(IDENTITY) as writer:
            writer.relink(moved.id, [Link(0, "b.md")])
            assert writer.commit() == generation
        with store.reader() as reader:
            d, b_key = (reader.document_chunks(one)[0].key for one in (moved.id, b.document.id))
            around = {one.key: one.kind for one in reader.neighbours([d])[d]}
            assert [k for k, kind in around.items() if kind is EdgeKind.LINK] == [b_key]
        fill(store, [prepare("d.md", ["d\n"])])
        with store.writer(IDENTITY) as writer:
            assert writer.written_links("docs", {"c"}) == []

    def test_chunks_are_neighbours_of_those_beside_them_and_of_their_section(
        self, open_store: OpenStore
    ) -> None:
        store = open_store()
        document = prepare("a.md", ["a\n", "b\n", "c\n"])
        fill(store, [document])
        with store.reader() as reader:
            a, b, c = (item.key for item in reader.document_chunks(document.document.id))
            around = reader.neighbours([a, b, c])
        found = {key: {(one.key, one.kind.value) for one in some} for key, some in around.items()}
        assert found == {
            a: {(b, "beside"), (c, "section")},
            b: {(a, "beside"), (c, "beside")},
            c: {(b, "beside"), (a, "section")},
        }

    def test_a_shared_name_is_an_edge_while_it_is_shared_and_rare(
        self, open_store: OpenStore
    ) -> None:
        store = open_store()
        name, common = 2**40, 7
        one, other = prepare("a.md", ["a\n"]), prepare("b.md", ["b\n"])
        crowd = [prepare(f"c/{n}.md", [f"{n}\n"]) for n in range(20)]
        named = [replace(item, names=[(name, common)]) for item in (one, other)]
        fill(store, [*named, *(replace(item, names=[(common,)]) for item in crowd)])

        def shared() -> set[tuple[str, str]]:
            with store.reader() as reader:
                ((key, some),) = reader.neighbours(
                    [reader.document_chunks(one.document.id)[0].key]
                ).items()
                chunks = reader.chunks([item.key for item in some])
                paths = {item.document.path for item in chunks}
                assert key not in {item.key for item in some}
                return {(path, str(item.kind)) for path in paths for item in some}

        assert shared() == {("b.md", "shared")}
        moved = replace(other.document, id=document_id("docs", "d.md"), path="d.md")
        with store.writer(IDENTITY) as writer:
            writer.move(other.document.id, moved)
            writer.commit()
        assert shared() == {("d.md", "shared")}
        fill(store, [prepare("d.md", ["no name any more\n"])])
        assert shared() == set()

    def test_a_name_stays_rare_however_often_its_documents_change(
        self, open_store: OpenStore
    ) -> None:
        store = open_store()
        name = 2**40
        for n in range(20):
            fill(store, [replace(prepare(p, [f"{n}\n"]), names=[(name,)]) for p in ("a", "b")])
        with store.reader() as reader:
            a, b = (reader.document_chunks(document_id("docs", path))[0].key for path in ("a", "b"))
            edges = {(one.key, one.kind, one.n_alike) for one in reader.neighbours([a])[a]}
        assert edges == {(b, EdgeKind.SHARED, 2)}

    def test_summaries_are_kept_whole_and_current_until_a_document_changes(
        self, open_store: OpenStore
    ) -> None:
        store = open_store()
        fill(store, [prepare("a.md", ["a\n"])])
        fingerprint = store.info().fingerprint
        tree = [Summary(1, "A", "a", (1,), 1), Summary(2, "All", "b", (1,), 1, (0,), written=True)]
        with store.writer(IDENTITY) as writer:
            writer.put_summaries(tree, fingerprint)
            writer.commit()
        with open_store().reader() as reader:
            assert reader.summaries() == tree
            assert (reader.info.n_summaries, reader.info.summaries_current) == (2, True)
        fill(store, [prepare("b.md", ["b\n"])])
        assert (store.info().n_summaries, store.info().summaries_current) == (2, False)
        with store.writer(IDENTITY) as writer:
            writer.put_summaries(tree[:1], fingerprint)
            writer.commit()
        assert (store.info().n_summaries, store.info().summaries_current) == (1, False)
