"""Whether faults of the product show where they happened."""

from __future__ import annotations

import os


def wants_traceback() -> bool:
    """Return whether ``FINGERPOST_TRACEBACK`` is set and not blank."""
    return bool(os.environ.get("FINGERPOST_TRACEBACK", "").strip())
