"""Law 1 and law 2 over every combination: no rule sends one vendor's key to another.

The judge below knows nothing of the rules: only which server belongs to whom, and which vendor the
settings name.
"""

import itertools
from urllib.parse import urlsplit

import pytest

from fingerpost.config.credentials import CHAT_JOBS, resolve_credentials
from fingerpost.config.endpoint import Endpoint
from fingerpost.config.load import validate
from fingerpost.config.providers import PROVIDERS
from fingerpost.errors import ConfigError

VENDORS = [p for p in PROVIDERS if p.key_variable]
SERVER = {p.name: f"http://{p.name}.test:8000" for p in PROVIDERS if p.name != "custom"}
URLS = {p.url_variable: SERVER[p.name] for p in PROVIDERS if p.name in SERVER}
KEYS = {p.key_variable: f"canary-{p.name}" for p in VENDORS}
MINE, EMBEDDING = "canary-api-key", "canary-embedding-api-key"

EXPLICIT = {
    "classifier_provider": [None, "groq", "none"],
    "generation_provider": [None, "openai", "groq", "ollama", "custom"],
    "embedding_provider": [None, "openai", "gemini", "minimax", "local"],
    "api_key": [None, MINE],
    "base_url": [None, "http://own.example/v1", f"{SERVER['groq']}/v1"],
    "embedding_api_key": [None, EMBEDDING],
    "embedding_base_url": [None, "http://embed.example", SERVER["gemini"]],
}


def configs(explicit):
    """Every combination of the values, the failover of every second one switched on."""
    for number, values in enumerate(itertools.product(*explicit.values())):
        given = dict(zip(explicit, values, strict=True))
        if given.get("embedding_provider") != "local":
            given["embedding_model"] = "m"
        if number % 2:
            given["failover_providers"] = ("groq", "gemini/g")
        yield given, validate({"knowledge_corpus": ["docs"], **given})


def endpoints(found):
    """Role and endpoint of everything that is sent anywhere."""
    chat = (found.classifier, found.generator, found.generator_deep)
    for job, endpoint in zip(CHAT_JOBS, chat, strict=True):
        if endpoint:
            yield job, endpoint
        for other in found.failover[job]:
            yield "failover", other
    if isinstance(found.embedding, Endpoint):
        yield "embed", found.embedding


def owner(endpoint):
    host = urlsplit(endpoint.base_url).hostname
    name, _, rest = host.partition(".")
    return name if rest == "test" else None


def foreign(given, environ, found):
    """What goes where it does not belong.

    At an address that is nobody's, the key of a provider that the settings name, or of the first
    one where they name none, is at home: whoever gave the address gave it for that provider.
    """
    keyed = [p for p in PROVIDERS if environ.get(p.key_variable)]
    named = {p.name for p in (keyed[:1] + [p for p in keyed if p.embedding_model][:1])} | {
        given.get(f"{role}_provider") for role in ("classifier", "generation", "embedding")
    } - {None}
    wrong, shared = [], set()
    for role, endpoint in endpoints(found):
        key = endpoint.key.reveal() if endpoint.key else None
        if key == MINE:
            shared.add(
                urlsplit(endpoint.base_url).netloc if given["base_url"] else endpoint.provider
            )
            belongs = role != "failover"
        elif key == EMBEDDING:
            belongs = role == "embed"
        elif key is not None:
            vendor = key.removeprefix("canary-")
            belongs = owner(endpoint) == vendor or (owner(endpoint) is None and vendor in named)
        else:
            belongs = endpoint.key_name == ""
        if not belongs:
            wrong.append((role, endpoint.provider, endpoint.base_url, endpoint.key_name))
    if len(shared) > 1:
        wrong.append(("api_key", *sorted(shared)))
    return wrong


def check(explicit, environs):
    """Return how many combinations were resolved, how many refused, and what leaked."""
    resolved, refused, leaks = 0, 0, []
    for given, config in configs(explicit):
        for environ in environs:
            try:
                found = resolve_credentials(config, environ)
            except ConfigError:
                refused += 1
                continue
            resolved += 1
            leaks += [(given, sorted(environ), leak) for leak in foreign(given, environ, found)]
    return resolved, refused, leaks


def test_no_key_leaves_for_another_vendor_whatever_the_settings_say():
    environs = [URLS, {**URLS, **KEYS}, *({**URLS, name: key} for name, key in KEYS.items())]
    resolved, refused, leaks = check(EXPLICIT, environs)
    assert leaks == []
    assert resolved + refused == 2700 * 11
    assert resolved > 12_000


def test_no_key_leaves_for_another_vendor_whatever_variables_are_set():
    subsets = [
        {**URLS, **dict(some)}
        for size in range(len(KEYS) + 1)
        for some in itertools.combinations(KEYS.items(), size)
    ]
    few = {
        **{name: [None] for name in EXPLICIT},
        "generation_provider": [None, "openai", "xai"],
        "embedding_provider": [None, "openai"],
        "api_key": [None, MINE],
        "base_url": [None, "http://own.example/v1"],
    }
    resolved, refused, leaks = check(few, subsets)
    assert leaks == []
    assert resolved + refused == 512 * 24
    assert resolved > 8_000


def test_a_blank_variable_is_as_if_it_were_not_set():
    config = validate({"knowledge_corpus": ["docs"]})
    names = [*KEYS, *URLS]
    values = {**KEYS, **URLS}
    for number in range(2 ** len(names)):
        if number % 37:  # a sample spread over all of them, about 28,000 of a million
            continue
        unset = [name for place, name in enumerate(names) if number >> place & 1]
        blank = {**values, **dict.fromkeys(unset, " \n")}
        absent = {name: value for name, value in values.items() if name not in unset}
        assert resolve_credentials(config, blank) == resolve_credentials(config, absent)


@pytest.mark.parametrize("leak", ["openai", "openrouter"])
def test_the_judge_sees_a_key_at_the_wrong_server(leak):
    given = dict.fromkeys(EXPLICIT)
    environ = {"GROQ_API_KEY": f"canary-{leak}", **URLS}
    found = resolve_credentials(validate({"knowledge_corpus": ["docs"]}), environ)
    assert foreign(given, environ, found)
