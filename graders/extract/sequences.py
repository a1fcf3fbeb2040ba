"""Readers of orders and trails: chains of known names."""

from __future__ import annotations

import re
from itertools import pairwise

from graders.extract.names import Chain, Mention, chains, kind_of, mentions, outside, tuples, unnumbered
from graders.extract.reading import Reading
from tasks.answers import OrderForm, TrailForm

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
RANK = (
    r"(?:\b(?:position|place|seat|rank|spot|top|no\.?|number|step)s?[\"']?[ _]?#?|#)(?P<a>\d{1,3})\b"
    r"|\b(?P<b>\d{1,3})(?:st|nd|rd|th)\b"
    rf"|\b(?P<c>last|{'|'.join(ORDINALS)})\b"
)
RANK_NAME = re.compile(
    rf"(?:{RANK}|(?:^|(?<=[\n,;{{(])|(?<=[,;{{] ))[ \t\"'*-]{{0,4}}(?P<d>\d{{1,3}}))"
    r"(?: (?:place|position|seat|spot)\b)?[\s\"'.):=>|,-]{0,6}(?:\bis\b)?[\s\"'|]{0,3}$",
    re.I,
)
NAME_RANK = re.compile(
    rf"[\"']?[ \t]*(?:[:=|,(>-]|->|\b(?:is|at|in|on|the|sits|comes|goes)\b)?(?:[ \t>|]|\b(?:is|at|in|on"
    rf"|the)\b){{0,6}}(?:{RANK}|[ \t]?(?P<d>\d{{1,3}})(?=[\s,;)}}|]|$))",
    re.I,
)
LISTING = re.compile(
    r"\b(?:items?|people|persons?|names?|nodes?|guests?|courses?|among|between|involving|all|know|are|for"
    r"|with)\W{0,4}$",
    re.I,
)


def _rank(match: re.Match[str], last: int) -> int:
    if match["c"] and match["c"].lower() == "last":
        return last
    if match["c"]:
        return ORDINALS.index(match["c"].lower()) + 1
    return int(match["a"] or match["b"] or match["d"])


def _ranked(text: str, found: list[Mention], most: int) -> tuple[list[Mention], bool] | None:
    """Names in the order of the places that stand beside them, and whether that is surer than their order in the text;
    None if the places are not 1, 2, 3 or 0, 1, 2 and so on."""
    before: list[tuple[int, Mention]] = []
    after: list[tuple[int, Mention]] = []
    bare = True
    seen: set[str] = set()
    for place, mention in enumerate(found):
        if len(before) + len(after) > 2 * most or mention.name in seen:
            break
        previous = found[place - 1].end if place else 0
        if rank := RANK_NAME.search(text[max(previous, mention.start - 40) : mention.start]):
            before.append((_rank(rank, most), mention))
            seen.add(mention.name)
        stop = found[place + 1].start if place + 1 < len(found) else len(text)
        if rank := NAME_RANK.match(text[mention.end : min(stop, mention.end + 40)]):
            after.append((_rank(rank, most), mention))
            bare = bare and bool(rank["d"])
            seen.add(mention.name)
    for pairs, sure in ((before, True), (after, not bare)):
        ranks = sorted(rank for rank, _ in pairs)
        if len(pairs) < 2 or ranks != list(range(ranks[0], ranks[0] + len(ranks))) or ranks[0] > 1:
            continue
        if sure or len(pairs) == most:
            ordered = [m for _, m in sorted(pairs, key=lambda pair: pair[0])]
            return ordered, pairs is before or ordered != [m for _, m in pairs]
    return None


def order(form: OrderForm, text: str, labelled: bool) -> Reading:
    """A list of known items in order: the first whole one where it is labelled, unless corrected, else the last one."""
    plain_text = unnumbered(text)
    found = outside(mentions(form.items, plain_text, short=True), plain_text)
    need = form.length or len(form.items)
    made = chains(plain_text, found)
    chosen: Chain | None = None
    for chain in made:
        if not _compares(chain) and _better(chain, chosen, need, labelled):
            chosen = chain
    ranked = _ranked(text, found, need)
    if ranked and len(ranked[0]) >= need and (ranked[1] or not chosen or len(set(chosen.names)) < need):
        names = [m.name for m in ranked[0]][: form.length or None]
        first, last = min(m.start for m in ranked[0]), max(m.end for m in ranked[0])
        return Reading(names, False, True, True, text[first:last])
    if chosen is None or chosen.elided:
        return Reading(hint=bool(found))
    names = _unpaired(chosen.names)
    if len(names) == need + 1 and names[0] == names[-1]:  # a closed round
        names.pop()
    whole = len(set(names)) >= need
    if whole and len(set(names[:need])) == need:  # what follows goes through them again
        names = names[:need]
    if form.length:
        names = names[: form.length]
    joined = len(chosen.gaps) > 0 and all(re.search(r"[>≻≺<\n]", gap) for gap in chosen.gaps)
    solid = whole and (joined or (not form.length and not LISTING.search(chosen.lead)))
    part = not whole and not (labelled and len(set(names)) > need // 2)  # a list with gaps is still the answer
    return Reading(names, part, solid, True, text[chosen.start : chosen.end])


BEFORE = re.compile(r"[a-z]*(?:before|precedes|>|<)[a-z]*")


def _compares(chain: Chain) -> bool:
    """Whether a chain only compares names two by two: "a before b, c before d"."""
    pairs = tuples(chain, 2)
    return bool(pairs and BEFORE.search(kind_of(chain.gaps[0]))) and any(a[1] != b[0] for a, b in pairwise(pairs or []))


def _unpaired(names: list[str]) -> list[str]:
    """Names without those told twice in pairs: "a before b, b before c"."""
    paired = (
        len(names) > 2 and len(names) % 2 == 0 and all(names[n] == names[n + 1] for n in range(1, len(names) - 1, 2))
    )
    return [*names[::2], names[-1]] if paired else names


def _better(chain: Chain, chosen: Chain | None, need: int, labelled: bool) -> bool:
    if chosen is None:
        return True
    count, best = min(need, len(set(chain.names))), min(need, len(set(chosen.names)))
    if count != best:
        return count > best
    return chain.corrects or (not labelled and count == need)


WORD = re.compile(r"\w")
EDGE_WORDS = (
    r"then|next|and|finally|to|from|at|back|return|edge|node|vertex|town|city|take|go|v|u|via|target|source"
    r"|end|start|with|step"
)
EDGE_JOINT = re.compile(
    rf"(?>\([^()\n]{{1,40}}\)|[\s\d,;|>=.+/\"'\[\](){{}}&~<-]|:(?= ?[\[\"'])|(?<=to\"):|(?<=[a-z\d]):(?=\s)"
    rf"|\b(?:{EDGE_WORDS})\b){{0,40}}+",
    re.I,
)


def trail(form: TrailForm, text: str, labelled: bool) -> Reading:
    """A list of edges `[u, v]`: pairs as they stand, or the steps of a chain of nodes. The first one of several edges
    where it is labelled, unless corrected; else the last one whose edges are joined."""
    plain_text = unnumbered(text)
    found = mentions(form.nodes, plain_text)
    chosen: Chain | None = None
    best: list[list[str]] = []
    heads = False  # the answer begins with the one chosen, and its line ends with it
    for chain in chains(plain_text, found, EDGE_JOINT):
        edges = _edges(chain)
        if not edges or (not labelled and len(edges) > 1 and not _joined(edges)):
            continue
        if (
            chosen is None
            or chain.corrects
            or (len(best) < 2 <= len(edges) and not heads)
            or (not labelled and len(edges) > 1)
        ):
            chosen, best = chain, edges
            heads = (
                labelled
                and not WORD.search(text[: chosen.start])
                and text[chosen.end : chosen.end + 1] in ("\n", ".", "")
            )
    if chosen is None or chosen.elided:
        return Reading(hint=bool(found))
    joined = len(best) > 1 and _joined(best)
    return Reading(best, False, joined, True, text[chosen.start : chosen.end])


def _joined(edges: list[list[str]]) -> bool:
    return all(set(a) & set(b) for a, b in pairwise(edges))


def _edges(chain: Chain) -> list[list[str]]:
    if pairs := tuples(chain, 2):
        return pairs
    names = chain.names
    return [[a, b] for a, b in pairwise(_unpaired(names)) if a != b]
