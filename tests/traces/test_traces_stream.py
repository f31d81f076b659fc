"""Traces streamed during a run: the same results as from memory, and few rows are decoded."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import floatgate as fg
from floatgate import _core
from floatgate.simulation import configs, pool, sources
from floatgate.simulation.identity import Job
from floatgate.simulation.options import RunOptions
from floatgate.traces import (
    Room,
    Stream,
    Trace,
    TraceError,
    lay_out,
    open_trace,
    read_trace,
    stream,
    trace_of,
)
from floatgate.traces.formats import parquet

MIB = 1 << 20
SHORT = Room(requests=1, batch=7)
"""Batches are short, and every trace of more than one request is a stream."""
DRIVE = {"flash.blocks": 2048, "timing": "none"}

rows = st.lists(
    st.tuples(
        st.integers(0, 10**12),
        st.sampled_from([0, 1, 1, 2, 3]),
        st.integers(0, 2),
        st.integers(0, 30 * MIB),
        st.integers(0, 2 * MIB),
    ),
    min_size=1,
    max_size=40,
)


def trace(
    count: int, seed: int = 1, devices: int = 1, pages: int = 4000, trims: bool = True
) -> pl.DataFrame:
    """Returns random requests in time order."""
    draw = random.Random(seed)
    ops = [0, 1, 1, 1, 2 if trims else 1, 3]
    return pl.DataFrame(
        {
            "at_ns": sorted(draw.randrange(10**9) for _ in range(count)),
            "op": [draw.choice(ops) for _ in range(count)],
            "device": [draw.randrange(devices) for _ in range(count)],
            "offset": [4096 * draw.randrange(pages) for _ in range(count)],
            "length": [4096 * draw.randint(1, 4) for _ in range(count)],
        }
    )


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@example(found=[*[(0, 0, 0, 0, 0)] * 7, (0, 0, 0, 0, 1)], limit=2, gap=None, mode="fold")
@given(
    found=rows,
    limit=st.none() | st.integers(2, 40),
    gap=st.sampled_from([None, "1us", "1min"]),
    mode=st.sampled_from(["fold", "span", "modulo"]),
)
def test_a_stream_is_the_trace(
    tmp_path: Path, found: list[Any], limit: int | None, gap: str | None, mode: str
) -> None:
    path = tmp_path / "some.parquet"
    names = ["at_ns", "op", "device", "offset", "length"]
    frame = pl.DataFrame(sorted(found, key=lambda row: row[0]), schema=names, orient="row")
    frame.write_parquet(path, row_group_size=5)
    try:
        whole = read_trace(path, limit=limit, close_gaps=gap)
    except TraceError as error:
        with pytest.raises(TraceError, match="no requests"):
            open_trace(path, limit=limit, close_gaps=gap, room=SHORT)
        assert "no requests" in str(error)
        return
    some = open_trace(path, limit=limit, close_gaps=gap, room=SHORT)
    if isinstance(some, Trace):  # of one row
        assert_frame_equal(some.frame, whole.frame)
        return
    assert_frame_equal(some.hold().frame, whole.frame)
    about = some.about
    assert (about.devices, about.notes) == (whole.devices, whole.notes)
    capacity = 8 * MIB if mode == "modulo" else None
    layout, expected = (
        some.lay_out(mode, capacity=capacity),
        lay_out(whole, mode, capacity=capacity),
    )
    assert_frame_equal(pl.concat(layout.batches()), expected.frame)
    assert (layout.span_bytes, layout.notes) == (expected.span_bytes, expected.notes)
    assert layout.requests == expected.frame.height


OPTIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({}, {"repeat": 3, "time_scale": 0.7}),
    ({"limit": 500}, {}),
    ({"close_gaps": "1ms"}, {"addresses": "span"}),
    ({}, {"addresses": "modulo"}),
    ({}, {"set": {"mapping.scheme": "belady", "mapping.cache": "64KiB"}}),
    ({}, {"set": {"placement.scheme": "oracle"}}),
]
"""Options of reading, and of running."""


def opened(path: Path, **options: Any) -> Stream:
    found = open_trace(path, room=SHORT, **options)
    assert isinstance(found, Stream)
    return found


def same(one: fg.Result, other: fg.Result) -> bool:
    documents = [result.to_dict() for result in (one, other)]
    for document in documents:
        del document["engine"]
    return documents[0] == documents[1]


@pytest.mark.parametrize(("reading", "options"), OPTIONS, ids=str)
@pytest.mark.parametrize("devices", [1, 3])
def test_results_are_those_of_a_trace_in_memory(
    tmp_path: Path, reading: dict[str, Any], options: dict[str, Any], devices: int
) -> None:
    path = tmp_path / "some.parquet"
    trace(3000, devices=devices).write_parquet(path, row_group_size=100)
    options = {**options, "set": DRIVE | options.get("set", {})}
    streamed = fg.run(opened(path, **reading), **options)
    assert same(streamed, fg.run(path, **reading, **options))
    with pytest.raises(fg.ConfigError, match="limit: 5 given, but the trace is open already"):
        fg.run(opened(path), limit=5)


def test_a_part_of_a_generator_is_a_stream_too() -> None:
    def frames() -> Iterator[pl.DataFrame]:
        batches = _core.Workload.generator("uniform:span=16MiB,writes=70k", 1).batches(1 << 16)
        return map(pl.DataFrame, batches)

    streamed, held = trace_of(frames, 70_000, SHORT), trace_of(frames, 70_000)
    assert isinstance(streamed, Stream) and isinstance(held, Trace)
    options: dict[str, Any] = {"repeat": 2, "set": {"timing": "none"}}
    assert same(fg.run(streamed, **options), fg.run(held, **options))


def test_a_directory_of_files_with_names_is_a_stream(tmp_path: Path) -> None:
    frame = trace(2000, devices=3)
    for number, part in enumerate((frame.head(700), frame.slice(700))):
        read = read_trace(part)
        read.frame = read.frame.with_columns(at_ns=part["at_ns"].cast(pl.UInt64))
        read.devices = [f"sd{name}" for name in ("cab" if number else "abc")]
        fg.traces.write_parquet(read, tmp_path / f"{number}.parquet")
    whole, some = read_trace(tmp_path), opened(tmp_path)
    assert some.about.devices == whole.devices == ["sda", "sdb", "sdc"]
    assert_frame_equal(some.hold().frame, whole.frame)
    assert some.about.notes == whole.notes
    assert fg.run(some, set=DRIVE).workload.requests == 2000


def test_a_trace_out_of_order_is_held_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    trace(300)[::-1].write_parquet(path)
    found = open_trace(path, room=SHORT)
    assert isinstance(found, Trace)
    assert_frame_equal(found.frame, read_trace(path).frame)
    assert found.notes[-1].startswith("300 requests were held in memory to sort them")


def test_what_is_wrong_far_down_is_found(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    frame = trace(300)
    bad = frame.with_columns(
        op=pl.when(pl.col("at_ns") == frame["at_ns"][250]).then(9).otherwise("op")
    )
    bad.write_parquet(path)
    words = r"some\.parquet: column op: expected integers from 0 to 3"
    with pytest.raises(TraceError, match=words):
        open_trace(path, room=SHORT)


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Records the rows of each decoded batch."""
    seen: list[int] = []
    frames = parquet.File._frames

    def counted(self: parquet.File, scan: pl.LazyFrame) -> Iterator[pl.DataFrame]:
        for frame in frames(self, scan):
            seen.append(frame.height)
            yield frame

    monkeypatch.setattr(parquet.File, "_frames", counted)
    return seen


def bytes_read() -> int:
    path = Path("/proc/self/io")
    if not path.exists():
        pytest.skip("this system does not say what a process has read")
    text = path.read_text("ascii")
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("rchar")))


def test_a_limit_reads_little(tmp_path: Path, decoded: list[int]) -> None:
    path = tmp_path / "some.parquet"
    frame = pl.concat([trace(10_000, devices=2)] * 200)
    frame = frame.with_columns(at_ns=pl.int_range(frame.height, dtype=pl.UInt64))
    frame.write_parquet(path, row_group_size=10_000, compression="uncompressed")
    before = bytes_read()
    found = read_trace(path, limit=100, room=SHORT)
    assert bytes_read() - before < path.stat().st_size / 5
    assert sum(decoded) == found.frame.height == 100
    assert found.notes == ["only the first 100 of 2,000,000 requests"]
    assert_frame_equal(found.frame, read_trace(frame, limit=100).frame)


def test_a_limit_finds_early_requests_behind_later_ones(tmp_path: Path, decoded: list[int]) -> None:
    path = tmp_path / "some.parquet"
    frame = trace(5000)
    # Some requests of the first tenth are at the end of the file.
    frame = pl.concat([frame[:400], frame[500:], frame[400:500]])
    frame.write_parquet(path, row_group_size=100)
    for limit in (300, 450):
        del decoded[:]
        found = read_trace(path, limit=limit, room=SHORT)
        assert_frame_equal(found.frame, read_trace(frame, limit=limit).frame)
        assert sum(decoded) < 1500


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("kind", ["stream", "generator"])
def test_many_drives_share_a_reading(
    tmp_path: Path, kind: str, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "some.parquet"
    trace(20_000, trims=False).write_parquet(path)
    spec = "hotcold:span=16MiB,r=0.9,f=0.1,writes=20k"
    shared_by, own = (spec, spec) if kind == "generator" else (opened(path), path)
    vary = {"capacity.spare_factor": [0.1, 0.2, 0.3], "mapping.scheme": ["ideal", "dftl", "belady"]}
    options: dict[str, Any] = {"vary": vary, "set": {"timing": "none", "mapping.cache": "64KiB"}}
    passes: list[int] = []
    batches = stream.StreamLayout.batches

    def counted(self: stream.StreamLayout) -> Iterator[pl.DataFrame]:
        passes.append(1)
        return batches(self)

    monkeypatch.setattr(stream.StreamLayout, "batches", counted)
    shared = fg.compare_results(shared_by, workers=workers, **options)
    # One pass serves all runs. Each run of a scheme that knows the future reads ahead in another
    # pass.
    assert len(passes) == (0 if kind == "generator" else 1 + 3)
    assert len(shared) == 9
    for one, values in zip(shared, itertools.product(*vary.values()), strict=True):
        keys = dict(zip(vary, values, strict=True))
        assert same(one, fg.run(own, set={**options["set"], **keys}))


def test_large_drives_share_in_groups() -> None:
    load = sources.open_source("uniform:span=4MiB,writes=1k", RunOptions()).load(None)
    drive = configs.resolve_all(None, DRIVE, {})[0]
    made = [Job(str(number), drive, load, RunOptions()) for number in range(5)]
    takes = made[0].memory_bytes()
    for most, workers, room, sizes in [
        (2, 1, None, [2, 2, 1]),
        (2, 3, None, [3, 2]),
        (9, 1, None, [5]),
        (0, 1, None, [1] * 5),
        (9, 3, 2, [2, 2, 1]),
        (9, 3, 0, [1] * 5),
    ]:
        memory = None if room is None else room * takes
        groups = pool._groups(made, range(5), workers, memory, most * takes)
        assert [len(group.jobs) for group in groups] == sizes


def test_another_group_begins_where_a_core_could_be_idle_and_memory_is_left() -> None:
    """The runs of a group wait for one another. With only one group, one of two cores was often
    idle. A second group must not hold more drives in memory than the limit of one group."""

    def group(runs: int, size: int) -> pool.Group:
        return pool.Group(range(runs), size)

    def at_work(runs: int, size: int) -> pool.Underway:
        return pool.Underway(group(runs, size), {Future() for _ in range(runs)})

    half = pool.SHARED_BYTES // 2
    for underway, another, begins in [
        ([], group(9, 9 * half), True),
        ([at_work(1, 9 * half)], group(9, 9 * half), True),
        ([at_work(5, half)], group(5, half), True),
        ([at_work(5, half)], group(5, half + 1), False),
        ([at_work(5, 1), at_work(5, 1)], group(5, 1), False),
    ]:
        assert pool._has_room(underway, another, 2, None) == begins, (underway, another)


def test_drives_that_do_not_fit_together_run_one_after_the_other() -> None:
    one = pool.Group([0], 6)
    first = pool.Underway(one, {Future()})
    assert pool._has_room([], one, 2, room=5)
    assert not pool._has_room([first], one, 2, room=11)
    assert pool._has_room([first], one, 2, room=12)


def test_a_run_that_fails_does_not_lose_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate = pool._core.simulate

    def failing(config: _core.Config, *arguments: Any, reading: Any, **options: Any) -> str:
        # The failing run finishes the shared read first. Otherwise the other runs would wait for
        # it.
        result = simulate(config, *arguments, reading=reading, **options)
        if config.spare_factor == 0.2:
            raise fg.RunError("the power went")
        return result

    monkeypatch.setattr(pool._core, "simulate", failing)
    path = tmp_path / "some.parquet"
    trace(5000, trims=False).write_parquet(path)
    vary = {"capacity.spare_factor": [0.1, 0.2, 0.3]}
    keep = tmp_path / "kept"
    with pytest.raises(fg.RunError, match=r"spare_factor=0\.2: the power went") as raised:
        fg.compare_results(opened(path), vary=vary, set={"timing": "none"}, keep=keep, workers=2)
    results = raised.value.results  # type: ignore[attr-defined]
    assert [result is None for result in results] == [False, True, False]
    assert len([*keep.iterdir()]) == 2
    monkeypatch.setattr(pool._core, "simulate", simulate)
    how: dict[str, Any] = {"keep": keep, "resume": True}
    again = fg.compare_results(opened(path), vary=vary, set={"timing": "none"}, **how)
    assert again[0] == results[0] and again[2] == results[2]


def test_a_file_that_changes_while_it_is_played_ends_the_runs(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    trace(2000, trims=False).write_parquet(path)
    source = sources.open_source(opened(path), RunOptions())
    drive = configs.resolve_all(None, DRIVE, {})[0]
    job = Job("", drive, source.load(None), RunOptions())
    trace(1999, trims=False).write_parquet(path)
    with pytest.raises(fg.RunError, match=r"some\.parquet changed while it was read"):
        pool.run_all([job, job], 2, None)
    path.write_bytes(b"PAR1")
    with pytest.raises(fg.RunError, match="damaged Parquet data"):
        pool.run_all([job], 2, None)


def test_an_interrupt_ends_runs_that_share_a_reading(tmp_path: Path) -> None:
    def stop(phase: str, done: int, total: int) -> None:
        if phase == "run" and done:
            raise KeyboardInterrupt

    spec = "uniform:span=16MiB,writes=4000000000"
    vary = {"capacity.spare_factor": [0.1, 0.2, 0.3]}
    with pytest.raises(KeyboardInterrupt):
        fg.compare(spec, vary=vary, set={"timing": "none"}, progress=stop)
