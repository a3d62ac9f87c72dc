"""What each part of retrieval is worth, drawn from the results that were kept."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

_LEFT, _SCALE, _LINE = 290.0, 2400.0, 20.0
_REACH = 0.06
_LOST, _WON, _INK, _PAPER = "#2563a8", "#b4532a", "#24292f", "#ffffff"


def drawn(tiers: Mapping[str, Any]) -> str:
    """Return an SVG picture: the mean nDCG@10 that is lost without each part."""
    bars = [
        (f"{tier}: {row['out']}", one["rows"][0]["mean"]["ndcg@10"] - row["mean"]["ndcg@10"])
        for tier, one in tiers.items()
        for row in one["rows"][1:]
    ]
    height = _LINE * (len(bars) + 3)
    width = _LEFT + _SCALE * _REACH + 150
    zero = _LEFT + 40
    body = [f'<rect width="{width:.0f}" height="{height:.0f}" fill="{_PAPER}"/>']
    body.append(_text(12, 18, "Mean nDCG@10 over the sets that is lost without the part", "start"))
    for place, (name, lost) in enumerate(bars):
        y = _LINE * (place + 2)
        long = min(abs(lost), _REACH) * _SCALE
        x, colour = (zero, _LOST) if lost >= 0 else (zero - long, _WON)
        body.append(_text(_LEFT - 8, y + 4, name, "end"))
        body.append(
            f'<rect x="{x:.1f}" y="{y - 7:.1f}" width="{max(long, 0.5):.1f}" height="14" '
            f'fill="{colour}"/>'
        )
        body.append(_text(zero + (long if lost >= 0 else 0) + 6, y + 4, f"{lost:+.3f}", "start"))
    body.append(
        f'<line x1="{zero}" y1="{_LINE + 6}" x2="{zero}" y2="{height - 14:.0f}" stroke="{_INK}"/>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" '
        f'aria-label="nDCG@10 lost without each part">{"".join(body)}</svg>\n'
    )


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{_INK}" '
        f'font-family="sans-serif" font-size="12">{escape(words)}</text>'
    )
