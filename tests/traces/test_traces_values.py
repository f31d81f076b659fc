"""The values of each sample, field by field: time, operation, device, offset and length of its
rows.

Every expected number is the sample's own text times the unit that the format defines.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from paths import DATA
from trace_rows import (
    FLUSH,
    ISSUED,
    PAGE,
    READ,
    SCALES,
    SECTOR,
    TRIM,
    US,
    WRITE,
    Row,
    S,
    read_bytes,
    units_of,
)

from floatgate.traces import read_trace, write_parquet

# Sample: format; time, address and length unit; names of the devices; rows in order of time.
EXPECTED: dict[str, tuple[str, str, list[str], list[Row]]] = {
    "financial.spc": (
        "spc",
        "s sectors bytes",
        ["0", "1", "2"],
        [
            (0, WRITE, 0, 20941264 * SECTOR, 8192),
            (2_335 * US, WRITE, 0, 20939840 * SECTOR, 8192),
            (4_496 * US, READ, 1, 3072 * SECTOR, 1536),
            (699_014 * US, WRITE, 2, 3436288 * SECTOR, 15872),
        ],
    ),
    "usr.msr.csv": (
        "msr",
        "100ns bytes bytes",
        ["usr_0", "usr_1", "web_2", "web_10"],
        [
            (0, READ, 0, 7014609920, 24576),
            ((16382155 - 3061629) * 100, WRITE, 0, 1317441536, 8192),
            ((16853566 - 3061629) * 100, WRITE, 3, 512, 1024),
            ((26382245 - 3061629) * 100, READ, 1, 2436440064, 4096),
            ((27000000 - 3061629) * 100, WRITE, 2, 1024, 1024),
        ],
    ),
    "window.heimdall": (
        "heimdall",
        "ms bytes bytes",
        ["0"],
        [
            (0, READ, 0, 11562803200, 4096),
            (250 * US, WRITE, 0, 512, 36864),
            (3_125 * US, WRITE, 0, 3159347200, 7680),
        ],
    ),
    "three.disksim": (
        "disksim",
        "ns sectors sectors",
        ["0", "1"],
        [
            (0, WRITE, 0, 303567 * SECTOR, 7 * SECTOR),
            (26_214_000, READ, 1, 240840 * SECTOR, 6 * SECTOR),
            (78_643_000, WRITE, 0, 303574 * SECTOR, 8 * SECTOR),
        ],
    ),
    "tabs.disksim-pages": (
        "disksim-pages",
        "ms sectors pages",
        ["0"],
        [
            (0, WRITE, 0, 303574 * SECTOR, 1 * PAGE),
            (78_643_000 - 26_214_000, READ, 0, 240840 * SECTOR, 2 * PAGE),
        ],
    ),
    "queue.blkparse": ("blkparse", "s sectors sectors", ["8,0", "8,16"], ISSUED),
    "queued-only.blkparse": (
        "blkparse",
        "s sectors sectors",
        ["8,0"],
        [(0, WRITE, 0, 223490 * SECTOR, 8 * SECTOR)],
    ),
    "completed.blkparse": (
        "blkparse",
        "s sectors sectors",
        ["8,0"],
        [
            (0, WRITE, 0, 2048 * SECTOR, 8 * SECTOR),
            (250 * US, TRIM, 0, 16384 * SECTOR, 2048 * SECTOR),
        ],
    ),
    "events.ftrace.txt": (
        "block-events",
        "s sectors sectors",
        ["8,0", "8,16"],
        [
            (0, WRITE, 0, 223488 * SECTOR, 8 * SECTOR),
            (100 * US, READ, 1, 4096 * SECTOR, 16 * SECTOR),
            (200 * US, TRIM, 1, 8192 * SECTOR, 2048 * SECTOR),
            (300 * US, FLUSH, 0, 0, 0),
            (300 * US, WRITE, 0, 64 * SECTOR, 8 * SECTOR),
        ],
    ),
    "perf.script.txt": (
        "block-events",
        "s sectors sectors",
        ["259,0", "259,1"],
        [
            (0, READ, 0, 2564656 * SECTOR, 8 * SECTOR),
            (35_185 * US, WRITE, 0, 4096 * SECTOR, 32 * SECTOR),
            (85_185 * US, FLUSH, 1, 0, 0),
        ],
    ),
    "disk.biosnoop.txt": (
        "biosnoop",
        "s sectors bytes",
        ["nvme0n1", "nvme1n1"],
        [
            (0, WRITE, 0, 520198144 * SECTOR, 225280),
            (611 * US, WRITE, 0, 490161424 * SECTOR, 4096),
            (385_515 * US, READ, 1, 490161432 * SECTOR, 53248),
        ],
    ),
    "disk.iosnoop.txt": (
        "iosnoop",
        "s sectors bytes",
        ["253,1", "253,16"],
        [
            (0, WRITE, 0, 4534 * SECTOR, 130560),
            (43 * US, FLUSH, 0, 0, 0),
            (43 * US, WRITE, 0, 4789 * SECTOR, 4096),
            (1847 * US, READ, 1, 9000 * SECTOR, 8192),
        ],
    ),
    "server.etw.csv": (
        "etw",
        "us bytes bytes",
        ["0", "5"],
        [
            (0, READ, 0, 0x101E00, 8192),
            (550 * US, WRITE, 1, 0x200000, 65536),
            (650 * US, FLUSH, 1, 0, 0),
        ],
    ),
    "job.fio2": (
        "fio",
        "ms bytes bytes",
        ["/dev/sda", "/dev/sdb"],
        [
            (0, WRITE, 0, 0, 4096),
            (100_000 * US, READ, 1, 8192, 4096),
            (250_000 * US, FLUSH, 0, 0, 0),
            (250_000 * US, TRIM, 0, 4096, 8192),
        ],
    ),
    "job.fio3": (
        "fio",
        "us bytes bytes",
        ["/dev/nvme0n1"],
        [
            (0, WRITE, 0, 0, 16384),
            (15 * US, READ, 0, 4096, 4096),
            (30 * US, FLUSH, 0, 0, 0),
            (80 * US, TRIM, 0, 8192, 4096),
        ],
    ),
    "homes.fiu": (
        "fiu",
        "ns sectors sectors",
        ["6,0", "8,17"],
        [
            (0, WRITE, 0, 904265560 * SECTOR, 8 * SECTOR),
            (20_000, READ, 0, 512 * SECTOR, 16 * SECTOR),
            (1 * S, WRITE, 1, 1048576 * SECTOR, 8 * SECTOR),
        ],
    ),
    "app.biotracer.txt": (
        "biotracer",
        "s sectors bytes",
        ["0"],
        [
            (0, WRITE, 0, 4043872 * SECTOR, 49152),
            (171_915_740 - 168_065_791, WRITE, 0, 4043968 * SECTOR, 4096),
            (202_961_469 - 168_065_791, READ, 0, 52432368 * SECTOR, 4096),
        ],
    ),
    "pc.diskmon.txt": (
        "diskmon",
        "s sectors sectors",
        ["0", "1"],
        [
            (0, WRITE, 0, 3271215 * SECTOR, 8 * SECTOR),
            (0, READ, 1, 108745397 * SECTOR, 64 * SECTOR),
            (500_000 * US - 16_375 * US, WRITE, 0, 0, 1 * SECTOR),
        ],
    ),
    "io_traces.alibaba.csv": (
        "alibaba",
        "us bytes bytes",
        ["12", "419", "725"],
        [
            (0, WRITE, 1, 8792731648, 16384),
            (46 * US, READ, 2, 59110326272, 360448),
            (85 * US, READ, 0, 59110686720, 466944),
        ],
    ),
    "cbs.tencent.csv": (
        "tencent",
        "s sectors sectors",
        ["1063", "1360", "1627"],
        [
            (0, READ, 0, 12910952 * SECTOR, 128 * SECTOR),
            (0, WRITE, 2, 6338688 * SECTOR, 8 * SECTOR),
            (1 * S, READ, 1, 1904106 * SECTOR, 384 * SECTOR),
        ],
    ),
    "vdi.systor.csv": (
        "systor17",
        "s bytes bytes",
        ["0", "1", "4"],
        [
            (0, WRITE, 0, 204800, 4096),
            (239_500, READ, 2, 8192, 512),
            (239_500, READ, 1, 0, 65536),
        ],
    ),
    "capture.floatgate.csv": (
        "floatgate-csv",
        "us bytes bytes",
        ["0"],
        [
            (0, WRITE, 0, 4096, 4096),
            (10 * US, TRIM, 0, 0, 1 << 20),
            (12_500, READ, 0, 4096, 512),
            (20 * US, FLUSH, 0, 0, 0),
        ],
    ),
}


def test_every_text_sample_is_held_by_value() -> None:
    assert {path.name for path in DATA.iterdir()} == {*EXPECTED}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_text_sample_has_these_rows(name: str) -> None:
    trace = read_trace(DATA / name)
    _, units, devices, rows = EXPECTED[name]
    assert trace.frame.rows() == rows
    assert (units_of(trace), trace.devices) == (units, devices)
    assert (trace.name, trace.unparsed_lines, trace.first_unparsed) == (name, 0, None)


NOTES = {
    "usr.msr.csv": ["1 line stepped backwards in time; sorted by time"],
    "app.biotracer.txt": ["1 line stepped backwards in time; sorted by time"],
    "queue.blkparse": [
        "8 lines left out: the summary of blkparse",
        "6 lines left out: actions other than D, the one that is read",
        "1 request left out: neither read, write, discard nor flush",
    ],
    "queued-only.blkparse": [
        "8 lines left out: the summary of blkparse",
        "5 lines left out: actions other than Q, the one that is read",
        "action Q read: the trace has no D",
    ],
    "completed.blkparse": [
        "completions (C) read, with the times of completion: the trace has no D and no Q"
    ],
    "events.ftrace.txt": [
        "3 lines left out: events other than block_rq_issue, the one that is read",
        "1 line left out: no request of a block device",
        "1 request left out: neither read, write, discard nor flush",
    ],
    "perf.script.txt": ["1 line left out: events other than block_rq_issue, the one that is read"],
    "disk.biosnoop.txt": [
        "completions read, with the times of completion",
        "1 request of no bytes left out: biosnoop prints flushes like that",
    ],
    "server.etw.csv": [
        "completions read, with the times of completion",
        "7 lines left out: no disk request",
    ],
    "job.fio2": ["8 lines left out: add, open, close or wait"],
    "job.fio3": ["3 lines left out: add, open, close or wait"],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_what_a_sample_leaves_out_is_said_and_nothing_else(name: str) -> None:
    idle = "an empty line or a comment"
    notes = [note for note in read_trace(DATA / name).notes if idle not in note]
    assert notes == NOTES.get(name, [])


GUESSES = {
    "financial.spc": ["addresses taken as 512-byte sectors"],
    "window.heimdall": ["addresses taken as bytes", "lengths taken as bytes", "time taken as ms"],
    "three.disksim": ["time taken as ns"],
    "tabs.disksim-pages": ["lengths taken as 4 KiB pages", "time taken as ms"],
    "job.fio2": ["waits taken as ms"],
    "job.fio3": ["time taken as us"],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_unit_is_called_a_guess_where_the_format_leaves_it_open(name: str) -> None:
    guessed = read_trace(DATA / name).units.guessed
    expected = GUESSES.get(name, [])
    assert len(guessed) == len(expected)
    assert all(text.startswith(start) for text, start in zip(guessed, expected, strict=True))


TICKS = {"ns": 1, "100ns": 100, "us": 10**3, "ms": 10**6, "s": 10**9}


@pytest.mark.parametrize("name", EXPECTED)
def test_each_unit_of_each_format_can_be_overridden(name: str) -> None:
    _, units, devices, rows = EXPECTED[name]
    time, address, length = units.split()
    for told in TICKS:
        at = [row[0] * TICKS[told] // TICKS[time] for row in rows]
        trace = read_trace(DATA / name, units={"time": told})
        assert trace.frame["at_ns"].to_list() == at
        assert units_of(trace) == f"{told} {address} {length}"
        assert not any(text.startswith(("time", "waits")) for text in trace.units.guessed)
    for told in SCALES:
        offsets = [row[3] * SCALES[told] // SCALES[address] for row in rows]
        lengths = [row[4] * SCALES[told] // SCALES[length] for row in rows]
        moved = read_trace(DATA / name, units={"address": told})
        longer = read_trace(DATA / name, units={"length": told})
        assert moved.frame["offset"].to_list() == offsets
        assert longer.frame["length"].to_list() == lengths
        assert moved.frame["length"].to_list() == [row[4] for row in rows]
        assert longer.frame["offset"].to_list() == [row[3] for row in rows]
        assert not any(text.startswith("address") for text in moved.units.guessed)
        assert not any(text.startswith("length") for text in longer.units.guessed)
        assert moved.devices == devices


@pytest.mark.parametrize("name", EXPECTED)
def test_parquet_gives_every_sample_back(name: str, tmp_path: Path) -> None:
    trace = read_trace(DATA / name)
    write_parquet(trace, tmp_path / "copy.parquet")
    back = read_trace(tmp_path / "copy.parquet")
    form, units, devices, rows = EXPECTED[name]
    assert (back.format, back.devices, back.frame.rows()) == ("parquet", devices, rows)
    told = [f"imported from {form} ({', '.join(units.split())})", *trace.notes]
    assert back.notes == [*told, *trace.units.guessed]
    assert [path.name for path in tmp_path.iterdir()] == ["copy.parquet"]


def test_fio_waits_count_from_the_start_of_the_job(tmp_path: Path) -> None:
    # fio does not wait if the time has already passed.
    waits = [3, 40, 30, 500]
    log = ["fio version 2 iolog", "/f add", "/f open"]
    for wait in waits:
        log += [f"/f wait {wait} 0", "/f write 0 512"]
    trace = read_bytes("\n".join(log).encode(), tmp_path)
    assert trace.frame["at_ns"].to_list() == [ms * 1000 * US for ms in (0, 37, 37, 497)]
    silent = read_bytes(b"fio version 2 iolog\n/f write 0 512\n/f read 0 512\n", tmp_path)
    assert silent.frame["at_ns"].to_list() == [0, 0]
    assert "the log has no times: every request is at time 0" in silent.notes


def test_blkparse_lines_that_are_no_requests_and_lines_that_are_nothing(tmp_path: Path) -> None:
    write = "8,0 3 1 0.5 697 D W 8 + 8 [x]\n"
    others = "8,0 1 2 0.6 700 D N 8 + 8 [x]\n8,0 1 3 0.6 700 D R 36 (12 00) [x]\n"
    trace = read_bytes((write * 198 + others).encode(), tmp_path)
    assert trace.frame.height == 198
    assert (trace.unparsed_lines, trace.first_unparsed) == (0, None)
    assert trace.notes == ["2 requests left out: neither read, write, discard nor flush"]
    trace = read_bytes((write * 100 + "8,0 3 rubbish\n" + write * 98).encode(), tmp_path)
    assert (trace.frame.height, trace.unparsed_lines) == (198, 1)
    assert trace.first_unparsed == "line 101: '8,0 3 rubbish'"
