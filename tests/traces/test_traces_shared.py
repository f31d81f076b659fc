"""The shared traces, whose README states the figures, and files from users.

Means are compared after rounding. For the project's own captures, the README truncates them
instead. Durations and ratios are compared at the digits that the README prints.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from paths import shared

from floatgate.traces import lay_out, read_trace, trace_info

# file, format, time unit, requests, reads, writes, footprint pages, mean write bytes,
# duration in s, written pages, page writes per written page
TABLE = """
msr-sample-rw20-80-10k.trace heimdall ms 10000 2020 7980 7385 6393 242.9 5815 2.45
msr-sample-most-thpt-10k.trace heimdall ms 10000 8316 1684 29025 56191 1.0 23100 1.00
umass-financial1-10k.ascii disksim ns 10000 4078 5922 7322 5039 259.6 3734 3.32
umass-financial1-50k-pages.trace disksim-pages ms 50000 29199 20801 31150 6504 853.4 8890 5.84
umass-websearch-25k.trace disksim ns 24783 24779 4 93029 8192 60.1 4 2.00
tpcc-7k.trace disksim ns 6999 4381 2618 20470 8939 0.136 7879 1.01
msprod-msnfs-150k.trace disksim ms 149999 130483 19516 538027 9448 143.1 43513 1.03
msprod-dtrs-127k.trace disksim us 127043 113123 13920 1272267 54659 300.0 184051 1.01
cloudphysics-114k.vscsi vscsi us 113872 46974 66898 269210 36004 7200 208696 3.14
nexus5-installing-18k.txt biotracer s 17952 312 17640 266758 95695 977.8 265188 1.56
pc-diskmon-87k.txt diskmon s 87160 36705 50455 210304 18703 11720 133688 2.11
hp-hplajw-1week-45k.srt hp-srt us 44519 13040 31479 7992 6410 603065 3981 13.76
ms-postmark-62k.trace disksim ms 62257 51780 10477 1533388 853006 490.4 1532457 1.42
capture-pgbench-ext4-656k.csv floatgate-csv us 656291 10296 476220 393784 19436 220.6 393523 5.74
capture-rocksdb-ext4-905k.csv floatgate-csv us 904811 409416 485045 1533626 128429 300.6 1533496 9.92
capture-postmark-f2fs-996k.csv floatgate-csv us 995873 234972 624636 455063 15096 254.8 454651 5.06
"""  # noqa: E501
ROWS = [line.split() for line in TABLE.split("\n") if line]
FLUSHES_AND_TRIMS = {
    "pgbench": (169731, 44),
    "rocksdb": (5858, 4492),
    "postmark-f2fs": (136009, 256),
}


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_shared_trace_has_the_stated_figures(row: list[str]) -> None:
    trace = read_trace(shared(f"traces/{row[0]}.zst"))
    info = trace_info(trace)
    _, form, unit, requests, reads, writes, pages, mean, duration, written, ratio = row
    assert (info["format"], info["units"]["time"]) == (form, unit)
    counts = (int(n) for n in (requests, reads, writes, pages, written))
    names = ("requests", "reads", "writes", "footprint_pages", "written_pages")
    assert dict(zip(names, counts, strict=True)) == {name: info[name] for name in names}
    cut = math.floor if row[0].startswith("capture") else round
    assert cut(info["mean_write_bytes"]) == int(mean)
    assert round(info["duration_s"], len(duration.partition(".")[2])) == float(duration)
    assert round(info["page_writes_per_written_page"], 2) == float(ratio)
    assert info["unparsed_lines"] == 0
    stated = next((v for key, v in FLUSHES_AND_TRIMS.items() if key in row[0]), (0, 0))
    assert (info["flushes"], info["trims"]) == stated
    layout = lay_out(trace)
    assert layout.span_bytes >= info["footprint_pages"] * 4096 // 2
    assert (layout.frame["offset"] + layout.frame["length"]).max() <= layout.span_bytes


def test_devices_and_known_oddities_of_shared_traces() -> None:
    nexus = read_trace(shared("traces/nexus5-installing-18k.txt.zst"))
    assert nexus.notes == ["352 lines stepped backwards in time; sorted by time"]
    laptop = read_trace(shared("traces/hp-hplajw-1week-45k.srt.zst"))
    assert laptop.frame["device"].value_counts(sort=True)["count"].to_list()[0] == 42252
    tpcc = read_trace(shared("traces/tpcc-7k.trace.zst"))
    assert trace_info(tpcc)["devices"] == 16
    rocks = trace_info(read_trace(shared("traces/capture-rocksdb-ext4-905k.csv.zst")))
    assert rocks["trimmed_bytes"] >> 30 == 177
    (gap,) = read_trace(shared("traces/ms-postmark-62k.trace.zst")).notes
    assert gap.startswith(
        "1 gap of 1 min or more between requests, 12.3 % of the trace's 8.174 min"
    )
    assert "follows request 62,256, " in gap


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


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_of_a_user_has_these_requests(name: str) -> None:
    columns, units, figures = EXPECTED[name]
    info = trace_info(read_trace(shared(f"cases/{name}"), columns=columns, units=units))
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
