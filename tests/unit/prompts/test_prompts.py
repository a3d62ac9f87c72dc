"""Prompts as data."""

import pytest

from fingerpost.errors import ConfigError
from fingerpost.prompts import Prompt, load_prompt

NAMES = ("answer", "classify", "decompose", "hyde", "plan", "rewrite", "talk")


@pytest.mark.parametrize("name", NAMES)
def test_each_prompt_ships_with_its_hash(name):
    prompt = load_prompt(name)
    assert prompt.text
    assert len(prompt.fingerprint) == 16
    assert load_prompt(name) == prompt


def test_no_two_prompts_have_one_hash():
    assert len({load_prompt(name).fingerprint for name in NAMES}) == len(NAMES)


def test_a_value_that_looks_like_a_place_stays_text():
    prompt = Prompt("test", "{{one}} and {{two}}", "0")
    assert prompt.fill(one="{{two}}", two="2") == "{{two}} and 2"


@pytest.mark.parametrize("values", [{}, {"one": "1"}, {"one": "1", "two": "2", "three": "3"}])
def test_places_and_values_must_agree(values):
    with pytest.raises(ConfigError, match=r"two|three"):
        Prompt("test", "{{one}} and {{two}}", "0").fill(**values)


def test_an_unknown_prompt_is_an_error():
    with pytest.raises(ConfigError, match="nothing"):
        load_prompt("nothing")
