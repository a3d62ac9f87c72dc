"""Lists, tables and procedures of the evidence as wholes, across the chunks that part them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fingerpost.generate.units import LISTED, Unit, UnitKind
from fingerpost.text.analyse import analyse
from fingerpost.text.unfinished import COLONS, is_unfinished
from fingerpost.types import Evidence, Hit

Place = tuple[int, int]

_GAP = 4
_MAX_CHAIN = 3
_FEW = 0.5


@dataclass(frozen=True, slots=True)
class Listing:
    """A list, table or procedure.

    Attributes:
        items: Its items, steps or rows, in order; at least one.
        members: The items with what stands among them: code, further sentences.
        lead: Sentences of the paragraph right above it, may be empty.
        context: Tokens of that paragraph, of the headings and of the column names.
    """

    items: tuple[Unit, ...]
    members: tuple[Unit, ...]
    lead: tuple[Unit, ...]
    context: frozenset[str]

    @property
    def introduced(self) -> bool:
        """Return whether the sentence above announces it with a colon."""
        return bool(self.lead) and self.lead[-1].text.endswith(COLONS)

    def with_parts(self, item: Unit) -> list[Unit]:
        """Return an item with what belongs to it, up to the next item."""
        at = self.members.index(item) + 1
        rest = self.members[at:]
        until = next((n for n, unit in enumerate(rest) if unit in self.items), len(rest))
        # Code right behind code is the same in another dialect (tabs of package managers).
        return [item, *(unit for unit in rest[:until] if not _is_variant(unit))]

    def focus(self, terms: Mapping[str, float]) -> tuple[Unit, ...]:
        """Return the items that the question's words single out, none when it asks for all.

        Words that the lead, the headings or half of the items hold tell no item from another.
        An item stays when no other holds all of its telling words and more.
        """
        sets = [terms.keys() & unit.tokens for unit in self.items]
        often = _FEW * len(self.items)
        telling = {
            term
            for term in frozenset().union(*sets) - self.context
            if sum(term in own for own in sets) < max(often, 2)
        }
        own = [frozenset(held & telling) for held in sets]
        if not telling or len(self.items) == 1:
            return ()
        return tuple(
            unit
            for unit, held in zip(self.items, own, strict=True)
            if held and not any(held < other for other in own)
        )


def _is_variant(unit: Unit) -> bool:
    return unit.kind is UnitKind.CODE and unit.lead is None


def with_continuations(evidence: Evidence) -> tuple[Hit, ...]:
    """Return the hits and the candidates that go on where a hit stops inside a list.

    A chunk that ends with a colon, or within a list or table, goes on in the next chunk of its
    document.
    """
    known = {(hit.document.id, hit.chunk.ordinal): hit for hit in evidence.candidates}
    hits = list(evidence.hits)
    seen = {hit.chunk.id for hit in hits}
    for hit in evidence.hits:
        last, steps = hit, 0
        while is_unfinished(last.chunk.text) and steps < _MAX_CHAIN:
            after = known.get((last.document.id, last.next_ordinal))
            if after is None or after.chunk.heading_path != hit.chunk.heading_path:
                break
            if after.chunk.id not in seen:
                seen.add(after.chunk.id)
                hits.append(after)
            last, steps = after, steps + 1
    return tuple(hits)


def find_listings(units: Sequence[Unit], hits: Sequence[Hit]) -> dict[Place, Listing]:
    """Return the listing of each unit that belongs to one or stands in the paragraph above it.

    Args:
        units: Of all hits, in reading order within each.
        hits: Which the units name by position.
    """
    found: dict[Place, Listing] = {}
    for run in _runs(units, hits):
        at = 0
        while at < len(run):
            if run[at].kind not in LISTED:
                at += 1
                continue
            end, items = _extent(run, at, hits)
            lead = _paragraph_above(run, at, hits)
            context = _context(lead, run[at], hits)
            listing = Listing(tuple(items), tuple(run[at:end]), tuple(lead), context)
            for unit in lead:
                found.setdefault((unit.hit, unit.order), listing)
            for unit in run[at:end]:
                found[unit.hit, unit.order] = listing
            at = end
    return found


def _runs(units: Sequence[Unit], hits: Sequence[Hit]) -> Iterator[list[Unit]]:
    """Yield the units of neighbouring chunks together, in the order of the document."""
    of_hit: dict[int, list[Unit]] = {}
    for unit in units:
        of_hit.setdefault(unit.hit, []).append(unit)
    order = sorted(of_hit, key=lambda at: (hits[at].document.id, hits[at].chunk.ordinal, at))
    run: list[Unit] = list(of_hit[order[0]]) if order else []
    for before, at in pairwise(order):
        same = hits[before].document.id == hits[at].document.id
        if not same or hits[before].next_ordinal != hits[at].chunk.ordinal:
            yield run
            run = []
        run += of_hit[at]
    if run:
        yield run


def section(unit: Unit, hits: Sequence[Hit]) -> str:
    """Return the heading that a unit stands under."""
    path = hits[unit.hit].chunk.heading_path
    return unit.heading or (path[-1] if path else "")


def _extent(run: Sequence[Unit], at: int, hits: Sequence[Hit]) -> tuple[int, list[Unit]]:
    """Return where the listing that begins at ``at`` ends, and its items."""
    items = [run[at]]
    end = at + 1
    place = section(run[at], hits)
    while end < len(run) and section(run[end], hits) == place:
        unit = run[end]
        if _is_next(unit, items[-1], run[end - 1]):
            items.append(unit)
        elif not _belongs(unit, run[at:end]):
            further = _next_step(run[end : end + _GAP], items[-1])
            if not further:
                break
            end += further
            continue
        end += 1
    return end, items


def _is_next(unit: Unit, item: Unit, before: Unit) -> bool:
    """Return whether a unit is the next item of the list that ``item`` belongs to."""
    if unit.kind is not item.kind:
        return unit.kind in LISTED and unit.depth > item.depth and unit.hit == item.hit
    if unit.hit != item.hit:
        return before.hit != unit.hit and unit.order == 0 and unit.number != 1
    if unit.group == item.group:
        return True
    if unit.kind is UnitKind.STEP and unit.number == item.number + 1:
        return True
    after_code = before.kind in {UnitKind.CODE, UnitKind.ITEM, UnitKind.STEP}
    return after_code and (unit.kind is UnitKind.ITEM or unit.depth > item.depth)


def _belongs(unit: Unit, before: Sequence[Unit]) -> bool:
    """Return whether a unit is part of the last item: a further sentence, or its code."""
    last = before[-1]
    if unit.hit != last.hit:
        return False
    if unit.kind is UnitKind.CODE:
        return unit.lead == last.order or last.kind is UnitKind.CODE
    return unit.kind is UnitKind.SENTENCE and unit.group == last.group


def _next_step(ahead: Sequence[Unit], item: Unit) -> int | None:
    """Return how far ahead the step with the next number stands."""
    if item.kind is not UnitKind.STEP or not item.number:
        return None
    for distance, unit in enumerate(ahead):
        if unit.kind is UnitKind.STEP and unit.number == item.number + 1 and unit.hit == item.hit:
            return distance
    return None


def _paragraph_above(run: Sequence[Unit], at: int, hits: Sequence[Hit]) -> list[Unit]:
    """Return the sentences of the paragraph right before, in the same section."""
    above: list[Unit] = []
    for unit in reversed(run[:at]):
        same = not above or (unit.hit, unit.group) == (above[0].hit, above[0].group)
        if unit.kind is not UnitKind.SENTENCE or not same:
            break
        if section(unit, hits) != section(run[at], hits):
            break
        above.insert(0, unit)
    return above


def _context(lead: Sequence[Unit], first: Unit, hits: Sequence[Hit]) -> frozenset[str]:
    hit = hits[first.hit]
    above = " ".join((hit.document.title, *hit.chunk.heading_path, first.heading))
    names = " ".join(name for name, _ in first.cells)
    tokens = {token for unit in lead for token in unit.tokens}
    return frozenset((*tokens, *analyse(above), *analyse(names)))
