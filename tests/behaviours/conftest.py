"""A small corpus of our own for tests that go through the router."""

import pytest

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
