"""First screen of a report: the keys that vary, the answer, pills, and a row for each run.

A row has a bar of write amplification, dots of p50 and p99, and numbers. The template draws the
bars and dots as SVG in the cells of one table, so that the rows of all three panels are aligned.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from floatgate.results.causes import CAUSES, blame_names
from floatgate.results.comparison import Comparison
from floatgate.results.intervals import compared, differences, mean_and_half_width
from floatgate.results.result import Result
from floatgate.results.tables import Cell, Table, Unit, per_cent
from floatgate.results.values import ABSENT, interval, measured, plain, size

from . import answer, frames
from .constant import Absent, without_constant
from .figure import Legend
from .intervals import mean_parts
from .legends import part_legend
from .palette import slots
from .pills import RED, Pill, doubtful, pills, valid_latency
from .runs import TRACE, Run, Varying, identifying, short_value, value_text, varying
from .scales import Scale, linear, of_times
from .units import Units
from .unlike import unlike_drives

LISTED = 4
"""Maximum number of values that the title lists; with more, it gives their number."""

ALIKE = 1.02
"""Drives whose sizes differ by at most this factor are called equally large."""

HEADING = 16
"""Maximum number of characters of a row's name in a heading."""

KEYS = 2
"""Maximum number of keys in the title."""


class Piece(NamedTuple):
    """Segment of a bar: positions in per cent of the width."""

    start: float
    width: float
    slot: int
    tip: str


class Dot(NamedTuple):
    """Dot or whisker: positions in per cent of the width."""

    at: float
    low: float
    high: float
    tip: str


@dataclass(frozen=True)
class Row:
    """One row of the first screen."""

    name: str
    doubtful: bool
    bar: Sequence[Piece]
    whisker: Dot | None
    seeds: Sequence[Dot]
    times: Sequence[Dot]
    """Dots of p50 and p99."""
    words: str
    """Text of both pictures for screen readers."""
    cells: Sequence[Cell] = ()


@dataclass(frozen=True)
class Front:
    """The first screen."""

    title: str
    about: Sequence[str]
    answer: str
    pills: Sequence[Pill]
    rows: Sequence[Row]
    columns: Sequence[str]
    amplification: Scale | None
    times: Scale | None
    unit: str
    legend: Sequence[Legend]
    seeds: int
    left_out: list[Absent] = field(default_factory=list)


def front(
    results: Sequence[Result],
    runs: Sequence[Run],
    combined: Sequence[Run],
    units: Units,
    baseline: Mapping[str, Any] | None,
    title: str | None,
) -> Front:
    """Returns the first screen of a report.

    `runs` has a run for each result, and `combined` one for each row.
    """
    keys = identifying([run.result for run in combined])
    bases = base_rows(results, combined, baseline)
    table, left_out = _numbers(combined, bases, units)
    amplification, times = _scales(combined, units.time)
    name = title or unbroken(what_varies(combined, keys))
    rows = [
        _row(run, amplification, times, units.time, cells)
        for run, cells in zip(combined, table.rows, strict=True)
    ]
    return Front(
        title=name,
        about=[part for part in about([run.result for run in combined], keys) if part != name],
        answer=unbroken(_answer(combined, keys, bases, units.time)),
        pills=[*pills(runs), *unlike_drives(runs)],
        rows=rows,
        columns=table.columns,
        amplification=amplification,
        times=times,
        unit=units.time[0],
        legend=part_legend([frames.amplification(combined)], CAUSES),
        seeds=len(combined[0].seeds),
        left_out=left_out,
    )


def unbroken(text: str) -> str:
    """Returns the text without line breaks between a number and `%`."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def what_varies(rows: Sequence[Run], keys: Sequence[Varying]) -> str:
    """Returns the keys that vary with their values, or the trace if nothing varies."""
    if not keys:
        trace = rows[0].result.workload.name or "unnamed trace"
        return trace if len(rows) == 1 else f"{len(rows)} runs of {trace}"
    parts = [_key_text(vary) for vary in keys[:KEYS]]
    if more := len(keys) - KEYS:
        parts += [f"{more} more key{'s' * (more > 1)}"] * (more > 0)
    return "; ".join(parts)


def _key_text(vary: Varying) -> str:
    values = [value_text(vary.key, value) for value in vary.distinct]
    if len(values) > LISTED:
        return f"{vary.key}: {len(values)} values"
    return f"{vary.key}: {', '.join(values[:-1])} and {values[-1]}"


def about(results: Sequence[Result], keys: Sequence[Varying]) -> list[str]:
    """Returns trace, device, size and queue, each in a few words."""
    varied = {vary.key for vary in keys}
    traces = list(dict.fromkeys(result.workload.name for result in results))
    devices = list(dict.fromkeys(result.device.rpartition("/")[2] for result in results))
    sizes = sorted(result.drive.logical_bytes for result in results)
    # Drives that are sized for one workload differ by less than an erase unit.
    ends = [size(sizes[0])] if sizes[-1] <= ALIKE * sizes[0] else [size(sizes[0]), size(sizes[-1])]
    text = [traces[0] if len(traces) == 1 else f"{len(traces)} traces"]
    text.append(devices[0] if len(devices) == 1 else f"{len(devices)} devices")
    text.append(ends[0] if len(ends) == 1 else f"{ends[0]} to {ends[-1]}")
    queues = {_queue(result) for result in results}
    if "queue.depth" not in varied and len(queues) == 1:
        text += filter(None, queues)
    return [part for part in text if part]


def _queue(result: Result) -> str:
    depth, arrivals = result.setting("queue.depth"), result.setting("queue.arrivals")
    if depth is None or not result.timed:
        return ""
    return f"QD {plain(depth)}" + (f" {arrivals}" if arrivals else "")


def base_rows(
    results: Sequence[Result], rows: Sequence[Run], baseline: Mapping[str, Any] | None
) -> list[int | None]:
    """Returns for each row the number of its base, the row that it is compared with; None for a
    base itself.

    Without `baseline`, the base is the first row of the same trace, or the first of all rows if
    each trace has only one.
    """
    if baseline:
        every = [result for run in rows for result in run.seeds]
        seeds = len(rows[0].seeds)
        found = compared(every, compared_keys(results, rows), baseline)
        return [None if one.base is None else one.base[0] // seeds for one in found]
    of_row = [vary.values for vary in varying([run.result for run in rows]) if vary.key == TRACE]
    traces = of_row[0] if of_row else ("",) * len(rows)
    if len(set(traces)) == len(rows):
        traces = ("",) * len(rows)
    bases = [traces.index(trace) for trace in traces]
    return [None if base == at else base for at, base in enumerate(bases)]


def compared_keys(results: Sequence[Result], rows: Sequence[Run]) -> list[str]:
    if isinstance(results, Comparison):
        return results.keys
    keys = varying([run.result for run in rows])
    return [vary.key for vary in keys if vary.key not in (TRACE, "seed", "floatgate")]


def _answer(
    rows: Sequence[Run], keys: Sequence[Varying], bases: Sequence[int | None], time: Unit
) -> str:
    if len(rows) == 1:
        (run,) = rows
        whole = mean_parts(frames.amplification, rows)
        parts = [
            (name, value)
            for name, value in whole.select("part", "value").iter_rows()
            if name != CAUSES["host"]
        ]
        names = blame_names([run.result])
        blame = mean_parts(lambda group: frames.blame(group, names), rows)
        causes = [*blame.select("part", "share").iter_rows()]
        return answer.one_answer(
            _amplifications(run), parts, _p99s(run), time, causes, doubtful=_doubtful(run)
        )
    own = [vary for vary in keys if vary.key != TRACE]
    traces = [vary.values for vary in keys if vary.key == TRACE]
    subjects = []
    for at, (run, base) in enumerate(zip(rows, bases, strict=True)):
        name, trace = run.name, ""
        if traces and own and base is not None and traces[0][at] == traces[0][base]:
            trace = traces[0][at]
        if own and traces:
            name = ", ".join(short_value(vary, own, at) for vary in own)
        subjects.append(
            answer.Subject(
                name, _amplifications(run), _valid_p99s(run), base, trace, doubtful=_doubtful(run)
            )
        )
    return answer.answer(subjects, time)


def _amplifications(run: Run) -> list[float | None]:
    return [result.write_amplification for result in run.seeds]


def _p50s(run: Run) -> list[float | None]:
    return [result.latency.all.p50_us for result in run.seeds]


def _p99s(run: Run) -> list[float | None]:
    return [result.latency.all.p99_us for result in run.seeds]


def _valid_p99s(run: Run) -> list[float | None]:
    """Returns p99, or no numbers if a pill on the response times is red: the answer may not then
    rest on them.
    """
    is_red = any(valid_latency(result) == RED for result in run.seeds)
    return [None] * len(run.seeds) if is_red else _p99s(run)


Of = Callable[[Run], Sequence[float | None]]


def _numbers(
    rows: Sequence[Run], bases: Sequence[int | None], units: Units
) -> tuple[Table, list[Absent]]:
    """Returns the columns of numbers, without those in which nothing differs."""
    time, life = units.time, units.life
    name = " \N{PLUS-MINUS SIGN} 95 %" if len(rows[0].seeds) > 1 else ""
    columns: list[tuple[str, list[Cell]]] = [
        (f"WA{name}", _cells(rows, _amplifications, 1.0, is_interval=True))
    ]
    changes = _changes(rows, bases)
    if any(cell.order for cell in changes):
        columns.append((_against(rows, bases), changes))
    columns += [
        (f"p50, {time[0]}", _cells(rows, _p50s, time[1])),
        (f"p99, {time[0]}", _cells(rows, _p99s, time[1])),
        ("IOPS", _cells(rows, lambda run: [one.throughput.iops for one in run.seeds], 1.0)),
        (
            f"TBW, {life[0]}",
            _cells(rows, lambda run: [one.lifetime.host_bytes for one in run.seeds], life[1]),
        ),
    ]
    titles = [title for title, _ in columns]
    cells = [list(row) for row in zip(*(cells for _, cells in columns), strict=True)]
    return without_constant(Table("", titles, cells, frozenset()))


def _against(rows: Sequence[Run], bases: Sequence[int | None]) -> str:
    """Returns the heading of the differences, which names the base if all rows share one."""
    used = {base for base in bases if base is not None}
    if len(used) > 1:
        return "against baseline"
    name = rows[min(used)].name
    return f"against {name if len(name) <= HEADING else 'baseline'}"


def _cells(rows: Sequence[Run], of: Of, unit: float, *, is_interval: bool = False) -> list[Cell]:
    """Returns the mean over the seeds of every row, with two digits in a row that is doubtful."""
    cells = []
    for run in rows:
        mean, half = mean_and_half_width(of(run))
        if mean is None:
            cells.append(Cell(ABSENT))
            continue
        mean, half = mean / unit, half / unit if half and is_interval else None
        text = answer.rough(mean) if _doubtful(run) else interval(mean, half)
        cells.append(Cell(text, mean))
    return cells


def _changes(rows: Sequence[Run], bases: Sequence[int | None]) -> list[Cell]:
    cells = []
    for run, base in zip(rows, bases, strict=True):
        if base is None:
            cells.append(Cell(ABSENT))
            continue
        shares = differences(_amplifications(run), _amplifications(rows[base]))[1]
        mean, half = mean_and_half_width(shares)
        is_rough = _doubtful(run) or _doubtful(rows[base])
        text = (
            f"{'+' if mean and mean > 0 else ''}{answer.rough(mean)} %"
            if is_rough and mean
            else None
        )
        cells.append(Cell(text or per_cent(mean, half), mean))
    return cells


def _doubtful(run: Run) -> bool:
    return any(map(doubtful, run.seeds))


def _scales(rows: Sequence[Run], time: Unit) -> tuple[Scale | None, Scale | None]:
    """Returns the axes of bars and of times; None if no row has any."""
    tops = [_high(_amplifications(run)) for run in rows]
    times = [
        value / time[1] for run in rows for value in (*_p50s(run), *_p99s(run)) if value is not None
    ]
    most = max(tops, default=0.0)
    return (linear(most) if most > 0 else None, of_times(times) if times else None)


def _high(values: Sequence[float | None]) -> float:
    """Returns the greatest of the values, and of the end of their interval."""
    mean, half = mean_and_half_width(values)
    known = [value for value in values if value is not None]
    return max([(mean or 0.0) + (half or 0.0), *known])


def _row(
    run: Run, bars: Scale | None, times: Scale | None, time: Unit, cells: Sequence[Cell]
) -> Row:
    pieces: list[Piece] = []
    words: list[str] = []
    whisker, seeds = None, list[Dot]()
    mean, half = mean_and_half_width(_amplifications(run))
    if bars and mean is not None:
        pieces = _pieces(run, bars)
        words.append(f"write amplification {interval(mean, half)}")
        if half is not None:
            ends = mean - half, mean + half
            tip = _tip(run, {"95 % from": measured(ends[0]), "to": measured(ends[1])})
            whisker = Dot(bars.at(mean), bars.at(max(ends[0], 0.0)), bars.at(ends[1]), tip)
            seeds = [_seed(run, one, bars) for one in run.seeds]
    dots = []
    for name, of in (("p50", _p50s), ("p99", _p99s)) if times else ():
        assert times is not None
        us, half = mean_and_half_width(of(run))
        if us is None:
            continue
        value, wide = us / time[1], (half or 0.0) / time[1]
        text = f"{interval(value, half and wide)} {time[0]}"
        words.append(f"{name} {text}")
        ends = times.at(max(value - wide, 0.0)), times.at(value + wide)
        dots.append(Dot(times.at(value), *ends, _tip(run, {name: text})))
    said = f"{run.name}: {', '.join(words)}" if words else run.name
    return Row(run.name, _doubtful(run), pieces, whisker, seeds, dots, said, cells)


def _pieces(run: Run, scale: Scale) -> list[Piece]:
    """Returns the segments of a bar, which is the mean over the seeds."""
    colours, at, pieces = slots(CAUSES), 0.0, list[Piece]()
    parts = mean_parts(frames.amplification, [run]).sort("order")
    for name, value, share in parts.select("part", "value", "share").iter_rows():
        tip = {"Cause": name, "Bytes per byte of the host": measured(value)}
        tip["Share"] = f"{100 * share:.1f} %"
        width = scale.at(at + value) - scale.at(at)
        pieces.append(Piece(scale.at(at), width, colours[name], _tip(run, tip)))
        at += value
    return pieces


def _seed(run: Run, result: Result, scale: Scale) -> Dot:
    value = result.write_amplification or 0.0
    at = scale.at(value)
    tip = {"Seed": plain(result.seed), "Write amplification": measured(value)}
    return Dot(at, at, at, _tip(run, tip))


def _tip(run: Run, facts: Mapping[str, str]) -> str:
    """Returns a tooltip as JSON, for the page's script."""
    return json.dumps({"Run": run.name, **facts}, ensure_ascii=False)
