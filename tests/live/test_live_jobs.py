"""Job files that fio runs on a live drive, and that `fg.run` plays on the same drive in simulation:
equal counts, sizes, footprints and distributions, and the same write amplification."""

from __future__ import annotations

import itertools
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from live_drive import MIB
from live_needs import needs, needs_plugin
from live_process import Serve
from scipy import stats

import floatgate as fg
from floatgate.simulation import sources
from floatgate.simulation.fio_jobs.document import describe
from floatgate.simulation.fio_jobs.resolving import read_job_file
from floatgate.simulation.options import RunOptions

pytestmark = [needs("nbdkit", "fio"), needs_plugin]

PAGE = 4096
DRIVE = 64 * MIB
SMALL = ("--device", "classic", "--size", f"{DRIVE}B", "--set", "flash.pages_per_block=32")
HANGS_S = 1800

HEAD = """
[global]
ioengine=nbd
uri=${NBD_URI}
filename=drive
iodepth=8
"""

KINDS = ("read", "write", "trim")

LEAST_P = 1e-3
"""Least probability of a difference between two samples of one distribution."""

PARTS = 32
"""Parts of a region, for the comparison of places."""

SCATTERED = ("zipf", "pareto", "normal")
"""Distributions whose popular blocks lie elsewhere than fio's."""

CASES = {
    "mixed": """
        [log]
        rw=write
        bs=64k
        size=16m
        loops=2
        [random]
        rw=randrw
        rwmixread=30
        offset=16m
        size=16m
        io_size=48m
        norandommap
        fsync=32
        # With more, fio's engine repeats each flush until its queue is full.
        iodepth=1
        [sizes]
        rw=randwrite
        offset=32m
        size=16m
        bssplit=4k/50:16k/30:64k/20
    """,
    "clones": """
        [clone]
        rw=randwrite
        # In one region, and not in passes: otherwise write amplification depends on how far the
        # clones drift apart, and the host's scheduler decides that.
        norandommap
        numjobs=4
        size=64m
        io_size=64m
        [trims]
        stonewall
        rw=randtrim
        bs=64k
        size=32m
    """,
    "skewed": """
        [zipf]
        rw=randwrite
        random_distribution=zipf:1.2
        size=32m
        io_size=96m
        [zoned]
        rw=randwrite
        offset=32m
        size=32m
        io_size=96m
        random_distribution=zoned:60/10:30/20:10/70
    """,
}

LONG_CASES = {
    "pareto": """
        [pareto]
        rw=randwrite
        random_distribution=pareto:0.2
        size=48m
        io_size=256m
        [normal]
        # Next to the other job, the host's scheduler would decide the write amplification.
        stonewall
        rw=randwrite
        random_distribution=normal:20
        offset=48m
        size=16m
        io_size=128m
        bsrange=4k-16k
    """,
    "steady": """
        [steady]
        rw=randwrite
        norandommap
        size=64m
        io_size=512m
    """,
    "same order": """
        [passes]
        rw=randwrite
        size=64m
        loops=6
    """,
    "sequential part": """
        [parts]
        rw=randrw
        rwmixwrite=80
        percentage_random=50
        size=64m
        io_size=256m
        norandommap
    """,
}


@dataclass(frozen=True)
class Both:
    """A job file that fio has run on a live drive, and its simulation."""

    fio: list[dict[str, Any]]
    recorded: pl.DataFrame
    live: fg.Result
    made: pl.DataFrame
    simulated: fg.Result


def _run_fio(folder: Path, uri: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        ["fio", "--output-format=json", "jobs.fio"],
        capture_output=True,
        text=True,
        timeout=HANGS_S,
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "NBD_URI": uri},
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    jobs: list[dict[str, Any]] = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    return jobs


def _both(folder: Path, text: str) -> Both:
    lines = (line.strip() for line in (HEAD + text).splitlines())
    (folder / "jobs.fio").write_text("\n".join(lines))
    with Serve(folder, *SMALL, "--record", "X.parquet", "--out", "kept") as server:
        jobs = _run_fio(folder, f"nbd+unix:///?socket={server.ready['socket']}")
        assert server.stop() == 0
    live = fg.Result.from_json((folder / "kept" / "result.json").read_text())
    same = {"flash.blocks": live.drive.units * live.config["flash"]["superblock"]}
    same["capacity.spare_factor"] = live.drive.spare_factor
    job_file = folder / "jobs.fio"
    simulated = fg.run(job_file, device=live.config, set=same | {"start.fill": live.start.fill})
    load = sources.open_source(job_file, RunOptions()).load(DRIVE)
    made = pl.concat([pl.DataFrame(batch) for batch in load.workload.batches(1 << 16)])
    return Both(jobs, pl.read_parquet(folder / "X.parquet"), live, made, simulated)


def _counts(frame: pl.DataFrame, first: int, last: int) -> list[int]:
    """Returns how often each page of a region is touched."""
    counts = [0] * ((last - first) // PAGE)
    for offset, length in frame.select("offset", "length").iter_rows():
        for page in range((offset - first) // PAGE, (offset - first + length) // PAGE):
            counts[page] += 1
    return counts


def _same_distribution(a: list[int], b: list[int]) -> None:
    """Compares how often pages of two samples are touched, by rank."""
    ranked = [sorted(one, reverse=True) for one in (a, b)]
    edges = [0, *(1 << power for power in range(len(a).bit_length())), len(a)]
    table = [
        [sum(one[low:high]) for low, high in itertools.pairwise(edges) if low < high]
        for one in ranked
    ]
    kept = [column for column in zip(*table, strict=True) if sum(column) >= 20]
    if len(kept) > 1:
        assert stats.chi2_contingency([*zip(*kept, strict=True)]).pvalue > LEAST_P


def _same_places(
    a: pl.DataFrame, b: pl.DataFrame, first: int, last: int, *, dispersion: float
) -> None:
    """Compares in which parts of a region the requests of two samples begin. `dispersion` is the
    variance of a count over its mean."""
    part = ((pl.col("offset") - first) * PARTS // (last - first)).alias("part")
    counts = [frame.group_by(part).len() for frame in (a, b)]
    joined = counts[0].join(counts[1], on="part", how="full").fill_null(0)
    pairs = joined.select("len", "len_right").rows()
    if len(pairs) > 1:
        table = stats.chi2_contingency([*zip(*pairs, strict=True)])
        assert stats.chi2.sf(table.statistic / dispersion, table.dof) > LEAST_P


def _same_sizes(a: pl.DataFrame, b: pl.DataFrame) -> None:
    both = [frame.group_by("op", "length").len() for frame in (a, b)]
    joined = both[0].join(both[1], on=["op", "length"], how="full").fill_null(0)
    pairs = [(x, y) for x, y in joined.select("len", "len_right").iter_rows() if x + y >= 20]
    if len(pairs) > 1:
        assert stats.chi2_contingency([*zip(*pairs, strict=True)]).pvalue > LEAST_P


def _check(folder: Path, text: str) -> None:
    both = _both(folder, text)
    described = json.loads(describe(read_job_file(folder / "jobs.fio").jobs, DRIVE))["jobs"]
    for job, of_fio, mine in zip(described, both.fio, both.simulated.jobs, strict=True):
        assert (of_fio["jobname"], mine.clone) == (mine.name, job["clone"])
        for kind in KINDS:
            theirs, own = of_fio[kind]["total_ios"], getattr(mine, f"{kind}s")
            # Where kinds or sizes are drawn, counts differ by chance.
            assert abs(own - theirs) <= 6 * (theirs + own) ** 0.5 * _is_drawn(job), (kind, job)
        bytes_of = sum(of_fio[kind]["io_bytes"] for kind in KINDS)
        sent = mine.read_bytes + mine.write_bytes + mine.trim_bytes
        assert abs(bytes_of - sent) <= 64 << 10
        assert abs(of_fio["sync"]["total_ios"] - mine.flushes) <= 6 * mine.flushes**0.5 + 1
    for first, last in {(job["offset"], job["offset"] + job["size"]) for job in described}:
        frames = [_inside(one, first, last) for one in (both.recorded, both.made)]
        counts = [_counts(one, first, last) for one in frames]
        touched = [sum(count > 0 for count in one) for one in counts]
        assert abs(touched[0] - touched[1]) <= 6 * max(touched) ** 0.5, touched
        _same_distribution(*counts)
        _same_sizes(*frames)
        jobs = [job for job in described if job["offset"] == first]
        if all(_has_equal_places(job) for job in jobs):
            _same_places(*frames, first, last, dispersion=max(map(_dispersion, jobs)))
    live, simulated = both.live.write_amplification, both.simulated.write_amplification
    assert live is not None and simulated == pytest.approx(live, rel=0.02)


def _is_drawn(job: dict[str, Any]) -> bool:
    sizes = (one["sizes"] for one in job["directions"])
    return len(job["directions"]) > 1 or any(one["low"] < one["high"] for one in sizes)


def _has_equal_places(job: dict[str, Any]) -> bool:
    """Returns whether the counts of a job's requests by part of its region scatter as those of
    fio. Requests of several sizes that fill the region once are not independent."""
    fills = job["each_once"] and any(one["sizes"]["split"] for one in job["directions"])
    return job["distribution"]["kind"] not in SCATTERED and not fills


def _dispersion(job: dict[str, Any]) -> float:
    """Returns the variance over the mean of the number of requests in a part of the region.

    If a request is at random with probability p, and otherwise follows the last one, then runs have
    a geometric length L, and the ratio is E[L^2] / E[L] = (2 - p) / p.
    """
    shares = [one["random_percent"] / 100 for one in job["directions"]]
    return max((2 - share) / share for share in shares) if job["random"] else 1.0


def _inside(frame: pl.DataFrame, first: int, last: int) -> pl.DataFrame:
    offset = pl.col("offset")
    return frame.filter((offset >= first) & (offset < last) & (pl.col("length") > 0))


@pytest.mark.parametrize("name", CASES)
def test_fio_on_a_live_drive_and_the_simulated_jobs_agree(tmp_path: Path, name: str) -> None:
    _check(tmp_path, CASES[name])


@pytest.mark.long
@pytest.mark.parametrize("name", LONG_CASES)
def test_fio_and_the_simulated_jobs_agree_over_many_passes(tmp_path: Path, name: str) -> None:
    _check(tmp_path, LONG_CASES[name])
