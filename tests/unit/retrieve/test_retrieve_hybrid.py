import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.errors import RetrievalError
from fingerpost.retrieve import search
from fingerpost.retrieve.fuse import covering
from fingerpost.types import Filters, MatchType

PAGES = {
    "retry.md": "# Retries\n\nThe client tries a failed call again after a growing wait.",
    "codes.md": "# Codes\n\nECONNREFUSED means that nothing listens on the port.",
    "cache.md": "# Cache\n\nAnswers are kept in memory and dropped after an hour.",
    "flags.md": "# Flags\n\nUse --max-old-space-size to raise the heap limit.",
}


def paths(result):
    return [hit.document.path for hit in result.hits]


def test_an_error_code_is_found_by_words_although_no_embedding_knows_it(index, embedder):
    reader = index(PAGES, embedder)
    assert paths(search(reader, "ECONNREFUSED?", embedder=embedder, k=1)) == ["codes.md"]


def test_without_an_embedder_words_answer_and_the_fallback_is_named(index):
    result = search(index(PAGES), "growing wait of a failed call", embedder=None, k=2)
    assert paths(result)[0] == "retry.md"
    assert result.fallbacks == ("keyword-fallback",)
    assert result.weight is None
    assert result.hits[0].match_type is MatchType.KEYWORD


def test_with_both_legs_each_hit_carries_both_ranks_and_the_weight_is_told(index, embedder):
    result = search(index(PAGES, embedder), "failed call again", embedder=embedder, k=2)
    best = result.hits[0]
    assert best.document.path == "retry.md"
    assert (best.lexical_rank, best.vector_rank, best.fused_rank) == (1, 1, 1)
    assert 0 < result.weight < 1
    assert result.fallbacks == ()
    assert result.features["bias"] == 1.0


def test_a_failing_model_leaves_the_words_and_is_named(index, embedder, failing_embedder):
    result = search(index(PAGES, embedder), "heap limit", embedder=failing_embedder, k=1)
    assert paths(result) == ["flags.md"]
    assert result.fallbacks == ("keyword-fallback",)
    assert "the model is gone" in result.legs.vectors_error


def test_failing_words_leave_the_vectors(index, embedder, without):
    reader = without(index(PAGES, embedder), "search_words")
    result = search(reader, "kept in memory dropped", embedder=embedder, k=1)
    assert paths(result) == ["cache.md"]
    assert "search_words is broken" in result.legs.words_error


def test_when_both_legs_fail_the_error_holds_both_causes(index, embedder, without):
    reader = without(index(PAGES, embedder), "search_words", "search_vectors")
    with pytest.raises(RetrievalError) as caught:
        search(reader, "anything", embedder=embedder, k=1)
    assert len(caught.value.__cause__.exceptions) == 2


def test_a_chunk_that_has_no_vector_yet_is_found_by_words(index, embedder):
    reader = index(PAGES, embedder, vectors_for=lambda text: "heap" not in text)
    result = search(reader, "raise the heap limit", embedder=embedder, k=1)
    assert paths(result) == ["flags.md"]
    assert result.hits[0].vector_score is None


@pytest.mark.parametrize(
    "query", ["", "   ", "\x00", "\ud800", "?!", "NEAR(", '"', "*", "\u202eמה"]
)
def test_blank_and_hostile_queries_never_raise(index, embedder, query):
    reader = index(PAGES, embedder)
    for model in (embedder, None):
        result = search(reader, query, embedder=model, k=3)
        assert len(result.hits) <= 3


def test_a_query_of_100_kilobytes_is_answered(index, embedder):
    reader = index(PAGES, embedder)
    result = search(reader, "heap limit " * 10_000, embedder=embedder, k=1)
    assert paths(result) == ["flags.md"]


@pytest.mark.parametrize("with_model", [True, False])
def test_a_filter_holds_when_better_hits_stand_outside_and_k_exceeds_what_passes(
    index, embedder, with_model
):
    pages = {f"a/{n}.md": (f"# Page {n}\n\nInstall the agent.", {"tags": ["x"]}) for n in "12"}
    pages |= {
        f"b/{n}.md": f"# Install {n}\n\nInstall the agent, install it now, step {n}."
        for n in range(3)
    }
    reader = index(pages, embedder)
    for filters in (Filters(paths=("a/**",)), Filters(tags=("X",))):
        result = search(
            reader,
            "install the agent",
            embedder=embedder if with_model else None,
            filters=filters,
            k=4,
        )
        assert sorted(paths(result)) == ["a/1.md", "a/2.md"]
        assert all(hit.document.path.startswith("a/") for hit in result.candidates)


@pytest.mark.parametrize(
    ("query", "path"),
    [("索引", "zh.md"), ("設定", "ja.md"), ("색인", "ko.md"), ("ตั้งค่า", "th.md")],
)
def test_two_characters_in_the_middle_of_a_sentence_are_found_without_vectors(index, query, path):
    reader = index(
        {
            "zh.md": "这里说明如何重建索引并且检查结果。",
            "ja.md": "この章では詳細設定を変更する方法を説明します。",
            "ko.md": "이 장에서는 색인을 다시 만드는 방법을 설명합니다.",
            "th.md": "บทนี้อธิบายวิธีตั้งค่าระบบและตรวจสอบผล",
        }
    )
    assert paths(search(reader, query, embedder=None, k=1)) == [path]


def test_a_question_in_a_language_the_model_was_not_made_for_is_led_by_words(index, embedder):
    reader = index(PAGES | {"de.md": "# Neustart\n\nDer Dienst wird neu gestartet."}, embedder)
    german = search(reader, "Wie wird der Dienst neu gestartet?", embedder=embedder, k=1)
    english = search(reader, "How is a failed call tried again?", embedder=embedder, k=1)
    assert paths(german) == ["de.md"]
    assert german.weight > english.weight


def test_explain_keeps_every_candidate_with_its_ranks(index, embedder):
    reader = index(PAGES, embedder)
    result = search(reader, "failed call", embedder=embedder, k=1, explain=True)
    assert {hit.document.path for hit in result.candidates} == set(PAGES)
    assert [hit.fused_rank for hit in result.candidates] == [1, 2, 3, 4]


def test_coverage_is_the_share_of_rare_words_that_the_hits_hold(index):
    reader = index(PAGES)
    whole = search(reader, "heap limit", embedder=None, k=2)
    part = search(reader, "heap limit zebra", embedder=None, k=2)
    assert whole.coverage == 1.0
    assert 0.0 < part.coverage < 0.9


def test_a_page_that_the_best_hit_names_passes_pages_that_fit_the_words_better(index):
    named = ("He was a mechanic in Texas.", {"title": "Cameron Willingham"})
    told = "The film tells the case of {}, a man tried for arson."
    other = ("Another film tells of arson in Ohio.", {"title": "Fire"})
    question = "Who is the film about a case of arson about, a mechanic?"
    for name, order in (
        ("Cameron Willingham", ["case.md", "man.md", "other.md"]),
        ("somebody else", ["case.md", "other.md", "man.md"]),
    ):
        case = (told.format(name), {"title": "The Case"})
        reader = index({"case.md": case, "man.md": named, "other.md": other})
        assert paths(search(reader, question, embedder=None, k=3)) == order


def test_of_two_hits_nearly_alike_the_one_that_holds_more_of_the_question_comes_first(index):
    filler = " ".join(f"word{n}" for n in range(10))
    pages = {
        "repeats.md": "Rotate, rotate and rotate: the log rotates when you rotate it.",
        "holds.md": f"Rotate the signing key. {filler}",
        **{f"other{n}.md": f"Nothing of that, page {n}." for n in range(20)},
    }
    best, second = search(index(pages), "rotate signing", embedder=None, k=2).hits
    assert best.lexical_score < second.lexical_score
    assert (best.document.path, best.fused_rank) == ("holds.md", 2)


@given(fused=st.floats(0, 1), less=st.floats(0, 1), more=st.floats(0, 1))
def test_holding_more_of_the_question_never_lowers_a_score(fused, less, more):
    less, more = sorted((less, more))
    assert 0 <= covering(fused, less) <= covering(fused, more) <= 1


TRANSLATED = {
    "en.md": "# Helm Charts\n\nA chart is what Helm calls the package of an application in Kubernetes. "
    "It is kept in a repository and may be shared with other people.",
    "de.md": "# Helm Charts\n\nEin Chart ist das, was Helm das Paket einer Anwendung in Kubernetes nennt. "
    "Es liegt in einem Repository und kann mit anderen Leuten geteilt werden.",
    "es.md": "# Helm Charts\n\nUn chart es lo que Helm llama el paquete de una aplicación en Kubernetes. "
    "Se guarda en un repositorio y se puede compartir con otras personas.",
}


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("What is a chart in Helm and Kubernetes?", "en.md"),
        ("Was ist ein Chart bei Helm und Kubernetes?", "de.md"),
        ("¿Qué es un chart para Helm y Kubernetes?", "es.md"),
    ],
)
def test_of_translations_the_one_in_the_language_of_the_question_comes_first(index, question, page):
    assert paths(search(index(TRANSLATED), question, embedder=None, k=3))[0] == page


def test_what_only_another_language_tells_comes_first_all_the_same(index):
    pages = {"en.md": PAGES["codes.md"], "de.md": TRANSLATED["de.md"]}
    found = search(index(pages), "Was ist und was heißt ECONNREFUSED?", embedder=None, k=2)
    assert paths(found)[0] == "en.md"
