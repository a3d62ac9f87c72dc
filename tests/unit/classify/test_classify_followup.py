"""Follow-ups are rewritten to stand alone; everything else stays as it is."""

from __future__ import annotations

import pytest

from fingerpost.classify import rewrite_follow_up
from fingerpost.types.query import Turn

FIRST = "How do I install the CLI on macOS?"
OFFERED = [
    Turn("user", FIRST),
    Turn("assistant", "With brew. Would you like me to compare the Homebrew and tarball ways?"),
]


@pytest.mark.parametrize(
    "text",
    ["how do I uninstall it?", "why?", "Which one is faster?",
     "What are the system requirements?", "Does it work offline?"],
)  # fmt: skip
def test_what_leans_on_the_conversation_gets_its_topic(text: str) -> None:
    rewritten = rewrite_follow_up(text, OFFERED)
    assert rewritten is not None
    assert rewritten.startswith(text)
    assert "install the CLI on macOS" in rewritten


@pytest.mark.parametrize(
    "text",
    [FIRST, "What is a guardrail?", "How can I configure the proxy for Docker?", "thanks!",
     "What is the difference between Deployment and StatefulSet?", "kubernetes", "",
     "Explain this error: ECONNREFUSED", "Is there a way to disable telemetry?"],
)  # fmt: skip
def test_what_stands_alone_stays_untouched(text: str) -> None:
    assert rewrite_follow_up(text, OFFERED) is None


@pytest.mark.parametrize("text", ["yes, do it", "yes", "Sure!", "ok", "go ahead"])
def test_agreement_becomes_what_the_assistant_offered(text: str) -> None:
    rewritten = rewrite_follow_up(text, OFFERED)
    assert rewritten == f"{text} (compare the Homebrew and tarball ways)"


def test_agreement_to_nothing_stays_as_it_is() -> None:
    assert rewrite_follow_up("yes", [Turn("user", FIRST), Turn("assistant", "With brew.")]) is None


def test_nothing_is_added_without_a_conversation() -> None:
    assert rewrite_follow_up("and for Windows?", []) is None


def test_a_question_equal_to_the_first_turn_stays_as_on_the_first_turn() -> None:
    history = [
        Turn("user", "What does it cost?"),
        Turn("assistant", "Nothing."),
        Turn("user", "How do I install the CLI?"),
        Turn("assistant", "With brew."),
    ]
    assert rewrite_follow_up("what does it cost", history) is None
    assert rewrite_follow_up("what does it need?", history) is not None


def test_the_topic_is_found_behind_other_follow_ups_and_thanks() -> None:
    history = [
        *OFFERED,
        Turn("user", "and for Windows?"),
        Turn("assistant", "With the installer."),
        Turn("user", "thanks"),
        Turn("assistant", "You are welcome."),
    ]
    rewritten = rewrite_follow_up("how do I uninstall it?", history)
    assert rewritten is not None
    assert rewritten == "how do I uninstall it? (install the CLI on Windows)"


@pytest.mark.parametrize(
    ("first", "text", "kept"),
    [
        ("如何在 macOS 上安装 helm？", "那 Windows 呢？", "安装"),
        ("如何在 macOS 上安装 helm？", "它支持离线吗？", "helm"),
        ("HelmをmacOSにインストールする方法は？", "Windowsはどうですか？", "インストール"),
        ("Helm을 macOS에 설치하는 방법은?", "윈도우는요?", "설치"),
        ("Wie installiere ich Helm auf macOS?", "und unter Windows?", "installiere"),
        ("¿Cómo instalo Helm en macOS?", "¿y en Windows?", "instalo"),
        ("Как установить Helm на macOS?", "а на Windows?", "установить"),
    ],
)
def test_follow_ups_in_other_languages_keep_their_language(
    first: str, text: str, kept: str
) -> None:
    rewritten = rewrite_follow_up(text, [Turn("user", first), Turn("assistant", "brew")])
    assert rewritten is not None
    assert kept in rewritten


@pytest.mark.parametrize(
    "text", ["什么是 chart？", "チャートとは何ですか？", "Was ist ein Chart?", "Danke"]
)
def test_new_questions_in_other_languages_stay_untouched(text: str) -> None:
    assert rewrite_follow_up(text, [Turn("user", "如何安装 helm？")]) is None


def talk(*turns: str) -> list[Turn]:
    """Return the turns, the user's first, then in alternation."""
    return [Turn("assistant" if place % 2 else "user", text) for place, text in enumerate(turns)]


@pytest.mark.parametrize(
    ("first", "text", "rewritten"),
    [
        ("How do I deploy to Netlify?", "what about Cloudflare", "How do I deploy to Cloudflare?"),
        ("How do I deploy to Netlify?", "And Vercel?", "How do I deploy to Vercel?"),
        ("How do I install the CLI on macOS?", "and for Windows?",
         "How do I install the CLI on Windows?"),
        ("How do I deploy Astro to Netlify?", "what about Vercel then?",
         "How do I deploy Astro to Vercel?"),
        ("What does exit code 3 mean?", "and 7?", "What does exit code 7 mean?"),
        ("Wie installiere ich Helm auf macOS?", "und für Windows?",
         "Wie installiere ich Helm auf Windows?"),
        ("Wie installiere ich Helm auf macOS?", "und unter Windows?",
         "Wie installiere ich Helm unter Windows?"),
        ("¿Cómo instalo Helm en macOS?", "¿y en Windows?", "¿Cómo instalo Helm en Windows?"),
        ("Как установить Helm на macOS?", "а на Windows?", "Как установить Helm на Windows?"),
        ("Which rules hold for new employees?", "and for contractors?",
         "Which rules hold for contractors?"),
    ],
)  # fmt: skip
def test_another_thing_takes_the_place_of_the_old_one(
    first: str, text: str, rewritten: str
) -> None:
    assert rewrite_follow_up(text, talk(first, "Like this.")) == rewritten


def test_of_several_things_named_in_turn_only_the_last_stays() -> None:
    history = talk("How do I deploy to Netlify?", "So.", "what about Vercel?", "Thus.")
    assert rewrite_follow_up("what about Cloudflare", history) == "How do I deploy to Cloudflare?"


def test_a_name_that_the_assistant_wrote_is_known_in_lower_case() -> None:
    history = talk("How do I deploy to Netlify?", "You can use Netlify, or Cloudflare.")
    assert rewrite_follow_up("and cloudflare?", history) == "How do I deploy to cloudflare?"


@pytest.mark.parametrize("text", ["what about authentication?", "what about Vue?"])
def test_a_thing_of_another_kind_or_without_a_clear_place_replaces_nothing(text: str) -> None:
    rewritten = rewrite_follow_up(text, talk("How do I use React with Astro?", "So."))
    assert rewritten == f"{text} (use React with Astro)"


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("What is the difference between the two?",
         "What is the difference between Vercel and Cloudflare?"),
        ("what's the difference between them?", "what's the difference between Vercel and Cloudflare?"),
        ("Compare the two for small sites", "Compare Vercel and Cloudflare for small sites"),
    ],
)  # fmt: skip
def test_the_two_are_the_things_spoken_of_last(text: str, rewritten: str) -> None:
    full = talk("How do I deploy to Vercel?", "a", "How do I deploy to Cloudflare?", "b")
    short = talk("How do I deploy to Vercel?", "a", "what about Cloudflare?", "b")
    side_by_side = talk("Should I use Vercel or Cloudflare?", "Both work.")
    for history in (full, short, side_by_side):
        found = rewrite_follow_up(text, history)
        assert found is not None
        assert found.casefold() == rewritten.casefold()


def test_a_topic_of_earlier_turns_does_not_leak_into_a_newcomer() -> None:
    history = talk(
        "What does the verdict weak mean?", "a", "Which verdicts are there?", "b",
        "Which exit codes are there?", "0, 3 and 7",
    )  # fmt: skip
    assert rewrite_follow_up("what about 7?", history) == "what about 7? (exit codes)"


def test_brackets_of_the_topic_itself_are_left_out() -> None:
    rewritten = rewrite_follow_up("how do I remove it?", talk("How do I install (global) tools?"))
    assert rewritten is not None
    assert rewritten.count("(") == rewritten.count(")") == 1
