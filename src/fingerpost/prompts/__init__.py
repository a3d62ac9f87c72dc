"""Prompts are data: text files with named places, each with its hash."""

from fingerpost.prompts.load import Prompt, load_prompt

__all__ = ["Prompt", "load_prompt"]
