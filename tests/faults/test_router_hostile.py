"""Hostile questions end in a result or in the one documented error (goal R15)."""

import json
import random

import pytest

from fingerpost import QueryRouter
from fingerpost.errors import InvalidQueryError
from fingerpost.types.wire import to_wire

N_QUESTIONS, SEED = 500, 15
MAX_BYTES = 8192
PIECES = (
    '"', "*", "NEAR(", "AND", "OR", "NOT", "col:x", "C++", "foo-bar", "'; DROP TABLE chunks; --",
    "\x00", "\ud800", "\udfff", "🧨", "\u202eabc", "مرحبا", "検索", "(", ")", "^", "~2", "[a TO b]",
    "\\", "/.*/", "{", "}", "+", "-", "text:pumps", "%", "_", "\n", "\t", "a" * 300, "ß", "[1]",
    "![x](http://evil.example/)", "{{description}}", "\x1b[31m", "&#0;", "```", "<script>", "pumps",
    "what is", "compare", "and for windows?", "thanks", "ไทย", "1.2.3", "E1042",
)  # fmt: skip


@pytest.fixture(scope="module")
def router(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    (folder / "a.md").write_text(
        "# Pumps\n\nPumps of type C++ and foo-bar, see 検索. E1042 is bad.\n"
    )
    (folder / "b.md").write_text(
        "# Valves\n\nValves open by hand.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    with QueryRouter(
        knowledge_corpus=[folder], embedding_provider="none", cache_results=False
    ) as opened:
        yield opened


@pytest.mark.slow
def test_five_hundred_hostile_questions_end_in_a_result_in_every_tier(router):
    rng = random.Random(SEED)
    refused = 0
    for turn in range(N_QUESTIONS):
        text = rng.choice(("", " ")).join(rng.choices(PIECES, k=rng.randrange(1, 12)))
        if turn % 50 == 0:
            text = (text * MAX_BYTES)[:MAX_BYTES]
        try:
            result = router.route_sync(text, tier=rng.choice((None, 1, 2, 3)))
        except InvalidQueryError:
            refused += 1
            continue
        assert result.answer
        json.dumps(to_wire(result)).encode()
    assert 0 < refused < N_QUESTIONS // 5
    assert router.route_sync("How do valves open?").sources[0].path == "b.md"
