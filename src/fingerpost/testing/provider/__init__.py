"""A local server that speaks the providers' APIs, with scripted answers and faults.

For tests of whatever calls a model over HTTP; see ``docs/how-to/test-with-a-scripted-provider.md``.
"""

from fingerpost.testing.provider import faults, wire
from fingerpost.testing.provider.answer import Answer, Received
from fingerpost.testing.provider.decided import Decided
from fingerpost.testing.provider.faults import Fault
from fingerpost.testing.provider.server import ProviderServer

__all__ = ["Answer", "Decided", "Fault", "ProviderServer", "Received", "faults", "wire"]
