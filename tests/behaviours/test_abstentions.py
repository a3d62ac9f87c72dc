"""Why there is no answer: four reasons that are never mixed up."""

import anyio
import pytest

from fingerpost import AbstentionReason, GenerationMode, QueryRouter
from fingerpost.cli.render import result_json, show_result
from fingerpost.observe.gap_log import gaps_of

pytestmark = pytest.mark.anyio


def _router(corpus):
    return QueryRouter(knowledge_corpus=[corpus], embedding_provider="none")


async def test_an_empty_index_no_match_and_a_narrow_filter_are_three_reasons(corpus):
    question = "What is the default mode?"
    async with _router(corpus) as router:
        filtered = await router.route(question, filters={"paths": "nowhere/**"})
        foreign = await router.route("zzqx plugh xyzzy?")
        for page in corpus.rglob("*.md"):
            await anyio.Path(page).unlink()
        summary = await router.refresh()
        empty = await router.route(question)
        empty_and_filtered = await router.route(question, filters={"paths": "guides/**"})
        stats = router.get_corpus_stats()
    assert filtered.abstention is AbstentionReason.FILTER_EXCLUDES_ALL
    assert foreign.abstention is AbstentionReason.NO_DOCUMENT_MATCHES
    for result in (empty, empty_and_filtered):
        assert result.abstention is AbstentionReason.NO_DOCUMENT_INDEXED
        assert (result.sources, result.vector_coverage) == ((), 0)
        assert result.generation_mode is GenerationMode.ABSTAINED
    assert (summary.n_removed, summary.n_documents, stats.chunk_count) == (4, 0, 0)


async def test_what_is_near_but_no_answer_is_too_weak_and_shows_the_nearest_places(corpus):
    async with _router(corpus) as router:
        result = await router.route("What does error E2000 mean?")
    assert result.abstention is AbstentionReason.EVIDENCE_TOO_WEAK
    assert result.sources
    assert not any(source.cited for source in result.sources)
    assert result.citations == ()


NIGHTLY = """\
# Heron

Heron copies folders to a server. It compresses files before it sends them.

## Backups

A backup runs every night at two o'clock. Old backups are deleted after ninety days.
"""


async def test_an_answer_that_may_be_none_is_said_to_be_doubtful(tmp_path, capsys):
    (tmp_path / "heron.md").write_text(NIGHTLY, encoding="utf-8")
    async with _router(tmp_path) as router:
        sure = await router.route("When does a backup run?")
        doubtful = await router.route("Why does Heron delete files at night?")
        none = await router.route("What does error E2000 mean?")
    assert [result.doubtful for result in (sure, doubtful, none)] == [False, True, False]
    assert [result.abstention is None for result in (sure, doubtful, none)] == [True, True, False]
    assert 0 < doubtful.answerability < 0.5 < sure.answerability < 1
    told = []
    for result in (sure, doubtful, none):
        show_result(result)
        told.append("may not answer this question" in capsys.readouterr().out)
        assert result_json(result, explain=False)["doubtful"] is result.doubtful
    assert told == [False, True, False]
    assert [gap.reason for gap in gaps_of(doubtful, at=1.0)] == ["doubtful"]
    assert list(gaps_of(sure, at=1.0)) == []
