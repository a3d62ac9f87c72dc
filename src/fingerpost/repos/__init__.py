"""Documentation of repositories, fetched into folders of our own; nothing in one is ever run."""

from fingerpost.repos.fetch import Patience, Sources, fetch
from fingerpost.repos.mirror import Mirror, MirrorState
from fingerpost.repos.select import Limits

__all__ = ["Limits", "Mirror", "MirrorState", "Patience", "Sources", "fetch"]
