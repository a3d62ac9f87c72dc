"""The gates that no linter has: sizes, public names, forbidden calls, the environment."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import fingerpost

ROOT = Path(fingerpost.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
MAX_FILE, MAX_FUNCTION = 400, 50


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def _trees() -> list[tuple[str, ast.Module]]:
    return [(_name(path), ast.parse(path.read_text(encoding="utf-8"))) for path in FILES]


def test_no_file_is_longer_than_400_lines():
    long = {
        _name(p): n
        for p in FILES
        if (n := len(p.read_text(encoding="utf-8").splitlines())) > MAX_FILE
    }
    assert long == {}


def test_no_function_is_longer_than_50_lines():
    long = {
        f"{name}:{node.name}": node.end_lineno - node.lineno + 1
        for name, tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno - node.lineno + 1 - _docstring_lines(node) > MAX_FUNCTION
    }
    assert long == {}


def _docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return first.end_lineno - first.lineno + 1
    return 0


def test_only_config_reads_the_environment():
    readers = {
        name
        for name, tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in ("environ", "getenv")
        and not name.startswith("config/")
    }
    assert readers == set()


FORBIDDEN = {"eval", "exec", "compile"}
FORBIDDEN_MODULES = {"pickle", "joblib", "marshal", "shelve", "dill", "torch"}


def test_nothing_is_unpickled_evaluated_or_run_by_a_shell():
    found = set()
    for name, tree in _trees():
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in FORBIDDEN
            ):
                found.add(f"{name}: {node.func.id}()")
            if (
                isinstance(node, ast.keyword)
                and node.arg in ("shell", "allow_pickle")
                and getattr(node.value, "value", None)
            ):
                found.add(f"{name}: {node.arg}")
            if isinstance(node, ast.Import):
                found |= {
                    f"{name}: {a.name}"
                    for a in node.names
                    if a.name.split(".")[0] in FORBIDDEN_MODULES
                }
            if (
                isinstance(node, ast.ImportFrom)
                and (node.module or "").split(".")[0] in FORBIDDEN_MODULES
            ):
                found.add(f"{name}: {node.module}")
    assert found == set()


PUBLIC = [
    "AbstentionReason",
    "Capability",
    "CapabilityDiscoveryEngine",
    "CapabilityRecommendation",
    "CascadeQueryRouter",
    "ChatDecisionModel",
    "ChatModel",
    "ChatRequest",
    "ChatResponse",
    "Choice",
    "Citation",
    "CitationVerifier",
    "ClaimVerdict",
    "ClassificationResult",
    "ConfigError",
    "CorpusError",
    "CorpusStats",
    "DeadlineExceededError",
    "DecisionAnswer",
    "DecisionModel",
    "DecisionModelQueryRouter",
    "DecisionModelRouter",
    "DecisionReranker",
    "DecisionResponse",
    "EmbeddingModel",
    "EmbeddingQueryRouter",
    "EmptyCorpusError",
    "Event",
    "Evidence",
    "ExecutionPlan",
    "FailoverModel",
    "FallbackStrategy",
    "Filters",
    "FingerpostError",
    "GeminiDecisionModel",
    "GenerateDelta",
    "GenerationMode",
    "Hit",
    "IndexMismatchError",
    "IndexSummary",
    "IngestProgress",
    "InvalidDecisionResponseError",
    "InvalidQueryError",
    "LaneError",
    "LanguageModelQueryRouter",
    "LocalDecisionModel",
    "Message",
    "MissingExtraError",
    "OpenAIDecisionModel",
    "OtelObserver",
    "Passage",
    "QueryResult",
    "QueryRouter",
    "QueryRouterConfig",
    "QueryRouterStrategyConfig",
    "RepoIndexConfig",
    "Research",
    "Retriever",
    "RouteComplete",
    "RoutingModel",
    "SchemaVersionError",
    "Score",
    "Source",
    "SourceCitation",
    "SourceRouting",
    "SourceText",
    "StoreConflictError",
    "StoreError",
    "Strategy",
    "SystemOneDecisionModel",
    "Tier",
    "Turn",
    "UnifiedRetriever",
    "Usage",
    "UsageError",
    "Verdict",
    "VerifiedResponse",
    "WebSearch",
    "YesNo",
    "lane_of",
]


def test_the_public_names_are_these():
    assert sorted(fingerpost.__all__) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_each_public_name_can_be_imported_and_says_what_it_is(name):
    value = getattr(fingerpost, name)
    assert (value.__doc__ or "").strip()


def test_every_module_says_what_it_is():
    silent = [
        name
        for name, tree in _trees()
        if not ast.get_docstring(tree) or "TODO" in (ast.get_docstring(tree) or "")
    ]
    assert silent == []


def test_importing_the_package_loads_no_heavy_library():
    code = (
        "import sys, fingerpost; "
        "print([m for m in ('numpy', 'pydantic', 'tantivy', 'rich', 'onnxruntime', 'anyio', 'httpx2') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.strip() == "[]"


def test_help_loads_no_heavy_library():
    code = (
        "import sys\nfrom fingerpost.cli import main\n"
        "try:\n    main.main(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in ('numpy', 'pydantic', 'tantivy', 'rich', 'onnxruntime', 'anyio', 'httpx2') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.strip().splitlines()[-1] == "[]"
