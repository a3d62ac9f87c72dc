"""The tantivy index over our own analyser's tokens, as a reader sees it."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import tantivy

from fingerpost.stores.base import WordQuery

WORDS_FOLDER = "words"
TEXT, TRAIL, KEY, DOC = "text", "trail", "key", "doc"
MARKER, TOKEN, BASE = "marker", "token", "base"
TOKENIZER = "blank"
META_FILE = "meta.json"
MAX_TOKENS = 256
_SLACK = 16
_FOOTER_MAGIC = 1337
_CRC_STEP = 1 << 20


class WordsDamagedError(Exception):
    """The word index cannot be used; it is derived and can be built again."""


def words_schema() -> tantivy.Schema:
    """Return the fields of the word index."""
    builder = tantivy.SchemaBuilder()
    for name in (KEY, DOC, MARKER, TOKEN, BASE):
        builder.add_unsigned_field(name, indexed=name not in (TOKEN, BASE), fast=True)
    for name in (TEXT, TRAIL):
        builder.add_text_field(name, tokenizer_name=TOKENIZER, index_option="freq")
    return builder.build()


def open_index(folder: Path) -> tantivy.Index:
    """Open a word index that is there, with our tokenizer and no watching thread."""
    with damaged_on_failure():
        index = tantivy.Index.open(str(folder))
        register_tokenizer(index)
        index.config_reader("manual")
    return index


def read_only_searcher(folder: Path) -> WordSearcher:
    """Return the last state of an index in a folder where tantivy may not put its locks.

    It is opened through links in a folder of its own, which goes away at once: what was
    opened stays open.
    """
    with damaged_on_failure(), tempfile.TemporaryDirectory(prefix="fingerpost-") as name:
        shadow = Path(name)
        shutil.copyfile(folder / META_FILE, shadow / META_FILE)
        for path in folder.iterdir():
            if path.name != META_FILE and not path.name.endswith(".lock"):
                (shadow / path.name).symlink_to(path.absolute())
        return WordSearcher(open_index(shadow))


def register_tokenizer(index: tantivy.Index) -> None:
    """Teach an index that tokens are separated by blanks."""
    blank = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer(TOKENIZER, blank)


@contextmanager
def damaged_on_failure() -> Iterator[None]:
    """Translate what tantivy raises, panics of its Rust code among them."""
    try:
        yield
    except WordsDamagedError:
        raise
    except Exception as error:
        raise WordsDamagedError(str(error)) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise WordsDamagedError(str(error)) from error


def check_files(folder: Path, checked: set[str]) -> None:
    """Compare every segment file with the checksum in its footer, each once.

    Raises:
        WordsDamagedError: A file is missing, cut or changed, or was made with other fields.
    """
    try:
        meta = json.loads((folder / META_FILE).read_bytes())
        prefixes = {segment["segment_id"].replace("-", "") for segment in meta["segments"]}
        fields = {(field["name"], field["type"]) for field in meta["schema"]}
        tokenizers = {
            field["options"]["indexing"]["tokenizer"]
            for field in meta["schema"]
            if field["type"] == "text"
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise WordsDamagedError(f"{META_FILE}: {error}") from error
    expected = {(name, "u64") for name in (KEY, DOC, MARKER, TOKEN, BASE)}
    if fields != expected | {(TEXT, "text"), (TRAIL, "text")} or tokenizers != {TOKENIZER}:
        raise WordsDamagedError(f"{META_FILE} names other fields")
    try:
        for path in sorted(folder.iterdir()):
            if path.name.partition(".")[0] in prefixes and path.name not in checked:
                with contextlib.suppress(FileNotFoundError):  # merged away; opening will tell
                    _check_footer(path)
                    checked.add(path.name)
    except OSError as error:
        raise WordsDamagedError(str(error)) from error


def _check_footer(path: Path) -> None:
    """Check one file: body, JSON footer with its CRC-32, footer length, magic number."""
    crc = 0
    with path.open("rb") as file:
        size = path.stat().st_size
        tail = min(size, 4096)
        file.seek(size - tail)
        end = file.read(tail)
        length = int.from_bytes(end[-8:-4], "little")
        if int.from_bytes(end[-4:], "little") != _FOOTER_MAGIC or length > len(end) - 8:
            raise WordsDamagedError(f"{path.name} is cut")
        try:
            expected = json.loads(end[-8 - length : -8])["crc"]
        except (ValueError, KeyError, TypeError) as error:
            raise WordsDamagedError(f"{path.name} has no footer") from error
        file.seek(0)
        left = size - 8 - length
        while left > 0:
            block = file.read(min(_CRC_STEP, left))
            if not block:
                break
            crc = zlib.crc32(block, crc)
            left -= len(block)
    if left or crc != expected:
        raise WordsDamagedError(f"{path.name} does not match its checksum")


@dataclass(frozen=True, slots=True)
class Within:
    """What a lexical search is limited to.

    Attributes:
        accepts: Tells for chunk keys which ones may be returned.
        first_key: No accepted key is below.
        last_key: No accepted key is above.
        share: Part of the keys between them that is accepted, 0 to 1.
        docs: The document keys that hold all accepted chunks, when they are few.
    """

    accepts: Callable[[Sequence[int]], Sequence[bool]]
    first_key: int = 0
    last_key: int = -1
    share: float = 1.0
    docs: Sequence[int] | None = None


class WordSearcher:
    """One committed state of the word index. Thread-safe."""

    def __init__(self, index: tantivy.Index) -> None:
        self._schema = index.schema
        with damaged_on_failure():
            self._searcher = index.searcher()
            self.n_docs = self._searcher.num_docs
            self.token, self.base = self._marker()

    def _marker(self) -> tuple[int, int]:
        query = tantivy.Query.term_query(self._schema, MARKER, 1)
        hits = self._searcher.search(query, 1, count=False).hits
        if not hits:
            return 0, 0
        addresses = [address for _, address in hits]
        token = self._searcher.fast_field_values(TOKEN, addresses)[0]
        base = self._searcher.fast_field_values(BASE, addresses)[0]
        return int(token or 0), int(base or 0)

    def holds(self, words_token: int) -> bool:
        """Return whether every chunk of a generation is in here (others may be too)."""
        return words_token in (self.token, self.base)

    def search(self, query: WordQuery, k: int, within: Within) -> list[tuple[int, float]]:
        """Return up to ``k`` accepted (chunk key, score), best first, ties by key."""
        lexical = self._lexical(query)
        if lexical is None or k <= 0 or self.n_docs == 0:
            return []
        limited = self._limited(lexical, within)
        limit = min(self.n_docs, int((k + _SLACK) / max(within.share, 1e-3)) + _SLACK)
        while True:
            with damaged_on_failure():
                hits = self._searcher.search(limited, limit, count=False).hits
                keys = self._searcher.fast_field_values(KEY, [address for _, address in hits])
            kept = [
                (int(key or 0), float(score))
                for key, (score, _), accepted in zip(
                    keys, hits, within.accepts([int(key or 0) for key in keys]), strict=True
                )
                if accepted and score > 0
            ]
            complete = len(hits) < limit or limit >= self.n_docs
            if complete or (len(kept) > k and kept[k - 1][1] > float(hits[-1][0])):
                kept.sort(key=lambda item: (-item[1], item[0]))
                return kept[:k]
            limit = min(self.n_docs, limit * 4)

    def frequency(self, token: str, dead_docs: Sequence[int], next_key: int) -> int:
        """Return in how many chunks a token stands.

        Those of ``dead_docs`` and those from ``next_key`` on are not counted; a ``next_key`` of
        0 says that there are none.
        """
        parts = self._terms(token, {TEXT: 1.0, TRAIL: 1.0})
        if not parts:
            return 0
        with damaged_on_failure():
            query = tantivy.Query.boolean_query([(tantivy.Occur.Should, part) for part in parts])
            clauses = [(tantivy.Occur.Must, query)]
            if next_key:
                hidden = tantivy.Query.range_query(
                    self._schema, KEY, tantivy.FieldType.Unsigned, lower_bound=next_key
                )
                clauses.append((tantivy.Occur.MustNot, hidden))
            if dead_docs:
                dead = tantivy.Query.term_set_query(self._schema, DOC, list(dead_docs))
                clauses.append((tantivy.Occur.MustNot, dead))
            if len(clauses) > 1:
                query = tantivy.Query.boolean_query(clauses)
            result = self._searcher.search(query, 1, count=True)
            return int(getattr(result, "count", 0) or 0)

    def _terms(self, token: str, weights: dict[str, float]) -> list[tantivy.Query]:
        try:
            token.encode()
        except UnicodeEncodeError:
            return []
        parts = []
        for name, weight in weights.items():
            if weight > 0:
                term = tantivy.Query.term_query(self._schema, name, token)
                parts.append(tantivy.Query.boost_query(term, weight))
        return parts

    def _lexical(self, query: WordQuery) -> tantivy.Query | None:
        strongest = sorted(query.tokens.items(), key=lambda item: (-item[1], item[0]))
        parts = [
            part
            for token, weight in strongest[:MAX_TOKENS]
            for part in self._terms(token, {TEXT: weight, TRAIL: weight * query.trail_weight})
        ]
        if not parts:
            return None
        return tantivy.Query.boolean_query([(tantivy.Occur.Should, part) for part in parts])

    def _limited(self, lexical: tantivy.Query, within: Within) -> tantivy.Query:
        if within.docs is not None:
            limit = tantivy.Query.term_set_query(self._schema, DOC, list(within.docs))
        elif within.last_key >= within.first_key > 0:
            limit = tantivy.Query.range_query(
                self._schema,
                KEY,
                tantivy.FieldType.Unsigned,
                within.first_key,
                within.last_key,
            )
        else:
            return lexical
        unscored = tantivy.Query.const_score_query(limit, 0.0)
        return tantivy.Query.boolean_query(
            [(tantivy.Occur.Must, lexical), (tantivy.Occur.Must, unscored)]
        )
