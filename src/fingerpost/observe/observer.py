"""Events out: one callable takes them, a failing one never breaks a question."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from fingerpost.observe.events import Event
from fingerpost.observe.hooks import is_for_the_host

Observer = Callable[[Event], None]

_LOG = logging.getLogger("fingerpost.observe")


def ignore(event: Event) -> None:
    """Take an event and do nothing."""


def fan_out(observers: Sequence[Observer]) -> Observer:
    """Return one observer that hands each event to all, in order.

    An exception of one observer is logged and keeps nobody else from the event.
    """

    def observe(event: Event) -> None:
        for observer in observers:
            try:
                observer(event)
            except BaseException as error:
                if is_for_the_host(error):
                    raise
                _LOG.exception("an observer failed on %s", event.type)

    return observe
