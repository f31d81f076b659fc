"""Results as text for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console

from floatgate.analysis import curve_tables
from floatgate.files.reading import shown
from floatgate.report.overview import UNTIMED, lifetimes, requests_by_kind
from floatgate.report.runs import label_runs
from floatgate.report.told import Told, messages
from floatgate.results import jobs, owners, tables
from floatgate.results.causes import NAMED, blame_names
from floatgate.results.lanes import request_words
from floatgate.results.marks import mark
from floatgate.results.result import Result
from floatgate.results.table import labels
from floatgate.results.tables import KINDS, LAST, METRICS, Metric, space_parts
from floatgate.results.values import (
    TIMES,
    count,
    fixed,
    flatten,
    lasting,
    measured,
    percent,
    ratio,
    size,
    unit_of,
)

from .columns import Column, label, print_columns, prose
from .grids import Lines, fact_grid, print_messages
from .output import console

STEADY = 0.01
"""Relative difference up to which the last quarter counts as equal to the mean."""

RUNS_NAMED = 3
"""Maximum number of runs named after a message; with more, the message states their number."""

IMPORTANT = (
    *("write_amplification", "p99_us", "mean_us", "iops", "hit_ratio", LAST),
    *("p999_us", "data_write_amplification", "erases"),
)
"""Metrics of a comparison; a narrow terminal leaves out the last ones first."""

IMPORTANT_TIMES = ("p99", "mean", "p50", "max", "p99.9", "requests", "p95", "std dev", "p99.99")
"""Columns of response times; a narrow terminal leaves out the last ones first."""

SMALL = 0.0005
"""Parts below this share of their sum are left out of a line."""


def print_summary(result: Result, device: str) -> None:
    """Prints one run: amplification, latency, caches and wear, then drive, workload, messages."""
    out = console()
    out.print(fact_grid(_amplification(result)))
    out.print()
    if (by_handle := owners.copy_table(result)) is not None:
        print_columns(out, _copies(by_handle))
        out.print()
    if result.timed:
        print_columns(out, _latency(result))
    else:
        out.print(fact_grid([("latency", UNTIMED)]))
    out.print()
    if result.jobs:
        print_columns(out, _jobs(result))
        out.print()
    if result.distributions:
        print_columns(out, _by_cause(result))
        out.print()
    out.print(fact_grid([*_causes(result), *_speed(result)]))
    out.print()
    out.print(fact_grid([*_drive(result, device), *_workload(result), *_engine(result)]))
    print_messages(out, result.warnings, result.notes)


def print_comparison(results: Sequence[Result], keys: Sequence[str]) -> None:
    """Prints several runs: varying keys, main metrics, and all messages with their runs."""
    names = {"trace": [one["trace"] for one in labels(results, keys)]}
    if len(set(names["trace"])) == 1 and keys:
        del names["trace"]
    configs = [flatten(result.config) | {"device": result.device} for result in results]
    names |= {key: [config.get(key, "") for config in configs] for key in keys}
    if any(marks := [mark(result) for result in results]):
        names["drive"] = marks
    columns = [label(name, texts) for name, texts in names.items()]
    for metric in METRICS.values():
        values = [metric.of(result) for result in results]
        if metric.short and is_worth_a_column(metric, values, results):
            made = metric.column(metric.short, values)
            columns.append(_numbers(heading(made.title), made, IMPORTANT.index(metric.name)))
    out = console()
    print_columns(out, columns)
    print_run_messages(out, results)


def print_run_messages(out: Console, results: Sequence[Result]) -> None:
    """Prints every warning and note of several runs, with the runs that it applies to."""
    runs = label_runs(results)
    found = messages(runs, lambda run: run.warnings), messages(runs, lambda run: run.notes)
    texts = ([text for told in one for text in _about(told, len(runs))] for one in found)
    print_messages(out, *texts)


def _numbers(title: str, column: tables.Column, rank: int) -> Column:
    return Column(title, [cell.text for cell in column.cells], rank=rank)


def is_worth_a_column(
    metric: Metric, values: Sequence[float | None], results: Sequence[Result]
) -> bool:
    """Returns whether any run has the metric. The metric of the last quarter must also differ from
    the metric of the whole run.
    """
    if all(value is None for value in values):
        return False
    return metric.name != LAST or _differs(results)


def _differs(results: Sequence[Result]) -> bool:
    """Returns whether the last quarter of any run differs from its mean by more than `STEADY`."""
    pairs = ((one.write_amplification, one.write_amplification_last_quarter) for one in results)
    return any(last and mean and abs(last - mean) > STEADY * last for mean, last in pairs)


def print_trace(info: Mapping[str, Any]) -> None:
    units = info["units"]
    kinds = [f"{count(info[kind])} {kind}" for kind in ("reads", "writes", "trims", "flushes")]
    means = [
        f"{kind} {size(info[f'mean_{kind}_bytes'])}"
        for kind in ("read", "write")
        if info[f"mean_{kind}_bytes"] is not None
    ]
    again = info["page_writes_per_written_page"]
    names = ", ".join(map(shown, info["device_names"][:8])) + (
        ", ..." if info["devices"] > 8 else ""
    )
    lines = {
        "trace": info["name"],
        "format": info["format"],
        "units": f"time {units['time']}, addresses {units['address']}, lengths {units['length']}",
        "requests": f"{count(info['requests'])}: {', '.join(kinds)}",
        "mean size": ", ".join(means) or "-",
        "duration": lasting(info["duration_s"]),
        "footprint": f"{_pages(info['footprint_pages'], 4096)} read or written",
        "written": f"{_pages(info['written_pages'], 4096)}"
        + ("" if again is None else f", each {fixed(again, 2)} times"),
        "aligned": f"{percent(info['aligned_share'])} of reads and writes, to 4 KiB",
        "devices": f"{count(info['devices'])}: {names}",
    }
    if info["handles"] is not None:
        lines["handles"] = _handles(info["handles"])
    if info["trims"]:
        lines["trimmed"] = size(info["trimmed_bytes"])
    broken = info["unparsed_lines"]
    warnings = [unread(broken, info["first_unparsed"])] if broken else []
    notes = [*info["guessed"], *info["notes"]]
    if info["checked"] is False:
        notes.append(
            "the file has no digest of its requests: a flipped bit can pass unnoticed "
            "(floatgate trace import writes a digest)"
        )
    out = console()
    out.print(fact_grid(lines.items()))
    print_messages(out, warnings, notes)


def _handles(writes: Mapping[str, int]) -> str:
    """Describes the writes of the first placement handles."""
    first = [f"{count(n)} writes with {handle}" for handle, n in list(writes.items())[:8]]
    return f"{count(len(writes))}: {', '.join(first)}{', ...' if len(writes) > 8 else ''}"


def unread(lines: int, first: str | None) -> str:
    """Describes how many lines of a trace could not be read, with the first of them."""
    what = "1 line" if lines == 1 else f"{count(lines)} lines"
    return f"{what} could not be read, the first: {first}"


def print_map_curve(curve: Mapping[str, Any], told: Iterable[str]) -> None:
    """Prints the document of `map_curve`: hit ratios, sizes needed, notes.

    `told` has the notes already printed; they are skipped.
    """
    page, entry = size(curve["page_bytes"]), size(curve["entry_bytes"])
    accesses, pages = count(curve["accesses"]), count(curve["distinct_pages"])
    most = percent(curve["hit_ratio_max"])
    lines = [
        ("map curve", f"{curve_tables.source_words(curve)}; pages of {page}, entries of {entry}"),
        ("", f"{accesses} page accesses to {pages} pages; hits at most {most}"),
    ]
    out = console()
    out.print()
    out.print(fact_grid(lines))
    tables_of = (curve_tables.sizes_table(curve, short=True), curve_tables.needed_table(curve))
    for table in tables_of if curve["points"] else ():
        print_table(out, table)
    known = set(told)
    print_messages(out, [], [note for note in curve["notes"] if note not in known])


def _drive(result: Result, device: str) -> Lines:
    drive = result.drive
    logical, physical, page = map(
        size, (drive.logical_bytes, drive.physical_bytes, drive.page_bytes)
    )
    units, reserve = count(drive.units), count(drive.reserve_units)
    spare, over = percent(drive.spare_factor), percent(drive.over_provisioning)
    yield "drive", f"{shown(device)}: {logical} for the host on {physical} of flash"
    pages = f"{count(drive.pages_per_unit)} pages of {page}"
    yield "", f"{units} erase units of {pages}, and {reserve} in reserve"
    yield "", f"spare factor {spare}, that is over-provisioning {over}"
    space = result.space
    if space.raw_bytes:
        parts = [f"{name} {percent(n / space.raw_bytes)}" for name, n in space_parts(space)]
        yield "", f"all flash {size(space.raw_bytes)}: {', '.join(parts)}"
    start = result.start
    text = f"fill {start.fill}"
    if start.model_units is not None:
        text += f" from {count(start.model_units)} units of {start.model_pages_per_unit} pages"
    if start.volumes:
        text += f", {measured(start.volumes)} volumes of random writes"
    if start.played_volumes:
        text += f", {measured(start.played_volumes)} volumes of {result.setting('start.play')}"
    if start.settled is not None:
        text += ", settled" if start.settled else ", not settled"
    yield "start", text


def _workload(result: Result) -> Lines:
    workload = result.workload
    yield "workload", workload.name
    kinds = ", ".join(requests_by_kind(workload))
    yield "", f"{count(workload.requests)} requests: {kinds}"
    read, written = size(workload.read_bytes), size(workload.write_bytes)
    volumes = f"{measured(workload.volumes_written)} drive volumes"
    footprint = _pages(workload.footprint_pages, result.drive.page_bytes)
    yield "", f"read {read}, written {written} ({volumes}); footprint {footprint}"


def _amplification(result: Result) -> Lines:
    programs = result.flash.programs
    factor, per_page = result.write_amplification, result.page_write_amplification
    if factor is None or per_page is None:
        yield "write amplification", "none: the host wrote nothing"
        return
    parts = {NAMED[cause]: share or 0.0 for cause, share in vars(result.amplification).items()}
    by_cause = _sum(parts, ratio)
    yield "write amplification", " = ".join(filter(None, (ratio(factor), by_cause)))
    if (last := result.write_amplification_last_quarter) is not None:
        yield "", f"{ratio(last)} in the last quarter of the writes"
    if held := result.buffer.held_pages:
        held_bytes = size(held * result.drive.page_bytes)
        yield "", f"{count(held)} pages ({held_bytes}) are still in the write buffer"
    page = f"page of {size(result.drive.page_bytes)}"
    if ratio(per_page) != ratio(factor):
        yield "", f"{ratio(per_page)} programs per {page} that writes touched, as papers count"
    is_map = programs.map or programs.gc_map
    if left_out := " and ".join(["the map"] * bool(is_map) + ["parity"] * bool(programs.parity)):
        yield "", f"{ratio(result.data_write_amplification)} per {page} without {left_out}"
    yield from _placement(result)
    yield from _cleaning(result)


def _placement(result: Result) -> Lines:
    """Yields the shares of the streams that the drive chose. Handles have rows of their own."""
    placement, streams, slc = result.placement, result.placement.streams, result.slc
    through = slc.cached_pages + slc.direct_pages
    if through and any(
        result.setting(f"slc.{part}") not in (None, "0B") for part in ("static", "dynamic")
    ):
        yield "SLC cache", f"{percent(slc.cached_pages / through)} of the host's pages went into it"
        # The cache is the last stream.
        streams = streams[:-1]
    if len(streams) > 1 and owners.kind(result) == "stream":
        written = sum(stream.host_pages for stream in streams) or 1
        shares = (percent(stream.host_pages / written) for stream in streams)
        yield "streams", f"cold to hot {', '.join(shares)} of the host's pages"
        extents = "" if placement.extents is None else f", {count(placement.extents)} extents"
        yield "", f"sorted with {size(placement.memory_bytes)} of memory{extents}"


def _cleaning(result: Result) -> Lines:
    done = {name: n for name, n in vars(result.cleaning).items() if isinstance(n, int) and n}
    relabelled = done.pop("relabelled", 0)
    valid = result.cleaning.victim_valid_mean
    if done and valid is not None:
        kinds = ", ".join(f"{count(n)} {name}" for name, n in done.items())
        yield "units cleaned", f"{kinds}; {percent(valid)} of a victim's pages were moved"
    if relabelled:
        yield "", f"{count(relabelled)} erase units without an invalid page were relabelled"


def _copies(table: tables.Table) -> list[Column]:
    """Returns the pages of each handle; in a narrow terminal the last columns go first."""
    first, *columns = columns_of(table)
    ranked = enumerate(columns)
    return [first, *(replace(one, title=one.title.lower(), rank=at) for at, one in ranked)]


def _latency(result: Result) -> list[Column]:
    """Returns the response times by kind of request; each column has its own unit."""
    timed = {kind: times for kind, of in KINDS.items() if (times := of(result)).requests}
    columns = [label("latency", timed)]
    for column in tables.latency_columns([*timed.values()]):
        title = heading(column.title).lower()
        rank = IMPORTANT_TIMES.index(title.partition("\n")[0])
        columns.append(_numbers(title, column, rank))
    return columns


JOB_COLUMNS = (
    *("IOPS", "MB/s", "clat p99", "clat mean", "Requests", "WA of handles", "Handles", "clat p50"),
    *("clat p99.9", "clat max", "clat p95", "Flushes"),
)
"""Columns of the jobs; a narrow terminal leaves out the last ones first."""


def _jobs(result: Result) -> list[Column]:
    """Returns a row for each kind of request of each job."""
    rows = jobs.kinds(result.jobs)
    columns = [label("job", [name for name, _ in rows]), label("", [one.kind for _, one in rows])]
    for column in jobs.columns([one for _, one in rows]):
        title = heading(column.title)
        rank = JOB_COLUMNS.index(title.partition("\n")[0])
        columns.append(_numbers(title, column, rank))
    return columns


def _by_cause(result: Result) -> list[Column]:
    """Returns percentiles of the time by cause, for a run that kept all of its latencies."""
    # The module imports Polars, which most runs do not need.
    from floatgate.report.tables import cause_table

    known = cause_table(label_runs([result]))
    _, *columns = columns_of(known)
    titles = ["time", "by cause", *(column.title.lower() for column in columns[2:])]
    return [replace(one, title=title) for one, title in zip(columns, titles, strict=True)]


def _causes(result: Result) -> Lines:
    names = blame_names([result])
    blame = {names[part]: n or 0.0 for part, n in vars(result.latency.blame_us).items()}
    if any(blame.values()):
        unit, us = unit_of([sum(blame.values())], TIMES)
        ordered = dict(sorted(blame.items(), key=lambda part: -part[1]))
        yield f"mean by cause, {unit}", _sum(ordered, lambda time: measured(time / us))
    if result.lanes.request.latency_us is not None:
        yield "looked at", request_words(result)
    for name, cache in (("map cache", result.mapping), ("write buffer", result.buffer)):
        if cache.hit_ratio is not None:
            yield name, f"{percent(cache.hit_ratio)} hits, {count(cache.misses)} misses"


def _speed(result: Result) -> Lines:
    speed, wear = result.throughput, result.wear
    if speed.iops is not None:
        read, write = measured(speed.read_mb_s), measured(speed.write_mb_s)
        yield "throughput", f"{count(speed.iops)} requests/s, read {read}, write {write} MB/s"
        busy = percent(speed.utilization)
        yield "device time", f"{lasting(speed.device_seconds)}, dies busy {busy}"
    mean, deviation = fixed(wear.erases_mean, 2), fixed(wear.erases_stdev, 2)
    least, most = count(wear.erases_min), count(wear.erases_max)
    yield "erases per unit", f"{least} to {most}, mean {mean}, std dev {deviation}"
    life = result.lifetime
    if life.host_bytes is not None:
        rated = f"until the units have had {count(life.endurance)} erases each"
        host = f"{size(life.host_bytes)} written by the host"
        years = "" if life.years is None else f" ({lifetimes([life.years])} at this rate)"
        yield "lifetime", f"{host}{years} {rated}"


def _engine(result: Result) -> Lines:
    rate = count(result.engine.host_requests_per_second)
    yield "simulated in", f"{measured(result.engine.wall_seconds)} s, {rate} requests/s"


def _sum(parts: Mapping[str, float], write: Callable[[float], str]) -> str:
    whole = sum(parts.values())
    shown = (f"{name} {write(n)}" for name, n in parts.items() if n > whole * SMALL)
    return " + ".join(shown)


def _pages(pages: int, page_bytes: int) -> str:
    return f"{count(pages)} page{'' if pages == 1 else 's'} ({size(pages * page_bytes)})"


def _about(told: Told, total: int) -> list[str]:
    """Returns a message with the runs that it applies to, or without names if it applies to all.

    A few runs with different numbers get a line each. More runs share one line with ranges.
    """
    text, runs = told.text, told.runs
    if 0 < len(told.each) <= RUNS_NAMED:
        return [f"{own} ({run})" for run, own in told.each]
    if len(runs) == total:
        return [text]
    named = "; ".join(runs) if len(runs) <= RUNS_NAMED else f"{len(runs)} of {total} runs"
    return [f"{text} ({named})"]


def heading(title: str) -> str:
    """Puts the unit of a title on a line below it, because terminals are narrow."""
    return title.replace(",\N{NO-BREAK SPACE}", "\n")


def print_table(out: Console, table: tables.Table) -> None:
    """Prints a table of the report below an empty line."""
    out.print()
    print_columns(out, columns_of(table))


def columns_of(table: tables.Table) -> list[Column]:
    """Converts a table; text columns at its start are labels."""
    columns: list[Column] = []
    for at, title in enumerate(map(heading, table.columns)):
        cells = [row[at].text for row in table.rows]
        is_text = at in table.text_columns
        if is_text and all(column.kind == "label" for column in columns):
            columns.append(label(title, cells))
        else:
            columns.append(prose(title, cells) if is_text else Column(title, cells))
    return columns
