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


def _shares(drawing: Any) -> pl.DataFrame:
    """Returns the shares as drawn: a row per run, a column per use."""
    spec = drawing.chart.to_dict()
    (rows,) = (
        rows
        for text in spec["datasets"].values()
        if (rows := json.loads(text)) and "part" in rows[0]
    )
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


def test_a_bar_has_the_means_over_the_lanes(parallel: Result) -> None:
    for drawing, shares, names in zip(
        _figure([parallel]).drawings,
        (parallel.dies, parallel.channels),
        (USES, CAUSES),
        strict=True,
    ):
        drawn = _shares(drawing)
        assert drawn.height == 1
        for use, name in (names | {"idle": "idle"}).items():
            lanes = getattr(shares, use)
            found = drawn[name][0] if name in drawn.columns else 0.0
            assert found == pytest.approx(sum(lanes) / len(lanes), rel=1e-6)
        assert sum(drawn.drop("row").row(0)) == pytest.approx(1.0)
        assert [entry.text for entry in drawing.legend] == [
            name for name in [*names.values(), "idle"] if name in drawn.columns
        ]


def test_a_rule_reaches_from_the_least_to_the_most_busy_lane() -> None:
    runs_of = runs.label_runs(samples.typed([_many(4), _many(2, "msr_prxy0")]))
    frame = die_use.busy_frame(runs_of, die_use.DIES)
    assert frame["low"].to_list() == pytest.approx([1 / 5, 1 / 3])
    assert frame["mean"].to_list() == pytest.approx([1 / 2, 1 / 2])
    assert frame["high"].to_list() == pytest.approx([4 / 5, 2 / 3])


def test_channels_that_did_nothing_are_left_out() -> None:
    document = samples.sample()
    document["channels"] = {key: [0.0] for key in document["channels"]} | {"idle": [1.0]}
    figure = _figure(samples.typed([document]))
    assert [drawing.heading for drawing in figure.drawings] == ["Dies"]
    assert figure.absent == [("Channels", "idle all the time")]


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


def test_each_run_has_one_bar() -> None:
    results = samples.typed([_many(2), _many(3, "msr_prxy0")])
    dies = _shares(_figure(results).drawings[0])
    assert dies["row"].to_list() == ["financial1", "msr_prxy0"]


def test_time_that_was_not_simulated_is_said_so() -> None:
    result = floatgate.run("uniform:span=16MiB,writes=10k", set={"timing": "none"})
    assert not result.timed
    figure = _figure([result])
    assert not figure.drawings and figure.table is None
    assert figure.absent == [(kind, "time was not simulated") for kind in ("Dies", "Channels")]
    assert result.throughput.device_seconds is None and result.lifetime.years is None
    assert result.timeline.height > 1
    assert result.timeline["seconds"].null_count() == result.timeline.height


def test_a_run_of_no_time_keeps_no_die_busy() -> None:
    """The run read only pages that were never written, which need no flash read."""
    result = floatgate.run("uniform:span=1MiB,requests=10,reads=1", set={"start.fill": "none"})
    table = _figure([result]).table
    assert result.throughput.device_seconds == 0
    assert table is not None and [cell.order for cell in table.rows[0][1:]] == [0, 0, 0, 0]
