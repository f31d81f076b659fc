"""Every table of the report, cell by cell, from results in which no number occurs twice."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
import report_samples as samples
from plainly import THIN, decimals, factor, share, size, texts, three, whole

from floatgate.report import frames, overview, summary_rows, tables
from floatgate.report.runs import varying
from floatgate.report.units import Units, units_of
from floatgate.results import causes
from floatgate.results.tables import Cell, Table, space_table
from floatgate.results.values import ABSENT

NB = "\N{NO-BREAK SPACE}"

UNITS = Units(("µs", 1.0), ("MB", 1e6))


@pytest.fixture
def documents() -> list[dict[str, Any]]:
    return samples.pair()


def orders(table: Table) -> list[list[Any]]:
    return [[cell.order for cell in row] for row in table.rows]


def _main(document: dict[str, Any]) -> dict[str, float]:
    """Returns the main metrics, each read from its field in the document."""
    latency = document["latency"]["all"]
    return {
        "write_amplification": document["write_amplification"],
        "write_amplification_last_quarter": document["write_amplification_last_quarter"],
        "data_write_amplification": document["data_write_amplification"],
        "hit_ratio": document["mapping"]["hit_ratio"],
        "mean_us": latency["mean_us"],
        "p99_us": latency["p99_us"],
        "p999_us": latency["p999_us"],
        "iops": document["throughput"]["iops"],
        "erases": sum(document["flash"]["erases"].values()),
        "device_seconds": document["throughput"]["device_seconds"],
        "lifetime_bytes": document["lifetime"]["host_bytes"],
        "warnings": len(document["warnings"]),
    }


def test_a_summary_row_has_the_results_numbers(documents: list[dict[str, Any]]) -> None:
    expected = [
        {"label": f"mapping.scheme={name}"} | _main(document)
        for name, document in zip(("dftl", "tpftl"), documents, strict=True)
    ]
    assert summary_rows(samples.typed(documents)) == expected


def test_the_summary_table(documents: list[dict[str, Any]]) -> None:
    table = tables.summary_table(samples.runs(documents), UNITS)
    assert table.columns == [
        "Run",
        "Write amplification",
        "Last quarter",
        "Data WA",
        "Map hit ratio",
        f"Mean,{NB}µs",
        f"p99,{NB}µs",
        f"p99.9,{NB}µs",
        "IOPS",
        "Erases",
        f"Device time,{NB}s",
        f"TBW,{NB}MB",
        "Warnings",
    ]
    written = [*[factor] * 3, share, *[three] * 3, whole, whole, three, three, whole]
    for row, document in zip(table.rows, documents, strict=True):
        known = _main(document)
        known["lifetime_bytes"] /= 1e6
        assert [cell.metric for cell in row[1:]] == list(known)
        assert [cell.order for cell in row[1:]] == list(known.values())
        expected = [write(value) for write, value in zip(written, known.values(), strict=True)]
        assert [cell.text for cell in row[1:]] == expected
    assert [row[0].text for row in table.rows] == ["dftl", "tpftl"]
    assert table.text_columns == {0}


def test_a_quantity_has_one_unit_in_all_columns() -> None:
    documents = [samples.distinct(first=1009), samples.distinct(first=1019)]
    for document, mean, p99, written in zip(
        documents, (999.0, 4000.0), (2500.0, 1.25e7), (3e12, 5e11), strict=True
    ):
        times = {"mean_us": mean, "p50_us": 500.0, "p99_us": p99, "p999_us": None}
        document["latency"]["all"] |= times
        document["lifetime"]["host_bytes"] = written
    runs = samples.runs(documents)
    table = tables.summary_table(runs, units_of([run.result for run in runs]))
    column = dict(zip(table.columns, zip(*texts(table), strict=True), strict=True))
    assert column[f"Mean,{NB}ms"] == ("0.999", "4.00")
    assert column[f"p99,{NB}ms"] == ("2.50", f"12{THIN}500")
    assert column[f"p99.9,{NB}ms"] == (ABSENT, ABSENT)
    assert column[f"TBW,{NB}GB"] == (f"3{THIN}000", "500")
    # Sorting and CSV files use the unit of the heading.
    assert [row[6].order for row in table.rows] == [2.5, 12500.0]


def test_response_times_by_kind(documents: list[dict[str, Any]]) -> None:
    documents[1]["latency"]["read"]["mean_us"] = None
    table = tables.latency_table(samples.runs(documents), UNITS.time)
    known = {"mean": "Mean", "stdev": "Std dev", "p50": "p50", "p95": "p95", "p99": "p99"}
    known |= {"p999": "p99.9", "p9999": "p99.99", "max": "Max"}
    assert table.columns == ["Run", "Kind", "Requests", *(f"{t},{NB}µs" for t in known.values())]
    assert table.text_columns == {0, 1}
    timed = [("dftl", documents[0], kind) for kind in ("read", "write", "all")]
    timed += [("tpftl", documents[1], kind) for kind in ("write", "all")]
    for row, (name, document, kind) in zip(table.rows, timed, strict=True):
        times = document["latency"][kind]
        values = [times.get(f"{key}_us") for key in known]
        shown = [ABSENT if value is None else three(value) for value in values]
        assert [cell.text for cell in row] == [name, kind, whole(times["requests"]), *shown]
        assert [cell.order for cell in row[2:]] == [times["requests"], *values]


def test_erases_per_unit(documents: list[dict[str, Any]]) -> None:
    none = samples.distinct("fin2")
    none["wear"] = {}
    table = tables.wear_table(samples.runs([*documents, none]))
    assert table.columns == ["Run", "Least", "Mean", "Most", "Std dev"]
    for row, document in zip(table.rows, documents, strict=True):
        wear = document["wear"]
        exact = [wear[f"erases_{name}"] for name in ("min", "mean", "max", "stdev")]
        written = [whole(exact[0]), decimals(exact[1], 2), whole(exact[2]), decimals(exact[3], 2)]
        assert [cell.text for cell in row[1:]] == written
        assert [cell.order for cell in row[1:]] == exact


def test_a_drive_that_erased_nothing_has_erases_of_nought() -> None:
    document = samples.distinct()
    names = ("erases_min", "erases_mean", "erases_max", "erases_stdev")
    document["wear"] = dict.fromkeys(names, 0)
    (row,) = texts(tables.wear_table(samples.runs([document])))
    assert row[1:] == ["0", "0.00", "0", "0.00"]


def test_the_axis_of_bars_ends_behind_the_longest_of_all_panels() -> None:
    panels = {
        name: pl.DataFrame({"row": ["x", "x", "y"], "value": values})
        for name, values in (("a", [2.0, 3.0, 4.0]), ("b", [1.0, 1.0, 6.0]))
    }
    # The axis leaves room for the sum behind the bar, yet the bars fill the plot.
    assert 6.0 * 1.05 < tables.series_limit(panels) < 6.0 * 1.4
    assert tables.series_limit({}) > 0


def test_flash_operations_by_cause(documents: list[dict[str, Any]]) -> None:
    flash = documents[0]["flash"]
    for kind in ("reads", "programs", "erases"):
        flash[kind]["remap"] = 0
    table = tables.operations_table(*samples.typed(documents[:1]))
    assert table is not None
    assert table.columns == ["Cause", "Reads", "Programs", "Erases"]
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
    kinds = ("reads", "programs", "erases")
    expected = {
        name: [whole(flash[kind][key]) for kind in kinds]
        for key, name in samples.CAUSES.items()
        if key != "remap"
    }
    expected["all"] = [whole(sum(flash[kind].values())) for kind in kinds]
    assert rows == expected
    assert [cell.order for cell in table.rows[-1][1:]] == [
        sum(flash[kind].values()) for kind in kinds
    ]
    assert tables.operations_table(*samples.typed([{}])) is None


SPACE = {
    "user": "host",
    "log": "log of the host",
    "map": "map",
    "spare": "spare",
    "cleaning": "reserve of cleaning",
    "slc": "SLC cache",
    "journal": "journal",
    "fault": "spare units",
    "reserve": "kept",
    "parity": "parity",
}


def test_what_the_flash_is_used_for(documents: list[dict[str, Any]]) -> None:
    parts = {f"{key}_bytes": 3**at * 10**9 for at, key in enumerate(SPACE)} | {"slc_bytes": 0}
    raw = sum(parts.values())
    documents[0]["space"] = {"raw_bytes": raw, **parts}
    table = space_table(samples.typed(documents[:1])[0].space)
    assert table is not None
    assert table.columns == ["For", "Size", "GB", "Share"]
    expected = [
        [name, size(parts[f"{key}_bytes"]), f"{3**at}.0", share(parts[f"{key}_bytes"] / raw)]
        for at, (key, name) in enumerate(SPACE.items())
        if key != "slc"
    ]
    expected.append(["all", size(raw), f"{raw / 10**9:.1f}".replace(",", ""), share(1.0)])
    assert [[text.replace(THIN, "") for text in row] for row in texts(table)] == [
        [text.replace(THIN, "") for text in row] for row in expected
    ]
    assert space_table(samples.typed([{}])[0].space) is None


def test_bytes_programmed_per_byte_of_the_host_by_cause(documents: list[dict[str, Any]]) -> None:
    parts = frames.amplification(samples.runs(documents))
    table = tables.parts_table("Title", parts, causes.CAUSES.values(), 3)
    drawn = ["host", "gc", "map", "gc_map", "merge", "wear", "remap"]
    assert table.columns == [
        "Run", "Host writes", "Cleaning", "Map", "Map, for cleaning", "Merges", "Wear levelling",
        "Remapping", "Other", "Partial pages", "Sum",
    ]  # fmt: skip
    for row, document in zip(table.rows, documents, strict=True):
        parts_of = document["amplification"]
        values = [parts_of[key] for key in drawn]
        # No colours are left for these causes, so they share one.
        other = sum(parts_of[key] for key in ("journal", "retire", "pad", "fold", "parity"))
        values += [other, parts_of["partial"]]
        assert [cell.order for cell in row[1:-1]] == pytest.approx(values)
        assert [cell.text for cell in row[1:-1]] == [factor(value) for value in values]
        assert row[-1].text == factor(sum(parts_of.values()))


def test_mean_response_time_by_what_it_was_spent_on(documents: list[dict[str, Any]]) -> None:
    table = tables.parts_table(
        "Title", frames.blame(samples.runs(documents)), causes.BLAME.values(), 3
    )
    named = {
        "die": "Flash itself", "gc": "Cleaning", "map": "Map", "bus": "Bus", "merge": "Merges",
        "queue": "Queue", "buffer": "Write buffer", "remap": "Remapping",
        "controller": "Controller", "link": "Host link",
    }  # fmt: skip
    assert table.columns == ["Run", *named.values(), "Sum"]
    for row, document in zip(table.rows, documents, strict=True):
        blame = document["latency"]["blame_us"]
        values = [blame[key] for key in named]
        expected = [decimals(value, 3) for value in (*values, sum(values))]
        assert [cell.text for cell in row[1:]] == expected


def test_a_part_that_a_run_lacks_is_nought(documents: list[dict[str, Any]]) -> None:
    blame = documents[0]["latency"]["blame_us"]
    documents[0]["latency"]["blame_us"] = blame | {"bus": 0.0}
    table = tables.parts_table("", frames.blame(samples.runs(documents)), causes.BLAME.values(), 1)
    at = table.columns.index("Bus")
    assert table.rows[0][at].text == "0.0"
    assert table.rows[1][at].order == documents[1]["latency"]["blame_us"]["bus"]


def test_predictions_stand_beside_their_runs(documents: list[dict[str, Any]]) -> None:
    table = Table("T", ["Run", "Sum"], [[Cell("a"), Cell("1")], [Cell("b")] * 2])
    frame = pl.DataFrame({"run": ["b"], "value": [2.5], "law": ["greedy"], "source": ["Bux"]})
    found = tables.with_predictions(table, frame)
    assert found.columns == ["Run", "Sum", "Predicted", "Closed form"]
    assert texts(found) == [["a", "1", ABSENT, ABSENT], ["b", "b", "2.500", "greedy (Bux)"]]
    assert [row[2].order for row in found.rows] == [None, 2.5]
    assert found.text_columns == {0, 3}
    assert tables.with_predictions(table, frame.clear()) is table


def test_what_varies(documents: list[dict[str, Any]]) -> None:
    third = samples.distinct(first=1019)
    third["config"]["queue"]["depth"] = 3
    table = tables.varying_table(varying(samples.typed([*documents, third])))
    assert texts(table)[:2] == [
        ["mapping.scheme", "2", "dftl · tpftl"],
        ["queue.depth", "2", "17 · 3"],
    ]
    assert texts(table)[2][:2] == ["seed", "2"]
    assert table.columns == ["Key", "Values", "Which"]


def test_config_rows_mark_what_differs(documents: list[dict[str, Any]]) -> None:
    rows = tables.config_rows(*samples.typed(documents[:1]), ["mapping.scheme"])
    assert ("mapping.scheme", "dftl", True) in rows
    assert ("queue.depth", "17", False) in rows and ("mapping.cache", "64KiB", False) in rows
    assert len(rows) == sum(len(keys) for keys in documents[0]["config"].values())


def test_provenance(documents: list[dict[str, Any]]) -> None:
    document = documents[0]
    work, drive, engine = document["workload"], document["drive"], document["engine"]
    start = document["start"]
    kinds = ("requests", "reads", "writes", "trims", "flushes")
    assert tables.provenance(*samples.typed([document])) == [
        ("Trace", "fin1"),
        ("Trace digest", "fin1-digest"),
        ("Seed", str(document["seed"])),
        ("Floatgate", "0.9.0"),
        ("Engine", "0.9.1"),
        (
            "Start",
            (
                f"fill: random, {start['volumes']:.3g} drive volumes written before the run, "
                "settled, "
                f"write amplification {factor(start['write_amplification'])} at its end"
            ),
        ),
        ("Workload", ", ".join(f"{whole(work[kind])} {kind}" for kind in kinds)),
        ("Pages read", whole(work["read_pages"])),
        ("Pages written", whole(work["write_pages"])),
        ("Footprint, pages", whole(work["footprint_pages"])),
        ("Skipped requests", whole(work["skipped"])),
        ("Drive, logical", size(drive["logical_bytes"])),
        ("Drive, physical", size(drive["physical_bytes"])),
        ("Spare factor", share(drive["spare_factor"])),
        ("Simulated in", f"{three(engine['wall_seconds'])} s"),
        ("Peak memory", size(engine["peak_rss_bytes"])),
    ]
    blank = dict(tables.provenance(*samples.typed([{}])))
    assert [name for name, text in blank.items() if text == ABSENT] == ["Trace", "Peak memory"]


def test_the_overview_of_one_run(documents: list[dict[str, Any]]) -> None:
    document = documents[0]
    document["workload"]["volumes_written"] = 3.25
    document["drive"]["dies"] = 1
    drive, work, life = document["drive"], document["workload"], document["lifetime"]
    facts = dict(overview.overview(samples.runs([document]), UNITS.life))
    assert list(facts) == [
        "Drive", "Flash", "Policies", "Workload", "Start", "Queue depth", "Lifetime",
    ]  # fmt: skip
    assert facts["Drive"] == (
        f"{size(drive['logical_bytes'])} for the host on {size(drive['physical_bytes'])} of flash, "
        f"spare factor {share(drive['spare_factor'])}"
    )
    assert facts["Flash"] == (
        f"{whole(drive['channels'])} channels of 1 die of {whole(drive['planes'])} planes; "
        f"{whole(drive['units'])} erase units of {whole(drive['pages_per_unit'])} pages of "
        f"{size(drive['page_bytes'])}"
    )
    assert facts["Policies"] == "map dftl, cleaning greedy, placement single, buffer none"
    kinds = ("reads", "writes", "trims", "flushes")
    assert facts["Workload"] == (
        f"fin1: {whole(work['requests'])} requests "
        f"({', '.join(f'{whole(work[kind])} {kind}' for kind in kinds)}), "
        "3.25 drive volumes written"
    )
    assert facts["Start"] == dict(tables.provenance(*samples.typed([document])))["Start"]
    assert facts["Queue depth"] == "17, arrivals closed"
    written = life["host_bytes"]
    assert facts["Lifetime"] == (
        f"{three(written / 1e6)}{THIN}MB written by the host ({three(life['years'])} years at this "
        f"rate) until the units have had {whole(life['endurance'])} erases each"
    )


def test_the_overview_of_runs_that_differ(documents: list[dict[str, Any]]) -> None:
    for document, units, written, years, depth in zip(
        documents, (500, 1500), (3e9, 9.216e12), (2.5, 0.25), (8, 32), strict=True
    ):
        document["drive"]["units"] = units
        document["lifetime"] |= {"host_bytes": written, "years": years, "endurance": 3000}
        document["config"]["queue"]["depth"] = depth
    facts = dict(overview.overview(samples.runs(documents), ("GB", 1e9)))
    assert f"; 500 and 1{THIN}500 erase units of " in facts["Flash"]
    assert facts["Policies"].startswith("map dftl / tpftl, cleaning greedy,")
    assert facts["Queue depth"] == "8 and 32, arrivals closed"
    assert facts["Lifetime"] == (
        f"3.00 to 9{THIN}216{THIN}GB written by the host (0.250 to 2.50 years at this rate) until "
        f"the units have had 3{THIN}000 erases each"
    )
    for i, document in enumerate(documents):
        document["workload"]["name"] = f"trace {chr(97 + i)}"
    facts = dict(overview.overview(samples.runs(documents), UNITS.life))
    assert facts["Workload"].count("; trace b: ") == 1
    many = [samples.distinct(f"trace {name}") for name in "abcd"]
    facts = dict(overview.overview(samples.runs(many), UNITS.life))
    assert facts["Workload"] == "4 different ones, see below"
    blank = overview.overview(samples.runs([{}]), UNITS.life)
    assert [name for name, _ in blank] == ["Drive", "Flash", "Workload", "Start"]
