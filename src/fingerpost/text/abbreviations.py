"""Abbreviations whose full stop may not end a sentence, case-folded, without the last stop."""

from __future__ import annotations

from typing import Final

__all__ = ["ENDING", "NEVER_ENDING", "NUMBERED", "is_month"]


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


NEVER_ENDING: Final = _words(
    # English
    "dr mr mrs ms prof st rev gen gov sen rep sgt capt lt col e.g i.e eg ie cf vs viz approx "
    "incl esp resp adj adv "
    # German
    "z.b d.h u.a z.t i.d.r o.ä s.o s.u bzw vgl ca ggf evtl inkl exkl bspw sog hr mio mrd "
    "geb bzgl z d "
    # French, Spanish, Italian, Portuguese
    "mme mlle p.ex env c.-à-d sr sra srta dña ud uds p.ej dott exmo "
    # Dutch, Polish, Turkish
    "bijv d.w.z o.a m.b.t np tzn m.in ul prof.dr örn vb "
    # Russian, Ukrainian, Greek
    "т.е т.к т.н напр им г-н см ср проф акад тов тобто π.χ δηλ βλ"
)
"""Something always follows these."""

ENDING: Final = _words(
    "etc inc ltd co corp llc bros jr sr al ph.d a.m p.m u.s u.k u.s.a u.n e.u a.k.a "
    "usw u.s.w ecc enz itd itp и.т.д т.д т.п др гг р.х тис млн млрд κ.λπ κλπ κ.ά "
    "dept est min max avg assoc sig "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun"
)
"""These may stand at the end: what follows decides."""

NUMBERED: Final = _words(
    "no nos nr fig figs eq eqs sec secs p pp vol vols ch chap art arts v ver tab app par cap "
    "abb abs kap núm núms num pág págs pag ref refs ex стр рис гл ст табл n° nº αρ σελ"
)
"""These end no sentence before a number."""

_MONTHS: Final = _words(
    "januar februar märz april mai juni juli august september oktober november dezember jänner "
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października "
    "listopada grudnia"
)


def is_month(word: str) -> bool:
    """Tell whether a word is a month of a language that writes the day with a full stop."""
    return word.casefold() in _MONTHS
