"""Many readers while one writes: no mixture of generations, no error (goal R16)."""

import threading

from fingerpost.stores.embedded import EmbeddedStore
from fingerpost.testing.store_documents import IDENTITY, embed_all, hash_vector, prepare, words

READERS, COMMITS, DOCUMENTS = 50, 25, 6
WAIT_S = 60


def _documents(round_number: int):
    """All documents of a round carry its number in text, words and vectors."""
    return [
        prepare(f"{n}.md", [f"round{round_number} pumps of document {n}\n"])
        for n in range(DOCUMENTS)
    ]


def _check(reader) -> int:
    """Return the one round that text, words and vectors of a reader agree on."""
    (texts,) = {
        item.chunk.text.split()[0]
        for document in reader.documents()
        for item in reader.document_chunks(document.id)
    }
    hits = reader.search_words(words("pumps"), 50)
    assert len(hits) == DOCUMENTS, reader.info
    stored = reader.chunks([key for key, _ in hits])
    assert {item.chunk.text.split()[0] for item in stored} == {texts}
    assert len(reader.search_words(words(texts), 50)) == DOCUMENTS
    token = next(iter(words("pumps").tokens))
    assert reader.document_frequency([token]) == {token: DOCUMENTS}
    near = reader.search_vectors(hash_vector(f"Section 0\n{texts} pumps of document 3"), 50)
    assert len(near) == DOCUMENTS == reader.info.n_vectors, reader.info
    best = reader.chunks([near[0][0]])[0].chunk.text
    assert best == f"{texts} pumps of document 3\n"
    assert near[0][1] > 0.98
    return int(texts.removeprefix("round"))


def test_fifty_readers_never_see_two_generations_at_once(tmp_path):
    folder = tmp_path / "index"
    stores = [EmbeddedStore(folder) for _ in range(3)]
    started = threading.Barrier(READERS + 1)
    done = threading.Event()
    failures: list[BaseException] = []
    seen: list[set[int]] = [set() for _ in range(READERS)]

    def write(round_number: int, writer) -> None:
        writer.put(_documents(round_number))
        embed_all(writer)
        writer.commit()

    def read(place: int) -> None:
        try:
            started.wait(WAIT_S)
            while not done.is_set():
                store = EmbeddedStore(folder) if place % 10 == 0 else stores[place % 3]
                with store.reader() as reader:
                    first = _check(reader)
                    assert _check(reader) == first
                seen[place].add(first)
                if place % 10 == 0:
                    store.close()
        except BaseException as error:
            failures.append(error)

    with stores[0].writer(IDENTITY) as writer:
        write(0, writer)
    threads = [threading.Thread(target=read, args=(place,)) for place in range(READERS)]
    for thread in threads:
        thread.start()
    started.wait(WAIT_S)
    for turn in range(0, COMMITS, 5):  # several writers one after the other, several commits each
        with stores[1].writer(IDENTITY) as writer:
            for round_number in range(turn + 1, turn + 6):
                write(round_number, writer)
    done.set()
    for thread in threads:
        thread.join(WAIT_S)
    assert failures == [], failures[0]
    assert not any(thread.is_alive() for thread in threads)
    assert all(seen)
    assert len(set().union(*seen)) > 3


def test_a_reader_in_the_gap_between_words_and_database_sees_the_old_generation(tmp_path):
    """The word index is committed before SQLite; a crash or a reader may come in between."""
    folder = tmp_path / "index"
    store = EmbeddedStore(folder)
    with store.writer(IDENTITY) as writer:
        writer.put(_documents(0))
        embed_all(writer)
        writer.commit()
    for round_number in (1, 2):
        with store.writer(IDENTITY) as writer:
            writer.put(_documents(round_number))
            embed_all(writer)
            writer._words.commit(token=round_number, base=writer.base.words_token)
            writer._vectors.sync()
            with EmbeddedStore(folder).reader() as reader:
                assert _check(reader) == 0
                assert reader.info.notes == ()
    with store.writer(IDENTITY) as writer:
        assert writer.notes == ()
        writer.put(_documents(3))
        embed_all(writer)
        writer.commit()
    with EmbeddedStore(folder).reader() as reader:
        assert _check(reader) == 3


def test_one_reader_serves_many_threads(tmp_path):
    store = EmbeddedStore(tmp_path / "index")
    with store.writer(IDENTITY) as writer:
        writer.put(_documents(0))
        embed_all(writer)
        writer.commit()
    failures: list[BaseException] = []

    def work(reader) -> None:
        try:
            for _ in range(20):
                assert _check(reader) == 0
        except BaseException as error:
            failures.append(error)

    with store.reader() as reader:
        threads = [threading.Thread(target=work, args=(reader,)) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_S)
    assert failures == []
