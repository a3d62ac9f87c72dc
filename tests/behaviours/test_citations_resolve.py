"""R30: every marker of an answer names a source whose text is in the index, whoever invents it."""

import random

import pytest

from fingerpost import GenerateDelta, QueryRouter
from fingerpost.generate import resolve_markers
from fingerpost.testing.chat import ScriptedChat
from fingerpost.types.wire import to_wire
from fingerpost.verify import extract_claims
from fingerpost.verify.markers import find_markers

pytestmark = pytest.mark.anyio
QUESTION = "What is the default mode?"
SENTENCES = (
    "The default mode is safe",
    "Heron has three modes: fast, safe and quiet",
    "Fast mode uses nine threads",
    "Run the installer as administrator",
    "- quiet mode logs errors",
    "```\nrows[1] = [7]\n```\n",
)
MARKERS = (
    "[1]", "[2]", "[7]", "[[4]]", "[1, 7]", "[1-3]", "[0]", "[-1]", "[99999]", "［１］", "【1】", "[1][7]",
    "[ 1 ]", "[1,2].", "[^1]", "[7](https://evil.example)", "[[7]", "[1", "`[1]`", "[①]", "[１，７]",
)  # fmt: skip


def _invented(seed):
    """Return an answer of a model that cites at random, sources that it was not given too."""
    chosen = random.Random(seed)
    parts = [
        f"{chosen.choice(SENTENCES)} {chosen.choice(MARKERS)}{chosen.choice(['.', '', ':', ' .'])}"
        for _ in range(chosen.randint(1, 5))
    ]
    return chosen.choice([" ", "\n", "\n\n"]).join(parts)


@pytest.mark.parametrize(("piece", "first", "n"), [(1, 0, 60), (3, 60, 60), (None, 120, 1880)])
async def test_no_marker_dangles_in_two_thousand_answers_that_a_model_invents(
    corpus, piece, first, n
):
    answers = [_invented(seed) for seed in range(first, first + n)]
    chat = ScriptedChat(answers, stream_pieces=piece)
    router = QueryRouter(
        knowledge_corpus=[corpus],
        chat_model=chat,
        embedding_provider="none",
        cache_results=False,
        strategy_config={"classifier_mode": "heuristic"},
    )
    async with router:
        for _ in range(n):
            events = [event async for event in router.stream(QUESTION)]
            result = events[-1].result
            told = "".join(event.text for event in events if isinstance(event, GenerateDelta))
            assert told == result.answer
            _resolves(result, corpus)


def _resolves(result, corpus):
    by_index = {source.index: source for source in result.sources}
    for citation in result.citations:
        assert result.answer[citation.span.start : citation.span.end] == citation.marker
        source = by_index[citation.source_index]
        chunk = next(hit.chunk for hit in result.candidates if hit.chunk.id == source.id)
        page = (corpus / source.path).read_text("utf-8")
        assert page[chunk.span.start : chunk.span.end] == chunk.text
    for claim in result.grounding.claims:
        assert set(claim.markers) <= set(by_index)
        assert not any(one.verdict is None for one in claim.cited)
    wire = to_wire(result)
    assert [source["index"] for source in wire["sources"]] == list(by_index)
    assert [one["source_index"] for one in wire["citations"]] == [
        one.source_index for one in result.citations
    ]


@pytest.mark.parametrize(
    ("written", "clean"),
    [
        ("The mode is safe [[4]].", "The mode is safe [4]."),
        ("The mode is safe [1, 2].", "The mode is safe [1] [2]."),
        ("The mode is safe ［１］【2】。", "The mode is safe [1][2]。"),
        ("The mode is safe [1]", "The mode is safe [1]"),
        ("```\nrow[1]\n```\nThe mode is safe [3].", "```\nrow[1]\n```\nThe mode is safe [3]."),
    ],
)
def test_the_verifier_reads_the_markers_that_the_answer_has(written, clean):
    """Field note 25: doubled, listed, full-width, last token, in a code fence."""
    text, citations, _ = resolve_markers(written, 4)
    assert text.replace("  ", " ") == clean
    cited = [citation.source_index for citation in citations]
    (claim,) = extract_claims(text)
    assert list(claim.markers) == cited
    assert list(extract_claims(written)[0].markers) == cited


@pytest.mark.parametrize("seed", range(200))
def test_verifier_and_answer_agree_on_every_marker_of_prose(seed):
    written = _invented(seed).replace("`", "'").replace("(https", "( https").replace("]:", "] :")
    written = written.replace("[^", "[")  # a model's footnotes are markers before they are resolved
    text, citations, _ = resolve_markers(written, 4)
    seen = [number for marker in find_markers(text) for number in marker.numbers]
    own = [number for number in seen if number <= 4]
    assert own == [citation.source_index for citation in citations]


async def test_sources_keep_their_numbers_however_the_answer_is_asked_for(tmp_path):
    """Field note 23: six chunks of three files, two of them with the same name."""
    folder = tmp_path / "docs"
    for name in ("a/modes.md", "b/modes.md", "ports.md"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"# Valve {name[0]}\n\nThe valve of {name} opens at noon.\n\n"
            f"## Closing {name[0]}\n\nThe valve of {name} closes at dusk.\n"
        )
    answer = "The valve of b/modes.md closes at dusk [{}]."
    settings = {
        "knowledge_corpus": [folder],
        "embedding_provider": "none",
        "cache_results": False,
        "strategy_config": {"classifier_mode": "heuristic"},
    }
    question = "When does the valve of each place open and close?"
    async with QueryRouter(**settings) as router:
        hits = (await router.retrieve(question, tier=1, top_k=6)).hits
    number = next(
        at
        for at, hit in enumerate(hits, start=1)
        if hit.document.path == "b/modes.md" and "dusk" in hit.chunk.text
    )
    chat = ScriptedChat([answer.format(number)])
    async with QueryRouter(**settings, chat_model=chat) as router:
        whole = await router.route(question, tier=1, top_k=6)
        streamed = [event async for event in router.stream(question, tier=1, top_k=6)][-1].result
    async with QueryRouter(**settings, chat_model=chat) as router:  # opened again
        again = await router.route(question, tier=1, top_k=6)
    for result in (whole, streamed, again):
        (claim,) = result.grounding.claims
        assert (claim.verdict, claim.wrong_citation, claim.source_index) == (
            "supported",
            False,
            number,
        )
        (citation,) = result.citations
        source = next(one for one in result.sources if one.index == citation.source_index)
        assert source.path == "b/modes.md"
        assert to_wire(result)["sources"] == to_wire(whole)["sources"]
