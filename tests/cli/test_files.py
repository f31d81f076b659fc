"""Files that users name: names that are not text, endless files, and too deeply nested
documents."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli

import floatgate as fg
from floatgate.calibrate.latency import is_latency, read_loads
from floatgate.calibrate.measured import read_wa
from floatgate.cli import output
from floatgate.files.reading import parse_json, read_text, shown
from floatgate.results.result import Result
from floatgate.simulation.configs import resolve
from floatgate.studies import spec
from floatgate.traces import Room, TraceError, open_trace, read_trace

ROWS = "timestamp_us,op,offset_bytes,size_bytes\n0,W,0,4096\n5,W,4096,4096\n"
NOT_UTF8 = os.fsdecode(b"\xff\xfe.csv")
DEEP = 100_000

unix = pytest.mark.skipif(os.name != "posix", reason="names of bytes, devices and pipes of Unix")


def test_what_cannot_be_printed_is_shown_as_an_escape() -> None:
    assert shown("a\x1b[31m\x07\u202ecsv\x85") == r"a\x1b[31m\x07\u202ecsv\x85"
    assert shown(NOT_UTF8) == r"\xff\xfe.csv"
    assert shown("plain é µ 表.csv") == "plain é µ 表.csv"
    assert shown(Path("a\tb")) == r"a\x09b"


@unix
def test_a_trace_whose_name_is_not_utf8_runs(cli: Cli, process: Cli, tmp_path: Path) -> None:
    """A process, because Python decodes the bytes of arguments and streams when it starts."""
    (tmp_path / NOT_UTF8).write_text(ROWS)
    device = os.fsdecode(b"\xfe.toml")
    (tmp_path / device).write_text("preset = 'classic'\n")
    done = process(
        "run", NOT_UTF8, "--device", device, "--json", "--out", os.fsdecode(b"\xfd")
    ).ok()
    assert json.loads(done.stdout)["workload"]["name"] == r"\xff\xfe.csv"
    assert (tmp_path / os.fsdecode(b"\xfd") / "report.html").exists()
    done = cli("run", NOT_UTF8, "--device", device)
    assert done.returncode == 0 and r"\xfe.toml: " in done.stdout


TEXTS: dict[str, tuple[str, ...]] = {
    "a setting": ("run", "t.csv", "--set", "mapping.scheme=\udcff"),
    "a variation": ("compare", "t.csv", "--vary", "mapping.scheme=ideal,\udcff"),
    "a generator": ("run", "uniform:span=\udcff"),
    "a trace that is not there": ("trace", "info", "\udcff.csv"),
    "a preset": ("devices", "\udcff"),
    "a format": ("trace", "import", "t.csv", "-o", "x.parquet", "--format", "\udcff"),
}


@unix
@pytest.mark.parametrize("what", TEXTS)
def test_a_text_that_is_not_utf8_is_an_error_of_the_call(what: str, cli: Cli) -> None:
    assert "is not UTF-8" in cli(*TEXTS[what]).refused(r"\xff")


@unix
def test_control_characters_of_a_name_do_not_reach_the_terminal(cli: Cli, tmp_path: Path) -> None:
    name = "\x1b[31mred\x07.csv"
    missing = cli("run", name)
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr == "floatgate: \\x1b[31mred\\x07.csv: no such file\n"
    (tmp_path / name).write_text(ROWS)
    done = cli("trace", "info", name)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr and "\\x1b[31mred\\x07.csv" in done.stdout


def test_a_message_keeps_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    output.say("one\ntwo \x1b[2J")
    assert capsys.readouterr().err == "one\ntwo \\x1b[2J\n"


READERS: dict[str, Callable[[Path], object]] = {
    "trace": read_trace,
    "device": lambda path: resolve(path, {}),
    "study": spec.read,
    "table": read_wa,
    "latency": read_loads,
}


@unix
@pytest.mark.parametrize("what", READERS)
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/null"])
def test_a_device_is_refused_at_once(what: str, device: str) -> None:
    with pytest.raises(ValueError, match=f"{device}: cannot be read: a character device; expected"):
        READERS[what](Path(device))


def through(pipe: Path, text: str, read: Callable[[Path], Any]) -> Any:
    """Returns the parsed content of a text that comes through a pipe."""
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(text))
    writer.start()
    try:
        return read(pipe)
    finally:
        writer.join()


@unix
def test_a_pipe_is_read_where_one_reading_is_enough(tmp_path: Path) -> None:
    assert through(tmp_path / "trace", ROWS, read_trace).frame.height == 2
    toml = "[capacity]\nspare_factor = 0.25\n"
    config = through(tmp_path / "drive.toml", toml, lambda path: resolve(path, {}))
    assert config.spare_factor == 0.25


@unix
def test_measurements_are_no_pipe(tmp_path: Path) -> None:
    """Nobody writes into the pipe, so opening it would block for ever."""
    os.mkfifo(tmp_path / "data.csv")
    assert not is_latency(tmp_path / "data.csv")
    with pytest.raises(ValueError, match=r"data\.csv: cannot be read: a pipe; expected a file"):
        read_wa(tmp_path / "data.csv")


@unix
def test_an_endless_pipe_ends_with_the_signal(tmp_path: Path) -> None:
    """If every read succeeds at once, only code between the reads can notice a signal."""
    os.mkfifo(tmp_path / "endless")
    command = [sys.executable, "-m", "floatgate", "run", "endless"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    feed = "while printf '%s\\n' 0,W,0,4096 0,W,0,4096 0,W,0,4096; do :; done > endless"
    writer = subprocess.Popen(["sh", "-c", feed], cwd=tmp_path)
    try:
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    finally:
        for one in (process, writer):
            one.kill()
            one.communicate()


def test_a_text_is_not_longer_than_a_text(tmp_path: Path) -> None:
    (tmp_path / "drive.toml").write_text("# long\n" * 100)
    with pytest.raises(OSError, match="expected a text"):
        read_text(tmp_path / "drive.toml", most=100)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file that cannot be read")
def test_a_file_that_cannot_be_read_is_named() -> None:
    with pytest.raises(TraceError, match=r"^/proc/self/mem: cannot be read: Input/output error$"):
        read_trace("/proc/self/mem")


def test_documents_that_nest_too_deeply_are_errors_of_the_file(tmp_path: Path) -> None:
    for text in ("[" * DEEP, '{"a":' * DEEP):
        with pytest.raises(ValueError):
            parse_json(text)
        with pytest.raises(ValueError):
            Result.from_json(text)
    for name, text in {
        "list.toml": "a = " + "[" * DEEP,
        "table.toml": "a = " + "{b = " * DEEP,
        "bracket.toml": "[" * DEEP,
        "dots.toml": "a" + ".a" * 2000 + " = 1",
    }.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(fg.ConfigError, match=name):
            resolve(tmp_path / name, {})
        with pytest.raises(fg.ConfigError, match=name):
            spec.read(tmp_path / name)
    (tmp_path / "fio.json").write_text("[" * DEEP)
    with pytest.raises(fg.ConfigError, match=r"fio\.json: is no JSON of fio"):
        read_loads(tmp_path / "fio.json")


@pytest.mark.parametrize("room", [Room(), Room(requests=1)])
def test_a_trace_of_which_nothing_is_left_is_an_error(room: Room, tmp_path: Path) -> None:
    (tmp_path / "trims.csv").write_text(ROWS.replace("W", "T"))
    trims = open_trace(tmp_path / "trims.csv", room=room)
    with pytest.raises(TraceError, match="no request is left: 2 trims dropped"):
        fg.run(trims)
    assert fg.run(trims, addresses="span").workload.requests == 2
