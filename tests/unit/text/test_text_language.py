"""The language of a text."""

import pytest

from fingerpost.text import detect_language


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "How do I set the size of the cache when it is full?"),
        ("de", "Wie kann ich die Größe des Zwischenspeichers ändern, wenn er voll ist?"),
        ("fr", "Comment puis-je changer la taille du cache quand il est plein ?"),
        ("es", "¿Cómo puedo cambiar el tamaño de la caché cuando está llena?"),
        ("pt", "Como posso mudar o tamanho do cache quando ele não está cheio?"),
        ("it", "Come posso cambiare la dimensione della cache quando è piena?"),
        ("nl", "Hoe kan ik de grootte van het geheugen wijzigen als het vol is?"),
        ("pl", "Jak mogę zmienić rozmiar pamięci podręcznej, gdy jest już pełna?"),
        ("tr", "Önbellek dolu olduğunda boyutunu nasıl değiştirebilirim ve ne kadar?"),
        ("vi", "Làm thế nào để thay đổi kích thước của bộ nhớ đệm khi nó đã đầy?"),
        ("id", "Bagaimana saya dapat mengubah ukuran tembolok jika sudah penuh?"),
        ("ru", "Как изменить размер кэша, если он уже заполнен?"),
        ("uk", "Як змінити розмір кешу, якщо він уже заповнений і це не те?"),
        ("el", "Πώς μπορώ να αλλάξω το μέγεθος της κρυφής μνήμης;"),
        ("zh", "缓存已满时如何更改缓存的大小？"),
        ("ja", "キャッシュがいっぱいのときにサイズを変更するには？"),
        ("ko", "캐시가 가득 찼을 때 크기를 어떻게 변경합니까?"),
        ("ar", "كيف يمكنني تغيير حجم ذاكرة التخزين المؤقت عندما تكون ممتلئة؟"),
        ("fa", "چگونه می‌توانم اندازه حافظه پنهان را هنگامی که پر است تغییر دهم؟"),
        ("ur", "جب کیشے بھر جائے تو میں اس کا سائز کیسے تبدیل کر سکتا ہوں؟"),
        ("hi", "कैश भर जाने पर मैं उसका आकार कैसे बदल सकता हूँ?"),
        ("th", "ฉันจะเปลี่ยนขนาดของแคชเมื่อเต็มได้อย่างไร"),
        ("he", "איך אני משנה את גודל המטמון כאשר הוא מלא?"),
    ],
)
def test_a_sentence_is_of_its_language(language, text):
    assert language == detect_language(text)


@pytest.mark.parametrize(
    "text",
    ["", "  ", "12345", "x = foo(bar); qux[1] += 2", "```\nthe of and to is\n```", "\ud800", "😀"],
)
def test_too_little_evidence_is_undetermined(text):
    assert detect_language(text) == "und"


def test_code_in_a_foreign_page_does_not_make_it_english():
    page = (
        "Führen Sie den Befehl aus, und warten Sie auf die Antwort.\n```\nwhat is the of and\n```"
    )
    assert detect_language(page) == "de"


def test_only_the_start_of_a_text_counts():
    assert detect_language("This is the text of a page. " * 200 + "это не так " * 5_000) == "en"
