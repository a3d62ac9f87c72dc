"""Ask a folder of documents, print the answer with its sources and verdicts."""

from fingerpost import QueryRouter

with QueryRouter(knowledge_corpus=["docs"], embed="wait") as router:
    result = router.route_sync("Why was my file skipped?")

print(result.answer, end="\n\n")
for source in result.sources:
    lines = f"{source.line_start}-{source.line_end}"
    print(f"[{source.index}] {source.path}, lines {lines}: {' › '.join(source.heading_path)}")
for claim in result.grounding.claims:
    print(f"{claim.verdict:<12} {claim.claim}")
