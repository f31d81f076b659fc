"""Column titles: tables of other tools, units stated in titles, and times that reveal their
unit."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from conftest import Cli

from floatgate.traces import TraceError, read_trace

OWN = "timestamp_us,op,offset_bytes,size_bytes"

# Titles over lines that look like the project's own captures, and the columns that the error
# suggests.
FOREIGN = {
    "us,op,offset,length": "time=us,op=op,offset=offset,length=length",
    "Time,Op,LBA,Sectors": "time=Time,op=Op,offset=LBA,length=Sectors",
    "Time(ms),Op,Sector,size (KiB)": "time=Time(ms),op=Op,offset=Sector,length=size (KiB)",
    "timestamp_ms,op,offset_bytes,size_bytes": (
        "time=timestamp_ms,op=op,offset=offset_bytes,length=size_bytes"
    ),
    "timestamp_us,op,size_bytes,offset_bytes": (
        "time=timestamp_us,op=op,offset=offset_bytes,length=size_bytes"
    ),
    '"time","rw","addr","len"': "time=time,op=rw,offset=addr,length=len",
    "Zeit,Vorgang,Adresse,Länge": "time=Zeit,op=Vorgang,offset=Adresse,length=Länge",
    "# Time,Op,LBA,Sectors": "time=Time,op=Op,offset=LBA,length=Sectors",
    "my load\ntime,op,lba,count": "time=time,op=op,offset=lba,length=count",
}


def rows(count: int) -> str:
    return "".join(f"{n * 10},{'RW'[n % 2]},{n * 8 + 8},8\n" for n in range(count))


@pytest.mark.parametrize("count", [3, 400])
@pytest.mark.parametrize("titles", FOREIGN)
def test_other_titles_are_never_the_own_format(titles: str, count: int, tmp_path: Path) -> None:
    path = tmp_path / "theirs.csv"
    path.write_text(f"{titles}\n{rows(count)}", "utf-8")
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    command = shlex.split(str(caught.value).partition("read its columns: ")[2])
    assert command[:3] == ["floatgate", "trace", "import"]
    columns = command[command.index("--columns") + 1]
    assert columns == FOREIGN[titles]
    assert read_trace(path, columns=columns).frame.height == count


def test_the_own_format_forced_upon_other_titles(tmp_path: Path) -> None:
    path = tmp_path / "theirs.csv"
    path.write_text(f"Time,Op,LBA,Sectors\n{rows(400)}")
    with pytest.raises(TraceError, match=f"line 1 is 'Time,Op,LBA,Sectors'; expected .*{OWN}"):
        read_trace(path, format="floatgate-csv")


@pytest.mark.parametrize("top", [f"{OWN}\n", f"# {OWN}\n", ""])
@pytest.mark.parametrize("count", [3, 400])
def test_the_own_format_with_its_titles_or_none(top: str, count: int, tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(top + rows(count))
    trace = read_trace(path)
    assert (trace.format, trace.frame.height, trace.unparsed_lines) == ("floatgate-csv", count, 0)
    assert trace.frame.row(1) == (10_000, 1, 0, 16, 8)
    # Without a header nothing in the file states the units.
    assert len(trace.units.guessed) == (0 if top.startswith(OWN) else 3)


LINES = {
    "tencent": "{},4096,8,1,0",
    "msr": "{},host,0,Write,4096,512,99",
    "disksim": "{} 0 4096 8 1",
    "spc": "0,4096,512,W,{}",
}
TITLES = {
    "tencent": "time_ms,offset,bytes,is_write,disk",
    "msr": "us,who,disk,kind,lba,sectors,latency",
    "disksim": "time disk page pages write",
    "spc": "disk,offset,length,rw,ms",
}


@pytest.mark.parametrize("form", LINES)
def test_no_format_takes_the_titles_of_another_table(form: str, tmp_path: Path) -> None:
    lines = "".join(LINES[form].format(n * 100) + "\n" for n in range(300))
    path = tmp_path / "trace"
    path.write_text(lines)
    assert read_trace(path).format == form
    path.write_text(f"{TITLES[form]}\n{lines}")
    with pytest.raises(TraceError, match="no known trace format"):
        read_trace(path)


def test_the_command_that_is_offered_reads_the_table(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "my load.csv").write_text(f"Time(ms),Op,LBA,size (KiB)\n{rows(200)}")
    for command in (("run",), ("trace", "info")):
        refused = cli(*command, "my load.csv")
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    offered = shlex.split(refused.stderr.partition("read its columns: floatgate ")[2])
    assert cli(*offered).returncode == 0
    trace = read_trace(tmp_path / "trace.parquet")
    assert trace.frame.row(1) == (10_000_000, 1, 0, 16 * 512, 8 * 1024)


def test_operations_without_a_word_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "theirs"
    path.write_text("time,is_write,offset,size,response_time\n0,1,4096,4096,3\n")
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    assert "offset=offset,length=size,read=?,write=?" in str(caught.value)
    assert "put a column or a word in place of each ?" in str(caught.value)


TIMES = {
    "Time(ms)": "ms",
    "TIME(s)": "s",
    "timestamp_us": "us",
    "t [ns]": "ns",
    "time_100ns": "100ns",
    "timeMs": "ms",
    "STARTs": "s",
    "start seconds": "s",
    "zeit (µs)": "us",
    "timestamps": None,
    "ts": None,
}


@pytest.mark.parametrize("title", TIMES)
@pytest.mark.parametrize("by_name", [True, False])
def test_a_title_states_the_unit_of_times(title: str, by_name: bool, tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_text(f"{title},op,at,n\n1,R,0,512\n2,W,0,512\n", "utf-8")
    place = title if by_name else "1"
    trace = read_trace(path, columns={"time": place, "op": 2, "offset": 3, "length": 4})
    unit = TIMES[title]
    assert trace.units.time == (unit or "ms")
    assert any("its column is called" in why for why in trace.units.guessed) == (unit is not None)
    forced = read_trace(
        path, columns={"time": place, "op": 2, "offset": 3, "length": 4}, units={"time": "s"}
    )
    assert forced.frame["at_ns"].to_list() == [0, 10**9]


SPACES = {
    ("LBA", "Sectors"): (512, 512),
    ("Sector", "BYTES"): (512, 1),
    ("offset_bytes", "size (KiB)"): (1, 1024),
    ("page", "pages"): (4096, 4096),
    ("Min Offset", "Size (B)"): (1, 1),
    ("lba", "nblocks"): (512, 512),
    ("lba", "blocks"): (512, 512),
    ("offset", "block size"): (1, 1),
    ("offset", "length"): (1, 1),
}


@pytest.mark.parametrize("titles", SPACES)
def test_a_title_states_the_unit_of_addresses_and_lengths(
    titles: tuple[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "trace"
    path.write_text(f"ts;op;{';'.join(titles)}\n1;R;8;16\n")
    trace = read_trace(path, columns=f"time=ts,op=op,offset={titles[0]},length={titles[1]}")
    address, length = SPACES[titles]
    assert trace.frame.rows() == [(0, 0, 0, 8 * address, 16 * length)]


def test_a_unit_of_addresses_alone_is_no_unit_of_lengths(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "trace").write_text("ts op at n\n1 R 8 16\n2 W 8 8\n")
    columns = "time=ts,op=op,offset=at,length=n"
    done = cli("trace", "info", "trace", "--columns", columns, "--address-unit", "sectors")
    assert done.returncode == 0
    printed = " ".join((done.stdout + done.stderr).split())
    assert "some are no multiples of 512; --address-unit is for addresses alone" in printed
    both = cli(
        "trace", "info", "trace", "--columns", columns, "--address-unit", "sectors",
        "--length-unit", "sectors",
    )  # fmt: skip
    assert "--address-unit" not in both.stdout + both.stderr


# Times of lines, their unit, and a word of the reason.
CLOCKS = [
    (["1705305600.015989780", "1705305600.519597054"], "s", "Unix time of 2024-01-15"),
    (["1705305600", "1705305601"], "s", "Unix time"),
    (["1705305600123", "1705305600125"], "ms", "Unix time"),
    (["1705305600123.5", "1705305600125.25"], "ms", "Unix time"),
    (["1705305600123456", "1705305600123459"], "us", "Unix time"),
    (["1705305600123456789", "1705305600123456799"], "ns", "Unix time"),
    (["128166372003061629", "128166372013061629"], "100ns", "Windows file time of 2007-02-22"),
    (["242.504709548", "243.104709548"], "s", "9 decimals"),
    (["0.0000000", "0.2500000"], "s", "7 decimals"),
    # These times do not reveal their unit. Six decimals of a ms are nanoseconds, more than nine
    # decimals come from a float, and dates in 1998 or 2042 are not assumed.
    (["0.000000", "0.250000"], "ms", "numbers with a fraction"),
    (["0.12345678912", "0.250000"], "ms", "numbers with a fraction"),
    (["900000000.5", "900000001.5"], "ms", "numbers with a fraction"),
    (["2300000000.5", "2300000001.5"], "ms", "numbers with a fraction"),
    # A trace in ns from 1.2 s on: as seconds, two requests would span more than a day.
    (["1200000000", "1200100000"], "ns", "whole numbers"),
]


@pytest.mark.parametrize(("times", "unit", "why"), CLOCKS)
@pytest.mark.parametrize("columns", [None, "time=1,device=2,offset=3,length=4,op=5,read=1,write=0"])
def test_times_that_state_their_unit(
    times: list[str], unit: str, why: str, columns: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "trace"
    path.write_text("".join(f"{time} 0 1000 8 1\n" for time in times))
    trace = read_trace(path, columns=columns)
    assert trace.units.time == unit
    assert any(why in text for text in trace.units.guessed)
    assert read_trace(path, columns=columns, units={"time": "us"}).units.time == "us"


def test_columns_of_one_title_are_named_by_number(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "theirs.csv"
    path.write_text("ts,op,offset,length,op\n1,R,8,4096,x\n2,W,16,4096,y\n")
    with pytest.raises(TraceError, match=r"2 columns are called 'op'; .* number of one: 2 or 5"):
        read_trace(path, columns="time=ts,op=op,offset=offset,length=length")
    with pytest.raises(TraceError, match='--columns "time=1,op=2,offset=3,length=4"'):
        read_trace(path)


def test_a_log_of_fio_is_named_as_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "job_clat.1.log"
    path.write_text("1, 200, 1, 4096, 0\n2, 210, 0, 4096, 0\n")
    with pytest.raises(TraceError, match=r"job_clat\.1\.log: a log of fio's .* --write_iolog=FILE"):
        read_trace(path)
