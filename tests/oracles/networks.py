"""Oracles of further tasks on graphs, by networkx and by brute force."""

from __future__ import annotations

from itertools import islice
from typing import Any

import networkx as nx

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
