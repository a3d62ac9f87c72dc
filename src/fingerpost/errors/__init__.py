"""Every error that the product raises, in one tree.

::

    FingerpostError                    .hint  .retryable  .stage  .query_id
    |-- ConfigError
    |   |-- UnknownSettingError
    |   |-- MissingSecretError
    |   `-- MissingExtraError          also an ImportError
    |-- CorpusError
    |   |-- DocumentReadError
    |   |-- EmptyCorpusError
    |   `-- RepositoryError
    |       |-- RepositoryNotFoundError
    |       |-- RepositoryRefusedError
    |       |-- RepositoryTooLargeError
    |       `-- RepositoryUnavailableError  retryable; .wait_s
    |-- StoreError
    |   |-- StoreUnavailableError      retryable
    |   |-- StoreConflictError         retryable
    |   |-- SchemaVersionError
    |   |-- IndexMismatchError
    |   `-- IndexCorruptError
    |-- LaneError                      .usage already spent
    |   |-- ProviderError              .provider  .model  .status  .request_id
    |   |   |-- ProviderTimeoutError   retryable; .phase
    |   |   |-- ProviderUnreachableError  retryable: refused, DNS, reset
    |   |   |-- ProviderUnavailableError  retryable: 5xx
    |   |   |   `-- ProviderOverloadedError  529
    |   |   |-- ProviderConflictError  retryable: 409
    |   |   |-- ProviderTLSError
    |   |   |-- ProviderRedirectedError
    |   |   |-- RateLimitedError       retryable; .retry_after_s
    |   |   |-- QuotaError
    |   |   |-- AuthenticationError
    |   |   |-- ModelNotFoundError
    |   |   |-- RequestRejectedError
    |   |   |   |-- ContextTooLongError
    |   |   |   `-- RequestTooLargeError
    |   |   |-- RefusedError
    |   |   |-- BadResponseError
    |   |   |   |-- EmptyCompletionError
    |   |   |   |-- ResponseTooLargeError
    |   |   |   |-- InvalidDecisionResponseError
    |   |   |   `-- StreamTruncatedError  .text that had come
    |   |   `-- BadEmbeddingError      also an EmbeddingError
    |   |-- EmbeddingError
    |   |-- EmbeddingDriftError
    |   |-- MalformedOutputError
    |   |-- PageRefusedError
    |   |-- UnroutedModelError
    |   |-- BudgetExceededError        .spent_usd  .allowed_usd
    |   `-- LaneExhaustedError         .attempts, in order
    |-- MissingRecordingError
    |-- DecisionError
    |-- RetrievalError
    |-- GenerationError
    |-- VerificationError
    |-- EvaluationError
    |-- DeadlineExceededError
    `-- UsageError                     also a RuntimeError
        `-- InvalidQueryError          also a ValueError
"""

from fingerpost.errors.core import (
    ConfigError,
    CorpusError,
    DeadlineExceededError,
    DecisionError,
    DocumentReadError,
    EmptyCorpusError,
    EvaluationError,
    FingerpostError,
    GenerationError,
    IndexCorruptError,
    IndexMismatchError,
    InvalidQueryError,
    MissingExtraError,
    MissingSecretError,
    RepositoryError,
    RepositoryNotFoundError,
    RepositoryRefusedError,
    RepositoryTooLargeError,
    RepositoryUnavailableError,
    RetrievalError,
    SchemaVersionError,
    StoreConflictError,
    StoreError,
    StoreUnavailableError,
    UnknownSettingError,
    UsageError,
    VerificationError,
)
from fingerpost.errors.lanes import (
    AuthenticationError,
    BadEmbeddingError,
    BadResponseError,
    BudgetExceededError,
    ContextTooLongError,
    EmbeddingDriftError,
    EmbeddingError,
    EmptyCompletionError,
    InvalidDecisionResponseError,
    LaneError,
    LaneExhaustedError,
    MalformedOutputError,
    MissingRecordingError,
    ModelNotFoundError,
    PageRefusedError,
    ProviderConflictError,
    ProviderError,
    ProviderOverloadedError,
    ProviderRedirectedError,
    ProviderTimeoutError,
    ProviderTLSError,
    ProviderUnavailableError,
    ProviderUnreachableError,
    QuotaError,
    RateLimitedError,
    RefusedError,
    RequestRejectedError,
    RequestTooLargeError,
    ResponseTooLargeError,
    StreamTruncatedError,
    UnroutedModelError,
)

__all__ = [
    "AuthenticationError",
    "BadEmbeddingError",
    "BadResponseError",
    "BudgetExceededError",
    "ConfigError",
    "ContextTooLongError",
    "CorpusError",
    "DeadlineExceededError",
    "DecisionError",
    "DocumentReadError",
    "EmbeddingDriftError",
    "EmbeddingError",
    "EmptyCompletionError",
    "EmptyCorpusError",
    "EvaluationError",
    "FingerpostError",
    "GenerationError",
    "IndexCorruptError",
    "IndexMismatchError",
    "InvalidDecisionResponseError",
    "InvalidQueryError",
    "LaneError",
    "LaneExhaustedError",
    "MalformedOutputError",
    "MissingExtraError",
    "MissingRecordingError",
    "MissingSecretError",
    "ModelNotFoundError",
    "PageRefusedError",
    "ProviderConflictError",
    "ProviderError",
    "ProviderOverloadedError",
    "ProviderRedirectedError",
    "ProviderTLSError",
    "ProviderTimeoutError",
    "ProviderUnavailableError",
    "ProviderUnreachableError",
    "QuotaError",
    "RateLimitedError",
    "RefusedError",
    "RepositoryError",
    "RepositoryNotFoundError",
    "RepositoryRefusedError",
    "RepositoryTooLargeError",
    "RepositoryUnavailableError",
    "RequestRejectedError",
    "RequestTooLargeError",
    "ResponseTooLargeError",
    "RetrievalError",
    "SchemaVersionError",
    "StoreConflictError",
    "StoreError",
    "StoreUnavailableError",
    "StreamTruncatedError",
    "UnknownSettingError",
    "UnroutedModelError",
    "UsageError",
    "VerificationError",
]
