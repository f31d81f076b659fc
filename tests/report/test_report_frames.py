"""Data of the plots, compared with the document: identities, histograms, axes, curves."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import polars as pl
import pytest
import report_samples as samples
from plainly import PER_CENT

from floatgate.report import frames, over_time, payload, sweeps
from floatgate.report.figures import CACHES, figures
from floatgate.report.runs import Run
from floatgate.report.wear_map import MAPS, map_cells
from floatgate.result_types import AmplificationResult, BlameTimes, CauseCounts
from floatgate.results import causes


def _run(**tables: Any) -> Run:
    """Returns a sample run with some of its tables changed."""
    document = samples.sample()
    for name, values in tables.items():
        document[name] |= values
    (run,) = samples.runs([document])
    return run


def _figure(key: str, documents: list[dict[str, Any]]) -> Any:
    (found,) = (figure for figure in figures(samples.runs(documents)) if figure.key == key)
    return found


UNCOLOURED = ("journal", "retire", "pad", "fold", "parity")


def test_a_part_of_a_bar_has_its_share_of_the_factor() -> None:
    document = samples.distinct()
    parts = frames.amplification(samples.runs([document]))
    bytes_by_cause = document["amplification"]
    whole = sum(bytes_by_cause.values())
    shown = {part["part"]: part for part in parts.iter_rows(named=True)}
    for cause, name in causes.CAUSES.items():
        # The causes without a colour share one segment.
        part = bytes_by_cause.get(cause, sum(bytes_by_cause[key] for key in UNCOLOURED))
        assert shown[name]["value"] == pytest.approx(part)
        assert shown[name]["share"] == pytest.approx(part / whole)
    assert parts["value"].sum() == pytest.approx(whole)


def test_the_parts_of_the_mean_sum_to_it() -> None:
    document = samples.sample()
    parts = frames.blame(samples.runs([document]))
    assert parts["value"].sum() == pytest.approx(document["latency"]["all"]["mean_us"])
    blame = document["latency"]["blame_us"]
    for cause, name in causes.BLAME.items():
        found = parts.filter(pl.col("part") == name)["value"].to_list()
        assert found == ([pytest.approx(blame[cause])] if blame.get(cause) else [])


def test_every_cause_has_a_name() -> None:
    pages = causes.NAMED.keys() - {"partial"}
    for parts, names in (
        (AmplificationResult, causes.NAMED.keys()),
        (CauseCounts, pages),
        (BlameTimes, causes.BLAME.keys()),
    ):
        assert {field.name for field in dataclasses.fields(parts)} == names - {"other"}


def test_a_cause_without_a_colour_is_drawn_as_other() -> None:
    document = samples.sample()
    document["amplification"] |= {"journal": 0.7, "retire": 0.3}
    parts = frames.amplification(samples.runs([document]))
    other = parts.filter(pl.col("part") == "other")
    assert other["value"].to_list() == [pytest.approx(1.0)]
    assert other["share"].to_list() == [pytest.approx(1 / sum(document["amplification"].values()))]


def test_hit_ratios_have_their_own_counts() -> None:
    document = samples.distinct()
    for name, (cache, *_) in zip(("mapping", "buffer"), CACHES, strict=True):
        (row,) = frames.hit_ratio(samples.runs([document]), cache).iter_rows(named=True)
        known = document[name]
        assert (row["value"], row["hits"], row["misses"]) == (
            known["hit_ratio"],
            known["hits"],
            known["misses"],
        )


def test_a_distribution_is_that_of_the_document_and_ends_at_the_slowest() -> None:
    document = samples.sample()
    write = document["latency"]["write"]
    curve = frames.distribution(samples.runs([document]), "write")
    known = {share: us for us, share in write["cdf"]}
    first, *others = curve.select("us", "share", "nines").rows()[:-1]
    assert first == (others[0][0], 0.0, 0.0), "all requests are faster than none of these times"
    for us, share, nines in others:
        assert known[share] == us
        assert 1 - 10**-nines == pytest.approx(share)
    assert curve["us"].is_sorted() and curve["nines"].is_sorted()
    # The slowest request is one of all the requests.
    *_, last = curve.select("us", "share", "nines").rows()
    assert last == (write["max_us"], 1.0, math.log10(write["requests"]))
    # Each omitted point is too close to a neighbour to be visible.
    kept = set(curve["share"]) - {0.0}
    gaps = [share for share in known if share not in kept and share < 1]
    for share in gaps:
        near = [
            abs(math.log10((1 - share) / (1 - other))) < frames.CURVE_STEP
            and abs(math.log10(known[share] / known[other])) < frames.CURVE_STEP
            for other in kept - {1.0}
        ]
        assert any(near)
    assert len(kept) > 30


def test_a_distribution_leaves_out_what_a_log_axis_cannot_show() -> None:
    cdf = [[0.0, 0.2], [5.0, 0.5], [90.0, 0.9], [400.0, 1.0]]
    run = _run(latency={"read": {"cdf": cdf, "requests": 100, "max_us": 80.0}})
    curve = frames.distribution([run], "read").select("us", "share", "nines").rows()
    # The end of the last bin exceeds the slowest request, so the curve ends at that request.
    assert [row[:2] for row in curve] == [(5.0, 0.2), (5.0, 0.5), (80.0, 0.9), (80.0, 1.0)]
    assert curve[-1][2] == 2.0
    assert frames.distribution([_run(latency={"read": {}})], "read").is_empty()


@pytest.mark.parametrize(
    "histogram",
    [
        [[3, 10]],
        [[0, 5], [1, 2]],
        [[i, i + 1] for i in range(39)],
        [[i, i + 1] for i in range(40)],
        [[i, i + 1] for i in range(41)],
        [[i, i + 1] for i in range(999)],
        [[7, 1], [90, 2], [1000, 3], [1001, 0]],
    ],
)
def test_wear_bins_hold_the_units_within_them(histogram: list[list[int]]) -> None:
    bins = frames.wear_histogram(_run(wear={"histogram": histogram}))
    known = [(erases, units) for erases, units in histogram if units]
    for first, last, units in bins.select("first", "last", "units").rows():
        assert units == sum(count for erases, count in known if first <= erases <= last)
    assert bins["units"].sum() == sum(units for _, units in known)
    widths = set(bins["last"] - bins["first"] + 1)
    assert len(widths) == 1
    # Bins are equal and start at the least worn unit. There are at most 40, and no more than
    # needed.
    (width,) = widths
    low, high = min(known)[0], max(known)[0]
    assert bins["first"][0] == low and all((first - low) % width == 0 for first in bins["first"])
    assert (high - low) // width < 40
    assert width == 1 or (high - low) // (width - 1) >= 40


@pytest.mark.parametrize(
    ("low", "mean", "high", "stdev", "band"),
    [
        (10, 50.0, 90, 12.0, (38.0, 62.0)),
        (45, 50.0, 90, 12.0, (45.0, 62.0)),
        (10, 50.0, 55, 12.0, (38.0, 55.0)),
        (48, 50.0, 52, 12.0, (48.0, 52.0)),
    ],
)
def test_the_band_of_wear_stays_within_the_least_and_the_most(
    low: int, mean: float, high: int, stdev: float, band: tuple[float, float]
) -> None:
    names = ("erases_min", "erases_mean", "erases_max", "erases_stdev")
    wear = dict(zip(names, (low, mean, high, stdev), strict=True))
    (row,) = frames.wear_range([_run(wear=wear)]).iter_rows(named=True)
    assert (row["low"], row["mean"], row["high"], row["stdev"]) == (low, mean, high, stdev)
    assert (row["near"], row["far"]) == band
    for name in ("erases_min", "erases_max"):
        assert frames.wear_range([_run(wear=wear | {name: None})]).is_empty()


def test_a_timeline_has_each_metric_in_its_column() -> None:
    document = samples.distinct()
    columns = ["write_amplification", "hit_ratio", "mean_us", "p50_us", "p99_us"]
    columns += ["p999_us", "max_us"]
    frame = frames.timeline(samples.runs([document]), columns)
    known = document["timeline"]
    assert frame["pages"].to_list() == known["host_pages"]
    assert frame["seconds"].to_list() == known["seconds"]
    for name in columns:
        assert frame[name].to_list() == known[name]


def test_a_timeline_needs_two_windows_and_takes_what_is_there() -> None:
    document = samples.sample()
    del document["timeline"]["p50_us"]
    document["timeline"]["mean_us"][3] = float("nan")
    frame = frames.timeline(samples.runs([document]), ["mean_us", "p50_us"])
    assert frame.height == samples.WINDOWS
    assert frame["p50_us"].null_count() == samples.WINDOWS
    assert frame["mean_us"].is_null().arg_true().to_list() == [3]
    for windows in (2, 1, 0):
        document["timeline"] = {name: v[:windows] for name, v in document["timeline"].items()}
        found = frames.timeline(samples.runs([document]), ["mean_us"])
        assert found.height == (2 if windows == 2 else 0)


@pytest.mark.parametrize("outlier", [5000.0, -3000.0])
def test_an_outlier_does_not_flatten_the_rest(outlier: float) -> None:
    values = [100.0 + i for i in range(100)]
    assert over_time.robust_span(values) == (100.0, 199.0)
    assert over_time.robust_span([*values, outlier]) == (100.0, 199.0)
    # A moderately larger value stays on the axis.
    assert over_time.robust_span([*values, 400.0]) == (100.0, 400.0)
    # If all values but one are equal, that one must stay visible.
    assert over_time.robust_span([3.0] * 99 + [8.0]) == (3.0, 8.0)


def test_a_point_is_the_mean_of_its_windows_within_a_band() -> None:
    frame = pl.DataFrame(
        {
            "run": ["a"] * 5 + ["b"] * 2,
            "colour": "",
            "dash": "",
            "pages": [1.0, 2, 3, 4, 5, 10, 20],
            "seconds": [1.0, 2, 3, 3, 3, 4, 6],
            "host_bytes": [10e6, 20e6, 30e6, 40e6, 70e6, 20e6, 30e6],
            "value": [1.0, 3, 2, 6, 7, 5, None],
            "write_mb_s": [10.0, 10, 10, None, None, 5, 5],
        }
    )
    found = over_time.rated(over_time.banded(frame, ["value", "write_mb_s"], 3))
    # The last windows of a end at one moment, and the first of them waits for no other.
    assert found["write_mb_s"].to_list() == [10, 50, 50, 5, 5]
    assert found["run"].to_list() == ["a", "a", "a", "b", "b"]
    assert found["pages"].to_list() == [2, 4, 5, 10, 20]
    assert found["value"].to_list() == [2, 4, 7, 5, None]
    assert found["value_low"].to_list() == [1, 2, 7, 5, None]
    assert found["value_high"].to_list() == [3, 6, 7, 5, None]


def test_outliers_are_named_and_the_axis_begins_at_nought() -> None:
    document = samples.sample()
    document["timeline"]["write_mb_s"] = [100.0] * samples.WINDOWS
    factors = document["timeline"]["write_amplification"]
    factors[:] = [12.0 + i / 100 for i in range(samples.WINDOWS)]
    factors[30] = 70.0
    figure = _figure("timeline", [document])
    drawing = figure.drawings[0]
    spec = drawing.chart.to_dict()
    assert drawing.heading == "Write amplification"
    line, band = spec["layer"]
    low, high = line["encoding"]["y"]["scale"]["domain"]
    assert (low, high) == (0.0, max(set(factors) - {70.0}))
    rows = json.loads(spec["datasets"][spec["data"]["name"]])
    assert len(rows) <= over_time.POINTS
    # The band still reaches to the outlier.
    assert max(row["write_amplification_high"] for row in rows) == 70.0
    assert band["mark"]["clip"] and band["encoding"]["y2"]["field"] == "write_amplification_high"
    (reason,) = (text for text in figure.reasons if text.startswith("Write amplification"))
    assert f"leaves out 1 of {samples.WINDOWS} windows" in reason and "12.0 to 70.0" in reason
    factors[30] = 12.3
    assert _figure("timeline", [document]).reasons == []


def test_a_constant_hit_ratio_over_the_run_is_left_out() -> None:
    document = samples.sample()
    document["timeline"]["hit_ratio"] = [1.0] * samples.WINDOWS
    figure = _figure("timeline", [document])
    assert ("Map hit ratio over the run", f"all 100.00{PER_CENT}") in figure.absent


def test_response_times_over_the_run_have_the_unit_of_the_page() -> None:
    document = samples.sample()
    document["latency"]["all"] |= {"p50_us": 400.0, "p99_us": 9000.0}
    for i, name in enumerate(("mean_us", "p50_us", "p99_us", "p999_us", "max_us")):
        document["timeline"][name] = [float(50 * (i + 1) * 10**i)] * samples.WINDOWS
    figure = _figure("latency-over-time", [document])
    headings = [drawing.heading for drawing in figure.drawings]
    assert headings == ["Mean, ms", "p50, ms", "p99, ms", "p99.9, ms", "Max, ms"]
    for drawing, name in zip(
        figure.drawings, ("mean_us", "p50_us", "p99_us", "p999_us", "max_us"), strict=True
    ):
        spec = drawing.chart.to_dict()
        rows = json.loads(spec["datasets"][spec["data"]["name"]])
        (drawn,) = {row[spec["layer"][0]["encoding"]["y"]["field"]] for row in rows}
        assert drawn == pytest.approx(document["timeline"][name][0] / 1e3)


def test_a_result_without_percentiles_over_time_is_still_drawn() -> None:
    document = samples.sample()
    for name in ("p50_us", "p99_us", "p999_us", "max_us"):
        del document["timeline"][name]
    del document["wear"]["map"]
    figure = _figure("latency-over-time", [document])
    assert [drawing.heading.partition(",")[0] for drawing in figure.drawings] == ["Mean"]
    assert len(figure.absent) == 4
    assert "wear-map" not in {one.key for one in figures(samples.runs([document]))}


def test_cells_of_a_map_are_means_of_their_units() -> None:
    drive = {"units": 20, "reserve_units": 7}
    cells = {"units_per_cell": 4, "erases": [1, 2, 3, 4, 5, 60, 7]}
    cells["valid"] = [0, 0.5, 1, 0, 0.5, 1, 0.75]
    run = _run(drive=drive, wear={"map": cells})
    erases, valid = (mapped.cells for mapped in MAPS)
    whole = map_cells([run], erases, None).select("start", "end", "value").rows()
    assert whole == [(4 * i, min(4 * i + 4, 27), cells["erases"][i]) for i in range(7)]
    # Each bar joins two cells. The last cell has no partner.
    joined = map_cells([run], valid, 4).select("start", "end", "value").rows()
    assert joined == [(0, 8, 0.25), (8, 16, 0.5), (16, 24, 0.75), (24, 27, 0.75)]
    assert map_cells([_run(wear={"map": {}})], erases, None).is_empty()


def test_placement_has_the_pages_of_each_stream() -> None:
    document = samples.sample()
    streams = [(10, 40, 8, 0.25), (0, 0), (30, 60, 0, None), (0, 7, 1, 0.75)]
    document["placement"]["streams"] = [samples.stream(*one) for one in streams]
    figure = _figure("placement", [document])
    host, moved, valid = (drawing.chart.to_dict() for drawing in figure.drawings)
    for spec, numbers, shares in (
        (host, [0, 2], [0.25, 0.75]),
        (moved, [0, 2, 3], [40 / 107, 60 / 107, 7 / 107]),
        (valid, [0, 3], [0.25, 0.75]),
    ):
        (rows,) = (json.loads(text) for text in spec["datasets"].values())
        assert [row["stream"] for row in rows] == numbers
        assert [row["value"] for row in rows] == pytest.approx(shares)
    columns = zip(*(row[-3:] for row in figure.table.rows), strict=True)
    moves, victims, means = ([cell.order for cell in column] for column in columns)
    assert moves == [4.0, 2.0, None]
    assert victims == [8, 0, 1]
    assert means == [0.25, None, 0.75]
    alone = _figure("placement", [samples.sample()])
    assert alone.absent == [("Placement", "no run separates pages into streams")]
    assert not alone.drawings and alone.table is None


def test_a_map_has_every_cell_in_its_place() -> None:
    figure = _figure("wear-map", [samples.sample()])
    assert [drawing.heading for drawing in figure.drawings] == [
        "Erases of a unit",
        "Valid pages at the end",
    ]
    for drawing, name in zip(figure.drawings, ("erases", "valid"), strict=True):
        spec = drawing.chart.to_dict()
        (rows,) = (json.loads(text) for text in spec["datasets"].values())
        known = samples.sample()["wear"]["map"][name]
        width = spec["encoding"]["x"]["scale"]["domain"][1]
        at = {(row["x"], row["y"]): row["value"] for row in rows}
        assert len(at) == len(known)
        for i, value in enumerate(known):
            assert at[i % width, i // width] == pytest.approx(value, rel=1e-6)
    both = _figure("wear-map", [samples.sample(), samples.sample(scheme="tpftl")])
    assert "from left to right" in both.caption


def test_the_page_has_the_data_of_a_figure_once() -> None:
    found = figures(samples.runs([samples.sample(), samples.sample(scheme="tpftl")]))
    page = payload.payload(found)
    over = {
        name: plot["spec"]["data"]["name"]
        for name, plot in page["plots"].items()
        if name.startswith(("timeline", "latency-over-time")) and "data" in plot["spec"]
    }
    assert len(over) >= 5 and len(set(over.values())) == 1
    assert set(over.values()) <= set(page["data"])
    assert all("datasets" not in plot["spec"] for plot in page["plots"].values())


def test_a_sweep_has_a_point_per_run() -> None:
    documents = [samples.distinct(first=n) for n in (1009, 1013, 1021)]
    paths = (("write_amplification",), ("mapping", "hit_ratio"), ("latency", "all", "mean_us"))
    for path, metric in zip(paths, sweeps.METRICS, strict=True):
        frame = frames.sweep(samples.runs(documents), [4.0, 2.0, 1.0], metric.of)
        values: list[Any] = documents
        for name in path:
            values = [value[name] for value in values]
        assert frame["value"].to_list() == values and frame["at"].to_list() == [4.0, 2.0, 1.0]


def test_an_axis_has_room_for_one_value() -> None:
    assert over_time.domain([3.0, 3.0], ",.3f") == (0.0, 3.0)
    assert over_time.domain([0.0], ",.3f") == (0.0, 1.0)
    assert over_time.domain([0.9, 0.95], ".1%") == (0.9, 0.95)


def test_bars_of_time_have_the_unit_of_the_page() -> None:
    documents = [samples.sample(), samples.sample(scheme="tpftl")]
    for document in documents:
        blame = document["latency"]["blame_us"]
        document["latency"]["blame_us"] = {part: 1e3 * time for part, time in blame.items()}
        document["latency"]["all"] |= {"p50_us": 400.0, "p99_us": 9000.0}
    figure = _figure("blame", documents)
    spec = figure.drawings[0].chart.to_dict()
    assert spec["layer"][0]["encoding"]["x"]["axis"]["title"] == "ms per request"
    rows = json.loads(spec["datasets"][spec["layer"][0]["data"]["name"]])
    for document, run in zip(documents, ("dftl", "tpftl"), strict=True):
        drawn = sum(row["value"] for row in rows if row["run"].endswith(run))
        whole = sum(document["latency"]["blame_us"].values())
        assert drawn == pytest.approx(whole / 1e3)
    assert figure.table.title.endswith("ms per request")
    assert figure.table.rows[0][-1].order == pytest.approx(
        sum(documents[0]["latency"]["blame_us"].values()) / 1e3
    )


def test_distributions_are_drawn_in_the_unit_of_their_axis() -> None:
    document = samples.sample()
    for kind in ("read", "write"):
        times = document["latency"][kind]
        times["cdf"] = [[1e4 * us, share] for us, share in times["cdf"]]
        times["max_us"] *= 1e4
    document["latency"]["all"] |= {"p50_us": 4e3, "p99_us": 9e5}
    figure = _figure("latency", [document])
    for drawing, kind in zip(figure.drawings, ("read", "write"), strict=True):
        spec = drawing.chart.to_dict()
        tables = [json.loads(text) for text in spec["datasets"].values()]
        (rows,) = (rows for rows in tables if "time" in rows[0])
        y = spec["layer"][0]["encoding"]["y"]
        assert y["axis"]["title"] == "Response time, ms" and y["field"] == "time"
        slowest = document["latency"][kind]["max_us"] / 1e3
        assert rows[-1]["time"] == pytest.approx(slowest, rel=1e-5)
        assert y["scale"]["domain"][0] < rows[0]["time"] and slowest < y["scale"]["domain"][1]
        # Storage people read percentiles: the plot marks them.
        (marks,) = (rows for rows in tables if "name" in rows[0])
        assert [mark["name"] for mark in marks] == ["p50", "p99", "p99.9"]


def test_room_that_cleaning_makes_is_no_write_buffer() -> None:
    documents = [samples.sample(), samples.sample(seed=2)]
    for document, scheme in zip(documents, ("none", "lru"), strict=True):
        document["config"]["buffer"]["scheme"] = scheme
        document["latency"]["blame_us"] = {"die": 10.0, "buffer": 90.0}

    def names(found: list[dict[str, Any]]) -> set[str]:
        (figure,) = (one for one in figures(samples.runs(found)) if one.key == "blame")
        assert figure.table is not None
        return {entry.text for entry in figure.legend} & {*map(str.lower, figure.table.columns)}

    assert names(documents[:1]) == {"flash itself", "waiting for room (cleaning)"}
    assert names(documents[1:]) == {"flash itself", "write buffer"}
    assert names(documents) == {"flash itself", "write buffer, or room"}
