"""Question to classification: how much work it deserves, and what it means as a follow-up."""

from fingerpost.classify.followup import rewrite_follow_up
from fingerpost.classify.model import ModelClassifier
from fingerpost.classify.policy import apply_policy, fallback_classification
from fingerpost.classify.recommend import recommend
from fingerpost.classify.rewrite import rewrite_with_model
from fingerpost.classify.tier import LocalClassifier

__all__ = [
    "LocalClassifier",
    "ModelClassifier",
    "apply_policy",
    "fallback_classification",
    "recommend",
    "rewrite_follow_up",
    "rewrite_with_model",
]
