"""Measured write amplification over volumes, read from tables whose header names the columns."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path

from floatgate.files.reading import check_regular

from .._core import ConfigError

GIB = 1 << 30
STEADY_SHARE = 0.2
"""Share of the volumes, at the end, whose mean is the steady write amplification."""
RISEN = 1.05
"""Cleaning has begun when write amplification exceeds the base by this factor."""
BASE_WINDOWS = 5
"""Minimum number of windows without cleaning that define the base; else the fill defines it."""

FILLS = {"seq fill": "sequential", "shuffled fill": "shuffled"}
"""Phases that fill a drive, with the equivalent `start.fill`."""


@dataclass(frozen=True)
class WaRun:
    """Write amplification of one run, in windows of equal size of the workload after the fill."""

    name: str
    span_bytes: int
    """Bytes that the run writes to; the rest of the drive is never written."""
    fill: str
    """`start.fill`: "sequential", "shuffled" or "none"."""
    load: str
    """Name of the workload in the data."""
    zone_bytes: int | None
    active_zones: int
    volumes: tuple[float, ...]
    """Middle of each window, in volumes (multiples of the span) since the fill."""
    raw: tuple[float, ...]
    """Media bytes per host byte in each window."""
    base: float
    """Media bytes per host byte without cleaning. The excess over 1 is parity, map and metadata,
    which are not simulated.
    """
    discards: bool = False
    """Whether the host discards each zone before it overwrites the zone; no table states this."""

    @property
    def wa(self) -> list[float]:
        """Write amplification over base, comparable with a simulation that counts data pages."""
        return [raw / self.base for raw in self.raw]

    @property
    def window(self) -> float:
        """Volumes of a window."""
        return (self.volumes[-1] - self.volumes[0]) / (len(self.volumes) - 1)

    @property
    def total(self) -> float:
        """Total number of volumes."""
        return self.volumes[-1] + self.window / 2

    @property
    def drive(self) -> str:
        """Name of the drive: the text in front of the first dash of the run's name."""
        return self.name.partition("-")[0]

    @property
    def late(self) -> list[int]:
        """The windows after the first volume, or the second half of a shorter run.

        Earlier, write amplification rises steeply from the start of cleaning: a small difference in
        the start is a large difference in amplification.
        """
        begin = min(1.0, self.total / 2)
        return [i for i, at in enumerate(self.volumes) if at > begin]

    def by_volume(self, curve: Sequence[float]) -> list[float]:
        """Returns the mean of a curve over each volume after the first.

        Where few zones are rewritten, single windows vary like a random walk; means over a volume
        do not.
        """
        volumes: dict[int, list[float]] = {}
        for i in self.late:
            volumes.setdefault(int(self.volumes[i]), []).append(curve[i])
        return [_mean(windows) for windows in volumes.values()]

    def steady(self, curve: Sequence[float]) -> float:
        """Returns the mean of a curve over the windows in the last share of the volumes."""
        from_volume = (1 - STEADY_SHARE) * self.total
        last = [wa for at, wa in zip(self.volumes, curve, strict=True) if at > from_volume]
        return sum(last) / len(last)


@dataclass(frozen=True)
class _Row:
    run: str
    phase: str
    span_gib: float
    volume: float
    wa: float
    zone_gib: float | None
    active: float


NEEDED = ("run", "namespace_gib", "phase", "host_volumes", "wa")


def read_wa(path: Path) -> list[WaRun]:
    """Returns the runs of a table of write amplification, in the order of the file.

    Raises `ConfigError`, which names the file and the line, for a missing value or a value that is
    not a number.
    """
    rows = [_row(path, line, cells) for line, cells in table(path, NEEDED)]
    by_run: dict[str, list[_Row]] = {}
    for row in rows:
        by_run.setdefault(row.run, []).append(row)
    runs = [_run(path, rows) for rows in by_run.values()]
    return [replace(run, base=_base(path, run, by_run[run.name], runs)) for run in runs]


@dataclass(frozen=True)
class SkewMeasurements:
    """Skewed writes against uniform writes on real drives (SSD-iq).

    Of one drive, write amplification was measured. Of others, only the rates of the host's writes.
    """

    zipf: float
    """Steady write amplification over base of Zipf writes to the D7-P5520."""
    uniform: float
    """Steady write amplification over base of uniform writes to the same drive."""
    ratios: Mapping[str, Mapping[float, float]]
    """Rate of uniform writes over the rate of Zipf writes, by drive and exponent."""


SKEW_RUNS = ("i1-seq-zipf", "i1-seq-uniform")
"""The runs whose write amplification is compared."""


def skew_files() -> list[Path]:
    """Returns the files of `read_skews`, or none if they are not available. They are in the
    directory FLOATGATE_DRIVES, or in ../shared/drives; the repository does not have them."""
    named = os.environ.get("FLOATGATE_DRIVES")
    root = Path(__file__).resolve().parents[3]
    folder = Path(named) if named else root.parent / "shared" / "drives"
    files = [folder / "wa-p5520-start.csv", folder / "throughput-skew.csv"]
    return files if all(file.is_file() for file in files) else []


def read_skews(amplified: Path, rates: Path) -> SkewMeasurements:
    """Returns the measurements of skewed writes, from a table for `read_wa` and a table of rates.

    Raises `ConfigError`, which names the file and the line, for a missing run or value and for a
    value that is not a number.
    """
    steady = {run.name: run.steady(run.wa) for run in read_wa(amplified)}
    if missing := [run for run in SKEW_RUNS if run not in steady]:
        raise ConfigError(f"{amplified}: run {missing[0]} missing; there is {', '.join(steady)}")
    ratio = "uniform_over_this"
    ratios: dict[str, dict[float, float]] = {}
    for line, cells in table(rates, ("drive", "pattern", "detail", ratio)):
        if cells["pattern"] == "zipf" and cells[ratio]:
            row = {**cells, "theta": cells["detail"].removeprefix("theta=")}
            exponent = number(rates, line, row, "theta")
            ratios.setdefault(row["drive"], {})[exponent] = number(rates, line, row, ratio)
    zipf, uniform = (steady[run] for run in SKEW_RUNS)
    return SkewMeasurements(zipf, uniform, ratios)


def table(path: Path, needed: Sequence[str]) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yields the rows of a CSV file with their line numbers.

    Raises `ConfigError` if a column is missing or the file has no rows.
    """
    try:
        check_regular(path)
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            header = reader.fieldnames or []
            if missing := [name for name in needed if name not in header]:
                found = ", ".join(header) or "nothing"
                columns = "column" if len(missing) == 1 else "columns"
                raise ConfigError(
                    f"{path}: {columns} {', '.join(missing)} missing; there is {found}"
                )
            rows = [(reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{path}: cannot be read: {reason}") from error
    if not rows:
        raise ConfigError(f"{path}: has a header and no rows")
    yield from rows


def number(path: Path, line: int, cells: Mapping[str, str], column: str) -> float:
    """Returns the finite number from 0 in a column; raises `ConfigError` for any other text."""
    text = cells.get(column) or ""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        raise ConfigError(
            f"{path}: line {line}: {column} is {text!r}; expected a finite number from 0"
        )
    return value


def _row(path: Path, line: int, cells: Mapping[str, str]) -> _Row:
    def value(column: str) -> float:
        return number(path, line, cells, column)

    row = _Row(
        run=cells["run"],
        phase=cells["phase"],
        span_gib=value("namespace_gib"),
        volume=value("host_volumes"),
        wa=value("wa"),
        zone_gib=value("zone_gib") if cells.get("zone_gib") else None,
        active=value("active_zones") if cells.get("active_zones") else 1,
    )
    if row.wa == 0 or row.span_gib == 0:
        column = "wa" if row.wa == 0 else "namespace_gib"
        raise ConfigError(f"{path}: line {line}: {column} is 0; expected more")
    return row


def _run(path: Path, rows: Sequence[_Row]) -> WaRun:
    """Returns the run of these rows: at most one fill, and a workload; its base is not set yet."""
    first, where = rows[0], f"{path}: run {rows[0].run}"
    if len({row.span_gib for row in rows}) > 1:
        raise ConfigError(f"{where}: has several namespace_gib; expected one")
    phases = [phase for phase, _ in groupby(rows, lambda row: row.phase)]
    loads = [phase for phase in phases if phase not in FILLS]
    if len(loads) != 1 or phases[-1] != loads[0] or len(phases) > 2:
        raise ConfigError(
            f"{where}: has the phases {', '.join(phases)}; expected at most one fill "
            f"({' or '.join(FILLS)}), and a workload after it"
        )
    windows = [row for row in rows if row.phase == loads[0]]
    volumes = [row.volume for row in windows]
    steps = [later - before for before, later in pairwise(volumes)]
    if len(windows) < BASE_WINDOWS or min(steps) <= 0 or max(steps) > 1.5 * min(steps):
        raise ConfigError(
            f"{where}: host_volumes of {loads[0]}: expected at least {BASE_WINDOWS} windows of "
            "equal size, in order"
        )
    zone = windows[0].zone_gib
    # The drive under the zones was filled ahead of the log (SSD-iq's protocol).
    fill = FILLS.get(phases[0], "none" if zone is None else "sequential")
    return WaRun(
        name=first.run,
        span_bytes=round(first.span_gib * GIB),
        fill=fill,
        load=loads[0],
        zone_bytes=None if zone is None else round(zone * GIB),
        active_zones=round(windows[0].active),
        volumes=tuple(volumes),
        raw=tuple(row.wa for row in windows),
        base=1.0,
    )


def _risen_at(run: WaRun, reference: float) -> float:
    """Returns the first volume at which cleaning shows; the end of the run if it never does."""
    risen = (at for at, wa in zip(run.volumes, run.raw, strict=True) if wa > RISEN * reference)
    return next(risen, run.total)


def _base(path: Path, run: WaRun, rows: Sequence[_Row], runs: Sequence[WaRun]) -> float:
    """Returns the write amplification without cleaning.

    Cleaning begins after a certain number of written bytes. So the windows before cleaning end, for
    all runs of one span and fill, where the first of these runs shows cleaning; the last of these
    windows is left out too. The first tenth of a fill is left out, because drives write more there
    than later.
    """
    fill = [row.wa for row in rows if row.phase in FILLS and row.volume > 0.1]
    reference = _mean(fill) if fill else sorted(run.raw[:BASE_WINDOWS])[BASE_WINDOWS // 2]
    same = [one for one in runs if (one.span_bytes, one.fill) == (run.span_bytes, run.fill)]
    until = min(_risen_at(one, reference) for one in same) - 1.5 * run.window
    before = [wa for at, wa in zip(run.volumes, run.raw, strict=True) if at < until]
    if len(before) >= BASE_WINDOWS:
        return _mean(before)
    if fill:
        return _mean(fill)
    raise ConfigError(
        f"{path}: run {run.name}: cleaning begins within {len(before)} windows, and there is no "
        "fill: the base without cleaning cannot be known from it"
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
