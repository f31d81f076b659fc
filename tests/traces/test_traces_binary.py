"""Binary formats, field by field: records built by hand, and the rows that they encode."""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path

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
from test_traces_formats import BINARY, content
from trace_rows import FLUSH, ISSUED, PAGE, READ, SECTOR, US, WRITE, S, read_bytes, units_of

from floatgate.traces import TraceError, read_trace

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
    far = 5 << 32  # a 16-byte command addresses blocks beyond 32 bits
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
    # A record of the right kind that is too short for an I/O is left out.
    short = struct.pack(">10i", 40, 4 << 16 | 1, *range(8))
    assert read_bytes(hp_srt() + short, tmp_path).notes == ["2 records left out: no I/O"]


def test_hp_srt_counts_a_negative_block_and_knows_a_header_alone(tmp_path: Path) -> None:
    good = b"".join(hp_record(1, second, 0, second, 512, 0, 1) for second in range(200))
    trace = read_bytes(HP_HEADER + good + hp_record(1, 300, 0, -4, 512, 0, 1), tmp_path)
    assert (trace.frame.height, trace.unparsed_lines) == (200, 1)
    assert trace.first_unparsed == "a record with a negative time, block or length"
    with pytest.raises(TraceError, match="the trace has no requests"):
        read_bytes(HP_HEADER, tmp_path)


def test_hp_srt_with_an_impossible_record_is_damaged(tmp_path: Path) -> None:
    good = hp_record(1, 5, 0, 8, 512, 0, 1)
    for size in (0, 4, 58, -56):
        bad = struct.pack(">i", size) + good[4:]
        where = len(HP_HEADER) + 56
        with pytest.raises(TraceError, match=f"record 2 at byte {where} says .* {size} bytes"):
            read_bytes(HP_HEADER + good + bad + good * 300, tmp_path)


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
    other, queued, one_cpu = trace.notes
    assert queued == "action Q read: the trace has no D"
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


EXTREMES = [b"\xff\xff\xff\xff", b"\x80\0\0\0", b"\0\0\0\x80", b"\0\0\x01\0"]


@pytest.mark.parametrize("name", [name for name in BINARY if name != "parquet"])
def test_an_extreme_number_in_any_field_is_a_trace_or_its_error(name: str, tmp_path: Path) -> None:
    """Any word of the first records may be damaged: every field must have a value or an error."""
    sample, path = content(name, tmp_path), tmp_path / "file"
    for at in range(0, min(len(sample), 112), 4):
        for extreme in EXTREMES:
            path.write_bytes(sample[:at] + extreme + sample[at + 4 :])
            with contextlib.suppress(TraceError):
                read_trace(path, format=BINARY[name])


def test_a_capture_names_the_record_with_a_stream_that_cannot_be(tmp_path: Path) -> None:
    sample = bytearray(content("capture", tmp_path))
    sample[16 + 32 + 30] = 1
    with pytest.raises(TraceError, match="record 2: stream 65536; expected 0 to 65535"):
        read_bytes(bytes(sample), tmp_path)
    sample[16 + 24] = 9
    with pytest.raises(TraceError, match="record 1: operation 9; expected 0 to 3"):
        read_bytes(bytes(sample), tmp_path)


def test_an_hp_record_before_its_epoch_is_unparsed(tmp_path: Path) -> None:
    records = hp_record(1, 7, 1, 8, 512, 1, 0) * 200
    trace = read_bytes(HP_HEADER + records + hp_record(1, -7, 1, 8, 512, 1, 0), tmp_path)
    assert (trace.frame.height, trace.unparsed_lines) == (200, 1)
