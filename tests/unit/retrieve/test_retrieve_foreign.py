"""Passages of the host's own retrievers among the evidence of a question of several parts."""

import pytest

from fingerpost.retrieve import RetrieveRequest, RetrieveTools, retrieve
from fingerpost.retrieve.foreign import joined
from fingerpost.types import Strategy, Tier
from fingerpost.types.source import Passage

pytestmark = pytest.mark.anyio

TEXT = "How are redis queues backed up? And what is the zymurgy quota of a tenant?"
PAGES = {
    f"redis{n}.md": f"# Redis {n}\n\nRedis queues number {n} are backed up every night.\n"
    for n in range(6)
}
QUOTA = Passage("The zymurgy quota of a tenant is 3 users.")


async def evidence_with(index, *passages, k=4):
    reader = index(PAGES)
    request = RetrieveRequest(TEXT, Tier.RESEARCH, Strategy.COMPLEX, top_k=k)
    evidence = await retrieve(reader, request, RetrieveTools())
    return evidence, joined(reader, evidence, {"wiki": passages}, TEXT, k, None)


async def test_a_part_that_only_another_source_answers_is_no_longer_uncovered(index):
    before, after = await evidence_with(index, QUOTA)
    assert len(before.uncovered) == 1
    assert after.uncovered == ()
    said = [[hit.chunk.text for hit in part.hits] for part in after.parts]
    assert said[1] == [QUOTA.text]
    assert QUOTA.text not in said[0]


async def test_no_part_holds_a_hit_that_gave_way_to_a_passage(index):
    passages = [Passage(f"Redis note {n}.") for n in range(4)]
    before, after = await evidence_with(index, *passages)
    assert before.parts[0].hits
    assert all(hit in after.hits for part in after.parts for hit in part.hits)
    assert len(after.uncovered) == 1
