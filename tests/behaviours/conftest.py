"""A small corpus of our own for tests that go through the router, and what they wait for."""

import threading
from functools import cache

import numpy as np
import pytest

WAIT_S = 5

PAGES = {
    "install.md": """---
title: Installing Heron
tags: [setup]
---
# Installing Heron

Install Heron with `pip install heron`. It needs Python 3.11 or newer.

## On Windows

Run the installer `heron-setup.exe` as administrator. Reboot the machine afterwards.

## On macOS

Install it with `brew install heron`.
""",
    "guides/modes.md": """# Modes

Heron has three modes: fast, safe and quiet.

| mode | threads | log level |
|---|---|---|
| fast | 8 | warning |
| safe | 1 | debug |
| quiet | 2 | error |

The default mode is safe. Change it with `heron --mode fast`. See [installing](../install.md).
""",
    "guides/errors.md": """---
tags: [errors]
product: heron
---
# Errors

## ECONNREFUSED

The server is not running. Start it with `heron serve --port 8080`.

## E1042

The license file has expired. Renew it with `heron license renew`.
""",
    "de/faq.md": """# Häufige Fragen

## Wie ändere ich das Passwort?

Das Passwort wird mit dem Befehl `heron passwd` geändert. Danach müssen sich alle Benutzer neu anmelden.
""",
}


@pytest.fixture
def corpus(tmp_path):
    """Return a folder with four short pages."""
    folder = tmp_path / "docs"
    for name, text in PAGES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


class ScriptedRuntime:
    """Stands where onnxruntime's session stands: a vector for each token, and orders to obey.

    Attributes:
        n_calls: Texts that went through.
        error: Raised by the next calls, while set.
        load_error: Raised when the model is loaded, while set.
    """

    def __init__(self):
        self.n_calls = 0
        self.error = None
        self.load_error = None
        self._open = threading.Event()
        self._open.set()

    def hold(self):
        """Make every call wait until `release`."""
        self._open.clear()

    def release(self):
        self._open.set()

    def session(self, *arguments, **options):
        if self.load_error is not None:
            raise self.load_error
        return self

    def run(self, names, inputs):
        assert self._open.wait(WAIT_S)
        if self.error is not None:
            raise self.error
        self.n_calls += 1
        return [np.stack([_token_vector(int(token)) for token in inputs["input_ids"][0]])[None]]


@cache
def _token_vector(token):
    return np.random.default_rng(token).standard_normal(384).astype(np.float32)


@pytest.fixture
def runtime(monkeypatch):
    """Run the local model on a scripted runtime; the tokenizer is the real one."""
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra `local`")
    pytest.importorskip("fingerpost_minilm", reason="needs the data distribution")
    scripted = ScriptedRuntime()
    monkeypatch.setattr(onnxruntime, "InferenceSession", scripted.session)
    yield scripted
    scripted.release()


class Story:
    """An observer that keeps what happened and lets a test wait for it."""

    def __init__(self):
        self.events = []
        self._changed = threading.Condition()

    def __call__(self, event):
        with self._changed:
            self.events.append(event)
            self._changed.notify_all()

    def of(self, kind):
        with self._changed:
            return [event for event in self.events if event.type == kind]

    def has(self, wanted, at_most_s=WAIT_S):
        """Block until an event is as ``wanted`` says; return whether one came."""
        with self._changed:
            return self._changed.wait_for(lambda: any(map(wanted, self.events)), at_most_s)


@pytest.fixture
def story():
    """Return an observer that keeps every event."""
    return Story()
