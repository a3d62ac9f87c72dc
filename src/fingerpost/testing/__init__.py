"""Deterministic stand-ins, for our users' tests and our own."""

from fingerpost.testing.chat import ScriptedChat
from fingerpost.testing.clock import FakeClock
from fingerpost.testing.decision import ScriptedDecision
from fingerpost.testing.models import HashEmbedder

__all__ = ["FakeClock", "HashEmbedder", "ScriptedChat", "ScriptedDecision"]
