"""Compares the speed of a live drive with nbdkit's memory plugin and with the drive that it models.

    python benches/live.py [--seconds S] [--repeats N] [-o FILE.json]

Throughput: fio makes random writes of 4 KiB, with 32 under way per job. It runs in turns on
nbdkit's own memory plugin and on Floatgate (whole map, flash in memory, no timing). The result is
the median of the ratios of neighbouring turns. A fresh drive gets as many bytes as its capacity, so
it never cleans. A full drive cleans, and copies pages that a memory plugin need not copy.

Timing: fio runs on a drive with `--timing simulated`. The simulator then replays the recorded
requests. First, the bench measures the time of NBD and fio: the mean at depth 1 of the same
requests on the same drive without a clock. The drive sends its answers earlier by that time
(`--transport`).

One call makes all measurements. The tables go to standard output, and every number to FILE.json.
Needs nbdkit, fio and the plugin (make build).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

import floatgate as fg
from floatgate.live import Live

SIZE_MIB = 512
LARGE = f"--size={SIZE_MIB}MiB"
SMALL = "--size=64MiB"
"""Size of slow drives, because a drive with a clock takes its modelled time to fill."""
FILL_BYTES = 128 << 10
IDEAL = [LARGE, "--device", "small-nvme", "--set", "mapping.scheme=ideal"]
MODELLED = {
    "classic": [SMALL, "--device", "classic"],
    "dftl09": [SMALL, "--device", "dftl09"],
    "small-nvme": [LARGE, "--device", "small-nvme"],
    # The preset's erase units span all planes, which is too large for a drive of this size.
    "tlc-enterprise": [
        *(LARGE, "--device", "tlc-enterprise"),
        *("--set", "flash.pages_per_block=18", "--set", "flash.superblock=4"),
    ],
}
SOCKET = "nbd.sock"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=4, help="of each measurement")
    parser.add_argument("--repeats", type=int, default=7, help="turns of each server")
    parser.add_argument("-o", "--out", type=Path, help="where the numbers go")
    given = parser.parse_args()
    found: dict[str, Any] = {"machine": f"{platform.processor()}, {platform.release()}"}
    for full in (False, True):
        for jobs in (1, 4):
            name = f"throughput, {'full' if full else 'fresh'}, {jobs} jobs"
            found[name] = throughput(name, jobs, full, given.seconds, given.repeats)
    found["timing"] = timing(given.seconds)
    if given.out is not None:
        given.out.write_text(json.dumps(found, indent=2) + "\n")


def throughput(title: str, jobs: int, full: bool, seconds: float, repeats: int) -> dict[str, Any]:
    """Returns requests per second of both servers in turns, and the ratios of neighbouring
    turns."""
    servers = {"memory": memory_plugin, "floatgate": floatgate}
    found: dict[str, list[float]] = {name: [] for name in servers}
    for turn in range(repeats):
        # The order within a turn alternates.
        for name in sorted(servers, reverse=turn % 2 == 0):
            with tempfile.TemporaryDirectory() as directory, servers[name](Path(directory)):
                folder = Path(directory)
                if full:
                    fio(folder, "write", depth=8, bytes=FILL_BYTES)
                span = {"seconds": seconds} if full else {}
                found[name].append(fio(folder, "randwrite", 32, jobs=jobs, **span)["iops"])
    ratios = [
        ours / theirs for ours, theirs in zip(found["floatgate"], found["memory"], strict=True)
    ]
    ratio = statistics.median(ratios)
    medians = {name: statistics.median(values) for name, values in found.items()}
    print(
        f"{title}: memory plugin {medians['memory']:.0f}/s, "
        f"Floatgate {medians['floatgate']:.0f}/s, "
        f"ratio {ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
        flush=True,
    )
    return {**found, "ratios": ratios, "median_ratio": ratio}


def timing(seconds: float) -> list[dict[str, Any]]:
    """Measures latencies with fio on drives with a clock, and compares them with the simulator."""
    print(f"\n{'drive':15} {'requests':9} {'depth':>5}  {'way':>6}", end="")
    print(f"  {'fio':>9} {'model':>9}  {'off':>7}", end="")
    print(f"  {'error of holding, us: mean, p99':>32} {'late':>6}")
    rows = []
    for device, words in MODELLED.items():
        for kind in ("randread", "randwrite"):
            way = untimed(words, kind, seconds)
            for depth in (1, 32):
                rows.append(timed(device, words, (kind, depth, way), seconds))
    return rows


def untimed(words: list[str], kind: str, seconds: float) -> float:
    """Returns the mean latency at depth 1 of a drive without a clock, in microseconds."""
    with tempfile.TemporaryDirectory() as directory, floatgate(Path(directory), *words):
        fio(Path(directory), "write", depth=8, bytes=FILL_BYTES)
        return fio(Path(directory), kind, 1, seconds=seconds)["mean_us"]


def timed(
    device: str, words: list[str], load: tuple[str, int, float], seconds: float
) -> dict[str, Any]:
    """Returns one row: the mean latency at depth 1, or requests per second at other depths. `load`
    is the kind of requests, their depth, and the transport time in microseconds."""
    kind, depth, way = load
    clock = ["--timing", "simulated", "--transport", f"{way:.0f}"]
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        with floatgate(folder, *words, *clock, "--record", "x.parquet"):
            fio(folder, "write", depth=8, bytes=FILL_BYTES)
            with Live(folder / "control.sock") as live:
                live.reset()
                measured = fio(folder, kind, depth, seconds=seconds)
                status = live.status()
        recorded = pl.read_parquet(folder / "x.parquet")
    # The first recorded requests filled the drive, so they are dropped.
    requests = recorded.slice(recorded.height - status.result.workload.requests)
    config = status.result.config
    replay = fg.run(
        requests,
        device=config,
        set={
            "start.fill": "sequential",
            "flash.blocks": status.result.drive.units * config["flash"]["superblock"],
            "queue.arrivals": "closed",
            "queue.depth": depth,
        },
        addresses="span",
    )
    by_latency = depth == 1
    theirs = measured["mean_us"] if by_latency else measured["iops"]
    ours = replay.latency.all.mean_us if by_latency else replay.throughput.iops
    holding = status.server.holding
    assert holding is not None and ours is not None
    error = holding.error_us
    unit = "us" if by_latency else "/s"
    print(
        f"{device:15} {kind:9} {depth:5}  {way:4.0f}us  {theirs:7.0f}{unit} {ours:7.0f}{unit}  "
        f"{(theirs / ours - 1) * 100:+6.1f}%  {error.mean or 0:20.1f} {error.p99 or 0:11.1f}"
        f" {(holding.late_share or 0) * 100:5.1f}%"
    )
    return {
        "device": device,
        "requests": kind,
        "depth": depth,
        "way_us": way,
        "fio": measured,
        "model": {"mean_us": replay.latency.all.mean_us, "iops": replay.throughput.iops},
        "live": {"mean_us": status.result.latency.all.mean_us},
        "holding_error_us": {"mean": error.mean, "p50": error.p50, "p99": error.p99},
        "late_share": holding.late_share,
    }


def fio(
    folder: Path, kind: str, depth: int, *, jobs: int = 1, bytes: int = 4096, seconds: float = 0
) -> dict[str, float]:
    """Returns requests per second and their mean latency, as fio measures them. Without a time
    limit, the jobs together transfer the drive's capacity once."""
    command = [
        "fio",
        "--name=job",
        "--ioengine=nbd",
        f"--uri=nbd+unix:///?socket={folder / SOCKET}",
    ]
    command += [f"--rw={kind}", f"--bs={bytes}", f"--iodepth={depth}", f"--numjobs={jobs}"]
    command += ["--size=100%", "--group_reporting", "--output-format=json", "--norandommap"]
    if seconds:
        command += [f"--runtime={seconds}", "--time_based", "--ramp_time=0"]
    else:
        command += [f"--io_size={100 // jobs}%"]
    said = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder).stdout
    (job,) = json.loads(said[said.index("{") :])["jobs"]
    side = job["read" if kind.endswith("read") else "write"]
    return {"iops": side["iops"], "mean_us": side["lat_ns"]["mean"] / 1000}


@contextlib.contextmanager
def served(command: list[str], folder: Path) -> Iterator[Path]:
    """Runs a server at a socket in the folder."""
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=folder)
    try:
        end = time.monotonic() + 60
        while not (folder / SOCKET).exists() or not answers(folder):
            assert server.poll() is None and time.monotonic() < end, command
            time.sleep(0.05)
        yield folder
    finally:
        server.terminate()
        assert server.wait(120) == 0, command


def answers(folder: Path) -> bool:
    """Returns whether a client can connect."""
    uri = f"nbd+unix:///?socket={folder / SOCKET}"
    return subprocess.run(["nbdinfo", "--size", uri], capture_output=True).returncode == 0


def memory_plugin(folder: Path) -> contextlib.AbstractContextManager[Path]:
    """Runs nbdkit's own memory plugin."""
    return served(["nbdkit", "-f", "-U", SOCKET, "memory", f"{SIZE_MIB}M"], folder)


def floatgate(folder: Path, *words: str) -> contextlib.AbstractContextManager[Path]:
    """Runs a drive in memory. By default it has the whole map in memory and no timing."""
    command = [sys.executable, "-m", "floatgate", "serve", "--socket", SOCKET, "--quiet"]
    command += ["--control", "control.sock", *(words or IDEAL)]
    return served(command, folder)


if __name__ == "__main__":
    main()
