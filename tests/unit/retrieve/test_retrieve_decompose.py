import pytest

from fingerpost.retrieve import decompose


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("How do I install it?", []),
        ("Rock and roll history", []),
        ("I see the error 'marker missing'. What do I do?", []),
        (
            "How do I install the agent and how do I upgrade it?",
            ["How do I install the agent", "how do I upgrade it install agent"],
        ),
        ("What is the difference between Redis and RabbitMQ?", ["Redis", "RabbitMQ"]),
        (
            "Redis vs RabbitMQ for task queues",
            ["Redis for task queues", "RabbitMQ for task queues"],
        ),
        ("Was ist der Unterschied zwischen Redis und RabbitMQ?", ["Redis", "RabbitMQ"]),
        (
            "Wie installiere ich den Dienst und wie starte ich den Server?",
            ["Wie installiere ich den Dienst", "wie starte ich den Server"],
        ),
        (
            "Comment installer le service et comment sauvegarder la base ?",
            ["Comment installer le service", "comment sauvegarder la base"],
        ),
        ("Redis和RabbitMQ的区别是什么？", ["Redis", "RabbitMQ"]),
        ("如何安装服务以及如何备份数据库？", ["如何安装服务", "如何备份数据库"]),
        (
            "Who wrote the parser? Who tests the splitter?",
            ["Who wrote the parser", "Who tests the splitter"],
        ),
    ],
)
def test_a_question_falls_into_its_parts_in_its_own_words(text, parts):
    assert decompose(text, 5) == parts


def test_no_more_parts_than_asked_for():
    text = " ".join(f"How does part{n} of the machine work?" for n in range(9))
    assert len(decompose(text, 3)) == 3


def test_every_letter_of_a_part_stands_in_the_question():
    text = "Как установить сервис и как обновить базу? 如何安装？"
    for part in decompose(text, 5):
        assert set(part.replace(" ", "")) <= set(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("what about 7? (weak mean; exit codes)", []),
        ("Does it work? (install Helm and Tiller; what is a chart)", []),
        (
            "How do I install it and how do I remove it? (Helm; exit codes)",
            [
                "How do I install it (Helm; exit codes)",
                "how do I remove it install (Helm; exit codes)",
            ],
        ),
        (
            "yes, do it (compare the Homebrew and tarball ways)",
            ["the Homebrew", "tarball ways"],
        ),
    ],
)
def test_brackets_at_the_end_are_never_cut_and_stand_behind_every_part(text, parts):
    assert decompose(text, 5) == parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "Wie starte ich den Server und wie ändere ich das Passwort?",
            ["Wie starte ich den Server", "wie ändere ich das Passwort"],
        ),
        (
            "Wie starte ich den Server und wie beenden Sie die Sitzung?",
            ["Wie starte ich den Server", "wie beenden Sie die Sitzung"],
        ),
        (
            "Comment démarrer le serveur et comment faut-il changer les clés ?",
            ["Comment démarrer le serveur", "comment faut-il changer les clés"],
        ),
        (
            "¿Cómo se instala el servidor y qué es el modo seguro?",
            ["Cómo se instala el servidor", "qué es el modo seguro"],
        ),
        ("如何安装服务器，以及如何修改密码？", ["如何安装服务器", "如何修改密码"]),
        ("比较快速模式和安全模式，以及如何安装？", ["快速模式", "安全模式", "如何安装"]),
    ],
)
def test_a_part_that_says_what_it_is_about_takes_no_words_of_another(text, parts):
    assert decompose(text, 5) == parts


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (
            "Wie installiere ich den Server und wie lösche ich ihn?",
            "wie lösche ich ihn installiere Server",
        ),
        (
            "Comment installer le serveur et pourquoi elle bloque le port ?",
            "pourquoi elle bloque le port installer serveur",
        ),
        (
            "¿Para qué sirve el servidor y cómo bloquea eso los puertos?",
            "cómo bloquea eso los puertos sirve servidor",
        ),
        ("如何安装服务器，以及如何删除它？", "如何删除它 安装服务器"),
    ],
)
def test_a_part_with_a_pronoun_takes_what_it_stands_for_from_the_first(text, part):
    assert decompose(text, 5)[-1] == part
