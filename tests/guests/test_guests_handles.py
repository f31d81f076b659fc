"""Placement handles and external policies: they see the same handles as the built-in `host`."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from guest_policies import ByHandle, ByHandleAgain, ByHandleBatch, counts

import floatgate as fg

SMALL = {"flash.pages_per_block": 16, "capacity.spare_factor": 0.12, "placement.handles": 4}
TENANTS = "tenants:span=8MiB,writes=20k,random=2,reads=0.2,trim=0.02,seed=4"


def held(mine: fg.Placement, isolation: str, **more: Any) -> fg.Result:
    """Returns a run with `mine`, after checking that a run with `host` gives the same counts."""
    sets = {**SMALL, **{key.replace("__", "."): value for key, value in more.items()}}
    built_in = {"placement.scheme": "host", "placement.isolation": isolation}
    ours = fg.run(TENANTS, set={**sets, "placement.scheme": mine}, verify=True)
    theirs = fg.run(TENANTS, set={**sets, **built_in}, verify=True)
    assert counts(ours) == counts(theirs)
    assert ours.flash.programs.gc > 1000
    host = [stream.host_pages for stream in ours.placement.streams]
    assert sum(pages > 500 for pages in host) == 4
    return ours


@pytest.mark.parametrize(("isolation", "shared"), [("initially", True), ("persistently", False)])
@pytest.mark.parametrize("policy", [ByHandle, ByHandleBatch])
def test_a_stream_for_each_handle_is_what_host_does(
    policy: Any, isolation: str, shared: bool
) -> None:
    plain = held(policy(4, shared), isolation)
    filled = held(policy(4, shared), isolation, start__fill="random")
    mapped = held(policy(4, shared), isolation, mapping__scheme="dftl", mapping__cache="2KiB")
    assert len({one.write_amplification for one in (plain, filled, mapped)}) == 3


@pytest.mark.parametrize(("isolation", "shared"), [("initially", True), ("persistently", False)])
def test_a_page_keeps_its_handle_in_the_buffer(isolation: str, shared: bool) -> None:
    for scheme in ("lru", "clc"):
        for acknowledge in ("write_back", "write_through"):
            result = held(
                ByHandle(4, shared),
                isolation,
                buffer__scheme=scheme,
                buffer__capacity="256KiB",
                buffer__acknowledge=acknowledge,
            )
            assert result.buffer.write_hits > 100
    with pytest.raises(fg.ConfigError, match=r"buffer\.scheme = lru: expected none.*stream_batch"):
        held(ByHandleBatch(4, shared), isolation, buffer__scheme="lru")


@pytest.mark.parametrize(("isolation", "shared"), [("initially", True), ("persistently", False)])
def test_what_cleaning_moves_has_its_handles(isolation: str, shared: bool) -> None:
    held(ByHandleAgain(4, shared), isolation, placement__gc_destination="reclassify")


@pytest.mark.parametrize("longest", [1, 3])
def test_handles_are_told_as_they_are_in_the_trace_and_when_pages_move(longest: int) -> None:
    """A policy sees all 16 bits of each page's last handle. A write without a handle has handle
    0."""
    rng = np.random.default_rng(7)
    rows = 6000
    handles = rng.choice([0, 1, 300, 65535], rows)
    trace = pl.DataFrame(
        {
            "at_ns": np.arange(rows) * 1000,
            "op": np.ones(rows, int),
            "offset": rng.integers(0, 1000, rows) * 4096,
            "length": rng.integers(1, longest + 1, rows) * 4096,
            "stream": handles,
        }
    )
    known: dict[int, int] = {}
    seen: dict[str, list[tuple[int, int]]] = {"one": [], "batch": []}
    moved = []

    class One(fg.Placement):
        streams = 1

        def stream(self, write: fg.HostWrite) -> int:
            known[write.lpn] = write.handle
            seen["one"].append((write.lpn, write.handle))
            return 0

        def moved(self, pages: fg.MovedPages) -> int:
            # If cleaning interrupts a longer write, pages that the write has yet to reach already
            # have its handle.
            if longest == 1:
                assert pages.handle.tolist() == [known[int(lpn)] for lpn in pages.lpn]
            moved.extend(pages.handle)
            return 0

    class Batch(fg.Placement):
        streams = 1

        def stream_batch(self, writes: fg.HostWrites) -> Any:
            seen["batch"] += zip(writes.lpn.tolist(), writes.handle.tolist(), strict=True)
            return np.zeros(len(writes.lpn), int)

    sets = {"flash.pages_per_block": 16, "capacity.spare_factor": 0.1, "start.fill": "none"}
    for policy in (One(), Batch()):
        result = fg.run(trace, set={**sets, "placement.scheme": policy})
        assert result.placement.unknown_handles == 0
    pages = trace["offset"].to_numpy() // 4096, trace["length"].to_numpy() // 4096, handles
    expected = [
        (int(first) + page, int(handle))
        for first, count, handle in zip(*pages, strict=True)
        for page in range(count)
    ]
    assert seen["one"] == seen["batch"] == expected
    assert set(moved) == {0, 1, 300, 65535}
