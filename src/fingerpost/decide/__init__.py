"""Decision models: small models that choose among named options, with confidence."""

from fingerpost.decide.linear import LinearModel
from fingerpost.decide.local import LocalDecisionModel
from fingerpost.decide.local_file import load_router, save_router
from fingerpost.decide.local_fit import fit_router
from fingerpost.decide.local_router import LocalSourceRouter, SourceDecision
from fingerpost.decide.local_source import SourceDescription

__all__ = [
    "LinearModel",
    "LocalDecisionModel",
    "LocalSourceRouter",
    "SourceDecision",
    "SourceDescription",
    "fit_router",
    "load_router",
    "save_router",
]
