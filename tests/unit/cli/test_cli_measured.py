"""How an evaluation ends when cases crashed or a file cannot be written."""

import click
import pytest

from fingerpost.cli.measured import show_run
from fingerpost.eval.measurement import Failure, Measurement
from fingerpost.eval.run import Run


def _run(*n_crashed, n=2):
    return Run(
        "eval tiers",
        [
            Measurement(
                f"set{place}",
                {"n": n, "accuracy": 0.5},
                failures=[
                    Failure(f"q{one}\x1b[31m", "RuntimeError: boom") for one in range(crashed)
                ],
            )
            for place, crashed in enumerate(n_crashed)
        ],
        took_ms=1.0,
    )


def _show(run, **more):
    show_run(
        run, {}, **{"as_json": False, "report": None, "per_query": None, "most_wrong": 5, **more}
    )


def test_a_case_that_crashed_is_told_beside_the_table(capsys):
    _show(_run(1, 0))
    out, err = capsys.readouterr()
    assert out.startswith("eval tiers\n")
    assert err == "set0: 1 case crashed, first q0: RuntimeError: boom\n"


def test_an_evaluation_of_which_every_case_crashed_is_an_error(capsys):
    with pytest.raises(click.ClickException, match="every case crashed"):
        _show(_run(2, 2))
    assert "set1: 2 cases crashed" in capsys.readouterr().err


def test_a_file_of_cases_that_cannot_be_written_says_so(tmp_path, capsys):
    with pytest.raises(click.exceptions.Exit):
        _show(_run(0), per_query=tmp_path / "no" / "cases.jsonl")
    assert "cannot be written" in capsys.readouterr().err
