"""Files that were cut or changed: a true answer with a note, or a typed error (goal R3)."""

import random
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest

from fingerpost.errors import IndexCorruptError, StoreError
from fingerpost.stores.embedded import EmbeddedStore
from fingerpost.testing.store_documents import IDENTITY, embed_all, hash_vector, prepare, words
from fingerpost.types.document import SkippedFile
from fingerpost.types.query import Filters

TRIALS, SEED = 600, 3
BUILDS = 4
ASKED = ("pumps", "valves", "unique3", "unique17")


def _documents(build: int):
    return [
        prepare(
            f"d/{n}.md",
            [f"unique{n} pumps of build {build}\n", f"valves and seals {n} {build}\n"],
            tags=("even",) if n % 2 == 0 else (),
            links=[f"d/{(n * 7) % 20}.md"],
        )
        for n in range(build * 5, build * 5 + 8)
    ]


def _ask(folder: Path):
    """Return what is found apart from vectors, what vectors say, and the notes."""
    store = EmbeddedStore(folder)
    try:
        with store.reader() as reader:
            documents = list(reader.documents())
            chunks = [reader.document_chunks(item.id) for item in documents]
            selection = reader.select(Filters(tags=("even",)))
            texts = (
                reader.info.generation,
                documents,
                [[stored.chunk for stored in part] for part in chunks],
                [len(reader.search_words(words(asked), 50)) for asked in ASKED],
                [
                    [key for key, _ in reader.search_words(words(asked), 50, selection)]
                    for asked in ASKED
                ],
                reader.document_frequency([*ASKED]),
                reader.neighbours([stored.key for part in chunks for stored in part]),
                list(reader.headings()),
                reader.languages(),
                reader.skipped(),
            )
            keys = [stored.key for part in chunks for stored in part]
            rows = reader.vectors(keys)
            near = [reader.search_vectors(hash_vector(asked), 5) for asked in ASKED]
            return texts, (rows, near), reader.info.notes
    finally:
        store.close()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """An index of several generations, copied while its log is not folded in yet."""
    shared = Path("/dev/shm")
    root = shared if shared.is_dir() else tmp_path_factory.mktemp("damage")
    with tempfile.TemporaryDirectory(dir=root) as name:
        live, copy = Path(name, "live"), Path(name, "copy")
        truths = {}
        store = EmbeddedStore(live)
        with store.writer(IDENTITY) as writer:
            for build in range(BUILDS):
                writer.put(_documents(build))
                writer.record_skipped([SkippedFile(f"x{build}", "binary")])
                embed_all(writer)
                writer.commit()
                texts, vectors, notes = _ask(live)
                assert notes == ()
                truths[texts[0]] = (texts, vectors)
            shutil.copytree(live, copy)
        store.close()
        assert (copy / "index.sqlite-wal").stat().st_size > 10_000
        yield copy, truths, Path(name)


def _damage(folder: Path, rng: random.Random) -> str:
    names = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.stat().st_size and path.name not in ("writer.lock", ".gitignore")
    )
    kinds = ("index.sqlite", "index.sqlite-wal", "vectors/", "words/", "published.json")
    kind = rng.choices(kinds, weights=(30, 25, 20, 20, 5))[0]
    name = rng.choice([name for name in names if name == kind or name.startswith(f"{kind}")])
    path = folder / name
    content = bytearray(path.read_bytes())
    at = rng.randrange(len(content))
    if rng.random() < 0.4:
        path.write_bytes(content[:at])
        return f"{name} cut at {at} of {len(content)}"
    content[at] ^= 1 << rng.randrange(8)
    path.write_bytes(content)
    return f"{name} changed at {at} of {len(content)}"


def _judge(found, truths) -> str:
    """Return what is wrong with an answer, empty when it is a truth or says what it lacks."""
    texts, (rows, near), notes = found
    newest = max(truths)
    loud = any("expected" in note for note in notes)
    number = texts[0]
    if number > newest and notes:  # a repair published what was found
        same = [n for n, truth in truths.items() if truth[0][1:] == texts[1:]]
        if not same:
            return "other content after a repair"
        number = max(same)
    if number not in truths:
        return f"generation {number} was never published"
    expected, (true_rows, true_near) = truths[number]
    if texts[1:] != expected[1:]:
        return "other content"
    if number < newest and not loud:
        return f"generation {number} of {newest} without a word"
    have = rows.any(axis=1) if len(rows) else np.zeros(0, bool)
    if rows.shape == true_rows.shape and not np.array_equal(rows[have], true_rows[have]):
        return "a vector changed"
    complete = rows.shape == true_rows.shape and have.all() and near == true_near
    return "" if complete or notes else "vectors are missing without a word"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_damage_at_six_hundred_places_never_gives_a_wrong_answer_in_silence(built):
    source, truths, root = built
    rng = random.Random(SEED)
    outcomes = {"true": 0, "noted": 0, "error": 0}
    wrong = []
    for trial in range(TRIALS):
        folder = root / f"trial{trial}"
        shutil.copytree(source, folder)
        what = _damage(folder, rng)
        try:
            found = _ask(folder)
        except StoreError as error:
            outcomes["error"] += 1
            if isinstance(error, IndexCorruptError) and "--rebuild" not in error.hint:
                wrong.append(f"trial {trial}: {what}: no cure in {error.hint}")
        else:
            verdict = _judge(found, truths)
            outcomes["noted" if found[2] else "true"] += 1
            if verdict:
                wrong.append(f"trial {trial}: {what}: {verdict} {found[2]}")
        shutil.rmtree(folder)
    assert wrong == [], "\n".join(wrong)
    assert min(outcomes.values()) > TRIALS // 40, outcomes
