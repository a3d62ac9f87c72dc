"""How well an answer cites: precision and recall of its markers.

After ALCE (Gao et al., 2023, "Enabling large language models to generate text with citations",
section 4), with the verifier in the place of their entailment model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fingerpost.types.answer import CitedSource, ClaimVerdict, Verdict


class CitationScores(NamedTuple):
    """Both are 0 to 1, ``None`` when there is nothing to divide by.

    Attributes:
        precision: Of all citations, those that name a source which is needed: it bears the claim
            out alone, or the claim stands and no other of its sources does so alone.
        recall: Of all claims that were checked, those that the sources they cite bear out.
    """

    precision: float | None
    recall: float | None


def citation_scores(claims: Sequence[ClaimVerdict]) -> CitationScores:
    """Return the scores of an answer's claims; claims that were not checked are left out."""
    checked = [claim for claim in claims if claim.verdict is not Verdict.NOT_CHECKED]
    cited = [one for claim in checked for one in claim.cited]
    if not cited:
        return CitationScores(None, None)
    needed = sum(_is_needed(one, claim) for claim in checked for one in claim.cited)
    borne = sum(_borne_out(claim) for claim in checked)
    return CitationScores(needed / len(cited), borne / len(checked))


def _borne_out(claim: ClaimVerdict) -> bool:
    """Return whether the sources that the claim cites bear it out, alone or together."""
    right = claim.verdict is Verdict.SUPPORTED and bool(claim.markers)
    return right and claim.source_index in claim.markers


def _is_needed(one: CitedSource, claim: ClaimVerdict) -> bool:
    if one.verdict is Verdict.SUPPORTED:
        return True
    others = any(o.verdict is Verdict.SUPPORTED for o in claim.cited if o is not one)
    return one.verdict is not None and _borne_out(claim) and not others
