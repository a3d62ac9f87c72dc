"""The bar that shows how far indexing is."""

from fingerpost.cli.progress import IngestBar
from fingerpost.observe.events import ClassifyStart, IngestProgress


def _event(phase, done):
    return IngestProgress(at=0.0, phase=phase, done=done, total=3)


def test_a_bar_shows_each_phase_and_nothing_after_its_block(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # drawn as on a terminal
    with IngestBar(enabled=True) as bar:
        for event in (_event("scan", 1), _event("parse", 1), _event("parse", 3), _event("done", 3)):
            bar(event)
        bar(ClassifyStart(at=0.0))
    shown = capsys.readouterr().err
    assert "looking for documents" in shown
    assert "reading" in shown
    bar(_event("parse", 1))
    assert capsys.readouterr().err == ""


def test_a_bar_that_is_not_wanted_draws_nothing(capsys):
    with IngestBar(enabled=False) as bar:
        bar(_event("scan", 1))
    assert capsys.readouterr() == ("", "")
