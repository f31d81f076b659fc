"""The figure of the use of dies and channels, compared with the shares in the result."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import polars as pl
import pytest
import report_samples as samples

import floatgate
from floatgate.report import die_use, figures, runs
from floatgate.report.figure import Figure
from floatgate.results.result import ChannelsResult, DiesResult, Result

USES = {
    "read": "reads", "program": "programs", "erase": "erases", "transfer": "transfers",
    "wait": "waits for the channel",
}  # fmt: skip
CAUSES = {
    "host": "host", "gc": "cleaning", "map": "map", "merge": "merges", "remap": "remapping",
}  # fmt: skip


def _figure(results: list[Result]) -> Figure:
    (found,) = (
        figure for figure in figures.figures(runs.label_runs(results)) if figure.key == "die-use"
    )
    return found


def _lanes(drawing: Any) -> pl.DataFrame:
    """Returns the shares as drawn: a row per lane, a column per use."""
    (rows,) = (json.loads(text) for text in drawing.chart.to_dict()["datasets"].values())
    return pl.DataFrame(rows).pivot("part", index="row", values="value").fill_null(0.0)


def _many(dies: int, trace: str = "financial1") -> dict[str, Any]:
    """Returns a sample with this number of dies, each busier than the die before it."""
    document = samples.sample(trace)
    busy = [(at + 1) / (dies + 1) for at in range(dies)]
    none = [0.0] * dies
    document["dies"] = {"read": [share / 4 for share in busy]}
    document["dies"] |= {"program": [share * 3 / 4 for share in busy], "erase": none}
    document["dies"] |= {"transfer": none, "wait": none, "idle": [1 - share for share in busy]}
    return document


@pytest.fixture(scope="module")
def parallel() -> Result:
    """A run on a drive of four channels with two dies each."""
    shape = {"channels": 4, "dies": 2, "planes": 2, "superblock": 16}
    times = {"read": "50us", "program": "600us", "erase": "4500us", "bus": "1200MB/s"}
    drive = {"flash": {**shape, **times}}
    return floatgate.run("zipf:span=64MiB,writes=20k,reads=0.5", device=drive)


def test_every_use_has_a_name() -> None:
    for kind, parts in ((die_use.DIES, DiesResult), (die_use.CHANNELS, ChannelsResult)):
        assert kind.uses.keys() == {field.name for field in dataclasses.fields(parts)}


def test_a_lane_for_each_die_and_each_channel(parallel: Result) -> None:
    for drawing, noun, shares, names in zip(
        _figure([parallel]).drawings,
        ("die", "channel"),
        (parallel.dies, parallel.channels),
        (USES, CAUSES),
        strict=True,
    ):
        drawn = _lanes(drawing)
        assert drawn["row"].to_list() == [f"{noun} {at}" for at in range(len(shares.idle))]
        for use, name in (names | {"idle": "idle"}).items():
            expected = list(getattr(shares, use))
            found = drawn[name].to_list() if name in drawn.columns else [0.0] * len(expected)
            assert found == pytest.approx(expected, rel=1e-6)
        sums = drawn.select(pl.sum_horizontal(pl.exclude("row"))).to_series().to_list()
        assert sums == pytest.approx([1.0] * drawn.height)
        assert [entry.text for entry in drawing.legend] == [
            name for name in [*names.values(), "idle"] if name in drawn.columns
        ]


def test_the_table_has_the_busiest_die_and_the_means(parallel: Result) -> None:
    table = _figure([parallel]).table
    assert table is not None
    (row,) = table.rows
    busy = [1 - idle for idle in parallel.dies.idle]
    transfers = [1 - idle for idle in parallel.channels.idle]
    assert [cell.order for cell in row[1:]] == [
        busy.index(max(busy)),
        pytest.approx(max(busy)),
        pytest.approx(sum(busy) / len(busy)),
        pytest.approx(sum(transfers) / len(transfers)),
    ]
    # The terminal prints the same mean for the dies.
    assert row[3].order == pytest.approx(parallel.throughput.utilization)


def test_runs_of_one_plot_are_told_apart_by_name() -> None:
    results = samples.typed([_many(2), _many(3, "msr_prxy0")])
    dies = _lanes(_figure(results).drawings[0])
    expected = [*(("financial1", at) for at in range(2)), *(("msr_prxy0", at) for at in range(3))]
    assert dies["row"].to_list() == [f"{run}, die {at}" for run, at in expected]


@pytest.mark.parametrize("dies", [die_use.LANES, die_use.LANES + 1])
def test_of_many_lanes_the_mean_and_the_busiest(dies: int) -> None:
    drawn = _lanes(_figure(samples.typed([_many(dies)])).drawings[0])
    if dies <= die_use.LANES:
        assert drawn.height == dies
        return
    assert drawn["row"].to_list() == ["mean die", f"busiest: die {dies - 1}"]
    assert drawn["reads"].to_list() == pytest.approx([1 / 8, dies / (dies + 1) / 4])
    assert drawn["idle"].to_list() == pytest.approx([1 / 2, 1 / (dies + 1)])


def test_time_that_was_not_simulated_is_said_so() -> None:
    result = floatgate.run("uniform:span=16MiB,writes=10k", set={"timing": "none"})
    assert not result.timed
    figure = _figure([result])
    assert not figure.drawings and figure.table is None
    assert figure.reasons == [
        f"{kind}: not drawn: time was not simulated." for kind in ("Dies", "Channels")
    ]
    assert result.throughput.device_seconds is None and result.lifetime.years is None
    assert result.timeline.height > 1
    assert result.timeline["seconds"].null_count() == result.timeline.height


def test_a_run_of_no_time_keeps_no_die_busy() -> None:
    """The run read only pages that were never written, which need no flash read."""
    result = floatgate.run("uniform:span=1MiB,requests=10,reads=1", set={"start.fill": "none"})
    table = _figure([result]).table
    assert result.throughput.device_seconds == 0
    assert table is not None and [cell.order for cell in table.rows[0][1:]] == [0, 0, 0, 0]
