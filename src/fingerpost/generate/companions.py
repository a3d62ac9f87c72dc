"""What a chosen unit cannot be understood without."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fingerpost.generate.cues import Want
from fingerpost.generate.listing import Listing, Place, section
from fingerpost.generate.score import Question, ScoredUnit
from fingerpost.generate.units import LISTED, Unit, UnitKind
from fingerpost.text.analyse import analyse
from fingerpost.text.unfinished import COLONS
from fingerpost.types import Hit

_WHOLE = 15
_BEGINNING = 10
_SHORT_SECTION = 60
_MAX_BACK = 2
_LEANS_BACK = re.compile(
    r"(?:This|These|That|Those|It|Its|They|Their|Such|He|She|His|Her|However|Therefore|Thus"
    r"|But|Instead|Otherwise|Then|Hence"
    r"|Dies(?:e[rsnm]?)?|Er|Sie|Daher|Jedoch|Est[aeo]s?|Ell[oa]s?|Sin embargo|Cel(?:a|ui|le)"
    r"|Cette?|Ces|Ils?|Elles?|Cependant"
    r"|Это|Эт[аи]|Он[аио]?|Однако|Поэтому|Αυτ(?:ό|ή|ά|ές|οί|ός)|Bu|Bunlar|Acest[ae]?a?|Nó|Họ"
    r"|Điều này)\b"
    r"|这|那|它|他们|因此|但|しかし|これ|それ|그러나|이는|이것"
)  # fmt: skip


@dataclass(slots=True)
class Context:
    """What stands around the units of one question.

    Attributes:
        question: As read by the scorer.
        scored: Every unit of the evidence.
        listings: Listing of each unit in one, or right above one.
        chosen: Units chosen for themselves, best first.
        hits: Which the units name by position.
        whole: Listings of which all was wanted; grows while companions are asked for.
    """

    question: Question
    scored: Sequence[ScoredUnit]
    listings: Mapping[Place, Listing]
    chosen: Sequence[Unit]
    hits: Sequence[Hit]
    whole: list[Listing] = field(default_factory=list)
    units: dict[Place, Unit] = field(init=False)
    scores: dict[Place, float] = field(init=False)

    def __post_init__(self) -> None:
        self.units = {place_of(item.unit): item.unit for item in self.scored}
        self.scores = {place_of(item.unit): item.score for item in self.scored}

    def neighbour(self, unit: Unit, step: int) -> Unit | None:
        """Return the unit before or after in the same chunk and section."""
        other = self.units.get((unit.hit, unit.order + step))
        return other if other is not None and other.heading == unit.heading else None


def place_of(unit: Unit) -> Place:
    """Return what names a unit within the evidence."""
    return unit.hit, unit.order


def companions(unit: Unit, context: Context) -> list[Unit]:
    """Return the units without which a chosen one cannot be understood, nearest first."""
    listing = context.listings.get(place_of(unit))
    if unit.kind in LISTED:
        return _of_item(unit, listing, context)
    if unit.kind is UnitKind.CODE:
        lead = None if unit.lead is None else context.units.get((unit.hit, unit.lead))
        return [] if lead is None else [lead, *_before(lead, context)]
    found = [*_before(unit, context), *_behind(unit, context)]
    if listing is not None and unit in listing.lead:
        found += _below(unit, listing, context)
    return found


def _of_item(unit: Unit, listing: Listing | None, context: Context) -> list[Unit]:
    """Return the lead of an item, and its list when all of it is asked for."""
    if listing is None:
        return []
    found = [listing.lead[-1]] if listing.introduced and len(listing.lead[-1].tokens) > 1 else []
    if unit.kind is UnitKind.STEP or _asks_for_all(listing, context):
        return found + _all_of(listing, context)
    parts = listing.with_parts(unit) if unit in listing.items else [unit]
    return found + [part for part in parts if part.kind is not UnitKind.CODE]


def _asks_for_all(listing: Listing, context: Context) -> bool:
    """Return whether the question asks for the whole list: no item of it stands out."""
    if listing.focus(context.question.terms):
        return False
    wants = context.question.wants
    several = sum(unit in listing.items for unit in context.chosen) > 1
    reasons = Want.REASON in wants and context.chosen[0] in listing.lead
    return several or reasons or Want.LISTING in wants


def _below(unit: Unit, listing: Listing, context: Context) -> list[Unit]:
    """Return what a sentence right above a list announces: the items asked for, or all."""
    announced = unit is listing.lead[-1] and listing.introduced
    wanted = listing.focus(context.question.terms)
    asked = _asks_for_all(listing, context)
    if not announced and not asked:
        return []
    if wanted and announced and not _wants_several(context):
        return [part for item in wanted for part in listing.with_parts(item)]
    return _all_of(listing, context, _WHOLE if asked or _is_steps(listing) else _BEGINNING)


def _wants_several(context: Context) -> bool:
    return bool({Want.LISTING, Want.HOW} & set(context.question.wants))


def _is_steps(listing: Listing) -> bool:
    return listing.items[0].kind is UnitKind.STEP


def _all_of(listing: Listing, context: Context, most: int = _WHOLE) -> list[Unit]:
    """Return the list up to so many items: the first steps, the best of the rest."""
    context.whole.append(listing)
    items = list(listing.items)
    if len(items) > most and not _is_steps(listing):
        items.sort(key=lambda item: -context.scores.get(place_of(item), 0.0))
    kept = items[:most]
    return [part for item in listing.items if item in kept for part in listing.with_parts(item)]


def _before(unit: Unit, context: Context) -> list[Unit]:
    """Return the sentences that a sentence leans back on."""
    found: list[Unit] = []
    at = unit
    while len(found) < _MAX_BACK and _LEANS_BACK.match(at.text):
        before = context.neighbour(at, -1)
        if before is None or before.kind is not UnitKind.SENTENCE or before.aside:
            break
        found.append(before)
        at = before
    return found


def _behind(unit: Unit, context: Context) -> list[Unit]:
    """Return what follows a sentence: code it announces, the rest of a short section."""
    found: list[Unit] = []
    after = context.neighbour(unit, 1)
    announces = unit.text.endswith(COLONS)
    how = Want.HOW in context.question.wants
    wanted = {UnitKind.CODE: announces or how, UnitKind.SENTENCE: announces}
    if after and wanted.get(after.kind, False):
        found.append(after)
    if context.chosen and unit is context.chosen[0]:
        found += _short_section(unit, context)
    return found


def _short_section(unit: Unit, context: Context) -> list[Unit]:
    """Return the section of the best unit when it is short and its topic is the question's.

    The message of an error stands first, what to do about it after it.
    """
    place = section(unit, context.hits)
    own = [
        other
        for other in context.units.values()
        if other.hit == unit.hit and section(other, context.hits) == place and not other.aside
    ]
    words = sum(len(other.text.split()) for other in own)
    asked = {Want.HOW, Want.DEFINITION, Want.REASON} & set(context.question.wants)
    opens = unit.first and unit.kind is UnitKind.SENTENCE
    if not asked or not opens or words > _SHORT_SECTION:
        return []
    on_topic = bool(context.question.terms.keys() & analyse(place))
    return [
        other
        for other in own
        if other.kind is UnitKind.SENTENCE
        and other is not unit
        and (on_topic or other.group == unit.group)
    ]


def complete(units: Sequence[Unit], listings: Mapping[Place, Listing]) -> list[Unit]:
    """Return the units without sentences that announce what is not among them.

    When nothing else is left they stay: the announcement is the nearest there is.
    """
    taken = {place_of(unit) for unit in units}
    kept = [unit for unit in units if not _is_idle(unit, taken, listings)]
    return kept or list(units)


def _is_idle(unit: Unit, taken: set[Place], listings: Mapping[Place, Listing]) -> bool:
    if unit.kind is not UnitKind.SENTENCE or not unit.text.endswith(COLONS):
        return False
    listing = listings.get(place_of(unit))
    if listing is not None and unit in listing.lead:
        return not any(place_of(member) in taken for member in listing.members)
    return (unit.hit, unit.order + 1) not in taken
