"""Job files with placement handles over NVMe/TCP: write amplification of each handle equals that of
the replayed recording, and that of `floatgate run`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from live_process import replay_of_the_docs
from nvme_host import BLOCK, connect, serve_nvme

import floatgate as fg
from floatgate.simulation import sources
from floatgate.simulation.options import RunOptions

pytestmark = pytest.mark.long

if sys.platform != "linux":
    pytest.skip("the NVMe target needs Linux", allow_module_level=True)

MIB = 1 << 20
SIZE = 16 * MIB
DRIVE = ("--size", f"{SIZE}B", "--set", "flash.pages_per_block=16", "--handles", "2")
WRITE = 1

HEAD = """
[global]
filename=/dev/ng0n1
ioengine=io_uring_cmd
cmd_type=nvme
fdp=1
iodepth=1
"""

JOBS = {
    "one after the other": """
[log]
rw=write
bs=64k
size=12m
loops=4
fdp_pli=0
[cache]
stonewall
rw=randwrite
bs=4k
offset=8m
size=8m
io_size=32m
norandommap
fdp_pli=1
[log again]
stonewall
rw=write
bs=128k
size=12m
loops=3
fdp_pli=0
""",
    "side by side": """
[log]
rw=write
bs=64k
size=12m
loops=8
fdp_pli=0
[cache]
rw=randwrite
bs=4k
offset=12m
size=4m
io_size=32m
random_distribution=zoned:80/20:20/80
norandommap
fdp_pli=1
""",
    "handles in turn": """
[both]
rw=randwrite
bs=8k
size=16m
io_size=64m
norandommap
fdp_pli=0,1
""",
}


def _requests(job_file: Path) -> Iterator[tuple[int, int, int, int]]:
    """Returns operation, first byte, length and handle of the requests, in their order."""
    load = sources.open_source(job_file, RunOptions()).load(SIZE)
    for batch in load.workload.batches(1 << 16):
        yield from pl.DataFrame(batch).select("op", "offset", "length", "stream").iter_rows()


@pytest.mark.parametrize("name", JOBS)
def test_a_job_file_has_one_write_amplification_of_each_handle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    job_file = tmp_path / "jobs.fio"
    job_file.write_text(HEAD + JOBS[name])
    with serve_nvme(tmp_path, *DRIVE, "--record", "X.parquet", "--out", "kept") as server:
        with connect(server) as host:
            for op, offset, length, handle in _requests(job_file):
                assert op == WRITE
                host.io.write(offset // BLOCK, bytes([handle + 1]) * length, handle)
        assert server.stop() == 0, server.said
    names = replay_of_the_docs(tmp_path, monkeypatch)
    live: fg.Result = names["live"]
    assert names["again"].placement == live.placement
    same = {"flash.blocks": live.drive.units * live.config["flash"]["superblock"]}
    same |= {"capacity.spare_factor": live.drive.spare_factor, "start.fill": live.start.fill}
    run = fg.run(job_file, device=live.config, set=same)
    assert run.placement == live.placement
    assert all(owner.host_pages > 0 for owner in live.placement.owners)
    assert live.write_amplification is not None and live.write_amplification > 1.05
