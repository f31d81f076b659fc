"""Batch calls of external policies: an error names the request, and undefined methods are not
called."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from guest_policies import HOTCOLD, SETS, Counting, Entries, Short, ShortBatch, counts

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
