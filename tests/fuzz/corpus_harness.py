"""Prepares mutated or hostile documents and checks what comes of each (goal R9).

Run as a program: ``corpus_harness.py hostile`` or ``corpus_harness.py FIRST LAST``, a range of
seeds. It ends with the first fault, which names its seed, or prints the number of documents
and the peak of its memory in MiB.
"""

import random
import re
import resource
import sys
import time
from bisect import bisect_right
from pathlib import Path

from fingerpost.corpus import FileToPrepare, prepare_file
from fingerpost.corpus.decode import Undecodable, decode
from fingerpost.text.tokens import estimate_tokens

ROOT = Path(__file__).parents[2]
SEEDS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / "tests/data/corpus" / name for name in ("guide.md", "page.mdx")),
]
MAX_SEED_CHARS = 12_000
PIECES = [
    "```\n", "~~~\n", "<!--", "-->", "---\n", "+++\n", "# ", "> ", "| a | b |\n|---|---|\n", "\t",
    "    ", "<div>\n", "{", "}", "[", "](", "`", "*", "\r\n", "\r", "\ufeff", "\x0b", "\u2028",
    "\0", "&#x", "&a [*a]\n", "import x\n", "<Tabs\n", ":::\n", "- \n", "1. ", "\\", "é", "中",
    "<" * 300, "[" * 300, "`" * 300, "> " * 100, "- " * 100, "a" * 3000, "*_" * 300,
]  # fmt: skip
FRONT_MATTER = re.compile(
    r"\ufeff?(---|\+\+\+)[ \t]*[\r\n](?:.*[\r\n])?(?:\1|\.\.\.)[ \t]*(?:\r\n|\r|\n)?", re.DOTALL
)
MAX_S = 10.0


def hostile():
    """Yield name, file name and bytes of what makes parsers slow, deep, large or wrong."""
    yield "brackets that open links", "a.md", b"[" * 1_000_000
    yield "links within links", "a.md", b"[a](" * 200_000
    yield "emphasis that never closes", "a.md", b"*a _b " * 300_000
    yield "runs of backticks of every length", "a.md", b" ".join(b"`" * n for n in range(1, 2000))
    yield "comments and tags that never close", "a.md", b"<!-- x <a href='" * 100_000
    yield "quotes in quotes", "a.md", b"> " * 50_000 + b"deep\n"
    yield "lists in lists", "a.md", b"".join(b"  " * n + b"- deep\n" for n in range(800))
    yield "definitions of one name", "a.md", b"[a]: /b\n" * 100_000 + b"[a] " * 100_000
    yield (
        "a table with ten thousand columns",
        "a.md",
        b"|a" * 10_000 + b"\n" + b"|-" * 10_000 + b"\n" + b"|b" * 10_000,
    )
    yield "ten megabytes on one line", "a.md", b"word " * (2 * 1024**2)
    yield "ten megabytes without a blank", "a.md", b"a" * (10 * 1024**2)
    yield "a quarter of a million headings", "a.md", b"# h\n" * 250_000
    yield "an alias bomb", "a.md", _bomb()
    yield "brackets in front matter", "a.md", b"---\nt: " + b"[" * 5000 + b"\n---\ntext\n"
    yield (
        "types of YAML",
        "a.md",
        b"---\nversion: 1.10\nno: no\nat: 12:30:45\n? [a]\n: b\n---\ntext\n",
    )
    yield "exports of MDX that never close", "a.mdx", b"export const a = {\n" * 50_000 + b"\ntext\n"
    yield "tags of MDX that never close", "a.mdx", b"<Tabs {\n\n" * 20_000 + b"text\n"
    yield "entities", "a.md", b"&#x110000; &#0; &amp" * 100_000
    yield "NUL behind the first bytes", "a.md", b"text\n" * 3000 + b"\0" * 100_000 + b"text\n"
    yield (
        "UTF-16 with halves of characters",
        "a.md",
        b"\xff\xfe" + b"a\x00b\x00 \x00\x00\xd8" * 50_000,
    )
    yield "Latin-1", "a.md", "Größe der Tür\n".encode("latin-1") * 20_000


def _bomb():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    return ("---\n" + "\n".join(lines) + "\n---\ntext\n").encode()


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


def mutation(seed):
    """Return name, file name and bytes of one mutated document of ours."""
    rng = random.Random(seed)
    path = rng.choice(SEEDS)
    text = path.read_text(encoding="utf-8")
    at = rng.randrange(max(1, len(text) - MAX_SEED_CHARS)) if rng.random() < 0.5 else 0
    raw = mutated(text[at : at + MAX_SEED_CHARS], rng).encode()
    if rng.random() < 0.2:
        at = rng.randrange(len(raw))
        raw = raw[:at] + bytes([rng.randrange(128, 256)]) + raw[at:]
    return f"seed {seed}", path.name, raw


def check(path, raw):
    """Check that a document lost no character and that every place says what it holds."""
    started = time.process_time()
    outcome = prepare_file(FileToPrepare(raw, "docs", path))
    assert time.process_time() - started < MAX_S, "slow"
    decoded = decode(raw)
    if isinstance(decoded, Undecodable):
        assert outcome == decoded
        assert b"\0" in raw[:8192]
        return
    text = decoded.text
    chunks = outcome.document.chunks
    at = chunks[0].span.start if chunks else len(text)
    before = text[:at]
    assert not before.strip("\ufeff \r\n") or FRONT_MATTER.fullmatch(before), before[:80]
    starts = [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", text))]
    for chunk in chunks:
        assert chunk.span.start == at
        assert text[at : chunk.span.end] == chunk.text
        at = chunk.span.end
        assert estimate_tokens(chunk.search_text) <= 220
        assert chunk.line_start == bisect_right(starts, chunk.span.start)
        assert chunk.line_start <= chunk.line_end <= len(starts)
    assert at == len(text)


def peak_mib():
    """Return the peak of this process; that of `getrusage` holds the process that started it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    (peak,) = re.findall(r"^VmHWM:\s+(\d+) kB$", status.read_text(), re.MULTILINE)
    return int(peak) // 1024


def main():
    cases = list(hostile()) if sys.argv[1] == "hostile" else None
    if cases is None:
        cases = [mutation(seed) for seed in range(int(sys.argv[1]), int(sys.argv[2]))]
    for name, path, raw in cases:
        try:
            check(path, raw)
        except BaseException as error:
            raise SystemExit(f"{name}: {type(error).__name__}: {error}") from error
    sys.stdout.write(f"{len(cases)} documents, {peak_mib()} MiB\n")


if __name__ == "__main__":
    main()
