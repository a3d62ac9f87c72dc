"""Configuration to objects: the only room that knows the concrete classes."""

from fingerpost.wiring.background import Background
from fingerpost.wiring.embedding import Embedding, choose_embedder
from fingerpost.wiring.empty import empty_corpus, warn_of_empty_sources
from fingerpost.wiring.index import (
    cores,
    corpus_topics,
    forget_index,
    index_folder,
    index_options,
    make_store,
    source_paths,
)
from fingerpost.wiring.knowledge import PlatformIndex
from fingerpost.wiring.models import make_models
from fingerpost.wiring.pipeline import make_observers, make_pipeline
from fingerpost.wiring.repositories import Repositories
from fingerpost.wiring.stats import corpus_stats
from fingerpost.wiring.summaries import keep_summaries
from fingerpost.wiring.tape import Tape, make_tape
from fingerpost.wiring.verify import held_against, refuse_what_cannot_work

__all__ = [
    "Background", "Embedding", "PlatformIndex", "Repositories", "Tape", "choose_embedder", "cores",
    "corpus_stats", "corpus_topics", "empty_corpus", "forget_index", "held_against", "index_folder",
    "index_options", "keep_summaries", "make_models", "make_observers", "make_pipeline",
    "make_store", "make_tape", "refuse_what_cannot_work", "source_paths", "warn_of_empty_sources",
]  # fmt: skip
