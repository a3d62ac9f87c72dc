"""Pure text functions: analysis, sentences, languages, token estimates."""

from fingerpost.text.analyse import (
    ANALYSER_VERSION,
    analyse,
    analyse_joined,
    query_tokens,
    topic_tokens,
)
from fingerpost.text.language import detect_language
from fingerpost.text.sentences import sentences
from fingerpost.text.tokens import estimate_tokens

__all__ = [
    "ANALYSER_VERSION",
    "analyse",
    "analyse_joined",
    "detect_language",
    "estimate_tokens",
    "query_tokens",
    "sentences",
    "topic_tokens",
]
