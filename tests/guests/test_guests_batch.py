"""Batch calls, counts and placement handles of external policies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from guest_policies import (
    HOTCOLD,
    SETS,
    UNTOLD,
    ByHandle,
    ByHandleAgain,
    ByHandleBatch,
    Counting,
    Entries,
    NoCache,
    Short,
    ShortBatch,
    counts,
    told,
)

import floatgate as fg

PAGES = 1500
"""Pages written by the trace below, more than a batch."""


class Answering(fg.Placement):
    """Answers each batch with `answer`, called with the number of earlier pages and the batch
    size."""

    streams = 2

    def __init__(self, answer: Callable[[int, int], Any]) -> None:
        self.answer = answer

    def stream_batch(self, writes: fg.HostWrites) -> Any:
        return self.answer(int(writes.clock[0]), len(writes.lpn))


def _failed(folder: Path, answer: Callable[[int, int], Any], **sets: Any) -> fg.PolicyError:
    """Returns the error of a run of single pages, in which every third request is a read."""
    trace = folder / "trace.csv"
    ops = ["write", "write", "read"] * (PAGES // 2)
    lines = [f"0,{op},{4096 * at},4096" for at, op in enumerate(ops)]
    trace.write_text("\n".join(["timestamp_us,op,offset_bytes,size_bytes", *lines]))
    with pytest.raises(fg.PolicyError) as caught:
        fg.run(trace, set={"placement.scheme": Answering(answer), "start.fill": "none", **sets})
    return caught.value


def _one_wrong(at: int) -> Callable[[int, int], Any]:
    """Returns answers in which page `at` of all written pages has an invalid stream."""
    return lambda first, pages: np.where(np.arange(first, first + pages) == at, 7, 0)


def _number(page: int) -> int:
    """Returns the request number of a written page: two of three requests are writes."""
    return page + page // 2 + 1


@pytest.mark.parametrize("at", [0, 1, 2, 500, 681, 682, 683, PAGES - 1])
def test_a_stream_that_is_none_is_told_with_the_request_of_its_page(
    tmp_path: Path, at: int
) -> None:
    error = _failed(tmp_path, _one_wrong(at))
    number = _number(at)
    assert (error.number, error.until, error.op) == (number, None, "write")
    assert (error.offset, error.length, error.is_start) == (4096 * (number - 1), 4096, False)
    assert f"at request {number} of the trace (write, offset {error.offset}, " in str(error)
    assert f"returned 7 for page {number - 1}: expected 0 to 1" in str(error)


@pytest.mark.parametrize(
    "wrong", [lambda pages: [0] * (pages + 1), lambda pages: 1 // 0, lambda pages: [0.5] * pages]
)
@pytest.mark.parametrize("from_page", [0, 683])
def test_what_is_wrong_with_a_batch_is_told_with_all_of_its_requests(
    tmp_path: Path, wrong: Callable[[int], Any], from_page: int
) -> None:
    asked: list[tuple[int, int]] = []

    def answer(page: int, pages: int) -> Any:
        asked.append((page, page + pages - 1))
        return wrong(pages) if page >= from_page else [0] * pages

    error = _failed(tmp_path, answer)
    first, last = (_number(page) for page in asked[-1])
    assert (error.number, error.until) == (first, last)
    assert f"in the batch of requests {first} to {last} of the trace: " in str(error)
    assert (error.op, error.offset) == ("write", 4096 * (first - 1))
    assert last > first


def test_a_batch_of_the_fill_is_said_to_be_one(tmp_path: Path) -> None:
    error = _failed(tmp_path, _one_wrong(99), **{"start.fill": "sequential"})
    assert (error.number, error.is_start) == (100, True)
    assert "at request 100 of the drive's fill" in str(error)


@pytest.mark.parametrize("mine", [Short(), ShortBatch()])
@pytest.mark.parametrize(
    ("trace", "sets"),
    [
        (HOTCOLD, {**SETS, "placement.gc_destination": "reclassify"}),
        ("uniform:span=64MiB,size=128KiB,writes=2Ki", {"device": "tlc-client"}),
    ],
)
def test_pages_of_a_placement_that_is_not_asked_stay(
    mine: fg.Placement, trace: str, sets: dict[str, Any]
) -> None:
    """Pages that leave an SLC cache have no stream yet, so they go to the first stream."""
    sets = dict(sets)
    device = sets.pop("device", "classic")
    how: dict[str, Any] = {"device": device, "verify": True}
    ours = fg.run(trace, set={**sets, "placement.scheme": mine}, **how)
    theirs = fg.run(trace, set={**sets, "placement.scheme": "length"}, **how)
    assert counts(ours) == counts(theirs)
    moved = ours.flash.programs
    assert moved.gc + moved.fold > 1000


class Kept(Entries):
    """Writes nothing back when it is flushed."""

    def flush(self) -> list[fg.MapOp]:
        return []


class Wide(Counting):
    def counts(self) -> fg.MapCounts:
        return fg.MapCounts(cache_bytes=2049)


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        (Kept(), r"a flush of the map leaves Lpn\(\d+\)"),
        (Wide(), r"its cache has 2049 bytes, of at most 2048 \(mapping\.cache\)"),
    ],
)
def test_a_mapping_is_verified_as_built_in_ones_are(mapping: fg.Mapping, said: str) -> None:
    sets = {**SETS, "mapping.cache": "2KiB", "mapping.scheme": mapping}
    with pytest.raises(fg.PolicyError, match=said) as caught:
        fg.run(HOTCOLD, set=sets, verify=True)
    assert isinstance(caught.value.__cause__, AssertionError)


MAPPED = {**SETS, "mapping.cache": "2KiB", "dftl.replacement": "lru", "flash.page": "2KiB"}


def mapped(mapping: Any, **more: Any) -> fg.Result:
    return fg.run(f"{HOTCOLD},reads=0.3", set={**MAPPED, "mapping.scheme": mapping, **more})


def test_counts_are_those_of_the_log_of_the_policy() -> None:
    mine = Counting()
    result = mapped(mine, **{"start.fill": "none"})
    of = mine.log.count
    found = result.mapping
    assert found.hits == of("hit") > 1000 and found.misses == of("miss") > 1000
    assert found.hit_ratio == of("hit") / (of("hit") + of("miss"))
    assert found.evictions == of("dirty") + of("clean") and of("clean") > 100
    assert found.dirty_evictions == of("dirty") > 1000
    assert (found.prefetched, found.prefetch_used, found.prefetch_unused) == (0, 0, 0)
    assert found.cache_bytes == 8 * len(mine.cached) == 2048


def test_the_fill_is_not_counted() -> None:
    mine = Counting()
    result = mapped(mine)
    assert counts(result) == counts(mapped("dftl"))
    assert result.mapping.evictions is not None
    assert 1000 < result.mapping.evictions < mine.log.count("dirty") + mine.log.count("clean")


def test_what_a_policy_does_not_tell_is_absent() -> None:
    for mine, built_in in [(Entries(), "dftl"), (NoCache(), "none")]:
        ours = mapped(mine)
        assert [getattr(ours.mapping, name) for name in UNTOLD] == [None] * 6
        assert told(ours) == told(mapped(built_in))


class Some(Entries):
    """Reports the counts that `given` computes from the log."""

    def __init__(self, given: Any) -> None:
        self.given = given

    def counts(self) -> Any:
        return self.given(self.log)


def test_a_policy_tells_some_counts_and_may_know_better_what_a_hit_is() -> None:
    result = mapped(
        Some(lambda log: fg.MapCounts(hits=3 * len(log), misses=len(log), prefetched=len(log)))
    )
    assert result.mapping.hit_ratio == 0.75
    assert result.mapping.prefetched == result.mapping.misses
    assert result.mapping.hits == 3 * result.mapping.misses
    assert result.mapping.evictions is None and result.mapping.prefetch_used is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            lambda log: {"evictions": 1},
            r"counts\(\) returned {'evictions': 1}: expected a floatgate",
        ),
        (lambda log: fg.MapCounts(evictions=-1), "evictions=-1: expected an int of at least 0"),
        (lambda log: fg.MapCounts(evictions=0.5), "evictions=0.5: expected an int of at least 0"),
        (lambda log: fg.MapCounts(evictions=1 << 63), "expected an int of at least 0"),
        (lambda log: fg.MapCounts(hits=1), "expected both hits and misses, or neither of them"),
        (
            lambda log: fg.MapCounts(prefetched=10**9 - len(log)),
            r"prefetched=\d+ after \d+: expected what was counted since start\(\), which never",
        ),
        (
            lambda log: fg.MapCounts(evictions=1 if log else None),
            "evictions=1 after None: expected it each time, or never",
        ),
    ],
)
def test_counts_that_cannot_be_are_errors(given: Any, said: str) -> None:
    with pytest.raises(fg.PolicyError, match=said):
        mapped(Some(given), **{"start.fill": "none"})


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
