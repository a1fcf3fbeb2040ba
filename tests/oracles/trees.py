"""Oracles of tasks on trees, and on friends with attributes, by networkx and by counting over all possibilities."""

from __future__ import annotations

from typing import Any

import networkx as nx
from networkx.algorithms.isomorphism import DiGraphMatcher


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
