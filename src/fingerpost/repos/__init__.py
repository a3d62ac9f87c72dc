"""Documentation of repositories, fetched into folders of our own; nothing in one is ever run."""

from fingerpost.repos.fetch import Patience, Sources, fetch
from fingerpost.repos.mirror import Mirror
from fingerpost.repos.select import Limits
from fingerpost.repos.state import MirrorState

__all__ = ["Limits", "Mirror", "MirrorState", "Patience", "Sources", "fetch"]
