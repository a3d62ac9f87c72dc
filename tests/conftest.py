"""A clean environment and no network: every test starts from the same ground."""

import os
import signal
import socket
from zlib import crc32

import pytest
from hypothesis import settings

# The same examples in every run: a change is not refused for a case that others might meet.
# `pytest --hypothesis-profile=explore tests/properties` looks for new ones.
settings.register_profile("same", derandomize=True)
settings.register_profile("explore", derandomize=False, print_blob=True)
settings.load_profile("same")

_REAL_CONNECT = socket.socket.connect

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in the background so, and commands that tests interrupt inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption(
        "--both-loops", action="store_true", help="run each behaviour on asyncio and on trio"
    )


def pytest_collection_modifyitems(config, items):
    """Keep one event loop of each behaviour, by turns: whole questions take most of the time."""
    if config.getoption("--both-loops"):
        return
    left_out = [item for item in items if _is_other_loop(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


def _is_other_loop(item):
    given = getattr(item, "callspec", None)
    loop = given.params.get("anyio_backend") if given else None
    if loop is None or "/behaviours/" not in item.path.as_posix():
        return False
    asked_for = any("::" in one for one in item.config.args)
    turn = crc32(item.nodeid.replace(loop, "").encode()) % 2
    return not asked_for and loop != ("asyncio", "trio")[turn]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch, tmp_path_factory):
    """Take away settings and keys of the machine; keep the user's cache out of reach.

    Summaries are made where a test asks for them: their commit may come between two questions.
    """
    for name in list(os.environ):
        if name.startswith("FINGERPOST_") or name.endswith(("_API_KEY", "_BASE_URL")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("FINGERPOST_SUMMARIES", "never")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch):
    """Refuse every connection that leaves the machine."""

    def connect(self, address):
        host = address[0] if isinstance(address, tuple) else "unix"
        if host not in ("127.0.0.1", "::1", "localhost", "unix"):
            raise AssertionError(f"a test tried to reach {host}")
        return _REAL_CONNECT(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    """Run async tests on both event loops."""
    return request.param
