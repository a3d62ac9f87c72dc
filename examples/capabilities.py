"""Recommend tools and skills beside an answer: a list of tools, a folder of skills, a router."""

import tempfile
from pathlib import Path

from fingerpost import Capability, CapabilityDiscoveryEngine, QueryRouter

TOOLS = {  # what an MCP server answers to tools/list; lists of OpenAI schemas are read as well
    "tools": [
        {
            "name": "run_eval",
            "description": "Measures retrieval on labelled questions and writes a report.",
            "inputSchema": {"properties": {"file": {"description": "labelled questions, JSONL"}}},
        },
        {
            "name": "open_ticket",
            "description": "Opens a ticket at the help desk.",
            "inputSchema": {"properties": {"severity": {"enum": ["low", "high"]}}},
        },
    ]
}
SKILL = """---
name: writing-test-sets
description: How to label questions for evaluation, and how many are enough.
---
Nothing below the front matter is read.
"""


def main() -> None:
    """Ask two questions; the second one leaves a tool out."""
    with tempfile.TemporaryDirectory() as folder:
        skill = Path(folder) / "writing-test-sets" / "SKILL.md"
        skill.parent.mkdir()
        skill.write_text(SKILL, encoding="utf-8")
        engine = CapabilityDiscoveryEngine(
            skills=[folder],
            tools=[TOOLS],
            extensions=[Capability("extension", "calendar", "Reads and writes appointments.")],
        )
    print(f"{len(engine.capabilities())} capabilities, skipped: {engine.skipped or 'none'}")
    with QueryRouter(knowledge_corpus=["docs"], embedding_provider="none") as router:
        router.set_capability_discovery_engine(engine)
        question = "How do I measure retrieval on labelled questions?"
        for excluded in ((), ("tool:run_eval",)):
            result = router.route_sync(question, excluded_capability_ids=excluded)
            print(f"{question} (without {', '.join(excluded) or 'nothing'})")
            for item in result.recommendations:
                print(f"  {item.priority}. {item.kind}:{item.id}  {item.confidence:.2f}")
                print(f"     {item.reasoning}")


if __name__ == "__main__":
    main()
