"""The links of an index do not depend on its history: as if every page had come at once."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.corpus import CorpusRoot, IndexOptions, index_corpus
from fingerpost.corpus.links import Paths, as_written, page_names
from fingerpost.observe.observer import ignore
from fingerpost.stores.open import open_store

N_STEPS = 6
OPTIONS = IndexOptions(embed=False, workers=0)
PAGES = [
    "guide.md", "Guide.mdx", "index.md", "README.md", "sub/guide.md", "sub/index.md", "sub/page.md",
    "guide/index.md", "guide/README.md", "sub/deep/page.md", "sub/deep.md", "page.md.html",
]  # fmt: skip
WRITTEN = [
    "guide", "./guide/", "guide.md", "guide.html", "/docs/guide", "/docs/sub/guide/", "../guide",
    "../", ".", "./", "sub", "sub/", "deep", "page", "page.md", "/SUB/Page", "/x/deep/page",
    "../page/", "sub/deep/page.md", "README", "/", "index", "../../guide", "nowhere", "sub%2Fguide",
]  # fmt: skip

_NAMES = st.sampled_from(["a", "b", "A", "index", "README", "_index", "a.md", "ΑΣ", "ας", ".", "İ"])
_SUFFIXES = st.sampled_from(["", ".md", ".html", ".mdx", ".MD", ".md.html"])
_FOLDERS = st.lists(st.sampled_from(["a", "b", "A", "a.md", "index"]), max_size=3)


@st.composite
def _paths(draw):
    name = draw(_NAMES.filter(lambda name: name != ".")) + draw(_SUFFIXES)
    return "/".join([*draw(_FOLDERS), name])


@st.composite
def _written(draw):
    parts = st.sampled_from(["a", "b", "A", "a.md", "index", "..", "."])
    folder = draw(st.lists(parts, max_size=3))
    last = draw(st.sampled_from(["", "..", "."]) | _NAMES) + draw(_SUFFIXES)
    return draw(st.sampled_from(["", "/", "./"])) + "/".join([*folder, last])


@settings(max_examples=1500)
@given(
    st.sets(_paths(), max_size=5),
    st.sets(_paths(), min_size=1, max_size=3),
    _paths(),
    st.lists(_written(), min_size=1, max_size=5),
)
def test_a_link_leads_elsewhere_only_by_a_page_that_is_found_by_its_name(
    before, changed, origin, written
):
    old, new = Paths(before), Paths(before ^ changed)
    names = page_names(changed)
    for link in written:
        if old.resolve(origin, link) != new.resolve(origin, link):
            assert names & set(as_written([(0, link, "")]).names)


def _text(rng):
    lines = [f"# {rng.choice(['Pump', 'Mill'])}\n"]
    for section in range(rng.randint(0, 2)):
        anchor = rng.choice(["", "#part-1", "#nowhere"])
        links = " ".join(f"[x]({rng.choice(WRITTEN)}{anchor})" for _ in range(3))
        lines.append(f"## Part {section}\n\nText {rng.randint(0, 9)} with {links}.\n")
    return "\n".join(lines).encode()


def _change(rng, folder):
    """Write, empty, spoil, remove or rename a file."""
    path = folder / rng.choice(PAGES)
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = rng.random()
    if not path.exists() or drawn < 0.3:
        spoilt = rng.choice([b"", b"\x00\x01\xff\xfe\x00"])
        path.write_bytes(spoilt if rng.random() < 0.2 else _text(rng))
    elif drawn < 0.6:
        path.unlink()
    else:
        there = folder / rng.choice(PAGES)
        there.parent.mkdir(parents=True, exist_ok=True)
        path.rename(there)


def _index(store, folder):
    root = CorpusRoot("docs", folder.resolve())
    index_corpus(store, [root], embedder=None, options=OPTIONS, observe=ignore)


def _edges(store):
    """Return the edges between chunks, told by path and ordinal."""
    with store.reader() as reader:
        chunks = [one for doc in reader.documents() for one in reader.document_chunks(doc.id)]
        place = {one.key: (one.document.path, one.chunk.ordinal) for one in chunks}
        return {
            (place[key], place[one.key], one.kind, one.n_alike)
            for key, some in reader.neighbours(list(place)).items()
            for one in some
        }


@pytest.mark.parametrize("seed", range(8))
def test_the_graph_after_any_history_is_the_one_of_the_same_files_read_at_once(tmp_path, seed):
    rng = random.Random(seed)
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "always.md").write_bytes(_text(rng))
    store = open_store(str(tmp_path / "index"))
    for step in range(N_STEPS):
        for _ in range(rng.randint(1, 4)):
            _change(rng, folder)
        _index(store, folder)
        fresh = open_store(str(tmp_path / f"fresh{step}"))
        _index(fresh, folder)
        assert _edges(store) == _edges(fresh)
        fresh.close()
    store.close()
