"""What every system is given: the same chunks and questions, and vectors that cost nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

K = 10
Search = Callable[[str], Sequence[object]]
Choose = Callable[[str], tuple[str | None, str | None]]
"""A question to the source that was chosen, ``None`` for none, and the likeliest source."""
Source = dict[str, Any]


class Known:
    """Vectors by text, looked up: an embedding model that answers at once.

    With a model, unknown texts are embedded by it and remembered.
    """

    languages = frozenset({"en"})

    def __init__(self, model: Any = None) -> None:
        self.name: str = model.name if model else "known"
        self.revision: str = model.revision if model else "known"
        self._model = model
        self._rows: dict[str, Any] = {}

    @property
    def dimension(self) -> int:
        """Return the length of each vector; without a model at least one text is known."""
        return int(self._model.dimension if self._model else len(next(iter(self._rows.values()))))

    def embed(self, texts: Sequence[str]) -> Any:
        """Return one row per text: shape (len(texts), dimension), float32."""
        import numpy as np

        if self._model is not None:
            for text in texts:
                if text not in self._rows:
                    self._rows[text] = self._model.embed([text])[0]
        return np.stack([self._rows[text] for text in texts])

    def lists(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the rows as the lists of floats that most interfaces want."""
        rows: list[list[float]] = self.embed(texts).tolist()
        return rows

    def add(self, texts: Iterable[str], rows: Any) -> None:
        """Know these texts too; a text that is known already keeps its vector."""
        for text, row in zip(texts, rows, strict=True):
            self._rows.setdefault(text, row)

    def keep_only(self, texts: Iterable[str]) -> None:
        """Let go of the vectors of all other texts."""
        self._rows = {text: self._rows[text].copy() for text in texts}

    def save(self, path: Path) -> None:
        """Write texts and vectors beside each other."""
        import numpy as np

        write_json(path.with_suffix(".json"), list(self._rows))
        np.save(path.with_suffix(".npy"), np.stack(list(self._rows.values())))

    @classmethod
    def load(cls, path: Path) -> Known:
        """Read what `save` wrote."""
        import numpy as np

        known = cls()
        known.add(read_json(path.with_suffix(".json")), np.load(path.with_suffix(".npy")))
        return known


class Given:
    """A folder that was prepared, as one system sees it.

    Attributes:
        folder: Where the tree and the index of fingerpost are.
        closing: Ends what a search holds open.
        questions: Headings of the tree.
        known: Vectors of the questions, and of the texts where they are read.
        texts: The chunks with the headings above each; empty unless they are read.
    """

    def __init__(self, folder: Path, closing: ExitStack) -> None:
        self.folder = folder
        self.closing = closing
        self.known = Known.load(folder / "questions")
        self.questions: list[str] = read_json(folder / "questions.json")
        self.texts: list[str] = []

    def read_texts(self) -> None:
        """Read the chunks and their vectors."""
        import numpy as np

        self.texts = read_json(self.folder / "texts.json")
        self.known.add(self.texts, np.load(self.folder / "texts.npy"))

    def forget_texts(self) -> None:
        """Let go of the chunks, so that only what the system itself holds is counted."""
        self.texts = []
        self.known.keep_only(self.questions)


def said_of(source: Source) -> list[str]:
    """Return what describes a source: its example intents as words, or else its heading."""
    intents = [intent.replace("_", " ") for intent in source.get("intents", ())]
    heading = ": ".join(source[key] for key in ("name", "description") if source.get(key))
    return intents or [heading]


def read_json(path: Path) -> Any:
    """Return the value in a file."""
    return json.loads(path.read_text(encoding="utf-8"))


def write_json(path: Path, value: object) -> None:
    """Write a value."""
    path.write_text(json.dumps(value), encoding="utf-8")
