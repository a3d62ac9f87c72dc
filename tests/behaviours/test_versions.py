"""Pages of several versions: which is answered from, and what its source says."""

import pytest

from fingerpost import AbstentionReason, QueryRouter

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


@pytest.mark.parametrize(
    ("asked", "told"),
    [("version 1.0", "10 minutes"), ("v1.0", "10 minutes"), ("1.0.4", "10 minutes"),
     ("version 2.0", "90 minutes"), ("2.0", "90 minutes")],
)  # fmt: skip
def test_a_version_that_stands_nowhere_in_the_text_is_answered_from_its_page(versions, asked, told):
    with QueryRouter(knowledge_corpus=[versions], **WORDS) as router:
        result = router.route_sync(f"{QUESTION[:-1]} in {asked}?")
    assert told in result.answer
    assert {source.path for source in result.sources} == {
        f"v{told[0].replace('9', '2')}.0/pumps.md"
    }


@pytest.mark.parametrize("asked", ["version 3.0", "v3.7", "3.7", "version 9"])
def test_of_a_version_that_no_page_is_of_nothing_is_said(versions, asked):
    (versions / "about.md").unlink()
    with QueryRouter(knowledge_corpus=[versions], embed="wait") as router:
        result = router.route_sync(f"{QUESTION[:-1]} in {asked}?")
    assert result.abstention is AbstentionReason.EVIDENCE_TOO_WEAK
    assert "minutes before" not in result.answer.partition("nearest")[0]


def test_a_number_with_a_unit_is_no_version_that_is_missing(versions):
    with QueryRouter(knowledge_corpus=[versions], embed="wait") as router:
        result = router.route_sync(
            "May a pump run for more than 0.5 minutes before it has to rest?"
        )
    assert "90 minutes" in result.answer


def test_a_page_that_moves_to_another_version_is_of_that_version(versions):
    with QueryRouter(knowledge_corpus=[versions], **WORDS) as router:
        (versions / "v3.0").mkdir()
        (versions / "v1.0" / "pumps.md").rename(versions / "v3.0" / "pumps.md")
        assert router.refresh_sync().n_moved == 1
        result = router.route_sync(QUESTION)
    assert "10 minutes" in result.answer
    assert {source.version for source in result.sources} == {"3.0"}
