"""Question and evidence to an answer with citations."""

from fingerpost.generate.abstain import abstain, should_abstain
from fingerpost.generate.cite import MarkerStream, resolve_markers
from fingerpost.generate.extractive import extract_answer
from fingerpost.generate.listing import with_continuations
from fingerpost.generate.model import write_answer
from fingerpost.generate.request import Asked, Limits, answer_request, talk_request
from fingerpost.generate.smalltalk import small_talk
from fingerpost.generate.sources import cite_sources

__all__ = [
    "Asked", "Limits", "MarkerStream", "abstain", "answer_request", "cite_sources",
    "extract_answer", "resolve_markers", "should_abstain", "small_talk", "talk_request",
    "with_continuations", "write_answer",
]  # fmt: skip
