"""Measuring the product on labelled data: retrieval, tiers, routing, grounding."""

from fingerpost.eval.grounding import measure_answers, measure_claims
from fingerpost.eval.measurement import Failure, Measurement, Outcome
from fingerpost.eval.retrieval import measure_retrieval
from fingerpost.eval.routing import measure_routing
from fingerpost.eval.run import Run
from fingerpost.eval.tiers import measure_tiers

__all__ = [
    "Failure",
    "Measurement",
    "Outcome",
    "Run",
    "measure_answers",
    "measure_claims",
    "measure_retrieval",
    "measure_routing",
    "measure_tiers",
]
