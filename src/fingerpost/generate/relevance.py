"""Which units may answer at all: not links, labels, lists of further reading, wrong rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fingerpost.generate.listing import Listing, Place, section
from fingerpost.generate.score import Question, ScoredUnit
from fingerpost.generate.units import Unit, UnitKind
from fingerpost.types import Hit

_FURTHER = re.compile(
    r"(?:see also|related(?: (?:\w+ )?(?:documentation|docs|pages|topics|guides|links|reading"
    r"|resources|recipes))?|(?:what'?s )?next(?: steps)?|where to go next|further reading"
    r"|learn more|read more|more (?:resources|information|examples)|(?:additional |more |other )?"
    r"resources|references|links|table of contents|contents|on this page|goals|checklist"
    r"|siehe auch|weiterführende links|verwandte themen|nächste schritte|voir aussi"
    r"|pour aller plus loin|prochaines étapes|ver también|véase también|próximos pasos"
    r"|recursos|veja também|próximos passos|vedi anche|passi successivi|zie ook"
    r"|см\. также|смотрите также|дальнейшие шаги|див\. також|zobacz też|ayrıca bakınız"
    r"|参见|参阅|另请参阅|相关链接|下一步|関連項目|関連情報|次のステップ"
    r"|참고|참고 자료|다음 단계)\W*",
    re.IGNORECASE,
)


def answering(
    question: Question,
    scored: Sequence[ScoredUnit],
    listings: Mapping[Place, Listing],
    hits: Sequence[Hit],
) -> list[ScoredUnit]:
    """Return the units that may be chosen for themselves; all when that would leave none.

    Links alone, labels, boxes to tick and sections of further reading say nothing, unless they
    are asked for; of a list in which the question's words single out items only those count.
    """
    asks_further = any(
        _FURTHER.fullmatch(section(item.unit, hits)) and _names(question, item.unit, hits)
        for item in scored
    )
    kept = [item for item in scored if asks_further or not _says_nothing(item.unit, listings, hits)]
    lists = {id(one): one for one in listings.values()}  # each once, not once for each unit
    wanted = {key: one.focus(question.terms) for key, one in lists.items()}
    focused = [item for item in kept if _in_focus(item.unit, listings, wanted)]
    return focused or kept or list(scored)


def _names(question: Question, unit: Unit, hits: Sequence[Hit]) -> bool:
    heading = section(unit, hits).casefold().strip(" :")
    return bool(heading) and heading in question.text.casefold()


def _says_nothing(unit: Unit, listings: Mapping[Place, Listing], hits: Sequence[Hit]) -> bool:
    if unit.aside or _FURTHER.fullmatch(section(unit, hits)):
        return True
    listing = listings.get((unit.hit, unit.order))
    if listing is None:
        return False
    if listing.lead:
        return bool(_FURTHER.fullmatch(listing.lead[-1].text))
    return _is_goals(listing.items[0], hits)


def _is_goals(first: Unit, hits: Sequence[Hit]) -> bool:
    """Return whether a list opens a page without a word before it: what one will learn."""
    opens = first.first and not first.heading and not hits[first.hit].chunk.ordinal
    return opens and first.kind is UnitKind.ITEM and bool(hits[first.hit].chunk.heading_path)


def _in_focus(
    unit: Unit, listings: Mapping[Place, Listing], wanted: Mapping[int, tuple[Unit, ...]]
) -> bool:
    """Return whether no other item of the unit's list holds more of the question's words."""
    listing = listings.get((unit.hit, unit.order))
    if listing is None or unit.kind not in {UnitKind.ROW, UnitKind.ITEM}:
        return True
    return not wanted[id(listing)] or unit in wanted[id(listing)]
