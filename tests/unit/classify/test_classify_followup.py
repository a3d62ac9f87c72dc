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
    ["and for Windows?", "what about Linux?", "how do I uninstall it?", "why?", "Which one is faster?",
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
    assert "install the CLI on macOS" in rewritten
    assert "Windows" in rewritten


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
