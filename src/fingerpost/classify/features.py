"""Cheap features of a question. They describe its form, never its topic."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from fingerpost.classify.smalltalk import smalltalk_share
from fingerpost.classify.words import count_cues, unspaced_characters, words_of

_AUXILIARIES = frozenset(
    "is are was were do does did can could will would should has have had am may might must".split()
)
_OPENERS = frozenset("hi hello hey so and but well ok okay please also then now".split())
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
_ARITHMETIC = re.compile(r"\d\s*(?:[-+*/x×÷^]|plus|minus|times|divided by|over)\s*\d")
_POSSESSIVE = re.compile(r"\w['’]s\b(?=\s+\w)|\w{2}s['’]\s+\w")
_PARTICIPLE = re.compile(
    r"\b\w{2,}(?:ed|wn|en|ught|id) (?:by|in|on|at|for|as|from|with|to|after)\b"
)
_OF = frozenset({"of", "de", "des", "du", "von", "di", "del", "della", "do", "da"})
_PLURAL = re.compile(r"\b(?:what|which) (?:are|were|\w+ing)\b")
_MAX_COUNT = 3


def extract_features(text: str) -> dict[str, float]:
    """Return feature name → value; features that are zero are left out.

    Values lie within about 0 to 3. Neither the question mark nor lower case counts: both tell
    where a question was collected rather than what it asks.
    """
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
    length = len(words) + unspaced / 2.2
    sentences = max(1, len(_SENTENCE_END.findall(text)))
    return {
        "length:log": math.log2(1 + length) / 3,
        "length:1-2": float(length < 3),
        "length:3-5": float(3 <= length < 6),
        "length:6-9": float(6 <= length < 10),
        "length:10-15": float(10 <= length < 16),
        "length:16-25": float(16 <= length < 26),
        "length:26+": float(length >= 26),
        "length:50+": float(length >= 50),
        "sentences:2": float(sentences == 2),
        "sentences:3+": float(sentences >= 3),
        "word:long": (
            sum(len(word) > 8 for word in words) / len(words) * 2 if words and not unspaced else 0.0
        ),
    }


def _opening_features(words: list[str]) -> dict[str, float]:
    """Return the kind of sentence by its first words, openers such as 'hi' skipped."""
    rest = words
    while rest and rest[0] in _OPENERS and len(rest) > 1:
        rest = rest[1:]
    if not rest:
        return {}
    first, second = rest[0], rest[1] if len(rest) > 1 else ""
    third = rest[2] if len(rest) > 2 else ""
    features: dict[str, float] = {}
    if first in _AUXILIARIES:
        features["open:yes-no"] = 1.0
        features[f"open:{first}"] = 0.5
    elif first in {"what", "how", "which", "who", "where", "when", "why"}:
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
    body = text.strip()
    inner = body[1:]
    entities = _entities(body)
    lower = text.casefold()
    return {
        "shape:entities-1": float(len(entities) == 1),
        "shape:entities-2": float(len(entities) == 2),
        "shape:entities-3+": float(len(entities) >= 3),
        "shape:long-entity": float(any(len(entity.split()) >= 3 for entity in entities)),
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
    return sum(word in {"that", "which", "who", "whose", "whom", "where"} for word in inner)


def _chatter_features(
    words: list[str], found: Mapping[str, int], features: Mapping[str, float]
) -> dict[str, float]:
    """Return what speaks for chatter with the assistant rather than a question of content."""
    share = smalltalk_share(words)
    short = features["length:log"] < 1.2
    personal = "second_person" in found
    content = features.get("shape:code", 0) or features.get("shape:entities-1", 0)
    chatter = sum(found.get(name, 0) for name in ("feeling", "assistant", "reply", "greeting"))
    return {
        "talk:share": share,
        "talk:whole": float(share > 0.85),
        "talk:you-short": float(personal and short and not content),
        "talk:chatter": min(chatter, 4) / 2,
        "talk:chatter-density": min(1.0, chatter / max(len(words), 1)),
        "talk:statement": float(
            short and not any(name.startswith("ask_") for name in found) and chatter > 0
        ),
        "talk:i-short": float("first_person" in found and short and "how_to" not in found),
    }


def _pair_features(found: Mapping[str, int], features: Mapping[str, float]) -> dict[str, float]:
    """Return conjunctions that mean more than their parts."""
    chain = sum(
        features.get(name, 0)
        for name in ("shape:relative", "shape:participle", "shape:possessive", "shape:of-chain")
    )
    named = (
        1 - max(float(not features.get(f"shape:entities-{count}", 0)) for count in ("1",))
        or features.get("shape:entities-2", 0)
        or features.get("shape:entities-3+", 0)
    )
    abstract = sum(found.get(name, 0) for name in ("causal", "evaluate", "synthesis", "compare"))
    choice = features.get("shape:or", 0) > 0
    pair = choice or features.get("shape:and", 0) > 0
    return {
        "pair:chain": min(chain, 4.0) / 2,
        "pair:relation-named": float("relation" in found and bool(named)),
        "pair:relation-chain": float("relation" in found) * min(chain, 3.0) / 2,
        "pair:work-bridge": float("work" in found and "bridge_verb" in found),
        "pair:bridge-relative": float("bridge_verb" in found) * features.get("shape:relative", 0),
        "pair:compare-named": float(choice and bool(named) and "comparative" in found),
        "pair:yes-no-two": float(features.get("open:yes-no", 0) > 0 and pair and bool(named)),
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
        "pair:no-ask": float(not any(name.startswith("ask_") for name in found)),
    }
