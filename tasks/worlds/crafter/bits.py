"""Sets of cells as the bits of whole numbers: bit x of a row, or bit `y * stride + x` of a map, where the stride is
larger than the width, so that nothing runs over the edge into the next row. Filling a map takes microseconds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache


@lru_cache(maxsize=20_000)
def row_bits(row: str, marks: str) -> int:
    """Where a row has one of `marks`."""
    return sum(1 << x for x, mark in enumerate(row) if mark in marks)


def map_bits(rows: Sequence[str], marks: str) -> int:
    """Where a map has one of `marks`, with a stride of its width + 1."""
    bits, stride = 0, len(rows[0]) + 1
    for row in reversed(rows):
        bits = bits << stride | row_bits(row, marks)
    return bits


def window_bits(rows: Sequence[str], marks: str, left: int, top: int, width: int, height: int) -> int:
    """Where a window of a map has one of `marks`, with a stride of `width` + 1; nothing lies beyond the map."""
    bits, every = 0, (1 << width) - 1
    for y in range(top + height - 1, top - 1, -1):
        bits <<= width + 1
        if 0 <= y < len(rows):
            row = row_bits(rows[y], marks)
            bits |= (row >> left if left >= 0 else row << -left) & every
    return bits


def spread(bits: int, stride: int) -> int:
    """The cells and their neighbours; some lie outside the map."""
    return bits | bits << 1 | bits >> 1 | bits << stride | bits >> stride


def fill(start: int, free: int, stride: int) -> int:
    """What can be reached from `start` over `free` cells."""
    reached, new = 0, start
    while new != reached:
        reached, new = new, new | spread(new, stride) & free
    return reached


def ones(bits: int) -> Iterator[int]:
    """The positions of the bits that are set, ascending."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
