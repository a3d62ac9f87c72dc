"""Personalised PageRank around a few nodes, without looking at the rest of the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

RESTART = 0.3

Edges = Callable[[Sequence[int]], Mapping[int, Mapping[int, float]]]


@dataclass(slots=True)
class Walk:
    """Where a walk that starts at the seeds, and returns to them now and then, is found.

    Attributes:
        mass: Node → share of the walk, > 0; all shares together are 1.
        arrived: Node → what of the mass came to it along edges; without what a seed began with.
        via: Node → the node from which most of its mass came; seeds may be missing.
    """

    mass: dict[int, float] = field(default_factory=dict)
    arrived: dict[int, float] = field(default_factory=dict)
    via: dict[int, int] = field(default_factory=dict)


def walk_from(
    seeds: Mapping[int, float],
    edges: Edges,
    *,
    depth: int = 2,
    least: float = 1e-3,
    most_pushed: int = 24,
    restart: float = RESTART,
) -> Walk:
    """Return an estimate of personalised PageRank by local pushes (Andersen et al., 2006).

    In each of ``depth`` rounds the nodes that hold most unsettled mass keep ``restart`` of it
    and pass the rest on along their edges. What is unsettled at the end stays where it is, so
    that no node further than ``depth`` edges from a seed has any.

    Args:
        seeds: Node → weight, > 0; empty gives an empty walk.
        edges: Gives for some nodes their neighbours with weights > 0: the chance that the walk
            goes there, scaled down where they exceed 1 together.
        depth: Edges to follow, >= 0.
        least: Less unsettled mass than this is not passed on.
        most_pushed: Nodes that pass mass on in one round.
        restart: Share that a node keeps, above 0 and up to 1.
    """
    total = sum(seeds.values())
    walk = Walk()
    open_mass = {node: weight / total for node, weight in seeds.items()}
    strongest: dict[int, float] = {}
    for _ in range(depth):
        ready = sorted((-m, node) for node, m in open_mass.items() if m >= least)[:most_pushed]
        around = edges([node for _, node in ready])
        for _, node in ready:
            held = open_mass.pop(node)
            passed = _passed_on(around.get(node, {}), held * (1 - restart))
            walk.mass[node] = walk.mass.get(node, 0.0) + held - sum(passed.values())
            for other, part in passed.items():
                open_mass[other] = open_mass.get(other, 0.0) + part
                walk.arrived[other] = walk.arrived.get(other, 0.0) + part
                if part > strongest.get(other, 0.0):
                    strongest[other], walk.via[other] = part, node
    for node, held in open_mass.items():
        walk.mass[node] = walk.mass.get(node, 0.0) + held
    return walk


def _passed_on(weights: Mapping[int, float], held: float) -> dict[int, float]:
    total = max(1.0, sum(weights.values()))
    return {node: held * weight / total for node, weight in weights.items()}
