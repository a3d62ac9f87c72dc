"""No key in the HTTP client's own debug log, which writes down the heads of replies."""

from __future__ import annotations

import logging
from typing import Final
from weakref import WeakSet

from fingerpost.lanes.providers.scrub import Scrubber

__all__ = ["keep_out_of_logs"]

_LOGGERS: Final = ("httpcore2.http11", "httpcore2.connection")


class _KeyFilter(logging.Filter):
    """Lets every record through, keys shown as ``***``."""

    def __init__(self) -> None:
        super().__init__()
        self.scrubbers: WeakSet[Scrubber] = WeakSet()

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        for scrubber in list(self.scrubbers):
            message = scrubber.without_key(message)
        record.msg, record.args = message, ()
        return True


_FILTER: Final = _KeyFilter()


def keep_out_of_logs(scrubber: Scrubber) -> None:
    """Let what the HTTP client logs pass through ``scrubber`` for as long as that lives.

    A provider may say a key back in a header, and the client logs headers at level DEBUG.
    """
    _FILTER.scrubbers.add(scrubber)
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_FILTER)
