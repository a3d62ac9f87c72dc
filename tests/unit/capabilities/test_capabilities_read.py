"""What is read as a skill, a tool or an extension, and what is listed as skipped."""

import json

import pytest

from fingerpost import Capability, CapabilityDiscoveryEngine

MCP = {
    "name": "convert_image",
    "title": "Image converter",
    "description": "Converts pictures.\n\nArgs:\n    source: the picture",
    "inputSchema": {
        "type": "object",
        "properties": {
            "source": {"type": "string", "description": "path of the picture"},
            "format": {"type": "string", "enum": ["png", "webp"]},
            "size": {"$ref": "#/$defs/Size"},
        },
        "$defs": {"Size": {"properties": {"width": {"description": "in pixels"}}}},
    },
}
CHAT = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Current weather of a city.",
        "parameters": {"properties": {"city": {"description": "name of the city"}}},
    },
}
RESPONSES = {"type": "function", "name": "send_mail", "description": "Sends a mail."}


def _ids(engine):
    return [item.full_id for item in engine.capabilities()]


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ({"tools": [MCP]}, ["tool:convert_image"]),
        ({"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP]}}, ["tool:convert_image"]),
        ([CHAT, RESPONSES], ["tool:get_weather", "tool:send_mail"]),
        ({"tools": [CHAT]}, ["tool:get_weather"]),
        (RESPONSES, ["tool:send_mail"]),
        (
            [{"tools": [MCP], "nextCursor": "2"}, {"tools": [RESPONSES]}],
            ["tool:convert_image", "tool:send_mail"],
        ),
    ],
    ids=["mcp", "json-rpc", "chat and responses", "chat in a page", "one tool", "pages"],
)
def test_each_shape_of_a_tool_list_is_read_from_a_value_and_from_a_file(given, ids, tmp_path):
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(given))
    for tools in ([given], [file], [str(file)]):
        engine = CapabilityDiscoveryEngine(tools=tools)
        assert (_ids(engine), engine.skipped) == (ids, ())


def test_pages_may_stand_on_lines_of_a_file(tmp_path):
    file = tmp_path / "pages.jsonl"
    pages = [{"result": {"tools": [MCP], "nextCursor": "2"}}, {"result": {"tools": [RESPONSES]}}]
    file.write_text("\n".join(map(json.dumps, pages)) + "\n")
    engine = CapabilityDiscoveryEngine(tools=[file])
    assert (_ids(engine), engine.skipped) == (["tool:convert_image", "tool:send_mail"], ())


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\u0085"])
def test_only_line_feeds_end_a_line_of_json(mark, tmp_path):
    file = tmp_path / "tools.jsonl"
    tools = [{"name": name, "description": f"Sends{mark}mail."} for name in ("one", "two")]
    lines = [json.dumps(tool, ensure_ascii=False) for tool in tools]
    file.write_text("\n".join(lines), "utf-8")
    engine = CapabilityDiscoveryEngine(tools=[file])
    assert (_ids(engine), engine.skipped) == (["tool:one", "tool:two"], ())


def test_a_line_that_is_no_json_is_listed_and_the_others_are_read(tmp_path):
    file = tmp_path / "tools.jsonl"
    file.write_text('{"name": "one"}\n{"name": \n{"name": "two"}\n')
    engine = CapabilityDiscoveryEngine(tools=[file])
    assert _ids(engine) == ["tool:one", "tool:two"]
    (skipped,) = engine.skipped
    assert skipped.where == f"{file} #2"
    assert skipped.reason.startswith("it is no JSON: ")


@pytest.mark.parametrize(
    "given",
    [[], {"tools": []}, {"result": {"result": {"tools": []}}}, {"result": {}}, {"tools": None}],
)
def test_a_file_without_a_tool_is_told_to_hold_none(given, tmp_path):
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(given))
    engine = CapabilityDiscoveryEngine(tools=[file])
    (skipped,) = engine.skipped
    assert (skipped.where, skipped.reason) == (str(file), "it holds no tools")


@pytest.mark.parametrize("shape", [lambda page: page, lambda page: [page]])
def test_a_list_whose_last_page_names_a_next_one_is_told_to_be_incomplete(shape):
    engine = CapabilityDiscoveryEngine(tools=[shape({"tools": [MCP], "nextCursor": "2"})])
    assert _ids(engine) == ["tool:convert_image"]
    assert ["goes on" in item.reason for item in engine.skipped] == [True]


def test_a_summary_is_the_first_sentence():
    engine = CapabilityDiscoveryEngine(tools=[[MCP]])
    assert engine.capabilities()[0].summary == "Converts pictures."


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("webp", "parameter format"),
        ("pixels", "parameter width"),
        ("convert", "name"),
        ("converter", "name"),
    ],
)
def test_a_tool_is_found_by_name_title_parameters_and_their_values(question, place):
    engine = CapabilityDiscoveryEngine(tools=[[MCP, CHAT, RESPONSES]])
    best = engine.recommend(question)[0]
    assert best.id == "convert_image"
    assert best.reasoning.startswith(f"{place} holds '{question}'")


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"type": "web_search"}, "a built-in tool of type 'web_search' has no name"),
        ({"description": "nameless"}, "it has no name"),
        ({"name": 5}, "it has no name"),
        ({"name": "two words"}, "'two words' is no usable name"),
        ({"name": "../../etc/passwd"}, "'../../etc/passwd' is no usable name"),
        ({"name": "evil\u202egnp"}, "is no usable name"),
        ({"name": "a" * 129}, "is no usable name"),
        ("text", "it is no list of tools and none of them"),
        (None, "it is no list of tools and none of them"),
    ],
)
def test_an_entry_that_is_no_tool_is_listed_with_its_number_and_the_others_are_read(entry, reason):
    engine = CapabilityDiscoveryEngine(tools=[[entry, RESPONSES]])
    assert _ids(engine) == ["tool:send_mail"]
    (skipped,) = engine.skipped
    assert reason in skipped.reason
    assert skipped.where == "given in code #1"


def test_of_two_tools_with_one_name_the_first_counts():
    engine = CapabilityDiscoveryEngine(tools=[[RESPONSES], [{**RESPONSES, "description": "Other"}]])
    assert [item.summary for item in engine.capabilities()] == ["Sends a mail."]
    assert [(item.where, item.reason) for item in engine.skipped] == [
        ("tool:send_mail", "given twice")
    ]


def test_extensions_are_capabilities_or_entries_with_an_id_and_a_summary(tmp_path):
    file = tmp_path / "extensions.json"
    file.write_text(json.dumps({"extensions": [{"id": "voice", "name": "Voice", "summary": "x"}]}))
    given = [
        file,
        Capability("extension", "calendar", "reads it"),
        [{"name": "a", "description": "b"}],
    ]
    engine = CapabilityDiscoveryEngine(extensions=given)
    assert _ids(engine) == ["extension:voice", "extension:calendar", "extension:a"]
    assert engine.skipped == ()


def test_a_capability_of_another_kind_is_taken_as_that_and_an_unknown_kind_is_not():
    given = [Capability("skill", "a", "x"), Capability("spell", "b", "y")]
    engine = CapabilityDiscoveryEngine(extensions=given)
    assert _ids(engine) == ["skill:a"]
    assert [item.reason for item in engine.skipped] == [
        "'spell' is no kind: skill, tool or extension"
    ]


def _skill(folder, text):
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text)


def test_skills_are_folders_with_front_matter_however_deep_and_their_body_is_not_shown(tmp_path):
    _skill(tmp_path / "pdf", "---\nname: pdf\ndescription: Fills in PDF forms.\n---\nSECRET BODY\n")
    _skill(tmp_path / "more" / "deep", "---\ndescription: >\n  Writes\n  haiku.\n---\n")
    engine = CapabilityDiscoveryEngine(skills=[tmp_path])
    assert {item.full_id: item.summary for item in engine.capabilities()} == {
        "skill:deep": "Writes haiku.",
        "skill:pdf": "Fills in PDF forms.",
    }
    alone = CapabilityDiscoveryEngine(skills=[tmp_path / "pdf"])
    assert _ids(alone) == ["skill:pdf"]


@pytest.mark.parametrize(
    "text", ["no front matter", "---\nname: x\n---\n", "---\nname: x\ndescription: [a]\n---\n"]
)
def test_a_skill_without_a_description_is_listed(text, tmp_path):
    _skill(tmp_path / "x", text)
    engine = CapabilityDiscoveryEngine(skills=[tmp_path])
    assert _ids(engine) == []
    (skipped,) = engine.skipped
    assert skipped.where.endswith("x/SKILL.md")
    assert skipped.reason == "its front matter has no description"


def test_what_is_not_there_is_listed(tmp_path):
    nowhere = tmp_path / "nowhere"
    engine = CapabilityDiscoveryEngine(skills=[nowhere], tools=[nowhere], extensions=[nowhere])
    assert [item.where for item in engine.skipped] == [str(nowhere)] * 3
    assert {item.reason for item in engine.skipped} == {"No such file or directory"}


def test_kinds_come_in_one_order_whatever_the_order_of_reading(tmp_path):
    _skill(tmp_path / "s", "---\ndescription: d\n---\n")
    given = [Capability("extension", "e"), Capability("tool", "t")]
    engine = CapabilityDiscoveryEngine(extensions=given, skills=[tmp_path])
    assert _ids(engine) == ["skill:s", "tool:t", "extension:e"]
