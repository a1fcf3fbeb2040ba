"""Descriptions to clusters: TF-IDF of words and pairs of words, cosine k-means, how many clusters, which stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collabtax.statistics import SEED
from collabtax.statistics.rows import FloatArray

MOST = 40  # clusters tried; the paper has 16
STARTS = 10  # of k-means; the best is kept
TERMS = 6

# What a failure at each stage looks like (paper, sections 5.3 and B), in the words in which people describe failures.
STAGES = {
    "L1": (
        "stated, claimed or assumed a fact, value, count or cell that nobody had been shown; an incorrect or "
        "incomplete statement about its own part; invented, made up, guessed, fabricated or misread; a false claim "
        "without a source"
    ),
    "L2": (
        "did not ask the other agent for what it did not know; never asked a question; failed to request, clarify or "
        "confirm missing facts; the question was not answered; the partner's information stayed unknown"
    ),
    "L3": (
        "proposed, moved or decided without putting both parts together; did not combine, merge or integrate them; "
        "ignored or overlooked what the other had told; the proposal rests on one part only, its own"
    ),
    "L4": (
        "accepted, agreed with or confirmed the proposed answer without checking, recomputing or going through it "
        "again; ended at once; did not notice the error in the final proposal; premature agreement"
    ),
}


@dataclass(frozen=True)
class Vectors:
    """Descriptions as rows of unit length, a sparse matrix (texts, terms), and what turns a text into such a row."""

    rows: Any
    vectorizer: Any

    @property
    def distinct(self) -> int:
        return len({(row.indices.tobytes(), row.data.tobytes()) for row in self.rows})


@dataclass(frozen=True)
class Group:
    """A cluster. `members` are indexes of descriptions, the nearest to the middle first; `terms` set it apart most;
    `stages` has the cosine of what sets it apart with each stage's description, `stage` is the highest, "" if none."""

    members: tuple[int, ...]
    terms: tuple[str, ...]
    families: dict[str, int]
    stage: str
    stages: dict[str, float]


def vectors(texts: Sequence[str]) -> Vectors:
    """TF-IDF on lower-cased uni- and bigrams. Raises ValueError where there are no two different texts with words."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(lowercase=True, ngram_range=(1, 2), norm="l2", dtype=np.float64)
    try:
        found = Vectors(vectorizer.fit_transform(texts), vectorizer)
    except ValueError:  # no words at all
        found = None
    if found is None or found.distinct < 2:
        raise ValueError(f"clusters need at least 2 different descriptions; of {len(texts)} there are none")
    return found


def k_means(found: Vectors, k: int) -> NDArray[np.int64]:
    """The cluster of each row, numbered by size, the largest first, then by the first member. On rows of unit length
    the nearest centre in the plain sense is the nearest by cosine, but for the centres' own lengths."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # sums in one order: the same clusters whatever the number of cores
        labels = KMeans(k, n_init=STARTS, random_state=SEED).fit_predict(found.rows)
    sizes = Counter(labels.tolist())
    first = {label: labels.tolist().index(label) for label in sizes}
    order = {label: i for i, label in enumerate(sorted(sizes, key=lambda label: (-sizes[label], first[label])))}
    return np.array([order[label] for label in labels.tolist()])


def dominated(labels: NDArray[np.int64], families: Sequence[str]) -> float:
    """Share of the clusters more than half of whose descriptions are of one family."""
    counts: dict[int, Counter[str]] = {}
    for label, family in zip(labels.tolist(), families, strict=True):
        counts.setdefault(label, Counter())[family] += 1
    return sum(2 * max(c.values()) > c.total() for c in counts.values()) / len(counts)


def choose_k(found: Vectors, families: Sequence[str]) -> tuple[NDArray[np.int64], dict[int, float]]:
    """Clusters by the paper's rule: the smallest k, from 2, at which every cluster is dominated by one family.

    Returns:
        The cluster of each row; and for each k tried the share of dominated clusters, the last one being 1.

    Raises:
        ValueError: no k up to `MOST` fulfils the rule.
    """
    tried: dict[int, float] = {}
    for k in range(2, min(MOST, found.distinct) + 1):
        labels = k_means(found, k)
        tried[k] = dominated(labels, families)
        if tried[k] == 1:
            return labels, tried
    best = max(tried, key=lambda k: (tried[k], -k))
    raise ValueError(
        f"with no number of clusters up to {max(tried)} is every one dominated by a family; --k {best} comes nearest "
        f"({tried[best]:.0%} of them)"
    )


def groups(found: Vectors, labels: NDArray[np.int64], families: Sequence[str]) -> list[Group]:
    """The clusters, the largest first."""
    rows = found.rows
    names = found.vectorizer.get_feature_names_out()
    stages = found.vectorizer.transform(STAGES.values())
    result = []
    for label in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == label)
        centre = _mean(rows[members])
        near = np.round(rows[members] @ centre, 12)
        apart = centre - _mean(rows)  # what all descriptions have in common says nothing
        top = np.lexsort((names, -np.round(apart, 12)))[:TERMS]
        length = np.linalg.norm(apart) or 1.0  # the stages' rows have length 1, or 0 where no word is known
        cosines = dict(zip(STAGES, np.round(stages @ apart / length, 9).tolist(), strict=True))
        best = max(STAGES, key=lambda stage: cosines[stage])
        result.append(
            Group(
                members=tuple(members[np.lexsort((members, -near))].tolist()),
                terms=tuple(str(names[i]) for i in top if apart[i] > 0),
                families=dict(Counter(families[i] for i in members.tolist()).most_common()),
                stage=best if cosines[best] > 0 else "",
                stages=cosines,
            )
        )
    return result


def _mean(rows: Any) -> FloatArray:
    """The mean of the rows of a sparse matrix."""
    return np.asarray(rows.mean(axis=0), dtype=np.float64).ravel()
