"""What fingerpost knows about itself, shipped as data; asked only when the documents are silent."""

from fingerpost.knowledge.entry import CATEGORIES, Entry, Knowledge, load_knowledge, to_json
from fingerpost.knowledge.fit import is_about, is_meant, without_name

__all__ = [
    "CATEGORIES", "Entry", "Knowledge", "is_about", "is_meant", "load_knowledge", "to_json",
    "without_name",
]  # fmt: skip
