"""Unreadable traces: the error states the mistake, its place, and the expected content."""

from __future__ import annotations

import bz2
import gzip
import io
import re
import sys
import tarfile
import zipfile
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

import fsspec  # type: ignore[import-untyped]
import pytest
import zstandard
from binary_traces import ISSUE, WRITES, blk
from conftest import Cli
from fsspec.registry import _registry  # type: ignore[import-untyped]
from paths import DATA, ROOT
from trace_rows import FLUSH, READ, TRIM, WRITE, failure, write

from floatgate.traces import read_trace
from floatgate.traces.source import EXTRAS

# Formats with letters or words for operations: a line with {} in place of the operation.
LINES = {
    "spc": "0,8,512,{},0.5",
    "msr": "1281,usr,0,{},0,512,99",
    "alibaba": "3,{},0,512,100",
    "systor17": "0.5,0.1,{},3,0,512",
    "diskmon": "0\t0.5\t0.1\t0\t{}\t0\t8",
    "floatgate-csv": "0,{},0,512",
    "fiu": "5 99 syslogd 0 8 {} 8 0 d41d8cd9",
}


@pytest.mark.parametrize("form", LINES)
def test_operations_are_read_in_any_case_as_letter_or_word(form: str, tmp_path: Path) -> None:
    reads = ["R", "r", "Read", "read", "READ"]
    writes = ["W", "w", "Write", "write", "WRITE"]
    for word in (*reads, *writes):
        trace = read_trace(write(tmp_path, LINES[form].format(word) + "\n"))
        assert trace.format == form
        assert trace.frame["op"].to_list() == [READ if word in reads else WRITE]


def test_trims_and_flushes_too(tmp_path: Path) -> None:
    words = {"T": TRIM, "t": TRIM, "trim": TRIM, "F": FLUSH, "f": FLUSH, "Flush": FLUSH}
    text = "".join(f"{n},{word},0,512\n" for n, word in enumerate(words))
    assert read_trace(write(tmp_path, text)).frame["op"].to_list() == [*words.values()]


# A line of each text format, with {} for offset and length: each is -8 in turn.
NEGATIVE = {
    "spc": "0,{},{},W,0.5",
    "msr": "1281,usr,0,Read,{},{},99",
    "disksim": "5 0 {} {} 1",
    "disksim-pages": "5\t0\t{}\t{}\t1",
    "blkparse": "8,0 3 1 0.000000000 697 D W {} + {} [x]",
    "fiu": "5 99 syslogd {} {} W 8 0 d41d8cd9",
    "biotracer": "{}\t8\t{}\t0\t1.5\t1.5\t1.5\t1.5",
    "diskmon": "0\t0.5\t0.1\t0\tRead\t{}\t{}",
    "alibaba": "3,W,{},{},100",
    "tencent": "100,{},{},1,7",
    "systor17": "0.5,0.1,W,3,{},{}",
    "floatgate-csv": "0,W,{},{}",
}


@pytest.mark.parametrize("form", NEGATIVE)
def test_a_negative_number_is_an_unparsed_line_with_its_reason(form: str, tmp_path: Path) -> None:
    good = NEGATIVE[form].format(9, 9)
    for field, numbers in (("offset", (-8, 9)), ("length", (9, -8))):
        bad = NEGATIVE[form].format(*numbers)
        alone = failure(write(tmp_path, bad + "\n"))
        told = f"({field} '-8'; expected 0 to 2^50 - 1)"
        assert f"1 of 1 lines (100 %) cannot be read as {form}" in alone
        assert told in alone
        trace = read_trace(write(tmp_path, "\n".join([*[good] * 120, bad, *[good] * 79]) + "\n"))
        assert (trace.format, trace.frame.height, trace.unparsed_lines) == (form, 199, 1)
        assert trace.first_unparsed is not None
        assert trace.first_unparsed.startswith("line 121: ")
        assert trace.first_unparsed.endswith(told)


def test_a_negative_number_in_a_fio_log(tmp_path: Path) -> None:
    good = ["fio version 2 iolog", "/f add", "/f open", *["/f write 0 512"] * 200]
    for line in ("/f read -512 512", "/f wait -100 0"):
        trace = read_trace(write(tmp_path, "\n".join([*good, line])))
        assert trace.unparsed_lines == 1
        assert trace.first_unparsed is not None
        assert trace.first_unparsed.startswith(f"line 204: '{line}' (offset '-")


def test_an_unknown_operation_is_the_reason(tmp_path: Path) -> None:
    message = failure(write(tmp_path, "1281,usr,0,Erase,0,512,99\n"))
    assert "(op 'Erase'; expected r, read, w, write)" in message
    reason = failure(write(tmp_path, "fio version 3 iolog\n7 /f erase 0 512\n"))
    assert "(op 'erase'; expected read, write, trim, sync" in reason


HEADERS = {
    "floatgate-csv": "timestamp_us,op,offset_bytes,size_bytes",
    "msr": "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
    "alibaba": "device_id,opcode,offset,length,timestamp",
    "tencent": "Timestamp,Offset,Size,IOType,VolumeID",
    "systor17": "Timestamp,Response,IOType,LUN,Offset,Size",
    "fio": "fio version 2 iolog",
}


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n# nothing more\n"])
@pytest.mark.parametrize("form", HEADERS)
def test_a_header_alone_is_a_trace_without_requests(form: str, end: str, tmp_path: Path) -> None:
    path = write(tmp_path, HEADERS[form] + end)
    why = ": 2 lines left out: an empty line or a comment" if "#" in end else ""
    assert failure(path) == f"file: the trace has no requests ({form}){why}"
    assert failure(path, format=form) == f"file: the trace has no requests ({form}){why}"


@pytest.mark.parametrize("form", [form for form in HEADERS if form in LINES])
def test_a_header_says_the_format_of_what_is_below_it(form: str, tmp_path: Path) -> None:
    line = LINES[form].format("W")
    whole = read_trace(write(tmp_path, f"{HEADERS[form]}\n{line}\n"))
    assert (whole.format, whole.frame.height, whole.notes) == (form, 1, [])
    message = failure(write(tmp_path, f"{HEADERS[form]}\nnot a request\n"))
    assert f"1 of 1 lines (100 %) cannot be read as {form}" in message
    assert message.endswith("the first is line 2: 'not a request'")


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    for text in (f"{HEADERS['floatgate-csv']}\n0,W,0,512\n", "0,8,512,r,0.5\n"):
        assert read_trace(write(tmp_path, "\ufeff" + text)).frame.height == 1


def test_comments_alone_are_a_trace_without_requests(tmp_path: Path) -> None:
    assert "no requests, only empty lines" in failure(write(tmp_path, "# one\n\n  # two\n"))


def test_an_unknown_text_is_shown_with_what_would_do(tmp_path: Path) -> None:
    message = failure(write(tmp_path, "name;price\napple;3\n"))
    assert "no known trace format (line 1 is 'name;price')" in message
    assert "or delimited text read with trace import --columns" in message


def zipped(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("trace.csv", data)
    return buffer.getvalue()


def empty_zip(data: bytes) -> bytes:
    buffer = io.BytesIO()
    zipfile.ZipFile(buffer, "w").close()
    return buffer.getvalue()


def tarred(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo("trace.csv")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def seven_zip(data: bytes) -> bytes:
    return b"7z\xbc\xaf\x27\x1c\x00\x04" + data


def rar(data: bytes) -> bytes:
    return b"Rar!\x1a\x07\x01\x00" + data


ARCHIVES: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "a.zip": ("zip", zipped),
    "empty.zip": ("zip", empty_zip),
    "a.tar": ("tar", tarred),
    "a.tar.gz": ("tar", lambda data: gzip.compress(tarred(data))),
    "a.tar.bz2": ("tar", lambda data: bz2.compress(tarred(data))),
    "a.tar.zst": ("tar", lambda data: zstandard.compress(tarred(data))),
    "a.7z": ("7z", seven_zip),
    "a.rar": ("rar", rar),
}


@pytest.mark.parametrize("form", [None, "spc"])
@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_is_told_from_a_trace(name: str, form: str | None, tmp_path: Path) -> None:
    kind, make = ARCHIVES[name]
    path = write(tmp_path, make((DATA / "financial.spc").read_bytes()), name)
    assert failure(path, format=form) == (
        f"{path}: a {kind} archive; expected a trace: unpack it and give one of its files"
    )


STAND_INS = {
    "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 790900956\n": (
        "a Git LFS pointer, not the file itself; git lfs pull"
    ),
    "/annex/objects/SHA256E-s9--00.csv\n": (
        "a git-annex pointer, not the file itself; git annex get"
    ),
    "\n<!DOCTYPE html>\n<html><body>404": "a web page, not the file itself; download it again",
}


@pytest.mark.parametrize("text", STAND_INS)
def test_what_stands_in_place_of_a_trace_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name, options in (
        ("w01.fio.xz", {}),
        ("a.csv", {"format": "spc"}),
        ("b.csv", {"columns": "time=1,op=2,offset=3,length=4"}),
        ("folder/part.parquet", {}),
    ):
        path = write(tmp_path, text, name)
        source = path.parent if name.endswith(".parquet") else path
        assert failure(source, **options) == f"{path}: {STAND_INS[text]}"


def _mixed(*jobs: str, block: int) -> str:
    """Returns the log that fio leaves if several jobs write blocks into one file."""
    blocks = [[job[at : at + block] for at in range(0, len(job), block)] for job in jobs]
    return "".join(part for parts in zip_longest(*blocks, fillvalue="") for part in parts)


def _job(name: str, step: int, count: int) -> str:
    writes = "".join(f"{2 + n * step} {name} write {n * 4096} 4096\n" for n in range(count))
    return f"fio version 3 iolog\n0 {name} add\n1 {name} open\n{writes}"


def test_a_fio_log_of_two_jobs_names_the_cause(cli: Cli, tmp_path: Path) -> None:
    jobs = _job("data", 16, 2000), _job("wal", 9, 3000)
    path = write(tmp_path, _mixed(*jobs, block=4096))
    message = failure(path)
    assert "several fio jobs wrote this log at once" in message
    assert "give each job a write_iolog of its own" in message
    assert "lines cannot be read, the first is line " in message
    cli("run", "file").refused("give each job a write_iolog of its own")
    # One log after the other is not a mixture.
    trace = read_trace(write(tmp_path, "".join(jobs)))
    assert (trace.frame.height, trace.devices) == (5000, ["data", "wal"])
    assert "1 line left out: the header" in trace.notes


def test_a_fio_log_cut_within_a_name_gives_a_file_that_nobody_added(tmp_path: Path) -> None:
    mixed = _job("data", 16, 3) + "fio version 3 iolog\n0 wal add\n70 dal write 0 4096\n"
    assert "several fio jobs wrote this log at once" in failure(write(tmp_path, mixed))


def test_a_systor_request_without_a_type_got_no_response(tmp_path: Path) -> None:
    lines = ["0.5,0.1,W,3,0,512", "0.6,,,3,0,512", "0.7,0.1,R,3,512,512"]
    trace = read_trace(write(tmp_path, f"{HEADERS['systor17']}\n" + "\n".join(lines)))
    assert trace.frame["op"].to_list() == [WRITE, READ]
    assert trace.notes == ["1 request left out: no type, as it got no response"]
    alone = failure(write(tmp_path, "0.6,,,3,0,512\n"))
    assert "no requests (systor17): 1 request left out: no type" in alone


@pytest.mark.parametrize("line", ["{} 0 {} 8 {}", "{}\t0\t{}\t8\t{}", "{}.5 0 {} 512 {}"])
def test_an_operation_of_2_is_a_trim_in_disksim_text(line: str, tmp_path: Path) -> None:
    text = "\n".join(line.format(n, n * 512, op) for n, op in enumerate("02212"))
    trace = read_trace(write(tmp_path, text + "\n"))
    assert trace.frame["op"].to_list() == [WRITE, TRIM, TRIM, READ, TRIM]
    wrong = failure(write(tmp_path, text.replace("2\n", "3\n", 1) + "\n"))
    assert "line 2" in wrong and "(op '3'; expected 0, 1, 2)" in wrong


@pytest.mark.parametrize("extra", EXTRAS)
def test_a_url_names_the_extra_that_is_missing(extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("aiohttp", "fsspec.implementations.http", "s3fs", "gcsfs", "adlfs"):
        monkeypatch.setitem(sys.modules, module, None)
    for scheme in EXTRAS[extra]:
        monkeypatch.delitem(_registry, scheme, raising=False)
        for url in (f"{scheme}://place/trace.csv", f"simplecache::{scheme}://place/trace.csv"):
            assert failure(url) == (
                f"{url}: cannot be read: packages for {scheme} are missing; "
                f"install floatgate[{extra}]"
            )


def test_the_extras_that_errors_name_are_declared() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    table = text.partition("[project.optional-dependencies]\n")[2].partition("\n\n")[0]
    declared = dict(re.findall(r'^(\w+) = \["fsspec\[(\w+)\]', table, re.MULTILINE))
    assert declared == {"http": "http", "s3": "s3", "gcs": "gcs", "azure": "abfs"}
    assert declared.keys() == EXTRAS.keys()


def test_what_a_storage_raises_is_no_bug_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoCredentialsError(Exception):
        """Not an OSError, like the errors of real storage packages."""

    def refuse(*_: object, **__: object) -> None:
        raise NoCredentialsError("no\ncredentials")

    monkeypatch.setattr(fsspec.core, "url_to_fs", refuse)
    assert failure("s3://b/k") == "s3://b/k: cannot be read: no credentials"


def test_a_command_reads_lower_case_and_binary_blktrace(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path, "timestamp_us,op,offset_bytes,size_bytes\n0,w,0,512\n5,read,0,512\n", "small")
    write(tmp_path, blk(0, 8, 512, ISSUE, WRITES) * 3, "sda.blktrace.0")
    assert cli("trace", "import", "small", "-o", "a.parquet").returncode == 0
    done = cli("trace", "import", "sda.blktrace.0", "-o", "b.parquet")
    assert done.returncode == 0 and "wrote 3 requests" in done.stderr
    assert read_trace(tmp_path / "a.parquet").frame["op"].to_list() == [WRITE, READ]


def test_lines_that_an_import_left_out_are_told_to_the_quiet_too(cli: Cli, tmp_path: Path) -> None:
    lines = [LINES["spc"].format("r")] * 200
    write(tmp_path, "\n".join([*lines[:9], "junk", *lines[9:]]), "trace")
    done = cli("trace", "import", "trace", "-o", "out.parquet", "-q")
    told = "warning: 1 line could not be read, the first: line 10: 'junk'\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, "", told)
    loud = cli("trace", "import", "trace", "-o", "out.parquet", "--force")
    assert told in loud.stderr and "wrote 200 requests" in loud.stderr


def test_a_command_says_it_in_one_line(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path, zipped(b"0,8,512,r,0.5\n"), "trace")
    command = ("trace", "import", "trace", "-o", "out.parquet")
    for call in (command, ("run", "trace", "--out", "out")):
        cli(*call).refused("floatgate: trace: a zip archive; expected a trace: unpack it")
