"""Delimited text whose columns the user names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import Cli

from floatgate.traces import Trace, TraceError, read_trace

READ, WRITE, TRIM, FLUSH = range(4)
BY_NUMBER = "time=3,op=5,offset=2,length=4"
BY_NAME = "time=ts,op=kind,offset=start,length=size"
NAMES = ["id", "start", "ts", "size", "kind"]
CELLS = [["a", "4096", "10", "512", "r"], ["b", "8192", "12", "1024", "Write"]]
BYTES = {"time": "us", "address": "bytes", "length": "bytes"}
ROWS = [(0, READ, 0, 4096, 512), (2_000, WRITE, 0, 8192, 1024)]


def read(text: str, folder: Path, columns: Any = BY_NUMBER, **options: Any) -> Trace:
    path = folder / "mine.txt"
    path.write_bytes(text.encode())
    return read_trace(path, columns=columns, **{"units": BYTES, **options})


def failure(text: str, folder: Path, columns: Any = BY_NUMBER, **options: Any) -> str:
    with pytest.raises(TraceError) as caught:
        read(text, folder, columns, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def lines(gap: str, *rows: list[str], end: str = "\n") -> str:
    return "".join(gap.join(row) + end for row in rows)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("gap", ["\t", ",", ";", "|", " ", "  \t ", ", ", " ; "])
def test_every_delimiter_is_found_by_number_and_by_name(gap: str, end: str, tmp_path: Path) -> None:
    plain = lines(gap, *CELLS, end=end)
    headed = lines(gap, NAMES, *CELLS, end=end)
    assert read(plain, tmp_path).frame.rows() == ROWS
    assert read(headed, tmp_path, BY_NAME).frame.rows() == ROWS
    assert read(headed, tmp_path).frame.rows() == ROWS
    with_disk = read(headed, tmp_path, f"{BY_NAME},device=id")
    assert with_disk.devices == ["a", "b"]
    assert with_disk.frame["device"].to_list() == [0, 1]


def test_a_delimiter_must_give_all_columns(tmp_path: Path) -> None:
    # A comma splits every line, too, but into two columns only.
    text = lines(" ", ["8,0", "4096", "10", "512", "r"], ["8,0", "8192", "12", "1024", "w"])
    assert read(text, tmp_path).frame.rows() == ROWS
    assert read(text, tmp_path, f"{BY_NUMBER},device=1").devices == ["8,0"]


def test_quoted_and_empty_cells_and_columns_behind(tmp_path: Path) -> None:
    text = '"a","4096"," 10 ","512","r","more, of it"\n"","8192",12,"1024",W,\n'
    assert read(text, tmp_path).frame.rows() == ROWS
    empty = lines("\t", ["", "4096", "10", "512", "r"], ["", "8192", "12", "1024", "w"])
    assert read(empty, tmp_path).frame.rows() == ROWS


def test_a_mapping_takes_numbers_and_any_name(tmp_path: Path) -> None:
    text = "id;start=;ts,us;size;kind\n" + lines(";", *CELLS)
    columns = {"time": "ts,us", "op": 5, "offset": "start=", "length": "size"}
    assert read(text, tmp_path, columns).frame.rows() == ROWS


def test_each_operation_has_letters_and_words_in_any_case(tmp_path: Path) -> None:
    words = {
        READ: ["r", "R", "read", "Read", "READ"],
        WRITE: ["w", "W", "write", "Write", "WRITE"],
        TRIM: ["t", "T", "trim", "Trim", "d", "D", "discard", "Discard"],
        FLUSH: ["f", "F", "flush", "Flush"],
    }
    told = [(op, word) for op, group in words.items() for word in group]
    text = "".join(f"x,0,{n},512,{word}\n" for n, (_, word) in enumerate(told))
    assert read(text, tmp_path).frame["op"].to_list() == [op for op, _ in told]


def test_other_words_are_given_and_digits_mean_nothing_by_themselves(tmp_path: Path) -> None:
    text = lines(",", *(["x", "0", f"{n}", "512", word] for n, word in enumerate("0123")))
    given = f"{BY_NUMBER},read=1,write=0,trim=3,flush=2"
    trace = read(text, tmp_path, given)
    assert trace.frame["op"].to_list() == [WRITE, READ, FLUSH, TRIM]
    assert trace.frame["length"].to_list() == [512, 512, 0, 512]
    message = failure(text, tmp_path)
    assert "4 of 4 lines (100 %)" in message
    assert "(op '0'; expected r, read, w, write, t, trim, d, discard, f, flush)" in message
    swapped = read(lines(",", *CELLS), tmp_path, f"{BY_NUMBER},read=WRITE,write=r")
    assert swapped.frame["op"].to_list() == [WRITE, READ]


def test_a_header_that_is_not_asked_for_is_told(tmp_path: Path) -> None:
    headed = lines(",", NAMES, *CELLS)
    assert read(headed, tmp_path).notes == [
        "the first line taken as a header: 'id,start,ts,size,kind'"
    ]
    assert read(headed, tmp_path, BY_NAME).notes == []
    # A first line that has a time is a request, whatever its other columns contain.
    assert "1 of 2 lines" in failure("x,0,10,512,kind\n" + lines(",", CELLS[0]), tmp_path)
    negative = read(lines(",", ["a", "0", "-5.5", "512", "r"], *CELLS), tmp_path)
    assert negative.frame["at_ns"].to_list() == [0, 15_500, 17_500]


def test_units_are_guessed_aloud_and_overridden(tmp_path: Path) -> None:
    # Two requests within two ticks: a million a second in us, a thousand in ms.
    trace = read(lines(",", *CELLS), tmp_path, units={})
    assert (trace.format, trace.units.time) == ("columns", "ms")
    assert [text.partition(":")[0] for text in sorted(trace.units.guessed)] == [
        "addresses taken as bytes",
        "lengths taken as bytes",
        "time taken as ms",
    ]
    units = {"time": "s", "address": "pages", "length": "sectors"}
    trace = read(lines(",", *CELLS), tmp_path, units=units)
    assert trace.units.guessed == ()
    assert trace.frame.rows() == [
        (0, READ, 0, 4096 * 4096, 512 * 512),
        (2 * 10**9, WRITE, 0, 8192 * 4096, 1024 * 512),
    ]


def test_bad_lines_are_counted_as_in_any_format(tmp_path: Path) -> None:
    good = lines(",", *(["x", "0", f"{n}", "512", "w"] for n in range(198)))
    trace = read(good + "x,-4096,500,512,w\n" + "short line\n", tmp_path)
    assert (trace.frame.height, trace.unparsed_lines) == (198, 2)
    assert trace.first_unparsed == (
        "line 199: 'x,-4096,500,512,w' (offset '-4096'; expected 0 to 2^50 - 1)"
    )


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (["x", "0", "soon", "512", "w"], "(time 'soon'; expected a number)"),
        (["x", "0x1G", "7", "512", "w"], "(offset '0x1G'; expected 0 to 2^50 - 1)"),
        (["x", "0", "7", "", "w"], "(length ''; expected 0 to 2^50 - 1)"),
        (["x", "0", "7", "512", "1"], "(op '1'; expected r, read, w, write, t"),
    ],
)
def test_the_wrong_cell_is_the_reason(cells: list[str], reason: str, tmp_path: Path) -> None:
    message = failure(lines(",", CELLS[0], cells), tmp_path)
    assert "the first is line 2: " in message and reason in message


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("0x101e00", 0x101E00),
        ("0X00002000", 0x2000),
        ("16,384", 16384),
        ("1 048 576", 1 << 20),
        ("1'048'576", 1 << 20),
        ('"16,384"', 16384),
        ("4096.0", 4096),
    ],
)
def test_a_number_is_hexadecimal_or_has_separators(cell: str, value: int, tmp_path: Path) -> None:
    text = f"x;{cell};10;{cell};r\nx;0;12;512;w\n"
    assert read(text, tmp_path).frame.row(0) == (0, READ, 0, value, value)


def test_a_quoted_cell_may_hold_the_delimiter(tmp_path: Path) -> None:
    text = 'at,note,op,from,size\n"1,079.5","a, b",Read,"1,024","16,384"\n"1,080.5",,Write,0,512\n'
    trace = read(text, tmp_path, "time=at,op=op,offset=from,length=size", units={"time": "s"})
    assert trace.frame.rows() == [(0, READ, 0, 1024, 16384), (10**9, WRITE, 0, 0, 512)]


def times(*cells: str) -> str:
    return "".join(f"x;0;{cell};512;w\n" for cell in cells)


def test_a_decimal_comma_is_known_by_its_digits(tmp_path: Path) -> None:
    for cells in (("1,0799438", "1,0801164"), ("0,500", "1,000"), ("1.079,5", "1.080,5")):
        trace = read(times(*cells), tmp_path, units={"time": "s"})
        points = [cell.replace(".", "").replace(",", ".") for cell in cells]
        plain = read(times(*points), tmp_path, units={"time": "s"})
        assert trace.frame.rows() == plain.frame.rows()
        assert "a comma in a time read as a decimal comma" in trace.notes
    # Lengths with points between thousands show that commas in times are decimal commas.
    german = times("1,079", "2,080").replace("512", "16.384")
    assert read(german, tmp_path, units={"time": "s"}).frame.rows() == [
        (0, WRITE, 0, 0, 16384),
        (1_001_000_000, WRITE, 0, 0, 16384),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (times("1,079", "2,080"), "time '1,079' has a decimal comma, or one between thousands"),
        (times("1.5").replace("512", "512.000"), "'512.000' has a fraction, or points between"),
        (times("1,5", "1,079,943"), "commas group thousands in '1,079,943' and not in '1,5'"),
    ],
)
def test_a_comma_or_point_that_may_be_either_is_refused(
    text: str, reason: str, tmp_path: Path
) -> None:
    assert f"mine.txt: {reason}" in failure(text, tmp_path)


def test_points_between_thousands_are_a_note(tmp_path: Path) -> None:
    text = times("1,5", "2,5").replace("512", "1.024")
    assert (
        "points in '1.024' read as points between thousands"
        in read(text, tmp_path, BY_NUMBER).notes
    )


@pytest.mark.parametrize("time", ["2024-01-31T10:11:12", "10:11:12.5", "31/01/2024"])
def test_a_date_is_no_time(time: str, tmp_path: Path) -> None:
    columns = "time=1,op=2,offset=3,length=4"
    message = failure(f"time;op;offset;length\n{time};R;0;512\n", tmp_path, columns)
    assert f"(time '{time}'; expected a number, not a date or a time of day)" in message


def test_several_words_for_an_operation(tmp_path: Path) -> None:
    text = lines(",", *(["x", "0", f"{n}", "512", word] for n, word in enumerate("123456+")))
    trace = read(text, tmp_path, f"{BY_NUMBER},read=1+2+5,write=3+4+6,trim=+")
    assert trace.frame["op"].to_list() == [READ, READ, WRITE, WRITE, READ, WRITE, TRIM]


def test_words_of_the_kernel_unless_they_are_given(tmp_path: Path) -> None:
    words = ["R", "RA", "WS", "WM", "DS", "FF", "FWFS"]
    text = lines(",", *(["x", "0", f"{n}", "512", word] for n, word in enumerate(words)))
    ops = [READ, READ, WRITE, WRITE, TRIM, FLUSH, FLUSH, WRITE]
    assert read(text, tmp_path).frame["op"].to_list() == ops
    given = read(text, tmp_path, f"{BY_NUMBER},trim=WM,write=FWFS")
    assert given.frame["op"].to_list() == [READ, READ, WRITE, TRIM, TRIM, FLUSH, WRITE]


ABOVE = "Recorded on a Monday, by hand, at 12:00, twice\n\nYou may copy this.\n"


@pytest.mark.parametrize("gap", [",", " ; ", "\t", " "])
def test_lines_above_the_header_are_left_out(gap: str, tmp_path: Path) -> None:
    headed = ABOVE + lines(gap, NAMES, *CELLS)
    named = read(headed, tmp_path, BY_NAME)
    assert named.frame.rows() == ROWS
    note = "2 lines above the header left out, the first: 'Recorded on a Monday, by hand, at 12:00"
    assert note in "".join(named.notes)
    numbered = read(headed, tmp_path)
    assert numbered.frame.rows() == ROWS
    assert any(text.startswith("line 4 taken as a header") for text in numbered.notes)
    again = read(headed + lines(gap, NAMES, *CELLS), tmp_path, BY_NAME)
    assert "1 line left out: the header" in again.notes
    comment = read("# " + headed.partition("copy this.\n")[2], tmp_path, BY_NAME)
    assert (comment.frame.rows(), comment.notes) == (ROWS, [])


def test_a_header_far_below_is_not_looked_for(tmp_path: Path) -> None:
    text = "nothing\n" * 10_000 + lines(",", NAMES, *CELLS)
    assert "the first line is 'nothing'" in failure(text, tmp_path, BY_NAME)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("time=3,op=5,offset=2", "length is missing"),
        ("", "given; expected time=N"),
        ("time", "given; expected time=N"),
        ("time=3,op=5,offset=2,length=4,lenght=4", "given; expected time=N"),
        ("time=3,op=5,offset=2,length=4,time=1", "given; expected time=N"),
        ("time=3,op=5,offset=2,length=", "given; expected time=N"),
        ("time=3,op=5,offset=2,length=4,read=1+2,write=3+2", "'2' stands for an operation twice"),
        ("time=3,op=5,offset=2,length=2", "offset and length are the same column"),
        ("time=3,op=5,offset=2,length=6", "the first line is 'a,4096,10,512,r'"),
        ("time=3,op=5,offset=2,length=0", "the first line is 'a,4096,10,512,r'"),
        ("time=3,op=5,offset=2,length=size", "the first line is 'a,4096,10,512,r'"),
        ("time=c,op=e,offset=b,length=sizez", "no column is called 'sizez'; expected one of 'a', "),
        ("time=3,op=5,offset=2,length=99999999999", "the first line is 'a,4096,10,512,r'"),
    ],
)
def test_wrong_columns_are_named(columns: str, expected: str, tmp_path: Path) -> None:
    titles = [list("abcde")] if "time=c" in columns else []
    message = failure(lines(",", *titles, *CELLS), tmp_path, columns)
    assert "columns: " in message and expected in message


def test_columns_are_for_text_in_files(tmp_path: Path) -> None:
    for text in ("", "\n", "# a comment\n", "\0\1\2"):
        assert "expected lines of text" in failure(text, tmp_path)
    assert "the trace has no requests" in failure(lines(",", NAMES), tmp_path, BY_NAME)
    assert "expected one of them" in failure(lines(",", *CELLS), tmp_path, format="spc")
    frame = pl.DataFrame({"at_ns": [0], "op": [0], "offset": [0], "length": [1]})
    with pytest.raises(TraceError, match="not a frame"):
        read_trace(frame, columns=BY_NUMBER)


def test_the_commands_take_columns(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(lines(",", NAMES, *CELLS))
    cli("run", "mine.csv").refused(f'trace import mine.csv --columns "{BY_NAME}" -o')
    units = ("--time-unit", "us", "--address-unit", "sectors")
    info = cli("trace", "info", "mine.csv", "--columns", BY_NAME, *units, "--json")
    document = json.loads(info.stdout)
    assert (document["format"], document["reads"], document["writes"]) == ("columns", 1, 1)
    assert document["units"] == {"time": "us", "address": "sectors", "length": "bytes"}
    made = cli(
        "trace", "import", "mine.csv", "--columns", BY_NAME, *units, "-o", "mine.parquet"
    ).ok()
    assert "note: lengths taken as bytes: nothing says their unit" in made.stderr
    assert read_trace(tmp_path / "mine.parquet").frame.rows() == [
        (at, op, device, offset * 512, length) for at, op, device, offset, length in ROWS
    ]
