"""The gate of platform knowledge: it opens for questions about fingerpost alone."""

import pytest

from fingerpost.knowledge import is_about, is_meant, load_knowledge, without_name


@pytest.mark.parametrize(
    "question",
    [
        "what does fingerpost do",
        "Fingerpost: which formats?",
        "what is in .fingerpost?",
        "What does max_tier do?",
        "Can I set FINGERPOST_INDEX_DIR?",
        "I get EmptyCorpusError",
        "how do I use QueryRouter.stream",
        "How can I turn off the result cache?",
        "What's an extractive answer?",
        "How do I set up OpenAI?",
    ],
)
def test_it_opens_for_a_name_of_ours_and_for_an_entry_in_other_words(question):
    assert is_about(question, load_knowledge())


@pytest.mark.parametrize(
    "question",
    [
        "How do I fine-tune a model of OpenAI?",
        "Which api_key does OpenAI want?",
        "What does base_url do in the client?",
        "Which filters are there?",
        "How do I index a table?",
        "What is a source?",
        "Which file formats does Pandas read?",
        "",
    ],
)
def test_it_stays_shut_for_providers_and_words_that_others_have_too(question):
    assert not is_about(question, load_knowledge())


@pytest.mark.parametrize(
    ("question", "bare"),
    [
        ("Does fingerpost support IPv6?", "support IPv6?"),
        ("How do I set up Groq in fingerpost?", "How do I set up Groq ?"),
        ("Where do I put fingerpost.toml?", "Where do I put fingerpost.toml?"),
        ("What is fingerpost?", "What is fingerpost?"),
        ("What is the .fingerpost folder?", "What is the .fingerpost folder?"),
    ],
)
def test_the_name_is_left_out_unless_nothing_would_be_left(question, bare):
    assert without_name(question) == bare


def test_an_entry_about_a_setting_stands_first_only_when_its_name_is_written():
    assert is_meant("faq/setting-max_tier", "What does FINGERPOST use MAX_TIER for?")
    assert is_meant("faq/setting-github_repos.token", "where does the token of github go?")
    assert not is_meant("faq/setting-max_tier", "What do the tiers mean?")
    assert is_meant("faq/setup-openai", "What do the tiers mean?")
