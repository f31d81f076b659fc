"""Loads under which a drive's latency was measured, and the reader of SSD-iq's table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .._core import ConfigError
from .measured import number, table

READS = ("r_mean_us", "r_p50_us", "r_p99_us")
WRITES = ("w_mean_us", "w_p50_us", "w_p99_us")
NEEDED = ("drive", "group", "rate_iops", "offered_iops", "read_iops", "write_iops", *READS, *WRITES)
SERVED = 0.98
"""Minimum share of the offered rate that a drive serves below the knee."""
REQUESTS, READS_LEAST, REQUESTS_MOST = 40_000, 8_000, 2_000_000
"""Bounds on the simulated requests of a rate.

A rate has at least `REQUESTS` requests. If it has reads, it has at least `READS_LEAST` of them, so
that eighty reads exceed their 99th percentile. It never has more than `REQUESTS_MOST` requests.
"""
OUTSTANDING = 7 * 64
"""Maximum number of outstanding requests of SSD-iq's seven threads."""
PROBE_IOPS = 10_000
"""Requests per second of SSD-iq's thread 0, at constant spacing; half of them are reads."""


@dataclass(frozen=True)
class Load:
    """A rate, or a number of outstanding requests, under which a drive was measured."""

    name: str
    file: Path
    offered: float
    """Offered requests per second; 0 for a closed loop."""
    read_share: float
    size: int
    depth: int
    """Maximum number of outstanding requests of all jobs together."""
    probe: bool
    """Whether the load includes SSD-iq's thread 0."""
    constant: bool
    """Whether requests arrive at constant spacing; else at random (Poisson)."""
    measured: Mapping[str, float]
    """Requests served per second (`iops`), and times in microseconds."""
    jobs: int = 1
    pattern: str = "uniform"
    """Generator of the addresses."""
    group: int | None = None
    """Number shared by the fio jobs of a file that ran at the same time."""

    @property
    def is_served(self) -> bool:
        """Whether the drive serves the offered rate."""
        return self.offered > 0 and self.measured["iops"] >= SERVED * self.offered

    @property
    def requests(self) -> int:
        reads = READS_LEAST / self.read_share if self.read_share else 0
        return min(max(REQUESTS, round(reads)), REQUESTS_MOST)


def read_ssdiq(path: Path) -> list[Load]:
    """Reads the rates of a table in SSD-iq's format.

    Raises `ConfigError`, which names the file and the line, for a missing value or a value that is
    not a number.
    """
    loads = []
    for line, cells in table(path, NEEDED):
        if cells["group"] != "all":
            continue
        values = {name: number(path, line, cells, name) for name in NEEDED[2:]}
        measured = {"iops": values["read_iops"] + values["write_iops"]}
        for side, names in (("read_iops", READS), ("write_iops", WRITES)):
            measured |= {name: values[name] for name in names if values[side]}
        if zero := [name for name, value in measured.items() if not value]:
            raise ConfigError(f"{path}: line {line}: {zero[0]} is 0; expected more")
        if values["offered_iops"] <= PROBE_IOPS:
            raise ConfigError(
                f"{path}: line {line}: offered_iops is {values['offered_iops']:g}; expected more "
                f"than the {PROBE_IOPS} of SSD-iq's probe, which is a part of every rate"
            )
        loads.append(
            Load(
                name=f"{cells['drive']}-{values['rate_iops']:.0f}",
                file=path,
                offered=values["offered_iops"],
                read_share=values["read_iops"] / measured["iops"],
                size=4096,
                depth=OUTSTANDING,
                probe=True,
                constant=False,
                measured=measured,
            )
        )
    if not loads:
        raise ConfigError(f'{path}: has no rows of the group "all"')
    return loads
