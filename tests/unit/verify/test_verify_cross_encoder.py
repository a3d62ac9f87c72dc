"""A cross-encoder of one's own, loaded and asked: a tiny model that is written here."""

import json
import struct

import anyio
import pytest

from fingerpost.errors import VerificationError
from fingerpost.verify.base import ClaimPair
from fingerpost.verify.cross_encoder import CrossEncoderClaimJudge

tokenizers = pytest.importorskip("tokenizers", reason="the extra local is not installed")
pytest.importorskip("onnxruntime", reason="the extra local is not installed")

WORDS = ("[UNK]", "the", "port", "is", "open", "maybe", "closed")
FLOAT, INT64 = 1, 7


def field(number, value):
    """One protobuf field: a whole number, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def node(operation, inputs, output, *attributes):
    named = b"".join(field(1, one) for one in inputs) + field(2, output) + field(4, operation)
    return field(1, named + b"".join(field(5, one) for one in attributes))


def integer(name, value, *, listed=False):
    return field(1, name) + field(8 if listed else 3, value) + field(20, 7 if listed else 2)


def tensor(name, dims, values):
    shape = b"".join(field(1, one) for one in dims)
    raw = struct.pack(f"<{len(values)}f", *values)
    return field(5, shape + field(2, FLOAT) + field(8, name) + field(9, raw))


def place(number, name, kind, dims):
    shape = b"".join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in dims)
    return field(number, field(1, name) + field(2, field(1, field(1, kind) + field(2, shape))))


def write_model(folder, labels):
    """Logits from the largest id among the tokens: up to *open*, *maybe*, *closed*."""
    graph = (
        node("Cast", ["input_ids"], "ids", integer("to", FLOAT))
        + node("ReduceMax", ["ids"], "top", integer("axes", 1, listed=True), integer("keepdims", 1))
        + node("MatMul", ["top", "slope"], "scaled")
        + node("Add", ["scaled", "bias"], "logits")
        + field(2, "judge")
        + tensor("slope", [1, 3], [-8.0, 0.0, 8.0])
        + tensor("bias", [3], [36.0, 0.0, -44.0])
        + place(11, "input_ids", INT64, [1, "n"])
        + place(12, "logits", FLOAT, [1, 3])
    )
    opset = field(8, field(1, "") + field(2, 13))
    (folder / "model.onnx").write_bytes(field(1, 8) + opset + field(7, graph))
    model = tokenizers.models.WordLevel(
        {word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"
    )
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    named = {str(at): label for at, label in enumerate(labels)}
    (folder / "config.json").write_text(json.dumps({"id2label": named}), "utf-8")


@pytest.fixture
def folder(tmp_path):
    write_model(tmp_path, ["ENTAILMENT", "neutral", "Contradiction"])
    return tmp_path


def judged(judge, *claims):
    return anyio.run(judge.judge, [ClaimPair(claim, "the port is open") for claim in claims])


def test_the_labels_of_the_model_say_which_output_is_which(folder):
    same, other, open_ = judged(
        CrossEncoderClaimJudge(folder), "the port is open", "the port is closed", "maybe"
    )
    assert same.entailed > 0.9
    assert other.contradicted > 0.9
    assert open_.neutral > 0.9
    assert same.entailed + same.neutral + same.contradicted == pytest.approx(1.0)


def test_a_pair_that_is_too_long_gets_no_opinion(folder):
    judge = CrossEncoderClaimJudge(folder, max_tokens=8)
    assert [one is None for one in judged(judge, "the port is open", "is " * 5)] == [False, True]


def test_a_folder_without_a_model_fails_when_asked_and_not_before(tmp_path):
    judge = CrossEncoderClaimJudge(tmp_path)
    with pytest.raises(VerificationError, match="holds no model"):
        judged(judge, "the port is open")


def test_a_model_without_entailment_is_refused(tmp_path):
    write_model(tmp_path, ["good", "bad", "ugly"])
    with pytest.raises(VerificationError, match="no entailment"):
        judged(CrossEncoderClaimJudge(tmp_path), "the port is open")
