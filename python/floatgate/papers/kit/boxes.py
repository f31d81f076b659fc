"""A set of the points of a domain as a union of few boxes, each some choices on each axis.

A point has a bit for its choice on each axis, a box one for each choice that it has: a point is in
a box if it has no bit that the box lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

LOOKS = 2000
"""Unions that are grown at most. What two boxes can say took 40 in the domains that there are; a
set that no two boxes are comes to its end early, as its boxes soon have a point of the others."""


def unions(inside: Sequence[int], outside: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Those of at most so many boxes that have all points inside, and none outside. A box is no
    larger than it has to be for the points that it was grown for."""
    known: set[tuple[int, ...]] = set()

    def grow(boxes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if boxes in known or len(known) == LOOKS:
            return
        known.add(boxes)
        point = next((p for p in inside if all(p & ~box for box in boxes)), None)
        if point is None:
            yield boxes
            return
        for i, box in enumerate(boxes):
            if _is_clear(box | point, outside):
                yield from grow((*boxes[:i], box | point, *boxes[i + 1 :]))
        if len(boxes) < most:
            yield from grow((*boxes, point))

    return grow(())


def widened(box: int, axes: Sequence[int], outside: Sequence[int]) -> int:
    """The box with every choice of the axes, one after the other, that do not matter to what is
    outside."""
    for axis in axes:
        box = box | axis if _is_clear(box | axis, outside) else box
    return box


def _is_clear(box: int, outside: Sequence[int]) -> bool:
    return all(point & ~box for point in outside)
