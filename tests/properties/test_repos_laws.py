"""Laws of what is taken of a repository."""

from hypothesis import given
from hypothesis import strategies as st

from fingerpost.repos.select import Entry, Limits, path_fault, rank, select

PARTS = st.one_of(
    st.sampled_from(
        ["docs", "src", "README.md", "a.md", "readme.rst", "..", ".", "", ".git", "b.py"]
    ),
    st.text(max_size=8),
)
PATHS = st.lists(PARTS, min_size=1, max_size=5).map("/".join)
ENTRIES = st.lists(
    st.builds(
        Entry,
        PATHS,
        st.integers(0, 300),
        st.sampled_from(["file", "file", "file", "symlink", "submodule", "special"]),
        st.just("k"),
    ),
    max_size=40,
)
LIMITS = st.builds(
    Limits,
    st.integers(1, 10),
    st.integers(1, 300),
    st.integers(1, 2000),
    st.integers(0, 4),
    st.just(lambda path: path.endswith((".md", ".rst"))),
)


@given(ENTRIES, LIMITS)
def test_what_is_taken_is_within_the_limits_safe_and_nearest_to_the_root(entries, limits):
    found = select(entries, limits)
    taken = found.entries
    assert len(taken) <= limits.max_files
    assert sum(entry.size for entry in taken) <= limits.max_bytes
    assert all(entry.size <= limits.max_file_bytes for entry in taken)
    assert all(entry.path.count("/") <= limits.max_depth for entry in taken)
    assert all(entry.kind == "file" and not path_fault(entry.path) for entry in taken)
    assert taken == sorted(taken, key=rank)
    assert len({entry.path for entry in taken}) == len(taken)


@given(ENTRIES, LIMITS)
def test_every_document_is_taken_or_listed_or_counted(entries, limits):
    found = select(entries, limits)
    n_documents = sum(
        entry.kind == "submodule" or limits.is_document(entry.path) for entry in entries
    )
    assert len(found.entries) + len(found.skipped) + found.n_left_out == n_documents


@given(ENTRIES, LIMITS, st.randoms())
def test_the_order_of_a_tree_does_not_matter(entries, limits, random):
    entries = list({entry.path: entry for entry in entries}.values())
    shuffled = entries[:]
    random.shuffle(shuffled)
    assert select(shuffled, limits).entries == select(entries, limits).entries


@given(PATHS)
def test_a_path_without_fault_stays_inside_whatever_it_is_joined_to(path):
    import os.path

    if not path_fault(path):
        assert os.path.normpath(f"/x/{path}") == f"/x/{path}"
