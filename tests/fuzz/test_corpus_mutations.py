"""A thousand mutated documents: no crash, no loss, no slow one (goal R9)."""

import random
import time
from pathlib import Path

import pytest

from fingerpost.corpus import FileToPrepare, prepare_file
from fingerpost.corpus.decode import decode
from fingerpost.text.tokens import estimate_tokens

DATA = Path(__file__).parents[1] / "data/corpus"
SEEDS = sorted(path for path in DATA.iterdir() if path.name in ("guide.md", "page.mdx"))
PIECES = [
    "```\n", "~~~\n", "<!--", "-->", "---\n", "+++\n", "# ", "> ", "| a | b |\n|---|---|\n", "\t",
    "    ", "<div>\n", "{", "}", "[", "](", "`", "*", "\r\n", "\r", "\ufeff", "\x0b", "\u2028",
    "\0", "&#x", "&a [*a]\n", "import x\n", "<Tabs\n", ":::\n", "- \n", "1. ", "\\", "é", "中",
    "<" * 300, "[" * 300, "`" * 300, "> " * 100, "- " * 100, "a" * 3000, "*_" * 300,
]  # fmt: skip


def mutated(text, rng):
    for _ in range(rng.randint(1, 12)):
        at, to = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        kind = rng.randrange(6)
        if kind == 0:
            text = text[:at] + text[min(to, at + 80) :]
        elif kind == 1:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif kind == 2:
            text = text[:to] + text[at:to][:400] + text[to:]
        elif kind == 3:
            lines = text.split("\n")
            rng.shuffle(lines)
            text = "\n".join(lines)
        elif kind == 4:
            text = text.replace("\n", rng.choice(["\r\n", "\r", "\n\n", "\n  "]))
        else:
            text = text[:at] + chr(rng.choice([0x7F, 0x3000, 0xFFFD, 0x1F600])) + text[at:]
    return text


@pytest.mark.parametrize("block", range(10))
def test_a_hundred_mutated_documents_lose_nothing(block):
    for number in range(100):
        seed = block * 100 + number
        rng = random.Random(seed)
        path = rng.choice(SEEDS)
        raw = mutated(path.read_text(), rng).encode()
        if rng.random() < 0.2:
            at = rng.randrange(len(raw))
            raw = raw[:at] + bytes([rng.randrange(128, 256)]) + raw[at:]
        started = time.process_time()
        outcome = prepare_file(FileToPrepare(raw, "docs", path.name))
        assert time.process_time() - started < 5, seed
        if b"\0" in raw[:8192]:
            assert outcome.reason == "binary", seed
            continue
        text = decode(raw).text
        chunks = outcome.document.chunks
        joined = "".join(chunk.text for chunk in chunks)
        assert text.endswith(joined), seed
        before = text[: len(text) - len(joined)]
        assert not before.strip("\ufeff \r\n") or before.lstrip("\ufeff")[:3] in ("---", "+++"), (
            seed
        )
        for chunk in chunks:
            assert text[chunk.span.start : chunk.span.end] == chunk.text, seed
            assert estimate_tokens(chunk.search_text) <= 220, seed
