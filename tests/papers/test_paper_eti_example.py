"""The worked example of ETI: its table, and the underlying extents, on the engine."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from exhibits import cells

from floatgate.papers.eti.examples import PAGES, STEPS, Step, extents_after, played, worked_example


def test_the_engine_has_as_many_extents_as_by_hand() -> None:
    by_hand = [len(step.extents) for step in STEPS]
    assert [extents_after(step) for step in STEPS] == by_hand == [3, 3, 5, 6, 6, 5, 1, 3, 3]


def test_the_table() -> None:
    titles, *rows = cells(worked_example())
    assert titles == ["", "Last write", "By hand", "Extents", "Extents, ours"]
    assert rows[0][1:] == ["100-199", "0-99: 0, 100-199: 1, 200-1023: 0", "3", "3"]
    assert all(row[3] == row[4] for row in rows)


@pytest.mark.parametrize("step", STEPS, ids=[step.text for step in STEPS])
def test_extents_and_counters_are_those_by_hand(step: Step) -> None:
    """A write to a whole extent splits nothing and adds one to its counter. So it is hot with a
    threshold up to the counter plus one, and with no higher threshold."""
    ends = pairwise([*(start for start, _ in step.extents), PAGES])
    sizes = [(start, end - start) for start, end in ends]
    probes = [replace(step, writes=(*step.writes, probe)) for probe in sizes]
    assert [extents_after(probe) for probe in probes] == [len(step.extents)] * len(probes)
    counters = [counter for _, counter in step.extents]
    asked = [
        (writes, step.set | {"eti.hot_threshold": str(counter + above)})
        for probe, counter in zip(probes, counters, strict=True)
        for above in (1, 2)
        for writes in (probe.writes, step.writes)
    ]
    hot = [played(writes, set).placement.streams[1].host_pages for writes, set in asked]
    added = [after - before for after, before in zip(hot[::2], hot[1::2], strict=True)]
    assert added == [pages for _, size in sizes for pages in (size, 0)]
