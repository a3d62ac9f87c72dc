"""The web as a source: a search service, and pages that are read safely."""

from fingerpost.lanes.web.page import Page, PageReader
from fingerpost.lanes.web.search import WebSearch

__all__ = ["Page", "PageReader", "WebSearch"]
