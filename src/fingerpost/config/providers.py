"""The providers: their variables, addresses and models, as one dated table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

CHECKED_ON: Final = "2026-11-30"
"""When the names of models below were last held against what the vendors publish."""

OPENROUTER_PREFIX: Final = "openai/"
"""How OpenRouter names the models of OpenAI."""
LOCAL_MODELS: Final = ("minilm", "use")
"""Embedding models that run in this process."""


@dataclass(frozen=True, slots=True)
class Provider:
    """One vendor or server, and what is taken from it unless the settings say otherwise.

    Attributes:
        name: What settings call it.
        title: What people call it.
        api: API shape of its chat: ``openai``, ``anthropic``, ``gemini`` or ``ollama``; empty
            when it serves none.
        key_variable: Variable of its key; empty for a server that needs none.
        base_url: Its own address; empty where there is none.
        cheap_model: Classifies and writes T0 and T1 answers.
        strong_model: Writes T2 and T3 answers.
        embedding_model: ``None`` when it publishes none.
        decision_api: API shape of its decisions: ``systemone``, ``openai`` or ``gemini``; empty
            when it serves none.
        decision_model: Answers typed questions; empty when it serves none.
        rerank_api: API shape of its rerankers: ``cohere``, ``jina`` or ``voyage``; empty when it
            serves none.
        rerank_model: Reranks; empty when it serves none, or nobody knows which.
        chooses_models: Its operator decides which models there are, so a model that the
            settings name for one job stands for the others too.
    """

    name: str
    title: str
    api: str
    key_variable: str
    base_url: str
    cheap_model: str
    strong_model: str
    embedding_model: str | None = None
    decision_api: str = ""
    decision_model: str = ""
    rerank_api: str = ""
    rerank_model: str = ""
    chooses_models: bool = False

    @property
    def url_variable(self) -> str:
        """Variable of its address, ``OPENAI_BASE_URL``; empty where it has no address."""
        return f"{self.name.upper()}_BASE_URL" if self.base_url else ""

    def model_for(self, job: str) -> str:
        """Return the chat model for ``classify``, ``generate`` or ``generate_deep``."""
        return self.strong_model if job == "generate_deep" else self.cheap_model


PROVIDERS: Final = (
    Provider(
        name="openai",
        title="OpenAI",
        api="openai",
        key_variable="OPENAI_API_KEY",
        base_url="https://api.openai.com/v1",
        cheap_model="gpt-4o-mini",
        strong_model="gpt-4o",
        embedding_model="text-embedding-3-small",
        decision_api="openai",
        decision_model="gpt-6-luna",
    ),
    Provider(
        name="anthropic",
        title="Anthropic",
        api="anthropic",
        key_variable="ANTHROPIC_API_KEY",
        base_url="https://api.anthropic.com",
        cheap_model="claude-haiku-5-5",
        strong_model="claude-sonnet-5-5",
    ),
    Provider(
        name="gemini",
        title="Google Gemini",
        api="gemini",
        key_variable="GEMINI_API_KEY",
        base_url="https://generativelanguage.googleapis.com",
        cheap_model="gemini-3.5-flash-lite",
        strong_model="gemini-3.8-flash",
        embedding_model="gemini-embedding-2",
        decision_api="gemini",
        decision_model="gemini-decision-1",
    ),
    Provider(
        name="groq",
        title="Groq",
        api="openai",
        key_variable="GROQ_API_KEY",
        base_url="https://api.groq.com/openai/v1",
        cheap_model="openai/gpt-oss-20b",
        strong_model="openai/gpt-oss-120b",
    ),
    Provider(
        name="together",
        title="Together AI",
        api="openai",
        key_variable="TOGETHER_API_KEY",
        base_url="https://api.together.xyz/v1",
        cheap_model="openai/gpt-oss-20b",
        strong_model="openai/gpt-oss-120b",
        embedding_model="intfloat/multilingual-e5-large-instruct",
    ),
    Provider(
        name="mistral",
        title="Mistral AI",
        api="openai",
        key_variable="MISTRAL_API_KEY",
        base_url="https://api.mistral.ai/v1",
        cheap_model="mistral-small-latest",
        strong_model="mistral-large-latest",
        embedding_model="mistral-embed",
    ),
    Provider(
        name="xai",
        title="xAI",
        api="openai",
        key_variable="XAI_API_KEY",
        base_url="https://api.x.ai/v1",
        cheap_model="grok-4.3",
        strong_model="grok-4.7",
    ),
    Provider(
        name="minimax",
        title="MiniMax",
        api="openai",
        key_variable="MINIMAX_API_KEY",
        base_url="https://api.minimax.io/v1",
        cheap_model="MiniMax-M3.1-Flash",
        strong_model="MiniMax-M3.1-Flash",
    ),
    Provider(
        name="openrouter",
        title="OpenRouter",
        api="openai",
        key_variable="OPENROUTER_API_KEY",
        base_url="https://openrouter.ai/api/v1",
        cheap_model="openai/gpt-6-luna",
        strong_model="anthropic/claude-sonnet-5.5",
        embedding_model="openai/text-embedding-3-small",
        decision_api="systemone",
        decision_model="typesafe/jev-1.14",
    ),
    Provider(
        name="ollama",
        title="Ollama",
        api="ollama",
        key_variable="",
        base_url="http://localhost:11434",
        cheap_model="llama3.2",
        strong_model="llama3.2",
        embedding_model="nomic-embed-text",
        decision_api="systemone",
        decision_model="nimble",
        chooses_models=True,
    ),
    Provider(
        name="custom",
        title="any OpenAI-compatible server",
        api="openai",
        key_variable="",
        base_url="",
        cheap_model="default",
        strong_model="default",
        chooses_models=True,
    ),
)
"""In the order in which their keys are looked for; an aggregator after every vendor."""

BY_NAME: Final = {provider.name: provider for provider in PROVIDERS}
TYPESAFE: Final = Provider(
    name="typesafe",
    title="TypeSafe",
    api="",
    key_variable="TYPESAFE_API_KEY",
    base_url="https://api.typesafe.ai",
    cheap_model="",
    strong_model="",
    decision_api="systemone",
    decision_model="jev-latest",
)
SYSTEM_ONE: Final = Provider(
    name="systemone",
    title="any System One server",
    api="",
    key_variable="",
    base_url="",
    cheap_model="",
    strong_model="",
    decision_api="systemone",
    decision_model="jev-latest",
)
_RERANK_VENDORS: Final = tuple(
    Provider(
        name=name,
        title=title,
        api="",
        key_variable=f"{name.upper()}_API_KEY",
        base_url=base_url,
        cheap_model="",
        strong_model="",
        rerank_api=name,
        rerank_model=model,
    )
    for name, title, base_url, model in (
        ("cohere", "Cohere", "https://api.cohere.com", "rerank-v4.0-fast"),
        ("jina", "Jina AI", "https://api.jina.ai", "jina-reranker-v3"),
        ("voyage", "Voyage AI", "https://api.voyageai.com", "rerank-2.5"),
    )
)
RERANK_SERVER: Final = Provider(
    name="custom",
    title="any server with POST /v1/rerank",
    api="",
    key_variable="",
    base_url="",
    cheap_model="",
    strong_model="",
    rerank_api="jina",
)
SERPER: Final = Provider(
    name="serper",
    title="Serper",
    api="",
    key_variable="SERPER_API_KEY",
    base_url="https://google.serper.dev",
    cheap_model="",
    strong_model="",
)
"""Searches the web."""
GITHUB: Final = Provider(
    name="github",
    title="GitHub",
    api="",
    key_variable="GITHUB_TOKEN",
    base_url="https://api.github.com",
    cheap_model="",
    strong_model="",
)
"""Has repositories."""
ADDRESSES: Final = (*PROVIDERS, TYPESAFE, *_RERANK_VENDORS, SERPER, GITHUB)
"""Whoever has an address of its own."""
DECIDERS: Final = {
    provider.name: provider
    for provider in (TYPESAFE, *(p for p in PROVIDERS if p.decision_model), SYSTEM_ONE)
}
"""Those that serve decision models."""
RERANKERS: Final = {provider.name: provider for provider in (*_RERANK_VENDORS, RERANK_SERVER)}
"""Those that serve rerankers."""
LLM_NAMES: Final = (*BY_NAME, "none")
EMBEDDING_NAMES: Final = (*BY_NAME, "local", "none")
DECISION_NAMES: Final = (*DECIDERS, "local", "chat", "none")
RERANK_NAMES: Final = (*RERANKERS, "cross-encoder", "chat", "decision", "none")
DECISION_FAILOVER_NAMES: Final = tuple(name for name in DECIDERS if name != "systemone")
FAILOVER_NAMES: Final = tuple(name for name in BY_NAME if name != "custom")
