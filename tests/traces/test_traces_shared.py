"""The figures of the shared traces, as their README states them.

Means are compared after rounding. For the project's own captures, the README truncates them
instead. Durations and ratios are compared at the digits that the README prints.
"""

from __future__ import annotations

import math

import pytest
from paths import ROOT

from floatgate.traces import lay_out, read_trace, trace_info

SHARED = ROOT.parent / "shared" / "traces"

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
    path = SHARED / f"{row[0]}.zst"
    if not path.exists():
        pytest.skip(f"{path.name} is not here: the shared traces are no part of the repository")
    trace = read_trace(path)
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
    if not SHARED.exists():
        pytest.skip("the shared traces are no part of the repository")
    nexus = read_trace(SHARED / "nexus5-installing-18k.txt.zst")
    assert nexus.notes == ["352 lines stepped backwards in time; sorted by time"]
    laptop = read_trace(SHARED / "hp-hplajw-1week-45k.srt.zst")
    assert laptop.frame["device"].value_counts(sort=True)["count"].to_list()[0] == 42252
    tpcc = read_trace(SHARED / "tpcc-7k.trace.zst")
    assert trace_info(tpcc)["devices"] == 16
    rocks = trace_info(read_trace(SHARED / "capture-rocksdb-ext4-905k.csv.zst"))
    assert rocks["trimmed_bytes"] >> 30 == 177
    (gap,) = read_trace(SHARED / "ms-postmark-62k.trace.zst").notes
    assert gap.startswith(
        "1 gap of 1 min or more between requests, 12.3 % of the trace's 8.174 min"
    )
    assert "follows request 62,256, " in gap
