"""Decision models: small models that choose among named options, with confidence."""

from fingerpost.decide.linear import LinearModel
from fingerpost.decide.local import LocalSourceRouter, SourceDecision, SourceDescription

__all__ = ["LinearModel", "LocalSourceRouter", "SourceDecision", "SourceDescription"]
