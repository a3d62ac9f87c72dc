"""The stages in order. The only room that imports every stage."""

from fingerpost.pipeline.flow import Pipeline

__all__ = ["Pipeline"]
