"""What a program that we start may see of the environment."""

from __future__ import annotations

import os


def program_path() -> str:
    """Return where programs are looked for."""
    return os.environ.get("PATH", os.defpath)


def ssh_agent() -> str:
    """Return the socket of the ssh agent, empty without one."""
    return os.environ.get("SSH_AUTH_SOCK", "")
