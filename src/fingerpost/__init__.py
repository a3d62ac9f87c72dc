"""Grounded answers from documentation, routed."""

__version__ = "0.1.0"
