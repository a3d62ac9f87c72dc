"""The questions that were not answered, kept as lines of a file."""

import json
import logging
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256

import pytest

from fingerpost import QueryRouter
from fingerpost.gaps import read_gaps
from fingerpost.observe.events import RouteComplete
from fingerpost.observe.gap_log import GapLog, gaps_of
from fingerpost.types.answer import ClaimVerdict, Verdict, VerifiedResponse

PAGES = {
    "modes.md": "# Modes\n\nThe default mode of Heron is safe. Fast mode uses eight threads.\n",
    "errors.md": "# Errors\n\n## E1042\n\nThe license file has expired. Renew it.\n",
    "install.md": "# Installing\n\nInstall Heron with pip. It needs Python 3.11 or newer.\n",
}
UNANSWERED = "How do I configure the quantum flux capacitor?"


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def log(tmp_path):
    return tmp_path / "kept" / "gaps.jsonl"


def routed(docs, log, *questions, **settings):
    with QueryRouter(
        knowledge_corpus=[str(docs)], embedding_provider="none", gap_log=log, **settings
    ) as router:
        return [router.route_sync(question) for question in questions]


def lines(log):
    return [json.loads(line) for line in log.read_text("utf-8").splitlines()]


def test_a_question_without_an_answer_is_kept_with_its_reason_and_nearest_pages(docs, log):
    (result,) = routed(docs, log, "How do I configure the modes of the flux capacitor?")
    assert result.abstention is not None
    (line,) = lines(log)
    assert line["question"] == "How do I configure the modes of the flux capacitor?"
    assert line["reason"] == result.abstention.value
    assert line["index"].startswith(result.fingerprints["index"])
    near = line["near"][0]
    assert near["path"] == result.sources[0].path
    assert near["sha256"] == sha256((docs / near["path"]).read_bytes()).hexdigest()


def test_answers_and_small_talk_leave_no_line(docs, log):
    routed(docs, log, "What is the default mode of Heron?", "hello", "thanks!")
    assert not log.exists()


def test_without_the_setting_no_file_is_written(docs, log):
    routed(docs, None, UNANSWERED)
    assert not log.exists()


def test_a_kept_result_counts_each_time_that_it_is_asked_for(docs, log):
    _, second = routed(docs, log, UNANSWERED, UNANSWERED)
    assert second.cached
    assert [line["question"] for line in lines(log)] == [UNANSWERED] * 2


def test_no_text_of_a_document_is_kept(docs, log):
    routed(docs, log, "How do I configure the modes of the flux capacitor?")
    kept = log.read_text("utf-8")
    assert "modes.md" in kept
    assert "eight threads" not in kept


def test_keys_in_a_question_are_not_kept(docs, log):
    key = "my-own-key-for-the-model-7"
    asked = f"Why does quantum flux fail with {key} and sk-abcdef0123456789abcdef?"
    routed(docs, log, asked, api_key=key, base_url="http://127.0.0.1:9/v1", generator_model=None)
    kept = log.read_text("utf-8")
    assert "quantum flux fail" in kept
    assert key not in kept
    assert "abcdef0123456789" not in kept


def test_the_file_is_the_users_alone(docs, log):
    routed(docs, log, UNANSWERED)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_a_file_that_others_may_read_is_left_as_it_is_and_told_once(docs, log, caplog):
    log.parent.mkdir()
    log.write_text("mine\n")
    log.chmod(0o644)
    routed(docs, log, UNANSWERED, f"{UNANSWERED} Now?")
    assert (log.read_text(), stat.S_IMODE(log.stat().st_mode)) == ("mine\n", 0o644)
    assert [("chmod 600" in record.getMessage()) for record in caplog.records] == [True]


def test_a_link_is_not_followed(docs, log, caplog):
    log.parent.mkdir()
    other = log.with_name("other")
    other.write_text("mine\n")
    other.chmod(0o644)
    log.symlink_to(other)
    routed(docs, log, UNANSWERED)
    assert (other.read_text(), stat.S_IMODE(other.stat().st_mode)) == ("mine\n", 0o644)
    assert "symbolic link" in caplog.text


@pytest.fixture
def answered(docs):
    return routed(docs, None, "What is the default mode of Heron?")[0]


def judged(result, *verdicts):
    claims = tuple(ClaimVerdict("A claim.", None, verdict, 0.9) for verdict in verdicts)
    return replace(result, grounding=VerifiedResponse(claims), grounding_status="checked")


@pytest.mark.parametrize(
    ("verdicts", "reasons"),
    [
        ((Verdict.SUPPORTED, Verdict.WEAK), []),
        ((Verdict.SUPPORTED, Verdict.UNVERIFIABLE), ["unsupported"]),
        ((Verdict.UNVERIFIABLE, Verdict.CONTRADICTED), ["contradicted"]),
        ((Verdict.NOT_CHECKED,), []),
    ],
)
def test_an_answer_with_a_claim_that_does_not_stand_is_a_gap(answered, verdicts, reasons):
    found = gaps_of(judged(answered, *verdicts), at=1.0)
    assert [gap.reason for gap in found] == reasons


def test_each_part_that_was_not_covered_is_a_gap_of_its_own(answered):
    parts = ("What is a flux?", "What is a capacitor?")
    found = list(gaps_of(replace(answered, uncovered=parts), at=1.0))
    assert [(gap.question, gap.reason) for gap in found] == [(part, "uncovered") for part in parts]
    assert {gap.whole for gap in found} == {"What is the default mode of Heron?"}


def test_a_follow_up_is_kept_as_it_stands_alone(answered):
    result = replace(judged(answered, Verdict.UNVERIFIABLE), rewritten_query="How fast is Heron?")
    assert [gap.question for gap in gaps_of(result, at=1.0)] == ["How fast is Heron?"]


def told(log, result, n=1, **options):
    observe = GapLog(log, **options)
    for number in range(n):
        observe(RouteComplete(at=float(number), result=result, duration_ms=1.0))


def test_a_broken_disk_breaks_no_question_and_is_told_once(docs, tmp_path, caplog):
    (tmp_path / "file").write_text("not a folder")
    with caplog.at_level(logging.WARNING, "fingerpost.observe"):
        results = routed(docs, tmp_path / "file" / "gaps.jsonl", UNANSWERED, f"{UNANSWERED} Now?")
    assert all(result.abstention is not None for result in results)
    assert [record.name for record in caplog.records] == ["fingerpost.observe"]


MADE = """
import sys
from pathlib import Path
from fingerpost.observe.events import RouteComplete
from fingerpost.observe.gap_log import GapLog
from fingerpost.types.answer import AbstentionReason
from fingerpost.types.decision import *
from fingerpost.types.result import QueryResult
from fingerpost.types.query import Query
result = QueryResult("", None, query=Query("q" * 900), abstention=AbstentionReason.EVIDENCE_TOO_WEAK)
"""
FULL = """
import resource, signal, sys
from dataclasses import replace
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
observe, event = GapLog(Path(sys.argv[1])), RouteComplete(at=1.0, result=result, duration_ms=1.0)
observe(event)
resource.setrlimit(resource.RLIMIT_FSIZE, (1500, most))
observe(event)
observe(event)
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
observe(replace(event, at=2.0))
"""


def test_a_full_disk_is_told_once_and_costs_only_the_questions_of_its_time(log):
    done = subprocess.run(
        [sys.executable, "-c", MADE + FULL, str(log)], capture_output=True, timeout=60, check=True
    )
    assert done.stderr.count(b"cannot write") == 1
    kept = read_gaps(log)
    assert [gap.at for gap in kept.gaps] == [1.0, 2.0]
    assert kept.n_unreadable == 1


def test_past_its_size_the_file_is_put_aside_and_a_new_one_begins(answered, log):
    told(log, judged(answered, Verdict.UNVERIFIABLE), n=40, max_bytes=2_000)
    older = log.with_name("gaps.jsonl.1")
    assert older.stat().st_size < 3_000
    last = [*lines(older), *(lines(log) if log.exists() else [])][-1]
    assert last["at"] == 39.0
    assert sorted(path.name for path in log.parent.iterdir()) in (
        ["gaps.jsonl", "gaps.jsonl.1"],
        ["gaps.jsonl.1"],
    )


def test_lines_of_many_threads_stay_whole(answered, log):
    result = judged(answered, Verdict.UNVERIFIABLE)
    observe = GapLog(log)
    events = [RouteComplete(at=float(n), result=result, duration_ms=1.0) for n in range(400)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(observe, events))
    assert sorted(line["at"] for line in lines(log)) == [float(n) for n in range(400)]


WRITER = """
observe = GapLog(Path(sys.argv[1]), max_bytes=10**9)
for n in range(300):
    observe(RouteComplete(at=float(n), result=result, duration_ms=1.0))
"""


def test_lines_of_many_processes_stay_whole(log):
    running = [subprocess.Popen([sys.executable, "-c", MADE + WRITER, str(log)]) for _ in range(3)]
    assert [one.wait(60) for one in running] == [0, 0, 0]
    kept = lines(log)
    assert len(kept) == 900
    assert {len(line["question"]) for line in kept} == {900}
