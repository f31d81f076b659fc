"""Files from users, and the requests in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from paths import ROOT

from floatgate.traces import read_trace, trace_info

CASES = ROOT.parent / "shared" / "cases"

EPOCH = "time=start_time,op=op,offset=offset,length=size"
SAYS_S = "time=TIME(s),op=T,offset=SECTOR,length=BYTES"
WPA = "time=Init Time (s),op=IO Type,offset=Min Offset,length=Size (B),device=Disk"
LOAD = "time=start,op=op,offset=sector,length=length"
TECTONIC = "device=1,time=4,op=5,offset=2,length=3,read=1+2+5,write=3+4+6"
SECTORS = {"address": "sectors", "length": "sectors"}

# File: columns, units, figures of `trace info`.
EXPECTED: dict[str, tuple[str | None, dict[str, str], dict[str, Any]]] = {
    "blktrace-complete-only/complete.blkparse": (
        None,
        {},
        {"reads": 1, "writes": 2, "trims": 1, "duration_s": 0.002, "mean_read_bytes": 32768},
    ),
    "blktrace-complete-only/complete.blktrace": (
        None,
        {},
        {"reads": 1, "writes": 2, "trims": 1, "duration_s": 0.002, "mean_write_bytes": 6144},
    ),
    "columns-hex/etw.csv": (
        None,
        {},
        {"reads": 1, "writes": 1, "flushes": 1, "duration_s": 0.00065, "devices": 2},
    ),
    "columns-hex/plain.csv": (
        "time=time_us,op=op,offset=offset,length=size",
        {"time": "us"},
        {"reads": 1, "writes": 1, "mean_read_bytes": 8192, "mean_write_bytes": 65536},
    ),
    "columns-hex/wpa.csv": (WPA, {"time": "s"}, {"reads": 1, "writes": 1, "duration_s": 0.0001726}),
    "columns-preamble/load.txt": (
        LOAD,
        {"time": "s", **SECTORS},
        {"reads": 1, "writes": 2, "duration_s": 0.5, "footprint_pages": 3},
    ),
    "columns-several-words/ops.txt": (
        TECTONIC,
        {"time": "s"},
        {"reads": 3, "writes": 3, "mean_read_bytes": 200704 / 3, "mean_write_bytes": 139264 / 3},
    ),
    "disksim-trim-op/trim.trace": (None, {}, {"writes": 2, "trims": 3, "trimmed_bytes": 16384}),
    "disksim-trim-op/few.trace": (None, {}, {"requests": 300, "trims": 2}),
    "fio-v2-wait/waits.log": (None, {}, {"reads": 4, "duration_s": 3.0}),
    "kernel-text-formats/ftrace.txt": (
        None,
        {},
        {"reads": 1, "writes": 1, "trims": 1, "flushes": 1, "duration_s": 1.499888},
    ),
    "kernel-text-formats/perf-script.txt": (
        None,
        {},
        {"reads": 1, "writes": 1, "duration_s": 0.035185, "mean_write_bytes": 16384},
    ),
    "kernel-text-formats/biosnoop.txt": (
        None,
        {},
        {"reads": 1, "writes": 2, "duration_s": 0.385515, "mean_read_bytes": 53248},
    ),
    "kernel-text-formats/iosnoop.txt": (
        None,
        {},
        {"reads": 1, "writes": 2, "mean_write_bytes": (130560 + 4096) / 2},
    ),
    "systor-blank-type/hour.csv": (None, {}, {"requests": 3, "reads": 1, "writes": 2}),
    "time-unit-seconds/epoch.csv": (EPOCH, {}, {"duration_s": 1.538330794}),
    "time-unit-seconds/header-says-s.txt": (SAYS_S, {"address": "sectors"}, {"duration_s": 0.5}),
    "time-unit-seconds/nine-decimals.trace": (None, {}, {"duration_s": 0.6}),
}


def case(name: str) -> Path:
    path = CASES / name
    if not path.exists():
        pytest.skip(f"{path.name} is not here: the files of users are no part of the repository")
    return path


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_of_a_user_has_these_requests(name: str) -> None:
    columns, units, figures = EXPECTED[name]
    info = trace_info(read_trace(case(name), columns=columns, units=units))
    assert {key: info[key] for key in figures} == pytest.approx(figures)
    assert info["unparsed_lines"] == 0


def test_a_trace_of_less_than_a_millisecond_has_a_duration(cli: Cli, tmp_path: Path) -> None:
    log = "fio version 3 iolog\n0 /dev/x add\n10 /dev/x write 0 4096\n{} /dev/x write 4096 4096\n"
    for end, words in ((82, "72 us"), (10, "0 s"), (12_510, "12.5 ms"), (2_000_010, "2.00 s")):
        (tmp_path / "short.log").write_text(log.format(end))
        done = cli("trace", "info", "short.log")
        (line,) = (line for line in done.stdout.splitlines() if line.startswith("duration"))
        assert " ".join(line.split()) == f"duration {words}"
        document = json.loads(cli("trace", "info", "short.log", "--json").stdout)
        assert document["duration_s"] == (end - 10) / 1e6
