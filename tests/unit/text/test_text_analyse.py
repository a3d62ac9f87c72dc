"""The one analyser: tokens of identifiers, codes, scripts, and the weights of a question."""

import time

import pytest

from fingerpost.text import analyse, analyse_joined, query_tokens
from fingerpost.text.identifiers import MAX_TOKEN


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("getChildItem", "getchilditem get child item"),
        ("Get-ChildItem", "getchilditem get childitem child item"),
        ("get_child_item", "getchilditem get child item"),
        ("HTTPServer", "httpserver http server"),
        ("os.path.join", "ospathjoin os path join"),
        ("std::vector", "stdvector std vector"),
        ("--dry-run", "dryrun dri run"),
        ("__init__", "init"),
        ("fingerpost.toml.", "fingerposttoml fingerpost toml"),
        ("ECONNREFUSED?", "econnrefus"),
        ("HTTP 404", "http 404"),
        ("CS0246", "cs0246 cs 0246"),
        ("E0502", "e0502"),
        ("0x80070005", "0x80070005"),
        ("C++ C# F# Go R", "c++ c# f# go r"),
        ("C++17", "c++ 17"),
        (".NET", "dotnet net"),
        ("ASP.NET", "aspnet asp net"),
        ("notepad++", "notepad++ notepad"),
        ("v2.10", "2.10"),
        ("2.10.3", "2.10.3 2.10"),
        ("(v2.1.)", "2.1"),
        ("1,234,567", "1234567"),
        ("utf8 utf-8", "utf8 utf8 utf 8"),
        ("user's don't l'index", "user dont index"),
        ("http://a.io/x_y?q=1#top", "http aio a io xy x y q 1 top"),
        ("连接失败", "连接 接失 失败"),
        ("年", "年"),
        ("使用C#语言", "使用 c# 语言"),
        ("データベース", "デー ータ タベ ベー ース"),
        ("데이터를", "데이 이터 터를 데이터를"),
        ("설정", "설정"),
        ("ไฟล์", "ไฟ ฟล ล์"),
        ("ＡＢＣ ﬁle", "abc file"),
        ("ｶﾞﾗｽ", "ガラ ラス"),
        ("café naïve Größe İstanbul Łódź", "cafe naiv gross istanbul lodz"),
        ("приём ПРИЕМ", "при при"),
        ("п'ять п’ять", "пят пят"),
        ("क़लम कलम", "कलम कलम"),
        ("शिक्षा", "शिक्ष"),
        ("كتـــاب كِتَاب كتاب", "كتاب كتاب كتاب"),
        ("שָׁלוֹם", "שלום"),
        ("می\u200cخواهم", "ميخو"),
        ("١٢٣ १२३", "123 123"),
        ("😀 ok 👩‍💻", "ok"),
        ("pass\u00adword", "password"),
        ("a\x00b", "a b"),
        ("\ud800 x\udfff", "x"),
        ("\u202eabc\u202c", "abc"),
        ("... --- !!! | * #", ""),
        ("", ""),
    ],
)
def test_a_text_gives_its_tokens(text, tokens):
    assert tokens.split() == analyse(text)


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("get-childitem", "Get-ChildItem"),
        ("GETCHILDITEM", "getChildItem"),
        ("childitem", "Get-ChildItem"),
        ("dry run", "--dry-run"),
        ("dryRun", "dry_run"),
        ("2.10", "v2.10"),
        ("2.10", "v2.10.3"),
        ("dotnet", ".NET"),
        ("oauth", "OAuth2"),
        ("404", "HTTP404"),
        ("connecting", "connections"),
        ("cafe", "café"),
        ("数据", "大数据库"),
        ("検索", "全文検索機能"),
        ("색인", "전문색인은"),
        ("ตั้ง", "การตั้งค่า"),
        ("ຂໍ້", "ມີຂໍ້ມູນ"),
        ("ទិន្", "ទិន្នន័យ"),
        ("ချက်", "အချက်အလက်"),
        ("базы", "база"),
        ("ελλαδα", "Ελλάδα"),
        ("straße", "STRASSE"),
    ],
)
def test_a_question_finds_the_form_that_is_written(asked, written):
    assert set(query_tokens(asked)) & set(analyse(written))


@pytest.mark.parametrize(
    ("asked", "written"),
    [("v2.1", "v2.10"), ("C", "C++"), ("C#", "C++"), ("R", "Rust"), ("मैं", "में")],
)
def test_different_things_have_no_token_in_common(asked, written):
    assert not set(analyse(asked)) & set(analyse(written))


def test_a_whole_outweighs_a_word_and_a_word_outweighs_a_part():
    weights = query_tokens("fix Get-ChildItem")
    assert weights["getchilditem"] > weights["fix"] > weights["item"] > 0


def test_codes_and_versions_outweigh_words():
    weights = query_tokens("error CS0246 since 2.10")
    assert weights["cs0246"] > weights["error"]
    assert weights["2.10"] > weights["error"]


@pytest.mark.parametrize(
    ("question", "tokens"),
    [
        ("How do I set the cache size?", {"set", "cach", "size"}),
        ("Wie kann ich den Cache leeren?", {"cach", "leeren"}),
        ("¿Cómo puedo borrar la caché?", {"puedo", "borrar", "cach"}),
        ("Как очистить кэш?", {"очист", "кэш"}),
        ("kubernetes pod os go", {"kubernet", "pod", "os", "go"}),
    ],
)
def test_stop_words_of_the_questions_language_are_left_out(question, tokens):
    assert tokens == set(query_tokens(question))


def test_a_question_of_stop_words_only_keeps_them():
    assert {"what", "is", "it"} == set(query_tokens("what is it?"))


def test_a_repeated_word_weighs_more_but_not_without_end():
    once, twice, often = (query_tokens("cache " * n)["cach"] for n in (1, 2, 50))
    assert once < twice < often <= 3 * once


def test_a_huge_question_gives_at_most_256_tokens_soon():
    started = time.process_time()
    weights = query_tokens(" ".join(f"word{n}Part" for n in range(10_000)))
    assert len(weights) == 256
    assert time.process_time() - started < 2


@pytest.mark.parametrize("blank", ["", "   ", "\x00", "?!", "\ud800"])
def test_a_question_without_words_has_no_tokens(blank):
    assert query_tokens(blank) == {}


def test_a_long_run_becomes_few_short_tokens():
    base64 = "QWxhZGRpbjpvcGVuIHNlc2FtZQ0K+/" * 6_700
    for run in ("a" * 50_000, base64, "Ab1" * 20_000, "\u0430" * 50_000):
        tokens = analyse(f"before {run} after")
        assert len(tokens) <= 10
        assert max(map(len, tokens)) <= MAX_TOKEN


def test_equal_long_runs_are_found_by_each_other():
    run = "x1Y" * 100
    assert analyse(run) == analyse(f"  {run} ")
    assert analyse(run) != analyse(run + "z")


def test_minified_text_keeps_its_words():
    assert {"alpha", "beta"} <= set(analyse("alpha=1;beta(2);" * 5_000))


def test_the_joined_form_is_the_tokens_with_single_blanks():
    text = "A-b ... C++ 数据库 | getX"
    assert analyse_joined(text) == " ".join(analyse(text))


@pytest.mark.parametrize(
    "unit",
    ["a", "A1b2", "x\u0300\u0327", "\u05b0\u05bc", "数据", "กา", "a.b-", "a'", "é", "+/", "\ud800"],
)
def test_time_grows_with_the_length_of_a_run(unit):
    assert _growth(analyse_joined, unit * 8_000) < 4


def _growth(function, text):
    """Return how much longer twice the text takes; the fastest of several runs."""

    def cost(subject):
        times = []
        for _ in range(4):
            started = time.process_time()
            function(subject)
            times.append(time.process_time() - started)
        return min(times)

    return cost(text * 2) / max(cost(text), 4e-3)


def test_tokens_do_not_depend_on_what_was_analysed_before():
    text = "Get-ChildItem 数据库 v2.10"
    before = analyse(text)
    analyse_joined(" ".join(map(str, range(140_000))))
    assert before == analyse(text)
