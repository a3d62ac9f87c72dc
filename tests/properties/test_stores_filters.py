"""Many globs at once mean what each of them means alone."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from fingerpost.stores.filters import path_matches, paths_filter

PART = st.sampled_from(["**", "*", "a", "b", "a*", "*b", "a*b*", "?", "a?b", "***", "x.md", "."])
GLOB = st.lists(PART, min_size=1, max_size=6).map("/".join)
PATH = st.lists(
    st.sampled_from(["a", "b", "ab", "aab", "axb", "x.md", "a\nb"]), min_size=1, max_size=6
).map("/".join)


@settings(max_examples=600, deadline=None)
@given(globs=st.lists(GLOB, max_size=4), path=PATH)
@example(globs=["a/**/b/**/x.md"], path="a/b/x.md/b/a/x.md")
@example(globs=["a/**"], path="a")
@example(globs=["**"], path="a")
@example(globs=["/"], path="a/b")
@example(globs=["**/a*b*/**/b"], path="ab/b")
def test_a_list_of_globs_passes_what_any_of_them_passes(globs, path):
    assert paths_filter(globs)(path) == any(path_matches(glob, path) for glob in globs)
