"""Latency under load: compares measured rates with a drive that is simulated with a clock."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.files.reading import check_regular
from floatgate.results.result import Result

from .. import _core, api
from .._core import ConfigError
from . import scaled
from .fio import names_apart, read_fio
from .fit import rms, weighted
from .loads import PROBE_IOPS, READS, SERVED, Load, read_ssdiq
from .study import Config, Told, changed

if TYPE_CHECKING:
    import polars as pl

QUEUE = ("queue.depth", "queue.arrivals")
"""Keys whose values come from the data."""
CONDITIONING = "in order and three volumes of random pages"
"""SSD-iq's conditioning of a drive ahead of its measurements."""
PROBE_READS, LOAD_READS = 0.5, 0.01
"""Shares of reads in thread 0, and in the threads that make the load."""
USUAL_NOISE = 0.02


def is_latency(path: Path) -> bool:
    """Returns whether a file has latency under load.

    Returns False for a file that cannot be read; the reader then reports the error.
    """
    if path.suffix == ".json":
        return True
    try:
        check_regular(path)
        with path.open(encoding="utf-8-sig") as file:
            return "offered_iops" in file.readline()
    except (OSError, UnicodeDecodeError):
        return False


def read_loads(path: Path) -> list[Load]:
    """Reads the rates of a table in SSD-iq's format, or the jobs in fio's JSON.

    Raises `ConfigError`, which names the file and the place, for a missing value or a value that is
    not a number.
    """
    return read_fio(path) if path.suffix == ".json" else read_ssdiq(path)


class LatencyStudy:
    """Rates at which the latency of one drive was measured."""

    kind = "latency"
    null_model = "the same mean and percentiles under every load"

    def __init__(self, paths: Sequence[Path], config: Config) -> None:
        read = [load for path in paths for load in read_loads(path)]
        self._is_probed = any(load.probe for load in read)
        loads = read if self._is_probed else names_apart(read)
        self.loads = {load.name: load for load in loads}
        self.names: Sequence[str] = [load.name for load in loads]
        equal: dict[str, list[str]] = {}
        for job, load in zip(read, loads, strict=True):
            equal.setdefault(job.name, []).append(load.name)
        self.groups: Mapping[str, Sequence[str]] = equal
        self.drive = loads[0].name.partition("-")[0]
        self.left_out: Mapping[str, str] = {}
        self.bases: Mapping[str, float] = {}
        self.noise, self.noise_from = USUAL_NOISE, "taken to be 2 %"
        self._capacity = scaled.capacity_of(dict(config))
        beyond = [load.measured["iops"] for load in loads if load.offered and not load.is_served]
        self.knee = max(beyond, default=math.inf)
        """Highest rate served while the offered rate was more than the drive can serve."""
        self.notes: Sequence[str] = [*self._replaced(config), *_at_once(loads)]

    def below_knee(self, load: Load) -> bool:
        """Returns whether a rate is served and below the knee. Latencies at the knee are random."""
        return load.is_served and load.offered <= SERVED * self.knee

    def why_idle(self, key: str) -> str | None:
        """Returns why a key cannot be fitted, if its value comes from the data."""
        table = key.partition(".")[0]
        if key in QUEUE or (table == "start" and self._is_probed):
            return "each run takes this key from the data"
        return "latency is simulated with the clock" if key == "timing" else None

    def drive_config(self, config: Config) -> Config:
        return {**scaled.full_size(dict(config), self._capacity), "timing": "scheduled"}

    def residuals(self, run: str, config: Config, scale: float, seed: int) -> list[float]:
        load = self.loads[run]
        found = _numbers(self._simulate(load, config, scale, seed))
        names = self._compared(load)
        if zero := [name for name in names if name not in found]:
            raise ConfigError(
                f"run {run}: {zero[0]} of the simulated drive is 0; expected a drive whose [start] "
                "leaves it full"
            )
        return [math.log(found[name] / load.measured[name]) for name in names]

    def null(self, runs: Sequence[str]) -> float | None:
        """Returns the error of a drive with the same numbers (geometric means) under every load."""
        if len(runs) < 2:
            return None
        logs = [self._logs(self.loads[run]) for run in runs]
        means = {
            name: sum(of) / len(of)
            for name in {name for one in logs for name in one}
            if (of := [one[name] for one in logs if name in one])
        }
        return rms(weighted([[means[name] - at for name, at in one.items()] for one in logs]))

    def extremes(self, runs: Sequence[str]) -> list[str]:
        """Returns the lowest and highest load of each kind; beyond the knee only the highest."""
        loads = sorted((self.loads[run] for run in runs), key=lambda one: (one.offered, one.depth))
        below = [one.name for one in loads if self.below_knee(one)]
        closed = [one.name for one in loads if not one.offered]
        beyond = [one.name for one in loads if one.offered and not self.below_knee(one)]
        ends = (*below[:1], *below[-1:], *beyond[-1:], *closed[:1], *closed[-1:])
        return list(dict.fromkeys(ends))

    def tell(self, run: str, config: Config, scale: float, seed: int) -> Told:
        load = self.loads[run]
        found = _numbers(self._simulate(load, config, scale, seed))
        if load.offered:
            numbers = {"offered": load.offered, "below_knee": float(self.below_knee(load))}
        else:
            numbers = {"outstanding": float(load.depth)}
        for name, measured in load.measured.items():
            numbers[f"{name}_measured"] = measured
            if ours := found.get(name):
                numbers[f"{name}_simulated"] = ours
                numbers[f"{name}_error"] = ours / measured - 1
        return Told(run, numbers)

    def _compared(self, load: Load) -> list[str]:
        """Returns the names of a load's values to which a simulation is fitted."""
        names = [*READS, "iops"] if self.below_knee(load) else ["iops"]
        return [name for name in names if name in load.measured]

    def _logs(self, load: Load) -> dict[str, float]:
        """Returns logs of a load's values; below the knee, `iops` is relative to the offer."""
        offered = {"iops": load.offered} if self.below_knee(load) else {}
        return {
            name: math.log(load.measured[name] / offered.get(name, 1.0))
            for name in self._compared(load)
        }

    def _replaced(self, config: Config) -> Iterator[str]:
        """Describes device values that the data replace."""
        if config["timing"] == "none":
            yield 'timing = "none" of the device is not used: latency is simulated with the clock'
        if keys := changed(config, QUEUE):
            yield f"{keys} of the device is not used: each run has depth and arrivals of the data"
        start = changed(config, [f"start.{key}" for key in config["start"]])
        if self._is_probed and start:
            yield f"{start} of the device is not used: SSD-iq filled its drives, {CONDITIONING}"
        elif not self._is_probed and not start:
            yield (
                "fio's JSON does not state what was written before the job; each run starts after "
                f"a fill {CONDITIONING} (another [start] of the device is kept)"
            )

    def _start(self, config: Config) -> Mapping[str, Any]:
        kept = not self._is_probed and changed(config, [f"start.{key}" for key in config["start"]])
        return config["start"] if kept else {"fill": "random", "overwrites": 3.0}

    def _simulate(self, load: Load, config: Config, scale: float, seed: int) -> Result:
        # At and beyond the knee, requests wait outside the drive, and the data lack these waits. A
        # closed loop then keeps the drive as full as in the measurement.
        is_open = self.below_knee(load)
        arrivals = "open" if is_open else "closed"
        drive = {
            **scaled.smaller(dict(config), self._capacity, scale),
            "queue": {**config["queue"], "depth": load.depth, "arrivals": arrivals},
            "start": self._start(config),
            "timing": "scheduled",
        }
        # A recording is laid out in whole mebibytes.
        span = scaled.resolved(drive).logical_bytes(0) >> 20 << 20
        is_probed = load.probe and is_open
        trace: Any = requests(load, span, seed) if is_probed else _spec(load, span, is_open)
        return api.run(trace, device=drive, seed=seed, addresses="span")


def _at_once(loads: Sequence[Load]) -> Iterator[str]:
    """Describes jobs that fio ran at the same time; each of them is simulated alone."""
    groups: dict[tuple[Path, int], list[str]] = {}
    for load in loads:
        if load.group is not None:
            groups.setdefault((load.file, load.group), []).append(load.name)
    for (file, _), names in groups.items():
        if len(names) > 1:
            yield (
                f"{' and '.join(names)} of {file.name} are jobs of one fio group, which run at the "
                "same time; each is simulated alone"
            )


def _spec(load: Load, span: int, is_open: bool) -> str:
    text = f"{load.pattern}:span={span},size={load.size},requests={load.requests}"
    text += f",reads={load.read_share}"
    if not is_open:
        return text
    arrivals = "fixed" if load.constant else "exponential"
    return f"{text},arrivals={arrivals},interarrival={round(1e9 / load.offered)}ns"


def requests(load: Load, span: int, seed: int) -> pl.DataFrame:
    """Returns the requests of SSD-iq's seven threads: a constant-rate probe, random arrivals."""
    import polars as pl

    share = PROBE_IOPS / load.offered
    probes = max(1, round(load.requests * share))
    rest = max(1, load.requests - probes)
    common = f"uniform:span={span},size={load.size}"
    probe_ns, rest_ns = round(1e9 / PROBE_IOPS), round(1e9 / (load.offered - PROBE_IOPS))
    probe = f"requests={probes},reads={PROBE_READS},arrivals=fixed,interarrival={probe_ns}ns"
    others = f"requests={rest},reads={LOAD_READS},arrivals=exponential,interarrival={rest_ns}ns"
    # Different seeds, so that the two streams differ.
    frames = [
        pl.DataFrame(batch)
        for n, text in enumerate((probe, others))
        for batch in _core.Workload.generator(f"{common},{text}", 2 * seed + n).batches(
            load.requests
        )
    ]
    return pl.concat(frames).sort("at_ns", maintain_order=True)


def _numbers(result: Result) -> dict[str, float]:
    """Returns the values to compare, without those that are zero or missing."""
    read, write = result.latency.read, result.latency.write
    found = {
        "iops": result.throughput.iops,
        "r_mean_us": read.mean_us,
        "r_p50_us": read.p50_us,
        "r_p99_us": read.p99_us,
        "w_mean_us": write.mean_us,
        "w_p50_us": write.p50_us,
        "w_p99_us": write.p99_us,
    }
    return {name: value for name, value in found.items() if value}
