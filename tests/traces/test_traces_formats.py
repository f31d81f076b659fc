"""Every format: recognised by content alone, and read with the right units."""

from __future__ import annotations

from pathlib import Path

import pytest
from binary_traces import blktrace, capture, hp_srt, oracle_general, vscsi
from paths import ROOT

from floatgate.traces import FORMATS, TraceError, read_trace, write_parquet
from floatgate.traces.text import Head

SAMPLES = ROOT / "tests" / "data" / "traces"

Row = tuple[int, int, int, int, int]  # at_ns, op, device, offset, length


def parquet(folder: Path) -> bytes:
    path = folder / "made.parquet"
    write_parquet(read_trace(SAMPLES / "queue.blkparse"), path)
    return path.read_bytes()


BINARY = {"vscsi1": "vscsi", "vscsi2": "vscsi", "hp": "hp-srt", "oracle": "oracle-general"}
BINARY |= {"blktrace": "blktrace", "blktrace, big-endian": "blktrace", "parquet": "parquet"}
BINARY |= {"capture": "capture"}
TEXT = {
    "financial.spc": "spc",
    "usr.msr.csv": "msr",
    "window.heimdall": "heimdall",
    "three.disksim": "disksim",
    "tabs.disksim-pages": "disksim-pages",
    "queue.blkparse": "blkparse",
    "queued-only.blkparse": "blkparse",
    "completed.blkparse": "blkparse",
    "events.ftrace.txt": "block-events",
    "perf.script.txt": "block-events",
    "disk.biosnoop.txt": "biosnoop",
    "disk.iosnoop.txt": "iosnoop",
    "server.etw.csv": "etw",
    "job.fio2": "fio",
    "job.fio3": "fio",
    "homes.fiu": "fiu",
    "app.biotracer.txt": "biotracer",
    "pc.diskmon.txt": "diskmon",
    "io_traces.alibaba.csv": "alibaba",
    "cbs.tencent.csv": "tencent",
    "vdi.systor.csv": "systor17",
    "capture.floatgate.csv": "floatgate-csv",
}


def content(name: str, folder: Path) -> bytes:
    made = {"vscsi1": lambda: vscsi(1), "vscsi2": lambda: vscsi(2), "hp": hp_srt}
    made.update(oracle=oracle_general, parquet=lambda: parquet(folder), blktrace=blktrace)
    made["capture"] = capture
    made["blktrace, big-endian"] = lambda: blktrace(">")
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
    # Only the capture of a live drive has placement handles.
    handles = ["stream"] if form == "capture" else []
    assert trace.frame.columns == ["at_ns", "op", "device", "offset", "length", *handles]


def test_every_format_has_a_sample_a_doc_line_and_a_source() -> None:
    assert {row.name for row in FORMATS} == {*TEXT.values(), *BINARY.values()}
    assert all(row.doc and row.source and "\n" not in row.doc for row in FORMATS)
    page = (ROOT / "docs" / "traces.md").read_text()
    assert [row.name for row in FORMATS if f"| `{row.name}` |" not in page] == []


def test_a_binary_file_cut_inside_a_record_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "cut"
    path.write_bytes(vscsi(1) * 40 + b"\1\0\0")
    trace = read_trace(path)
    assert (trace.unparsed_lines, trace.first_unparsed) == (1, "record 241: 3 of 32 bytes")
    path.write_bytes(hp_srt()[:-8])
    with pytest.raises(TraceError, match="48 bytes left"):
        read_trace(path)


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
