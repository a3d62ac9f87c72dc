"""The all-MiniLM-L6-v2 sentence encoder: an int8 ONNX file and its tokenizer, data only."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

__all__ = ["MODEL_SHA256", "TOKENIZER_SHA256", "Paths", "paths"]

MODEL_SHA256 = "356e4929566f8ef019b1d95d3e702f8e8d9ad726a6aec77dac37a23a7a567b84"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


class Paths(NamedTuple):
    """Where the two files are.

    Attributes:
        model: ``model.onnx``; its digest is `MODEL_SHA256`.
        tokenizer: ``tokenizer.json``; its digest is `TOKENIZER_SHA256`.
    """

    model: Path
    tokenizer: Path


def paths() -> Paths:
    """Return the paths of the installed files, without reading them."""
    folder = Path(__file__).resolve().parent
    return Paths(folder / "model.onnx", folder / "tokenizer.json")
