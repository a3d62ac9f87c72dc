"""A question in one language over documents in another: translated, or told how little it finds."""

import json

import pytest

from fingerpost import QueryRouter, UnifiedRetriever
from fingerpost.cli.render import result_json, show_result
from fingerpost.errors import ProviderUnavailableError
from fingerpost.testing import ScriptedChat

pytestmark = pytest.mark.anyio
PAGES = {
    "password.md": "# Passwords\n\nThe password of a user is changed with `heron passwd`. After "
    "that every user has to sign in again.\n",
    "backup.md": "# Backups\n\nA backup of the database is made every night at two. It is kept "
    "for thirty days and then it is removed.\n",
    "proxy.md": "# Proxy\n\nThe proxy forwards requests to the server that is least busy. Its "
    "port is set in the file of the settings.\n",
    "modes.md": "# Modes\n\nThe mode of the server is safe unless it is started with another "
    "one. In the quiet mode nothing is written to the log.\n",
}
GERMAN = "Wie oft wird die Datenbank gesichert und wie lange wird das aufbewahrt?"
ENGLISH = "How often is a backup of the database made and how long is it kept?"


@pytest.fixture
def english(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text)
    return folder


def translating(text=ENGLISH):
    """Return a chat model that translates as told and answers from document 1."""

    def reply(request):
        if request.job == "translate":
            return text if isinstance(text, Exception) else json.dumps({"translations": [text]})
        return "Jede Nacht um zwei, dreißig Tage lang. [1]"

    return ScriptedChat([reply])


def router(folder, **settings):
    given = {"embedding_provider": "none", "cache_results": False, "verify_citations": False}
    given |= {"strategy_config": {"classifier_mode": "heuristic", "force_strategy": "simple"}}
    return QueryRouter(knowledge_corpus=[folder], **{**given, **settings})


def jobs(chat):
    return [request.job for request in chat.requests]


async def test_a_model_translates_the_question_and_its_words_find_the_page(english, capsys):
    chat = translating()
    async with router(english, chat_model=chat) as asked:
        result = await asked.route(GERMAN)
    assert result.sources[0].path == "backup.md"
    assert "cross-language-words" not in result.fallbacks_used
    (request,) = [one for one in chat.requests if one.job == "translate"]
    assert '"en"' in request.messages[0].text
    assert GERMAN in request.messages[0].text
    assert [item.job for item in result.usage][:1] == ["translate"]
    assert GERMAN in chat.requests[-1].messages[-1].text  # it is answered as it was asked
    assert result.translated_query == ENGLISH
    assert result_json(result, explain=False)["translated_query"] == ENGLISH
    show_result(result)
    assert f"searched as: {ENGLISH}" in capsys.readouterr().out


async def test_the_words_of_the_question_itself_are_searched_all_the_same(english):
    (english / "code.md").write_text("# Codes\n\nE1042 is told when the license has expired.\n")
    async with router(english, chat_model=translating("What does the code mean here?")) as asked:
        result = await asked.route("Was bedeutet die Meldung E1042 und was mache ich dann?")
    assert result.sources[0].path == "code.md"


async def test_a_question_in_the_language_of_the_documents_is_not_translated(english):
    chat = translating()
    async with router(english, chat_model=chat) as asked:
        result = await asked.route(ENGLISH)
    assert "translate" not in jobs(chat)
    assert result.translated_query is None
    assert not {"translate-skip", "cross-language-words"} & set(result.fallbacks_used)


@pytest.mark.parametrize(
    "reply",
    [
        ProviderUnavailableError("down"),
        "Combien de fois la base de données est-elle sauvegardée et pour combien de temps ?",
        GERMAN,
        "",
    ],
    ids=["fails", "another language", "as it was", "nothing"],
)
async def test_what_is_no_translation_is_left_out_and_named(english, reply):
    chat = translating(reply)
    async with router(english, chat_model=chat) as asked:
        result = await asked.route(GERMAN)
    skipped = ["translate-skip", "cross-language-words"]
    assert [name for name in result.fallbacks_used if name in skipped] == skipped


async def test_without_a_model_the_result_says_that_only_shared_words_can_match(english):
    told = []
    async with router(english, on_event=told.append) as asked:
        result = await asked.route(GERMAN)
    assert "cross-language-words" in result.fallbacks_used
    reasons = [e.reason for e in told if getattr(e, "name", "") == "cross-language-words"]
    assert len(reasons) == 1
    assert "'de'" in reasons[0]
    assert "'en'" in reasons[0]


async def test_when_the_model_cannot_write_the_translation_finds_the_sentences_to_quote(english):
    def reply(request):
        if request.job == "translate":
            return json.dumps({"translations": [ENGLISH]})
        return ProviderUnavailableError("down")

    async with router(english, chat_model=ScriptedChat([reply])) as asked:
        result = await asked.route(GERMAN)
    assert "extractive-fallback" in result.fallbacks_used
    assert "every night at two [1]" in result.answer


async def test_an_abstention_is_in_the_language_of_the_question(english):
    def reply(request):
        if request.job == "translate":
            return json.dumps({"translations": ["Which unicorns migrate over Antarctica?"]})
        return ProviderUnavailableError("down")

    async with router(english, chat_model=ScriptedChat([reply])) as asked:
        result = await asked.route("Welche Einhörner ziehen im Winter über die Antarktis?")
    assert result.abstention is not None
    assert result.answer.startswith("Das weiß ich nicht")


async def test_every_tier_and_each_sub_question_is_translated(english):
    chat = ScriptedChat([_two_parts])
    async with router(
        english, chat_model=chat, strategy_config={"force_strategy": "complex"}
    ) as asked:
        result = await asked.route("Wie oft wird gesichert? Welchen Port hat der Proxy?")
    assert set(result.sub_queries) == {"Wie oft wird gesichert?", "Welchen Port hat der Proxy?"}
    assert result.uncovered == ()
    assert {"backup.md", "proxy.md"} <= {source.path for source in result.sources}
    assert jobs(chat).count("translate") == 2  # the whole, then both parts in one call


async def test_a_plan_is_searched_in_the_language_of_the_documents_and_names_parts_as_asked(
    english,
):
    german = "Wie oft wird gesichert? Welche Farbe hat der Himmel über Paris?"

    def reply(request):
        if request.job != "translate":
            return "Jede Nacht. [1]"
        both = "How often is a backup made? Which colour is the sky above Paris?"
        whole = json.dumps(german, ensure_ascii=False) in request.messages[0].text
        told = [both] if whole else both.replace("? W", "?|W").split("|")
        return json.dumps({"translations": told})

    settings = {
        "strategy_config": {"force_strategy": "complex"},
        "chat_model": ScriptedChat([reply]),
    }
    async with router(english, **settings) as asked:
        asked.set_unified_retriever(UnifiedRetriever(policy="max-recall"))
        result = await asked.route(german)
    assert "backup.md" in {source.path for source in result.sources}
    assert [part for part in result.uncovered if "Himmel" in part] == list(result.uncovered)
    assert len(result.uncovered) == 1


def _two_parts(request):
    text = request.messages[0].text
    parts = {
        "Wie oft wird gesichert?": "How often is a backup made?",
        "Welchen Port hat der Proxy?": "Which port has the proxy?",
    }
    if request.job == "decompose":
        return json.dumps({"questions": list(parts)})
    if request.job == "translate":
        known = [told for asked, told in parts.items() if f'"{asked}"' in text]
        return json.dumps({"translations": known or ["How often is a backup made? Which port?"]})
    return "Jede Nacht. [1] Der Port steht in den Einstellungen. [2]"
