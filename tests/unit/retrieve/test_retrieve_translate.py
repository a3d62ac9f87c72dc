"""Which language is searched in, and what an embedding model is given of a translated question."""

import json

import pytest

from fingerpost.retrieve import retrieve
from fingerpost.retrieve.base import RetrieveRequest, RetrieveTools
from fingerpost.retrieve.translate import Translator, other_language
from fingerpost.retrieve.unified import UnifiedRetriever
from fingerpost.testing import HashEmbedder, ScriptedChat
from fingerpost.types.decision import Strategy, Tier

pytestmark = pytest.mark.anyio
PAGES = {
    "password.md": "# Passwords\n\nThe password of a user is changed with `heron passwd`.\n",
    "backup.md": "# Backups\n\nA backup of the database is made every night and it is kept.\n",
}
GERMAN = "Wie oft wird die Datenbank gesichert und wie lange wird das aufbewahrt?"
ENGLISH = "How often is a backup of the database made and how long is it kept?"


class Seeing(HashEmbedder):
    """Notes what it is asked to embed."""

    def __init__(self, languages):
        super().__init__()
        self.languages = frozenset(languages)
        self.seen = []

    def embed(self, texts):
        self.seen += texts
        return super().embed(texts)


@pytest.mark.parametrize(
    ("languages", "sees_german"), [(("en",), False), (("en", "de"), True)], ids=["en", "en+de"]
)
async def test_an_embedder_is_given_the_question_in_a_language_that_it_knows(
    index, languages, sees_german
):
    embedder = Seeing(languages)
    chat = ScriptedChat([json.dumps({"translations": [ENGLISH]})])
    evidence = await _found(index(PAGES, embedder), embedder, Translator(chat))
    assert ENGLISH in embedder.seen
    assert (GERMAN in embedder.seen) == sees_german
    assert evidence.translation == ENGLISH


@pytest.mark.parametrize(
    ("languages", "fallback"),
    [(("en",), "cross-language-words"), (("en", "de"), "cross-language-vectors")],
)
async def test_without_a_model_the_result_says_whether_vectors_carry_over(
    index, languages, fallback
):
    embedder = Seeing(languages)
    evidence = await _found(index(PAGES, embedder), embedder, None)
    assert [f for f in evidence.fallbacks if f.startswith("cross")] == [fallback]
    assert evidence.translation == ""


@pytest.mark.parametrize("search", [retrieve, UnifiedRetriever().retrieve], ids=["tier", "plan"])
async def test_where_only_vectors_carry_over_no_part_is_said_to_have_nothing(index, search):
    embedder = Seeing(("en", "de"))
    request = RetrieveRequest(GERMAN, Tier.RESEARCH, Strategy.COMPLEX)
    evidence = await search(index(PAGES, embedder), request, RetrieveTools(embedder=embedder))
    assert "cross-language-vectors" in evidence.fallbacks
    assert evidence.uncovered == ()


@pytest.mark.parametrize(
    ("question", "languages", "target"),
    [
        (GERMAN, {"en": 90, "de": 10}, "en"),
        (GERMAN, {"en": 75, "de": 25}, ""),  # enough to be searched as it is
        (GERMAN, {"en": 4, "fr": 4, "es": 4}, ""),  # no language to choose
        (GERMAN, {"und": 90, "en": 3}, "en"),
        (GERMAN, {"und": 90}, ""),
        (GERMAN, {}, ""),
        (ENGLISH, {"de": 10}, "de"),
        ("heron passwd", {"de": 10}, ""),  # of no language
    ],
)
def test_the_language_to_search_in_is_that_of_most_documents(question, languages, target):
    assert other_language(question, languages) == target


async def _found(reader, embedder, translate):
    request = RetrieveRequest(GERMAN, Tier.LOOKUP, Strategy.SIMPLE)
    return await retrieve(reader, request, RetrieveTools(embedder=embedder, translate=translate))
