"""Pages of several versions: which is answered from, and what its source says."""

import pytest

from fingerpost import QueryRouter

OLD = "# Pumps\n\nA pump may run for 10 minutes before it has to rest.\n"
NEW = "# Pumps\n\nA pump may run for 90 minutes before it has to rest a while.\n"
QUESTION = "How many minutes may a pump run?"
WORDS = {"embedding_provider": "none"}


@pytest.fixture
def versions(tmp_path):
    for version, text in (("v1.0", OLD), ("v2.0", NEW)):
        (tmp_path / "site" / version).mkdir(parents=True)
        (tmp_path / "site" / version / "pumps.md").write_text(text)
    (tmp_path / "site" / "about.md").write_text("---\nversion: v9\n---\n# About\n\nWho we are.\n")
    return tmp_path / "site"


def test_the_newest_version_answers_and_its_source_says_where_else_the_page_is(versions):
    with QueryRouter(knowledge_corpus=[versions], **WORDS) as router:
        result = router.route_sync(QUESTION)
    assert "90 minutes" in result.answer
    assert "10 minutes" not in result.answer
    (source,) = result.sources
    assert (source.version, source.also_in) == ("2.0", ("v1.0/pumps.md",))


def test_a_named_version_and_a_filter_get_their_own_page(versions):
    with QueryRouter(knowledge_corpus=[versions], **WORDS) as router:
        named = router.retrieve_sync(f"{QUESTION[:-1]} in v1.0?")
        filtered = router.route_sync(QUESTION, filters={"metadata": {"version": "v1.0"}})
        front = router.retrieve_sync("who we are", filters={"metadata": {"version": "9"}})
    assert [hit.document.version for hit in named.hits] == ["1.0"]
    assert "10 minutes" in filtered.answer
    assert {source.version for source in filtered.sources} == {"1.0"}
    assert [hit.document.path for hit in front.hits] == ["about.md"]


def test_a_page_that_moves_to_another_version_is_of_that_version(versions):
    with QueryRouter(knowledge_corpus=[versions], **WORDS) as router:
        (versions / "v3.0").mkdir()
        (versions / "v1.0" / "pumps.md").rename(versions / "v3.0" / "pumps.md")
        assert router.refresh_sync().n_moved == 1
        result = router.route_sync(QUESTION)
    assert "10 minutes" in result.answer
    assert {source.version for source in result.sources} == {"3.0"}
