"""Fifty ask while documents are read again: no error, no answer of two generations (goal R16)."""

import re
import threading

from fingerpost import QueryRouter

READERS, ROUNDS, PAGES, WAIT_S = 50, 8, 6, 60
QUESTION = "Which pumps does the page name?"


def _write(folder, number):
    for page in range(PAGES):
        (folder / f"{page}.md").write_text(
            f"# Page {page}\n\nThe page names pumps of round{number} first.\n\n"
            f"Other pumps of round{number} come after them.\n"
        )


def _rounds(texts):
    return {found for text in texts for found in re.findall(r"round\d+", text)}


def test_fifty_questions_at_a_time_never_see_two_generations_while_documents_are_read(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    _write(folder, 0)
    started, done = threading.Barrier(READERS + 1), threading.Event()
    failures, seen = [], [set() for _ in range(READERS)]

    def ask(router, place):
        try:
            started.wait(WAIT_S)
            while not done.is_set():
                if place % 5:
                    evidence = router.retrieve_sync(QUESTION, tier=1 + place % 3, explain=True)
                    assert len(evidence.candidates) >= 5
                    texts = [hit.chunk.text for hit in evidence.candidates]
                else:
                    result = router.route_sync(QUESTION, tier=1 + place % 3)
                    assert result.sources
                    texts = [result.answer, *(source.snippet for source in result.sources)]
                rounds = _rounds(texts)
                assert len(rounds) == 1, rounds
                seen[place] |= rounds
        except BaseException as error:
            failures.append(error)

    settings = {"embedding_provider": "none", "cache_results": False}
    with QueryRouter(knowledge_corpus=[folder], **settings) as router:
        threads = [
            threading.Thread(target=ask, args=(router, place), daemon=True)
            for place in range(READERS)
        ]
        for thread in threads:
            thread.start()
        started.wait(WAIT_S)
        for number in range(1, ROUNDS + 1):
            _write(folder, number)
            assert router.refresh_sync().n_changed == PAGES
        done.set()
        for thread in threads:
            thread.join(WAIT_S)
    assert failures == []
    assert not any(thread.is_alive() for thread in threads)
    assert all(seen)
    assert len(set().union(*seen)) > ROUNDS // 2
