"""Documents in: found, read, split into chunks, and kept up to date in an index."""

from fingerpost.corpus.embed import embed_pending, english_share
from fingerpost.corpus.index import IndexOptions, index_corpus, index_identity
from fingerpost.corpus.locate import CorpusRoot, locate
from fingerpost.corpus.prepare import FileToPrepare, Prepared, prepare_file, prepare_text
from fingerpost.corpus.topics import topics
from fingerpost.corpus.watch import watch

__all__ = [
    "CorpusRoot", "FileToPrepare", "IndexOptions", "Prepared", "embed_pending", "english_share",
    "index_corpus", "index_identity", "locate", "prepare_file", "prepare_text", "topics", "watch",
]  # fmt: skip
