"""Latency under load: measured rates against the drive, with its clock."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _core, api
from .._core import ConfigError
from ..files import check_regular, parse_json, read_text
from ..result import Result
from . import scaled
from .measured import number, table
from .study import Config, Told

if TYPE_CHECKING:
    import polars as pl

READS = ("r_mean_us", "r_p50_us", "r_p99_us")
WRITES = ("w_mean_us", "w_p50_us", "w_p99_us")
NEEDED = ("drive", "group", "rate_iops", "offered_iops", "read_iops", "write_iops", *READS, *WRITES)
SERVED = 0.98
"""A rate of which less than this share is served is beyond the knee."""
REQUESTS, READS_LEAST = 40_000, 8_000
"""Requests of a rate that are simulated: at least so many, and so many reads where there are any,
so that eighty of them are above their 99th percentile."""
OUTSTANDING = 7 * 64
"""Requests that SSD-iq's seven threads have outstanding at most."""
PROBE_IOPS = 10_000
"""SSD-iq's thread 0: so many requests a second at constant spacing, half of them reads."""
PROBE_READS, LOAD_READS = 0.5, 0.01
"""Shares of reads of thread 0, and of the threads that are the load."""
USUAL_NOISE = 0.02


@dataclass(frozen=True)
class Load:
    """A rate at which a drive was measured."""

    name: str
    offered: float
    """Requests a second that were offered; 0 for a closed loop."""
    read_share: float
    size: int
    depth: int
    probe: bool
    """Whether thread 0 of SSD-iq is a part of it."""
    constant: bool
    """Whether requests arrive at constant spacing; otherwise at random (Poisson)."""
    measured: Mapping[str, float]
    """Requests served per second (`iops`), and times in microseconds."""

    @property
    def is_served(self) -> bool:
        """Whether what is offered is served."""
        return self.offered > 0 and self.measured["iops"] >= SERVED * self.offered

    @property
    def requests(self) -> int:
        """How many are simulated."""
        reads = READS_LEAST / self.read_share if self.read_share else 0
        return max(REQUESTS, round(reads))


def is_latency(path: Path) -> bool:
    """Whether a file has latency under load. What cannot be read is told by its reader."""
    if path.suffix == ".json":
        return True
    try:
        check_regular(path)
        with path.open(encoding="utf-8-sig") as file:
            return "offered_iops" in file.readline()
    except (OSError, UnicodeDecodeError):
        return False


def read_loads(path: Path) -> list[Load]:
    """The rates of a table of SSD-iq's form, or the jobs of fio's JSON.

    Raises ConfigError, which names the file and the place, for what is missing or no number.
    """
    return _fio(path) if path.suffix == ".json" else _ssdiq(path)


def _ssdiq(path: Path) -> list[Load]:
    loads = []
    for line, cells in table(path, NEEDED):
        if cells["group"] != "all":
            continue
        values = {name: number(path, line, cells, name) for name in NEEDED[2:]}
        iops = values["read_iops"] + values["write_iops"]
        if iops == 0:
            raise ConfigError(f"{path}: line {line}: no request was served; expected some")
        loads.append(
            Load(
                name=f"{cells['drive']}-{values['rate_iops']:.0f}",
                offered=values["offered_iops"],
                read_share=values["read_iops"] / iops,
                size=4096,
                depth=OUTSTANDING,
                probe=True,
                constant=False,
                measured={"iops": iops} | {name: values[name] for name in (*READS, *WRITES)},
            )
        )
    if not loads:
        raise ConfigError(f'{path}: has no rows of the group "all"')
    return loads


def _fio(path: Path) -> list[Load]:
    try:
        document = parse_json(read_text(path))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{path}: is no JSON of fio (--output-format=json): {error}") from error
    jobs = document.get("jobs") if isinstance(document, dict) else None
    if not isinstance(jobs, list) or not jobs:
        raise ConfigError(f"{path}: jobs is missing; expected fio's --output-format=json")
    common = document.get("global options") or {}
    return [_job(f"{path}: job {n}", job, common) for n, job in enumerate(jobs)]


def _job(where: str, job: Any, common: Mapping[str, str]) -> Load:
    try:
        options = {**common, **job.get("job options", {})}
        read, write = job["read"], job["write"]
        iops = float(read["iops"]) + float(write["iops"])
        measured = {"iops": iops}
        for names, side in ((READS, read), (WRITES, write)):
            if side["total_ios"]:
                measured |= dict(zip(names, _times(side), strict=True))
        share = read["total_ios"] / (read["total_ios"] + write["total_ios"])
        rates = [float(part) for part in str(options.get("rate_iops", "")).split(",") if part]
        jobs = int(options.get("numjobs", 1))
        depth = int(options.get("iodepth", 1)) * jobs
        name = f"fio-{job['jobname']}"
        constant = options.get("rate_process", "linear") != "poisson"
        size = _core.parse_size("bs", _fio_size(options.get("bs", "4k")))
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise ConfigError(
            f"{where}: {type(error).__name__}: {error}; expected fio's own"
        ) from error
    if not all(math.isfinite(value) and value > 0 for value in measured.values()):
        raise ConfigError(f"{where}: a rate or a time is not above 0")
    offered = sum(rates) * jobs
    return Load(name, offered, share, size, depth, False, constant, measured)


def _times(side: Mapping[str, Any]) -> tuple[float, float, float]:
    """Mean, median and 99th percentile in microseconds: of all of the latency, if fio kept that."""
    kept = side["lat_ns"] if "percentile" in side.get("lat_ns", {}) else side["clat_ns"]
    at = kept["percentile"]
    return kept["mean"] / 1e3, at["50.000000"] / 1e3, at["99.000000"] / 1e3


def _fio_size(text: str) -> str:
    """fio's 4k is 4096 bytes."""
    lower = text.lower().split(",")[0].removesuffix("ib")
    for letter in "kmg":
        if lower.endswith(letter):
            return f"{lower[:-1]}{letter.upper()}iB"
    return lower


class LatencyStudy:
    """Rates at which the latency of one drive was measured."""

    kind = "latency"

    def __init__(self, paths: Sequence[Path], config: Config) -> None:
        loads = [load for path in paths for load in read_loads(path)]
        self.loads = {load.name: load for load in loads}
        self.names: Sequence[str] = [load.name for load in loads]
        self.drive = loads[0].name.partition("-")[0]
        self.left_out: Mapping[str, str] = {}
        self.bases: Mapping[str, float] = {}
        self.noise, self.noise_from = USUAL_NOISE, "taken to be 2 %"
        self._capacity = scaled.capacity_of(dict(config))
        beyond = [load.measured["iops"] for load in loads if load.offered and not load.is_served]
        self.knee = max(beyond, default=math.inf)
        """The most that was served of a rate that is more than the drive can serve."""

    def below_knee(self, load: Load) -> bool:
        """Whether a rate is served, and is not the knee itself, where latencies are chance."""
        return load.is_served and load.offered <= SERVED * self.knee

    def drive_config(self, config: Config) -> Config:
        return scaled.full_size(dict(config), self._capacity)

    def residuals(self, run: str, config: Config, scale: float, seed: int) -> list[float]:
        load = self.loads[run]
        found = _numbers(self._simulate(load, config, scale, seed))
        names = [*READS, "iops"] if self.below_knee(load) else ["iops"]
        return [
            math.log(found[name] / load.measured[name]) for name in names if name in load.measured
        ]

    def tell(self, run: str, config: Config, scale: float, seed: int) -> Told:
        load = self.loads[run]
        found = _numbers(self._simulate(load, config, scale, seed))
        numbers = {"offered": load.offered, "below_knee": float(self.below_knee(load))}
        for name, measured in load.measured.items():
            numbers[f"{name}_measured"] = measured
            if ours := found.get(name):
                numbers[f"{name}_simulated"] = ours
                numbers[f"{name}_error"] = ours / measured - 1
        return Told(run, numbers)

    def _simulate(self, load: Load, config: Config, scale: float, seed: int) -> Result:
        # From the knee on requests wait outside of the drive, and that was not measured: there
        # the drive is kept as full as it was.
        is_open = self.below_knee(load)
        drive = {
            **scaled.smaller(dict(config), self._capacity, scale),
            "queue": {"depth": load.depth, "arrivals": "open" if is_open else "closed"},
            # SSD-iq's conditioning: a sequential fill and three volumes of random pages.
            "start": {"fill": "random", "overwrites": 3.0},
        }
        # A recording is laid out in whole mebibytes.
        span = _core.logical_bytes(json.dumps(drive), 0) >> 20 << 20
        is_probed = load.probe and is_open
        trace: Any = requests(load, span, seed) if is_probed else _spec(load, span, is_open)
        return api.run(trace, device=drive, seed=seed, addresses="span")


def _spec(load: Load, span: int, is_open: bool) -> str:
    text = f"uniform:span={span},size={load.size},requests={load.requests},reads={load.read_share}"
    if not is_open:
        return text
    arrivals = "fixed" if load.constant else "exponential"
    return f"{text},arrivals={arrivals},interarrival={round(1e9 / load.offered)}ns"


def requests(load: Load, span: int, seed: int) -> pl.DataFrame:
    """The requests of SSD-iq's seven threads: a probe at constant spacing, and random arrivals."""
    import polars as pl

    share = PROBE_IOPS / load.offered
    probes = max(1, round(load.requests * share))
    rest = max(1, load.requests - probes)
    common = f"uniform:span={span},size={load.size}"
    probe_ns, rest_ns = round(1e9 / PROBE_IOPS), round(1e9 / (load.offered - PROBE_IOPS))
    probe = f"requests={probes},reads={PROBE_READS},arrivals=fixed,interarrival={probe_ns}ns"
    others = f"requests={rest},reads={LOAD_READS},arrivals=exponential,interarrival={rest_ns}ns"
    # Two streams that must not be alike.
    frames = [
        pl.DataFrame(batch)
        for n, text in enumerate((probe, others))
        for batch in _core.Workload.generator(f"{common},{text}", 2 * seed + n).batches(
            load.requests
        )
    ]
    return pl.concat(frames).sort("at_ns", maintain_order=True)


def _numbers(result: Result) -> dict[str, float]:
    """What is compared, where there is any."""
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
