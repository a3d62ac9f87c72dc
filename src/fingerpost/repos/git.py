"""The program git, with everything off that could run something else or lead elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fingerpost.config.program import program_path, ssh_agent
from fingerpost.errors import (
    RepositoryError,
    RepositoryTooLargeError,
    RepositoryUnavailableError,
)

_STEP_S: Final = 0.02
_TOTAL_S: Final = 300.0
_MAX_SAID: Final = 300
_VERSION: Final = re.compile(r"git version (\d+)\.(\d+)")
# The first that can be told at which address a host is.
_PINS_FROM: Final = (2, 37)
_SETTINGS: Final = (
    "core.hooksPath=/dev/null", "core.symlinks=false", "core.attributesFile=/dev/null",
    "core.fsmonitor=false", "core.askPass=", "credential.helper=", "gc.auto=0",
    "maintenance.auto=false", "submodule.recurse=false", "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false", "fetch.unpackLimit=1", "transfer.bundleURI=false",
    "protocol.allow=never", "http.followRedirects=false", "http.sslVerify=true",
    "http.lowSpeedLimit=1000", "http.lowSpeedTime=30", "pack.threads=1",
)  # fmt: skip


@dataclass(slots=True)
class Git:
    """Runs git in a folder of its own. All methods block.

    Attributes:
        folder: Its home, its working directory, and where its output is kept.
        protocols: Which it may speak, as ``GIT_ALLOW_PROTOCOL`` names them.
        settings: More of them, ``name=value``.
        ssh: Command in place of ``ssh``.
        stopped: Ends what runs.
        max_bytes: Most bytes that a fetch may write.
    """

    folder: Path
    protocols: str
    settings: Sequence[str] = ()
    ssh: str = ""
    stopped: threading.Event = field(default_factory=threading.Event)
    max_bytes: int = 2**40
    _until: float = field(default_factory=lambda: time.monotonic() + _TOTAL_S)

    def require_pins(self) -> None:
        """Refuse a git that cannot be told at which address a host is.

        Raises:
            RepositoryError: It is too old.
        """
        said = self.run("--version").read_text("utf-8", "replace")
        found = _VERSION.match(said)
        if found is None or (int(found[1]), int(found[2])) < _PINS_FROM:
            raise RepositoryError(
                f"git is too old to fetch safely by http: {said.strip()[:40]}",
                hint="Install git 2.37 or later, or clone it and give the path of the clone.",
            )

    def run(self, *arguments: str, told: bytes = b"", is_remote: bool = False) -> Path:
        """Run git and return the file with what it printed.

        Args:
            arguments: A command and its arguments.
            told: What it reads.
            is_remote: A failure may pass.

        Raises:
            RepositoryUnavailableError: It failed at something remote, or took too long.
            RepositoryTooLargeError: It wrote too much.
            RepositoryError: It failed, or is not installed.
        """
        program = shutil.which("git", path=program_path())
        if program is None:
            raise RepositoryError("the program git is not installed", hint="Install git.")
        settings = [part for item in (*_SETTINGS, *self.settings) for part in ("-c", item)]
        for name, content in (("in", told), ("out", b""), ("err", b"")):
            (self.folder / name).write_bytes(content)
        with (
            (self.folder / "in").open("rb") as given,
            (self.folder / "out").open("wb") as out,
            (self.folder / "err").open("wb") as err,
        ):
            process = subprocess.Popen(  # noqa: S603 - arguments are checked where they are read
                [program, *settings, *arguments],
                stdin=given,
                stdout=out,
                stderr=err,
                cwd=self.folder,
                env=self._environment(),
                start_new_session=True,
            )
            try:
                self._wait(process)
            finally:
                _end(process)
        if process.returncode:
            command = arguments[2] if arguments[0] == "-C" else arguments[0]
            raise self._failure(command, is_remote=is_remote)
        return self.folder / "out"

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        while process.poll() is None:
            if self.stopped.is_set():
                raise RepositoryUnavailableError("the fetch was given up")
            if time.monotonic() > self._until:
                raise RepositoryUnavailableError(f"git took longer than {_TOTAL_S:.0f} s")
            if _size(self.folder) > self.max_bytes:
                raise RepositoryTooLargeError(
                    f"it takes more than {self.max_bytes / 2**20:,.1f} MB to fetch",
                    hint="Raise github_repos.max_repo_mb.",
                )
            with suppress(subprocess.TimeoutExpired):
                process.wait(_STEP_S)

    def _environment(self) -> Mapping[str, str]:
        """Return all that git sees of the environment."""
        agent = ssh_agent() if self.ssh else ""
        return {
            "PATH": program_path(),
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder),
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_LFS_SKIP_SMUDGE": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_ALLOW_PROTOCOL": self.protocols,
            **({"GIT_SSH_COMMAND": self.ssh} if self.ssh else {}),
            **({"SSH_AUTH_SOCK": agent} if agent else {}),
        }

    def _failure(self, command: str, *, is_remote: bool) -> RepositoryError:
        said = (self.folder / "err").read_text("utf-8", "replace").strip().splitlines()
        fatal = [line for line in said if line.startswith("fatal:")] or said[-1:]
        detail = " ".join(" ".join(fatal).split()).replace(str(self.folder), "")[:_MAX_SAID]
        message = f"git {command} failed: {detail or 'it said nothing'}"
        return RepositoryUnavailableError(message) if is_remote else RepositoryError(message)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it started."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _size(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += (Path(place) / name).lstat().st_size
    return total
