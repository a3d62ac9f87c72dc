"""Laws of the walk along the document graph."""

from hypothesis import given
from hypothesis import strategies as st

from fingerpost.retrieve.pagerank import RESTART, walk_from

nodes = st.integers(0, 8)
graphs = st.dictionaries(nodes, st.dictionaries(nodes, st.floats(0.01, 3.0), max_size=5))
seeds = st.dictionaries(nodes, st.floats(0.01, 1.0), min_size=1, max_size=4)


def edges_of(graph):
    return lambda some: {node: graph.get(node, {}) for node in some}


@given(graphs, seeds, st.integers(0, 4), st.integers(1, 9))
def test_no_mass_is_made_or_lost(graph, first, depth, most):
    walk = walk_from(first, edges_of(graph), depth=depth, most_pushed=most)
    assert abs(sum(walk.mass.values()) - 1) < 1e-9
    assert all(mass >= 0 for mass in walk.mass.values())


@given(graphs, seeds, st.integers(0, 3))
def test_nothing_further_than_the_depth_is_reached(graph, first, depth):
    reached = near = set(first)
    for _ in range(depth):
        near = {other for node in near for other in graph.get(node, {})}
        reached = reached | near
    assert set(walk_from(first, edges_of(graph), depth=depth).mass) <= reached


@given(graphs, seeds, st.floats(0.1, 10.0))
def test_only_the_proportions_of_the_seeds_count(graph, first, factor):
    one = walk_from(first, edges_of(graph), least=0).mass
    other = walk_from({n: w * factor for n, w in first.items()}, edges_of(graph), least=0).mass
    assert one.keys() == other.keys()
    assert all(abs(one[node] - other[node]) < 1e-9 for node in one)


@given(st.floats(0.01, 1.0))
def test_an_edge_passes_its_chance_and_no_more(weight):
    walk = walk_from({1: 1.0}, edges_of({1: {2: weight}}), depth=1)
    assert abs(walk.arrived[2] - (1 - RESTART) * weight) < 1e-9
    assert walk.via == {2: 1}


def test_without_seeds_nobody_walks():
    assert walk_from({}, edges_of({})).mass == {}
