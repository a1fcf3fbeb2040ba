"""Oracles of tasks on graphs, by networkx."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx


def graphpath(instance: Any) -> list[Any]:
    walks = nx.all_shortest_paths(nx.Graph(instance.roads), *instance.journey)
    return [[list(road) for road in pairwise(walk)] for walk in walks]
