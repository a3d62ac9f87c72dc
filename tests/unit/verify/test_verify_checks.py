"""Negation, opposites, names, identifiers and quotes."""

import pytest

from fingerpost.types import Verdict
from fingerpost.verify import judge_pair
from fingerpost.verify.names import identifiers, names, rivals, stands_in
from fingerpost.verify.quote import find_quote


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The job does not run at night.", "The job runs at night."),
        ("The job runs at night.", "The job never runs at night."),
        ("Der Dienst speichert Kennwörter.", "Der Dienst speichert keine Kennwörter."),
        ("Le service conserve les journaux.", "Le service ne conserve pas les journaux."),
        ("El agente modifica los archivos.", "El agente no modifica los archivos."),
        ("The cache is disabled by default.", "The cache is enabled by default."),
        ("The feature is unsupported on Windows.", "The feature is supported on Windows."),
        ("The value decreases over time.", "The value increases over time."),
        ("Ines reports to Paolo.", "Paolo reports to Ines."),
        ("Redis stores the sessions.", "Memcached stores the sessions."),
        ("Paris is the capital of Germany.", "Paris is the capital of France."),
        ("サーバーは毎日再起動します。", "サーバーは毎日再起動しません。"),
        ("The pod restarts twice a day.", "The pod restarts once a day."),
        ("Use `--no-force` to overwrite.", "Use `--force` to overwrite."),
        ("Set `min_retries` in the file.", "Set `max_retries` in the file."),
    ],
)
def test_an_aligned_sentence_that_says_otherwise_contradicts(claim, source):
    assert judge_pair(claim, source).verdict == "contradicted"


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The cache is not enabled.", "The cache is disabled."),
        ("It works not only on Linux but on Windows.", "It works on Linux but on Windows."),
        ("Bob and Alice maintain the chart.", "Alice and Bob maintain the chart."),
        ("Guests can't delete folders.", "Guests cannot delete folders."),
    ],
)
def test_two_ways_to_say_the_same_do_not_contradict(claim, source):
    assert judge_pair(claim, source).verdict != "contradicted"


def test_identifiers_are_compared_whole_and_with_case():
    assert stands_in("--force", "use `--force` now")
    assert not stands_in("--force", "use `--no-force` now")
    assert not stands_in("--force", "use `--force-all` now")
    assert not stands_in("-V", "use `-v` now")
    assert [one.text for one in rivals("--force", identifiers("use --no-force, not -x"))] == [
        "--no-force",
        "-x",
    ]


def test_a_sentence_initial_capital_is_no_name():
    assert [one.text for one in names("Servers in Bergen run Debian. Nodes do too.")] == [
        "Bergen",
        "Debian",
    ]


def test_a_quote_is_found_through_markup_and_line_ends():
    source = "Intro text.\nHelm uses **four**\nmodes to `run` things. More."
    span = find_quote("Helm uses four modes to run things.", source)
    assert source[span.start : span.end].startswith("Helm uses **four**")


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The server restarts at noon.", "It is false that the server restarts at noon."),
        ("The server restarts.", "The server restarts only if the flag is set."),
        ("uses 3 modes daily", "It uses 13 modes daily."),
        ("the limit is 1.5", "the limit is 1.55"),
        ("the limit is 15", "the limit is 15%"),
        ("the limit is 1.5 now", "the limit is 1 5 now"),
    ],
)
def test_part_of_another_statement_is_no_quote(claim, source):
    assert find_quote(claim, source) is None


@pytest.mark.parametrize("part", ["modes run", "four modes"])
def test_missing_numbers_are_at_best_weak(part):
    found = judge_pair(f"Helm has 7 {part} on every node.", f"Helm has {part} on every node.")
    assert found.verdict in ("weak", "contradicted", "unverifiable")


def test_a_marker_in_a_claim_is_not_a_number_that_it_states():
    source = "The pump has three valves and runs at night."
    for marked in ("The pump runs at night [2].", "The pump [4, 7] runs at night【9】."):
        found = judge_pair(marked, source)
        assert found == judge_pair("The pump runs at night.", source)


@pytest.mark.parametrize(
    "source",
    [
        "Platform9 provides access to all official Helm charts through the App Catalog UI.",
        "Helm has an official chart repository.",
    ],
)
def test_a_thing_of_which_a_word_is_missing_is_not_borne_out(source):
    found = judge_pair("Helm has an official mobile app.", source)
    assert found.verdict not in (Verdict.SUPPORTED, Verdict.CONTRADICTED)
    assert "official mobile app not in the source's passage" in found.reasons


def test_the_first_of_something_is_no_other_number():
    found = judge_pair(
        "Helm 4 removed the rollback command.",
        "The first argument of the rollback command is the name of a release.",
    )
    assert found.verdict not in (Verdict.SUPPORTED, Verdict.CONTRADICTED)
    assert not any("≠" in reason for reason in found.reasons)
