"""Names that texts share: identifiers, proper names, words that a text dwells on."""

import pytest

from fingerpost.text.names import MOST_NAMES, borne_number, name_numbers, names_in


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Use Get-ChildItem here.", "get-childitem"),
        ("Set `max_open_files` to 5.", "max_open_files"),
        ("Pass --dry-run to it.", "--dry-run"),
        ("It calls getItem twice.", "getitem"),
        ("played by Ada Lovelace in May", "ada lovelace"),
        ("the home of Stadio Renato Dall'Ara now", "stadio renato dall'ara"),
        ("CEO of Forever Living Products, a firm", "forever living products"),
        ("with Win Butler and Regine Chassagne", "regine chassagne"),
        ("father of Sequoyah the famous", "sequoyah"),
        ("Mr. Herbert L. Kessler wrote", "herbert l. kessler"),
        ("в городе Санкт Петербург зимой", "санкт петербург"),
    ],
)
def test_a_name_is_found(text, name):
    assert name in names_in(text, "")


@pytest.mark.parametrize(
    "text", ["The end.", "A well-known thing, e.g. this.", "Open it. Then go."]
)
def test_prose_without_names_has_none(text):
    assert names_in(text, "") == ()


def test_words_that_a_text_repeats_are_names_of_a_kind_of_their_own():
    assert names_in("plain words", "zebra zebra lion tiger") == ("~zebra",)


def test_there_are_at_most_sixteen_and_the_most_telling_come_first():
    people = [f"Person {one}{other}a" for one in "ABCDEF" for other in "bcdef"]
    text = " who met ".join(people)
    found = names_in(f"{text} at get_item", "")
    assert len(found) == len(set(found)) == MOST_NAMES
    assert "get_item" in found


def test_a_page_bears_the_name_that_others_mention():
    (number,) = name_numbers("we met Ada Lovelace", "")
    assert borne_number("Ada Lovelace (writer)") == number
    assert borne_number("`Get-Process`") == name_numbers("run Get-Process", "")[0]
    assert borne_number("") == 0
    assert 0 < number < 2**48


def test_a_long_line_without_a_name_takes_no_longer_than_its_length_says():
    assert len(names_in("Aa" * 50_000, "")) <= MOST_NAMES
    assert len(names_in("a.b-" * 50_000, "")) <= MOST_NAMES
    assert len(names_in("A. " * 50_000, "")) <= MOST_NAMES
