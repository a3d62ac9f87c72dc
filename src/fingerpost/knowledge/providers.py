"""How each provider of the table is switched on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fingerpost.config.providers import (
    ADDRESSES,
    RERANK_SERVER,
    SERPER,
    SYSTEM_ONE,
    Provider,
)
from fingerpost.knowledge.entry import Entry

PAGE: Final = "src/fingerpost/config/providers.py"
_ASK: Final = 'fingerpost ask ./docs "How do I rotate the signing key?"'


def setup_entries() -> Iterator[Entry]:
    """Yield an entry ``faq:setup-NAME`` for each provider, in the order of the table."""
    for provider in (*ADDRESSES, SYSTEM_ONE):
        yield Entry(
            f"faq:setup-{provider.name}",
            f"How do I set up {provider.title} in fingerpost?",
            _answer(provider),
            page=PAGE,
        )
    yield Entry(
        "faq:setup-rerank-server",
        f"How do I set up {RERANK_SERVER.title} in fingerpost?",
        "Give fingerpost the address of the reranker, and the model that it serves:\n\n"
        + _lines("export FINGERPOST_RERANK_BASE_URL=http://localhost:8000")
        + "\nSet `rerank_model` to the model's name, and `rerank_api_key` if it needs a key.\n",
        page=PAGE,
    )


def _answer(provider: Provider) -> str:
    if provider.name == "github":
        return (
            "Name the repositories in `github_repos`; public ones need no token. For private ones, "
            "and for more requests an hour, set a token in `GITHUB_TOKEN` or `GH_TOKEN`:\n\n"
        ) + _lines(f"export {provider.key_variable}=...")
    parts = [_switch(provider), *_models(provider)]
    if provider.url_variable:
        parts.append(f"`{provider.url_variable}` names another address than `{provider.base_url}`.")
    if provider is not SERPER:
        parts.append("`fingerpost doctor --call` asks it one word and says whether that works.")
    return f"{parts[0]}\n{' '.join(parts[1:])}\n"


def _switch(provider: Provider) -> str:
    """Return the sentence and the lines that switch it on."""
    name, title = provider.name, provider.title
    if provider.rerank_model:
        return f"Set the key of {title} and name it as the reranker of fingerpost:\n\n" + _lines(
            f"export {provider.key_variable}=...", f"export FINGERPOST_RERANK_PROVIDER={name}"
        )
    if provider is SERPER:
        return (
            f"Set the key of {title}, and the research pass of fingerpost may search the web; "
            "with `web_research` set to `always` it does so in every pass:\n\n"
        ) + _lines(f"export {provider.key_variable}=...")
    if provider is SYSTEM_ONE:
        return f"Give fingerpost the address of {title}:\n\n" + _lines(
            "export FINGERPOST_DECISION_BASE_URL=http://localhost:8000"
        )
    if name == "custom":
        return f"Give fingerpost the address of {title} and a model that it serves:\n\n" + _lines(
            "export FINGERPOST_BASE_URL=http://localhost:8000/v1",
            f"FINGERPOST_GENERATION_MODEL=qwen {_ASK}",
        )
    if not provider.key_variable:
        return f"{title} needs no key. Give fingerpost its address, and a model:\n\n" + _lines(
            f"export {provider.url_variable}={provider.base_url}",
            f"FINGERPOST_GENERATION_MODEL={provider.cheap_model} {_ASK}",
        )
    return f"Set the key of {title}, and fingerpost asks it from then on:\n\n" + _lines(
        f"export {provider.key_variable}=...", _ASK
    )


def _models(provider: Provider) -> Iterator[str]:
    if provider.api and provider.name != "custom":
        embeds = (
            f"and `{provider.embedding_model}` can make the embeddings"
            if provider.embedding_model
            else "and embeddings stay local"
        )
        yield (
            f"Unless you name others, `{provider.cheap_model}` classifies and writes T0 and T1 "
            f"answers, `{provider.strong_model}` writes T2 and T3 answers, {embeds}."
        )
    if provider.decision_model:
        how = (
            ""
            if provider.name in {"typesafe", "systemone"}
            else f" when `decision_provider` is `{provider.name}`"
        )
        yield f"`{provider.decision_model}` answers typed questions{how}."
    if provider.rerank_model:
        yield f"`{provider.rerank_model}` orders T2 and T3 hits unless you set `rerank_model`."


def _lines(*lines: str) -> str:
    return "```bash\n" + "\n".join(lines) + "\n```\n"
