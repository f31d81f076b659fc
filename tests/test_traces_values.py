"""What each sample says, field by field: time, operation, device, offset and length of its rows.

Every expected number is the sample's own text times the unit that the format defines.
"""

from __future__ import annotations

import struct
from itertools import accumulate, pairwise
from pathlib import Path

import polars as pl
import pytest
from binary_traces import (
    COMPLETE,
    DISCARDS,
    HP_HEADER,
    ISSUE,
    QUEUE,
    READS,
    WRITES,
    blk,
    blktrace,
    hp_record,
    hp_srt,
    oracle_general,
    vscsi_record,
)

from floatgate.traces import Trace, TraceError, read_trace, trace_info, write_parquet

SAMPLES = Path(__file__).parent / "data" / "traces"

READ, WRITE, TRIM, FLUSH = range(4)
SECTOR, PAGE, MIB = 512, 4096, 1 << 20
US, MS, S = 10**3, 10**6, 10**9

Row = tuple[int, int, int, int, int]  # at_ns, op, device, offset, length

# What blkparse prints and what blktrace writes of the same requests.
ISSUED: list[Row] = [
    (0, WRITE, 0, 223490 * SECTOR, 8 * SECTOR),
    (91_200, READ, 1, 4096 * SECTOR, 16 * SECTOR),
    (191_200, TRIM, 1, 8192 * SECTOR, 2048 * SECTOR),
    (291_200, FLUSH, 0, 0, 0),
    (391_200, FLUSH, 0, 0, 0),
    (391_200, WRITE, 0, 64 * SECTOR, 8 * SECTOR),
]

# Sample: time, address and length unit; names of the devices; rows in order of time.
EXPECTED: dict[str, tuple[str, list[str], list[Row]]] = {
    "financial.spc": (
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
        "ms bytes bytes",
        ["0"],
        [
            (0, READ, 0, 11562803200, 4096),
            (250 * US, WRITE, 0, 512, 36864),
            (3_125 * US, WRITE, 0, 3159347200, 7680),
        ],
    ),
    "three.disksim": (
        "ns sectors sectors",
        ["0", "1"],
        [
            (0, WRITE, 0, 303567 * SECTOR, 7 * SECTOR),
            (26_214_000, READ, 1, 240840 * SECTOR, 6 * SECTOR),
            (78_643_000, WRITE, 0, 303574 * SECTOR, 8 * SECTOR),
        ],
    ),
    "tabs.disksim-pages": (
        "ms sectors pages",
        ["0"],
        [
            (0, WRITE, 0, 303574 * SECTOR, 1 * PAGE),
            (78_643_000 - 26_214_000, READ, 0, 240840 * SECTOR, 2 * PAGE),
        ],
    ),
    "queue.blkparse": ("s sectors sectors", ["8,0", "8,16"], ISSUED),
    "queued-only.blkparse": (
        "s sectors sectors",
        ["8,0"],
        [(0, WRITE, 0, 223490 * SECTOR, 8 * SECTOR)],
    ),
    "job.fio2": (
        "us bytes bytes",
        ["/dev/sda", "/dev/sdb"],
        [
            (0, WRITE, 0, 0, 4096),
            (100 * US, READ, 1, 8192, 4096),
            (350 * US, FLUSH, 0, 0, 0),
            (350 * US, TRIM, 0, 4096, 8192),
        ],
    ),
    "job.fio3": (
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
        "ns sectors sectors",
        ["6,0", "8,17"],
        [
            (0, WRITE, 0, 904265560 * SECTOR, 8 * SECTOR),
            (20_000, READ, 0, 512 * SECTOR, 16 * SECTOR),
            (1 * S, WRITE, 1, 1048576 * SECTOR, 8 * SECTOR),
        ],
    ),
    "app.biotracer.txt": (
        "s sectors bytes",
        ["0"],
        [
            (0, WRITE, 0, 4043872 * SECTOR, 49152),
            (171_915_740 - 168_065_791, WRITE, 0, 4043968 * SECTOR, 4096),
            (202_961_469 - 168_065_791, READ, 0, 52432368 * SECTOR, 4096),
        ],
    ),
    "pc.diskmon.txt": (
        "s sectors sectors",
        ["0", "1"],
        [
            (0, WRITE, 0, 3271215 * SECTOR, 8 * SECTOR),
            (0, READ, 1, 108745397 * SECTOR, 64 * SECTOR),
            (500_000 * US - 16_375 * US, WRITE, 0, 0, 1 * SECTOR),
        ],
    ),
    "io_traces.alibaba.csv": (
        "us bytes bytes",
        ["12", "419", "725"],
        [
            (0, WRITE, 1, 8792731648, 16384),
            (46 * US, READ, 2, 59110326272, 360448),
            (85 * US, READ, 0, 59110686720, 466944),
        ],
    ),
    "cbs.tencent.csv": (
        "s sectors sectors",
        ["1063", "1360", "1627"],
        [
            (0, READ, 0, 12910952 * SECTOR, 128 * SECTOR),
            (0, WRITE, 2, 6338688 * SECTOR, 8 * SECTOR),
            (1 * S, READ, 1, 1904106 * SECTOR, 384 * SECTOR),
        ],
    ),
    "vdi.systor.csv": (
        "s bytes bytes",
        ["0", "1", "4"],
        [
            (0, WRITE, 0, 204800, 4096),
            (239_500, READ, 2, 8192, 512),
            (239_500, READ, 1, 0, 65536),
        ],
    ),
    "capture.floatgate.csv": (
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


def read_bytes(data: bytes, folder: Path, **options: object) -> Trace:
    path = folder / "sample"
    path.write_bytes(data)
    return read_trace(path, **options)  # type: ignore[arg-type]


def units_of(trace: Trace) -> str:
    return f"{trace.units.time} {trace.units.address} {trace.units.length}"


def test_every_text_sample_is_held_by_value() -> None:
    assert {path.name for path in SAMPLES.iterdir()} == {*EXPECTED}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_text_sample_has_these_rows(name: str) -> None:
    trace = read_trace(SAMPLES / name)
    units, devices, rows = EXPECTED[name]
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
    ],
    "job.fio2": ["8 lines left out: add, open, close or wait"],
    "job.fio3": ["3 lines left out: add, open, close or wait"],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_what_a_sample_leaves_out_is_said_and_nothing_else(name: str) -> None:
    idle = "an empty line or a comment"
    notes = [note for note in read_trace(SAMPLES / name).notes if idle not in note]
    assert notes == NOTES.get(name, [])


GUESSES = {
    "financial.spc": ["addresses taken as 512-byte sectors"],
    "window.heimdall": ["addresses taken as bytes", "lengths taken as bytes", "time taken as ms"],
    "three.disksim": ["time taken as ns"],
    "tabs.disksim-pages": ["lengths taken as 4 KiB pages", "time taken as ms"],
    "job.fio3": ["time taken as us"],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_unit_is_called_a_guess_where_the_format_leaves_it_open(name: str) -> None:
    guessed = read_trace(SAMPLES / name).units.guessed
    expected = GUESSES.get(name, [])
    assert len(guessed) == len(expected)
    assert all(text.startswith(start) for text, start in zip(guessed, expected, strict=True))


SCALES = {"bytes": 1, "sectors": 512, "pages": 4096}
TICKS = {"ns": 1, "100ns": 100, "us": 10**3, "ms": 10**6, "s": 10**9}


@pytest.mark.parametrize("name", EXPECTED)
def test_each_unit_of_each_format_can_be_overridden(name: str) -> None:
    units, devices, rows = EXPECTED[name]
    time, address, length = units.split()
    for told in TICKS:
        at = [row[0] * TICKS[told] // TICKS[time] for row in rows]
        trace = read_trace(SAMPLES / name, units={"time": told})
        assert trace.frame["at_ns"].to_list() == at
        assert units_of(trace) == f"{told} {address} {length}"
        assert not any(text.startswith("time") for text in trace.units.guessed)
    for told in SCALES:
        offsets = [row[3] * SCALES[told] // SCALES[address] for row in rows]
        lengths = [row[4] * SCALES[told] // SCALES[length] for row in rows]
        moved = read_trace(SAMPLES / name, units={"address": told})
        longer = read_trace(SAMPLES / name, units={"length": told})
        assert moved.frame["offset"].to_list() == offsets
        assert longer.frame["length"].to_list() == lengths
        assert moved.frame["length"].to_list() == [row[4] for row in rows]
        assert longer.frame["offset"].to_list() == [row[3] for row in rows]
        assert not any(text.startswith("address") for text in moved.units.guessed)
        assert not any(text.startswith("length") for text in longer.units.guessed)
        assert moved.devices == devices


# SCSI: READ and WRITE of 6, 10, 12 and 16 bytes, SYNCHRONIZE CACHE of 10 and 16 bytes.
COMMANDS = {
    0x08: READ,
    0x28: READ,
    0xA8: READ,
    0x88: READ,
    0x0A: WRITE,
    0x2A: WRITE,
    0xAA: WRITE,
    0x8A: WRITE,
    0x35: FLUSH,
    0x91: FLUSH,
}


@pytest.mark.parametrize("version", [1, 2])
def test_vscsi_knows_each_length_of_each_command(version: int, tmp_path: Path) -> None:
    far = 5 << 32  # a 16-byte command is for blocks beyond 32 bits
    data = b"".join(
        vscsi_record(version, command, 1024 + index, far + index, (7 << 32) + 10 * index, index)
        for index, command in enumerate(COMMANDS)
    )
    trace = read_bytes(data, tmp_path)
    assert units_of(trace) == "us sectors bytes"
    assert trace.frame.rows() == [
        (10 * US * index, op, 0, *((0, 0) if op == FLUSH else ((far + index) * 512, 1024 + index)))
        for index, op in enumerate(COMMANDS.values())
    ]
    assert trace.notes == []


@pytest.mark.parametrize("version", [1, 2])
def test_vscsi_leaves_other_commands_out_and_says_so(version: int, tmp_path: Path) -> None:
    inquiry = vscsi_record(version, 0x12, 36, 0, 5)
    write = vscsi_record(version, 0x8A, 512, 3, 6)
    trace = read_bytes(inquiry + write + write + inquiry, tmp_path)
    assert trace.frame.rows() == [(0, WRITE, 0, 1536, 512)] * 2
    assert trace.notes == ["2 records left out: SCSI commands that neither read, write nor flush"]


def test_vscsi_of_another_version_is_not_claimed(tmp_path: Path) -> None:
    records = [(1, 512, 1, 0x2A, version << 8, 8, 5) for version in (1, 1, 1, 3)]
    with pytest.raises(TraceError, match="no known trace format"):
        read_bytes(b"".join(struct.pack("<IIIHHQQ", *row) for row in records), tmp_path)


def test_hp_srt_rows(tmp_path: Path) -> None:
    trace = read_bytes(hp_srt(), tmp_path)
    assert (trace.devices, units_of(trace)) == (["1", "4"], "us sectors bytes")
    assert trace.frame.rows() == [
        (0, READ, 0, 1056 * SECTOR, 8192),
        (2 * S + (50000 - 44206) * US, WRITE, 1, 8 * SECTOR, 1024),
    ]
    assert trace.notes == ["1 record left out: no I/O"]
    # A record of the right kind, too short for the words of an I/O, is none.
    short = struct.pack(">10i", 40, 4 << 16 | 1, *range(8))
    assert read_bytes(hp_srt() + short, tmp_path).notes == ["2 records left out: no I/O"]


def test_hp_srt_counts_a_negative_block_and_knows_a_header_alone(tmp_path: Path) -> None:
    good = b"".join(hp_record(1, second, 0, second, 512, 0, 1) for second in range(200))
    trace = read_bytes(HP_HEADER + good + hp_record(1, 300, 0, -4, 512, 0, 1), tmp_path)
    assert (trace.frame.height, trace.unparsed_lines) == (200, 1)
    assert trace.first_unparsed == "a record with a negative block or length"
    with pytest.raises(TraceError, match="the trace has no requests"):
        read_bytes(HP_HEADER, tmp_path)


def test_oracle_general_gives_each_object_its_own_pages(tmp_path: Path) -> None:
    trace = read_bytes(oracle_general(), tmp_path)
    # Objects 3, 12 and 9 << 40 in this order, of at most 4096, 8192 and 5000 bytes: 1, 2, 2 pages.
    assert trace.frame.rows() == [
        (0, READ, 0, 3 * PAGE, 5000),
        (0, READ, 0, 1 * PAGE, 100),
        (1 * S, READ, 0, 3 * PAGE, 4000),
        (4 * S, READ, 0, 1 * PAGE, 8192),
        (4 * S, READ, 0, 0, 4096),
    ]
    assert trace.notes == ["the format holds no operations: every request is a read"]
    assert "made up" in trace.units.guessed[0]


@pytest.mark.parametrize("order", ["<", ">"])
def test_blktrace_says_what_blkparse_prints_of_it(order: str, tmp_path: Path) -> None:
    trace = read_bytes(blktrace(order), tmp_path)
    assert trace.frame.rows() == ISSUED
    assert (trace.devices, units_of(trace)) == (["8,0", "8,16"], "ns sectors bytes")
    assert trace.notes == [
        "2 records left out: actions other than D, the one that is read",
        "1 request left out: neither read, write, discard nor flush",
    ]


def test_blktrace_without_issues_is_read_from_the_queue(tmp_path: Path) -> None:
    data = blk(70, 8, 1024, QUEUE, READS, device=(259, 3), cpu=5)
    data += blk(90, 8, 1024, COMPLETE, READS, device=(259, 3), cpu=5)
    trace = read_bytes(data, tmp_path)
    assert (trace.devices, trace.frame.rows()) == (["259,3"], [(0, READ, 0, 4096, 1024)])
    other, one_cpu = trace.notes
    assert other == "1 record left out: actions other than Q, the one that is read"
    assert one_cpu.startswith("all records are of CPU 5; blktrace writes a file for each CPU")


def test_blktrace_files_of_several_cpus_may_be_joined(tmp_path: Path) -> None:
    parts = [
        b"".join(blk(100 * n + cpu, 8 * n, 512, ISSUE, WRITES, cpu=cpu) for n in range(5))
        for cpu in range(3)
    ]
    trace = read_bytes(b"".join(parts), tmp_path)
    assert trace.frame["at_ns"].to_list() == [100 * n + cpu for n in range(5) for cpu in range(3)]
    assert trace.notes == ["2 lines stepped backwards in time; sorted by time"]


def test_blktrace_that_is_damaged(tmp_path: Path) -> None:
    whole = blk(0, 8, 512, ISSUE, WRITES) * 200
    for cut, left in ((blk(0, 8, 512, ISSUE, WRITES)[:47], "47 of 48"), (b"\x07", "1 of 48")):
        trace = read_bytes(whole + cut, tmp_path)
        assert (trace.frame.height, trace.unparsed_lines) == (200, 1)
        assert trace.first_unparsed == f"record 201: {left} bytes"
    short = blk(0, 8, 512, ISSUE, WRITES, more=b"x" * 10)[:-1]
    assert read_bytes(whole + short, tmp_path).first_unparsed == "record 201: 57 of 58 bytes"
    for magic in (0x65617406, 0x12345678):
        with pytest.raises(TraceError, match=f"record 201 at byte 9600 begins with {magic:#x}"):
            read_bytes(whole + blk(0, 8, 512, ISSUE, WRITES, magic=magic), tmp_path)
    with pytest.raises(TraceError, match="version 7"):
        read_bytes(blk(0, 8, 512, ISSUE, WRITES, magic=0x65617408), tmp_path)


def test_binary_addresses_out_of_range_are_unparsed_records(tmp_path: Path) -> None:
    last, far = (1 << 50) - 1, 1 << 50
    fine = blk(0, last, 512, ISSUE, WRITES) * 200
    trace = read_bytes(fine + blk(0, far, 512, ISSUE, WRITES | DISCARDS), tmp_path)
    assert set(trace.frame["offset"]) == {last * 512}
    assert (trace.frame.height, trace.unparsed_lines) == (200, 1)
    told = f"(offset {far}, length 512; expected 0 to 2^50 - 1)"
    assert trace.first_unparsed == f"record 201 {told}"
    fine = vscsi_record(1, 0x8A, 512, last, 7) * 200
    trace = read_bytes(fine + vscsi_record(1, 0x8A, 512, far, 7), tmp_path)
    assert (trace.frame.height, trace.first_unparsed) == (200, f"record 201 {told}")


@pytest.mark.parametrize("unit", SCALES)
def test_numbers_in_text_are_below_two_to_the_fifty(unit: str, tmp_path: Path) -> None:
    last, far = (1 << 50) - 1, 1 << 50
    lines = [f"{t} 0 {last} {last} 1\n" for t in range(300)]
    lines += [f"301 0 {far} 8 1\n", f"302 0 8 {far} 1\n"]
    units = {"time": "ns", "address": unit, "length": unit}
    trace = read_bytes("".join(lines).encode(), tmp_path, units=units)
    assert set(trace.frame["offset"]) == set(trace.frame["length"]) == {last * SCALES[unit]}
    assert (trace.frame.height, trace.unparsed_lines) == (300, 2)
    assert trace.first_unparsed == (
        f"line 301: '301 0 {far} 8 1' (offset '{far}'; expected 0 to 2^50 - 1)"
    )


def test_numbers_in_frames_are_below_two_to_the_fifty() -> None:
    last, far = (1 << 50) - 1, 1 << 50
    frame = pl.DataFrame({"at_ns": [0], "op": [0], "offset": [last], "length": [last]})
    assert read_trace(frame).frame.rows() == [(0, READ, 0, last, last)]
    for column in ("offset", "length"):
        with pytest.raises(TraceError, match=f"column {column}: expected .* to {last} "):
            read_trace(frame.with_columns(pl.lit(far).alias(column)))
    first, end = -(1 << 62), (1 << 62) - 1
    frame = pl.DataFrame({"at_ns": [first, end], "op": [0, 3], "offset": [0, 0], "length": [1, 0]})
    assert read_trace(frame.head(1)).frame["at_ns"].to_list() == [0]
    assert read_trace(frame).frame["at_ns"].to_list() == [0, end - first]
    with pytest.raises(TraceError, match="column at_ns"):
        read_trace(frame.with_columns(at_ns=pl.col("at_ns") - 1))
    with pytest.raises(TraceError, match="column at_ns"):
        read_trace(frame.with_columns(at_ns=pl.col("at_ns") + 1))


# 100 requests within 1 ms are 100,000 a second, the most that one device is taken to serve.
RATES = [
    (1, 1_000_000, "ns"),
    (1, 999_999, "us"),
    (2, 500_000, "ns"),
    (2, 499_999, "us"),
    (4, 250_000, "ns"),
    (4, 249_999, "us"),
    (1, 1_000, "us"),
    (1, 999, "ms"),
    (1, 0, "ns"),
]


@pytest.mark.parametrize(("devices", "ticks", "unit"), RATES)
def test_whole_times_are_the_first_unit_with_a_rate_that_a_device_can_serve(
    devices: int, ticks: int, unit: str, tmp_path: Path
) -> None:
    times = [*range(99), ticks] if ticks >= 99 else [0] * 100
    lines = [f"{time} {n % devices} {n * 8 + 1} 8 1\n" for n, time in enumerate(times)]
    trace = read_bytes("".join(lines).encode(), tmp_path)
    assert (trace.units.time, len(trace.devices)) == (unit, devices)
    said = trace.units.guessed[0]
    assert said.startswith(f"time taken as {unit}: times are whole numbers")
    finer = {"us": "ns", "ms": "us"}.get(unit)
    assert ("requests/s" in said) == (finer is not None)
    assert finer is None or f"{finer} would mean more than 100,000 requests/s" in said


@pytest.mark.parametrize(("milliseconds", "unit"), [("1.0", "ms"), ("0.999999", "s")])
def test_times_with_a_fraction_are_ms_or_s(milliseconds: str, unit: str, tmp_path: Path) -> None:
    times = [*(f"0.{n:06}" for n in range(99)), milliseconds]
    trace = read_bytes("".join(f"{t} 0 9 8 1\n" for t in times).encode(), tmp_path)
    assert trace.units.time == unit
    assert "times are numbers with a fraction" in trace.units.guessed[0]


def test_only_all_multiples_of_512_make_bytes(tmp_path: Path) -> None:
    lines = ["0.5 0 512 1024 1\n", "1.5 0 4096 512 0\n"]
    assert read_bytes("".join(lines).encode(), tmp_path).format == "heimdall"
    for odd in ("2.5 0 513 512 1\n", "2.5 0 512 511 1\n", "2.5 0 768 512 1\n"):
        assert read_bytes("".join([*lines, odd]).encode(), tmp_path).format == "disksim"


def test_requests_of_equal_time_keep_the_order_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Polars keeps the order of equals only where that is asked for. Here it never does otherwise.
    kind = pl.DataFrame.sort

    def unkind(
        frame: pl.DataFrame, *by: str, maintain_order: bool = False, **how: bool
    ) -> pl.DataFrame:
        rows = frame if maintain_order else frame.reverse()
        return kind(rows, *by, maintain_order=True, **how)

    monkeypatch.setattr(pl.DataFrame, "sort", unkind)
    times = [n * 7919 % 7 for n in range(6000)]
    lines = [f"{time} 0 {n + 1} 1 {n % 2}\n" for n, time in enumerate(times)]
    trace = read_bytes("".join(lines).encode(), tmp_path, units={"time": "us"})
    order = sorted(range(6000), key=lambda n: times[n])
    assert trace.frame["offset"].to_list() == [(n + 1) * SECTOR for n in order]
    assert trace.frame["op"].to_list() == [1 - n % 2 for n in order]
    backwards = sum(after < before for before, after in pairwise(times))
    assert trace.notes == [f"{backwards:,} lines stepped backwards in time; sorted by time"]


def test_the_figures_of_a_trace_by_hand(tmp_path: Path) -> None:
    rows = [
        "timestamp_us,op,offset_bytes,size_bytes",
        "0,W,0,8192",  # pages 0 and 1, aligned
        "1000,W,4096,4096",  # page 1 again, aligned
        "2000,R,6144,4096",  # pages 1 and 2, not aligned
        "3000,W,20480,512",  # page 5, not aligned
        "4000,T,0,1048576",
        "2500000,F,0,0",
    ]
    info = trace_info(read_bytes("\n".join(rows).encode(), tmp_path))
    assert info == {
        "name": "sample",
        "format": "floatgate-csv",
        "requests": 6,
        "reads": 1,
        "writes": 3,
        "trims": 1,
        "flushes": 1,
        "footprint_pages": 4,
        "mean_write_bytes": (8192 + 4096 + 512) / 3,
        "mean_read_bytes": 4096,
        "duration_s": 2.5,
        "written_pages": 3,
        "page_writes_per_written_page": 4 / 3,
        "devices": 1,
        "device_names": ["0"],
        "trimmed_bytes": 1 << 20,
        "aligned_share": 0.5,
        "unparsed_lines": 0,
        "first_unparsed": None,
        "units": {"time": "us", "address": "bytes", "length": "bytes"},
        "guessed": [],
        "notes": [],
    }


@pytest.mark.parametrize("name", EXPECTED)
def test_parquet_gives_every_sample_back(name: str, tmp_path: Path) -> None:
    trace = read_trace(SAMPLES / name)
    write_parquet(trace, tmp_path / "copy.parquet")
    back = read_trace(tmp_path / "copy.parquet")
    assert back.frame.rows() == EXPECTED[name][2]
    assert back.devices == EXPECTED[name][1]
    units = ", ".join(EXPECTED[name][0].split())
    told = [f"imported from {trace.format} ({units})", *trace.notes, *trace.units.guessed]
    assert back.notes == told


def test_fio_waits_add_up_and_other_times_are_given(tmp_path: Path) -> None:
    waits = [3, 40, 500]
    log = ["fio version 2 iolog", "/f add", "/f open"]
    for wait in waits:
        log += [f"/f wait {wait} 0", "/f write 0 512"]
    trace = read_bytes("\n".join(log).encode(), tmp_path)
    sums = list(accumulate(waits))
    assert trace.frame["at_ns"].to_list() == [(at - sums[0]) * US for at in sums]
    silent = read_bytes(b"fio version 2 iolog\n/f write 0 512\n/f read 0 512\n", tmp_path)
    assert silent.frame["at_ns"].to_list() == [0, 0]
    assert "the log has no times: every request is at time 0" in silent.notes


def test_times_may_span_two_to_the_sixty_three_nanoseconds(tmp_path: Path) -> None:
    most = (1 << 63) - 1
    trace = read_bytes(f"0 0 9 8 1\n{most} 0 9 8 1\n".encode(), tmp_path, units={"time": "ns"})
    assert trace.frame["at_ns"].to_list() == [0, most]
    with pytest.raises(TraceError, match="span more than 292 years"):
        read_bytes(f"5 0 9 8 1\n{most + 6} 0 9 8 1\n".encode(), tmp_path, units={"time": "ns"})


def test_oracle_general_is_known_by_accesses_that_lie_ahead(tmp_path: Path) -> None:
    def record(later: int) -> bytes:
        return struct.pack("<IQIq", 5, 7, 4096, later)

    never = (-1, (1 << 63) - 1)
    for later in (1, (1 << 48) - 1, *never):
        assert read_bytes(record(later), tmp_path).format == "oracle-general"
    for later in (0, -2, 1 << 48):
        with pytest.raises(TraceError, match="no known trace format"):
            read_bytes(record(later), tmp_path)
    assert read_bytes(record(1) + record(2), tmp_path).frame.height == 2
    with pytest.raises(TraceError, match="no known trace format"):
        read_bytes(record(1) + record(1), tmp_path)


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
