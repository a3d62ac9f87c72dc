"""Field notes: what users of such systems reported, each as the case that they met."""

from dataclasses import replace

import pytest

from fingerpost import AbstentionReason, QueryRouter, Tier
from fingerpost.text.language import detect_language

pytestmark = pytest.mark.anyio
WORDS = {"embedding_provider": "none"}


def _router(corpus, **settings):
    return QueryRouter(knowledge_corpus=[corpus], **{**WORDS, **settings})


async def test_copies_of_front_matter_are_never_found_as_text(tmp_path):
    """Field note 3: thirty files with the same block; the block is not what they say."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(30):
        text = "---\nstatus: draft\nupdated: 2026-06-12\ntags: [ops, zzqx]\n---\n"
        (folder / f"page{number}.md").write_text(f"{text}# Page {number}\n\nRunbook {number}.\n")
    (folder / "canary.md").write_text(
        "---\nstatus: [broken\n---\n# Staged rollout\n\nA canary stops a bad update reaching machines.\n"
    )
    async with _router(folder) as router:
        found = await router.route("What stops a bad update reaching machines?")
        nothing = await router.route("zzqx plugh")
        drafts = await router.retrieve(
            "runbook", filters={"metadata": {"status": "draft"}}, top_k=40
        )
    assert "canary" in found.answer.lower()
    assert nothing.abstention is not None
    assert drafts.hits
    assert not any("updated" in hit.chunk.text for hit in drafts.candidates)
    assert drafts.hits[0].document.metadata["updated"] == "2026-06-12"


@pytest.mark.parametrize(
    ("language", "page", "needle"),
    [
        ("zh", "# 检索\n\n系统会在解析完成后立即使用关键词检索文档内容。\n", "关键词"),
        ("ja", "# 設定\n\nこの機能を使うには設定ファイルを編集してください。\n", "編集"),
        ("ko", "# 색인\n\n문서를 저장하면 색인이 자동으로 갱신됩니다.\n", "갱신"),
        ("th", "# การตั้งค่า\n\nระบบจะค้นหาเอกสารทันทีหลังจากอ่านไฟล์เสร็จ\n", "เอกสาร"),
    ],
)
async def test_words_in_the_middle_of_text_without_spaces_are_found(
    tmp_path, language, page, needle
):
    """Field note 9: vectors off, a short substring of a sentence."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / f"{language}.md").write_text(page)
    (folder / "other.md").write_text("# Other\n\nNothing of the kind.\n")
    async with _router(folder) as router:
        evidence = await router.retrieve(needle, tier=1)
    assert evidence.hits[0].document.path == f"{language}.md"


async def test_an_edited_count_replaces_the_old_one_everywhere(tmp_path, runtime):
    """Field note 7: one version in the sources, one new vector, the links of the new text."""
    folder = tmp_path / "docs"
    folder.mkdir()
    page = "# Modes\n\nHeron has {} modes.\n\nSee [the {}]({}.md).\n\n## History\n\nHeron is old.\n"
    (folder / "modes.md").write_text(page.format(4, "plan", "plan"))
    (folder / "plan.md").write_text("# Blueprint\n\nBoxes and arrows.\n")
    (folder / "map.md").write_text("# Chart\n\nRivers and hills.\n")
    async with _router(folder, embedding_provider=None, embed="wait") as router:
        before = await router.route("How many modes has Heron?")
        n_chunks, n_calls = router.get_corpus_stats().chunk_count, runtime.n_calls
        (folder / "modes.md").write_text(page.format(3, "map", "map"))
        summary = await router.refresh()
        n_embedded = await router.embed()
        n_more = runtime.n_calls - n_calls
        after = await router.route("How many modes has Heron?")
    async with _router(folder) as router:  # words alone, so that the graph has something to add
        linked = await router.retrieve("modes", tier=2)
    assert "4 modes" in before.answer
    assert "3 modes" in after.answer
    assert "4" not in after.answer.replace("[", "").replace("]", "")
    assert [source.path for source in after.sources] == ["modes.md"]
    assert "4 modes" not in after.sources[0].snippet
    assert (summary.n_changed, summary.n_unchanged, summary.n_chunks) == (1, 2, n_chunks)
    assert (n_embedded, n_more) == (1, 1)
    notes = {hit.document.path: hit.note for hit in linked.hits if "beside" not in hit.note}
    assert set(notes) == {"modes.md", "map.md"}
    assert notes["map.md"].startswith("linked with modes.md")


async def test_one_changed_file_of_three_hundred_costs_one_vector(tmp_path, runtime):
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(300):
        (folder / f"page{number}.md").write_text(f"# Page {number}\n\nRunbook {number} of Heron.\n")
    settings = {"embedding_provider": None, "embed": "wait"}
    async with _router(folder, **settings):
        n_first = runtime.n_calls
    (folder / "page7.md").write_text("# Page 7\n\nThe valve is closed by hand.\n")
    async with _router(folder, **settings) as router:
        summary, n_second = router.index_summary, runtime.n_calls - n_first
        result = await router.route("How is the valve closed?")
    assert n_first == 300
    assert n_second == 1
    assert (summary.n_changed, summary.n_unchanged, summary.n_added) == (1, 299, 0)
    assert "by hand" in result.answer


GERMAN = (
    "# Modi\n\n## Schneller Modus\n\nDer schnelle Modus benutzt acht Threads und warnt selten.\n\n"
    "## Sicherer Modus\n\nDer sichere Modus benutzt einen Thread und schreibt alles auf.\n"
)
CHINESE = (
    "# 模式\n\n## 快速模式\n\n快速模式使用八个线程。\n\n## 安全模式\n\n安全模式使用一个线程，并记录所有内容。\n\n"
    "## 安装\n\n使用安装程序进行安装。\n"
)


@pytest.mark.parametrize(
    ("language", "question", "page"),
    [
        (
            "de",
            "Welche Threads benutzt der schnelle Modus, und wie ändere ich das Passwort der Datenbank?",
            "de/modus.md",
        ),
        ("zh", "比较快速模式和安全模式，以及如何安装？", "zh.md"),
    ],
)
async def test_what_is_asked_in_place_of_a_question_stays_in_its_language(
    corpus, story, language, question, page
):
    """Field note 11: the parts and the research queries; the question itself is kept."""
    (corpus / "de" / "modus.md").write_text(GERMAN)
    (corpus / "zh.md").write_text(CHINESE)
    async with _router(corpus, on_event=story) as router:
        evidence = await router.retrieve(question, tier=3, explain=True)
        result = await router.route(question, tier=3)
    assert len(evidence.sub_queries) > 1
    asked = {*evidence.sub_queries, *(hit.sub_query for hit in evidence.candidates)} - {""}
    for part in asked:
        assert detect_language(part) in (language, "und")
        own = question + GERMAN + CHINESE
        assert all(word.strip(".,:?") in own for word in part.split())
    whole = [hit for hit in evidence.hits if not hit.sub_query]
    assert page in {hit.document.path for hit in whole}
    assert result.query.text == question
    assert result.rewritten_query is None


async def test_a_result_can_be_replayed_and_explained(corpus, runtime):
    """Field note 39: every candidate's scores, the threshold, the cause, and the record."""
    settings = {"embedding_provider": None, "embed": "wait", "cache_results": False}
    async with _router(corpus, **settings) as router:
        result = await router.route("What does ECONNREFUSED mean?", top_k=2, explain=True)
        asked = result.query
        again = await router.route(
            asked.text,
            history=asked.history,
            filters=asked.filters,
            top_k=asked.top_k,
            explain=asked.explain,
        )
    chosen = result.classification
    assert (chosen.threshold, chosen.decided_by) == (0.7, "local")
    assert set(chosen.scores) == {tier.label for tier in Tier}
    assert sum(chosen.scores.values()) == pytest.approx(1, abs=1e-3)
    assert chosen.scores[f"T{int(chosen.escalated_from or chosen.tier)}"] == max(
        chosen.scores.values()
    )
    assert chosen.signals
    assert len(result.candidates) == 7
    for hit in result.candidates:
        assert hit.vector_rank is not None
        assert -1 <= hit.vector_score <= 1
        assert hit.fused_rank is not None
        assert 0 <= hit.fused_score <= 1
        assert (hit.lexical_rank is None) == (hit.lexical_score is None)
    assert {"index", "config", "generation"} <= set(result.fingerprints)
    own = {"duration_ms": 0, "timings": {}, "trace_id": "", "query": None}
    assert replace(again, **own) == replace(result, **own)
    assert not again.cached


async def test_a_question_that_no_page_answers_shows_all_its_candidates_too(corpus):
    """Field note 39: the cause is seen of an abstention as well."""
    async with _router(corpus) as router:
        result = await router.route("What does error E2000 mean?", explain=True)
    assert result.abstention is AbstentionReason.EVIDENCE_TOO_WEAK
    assert result.classification.scores
    assert result.candidates
    for hit in result.candidates:
        assert hit.fused_rank is not None or hit.note


async def test_the_part_of_a_question_that_a_page_answers_is_answered(corpus):
    question = "What does ECONNREFUSED mean? And how do I bake sourdough bread?"
    async with _router(corpus) as router:
        result = await router.route(question, tier=3)
    assert result.uncovered == ("And how do I bake sourdough bread",)
    assert "server is not running" in result.answer
    assert "Nothing found: And how do I bake sourdough bread" in result.answer


async def test_a_part_that_is_too_weakly_covered_is_named_without_the_research_pass(corpus):
    question = "What does ECONNREFUSED mean? Is the installer of Heron signed by DigiCert?"
    async with _router(corpus, deep_research_enabled=False) as router:
        result = await router.route(question, tier=3)
    assert result.uncovered == ("Is the installer of Heron signed by DigiCert",)
    assert f"Nothing found: {result.uncovered[0]}" in result.answer
    assert "server is not running" in result.answer


async def test_what_an_error_means_is_answered_by_words_alone_from_its_section(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in (
        ("errors.md", "# Errors\n\n## E1042\n\nThe license file has expired.\n"),
        ("modes.md", "# Modes\n\nHeron has three modes. The default mode is safe.\n"),
        ("ports.md", "# Ports\n\nThe admin port of Heron is 9443.\n"),
        ("backup.md", "# Backups\n\nA backup of Heron is made at midnight.\n"),
    ):
        (folder / name).write_text(text)
    async with _router(folder) as router:
        result = await router.route("What does error E1042 mean?")
    assert "license file has expired" in result.answer
