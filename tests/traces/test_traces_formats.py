"""Every format is recognised by content, and rules for all: numbers, units, order, figures."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from binary_traces import blktrace, capture, hp_srt, oracle_general, vscsi
from paths import DATA, ROOT
from test_traces_values import EXPECTED
from trace_rows import READ, SCALES, SECTOR, read_bytes

from floatgate.traces import FORMATS, TraceError, read_trace, trace_info, write_parquet
from floatgate.traces.text import Head


def parquet(folder: Path) -> bytes:
    path = folder / "made.parquet"
    write_parquet(read_trace(DATA / "queue.blkparse"), path)
    return path.read_bytes()


BINARY = {"vscsi1": "vscsi", "vscsi2": "vscsi", "hp": "hp-srt", "oracle": "oracle-general"}
BINARY |= {"blktrace": "blktrace", "blktrace, big-endian": "blktrace", "parquet": "parquet"}
BINARY |= {"capture": "capture"}
TEXT = {name: form for name, (form, *_) in EXPECTED.items()}


def content(name: str, folder: Path) -> bytes:
    made = {"vscsi1": lambda: vscsi(1), "vscsi2": lambda: vscsi(2), "hp": hp_srt}
    made.update(oracle=oracle_general, parquet=lambda: parquet(folder), blktrace=blktrace)
    made["capture"] = capture
    made["blktrace, big-endian"] = lambda: blktrace(">")
    return made[name]() if name in made else (DATA / name).read_bytes()


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
    page = (ROOT / "docs" / "reference" / "workloads.md").read_text()
    assert [row.name for row in FORMATS if f"| `{row.name}` |" not in page] == []


def test_a_binary_file_cut_inside_a_record_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "cut"
    path.write_bytes(vscsi(1) * 40 + b"\1\0\0")
    trace = read_trace(path)
    assert (trace.unparsed_lines, trace.first_unparsed) == (1, "record 241: 3 of 32 bytes")
    path.write_bytes(hp_srt()[:-8])
    with pytest.raises(TraceError, match="48 bytes left"):
        read_trace(path)


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


@pytest.mark.parametrize("unit", SCALES)
def test_numbers_in_text_are_below_two_to_the_fifty(unit: str, tmp_path: Path) -> None:
    last, far = (1 << 50) - 1, 1 << 50
    lines = [f"{t} 0 {last} {last} 1\n" for t in range(300)]
    lines += [f"301 0 {far} 8 1\n", f"302 0 8 {far} 1\n", f"303 0 {'9' * 23} 8 1\n"]
    units = {"time": "ns", "address": unit, "length": unit}
    trace = read_bytes("".join(lines).encode(), tmp_path, units=units)
    assert set(trace.frame["offset"]) == set(trace.frame["length"]) == {last * SCALES[unit]}
    assert (trace.frame.height, trace.unparsed_lines) == (300, 3)
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


# 100 requests within 1 ms are 100,000 a second, the highest rate assumed for one device.
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
    # Polars keeps the order of equal rows only on request. This sort reverses it otherwise.
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


def test_times_may_span_two_to_the_sixty_three_nanoseconds(tmp_path: Path) -> None:
    most = (1 << 63) - 1
    trace = read_bytes(f"0 0 9 8 1\n{most} 0 9 8 1\n".encode(), tmp_path, units={"time": "ns"})
    assert trace.frame["at_ns"].to_list() == [0, most]
    with pytest.raises(TraceError, match=f"times from 5 to {most + 6} ns span more than 292 years"):
        read_bytes(f"5 0 9 8 1\n{most + 6} 0 9 8 1\n".encode(), tmp_path, units={"time": "ns"})


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
        "handles": None,
        "trimmed_bytes": 1 << 20,
        "aligned_share": 0.5,
        "unparsed_lines": 0,
        "checked": None,
        "first_unparsed": None,
        "units": {"time": "us", "address": "bytes", "length": "bytes"},
        "guessed": [],
        "notes": [],
    }
