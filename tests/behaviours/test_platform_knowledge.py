"""Questions about fingerpost itself: answered when the documents are silent, and only then."""

import logging
from pathlib import Path

import pytest

from fingerpost import (
    EmptyCorpusError,
    Filters,
    GenerateDelta,
    QueryRouter,
    RouteComplete,
    Source,
)
from fingerpost.config.load import cache_folder
from fingerpost.generate.request import SENTINEL
from fingerpost.testing import ScriptedChat
from fingerpost.testing.provider import ProviderServer
from fingerpost.types.answer import AbstentionReason

pytestmark = pytest.mark.anyio

WORDS = {"embedding_provider": "none", "embed": "never"}
QUESTION = "How do I stream an answer with fingerpost?"
ENTRY = "platform:faq/how-do-i-stream-an-answer"


def _uris(result):
    return [source.uri for source in result.sources]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


async def test_a_question_about_fingerpost_is_answered_when_the_documents_are_silent(corpus):
    async with QueryRouter(knowledge_corpus=[corpus], **WORDS) as router:
        result = await router.route(QUESTION)
    assert result.abstention is None
    assert "`GenerateDelta`" in result.answer
    assert _uris(result)[0] == ENTRY
    assert {source.source for source in result.sources} == {"platform"}
    assert "platform-knowledge" in result.fallbacks_used
    assert result.grounding.overall_grounded
    assert result.translated_query is None


async def test_a_stream_tells_the_same_answer_and_that_it_began_once(corpus):
    async with QueryRouter(knowledge_corpus=[corpus], **WORDS) as router:
        routed = await router.route(QUESTION)
        events = [event async for event in router.stream(QUESTION)]
    told = "".join(event.text for event in events if isinstance(event, GenerateDelta))
    assert told == routed.answer
    assert isinstance(events[-1], RouteComplete)
    assert _uris(events[-1].result) == _uris(routed)
    assert [event.type for event in events].count("generate:start") == 1


async def test_a_page_of_the_user_stands_above_an_entry_that_it_contradicts(corpus):
    (corpus / "stream.md").write_text(
        "# How do I stream an answer with fingerpost?\n\n"
        "An answer is streamed with `heron.pour(question)` and never with fingerpost itself.\n"
    )
    async with QueryRouter(knowledge_corpus=[corpus], **WORDS) as router:
        result = await router.route(QUESTION)
        evidence = await router.retrieve(QUESTION)
    assert "heron.pour" in result.answer
    assert [Path(source.path).name for source in result.sources] == ["stream.md"]
    assert "platform-knowledge" not in result.fallbacks_used
    assert {hit.document.source for hit in evidence.hits}.isdisjoint({"platform"})


@pytest.mark.parametrize(
    ("question", "is_ours"),
    [
        ("Which max_tier does Heron use?", False),
        ("How do I call route_sync in the Heron API?", False),
        ("Which max_tier does Osprey use?", True),
        ("AuthenticationError when images are pushed to the registry?", False),
        ("Which embedding_model does fingerpost use for Heron?", True),
    ],
)
async def test_a_question_that_names_what_the_documents_know_is_about_the_documents(
    corpus, question, is_ours
):
    async with QueryRouter(knowledge_corpus=[corpus], **WORDS) as router:
        result = await router.route(question)
    assert ("platform-knowledge" in result.fallbacks_used) is is_ours


async def test_retrieve_appends_entries_only_where_the_documents_are_silent(corpus):
    async with QueryRouter(knowledge_corpus=[corpus], **WORDS) as router:
        about = await router.retrieve(QUESTION)
        other = await router.retrieve("Which modes does Heron have?")
    from_platform = [hit.document.source == "platform" for hit in about.hits]
    assert any(from_platform)
    assert from_platform == sorted(from_platform)
    assert about.hits[from_platform.index(True)].document.uri == ENTRY
    assert {hit.document.source for hit in other.hits}.isdisjoint({"platform"})


@pytest.mark.parametrize(
    "question",
    [
        "Who is the king of Norway?",
        "How do I rotate the signing key?",
        "Which licence does Raven have?",
        "How do I stream a film?",
        "Which file formats does Pandas read?",
    ],
)
async def test_a_question_about_something_else_stays_without_an_answer(corpus, question):
    async with QueryRouter(knowledge_corpus=[corpus], **WORDS) as router:
        result = await router.route(question)
    assert result.abstention is not None
    assert not any(uri.startswith("platform:") for uri in _uris(result))
    assert not (cache_folder() / "platform").exists()


async def test_a_question_about_fingerpost_that_no_entry_answers_stays_without_an_answer(corpus):
    async with QueryRouter(knowledge_corpus=[corpus], **WORDS) as router:
        result = await router.route("Does fingerpost support Kerberos tickets?")
    assert result.abstention is not None
    assert not any(uri.startswith("platform:") for uri in _uris(result))


async def test_filters_and_small_talk_never_lead_there(corpus):
    async with QueryRouter(knowledge_corpus=[corpus], **WORDS) as router:
        filtered = await router.route(QUESTION, filters=Filters(paths=("guides/**",)))
        talk = await router.route("Hello fingerpost, how are you?", tier=0)
    assert filtered.abstention is not None
    assert talk.sources == ()
    assert not (cache_folder() / "platform").exists()


async def test_it_can_be_switched_off(corpus):
    async with QueryRouter(
        knowledge_corpus=[corpus], include_platform_knowledge=False, **WORDS
    ) as router:
        result = await router.route(QUESTION)
        stats = router.get_corpus_stats()
    assert result.abstention is not None
    assert stats.platform_knowledge.total == 0


async def test_sources_that_were_not_chosen_are_no_reason_to_ask_it(corpus):
    class Silent:
        async def retrieve(self, query, top_k):
            return []

    never = Source("birds", "what herons eat", Silent(), min_probability=1.0)
    async with QueryRouter(sources=[never], **WORDS) as router:
        result = await router.route(QUESTION)
    assert result.abstention is AbstentionReason.NO_SOURCE_FITS
    assert result.sources == ()


async def test_statistics_count_the_entries_by_category(corpus):
    async with QueryRouter(knowledge_corpus=[corpus], **WORDS) as router:
        found = router.get_corpus_stats().platform_knowledge
    assert found.total == found.faq + found.api + found.troubleshooting + found.tools + found.skills
    assert (found.faq >= 38, found.api >= 15, found.troubleshooting >= 15) == (True, True, True)


async def test_a_corpus_without_text_opens_on_it_alone_and_says_why(tmp_path, caplog):
    (tmp_path / "empty").mkdir()
    missing = tmp_path / "missing"
    with caplog.at_level(logging.WARNING, "fingerpost.library"):
        async with QueryRouter(knowledge_corpus=[tmp_path / "empty", missing], **WORDS) as router:
            about = await router.route(QUESTION)
            other = await router.route("Which modes does Heron have?")
            stats = router.get_corpus_stats()
            shortfall = router.corpus_shortfall
    (line,) = [record.getMessage() for record in caplog.records]
    for words in (str(tmp_path / "empty"), str(missing), "no such file", "fingerpost itself"):
        assert words in line
    assert isinstance(shortfall, EmptyCorpusError)
    assert _uris(about)[0] == ENTRY
    assert other.abstention is AbstentionReason.NO_DOCUMENT_INDEXED
    assert (stats.initialized, stats.chunk_count, stats.document_count) == (True, 0, 0)
    assert stats.platform_knowledge.total > 0
    assert not (tmp_path / "empty" / ".fingerpost").exists()


async def test_documents_that_come_later_are_read(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    async with QueryRouter(knowledge_corpus=[docs], **WORDS) as router:
        (docs / "modes.md").write_text("# Modes\n\nHeron has three modes: fast, safe and quiet.\n")
        await router.refresh()
        result = await router.route("Which modes does Heron have?")
    assert "three modes" in result.answer


async def test_the_address_of_the_documents_is_not_given_to_an_entry(corpus):
    async with QueryRouter(
        knowledge_corpus=[corpus], docs_url="https://docs.example.org", **WORDS
    ) as router:
        result = await router.route(QUESTION)
    assert {source.url for source in result.sources} == {None}


async def test_the_index_is_made_once_and_opened_again(corpus):
    for _ in range(2):
        async with QueryRouter(knowledge_corpus=[corpus], **WORDS) as router:
            assert _uris(await router.route(QUESTION))[0] == ENTRY
    (folder,) = (cache_folder() / "platform").iterdir()
    assert (folder / "index.sqlite").is_file()


async def test_a_cache_folder_that_cannot_be_written_does_not_stop_it(corpus, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    async with QueryRouter(knowledge_corpus=[corpus], **WORDS) as router:
        assert _uris(await router.route(QUESTION))[0] == ENTRY


async def test_a_model_sees_only_the_entries_in_the_second_try(corpus):
    (corpus / "film.md").write_text("# Films\n\nStream a film: the answer is on channel nine.\n")
    model = ScriptedChat([SENTINEL, "It is an iterator of events [1]."])
    async with QueryRouter(
        knowledge_corpus=[corpus],
        chat_model=model,
        strategy_config={"classifier_mode": "local"},
        **WORDS,
    ) as router:
        result = await router.route(QUESTION, tier=1)
        events = [event async for event in router.stream(QUESTION, tier=1)]
    first, second = (
        "\n".join(message.text for message in request.messages) for request in model.requests[:2]
    )
    assert "channel nine" in first
    assert "GenerateDelta" not in first
    assert "GenerateDelta" in second
    assert "channel nine" not in second
    assert result.answer == "It is an iterator of events [1]."
    assert [source.uri for source in result.sources if source.cited] == [ENTRY]
    assert "".join(event.text for event in events if isinstance(event, GenerateDelta))


async def test_entries_are_not_sent_to_a_provider_of_embeddings(corpus):
    with ProviderServer() as server:
        async with QueryRouter(
            knowledge_corpus=[corpus],
            embedding_base_url=server.url,
            embedding_model="scripted",
            embedding_provider="custom",
            embed="wait",
        ) as router:
            before = len(server.requests)
            result = await router.route(QUESTION)
        sent = "\n".join(str(request.body) for request in server.requests[before:])
    assert _uris(result)[0] == ENTRY
    assert "GenerateDelta" not in sent
