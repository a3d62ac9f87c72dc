"""What a model is to the rest of the product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class EmbeddingModel(Protocol):
    """Turns text into vectors. Thread-safe; calls release the GIL where they can.

    Attributes:
        name: Provider and model, ``local/minilm-l6-v2-int8``.
        revision: Changes whenever the same text may get another vector (a hash of the
            weights for local models).
        dimension: Length of each vector.
        max_tokens: Longest text that is embedded without being cut.
        languages: ISO 639-1 codes it was made for.
    """

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def max_tokens(self) -> int: ...
    @property
    def languages(self) -> frozenset[str]: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit-length vector per text, in order: shape (len(texts), dimension).

        An empty text gets a vector like any other. The vector of a text does not depend on
        the others in the call.

        Raises:
            EmbeddingError: No usable vector (wrong dimension, NaN).
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens the model sees for ``text``, special tokens excluded."""
        ...
