"""Every format: recognised by content alone, and read with the right units."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from floatgate.traces import FORMATS, TraceError, read_trace, write_parquet
from floatgate.traces.text import Head

SAMPLES = Path(__file__).parent / "data" / "traces"

Row = tuple[int, int, int, int, int]  # at_ns, op, device, offset, length


def vscsi(version: int) -> bytes:
    rows = [(7, 0x2A, 4096, 100, 50), (8, 0x28, 512, 8, 1050), (9, 0x1A, 36, 0, 1060)]
    data = b""
    for serial, command, length, block, time in rows * 2:
        if version == 1:
            data += struct.pack("<IIIHHQQ", serial, length, 1, command, 0x100, block, time)
        else:
            data += struct.pack("<HHIIIQQQ", command, 0x200, serial, length, 1, block, time, 99)
    return data


def hp_srt() -> bytes:
    def record(kind: int, time: int, block: int, device: int, flags: int) -> bytes:
        words = [0] * 14
        words[:4] = [56, 4 << 16 | kind, 0, time]
        words[6:9] = [8192, block, 0x1F000000 | device << 8]
        words[11] = flags
        return struct.pack(">14i", *words)

    records = record(1, 44206, 1056, 1, 7) + record(2, 44300, 0, 0, 0) + record(1, 50000, 8, 4, 2)
    return b"$$TR_IOREC-1.3\0\nversion = 1.3;\n\f" + records


def oracle_general() -> bytes:
    rows = [(5, 9 << 40, 5000, 2), (5, 3, 100, -1), (6, 9 << 40, 4000, -1), (9, 12, 1, -1)]
    return b"".join(struct.pack("<IQIq", *row) for row in rows)


def parquet(folder: Path) -> bytes:
    path = folder / "made.parquet"
    write_parquet(read_trace(SAMPLES / "queue.blkparse"), path)
    return path.read_bytes()


BINARY = {"vscsi1": "vscsi", "vscsi2": "vscsi", "hp": "hp-srt", "oracle": "oracle-general"}
BINARY["parquet"] = "parquet"
TEXT = {
    "financial.spc": "spc",
    "usr.msr.csv": "msr",
    "window.heimdall": "heimdall",
    "three.disksim": "disksim",
    "tabs.disksim-pages": "disksim-pages",
    "queue.blkparse": "blkparse",
    "queued-only.blkparse": "blkparse",
    "job.fio2": "fio",
    "job.fio3": "fio",
    "app.biotracer.txt": "biotracer",
    "pc.diskmon.txt": "diskmon",
    "io_traces.alibaba.csv": "alibaba",
    "cbs.tencent.csv": "tencent",
    "vdi.systor.csv": "systor17",
    "capture.floatgate.csv": "floatgate-csv",
}


def content(name: str, folder: Path) -> bytes:
    made = {"vscsi1": lambda: vscsi(1), "vscsi2": lambda: vscsi(2), "hp": hp_srt}
    made.update(oracle=oracle_general, parquet=lambda: parquet(folder))
    return made[name]() if name in made else (SAMPLES / name).read_bytes()


def rows(path: Path, **options: object) -> list[Row]:
    return read_trace(path, **options).frame.rows()  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "form"), [*TEXT.items(), *BINARY.items()])
def test_each_sample_is_claimed_by_its_format_and_no_other(
    name: str, form: str, tmp_path: Path
) -> None:
    data = content(name, tmp_path)
    assert [row.name for row in FORMATS if row.claims(Head.of(data))] == [form]
    path = tmp_path / "unnamed"
    path.write_bytes(data)
    trace = read_trace(path)
    assert (trace.format, trace.unparsed_lines) == (form, 0)
    assert trace.frame.columns == ["at_ns", "op", "device", "offset", "length"]


def test_every_format_has_a_sample_a_doc_line_and_a_source() -> None:
    assert {row.name for row in FORMATS} == {*TEXT.values(), *BINARY.values()}
    assert all(row.doc and row.source and "\n" not in row.doc for row in FORMATS)
    page = (Path(__file__).parents[1] / "docs" / "traces.md").read_text()
    assert [row.name for row in FORMATS if f"| `{row.name}` |" not in page] == []


def test_spc_takes_sectors_bytes_and_seconds() -> None:
    assert rows(SAMPLES / "financial.spc") == [
        (0, 1, 0, 20941264 * 512, 8192),
        (2_335_000, 1, 0, 20939840 * 512, 8192),
        (4_496_000, 0, 1, 3072 * 512, 1536),
        (699_014_000, 1, 2, 3436288 * 512, 15872),
    ]


def test_msr_counts_windows_ticks_and_orders_hosts_and_disks() -> None:
    trace = read_trace(SAMPLES / "usr.msr.csv")
    assert trace.devices == ["usr_0", "usr_1", "web_2", "web_10"]
    assert trace.frame["at_ns"].to_list() == [0, 1332052600, 1379193700, 2332061600, 2393837100]
    assert trace.frame["device"].to_list() == [0, 0, 3, 1, 2]
    assert trace.notes == ["1 line stepped backwards in time; sorted by time"]


def test_blkparse_reads_one_action_only() -> None:
    trace = read_trace(SAMPLES / "queue.blkparse")
    assert trace.devices == ["8,0", "8,16"]
    assert trace.frame.rows() == [
        (0, 1, 0, 223490 * 512, 4096),
        (91_200, 0, 1, 4096 * 512, 8192),
        (191_200, 2, 1, 8192 * 512, 1 << 20),
        (291_200, 3, 0, 0, 0),
        (391_200, 3, 0, 0, 0),
        (391_200, 1, 0, 64 * 512, 4096),
    ]
    assert "6 lines left out: actions other than D, the one that is read" in trace.notes
    assert "1 request left out: neither read, write, discard nor flush" in trace.notes
    assert rows(SAMPLES / "queued-only.blkparse") == [(0, 1, 0, 223490 * 512, 4096)]


def test_fio_logs_have_waits_or_times_and_a_device_a_file() -> None:
    two = read_trace(SAMPLES / "job.fio2")
    assert two.devices == ["/dev/sda", "/dev/sdb"]
    assert two.frame.rows() == [
        (0, 1, 0, 0, 4096),
        (100_000, 0, 1, 8192, 4096),
        (350_000, 3, 0, 0, 0),
        (350_000, 2, 0, 4096, 8192),
    ]
    three = read_trace(SAMPLES / "job.fio3")
    assert three.frame["at_ns"].to_list() == [0, 15_000, 30_000, 80_000]
    assert three.frame["op"].to_list() == [1, 0, 3, 2]
    assert three.units.guessed == ("time taken as us, as fio writes it in version 3",)


def test_cloud_formats() -> None:
    alibaba = read_trace(SAMPLES / "io_traces.alibaba.csv")
    assert alibaba.devices == ["12", "419", "725"]
    assert alibaba.frame.rows()[0] == (0, 1, 1, 8792731648, 16384)
    assert alibaba.frame["at_ns"].to_list() == [0, 46_000, 85_000]
    tencent = rows(SAMPLES / "cbs.tencent.csv")
    assert tencent[1] == (0, 1, 2, 6338688 * 512, 4096)
    assert tencent[2] == (10**9, 0, 1, 1904106 * 512, 384 * 512)
    systor = rows(SAMPLES / "vdi.systor.csv")
    assert systor == [
        (0, 1, 0, 204800, 4096),
        (239_500, 0, 2, 8192, 512),
        (239_500, 0, 1, 0, 65536),
    ]


@pytest.mark.parametrize("version", [1, 2])
def test_vscsi_versions_agree_and_other_commands_are_told(version: int, tmp_path: Path) -> None:
    path = tmp_path / "disk"
    path.write_bytes(vscsi(version))
    trace = read_trace(path)
    assert trace.frame.rows()[::2] == [(0, 1, 0, 51200, 4096), (1_000_000, 0, 0, 4096, 512)]
    assert "2 records left out: SCSI commands that neither read, write nor flush" in trace.notes


def test_hp_srt_skips_records_that_are_no_io(tmp_path: Path) -> None:
    path = tmp_path / "week"
    path.write_bytes(hp_srt())
    trace = read_trace(path)
    assert trace.devices == ["1", "4"]
    assert trace.frame.rows() == [(0, 0, 0, 1056 * 512, 8192), (5_794_000, 1, 1, 4096, 8192)]
    assert trace.notes == ["1 record left out: no I/O"]


def test_a_binary_file_cut_inside_a_record_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "cut"
    path.write_bytes(vscsi(1) * 40 + b"\1\0\0")
    trace = read_trace(path)
    assert (trace.unparsed_lines, trace.first_unparsed) == (1, "record 241: 3 of 32 bytes")
    path.write_bytes(hp_srt()[:-8])
    with pytest.raises(TraceError, match="48 bytes left"):
        read_trace(path)


def test_oracle_general_gives_each_object_its_own_pages(tmp_path: Path) -> None:
    path = tmp_path / "objects"
    path.write_bytes(oracle_general())
    trace = read_trace(path)
    assert [row[3:] for row in trace.frame.rows()] == [
        (8192, 5000),
        (0, 100),
        (8192, 4000),
        (4096, 1),
    ]
    assert "no operations" in trace.notes[0]
    assert "made up" in trace.units.guessed[0]


@pytest.mark.parametrize(
    ("times", "unit"),
    [
        (["0", "1000000", "2000000"], "ns"),
        ([str(i * 30) for i in range(999)], "us"),
        (["0.0", "10.5", "20.25"], "ms"),
        ([f"{i / 2e6:.7f}" for i in range(999)], "s"),
        (["0", "0"], "ns"),
    ],
)
def test_the_time_unit_of_disksim_text_is_guessed_and_said(
    times: list[str], unit: str, tmp_path: Path
) -> None:
    path = tmp_path / "guess"
    path.write_text("".join(f"{time} 0 17 9 1\n" for time in times))
    trace = read_trace(path)
    assert trace.units.time == unit
    assert trace.units.guessed[0].startswith(f"time taken as {unit}: ")
    told = read_trace(path, units={"time": "us"})
    assert (told.units.time, told.units.guessed) == ("us", ())


@pytest.mark.parametrize("form", [row.name for row in FORMATS])
@pytest.mark.parametrize("name", [*TEXT, *BINARY])
def test_a_forced_format_reads_or_says_what_is_wrong(name: str, form: str, tmp_path: Path) -> None:
    path = tmp_path / "forced"
    data = content(name, tmp_path)
    for part in (data, data[: len(data) // 2], data[:1]):
        path.write_bytes(part)
        try:
            assert read_trace(path, format=form).frame.height > 0
        except TraceError as error:
            assert "\n" not in str(error)
