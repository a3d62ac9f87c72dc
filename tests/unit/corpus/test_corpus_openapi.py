"""OpenAPI descriptions: one chunk an operation, cut out of the file."""

import json
import time

import pytest
import yaml

from fingerpost.corpus import FileToPrepare, IndexOptions, Prepared, index_corpus, prepare_file
from fingerpost.corpus.decode import Undecodable
from fingerpost.corpus.locate import locate
from fingerpost.corpus.openapi import parse_openapi, says_openapi
from fingerpost.observe.observer import ignore
from fingerpost.stores.open import open_store

PETS = """\
# The first comment
openapi: 3.0.3
info:
  title: Pet Store
  version: "1.2"
  description: Sells pets.
servers:
  - url: https://api.example.com/v1
security:
  - key: []
paths:
  /pets:
    parameters:
      - $ref: '#/components/parameters/Trace'
    get:
      tags: [pets]
      summary: List all pets
      operationId: listPets
      parameters:
        - name: limit
          in: query
          description: How many to return at one time
          schema: {type: integer, maximum: 100}
      responses:
        '200':
          description: A page of pets
          content:
            application/json:
              schema: {type: array, items: {$ref: '#/components/schemas/Pet'}}
    post:
      tags: [pets]
      summary: Create a pet
      requestBody:
        required: true
        content:
          application/json: {schema: {$ref: '#/components/schemas/Pet'}}
      responses:
        '201': {description: Created}
  /_health/{id}:
    get: {summary: Liveness, responses: {'204': {description: Alive}}}
components:
  parameters:
    Trace: {name: X-Trace, in: header, schema: {type: string}, description: Trace id}
  schemas:
    Pet:
      type: object
      required: [id]
      properties:
        id: {type: integer, format: int64}
        status: {type: string, enum: [available, sold], description: Whether it can be bought}
        parent: {$ref: '#/components/schemas/Pet'}
  securitySchemes:
    key: {type: apiKey, name: api_key, in: header}
"""


def prepared(text, path="api.yaml", **options):
    outcome = prepare_file(FileToPrepare(text.encode(), "docs", path, **options))
    assert isinstance(outcome, Prepared), outcome
    return outcome.document


def refused(text, path="api.yaml"):
    outcome = prepare_file(FileToPrepare(text.encode(), "docs", path))
    assert isinstance(outcome, Undecodable)
    return outcome.reason, outcome.detail


def chunk_of(document, heading):
    (found,) = [one for one in document.chunks if one.heading_path[-1] == heading]
    return found


def test_an_operation_is_one_chunk_that_cuts_its_text_out_of_the_file():
    document = prepared(PETS)
    chunk = chunk_of(document, "POST /pets")
    start, end = PETS.index("    post:"), PETS.index("  /_health")
    assert (chunk.text, chunk.heading_path) == (
        PETS[start:end], ("Pet Store", "pets", "POST /pets"),
    )  # fmt: skip
    assert (chunk.line_start, chunk.line_end) == (30, 38)
    assert "".join(one.text for one in document.chunks) == PETS
    assert (document.document.title, document.document.format) == ("Pet Store", "openapi")


def test_what_is_searched_tells_parameters_bodies_and_fields_of_references():
    said = chunk_of(prepared(PETS), "GET /pets").search_text
    for part in (
        "GET /pets (listPets)",
        "List all pets",
        "Parameter X-Trace (header, string): Trace id",
        "Parameter limit (query, integer): How many to return at one time",
        "Response 200: A page of pets",
        "application/json: array of Pet (id: integer (int64), required; status: string, one of available, sold; parent: Pet)",
    ):
        assert part in said


def test_the_rest_of_the_file_becomes_chunks_too():
    document = prepared(PETS)
    assert [one.heading_path[1:] for one in document.chunks] == [
        (), ("servers",), ("security",), ("pets", "GET /pets"), ("pets", "POST /pets"),
        ("GET /_health/{id}",), ("Parameters", "Trace"), ("Schemas", "Pet"),
        ("Security schemes", "key"),
    ]  # fmt: skip
    assert document.chunks[0].text.startswith("# The first comment")
    assert "- status (string, one of available, sold): Whether it can be bought" in (
        chunk_of(document, "Pet").search_text
    )
    assert "name: api_key" in chunk_of(document, "key").search_text


@pytest.mark.parametrize("indent", [None, 2, "\t"], ids=repr)
def test_json_says_the_same_as_yaml(indent):
    text = json.dumps(yaml.safe_load(PETS) | {"x-emoji": "\U0001f600"}, indent=indent)
    document = prepared("\ufeff" + text, "api.json")
    assert "".join(one.text for one in document.chunks) == text
    own = [(one.heading_path, one.search_text) for one in document.chunks[:-1]]
    assert own == [(one.heading_path, one.search_text) for one in prepared(PETS).chunks]


def test_fields_that_a_body_describes_in_place_are_told_line_by_line():
    schema = {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "description": "How the pet is called", "maxLength": 40},
            "owner": {"type": "object", "properties": {"id": {"description": "Of the owner"}}},
            "tags": {"type": "array", "items": {"type": "string", "description": "A mark"}},
        },
    }
    operation = {"requestBody": {"content": {"application/json": {"schema": schema}}}}
    info = {"title": "Pets"}
    text = json.dumps({"openapi": "3.0.0", "info": info, "paths": {"/pets": {"post": operation}}})
    said = chunk_of(prepared(text, "api.json"), "POST /pets").search_text
    assert said.endswith(
        "- application/json: object\n  - name (string, required): How the pet is called\n"
        "    maxLength: 40\n  - owner (object)\n    - id (any): Of the owner\n"
        "  - tags (array of string)\n    - string: A mark"
    )


def test_what_many_references_lead_to_is_told_in_short_and_once_in_full():
    words = " ".join(f"word{n}" for n in range(60_000))
    fields = {f"field{n}": {"type": "string"} for n in range(3_000)}
    answers = {"200": {"$ref": "#/components/responses/R"}, "400": {"content": {"a/b": {
        "schema": {"$ref": "#/components/schemas/S"}}}}}  # fmt: skip
    value = {
        "openapi": "3.0.0",
        "paths": {f"/p{n}": {"get": {"responses": answers}} for n in range(400)},
        "components": {
            "responses": {"R": {"description": words}},
            "schemas": {"S": {"properties": fields, "required": [*fields]}},
        },
    }
    started = time.process_time()
    parsed = parse_openapi(json.dumps(value), 0)
    assert time.process_time() - started < 2
    assert parsed.text.count("word0 ") == 401
    assert parsed.text.count("word59999") == parsed.text.count("- field2999 ") == 1
    assert len(parsed.text) < 3_000_000


def test_a_value_without_blanks_is_cut_where_a_line_is_long_enough():
    schema = {"type": "string", "enum": ["x" * 5_000]}
    parameter = {"name": "n", "in": "query", "schema": {"$ref": "#/components/schemas/S"}}
    value = {"openapi": "3.0.0", "paths": {"/a": {"get": {"parameters": [parameter]}}},
             "components": {"schemas": {"S": schema}}}  # fmt: skip
    text = parse_openapi(json.dumps(value), 0).text
    assert f"one of {'x' * 600} …" in text
    assert "x" * 5_000 in text


def test_swagger_2_gives_bodies_and_definitions():
    text = json.dumps({
        "swagger": "2.0",
        "info": {"title": "Old", "version": "1"},
        "paths": {
            "/a": {
                "put": {
                    "parameters": [
                        {"name": "body", "in": "body", "schema": {"$ref": "#/definitions/A"}},
                        {"name": "n", "in": "query", "type": "integer", "required": True},
                    ],
                    "responses": {"200": {"description": "ok", "schema": {"type": "string"}}},
                }
            }
        },
        "definitions": {"A": {"type": "object", "properties": {"b": {"type": "boolean"}}}},
    })  # fmt: skip
    document = prepared(text, "api.json")
    said = chunk_of(document, "PUT /a").search_text
    assert "Parameter body (body, A (b: boolean))" in said
    assert "Parameter n (query, integer, required)" in said
    assert chunk_of(document, "A").heading_path == ("Old", "Schemas", "A")


def test_an_operation_over_the_limit_is_split_further_and_nothing_is_lost():
    words = " ".join(f"word{n}" for n in range(400))
    text = PETS.replace("summary: Create a pet", f"description: {words}")
    document = prepared(text, max_tokens=80)
    parts = [one for one in document.chunks if one.heading_path[-1] == "POST /pets"]
    assert len(parts) > 5
    assert max(one.n_tokens for one in parts) <= 80
    found = " ".join(one.search_text for one in parts)
    assert all(f"word{n}" in found for n in range(400))
    assert "".join(one.text for one in document.chunks) == text


def test_what_a_path_says_before_its_first_operation_is_told_and_the_next_keeps_its_place():
    value = {
        "openapi": "3.1.0",
        "paths": {
            "/a": {
                "summary": "Kennels of a town",
                "parameters": {"wrong": "no list " + "of any kind " * 12},
                "get": {"tags": ["Pet"], "responses": {}},
                "post": {"responses": {}},
            }
        },
    }
    text = json.dumps(value)
    outcome = prepare_file(FileToPrepare(text.encode(), "docs", "a.json"))
    assert isinstance(outcome, Prepared)
    told = {
        chunk.heading_path[-1]: chunk for chunk in outcome.document.chunks if chunk.heading_path
    }
    assert "Kennels of a town" in told["GET /a"].search_text
    assert "no list of any kind" in told["GET /a"].search_text
    assert told["POST /a"].text.startswith('"post": {"responses"')


def test_references_in_circles_and_to_other_files_end():
    text = """\
openapi: 3.1.0
info: {title: T, version: '1'}
paths:
  /a:
    get:
      parameters: [{$ref: 'other.yaml#/P'}, {$ref: '#/components/parameters/Loop'}]
      responses:
        '200': {$ref: 'https://example.com/r.yaml'}
        '400': {content: {a/b: {schema: {$ref: '#/components/schemas/Node'}}}}
components:
  parameters: {Loop: {$ref: '#/components/parameters/Loop'}}
  schemas:
    Node: {properties: {next: {$ref: '#/components/schemas/Node'}}}
    Self: {$ref: '#/components/schemas/Self'}
"""
    said = chunk_of(prepared(text), "GET /a").search_text
    assert "Node (next: Node)" in said
    assert "Response 200: https://example.com/r.yaml" in said
    assert "Parameter P" in said


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("openapi: 3.0.0\na: &x [1]\nb: *x\n", "line 3: YAML aliases are not read"),
        ("openapi: 3.0.0\npaths: {a: [}\n", "line 2"),
        ("openapi: 3.0.0\n---\nb: 1\n", "more than one YAML document"),
        ('{"openapi": "3.0.0", "paths": {"/a": ', "line 1: it ends too early"),
        ('{"openapi": "3.0.0" "a": 1}', "line 1: a comma was expected"),
        ("openapi: 3.0.0\nx: " + "[" * 200 + "]" * 200, "nested more than 100 deep"),
    ],
    ids=["alias", "syntax", "documents", "cut off", "comma", "deep"],
)
def test_a_broken_description_is_refused_with_the_place(text, detail):
    reason, why = refused(text)
    assert reason == "broken"
    assert detail in why


def test_ten_thousand_aliases_of_aliases_take_no_time():
    bomb = "openapi: 3.0.0\na0: &a0 [x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30)
    )
    started = time.process_time()
    assert refused(bomb)[0] == "broken"
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("openapi: 3.1.0\n", True),
        ("# c\n---\n'swagger': \"2.0\"\n", True),
        ('{"info": {"title": "{"}, "openapi": "3.0.1"', True),
        ('\ufeff{\n "swagger" : "2.0"', True),
        ('{"dependencies": {"openapi": "3.0.1"}}', False),
        ("dependencies:\n  openapi: 3.0.1\n", False),
        ("title: about openapi: 3.0\n", False),
        ('{"openapi": "next"}', False),
        ('{"a": {"openapi": "3.0.1"}, "openapi": "3.0.1"', True),
        ('{"a": "in \\", openapi: 3.0', False),
        ("{openapi: 3.0.1, info: {title: T}}", True),
    ],
)
def test_a_description_is_known_by_the_key_at_its_top(head, expected):
    assert says_openapi(head) is expected


@pytest.mark.parametrize(
    "head",
    ['{"a": [' + '{"openapi": "3.0"}, ' * 20_000, '{"a": "' + '\\"' * 200_000],
    ids=["versions", "quotes"],
)
def test_a_large_file_of_other_data_is_known_in_time_that_grows_with_its_length(head):
    started = time.process_time()
    assert not says_openapi(head)
    assert time.process_time() - started < 1


def test_a_description_past_every_limit_is_listed_and_not_read(tmp_path):
    with (tmp_path / "openapi-dump.json").open("wb") as file:
        file.truncate(4 * 2**30)
    (tmp_path / "a.md").write_text("# A\n\nA page.\n")
    roots, _ = locate([tmp_path])
    store = open_store(str(tmp_path / "index"))
    summary = index_corpus(store, roots, embedder=None, options=IndexOptions(), observe=ignore)
    store.close()
    (skipped,) = summary.skipped
    assert skipped.path.endswith("openapi-dump.json")
    assert skipped.reason == "too-large"


def test_other_data_files_are_no_documents_and_are_not_listed(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "api.yaml").write_text(PETS)
    (docs / "broken.yml").write_text("openapi: 3.0.0\n a: b\n")
    (docs / "package.json").write_text('{"dependencies": {"swagger": "2.0.1"}}')
    (docs / "mkdocs.yml").write_text("site_name: x\n")
    (docs / "swagger.json").write_text(
        json.dumps({"definitions": {f"A{n}": {} for n in range(900)}, "swagger": "2.0"})
    )
    (docs / "link.json").symlink_to(docs / "package.json")
    store = open_store(str(tmp_path / "index"))
    roots, _ = locate([docs])
    summary = index_corpus(
        store, roots, embedder=None, options=IndexOptions(embed=False, workers=0), observe=ignore
    )
    listed = [(one.path.rpartition("/")[2], one.reason) for one in summary.skipped]
    assert [one for one in listed if one[0] != "link.json"] == [("broken.yml", "broken")]
    with store.reader() as reader:
        assert sorted(one.path for one in reader.documents()) == ["api.yaml", "swagger.json"]


def test_a_data_file_that_was_named_and_is_no_description_is_listed(tmp_path):
    (tmp_path / "settings.json").write_text('{"a": 1}')
    roots, skipped = locate([tmp_path / "settings.json"])
    assert skipped == []
    summary = index_corpus(
        open_store(str(tmp_path / "index")),
        roots,
        embedder=None,
        options=IndexOptions(embed=False, workers=0),
        observe=ignore,
    )
    assert [(one.reason, one.detail) for one in summary.skipped] == [
        ("unsupported", "it is no OpenAPI description")
    ]
