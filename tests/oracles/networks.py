"""Oracles of tasks on graphs and trees, by networkx and by brute force."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any

import networkx as nx
from networkx.algorithms.isomorphism import DiGraphMatcher

SEVERAL = ("eulerpath",)


def eulerpath(instance: Any) -> list[Any]:
    """The walk that networkx finds, and walks found by trying every way at every enclosure."""
    network = nx.Graph(instance.paths)
    odd = [n for n in network if network.degree(n) % 2]

    def walks(rest: nx.Graph, here: str) -> Any:
        if not rest.size():
            yield []
        for there in list(rest[here]) if here in rest else ():
            smaller = rest.copy()
            smaller.remove_edge(here, there)
            for walk in walks(smaller, there):
                yield [[here, there], *walk]

    found = [[list(step) for step in nx.eulerian_path(network)]]
    return found + [walk for start in odd for walk in islice(walks(network, start), 20)]


def graph(instance: Any) -> list[Any]:
    network = nx.Graph()
    network.add_weighted_edges_from(instance.roads)
    return [[list(cell) for cell in walk] for walk in nx.all_shortest_paths(network, *instance.ends, weight="weight")]


def trianglecount(instance: Any) -> list[Any]:
    return [[clique for clique in nx.enumerate_all_cliques(nx.Graph(instance.pairs)) if len(clique) == 3]]


def noderanking(instance: Any) -> list[Any]:
    """One answer, unless a tie leaves the order open."""
    degrees = dict(nx.Graph(instance.roads).degree)
    best = sorted(degrees, key=lambda town: -degrees[town])
    tied = [best[i : i + 2] for i in range(3) if degrees[best[i]] == degrees[best[i + 1]]]
    return [best[:3], *tied]


def dagorder(instance: Any) -> list[Any]:
    network = nx.DiGraph(instance.before)
    network.add_nodes_from(instance.things)
    return list(islice(nx.all_topological_sorts(network), 2))


def graphpath(instance: Any) -> list[Any]:
    walks = nx.all_shortest_paths(nx.Graph(instance.roads), *instance.journey)
    return [[list(road) for road in pairwise(walk)] for walk in walks]


def ancestorpath(instance: Any) -> list[Any]:
    up = nx.DiGraph(instance.edges)
    return [{q: nx.shortest_path(up, low, high) for q, low, high in instance.queries}]


def treesum(instance: Any) -> list[Any]:
    up = nx.DiGraph(instance.passages)
    assert nx.is_arborescence(up.reverse())
    start, goal = instance.wanted
    caves = nx.shortest_path(up.to_undirected(), start, goal) if goal else {start} | nx.ancestors(up, start)
    return [sum(number for cave, number in instance.coins if cave in caves)]


def graphattr(instance: Any) -> list[Any]:
    graph = nx.Graph(instance.friends)
    for name, colour, drink in instance.people:
        graph.add_node(name, colour=colour, drink=drink)
    answer: dict[str, Any] = {}
    for q, kind, x, y in instance.queries:
        if kind == "count":
            answer[q] = sum(graph.nodes[friend]["colour"] == y for friend in graph[x])
        elif kind == "names":
            answer[q] = sorted(friend for friend in graph[x] if graph.nodes[friend]["drink"] == y)
        elif kind == "across":
            colours = nx.get_node_attributes(graph, "colour")
            answer[q] = len(list(nx.edge_boundary(graph, *([n for n in graph if colours[n] == c] for c in (x, y)))))
        else:
            drinkers = {n for n, drink in graph.nodes(data="drink") if drink == y}
            counts = {n: len(drinkers & set(graph[n])) for n, colour in graph.nodes(data="colour") if colour == x}
            answer[q] = [name for name in counts if counts[name] == max(counts.values())]
            assert len(answer[q]) == 1
            answer[q] = answer[q][0]
    return [answer]


def aliasedtaxonomy(instance: Any) -> list[Any]:
    trees = []
    for creatures in (instance.latin, instance.folk):
        tree = nx.DiGraph()
        for name, parent, colour in creatures:
            tree.add_node(name, colour=colour)
            tree.add_edge(parent, name)
        assert nx.is_arborescence(tree)
        trees.append(tree)
    found = DiGraphMatcher(*trees, node_match=lambda a, b: a.get("colour") == b.get("colour"))
    return [[[a, b] for a, b in sorted(m.items()) if a != "creature"] for m in found.isomorphisms_iter()]
