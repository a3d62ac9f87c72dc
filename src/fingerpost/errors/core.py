"""The root of all errors, and those of settings, corpus, index, stages and requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # so that the command line's --help loads no types
    from fingerpost.types.document import SkippedFile


class FingerpostError(Exception):
    """Root of all errors of the product.

    Attributes:
        hint: What to do about it, empty when nothing can be said.
        retryable: The same call may succeed later.
        stage: Stage of the pipeline, empty outside it.
        query_id: The question it belongs to, empty outside one.
    """

    retryable: bool = False

    def __init__(
        self, message: str, *, hint: str = "", stage: str = "", query_id: str = ""
    ) -> None:
        """Keep the message for people and what to do about it."""
        super().__init__(message)
        self.hint = hint
        self.stage = stage
        self.query_id = query_id

    @property
    def advice(self) -> str:
        """The message, and what to do about it where that is known."""
        return f"{str(self).rstrip('.')}. {self.hint}" if self.hint else str(self)


class ConfigError(FingerpostError):
    """A setting has a value that is not allowed; the message names setting, value and rule."""


class UnknownSettingError(ConfigError):
    """A setting of that name does not exist; the hint offers the nearest known name."""


class MissingSecretError(ConfigError):
    """A key is needed and not set; the message names the variable, never a value."""


class MissingExtraError(ConfigError, ImportError):
    """An optional package is not installed; the hint is the command that installs it."""


class CorpusError(FingerpostError):
    """Documents could not be turned into an index."""


class DocumentReadError(CorpusError):
    """One document could not be read."""


class EmptyCorpusError(CorpusError):
    """The configured paths gave no chunk.

    Attributes:
        skipped: Each path or file that was tried, with the reason why it gave nothing.
    """

    def __init__(
        self, message: str, *, skipped: Sequence[SkippedFile] = (), hint: str = ""
    ) -> None:
        """Keep what was tried."""
        super().__init__(message, hint=hint)
        self.skipped = tuple(skipped)


class RepositoryError(CorpusError):
    """The documentation of a repository could not be fetched; the message names it."""


class RepositoryNotFoundError(RepositoryError):
    """The repository, or the branch, tag or commit of it, does not exist or is private."""


class RepositoryRefusedError(RepositoryError):
    """What a repository holds, or where it leads, is not safe to follow."""


class RepositoryTooLargeError(RepositoryError):
    """The repository takes more to fetch than ``max_repo_mb``."""


class RepositoryUnavailableError(RepositoryError):
    """The repository cannot be fetched now: no connection, a failing server, a rate limit.

    Attributes:
        wait_s: Seconds after which the server wants to be asked again, ``None`` when it did
            not say.
    """

    retryable = True

    def __init__(self, message: str, *, wait_s: float | None = None, hint: str = "") -> None:
        """Keep how long to wait."""
        super().__init__(message, hint=hint)
        self.wait_s = wait_s


class StoreError(FingerpostError):
    """The index could not be read or written."""


class StoreUnavailableError(StoreError):
    """The store cannot be reached or written now (no space, no rights, busy)."""

    retryable = True


class StoreConflictError(StoreError):
    """Another process is writing this index; the message names its owner."""

    retryable = True


class SchemaVersionError(StoreError):
    """The index was written by another version; the message says which and what to run."""


class IndexMismatchError(StoreError):
    """The index was built with another embedder, dimension or splitter, named field by field."""


class IndexCorruptError(StoreError):
    """The index is damaged; the message names the file and the command that cures it."""


class DecisionError(FingerpostError):
    """A decision was needed and could not be had."""


class RetrievalError(FingerpostError):
    """Every leg of retrieval failed."""


class GenerationError(FingerpostError):
    """No answer could be written."""


class VerificationError(FingerpostError):
    """A verification that was called alone failed."""


class EvaluationError(FingerpostError):
    """Evaluation data is not usable; the message names file and line."""


class DeadlineExceededError(FingerpostError):
    """The request's deadline passed.

    Attributes:
        elapsed_s: Seconds spent.
        deadline_s: Seconds allowed.
    """

    def __init__(
        self, message: str, *, elapsed_s: float, deadline_s: float, stage: str = ""
    ) -> None:
        """Keep how long it took and how long it might have taken."""
        super().__init__(message, stage=stage, hint="Raise the deadline or lower max_tier.")
        self.elapsed_s = elapsed_s
        self.deadline_s = deadline_s


class UsageError(FingerpostError, RuntimeError):
    """The API was used in a way that cannot work (closed router, sync call inside a loop)."""


class InvalidQueryError(UsageError, ValueError):
    """A request's argument is not usable (empty question, tier out of range)."""
