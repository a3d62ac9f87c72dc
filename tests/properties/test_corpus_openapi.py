"""Laws of OpenAPI descriptions: nothing is lost, and spans cut the file, for any description."""

import json
import re

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.corpus import FileToPrepare, prepare_file
from fingerpost.corpus.decode import Undecodable
from fingerpost.text.tokens import estimate_tokens

WORDS = st.text(st.sampled_from("abz_ */{}<>[]`\"'\\#:-&*\u00e9\u4e2d\U0001f600\n\t"), max_size=30)
NAMES = st.sampled_from(["Pet", "a/b~c", "x y", "Error", "$ref", "\u00e9"])
SCHEMAS = st.recursive(
    st.one_of(
        st.builds(lambda n: {"$ref": f"#/components/schemas/{n}"}, NAMES),
        st.builds(lambda d: {"type": "string", "description": d, "enum": [d, 1, None]}, WORDS),
        st.just({"$ref": "other.yaml#/x"}),
    ),
    lambda inner: st.one_of(
        st.builds(lambda s: {"type": "array", "items": s}, inner),
        st.builds(
            lambda p, d: {"properties": p, "required": [*p], "description": d},
            st.dictionaries(NAMES, inner, max_size=3),
            WORDS,
        ),
        st.builds(lambda s: {"allOf": s}, st.lists(inner, max_size=3)),
    ),
    max_leaves=6,
)
PARAMETERS = st.builds(
    lambda n, d, s: {"name": n, "in": "query", "description": d, "schema": s}, NAMES, WORDS, SCHEMAS
)
OPERATIONS = st.fixed_dictionaries(
    {"responses": st.dictionaries(
        st.sampled_from(["200", "default"]),
        st.builds(lambda d, s: {"description": d, "content": {"a/b": {"schema": s}}}, WORDS, SCHEMAS),
        max_size=2,
    )},
    optional={
        "tags": st.lists(NAMES, max_size=2),
        "summary": WORDS,
        "description": WORDS,
        "parameters": st.lists(PARAMETERS, max_size=3),
        "x-more": st.recursive(WORDS, lambda i: st.lists(i, max_size=3), max_leaves=4),
    },
)  # fmt: skip
PATHS = st.dictionaries(
    st.sampled_from(["/a", "/a/{b}", "/_c*"]),
    st.dictionaries(
        st.sampled_from(["get", "post", "parameters", "summary"]), OPERATIONS, max_size=3
    ),
    max_size=3,
)
DESCRIPTIONS = st.fixed_dictionaries(
    {"openapi": st.just("3.1.0"), "info": st.builds(lambda t: {"title": t}, WORDS), "paths": PATHS},
    optional={
        "components": st.fixed_dictionaries(
            {}, optional={"schemas": st.dictionaries(NAMES, SCHEMAS, max_size=3)}
        ),
        "servers": st.lists(WORDS, max_size=2),
        "x-any": st.recursive(WORDS, lambda i: st.dictionaries(NAMES, i, max_size=3), max_leaves=5),
    },
)


class Plain(yaml.SafeDumper):
    """Writes no aliases: they are refused."""

    def ignore_aliases(self, data):
        return True


def check(text, path, max_tokens, *, always=False):
    outcome = prepare_file(FileToPrepare(text.encode(), "docs", path, max_tokens=max_tokens))
    if isinstance(outcome, Undecodable):
        assert outcome.reason == "broken"
        assert not always, outcome.detail
        return
    chunks = outcome.document.chunks
    assert "".join(chunk.text for chunk in chunks) == text
    for chunk in chunks:
        assert text[chunk.span.start : chunk.span.end] == chunk.text
        assert chunk.line_start == text.count("\n", 0, chunk.span.start) + 1
        assert estimate_tokens(chunk.search_text) <= max_tokens
    operations = [chunk.heading_path[-1] for chunk in chunks if chunk.heading_path]
    if always and max_tokens > 100:  # a long heading is cut under a small limit
        value = yaml.safe_load(text) if path.endswith("yaml") else json.loads(text)
        for address, item in value["paths"].items():
            for method in {"get", "post"} & set(item):
                assert f"{method.upper()} {address}" in operations


@settings(max_examples=150, deadline=None)
@given(
    value=DESCRIPTIONS,
    shape=st.sampled_from([None, 1, "\t", "yaml", "flow"]),
    limit=st.sampled_from([40, 220]),
)
def test_chunks_of_a_description_cover_it_and_stay_under_the_limit(value, shape, limit):
    if shape in ("yaml", "flow"):
        text = yaml.dump(
            value, Dumper=Plain, sort_keys=False, allow_unicode=True,
            default_flow_style=shape == "flow",
        )  # fmt: skip
        check(text, "a.yaml", limit, always=True)
    else:
        check(json.dumps(value, indent=shape), "a.json", limit, always=True)


@settings(max_examples=150, deadline=None)
@given(text=st.text(st.sampled_from("openapi: 3.0\n{}[]\",:&*-?|> \t#'a"), max_size=60))
def test_any_text_after_the_version_is_a_document_or_refused(text):
    check(f"openapi: 3.0.0\n{text}", "a.yaml", 220)
    check(f'{{"openapi": "3.0.0", {text}', "a.json", 220)


TOKENS = st.integers(0, 10**6).map("qz{}x".format)
TOLD = st.recursive(
    st.one_of(
        st.builds(lambda d, e: {"type": "string", "description": d, "enum": e}, TOKENS,
                  st.lists(TOKENS, max_size=30)),
        st.builds(lambda t, d, v: {"title": t, "description": d, "default": v}, *[TOKENS] * 3),
    ),
    lambda inner: st.one_of(
        st.builds(lambda s, d: {"type": "array", "items": s, "description": d}, inner, TOKENS),
        st.builds(lambda p, r, d: {"properties": p, "required": r, "description": d},
                  st.dictionaries(TOKENS, inner, max_size=3), st.lists(TOKENS, max_size=1), TOKENS),
        st.builds(lambda k, s: {k: s}, st.sampled_from(["allOf", "oneOf", "anyOf"]),
                  st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda s: {"additionalProperties": s}, inner),
    ),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(schema=TOLD, place=st.sampled_from(["body", "parameter", "parameter 2", "component"]))
def test_every_word_of_a_schema_that_stands_in_place_can_be_searched(schema, place):
    operation = {"responses": {"200": {"content": {"a/b": {"schema": schema}}}}}
    if place == "parameter":
        operation = {"parameters": [{"name": "n", "in": "query", "schema": schema}]}
    elif place == "parameter 2":
        operation = {"parameters": [{"name": "n", "in": "query"} | schema | {"required": True}]}
    value = {"openapi": "3.1.0", "paths": {"/a": {"get": operation}}}
    if place == "component":
        value = {"openapi": "3.1.0", "components": {"schemas": {"A": schema}}}
    text = json.dumps(value)
    outcome = prepare_file(FileToPrepare(text.encode(), "docs", "a.json"))
    assert not isinstance(outcome, Undecodable)
    said = " ".join(chunk.search_text for chunk in outcome.document.chunks)
    told = json.dumps(operation if place != "component" else schema)
    assert [word for word in re.findall(r"qz\d+x", told) if word not in said] == []
