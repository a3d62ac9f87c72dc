"""Passages of a data set as an index, built with the product's own path."""

from __future__ import annotations


