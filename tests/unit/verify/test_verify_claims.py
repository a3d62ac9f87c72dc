"""What counts as a claim of an answer."""

import pytest

from fingerpost.verify import extract_claims


def texts(answer):
    return [claim.text for claim in extract_claims(answer)]


def test_sentences_are_claims_with_exact_spans():
    answer = "Helm has four modes. It was written in Go."
    claims = extract_claims(answer)
    assert [answer[c.span.start : c.span.end] for c in claims] == [
        "Helm has four modes.",
        "It was written in Go.",
    ]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The gate opens at noon [1].", (1,)),
        ("The gate opens at noon. [1]", (1,)),
        ("The gate opens at noon.[1][2]", (1, 2)),
        ("The gate opens at noon [1, 2].", (1, 2)),
        ("The gate opens at noon [1-3].", (1, 2, 3)),
        ("The gate opens at noon［２］。", (2,)),
        ("The gate opens at noon【1】.", (1,)),
        ("The gate opens at noon [[4]].", (4,)),
        ("The gate opens at noon [1]; the bell rings [2]:", (1, 2)),
        ("The gate opens at noon[1]and the bell rings", (1,)),
        ("門は正午に開きます[1]が、The gate opens at noon［２］です。", (1, 2)),
        ("[3] The gate opens at noon.", (3,)),
        ("The gate opens at noon.[^1]", (1,)),
        ("The gate opens at noon[^1][^2].", (1, 2)),
        ("The gate opens at noon【1†L3-L9】.", (1,)),
        ("The gate opens at noon \\[1\\].", (1,)),
        ("The gate opens at noon [[1]](gate.md).", (1,)),
        ("The gate opens at noon<sup>[2]</sup>.", (2,)),
    ],
)
def test_markers_belong_to_their_sentence_wherever_they_stand(answer, expected):
    (claim,) = extract_claims(answer)
    assert claim.markers == expected
    assert "[" not in claim.text
    assert "The gate opens at noon" in claim.text


def test_a_marker_after_the_stop_belongs_to_the_sentence_before_it():
    first, second = extract_claims("The gate opens at noon. [1] The bell rings twice. [2]")
    assert (first.markers, second.markers) == ((1,), (2,))
    assert first.text == "The gate opens at noon."


@pytest.mark.parametrize(
    "answer",
    [
        "The call `rows[1]` gives the [first](a.md) row of the table.",
        "The table has a row, see [1](a.md) or its page.",
        "[1]: docs/a.md of the table",
    ],
)
def test_an_index_in_code_a_link_and_a_definition_are_no_markers(answer):
    (claim,) = extract_claims(answer)
    assert claim.markers == ()


def test_code_blocks_headings_questions_and_leads_are_no_claims():
    answer = (
        "# Install\n\nHere are the steps:\n\n"
        "```sh\nhelm install this is code.\n```\n\n"
        "~~~\nmore code here.\n```\nstill code.\n~~~\n\n"
        "Setup\n=====\n\nWhat is next? **Notes**\n\nThe chart is installed once."
    )
    assert "The chart is installed once." in texts(answer)
    assert not [text for text in texts(answer) if "code" in text or text in ("Setup", "Install")]


@pytest.mark.parametrize(
    "answer",
    [
        "Hello! Sure!",
        "I do not know.",
        "I could not find anything about this in the documents.",
        "It may help to read the guide.",
        "Thanks for asking!",
        "Ich weiß es nicht.",
        "Je ne sais pas.",
        "No lo sé.",
        "You're welcome.",
        "Das weiß ich nicht: Kein Dokument passt zu dieser Frage.",
        "Non lo so: nessun documento corrisponde a questa domanda.",
        "Não sei: nenhum documento corresponde a esta pergunta.",
        "Nu știu: niciun document nu corespunde acestei întrebări.",
        "Nie wiem: żaden dokument nie pasuje do tego pytania.",
        "Dat weet ik niet: geen enkel document past bij deze vraag.",
        "Не знаю: ни один документ не подходит к этому вопросу.",
        "Bilmiyorum: hiçbir belge bu soruyla eşleşmiyor.",
        "Δεν γνωρίζω: κανένα έγγραφο δεν ταιριάζει με την ερώτηση.",
        "Tôi không biết: không có tài liệu nào khớp với câu hỏi này.",
        "모르겠습니다.",
        "لا أعرف: لا توجد وثيقة تطابق هذا السؤال.",
        "मुझे नहीं पता: कोई भी दस्तावेज़ इस प्रश्न से मेल नहीं खाता।",
        "ไม่ทราบ ไม่มีเอกสารในดัชนีที่ตรงกับคำถามนี้",
        "Can I help you with more?",
        "你好吗？",
        "",
        "   \n\n",
        "---",
    ],
)
def test_greetings_hedges_and_questions_are_no_claims(answer):
    assert texts(answer) == []


@pytest.mark.parametrize(
    "answer",
    ["Sure, the port is 8080.", "You're welcome to use port 8080.", "Ich weiß den Port: 8080."],
)
def test_a_statement_behind_a_polite_word_is_a_claim(answer):
    assert texts(answer) == [answer]


def test_list_items_and_table_rows_are_claims():
    answer = (
        "It supports:\n\n- four modes [1]\n* `fast` start\n1. a lock file\n\n"
        "| mode | meaning |\n|------|---------|\n| hot | kept in memory |\n| cold | on disk |\n"
    )
    assert texts(answer) == [
        "four modes",
        "`fast` start",
        "a lock file",
        "hot | kept in memory",
        "cold | on disk",
    ]


def test_abbreviations_decimals_and_versions_do_not_cut_a_sentence():
    answer = "Dr. Keller wrote v2.1.3, i.e. the fix, in 3.5 hours. It needs Python 3.11."
    assert texts(answer) == [
        "Dr. Keller wrote v2.1.3, i.e. the fix, in 3.5 hours.",
        "It needs Python 3.11.",
    ]


def test_full_stops_of_other_scripts_end_sentences():
    assert texts("服务器有四个节点。它每天重启一次。") == ["服务器有四个节点。", "它每天重启一次。"]


def test_a_wrapped_sentence_is_one_claim():
    (claim,) = extract_claims("The scheduler keeps\nfour replicas of\nevery shard.")
    assert claim.text == "The scheduler keeps four replicas of every shard."


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("服务器有四个节点。“它每天重启一次。”然后呢？端口是8080！", 3),
        ("サーバーは四つあります。「毎日再起動します。」次は？", 2),
        ("يعمل الخادم على أربع عقد. هل يعيد التشغيل؟ يعيد التشغيل كل يوم۔", 2),
        ("सर्वर चार नोड पर चलता है। क्या यह तेज़ है? यह हर दिन पुनः आरंभ होता है।", 2),
        ("Сервер работает на четырёх узлах. Он перезапускается, напр. ночью. А дальше?", 2),
        ("서버는 네 개의 노드에서 실행됩니다. 매일 다시 시작됩니다.", 2),
        ("«Le serveur a 4 nœuds.» Il redémarre chaque nuit ! Et ensuite ?", 2),
        ("El servidor tiene 3,5 GB. ¿Y luego? ¡Se reinicia cada noche!", 2),
        ("Der Server hat z. B. vier Knoten. Er startet am 3. Mai neu.", 2),
        ("> The server has four nodes.\n> It restarts daily.\n\n> Really?", 2),
        ("เซิร์ฟเวอร์มีสี่โหนดและทำงานตลอดเวลาในศูนย์ข้อมูลของบริษัทที่กรุงเทพ ระบบจะรีสตาร์ททุกวัน", 2),
    ],
)
def test_sentences_of_every_language_are_claims_and_questions_are_none(answer, expected):
    claims = extract_claims(answer)
    assert len(claims) == expected
    for claim in claims:
        assert "".join(answer[claim.span.start : claim.span.end].split()).replace(">", "") == (
            "".join(claim.text.split()).replace(">", "")
        )


def test_a_lead_that_cites_or_says_much_is_a_claim_and_a_short_one_is_none():
    long = "The installer keeps the old settings of every user and asks for none of them again:"
    assert texts(f"It supports:\n\n- four modes\n\n{long}\n\n- paths\n") == [
        "four modes",
        long,
        "paths",
    ]
    assert texts("Set these [1]:\n\n- a path\n") == ["Set these:", "a path"]


def test_a_row_that_quotes_a_question_is_a_claim():
    table = "| kind | asked |\n|---|---|\n| FAQ | How do I start? |\n"
    assert texts(table) == ["FAQ | How do I start?"]


@pytest.mark.parametrize(
    "fence",
    ["```\n{}\n```", "~~~text\n{}\n~~~", "- step\n\n  ```\n  {}\n  ```", "> ```\n> {}\n> ```"],
)
def test_markers_in_code_are_text_and_code_is_no_claim(fence):
    answer = f"The gate opens [1].\n\n{fence.format('The key is a[2]. See [3].')}\n\nIt closes [4]."
    claims = extract_claims(answer)
    assert [number for claim in claims for number in claim.markers] == [1, 4]


@pytest.mark.parametrize(
    "answer",
    [
        "[Providers](docs/providers.md) · [lanes](docs/lanes.md)",
        "- [Providers](docs/providers.md)\n- [Lanes](docs/lanes.md)",
        "![A valve](valve.png)",
    ],
)
def test_links_and_images_alone_are_no_claims(answer):
    assert texts(answer) == []
    assert texts("[The gate opens at noon](gate.md).") == ["[The gate opens at noon](gate.md)."]


def test_a_row_is_one_claim_whatever_stands_in_its_cells():
    table = "| port | meaning |\n|---|---|\n| 80 | It is open [1]. It may change. |\n"
    table += "| 81 | Is it open? No [3] |\n"
    claims = extract_claims(table)
    assert [claim.markers for claim in claims] == [(1,), (3,)]
    assert claims[0].text == "80 | It is open. It may change."


def test_a_bold_line_that_is_a_sentence_is_a_claim_and_a_title_is_none():
    assert texts("**The gate opens at noon.**\n\n**Opening hours**\n\n**Notes:**\n") == [
        "**The gate opens at noon.**"
    ]


def test_a_footnote_sign_after_a_full_stop_does_not_join_two_sentences():
    claims = extract_claims("The gate opens at noon.[^1] The bell rings at one.[^2]")
    assert [(c.text, c.markers) for c in claims] == [
        ("The gate opens at noon.", (1,)),
        ("The bell rings at one.", (2,)),
    ]


@pytest.mark.parametrize("line", ["[^1]: docs/gate.md", "[gate]: <gate.md> 'The gate'"])
def test_a_definition_of_a_link_or_a_footnote_is_no_claim(line):
    assert texts(line) == []


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("<p>The gate opens at <b>12</b> sharp.</p>", ["The gate opens at 12 sharp."]),
        (
            "<ul><li>The gate opens at noon</li><li>The bell rings</li></ul>",
            ["The gate opens at noon", "The bell rings"],
        ),
        ("The gate opens<br>The bell rings<br/>", ["The gate opens", "The bell rings"]),
        ("H<sub>2</sub>O is in the jug.", ["H2O is in the jug."]),
        ("<details>\n<summary>Gates</summary>\n\nThe gate opens.\n</details>", ["The gate opens."]),
        ("Use `<p>` for the gate.", ["Use `<p>` for the gate."]),
        ("It takes a List<String> of gates.", ["It takes a List<String> of gates."]),
        ("| gate | noon<br>one |\n| bell | two |", ["gate | noon one", "bell | two"]),
        ("```\n<p>The gate opens.</p>\n```", []),
    ],
)
def test_tags_of_html_are_no_words_and_end_what_stands_before_them(answer, expected):
    assert texts(answer) == expected


def test_signs_of_quoted_lines_are_no_words():
    answer = "> The gate opens\n> at noon.\n>> The bell rings.\n\n> # Heading\n\n>= 5 gates."
    assert texts(answer) == [
        "The gate opens at noon.",
        "The bell rings.",
        ">= 5 gates.",
    ]


def test_spans_hold_what_was_written_with_its_tags():
    answer = "<p>The gate opens at <b>12</b> sharp.</p>"
    (claim,) = extract_claims(answer)
    assert answer[claim.span.start : claim.span.end] == "The gate opens at <b>12</b> sharp."
