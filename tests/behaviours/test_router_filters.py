"""A filter holds on every leg, in every tier and in the cache."""

import pytest

from fingerpost import Filters, QueryRouter

pytestmark = pytest.mark.anyio
WORDS = {"embedding_provider": "none"}


def _router(corpus, **settings):
    return QueryRouter(knowledge_corpus=[corpus], **{**WORDS, **settings})


@pytest.mark.parametrize("tier", [1, 2, 3])
@pytest.mark.parametrize(
    ("filters", "allowed"),
    [
        (Filters(paths=("guides/**",)), {"guides/modes.md", "guides/errors.md"}),
        (Filters(tags=("SETUP",)), {"install.md"}),
        (Filters(metadata=(("product", "heron"),)), {"guides/errors.md"}),
        (Filters(languages=("de",)), {"de/faq.md"}),
        (
            Filters(sources=("docs",)),
            {"guides/modes.md", "guides/errors.md", "install.md", "de/faq.md"},
        ),
    ],
)
async def test_a_filter_holds_in_every_tier(corpus, tier, filters, allowed):
    async with _router(corpus) as router:
        evidence = await router.retrieve(
            "heron install mode errors Passwort", tier=tier, filters=filters
        )
    assert evidence.hits
    assert {hit.document.path for hit in evidence.candidates} <= allowed


async def test_a_cached_answer_keeps_to_the_filter(corpus):
    async with _router(corpus) as router:
        open_ = await router.route("heron")
        narrow = await router.route("heron", filters={"paths": "guides/**"})
        again = await router.route("heron", filters={"paths": "guides/**"})
    assert (open_.cached, narrow.cached, again.cached) == (False, False, True)
    assert all(source.path.startswith("guides/") for source in again.sources)


@pytest.fixture
def five(tmp_path):
    """Return five pages on pumps, two of them of the product x."""
    folder = tmp_path / "five"
    folder.mkdir()
    for number, product in enumerate("xyxyy"):
        (folder / f"pump{number}.md").write_text(
            f"---\nproduct: {product}\n---\n# Pump {number}\n\n"
            f"The pump {number} needs oil and the filter of pump {number} needs water. "
            f"See [the next pump](pump{(number + 1) % 5}.md).\n"
        )
    return folder


ONLY_X = {"metadata": {"product": "x"}}
OWN = {"pump0.md", "pump2.md"}
MODES = {
    "keyword": ("Which pump needs oil?", 1, "never"),
    "vector": ("zzqx plugh", 1, "wait"),
    "hybrid": ("Which pump needs oil?", 1, "wait"),
    "graph": ("Which pump needs oil?", 2, "wait"),
    "decomposition": ("Compare the oil of pump 0 and the water of pump 1", 3, "wait"),
}


@pytest.mark.parametrize("mode", MODES)
async def test_two_documents_that_pass_are_two_results_though_four_were_asked_for(
    five, runtime, mode
):
    """Field note 13: no leg fills up with what the filter keeps out."""
    question, tier, embed = MODES[mode]
    async with QueryRouter(knowledge_corpus=[five], embed=embed) as router:
        found = await router.retrieve(question, tier=tier, top_k=4, filters=ONLY_X, explain=True)
        free = await router.retrieve(question, tier=tier, top_k=4)
    assert {hit.document.path for hit in found.hits} == OWN
    assert len(found.hits) == 2
    assert {hit.document.path for hit in found.candidates} == OWN
    assert len(free.hits) == 4
    by_vector = [hit.vector_rank is not None for hit in found.hits]
    by_words = [hit.lexical_rank is not None for hit in found.hits]
    assert all(by_vector) == (embed == "wait")
    assert all(by_words) == (mode != "vector")
    assert bool(found.sub_queries) == (mode == "decomposition")


async def test_what_a_link_leads_to_is_held_back_by_the_filter_too(five, story):
    """Only page 0 holds the word; all that the graph adds to it must pass."""
    (five / "pump0.md").write_text((five / "pump0.md").read_text() + "\nIts code is E77.\n")
    async with _router(five, on_event=story) as router:
        free = await router.retrieve("E77", tier=2, top_k=4)
        found = await router.retrieve("E77", tier=2, top_k=4, filters=ONLY_X)
    assert {hit.document.path for hit in free.hits} - OWN
    assert {hit.document.path for hit in found.candidates} <= OWN
    assert len(story.of("retrieve:graph")) == 2


async def test_a_kept_result_of_a_filter_holds_only_what_passes(five):
    async with _router(five) as router:
        question = "Which pump needs oil?"
        free = await router.route(question, top_k=4)
        narrow = await router.route(question, top_k=4, filters=ONLY_X)
        again = await router.route(question, top_k=4, filters=ONLY_X)
        other = await router.route(question, top_k=4, filters={"metadata": {"product": "y"}})
    assert [result.cached for result in (free, narrow, again, other)] == [False, False, True, False]
    assert {source.path for source in again.sources} == OWN
    assert not {source.path for source in other.sources} & OWN
