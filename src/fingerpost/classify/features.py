"""Cheap features of a question. They describe its form, never its topic."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from fingerpost.classify.smalltalk import after_greeting, smalltalk_share
from fingerpost.classify.words import count_cues, unspaced_characters, words_of

_AUXILIARIES = frozenset(
    {"is", "are", "was", "were", "do", "does", "did", "can", "could", "will", "would", "should"}
    | {"has", "have", "had", "am", "may", "might", "must"}
)
_OPENERS = frozenset(
    {"hi", "hello", "hey", "so", "and", "but", "well", "ok", "okay", "please", "also"}
    | {"then", "now"}
)
_ASKING = frozenset({"what", "how", "which", "who", "where", "when", "why"})
_RELATIVES = frozenset({"that", "which", "who", "whose", "whom", "where"})
_SENTENCE_END = re.compile(r"[.!?。！？؟।](?:\s|$|(?<=[。！？]))")
_CODE = re.compile(
    r"`[^`]+`|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b\w+_\w+\b|\b\w+\(\)|(?<!\w)--?[a-z][\w-]+"
    r"|\b[\w-]+\.(?:py|js|ts|json|ya?ml|toml|md|sh|exe|conf|ini|xml|html|txt|go|rs)\b"
    r"|\b\w+/\w+(?:/\w+)+|\b[A-Z]{2,}\d+\b|\bv?\d+\.\d+(?:\.\d+)*\b|::|=>|[<>{}$|]"
)
_ENTITY = re.compile(
    r"(?:[A-ZÀ-ÞА-Я][\w.'’&-]*)(?:\s+(?:(?:of|the|and|de|von|van|la|le|del|in|for|on|to|&)\s+){0,2}"
    r"[A-ZÀ-ÞА-Я0-9][\w.'’&-]*)*"
)
_QUOTED = re.compile(r"[\"“”«»„][^\"“”«»„]{2,80}[\"“”«»]|(?<!\w)['‘][^'’]{2,60}['’](?!\w)")
_YEAR = re.compile(r"\b(?:1[0-9]|20)\d\d\b")
_NUMBER = re.compile(r"\d+")
# A hyphen right between digits is a range of years or numbers far more often than a sum.
_ARITHMETIC = re.compile(r"\d\s*(?:[+*/x×÷^]|\s-\s|plus|minus|times|divided by|over)\s*\d")
_OWN_THING = re.compile(
    r"\bmy (?!name|friend|boss|dear|love|life|day|age|birthday|bad|god|mind|turn|voice)\w{3}"
)
_ABOUT_THING = re.compile(
    r"\b(?:tell|explain|say|know|learn|read|teach)(?: \w+){0,3} about"
    r"(?! (?:you|your\w*|u|me|us|that|this|it|life|yourself)\b)"
)
_POSSESSIVE = re.compile(r"\w['’]s\b(?=\s+\w)|\w{2}s['’]\s+\w")
_PARTICIPLE = re.compile(
    r"\b\w{2,}(?:ed|wn|en|ught|id) (?:by|in|on|at|for|as|from|with|to|after)\b"
)
_OF = frozenset({"of", "de", "des", "du", "von", "di", "del", "della", "do", "da"})
_PLURAL = re.compile(r"\b(?:what|which) (?:are|were|\w+ing)\b")
_MAX_COUNT = 3
# (name, words from, words below): the buckets overlap at the top on purpose.
_LENGTHS = (
    ("length:1-2", 0, 3),
    ("length:3-5", 3, 6),
    ("length:6-9", 6, 10),
    ("length:10-15", 10, 16),
    ("length:16-25", 16, 26),
    ("length:26+", 26, math.inf),
    ("length:50+", 50, math.inf),
)
_CHARACTERS_A_WORD = 2.2
_LONG_WORD = 8
_LONG_NAME = 3
_SHORT = 8
_CHORE = 16
_WHOLE = 0.85


def extract_features(text: str) -> dict[str, float]:
    """Return feature name → value; features that are zero are left out.

    A greeting that opens a question is left out. Values lie within about 0 to 3. Neither the
    question mark nor lower case counts: both tell where a question was collected rather than
    what it asks.
    """
    text = after_greeting(text)
    words = words_of(text)
    found = count_cues(text, words)
    features = {f"cue:{name}": min(count, _MAX_COUNT) / 2 for name, count in found.items()}
    features.update(_length_features(text, words))
    features.update(_opening_features(words))
    features.update(_shape_features(text, words))
    features.update(_chatter_features(words, found, features))
    features.update(_pair_features(found, features))
    return {name: round(value, 4) for name, value in features.items() if value}


def _length_features(text: str, words: list[str]) -> dict[str, float]:
    """Return length in words (an estimate for scripts without blanks) and sentences."""
    unspaced = unspaced_characters(text)
    length = len(words) + unspaced / _CHARACTERS_A_WORD
    sentences = max(1, len(_SENTENCE_END.findall(text)))
    long_words = 0 if unspaced else sum(len(word) > _LONG_WORD for word in words)
    features = {name: float(low <= length < high) for name, low, high in _LENGTHS}
    features["length:log"] = math.log2(1 + length) / 3
    features["sentences:more"] = min(sentences - 1, 2) / 2
    features["word:long"] = 2 * long_words / max(len(words), 1)
    return features


def _opening_features(words: list[str]) -> dict[str, float]:
    """Return the kind of sentence by its first words, openers such as 'hi' skipped."""
    rest = words
    while rest and rest[0] in _OPENERS and len(rest) > 1:
        rest = rest[1:]
    if not rest:
        return {}
    first, second, third = (*rest, "", "")[:3]
    features: dict[str, float] = {}
    if first in _AUXILIARIES:
        features["open:yes-no"] = 1.0
        features[f"open:{first}"] = 0.5
    elif first in _ASKING:
        features[f"open:{first}"] = 1.0
        if second in _AUXILIARIES or second in {"many", "much", "long", "to"}:
            features[f"open:{first} {second}"] = 1.0
        if third in {"the", "a", "an", "some", "there", "i", "you", "we", "it"} and second:
            features[f"open:{first} _ {third}"] = 0.5
    elif first in {"in", "on", "at", "for", "from", "by", "with", "to", "according"}:
        features["open:preposition"] = 1.0
    elif first in {"the", "a", "an", "this", "that"}:
        features["open:statement"] = 1.0
    return features


def _shape_features(text: str, words: list[str]) -> dict[str, float]:
    """Return counts of the parts that chain or enumerate."""
    inner = text.strip()[1:]
    entities = _entities(text.strip())
    lower = text.casefold()
    named = {0: "0", 1: "1", 2: "2"}.get(len(entities), "3+")
    return {
        f"shape:entities-{named}": 1.0,
        "shape:long-entity": float(any(len(entity.split()) >= _LONG_NAME for entity in entities)),
        "shape:acronyms": min(len(re.findall(r"\b[A-Z]{2,}s?\b", text)), 3) / 2,
        "shape:quoted": min(len(_QUOTED.findall(text)), 2) / 2,
        "shape:code": min(len(_CODE.findall(text)), 3) / 2,
        "shape:years": min(len(_YEAR.findall(text)), 2) / 2,
        "shape:numbers": min(len(_NUMBER.findall(text)), 3) / 2,
        "shape:arithmetic": float(bool(_ARITHMETIC.search(lower))),
        "shape:possessive": min(len(_POSSESSIVE.findall(text)), 2) / 2,
        "shape:of-chain": min(sum(word in _OF for word in words), 4) / 2,
        "shape:participle": min(len(_PARTICIPLE.findall(lower)), 3) / 2,
        "shape:relative": min(_inner_relatives(words), 3) / 2,
        "shape:and": min(words.count("and"), 3) / 2,
        "shape:or": min(words.count("or"), 2) / 2,
        "shape:comma": min(inner.count(",") + inner.count("，") + inner.count("、"), 4) / 2,
        "shape:parenthesis": float("(" in text or "（" in text),
        "shape:plural-ask": float(bool(_PLURAL.match(lower))),
    }


def _entities(text: str) -> list[str]:
    """Return runs of capitalised words, the first word of the text left out."""
    skip = len(text.split(maxsplit=1)[0]) if text.split() else 0
    found = []
    for match in _ENTITY.finditer(text, skip):
        run = match.group()
        if run not in {"I", "I'm", "I've", "I'd"}:
            found.append(run)
    return found


def _inner_relatives(words: list[str]) -> int:
    """Return how many relative pronouns stand inside the question, not at its start."""
    inner = words[2:]
    return sum(word in _RELATIVES for word in inner)


def _chatter_features(
    words: list[str], found: Mapping[str, int], features: Mapping[str, float]
) -> dict[str, float]:
    """Return what speaks for chatter with the assistant rather than a question of content."""
    share = smalltalk_share(words)
    short = len(words) <= _SHORT
    personal = "second_person" in found
    content = features.get("shape:code", 0) > 0 or _names_something(features)
    chatter = sum(found.get(name, 0) for name in ("feeling", "assistant", "reply", "greeting"))
    chore = len(words) <= _CHORE and not content and _is_chore(found, features)
    return {
        "talk:share": share,
        "talk:chore": float(chore),
        "talk:whole": float(share > _WHOLE or chore),
        "talk:identity": float(personal and not content) * min(found.get("identity", 0), 2) / 2,
        "talk:joke": float("small_joke" in found),
        "talk:my-thing": float(bool(_OWN_THING.search(" ".join(words))) and not content),
        "talk:about-thing": float(bool(_ABOUT_THING.search(" ".join(words)))),
        "talk:you-short": float(personal and short and not content),
        "talk:chatter": min(chatter, 4) / 2,
        "talk:chatter-density": min(1.0, chatter / max(len(words), 1)),
        "talk:statement": float(short and chatter > 0 and not _asks(found)),
        "talk:i-short": float("first_person" in found and short and "how_to" not in found),
    }


def _is_chore(found: Mapping[str, int], features: Mapping[str, float]) -> bool:
    """Return whether it is a sum, a spelling or a throw of dice: nothing a document holds."""
    sum_of_numbers = "sum" in found and features.get("shape:numbers", 0) > 0
    return (
        sum_of_numbers
        or found.get("play", 0) > 1
        or "spell" in found
        or features.get("shape:arithmetic", 0) > 0
    )


def _asks(found: Mapping[str, int]) -> bool:
    """Return whether a question word stands anywhere."""
    return any(name.startswith("ask_") for name in found)


def _names_something(features: Mapping[str, float]) -> bool:
    """Return whether a capitalised name stands inside the question."""
    return any(features.get(f"shape:entities-{count}") for count in ("1", "2", "3+"))


def _pair_features(found: Mapping[str, int], features: Mapping[str, float]) -> dict[str, float]:
    """Return conjunctions that mean more than their parts."""
    chain = sum(
        features.get(name, 0)
        for name in ("shape:relative", "shape:participle", "shape:possessive", "shape:of-chain")
    )
    named = _names_something(features)
    abstract = sum(found.get(name, 0) for name in ("causal", "evaluate", "synthesis", "compare"))
    choice = features.get("shape:or", 0) > 0
    pair = choice or features.get("shape:and", 0) > 0
    return {
        "pair:chain": min(chain, 4.0) / 2,
        "pair:relation-named": float("relation" in found and named),
        "pair:relation-chain": float("relation" in found) * min(chain, 3.0) / 2,
        "pair:work-bridge": float("work" in found and "bridge_verb" in found),
        "pair:bridge-relative": float("bridge_verb" in found) * features.get("shape:relative", 0),
        "pair:compare-named": float(choice and named and "comparative" in found),
        "pair:yes-no-two": float(features.get("open:yes-no", 0) > 0 and pair and named),
        "pair:both-same": float(pair and "two_things" in found),
        "pair:abstract": min(abstract, 5) / 2,
        "pair:abstract-unnamed": float(abstract > 0 and not named),
        "pair:why-unnamed": float("ask_why" in found and not named),
        "pair:how-open": float(
            "ask_how" in found and "how_to" not in found and "ask_amount" not in found
        ),
        "pair:fact-named": float(
            any(name in found for name in ("ask_who", "ask_when", "ask_where", "ask_amount"))
            and chain <= 1
        ),
        "pair:no-ask": float(not _asks(found)),
    }
