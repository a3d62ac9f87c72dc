"""Which lane serves a model, sentence by sentence of the specification."""

from collections import ChainMap, defaultdict
from types import MappingProxyType

import pytest

from fingerpost.errors import UnroutedModelError, UsageError
from fingerpost.lanes.routing import RoutingModel, lane_of
from fingerpost.testing import ScriptedChat
from fingerpost.types.chat import ChatRequest, ChatResponse, Message, ModelRef

OPENAI = ModelRef("gpt", provider="openai", api="chat")


def ask(model=OPENAI):
    return ChatRequest((Message("user", "hello"),), model=model)


class Silent(dict):
    """A table that cannot be listed, and whose values cannot be read."""

    def __iter__(self):
        raise AssertionError("the keys were listed")

    def __getitem__(self, key):
        raise AssertionError("the entry was read")

    keys = values = items = get = __iter__


class Deaf(dict):
    def __contains__(self, key):
        raise OSError("the table is away")


class Filling(dict):
    """Answers for one name at a time and remembers what it was asked."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def __contains__(self, key):
        self.asked.append(key)
        return key == "openai"

    def __missing__(self, key):
        return ScriptedChat(["made on demand"])


def test_the_route_word_is_the_provider_or_the_api():
    routes = {"openai": 1, "chat": 2}
    assert lane_of(OPENAI, routes) == "openai"
    assert lane_of(OPENAI, routes, by="api") == "chat"


def test_a_mapping_or_any_object_can_be_the_model():
    assert lane_of({"provider": "openai"}, {"openai": 1}) == "openai"
    assert lane_of(ScriptedChat(["x"], provider="p"), {"p": 1}) == "p"


def test_a_mapping_as_the_model_does_not_grow_by_being_asked():
    model = defaultdict(lambda: "openai")
    assert lane_of(model, {"openai": 1}) is None
    assert model == {}


@pytest.mark.parametrize("word", ["", "groq", None, 7, b"openai", ("openai",), ["openai"]])
def test_a_word_without_a_route_or_that_is_no_string_goes_to_the_fallback(word):
    assert lane_of({"provider": word}, {"openai": 1, 7: 2, "": 3, ("openai",): 4}) is None


@pytest.mark.parametrize("model", [{}, object(), ModelRef()])
def test_a_model_without_a_word_goes_to_the_fallback(model):
    assert lane_of(model, {"openai": 1}) is None


def test_a_default_is_no_route_and_a_default_table_does_not_grow():
    routes = defaultdict(lambda: ScriptedChat(["x"]))
    assert lane_of(OPENAI, routes) is None
    assert routes == {}


def test_the_table_is_asked_about_that_one_name_only():
    routes = Filling()
    assert lane_of(OPENAI, routes) == "openai"
    assert routes.asked == ["openai"]


def test_no_entry_is_read_and_no_keys_are_listed():
    assert lane_of(OPENAI, Silent(openai=1)) == "openai"


@pytest.mark.parametrize(
    "word", ["__class__", "__missing__", "keys", "get", "__dict__", "__proto__"]
)
def test_what_a_table_only_inherits_is_no_route(word):
    assert lane_of({"provider": word}, {"openai": 1}) is None
    assert lane_of({"provider": word}, {word: 1}) == word


@pytest.mark.parametrize("wrap", [dict, MappingProxyType, lambda routes: ChainMap({}, routes)])
def test_tables_of_every_kind_are_read_the_same(wrap):
    routes = wrap({"openai": None})
    assert lane_of(OPENAI, routes) == "openai"
    assert lane_of(ModelRef("x", provider="groq"), routes) is None


def test_nothing_is_remembered_between_questions():
    routes = {}
    assert lane_of(OPENAI, routes) is None
    routes["openai"] = 1
    assert lane_of(OPENAI, routes) == "openai"
    del routes["openai"]
    assert lane_of(OPENAI, routes) is None


@pytest.mark.parametrize("routes", [None, 7, ["openai"], {"openai"}, "openai"])
def test_a_table_that_is_no_mapping_raises(routes):
    with pytest.raises(TypeError, match="not a mapping"):
        lane_of(OPENAI, routes)


def test_a_table_whose_membership_test_raises_raises_that():
    with pytest.raises(OSError, match="away"):
        lane_of(OPENAI, Deaf(openai=1))


@pytest.mark.anyio
async def test_a_request_goes_to_the_lane_of_its_model_else_to_the_fallback():
    openai, other = ScriptedChat(["from openai"]), ScriptedChat(["from the fallback"])
    model = RoutingModel({"openai": openai}, fallback=other)
    assert (await model.complete(ask())).text == "from openai"
    assert (await model.complete(ask(ModelRef("x", "groq")))).text == "from the fallback"
    assert (await model.complete(ask(None))).text == "from the fallback"
    assert openai.requests == [ask()]


@pytest.mark.anyio
async def test_a_stream_is_routed_the_same_way():
    model = RoutingModel({"chat": ScriptedChat(["one two"])}, by="api")
    got = [item async for item in model.stream(ask())]
    assert got[:-1] == ["one", " two"]
    assert isinstance(got[-1], ChatResponse)


@pytest.mark.anyio
async def test_closing_a_routed_stream_closes_the_stream_of_the_lane():
    chat = ScriptedChat(["one two three"])
    stream = RoutingModel({"openai": chat}).stream(ask())
    assert await anext(stream) == "one"
    assert chat.n_open == 1
    await stream.aclose()
    assert chat.n_open == 0


@pytest.mark.anyio
async def test_an_unmatched_model_without_fallback_names_the_model_its_word_and_the_routes():
    model = RoutingModel({"groq": ScriptedChat(["x"]), "xai": ScriptedChat(["x"])})
    with pytest.raises(UnroutedModelError, match=r"'gpt'.*'openai'.*'groq', 'xai'"):
        await model.complete(ask())


@pytest.mark.anyio
async def test_a_table_that_cannot_be_listed_still_gives_the_error():
    with pytest.raises(UnroutedModelError, match="not listed"):
        await RoutingModel(Silent(groq=1)).complete(ask())


@pytest.mark.anyio
@pytest.mark.parametrize("route", [None, 7, "openai", object(), {"complete": 1}])
async def test_a_route_that_is_not_a_model_fails_there_and_is_never_moved_to_the_fallback(route):
    fallback = ScriptedChat(["x"])
    model = RoutingModel({"openai": route}, fallback=fallback)
    with pytest.raises(UnroutedModelError, match="route 'openai'"):
        await model.complete(ask())
    with pytest.raises(UnroutedModelError, match="route 'openai'"):
        await anext(model.stream(ask()))
    assert fallback.requests == []


@pytest.mark.anyio
@pytest.mark.parametrize("routes", [Deaf(openai=1), None, ["openai"]])
async def test_a_table_that_cannot_answer_fails_the_request_with_a_typed_error(routes):
    fallback = ScriptedChat(["x"])
    with pytest.raises(UnroutedModelError, match="do not say"):
        await RoutingModel(routes, fallback=fallback).complete(ask())
    assert fallback.requests == []


@pytest.mark.anyio
async def test_an_entry_that_cannot_be_read_fails_on_that_lane():
    fallback = ScriptedChat(["x"])
    with pytest.raises(UnroutedModelError, match="'openai' cannot be read"):
        await RoutingModel(Silent(openai=1), fallback=fallback).complete(ask())
    assert fallback.requests == []


@pytest.mark.anyio
async def test_a_lazily_filled_table_is_read_when_the_request_comes():
    model = RoutingModel(Filling())
    assert (await model.complete(ask())).text == "made on demand"


def test_another_word_than_provider_or_api_is_refused():
    with pytest.raises(UsageError, match="'model'"):
        RoutingModel({}, by="model")
