"""Output of a run and of a comparison, number by number, from a result without equal numbers."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
import report_samples as samples
from plainly import THIN, decimals, factor, share, size, three, whole

from floatgate.cli.summary import print_comparison, print_summary
from floatgate.report import summary_rows
from floatgate.report.overview import overview

Lines = dict[str, list[str]]

BLAMED = {
    "queue": "queue",
    "map": "map",
    "gc": "cleaning",
    "bus": "bus",
    "die": "flash itself",
    "merge": "merges",
    "buffer": "waiting for room (cleaning)",
    "remap": "remapping",
    "controller": "controller",
    "link": "host link",
}
AMPLIFIED = samples.CAUSES | {"host": "host writes", "partial": "partial pages"}


@pytest.fixture
def summary(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Returns a function that prints a document's summary on a wide terminal and returns its lines
    by name."""
    monkeypatch.setenv("COLUMNS", "400")

    def printed(document: dict[str, Any]) -> Lines:
        print_summary(*samples.typed([document]), "mydrive")
        return _lines(capsys.readouterr().out)

    return printed


def _lines(text: str) -> Lines:
    """Maps each name to its texts. A line that begins with blanks continues the line above."""
    found: Lines = {}
    name = ""
    for line in filter(str.strip, text.splitlines()):
        head, _, rest = line.partition("  ")
        name = head or name
        found.setdefault(name, []).append(rest.strip())
    return found


def test_drive_and_workload(summary: Any) -> None:
    document = samples.distinct()
    drive, work, start = document["drive"], document["workload"], document["start"]
    space = document["space"]
    named = {"user": "host", "log": "log of the host", "fault": "spare units", "reserve": "kept"}
    named |= {"cleaning": "reserve of cleaning", "slc": "SLC cache"}
    parts = [
        f"{named.get(key, key)} {share(space[f'{key}_bytes'] / space['raw_bytes'])}"
        for key in (
            *("user", "log", "map", "spare", "cleaning", "slc", "journal", "fault", "reserve"),
            "parity",
        )
    ]
    lines = summary(document)
    assert lines["drive"] == [
        (
            f"mydrive: {size(drive['logical_bytes'])} for the host on "
            f"{size(drive['physical_bytes'])} of flash"
        ),
        (
            f"{whole(drive['units'])} erase units of {whole(drive['pages_per_unit'])} pages of "
            f"{size(drive['page_bytes'])}, and {whole(drive['reserve_units'])} in reserve"
        ),
        (
            f"spare factor {share(drive['spare_factor'])}, that is over-provisioning "
            f"{share(drive['over_provisioning'])}"
        ),
        f"all flash {size(space['raw_bytes'])}: {', '.join(parts)}",
    ]
    assert lines["start"] == [
        f"fill random, {three(start['volumes'])} volumes of random writes, settled"
    ]
    footprint = work["footprint_pages"]
    volumes, space = three(work["volumes_written"]), size(footprint * drive["page_bytes"])
    assert lines["workload"] == [
        "fin1",
        (
            f"{whole(work['requests'])} requests: {whole(work['reads'])} reads, "
            f"{whole(work['writes'])} writes, {whole(work['trims'])} trims, "
            f"{whole(work['flushes'])} flushes"
        ),
        (
            f"read {size(work['read_bytes'])}, written {size(work['write_bytes'])} "
            f"({volumes} drive volumes); footprint {whole(footprint)} pages ({space})"
        ),
    ]


def test_a_start_that_was_not_filled_or_settled(summary: Any) -> None:
    document = samples.distinct()
    document["start"] |= {"volumes": 0, "settled": False}
    assert summary(document)["start"] == ["fill random, not settled"]
    document["start"] |= {"fill": "none", "settled": None}
    assert summary(document)["start"] == ["fill none"]
    document["start"] |= {"fill": "sampled", "model_units": 16384, "model_pages_per_unit": 64}
    assert summary(document)["start"] == [f"fill sampled from {whole(16384)} units of 64 pages"]


def test_one_page_is_no_pages(summary: Any) -> None:
    document = samples.distinct()
    document["workload"] |= {"footprint_pages": 1, "trims": 0, "flushes": 0}
    lines = summary(document)["workload"]
    assert lines[2].endswith(f"footprint 1 page ({size(document['drive']['page_bytes'])})")
    assert lines[1].endswith(" writes")


def test_the_parts_of_the_write_amplification_are_bytes_per_host_byte(summary: Any) -> None:
    document = samples.distinct()
    amplification = document["write_amplification"]
    parts = {name: document["amplification"][key] for key, name in AMPLIFIED.items()}
    first, last, held, per_page, second = summary(document)["write amplification"]
    shown = " + ".join(f"{name} {factor(parts[name])}" for name in _in_order(first, parts))
    assert first == f"{factor(amplification)} = {shown}"
    assert len(re.findall(r"\d\.\d{3}", first)) == 1 + len(AMPLIFIED)
    quarter = factor(document["write_amplification_last_quarter"])
    assert last == f"{quarter} in the last quarter of the writes"
    page_bytes, pages = document["drive"]["page_bytes"], document["buffer"]["held_pages"]
    assert (
        held == f"{whole(pages)} pages ({size(pages * page_bytes)}) are still in the write buffer"
    )
    assert per_page == (
        f"{factor(document['page_write_amplification'])} programs per page of {size(page_bytes)} "
        "that writes touched, as papers count"
    )
    data = factor(document["data_write_amplification"])
    assert second == f"{data} per page of {size(page_bytes)} without the map and parity"


def _in_order(line: str, names: Any) -> list[str]:
    """Returns the names in their order within the line."""

    def place(name: str) -> int:
        found = re.search(rf"(= |\+ ){name} \d", line)
        assert found, name
        return found.start()

    return sorted(names, key=place)


def test_small_parts_are_left_out_and_a_map_in_memory_has_no_line(summary: Any) -> None:
    document = samples.distinct()
    document["flash"]["programs"] = dict.fromkeys(document["flash"]["programs"], 0)
    document["buffer"]["held_pages"] = 0
    document["write_amplification_last_quarter"] = None
    amplification = dict.fromkeys(document["amplification"], 0.0)
    shown = {"host": 0.9985, "gc": 0.6, "merge": 0.001}
    # A share of one in 1,600 is printed, and a share of one in 3,200 is not.
    document["amplification"] = amplification | shown | {"wear": 0.0005}
    document["write_amplification"] = document["page_write_amplification"] = 1.6
    lines = summary(document)
    assert lines["write amplification"] == [
        "1.600 = host writes 0.999 + cleaning 0.600 + merges 0.001"
    ]
    document["write_amplification"] = None
    assert summary(document)["write amplification"][0] == "none: the host wrote nothing"


@pytest.mark.parametrize("cause", ["map", "gc_map"])
def test_any_translation_page_gives_the_amplification_without_them(
    summary: Any, cause: str
) -> None:
    document = samples.distinct()
    programs = dict.fromkeys(document["flash"]["programs"], 0)
    document["flash"]["programs"] = programs | {"host": 10_000, cause: 6000}
    page = size(document["drive"]["page_bytes"])
    data = factor(document["data_write_amplification"])
    last = f"{data} per page of {page} without the map"
    assert summary(document)["write amplification"][-1] == last


def test_streams_share_what_the_host_wrote(summary: Any) -> None:
    document = samples.distinct()
    placement = document["placement"]
    written = [stream["host_pages"] for stream in placement["streams"]]
    shares = ", ".join(share(pages / sum(written)) for pages in written)
    assert summary(document)["streams"] == [
        f"cold to hot {shares} of the host's pages",
        (
            f"sorted with {size(placement['memory_bytes'])} of memory, "
            f"{whole(placement['extents'])} extents"
        ),
    ]
    placement["extents"] = None
    assert summary(document)["streams"][1].endswith(" of memory")
    del placement["streams"][1:]
    assert "streams" not in summary(document)


def test_units_cleaned_by_occasion(summary: Any) -> None:
    document = samples.distinct()
    cleaning = document["cleaning"]
    kinds = ("foreground", "emergency", "incremental", "idle", "wear")
    told = ", ".join(f"{whole(cleaning[kind])} {kind}" for kind in kinds)
    moved = f"{share(cleaning['victim_valid_mean'])} of a victim's pages were moved"
    assert summary(document)["units cleaned"][0] == f"{told}; {moved}"
    cleaning |= dict.fromkeys(("emergency", "incremental", "idle", "wear"), 0)
    assert summary(document)["units cleaned"][0] == (
        f"{whole(cleaning['foreground'])} foreground; {moved}"
    )


ABOVE = "units cleaned"
"""The last line above the table of response times."""

NAMES = {"mean": "mean", "stdev": "std dev", "p50": "p50", "p95": "p95", "p99": "p99"}
NAMES |= {"p999": "p99.9", "p9999": "p99.99", "max": "max"}


def _table(lines: Lines, *rows: str) -> dict[str, list[str]]:
    return {name: re.split(r" {2,}", lines[name][0]) for name in rows}


def test_response_times_by_kind(summary: Any) -> None:
    document = samples.distinct()
    lines = summary(document)
    found = _table(lines, "latency", "read", "write", "all")
    assert [name for name in lines if name in found] == list(found)
    # The row of units is below the row of names.
    assert found["latency"] == ["requests", *["µs"] * len(NAMES)]
    assert re.split(r" {2,}", lines[ABOVE][-1]) == list(NAMES.values())
    for kind in ("read", "write", "all"):
        times = document["latency"][kind]
        shown = [three(times[f"{name}_us"]) for name in NAMES]
        assert found[kind] == [whole(times["requests"]), *shown]


def test_a_column_of_times_has_a_unit_of_its_own(summary: Any) -> None:
    document = samples.distinct()
    document["latency"]["read"] |= {"p50_us": 80.0, "p99_us": 7200.0, "max_us": 2.5e6}
    document["latency"]["write"] |= {"p50_us": 190.0, "p99_us": 1.1e6, "max_us": 3.75e9}
    document["latency"]["all"]["requests"] = 0
    lines = summary(document)
    assert "all" not in lines
    found = _table(lines, "latency", "read", "write")
    for title, unit, read, write in (
        ("p50", "µs", "80.0", "190"),
        ("p99", "ms", "7.20", f"1{THIN}100"),
        ("max", "s", "2.50", f"3{THIN}750"),
    ):
        # The number of requests comes first, and has no unit.
        at = 1 + list(NAMES.values()).index(title)
        assert (found["latency"][at], found["read"][at], found["write"][at]) == (unit, read, write)


def test_where_the_mean_went_the_most_first(summary: Any) -> None:
    document = samples.distinct()
    blame = document["latency"]["blame_us"]
    ordered = sorted(blame, key=lambda part: -blame[part])
    told = " + ".join(f"{BLAMED[part]} {three(blame[part])}" for part in ordered)
    assert summary(document)["mean by cause, µs"] == [told]
    document["config"]["buffer"]["scheme"] = "lru"
    buffered = told.replace(BLAMED["buffer"], "write buffer")
    assert summary(document)["mean by cause, µs"] == [buffered]
    document["config"]["buffer"]["scheme"] = "none"
    document["latency"]["blame_us"] = {part: 1e6 * time for part, time in blame.items()}
    assert summary(document)["mean by cause, s"] == [told]
    document["latency"]["blame_us"] = dict.fromkeys(blame)
    assert not any(name.startswith("mean by cause") for name in summary(document))


def test_caches(summary: Any) -> None:
    document = samples.distinct()
    lines = summary(document)
    for name, cache in (("map cache", document["mapping"]), ("write buffer", document["buffer"])):
        assert lines[name] == [f"{share(cache['hit_ratio'])} hits, {whole(cache['misses'])} misses"]
    document["buffer"]["hit_ratio"] = None
    lines = summary(document)
    assert "map cache" in lines and "write buffer" not in lines


def test_speed_wear_and_lifetime(summary: Any) -> None:
    document = samples.distinct()
    speed, wear, life = document["throughput"], document["wear"], document["lifetime"]
    engine = document["engine"]
    lines = summary(document)
    assert lines["throughput"] == [
        (
            f"{whole(speed['iops'])} requests/s, read {three(speed['read_mb_s'])}, "
            f"write {three(speed['write_mb_s'])} MB/s"
        )
    ]
    seconds = speed["device_seconds"]
    lasted = f"{three(seconds)} s" if seconds >= 1 else f"{1000 * seconds:.4g} ms"
    assert lines["device time"] == [f"{lasted}, dies busy {share(speed['utilization'])}"]
    assert lines["erases per unit"] == [
        (
            f"{whole(wear['erases_min'])} to {whole(wear['erases_max'])}, "
            f"mean {decimals(wear['erases_mean'], 2)}, std dev {decimals(wear['erases_stdev'], 2)}"
        )
    ]
    assert lines["lifetime"] == [
        (
            f"{size(life['host_bytes'])} written by the host ({three(life['years'])} years at this "
            f"rate) until the units have had {whole(life['endurance'])} erases each"
        )
    ]
    assert lines["simulated in"] == [
        f"{three(engine['wall_seconds'])} s, {whole(engine['host_requests_per_second'])} requests/s"
    ]
    speed["iops"] = life["years"] = life["host_bytes"] = None
    lines = summary(document)
    assert not {"throughput", "device time", "lifetime"} & set(lines)


def test_time_that_was_not_simulated(summary: Any) -> None:
    document = samples.distinct()
    document["config"] = {"timing": "none"} | document["config"]
    speed = document["throughput"]
    speed["iops"] = speed["device_seconds"] = document["lifetime"]["years"] = None
    document["latency"]["blame_us"] = dict.fromkeys(document["latency"]["blame_us"])
    life = document["lifetime"]
    lines = summary(document)
    assert lines["latency"] == ["not simulated (timing = none)"]
    assert not {"all", "read", "write", "mean by cause", "throughput", "device time"} & set(lines)
    # Bytes need no clock, but years do.
    endurance = f"until the units have had {whole(life['endurance'])} erases each"
    assert lines["lifetime"] == [f"{size(life['host_bytes'])} written by the host {endurance}"]
    (row,) = summary_rows(samples.typed([document]))
    assert row["device_seconds"] is None
    facts = dict(overview(samples.runs([document]), ("TB", 1e12)))
    assert facts["Time"] == "not simulated (timing = none)"
    assert facts["Lifetime"].endswith(f"written by the host {endurance}")


def test_every_doubt_is_told(summary: Any) -> None:
    document = samples.distinct()
    lines = summary(document)
    assert [name for name in lines if name.startswith(("warning", "note"))] == [
        "warning: a warning",
        "warning: another",
        "note: a note",
    ]


@pytest.fixture
def comparison(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("COLUMNS", "400")

    def printed(documents: list[dict[str, Any]], keys: list[str]) -> list[str]:
        print_comparison(samples.typed(documents), keys)
        return [line.rstrip() for line in capsys.readouterr().out.splitlines() if line.strip()]

    return printed


def _row(document: dict[str, Any]) -> list[str]:
    """Returns the metrics of a comparison. Times are in microseconds, as all are below 1 ms."""
    times = document["latency"]["all"]
    return [
        factor(document["write_amplification"]),
        factor(document["data_write_amplification"]),
        share(document["mapping"]["hit_ratio"]),
        *(three(times[f"{name}_us"]) for name in ("mean", "p99", "p999")),
        whole(document["throughput"]["iops"]),
        whole(sum(document["flash"]["erases"].values())),
    ]


def test_a_comparison_has_a_row_per_run(comparison: Any) -> None:
    documents = samples.pair()
    for document in documents:
        document["write_amplification_last_quarter"] = document["write_amplification"]
    first, second, *rows = comparison(documents, ["mapping.scheme"])
    # The units are below the names of the times.
    assert first.split() == ["mean", "p99", "p99.9"]
    titles = ["mapping.scheme", "WA", "data WA", "map hits", "µs", "µs", "µs", "IOPS", "erases"]
    assert re.split(r" {2,}", second) == titles
    cells = [re.split(r" {2,}", row) for row in rows[:2]]
    assert cells == [["dftl", *_row(documents[0])], ["tpftl", *_row(documents[1])]]


def test_a_comparison_has_no_column_for_a_metric_that_no_run_has(comparison: Any) -> None:
    documents = samples.pair()
    for document in documents:
        document["latency"]["all"] |= dict.fromkeys(("mean_us", "p99_us", "p999_us"))
    text = " ".join(comparison(documents, ["mapping.scheme"])[:2])
    assert "WA" in text and "p99" not in text and "mean" not in text


def test_a_comparison_names_the_trace_where_it_differs(comparison: Any) -> None:
    documents = samples.pair()
    documents[1]["workload"]["name"] = "fin2"
    lines = comparison(documents, [])
    assert [line.split()[0] for line in lines[1:4]] == ["trace", "fin1", "fin2"]


def test_messages_that_differ_in_numbers_are_one_line(comparison: Any) -> None:
    documents = []
    for i in range(5):
        document = copy.deepcopy(samples.pair()[0])
        document["config"]["queue"]["depth"] = i + 1
        document["warnings"] = [f"only {12 * (i + 1)} erase units: too few"]
        document["notes"] = ["the same for p99 of 4KiB"] * (i < 2)
        documents.append(document)
    documents[3]["warnings"].append("read-only")
    told = [line for line in comparison(documents, ["queue.depth"]) if ": " in line]
    assert told == [
        "warning: only 12 to 60 erase units: too few",
        "warning: read-only (depth 4)",
        "note: the same for p99 of 4KiB (depth 1; depth 2)",
    ]
    documents[4]["warnings"] = []
    told = comparison(documents, ["queue.depth"])
    assert "warning: only 12 to 48 erase units: too few (4 of 5 runs)" in told
