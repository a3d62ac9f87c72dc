"""Builds the tiny cross-encoder of the tests: its log odds are the words that both texts share.

Run where ``onnx``, ``numpy`` and ``tokenizers`` are installed: ``python build.py``.
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

FOLDER = Path(__file__).parent
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "cat", "dog", "bird", "barks", "sleeps", "sings"]


def node(kind, inputs, output, **attributes):
    return helper.make_node(kind, inputs, [output], **attributes)


def model():
    """Return the network: pairs of equal ids across the two texts, minus two."""
    shape = ["batch", "length"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, shape)
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    constants = {
        "one": np.array(1, np.int64),
        "words_from": np.array(4, np.int64),
        "row": np.array([2], np.int64),
        "column": np.array([1], np.int64),
        "bias": np.array(2.0, np.float32),
    }
    nodes = [
        node("Equal", ["token_type_ids", "one"], "in_text"),
        node("Not", ["in_text"], "in_query"),
        node("GreaterOrEqual", ["input_ids", "words_from"], "is_word"),
        node("And", ["in_query", "is_word"], "asked"),
        node("And", ["in_text", "is_word"], "told"),
        node("Unsqueeze", ["input_ids", "row"], "ids_down"),
        node("Unsqueeze", ["input_ids", "column"], "ids_across"),
        node("Equal", ["ids_down", "ids_across"], "same"),
        node("Unsqueeze", ["asked", "row"], "asked_down"),
        node("Unsqueeze", ["told", "column"], "told_across"),
        node("And", ["asked_down", "told_across"], "across"),
        node("And", ["same", "across"], "shared"),
        node("Cast", ["shared"], "counted", to=TensorProto.FLOAT),
        node("ReduceSum", ["counted", "column"], "by_column", keepdims=0),
        node("ReduceSum", ["by_column", "column"], "total", keepdims=1),
        node("Sub", ["total", "bias"], "logits"),
    ]
    graph = helper.make_graph(
        nodes,
        "shared_words",
        inputs,
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def tokenizer():
    """Return a tokenizer of known words that marks the second text of a pair."""
    made = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, "[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return made


if __name__ == "__main__":
    made = model()
    onnx.checker.check_model(made)
    onnx.save(made, FOLDER / "model.onnx")
    tokenizer().save(str(FOLDER / "tokenizer.json"), pretty=False)
