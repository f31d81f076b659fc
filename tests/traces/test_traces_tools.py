"""Text output of the kernel's tools, in the layouts of their options and versions."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from conftest import Cli
from trace_rows import FLUSH, READ, SECTOR, TRIM, US, WRITE, S, failure, read_bytes, write

from floatgate.traces import Trace

ISSUED = "259,0 WS 4096 () 2048 + 8 [app]"
DONE = "259,0 WS () 2048 + 8 [0]"
BIO = "259,0 WS 2048 + 8 [app]"
WRITTEN = [WRITE, 0, 2048 * SECTOR, 8 * SECTOR]


def read(text: str, folder: Path) -> Trace:
    return read_bytes(text.encode(), folder)


# Text in front of an event, with the time as {}.
PREFIXES = {
    "trace": "             app-701   [001] d..1.   {}: block_rq_issue: ",
    "trace of an old kernel": "             app-701   [001]   {}: block_rq_issue: ",
    "record-tgid": "             app-701   (    701) [001] .....   {}: block_rq_issue: ",
    "trace-cmd report": "             app-701   [001]   {}: block_rq_issue:       ",
    "trace-cmd report -l": "     app-701     1d..1   {}: block_rq_issue:       ",
    "trace-cmd report of two files": "    a.dat:      app-701   [001]   {}: block_rq_issue:   ",
    "trace-cmd report --ts-diff": "    app-701   [001]   {}: (+100)   block_rq_issue:       ",
    "perf script": "   my  app    99 [002]  {}:   block:block_rq_issue: ",
    "perf script with periods": "   my  app    99/99 [002]  {}:     1   block:block_rq_issue: ",
    "perf script -F time,event,trace": "  {}: block:block_rq_issue: ",
    "perf script -F comm,time,trace": "my app  {}: ",
}


@pytest.mark.parametrize("prefix", PREFIXES)
def test_an_event_is_read_in_each_layout(prefix: str, tmp_path: Path) -> None:
    times = ("100.000112", "100.500112", "101.500112123")
    text = "".join(PREFIXES[prefix].format(time) + ISSUED + "\n" for time in times)
    trace = read(text, tmp_path)
    assert trace.format == "block-events"
    at = [0, S // 2, S + S // 2 + 123]
    assert trace.frame.rows() == [(ns, *WRITTEN) for ns in at]
    assert (trace.devices, trace.unparsed_lines) == (["259,0"], 0)


@pytest.mark.parametrize("priority", ["", "none,0,0 ", "be,0,4 "])
def test_a_newer_kernel_prints_a_priority(priority: str, tmp_path: Path) -> None:
    line = f" a-1 [0] 1.5: block_rq_issue: 8,0 R 512 () 7 + 1 {priority}[a b]\n"
    assert read(line, tmp_path).frame.rows() == [(0, READ, 0, 7 * SECTOR, SECTOR)]


def line(event: str, text: str, time: str = "1.000000") -> str:
    return f"   app-701   [001] .....   {time}: {event}: {text}\n"


EVENTS = {
    "block_rq_issue": ISSUED,
    "block_bio_queue": BIO,
    "block_rq_insert": ISSUED,
    "block_io_start": ISSUED,
    "block_rq_complete": DONE,
    "block_io_done": DONE,
    "block_bio_complete": "259,0 WS 2048 + 8 [0]",
}


@pytest.mark.parametrize("event", EVENTS)
def test_the_first_kind_of_event_that_there_is_is_read(event: str, tmp_path: Path) -> None:
    first = [*EVENTS].index(event)
    later = [*EVENTS][first:]
    # The best event comes last, so the reader starts again when it finds that event.
    text = "".join(line(name, EVENTS[name]) for name in reversed(later))
    trace = read(text, tmp_path)
    assert trace.frame.rows() == [(0, *WRITTEN)]
    notes = " / ".join(trace.notes)
    assert (event in notes) == (event != "block_bio_complete" or first > 0)
    assert ("the trace has no" in notes) == (first > 0)
    assert ("with the times of completion" in notes) == (first >= 4)


def test_other_events_and_stacks_are_left_out_and_counted(tmp_path: Path) -> None:
    stack = "\tffffffff8152d5a1 blk_mq_start_request+0x81 ([kernel.kallsyms])\n"
    others = line("sched_switch", "prev_comm=a ==> next_comm=b") + line("block_plug", "[app]")
    text = "cpus=4\n" + others * 40 + line("block_rq_issue", ISSUED) + stack + others
    trace = read(text, tmp_path)
    assert trace.frame.rows() == [(0, *WRITTEN)]
    assert trace.notes == ["84 lines left out: no request of a block device"]
    lost = read(text + "CPU:1 [LOST 9 EVENTS]\n", tmp_path)
    assert any(note.startswith("events were lost") for note in lost.notes)


def test_words_of_rwbs(tmp_path: Path) -> None:
    words = ["R", "RA", "RSM", "WFS", "FWFS", "FF", "FN", "D", "DS", "DE", "N", "ZA"]
    text = "".join(line("block_rq_issue", f"8,0 {word} 512 () 8 + 1 [a]") for word in words)
    passed = line("block_rq_issue", "8,0 R 36 (12 00 00 00 24 00) 0 + 0 [smartd]")
    trace = read(text + passed, tmp_path)
    ops = [READ] * 3 + [WRITE, FLUSH, WRITE, FLUSH, FLUSH] + [TRIM] * 3
    assert trace.frame["op"].to_list() == ops
    assert trace.notes == ["3 requests left out: neither read, write, discard nor flush"]


UNREADABLE = {
    "no time": "kworker/4:1H   533 [004]  block:block_rq_issue: " + ISSUED,
    "ticks": "   app-701   [001] .....   123456789: block_rq_issue: " + ISSUED,
    "raw fields": "  a-1 [001] 1.000112: block_rq_issue: dev=8388608 sector=2048 rwbs=WS",
    "perf trace": "  0.000 a/533 block:block_rq_issue(dev: 271581184, sector: 2564656, rwbs: RM)",
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_form_that_is_not_read_is_answered_with_the_one_that_is(
    name: str, tmp_path: Path
) -> None:
    message = failure(write(tmp_path, f"{UNREADABLE[name]}\n" * 3))
    assert "3 of 3 lines (100 %) cannot be read as block-events" in message
    assert "(expected 'SECONDS: EVENT: DEVICE RWBS ... SECTOR + COUNT')" in message


def test_events_of_no_request_are_named(tmp_path: Path) -> None:
    remap = line("block_bio_remap", "259,0 WS 2048 + 8 <- (259,1) 0")
    done = line("block_rq_requeue", DONE)
    path = write(tmp_path, remap + done + "block_rq_issue: was not recorded\n")
    assert "cannot be read as block-events" in failure(path)
    assert "block_rq_issue" in failure(path, format="block-events")


BIOSNOOP = {
    "today": (
        "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  LAT(ms)",
        "0.000000    my app         1950    xvda1     W 13092560   4096       0.74",
        "0.000178    kworker/0:1    7       xvda1     R 13092432   8192       0.61",
    ),
    "-Q": (
        "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  QUE(ms) LAT(ms)",
        "0.000000    my app         1950    xvda1     W 13092560   4096      0.05    0.74",
        "0.000178    kworker/0:1    7       xvda1     R 13092432   8192      0.05    0.61",
    ),
    "-P -Q": (
        "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  P QUE(ms) LAT(ms)",
        "0.000000    my app         1950    xvda1     W 13092560   4096   S 0.05    0.74",
        "0.000178    kworker/0:1    7       xvda1     R 13092432   8192   R 0.05    0.61",
    ),
    "of Python 2": (
        "TIME(s)        COMM           PID    DISK    T  SECTOR    BYTES   LAT(ms)",
        "0.000000000    my app         1950   xvda1   W  13092560  4096       0.74",
        "0.000178000    kworker/0:1    7      xvda1   R  13092432  8192       0.61",
    ),
    "-P": (
        "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  P LAT(ms)",
        "0.000000    my app         1950    xvda1     W 13092560   4096   ?    0.74",
        "0.000178    kworker/0:1    7       xvda1     R 13092432   8192   R    0.61",
    ),
    "-Q -P": (
        "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  QUE(ms) P LAT(ms)",
        "0.000000    my app         1950    xvda1     W 13092560   4096      0.01 S    0.74",
        "0.000178    kworker/0:1    7       xvda1     R 13092432   8192      0.02 R    0.61",
    ),
    "libbpf": (
        "TIME(s)     COMM           PID    DISK    T    SECTOR     BYTES   LAT(ms)",
        "0.000000    my app         1950   xvda1   WS   13092560   4096      0.740",
        "0.000178                   7      xvda1   RA   13092432   8192      0.610",
    ),
}


@pytest.mark.parametrize("version", BIOSNOOP)
@pytest.mark.parametrize("headed", [True, False])
def test_biosnoop_in_each_layout(version: str, headed: bool, tmp_path: Path) -> None:
    lines = BIOSNOOP[version][0 if headed else 1 :]
    trace = read("\n".join(lines) + "\n", tmp_path)
    assert (trace.format, trace.devices) == ("biosnoop", ["xvda1"])
    assert trace.frame.rows() == [
        (0, WRITE, 0, 13092560 * SECTOR, 4096),
        (178 * US, READ, 0, 13092432 * SECTOR, 8192),
    ]
    assert trace.notes == ["completions read, with the times of completion"]


IOSNOOP = {
    "": ("", "", [0, 0], "every request is at time 0; iosnoop -s prints them"),
    "-s": ("STARTs          ", "11165.{} ", [0, 500_000 * US], ""),
    "-t": ("ENDs            ", "11165.{} ", [0, 500_000 * US], "with the times of completion"),
    "-ts": ("STARTs          ENDs            ", "11165.{} 11166.9 ", [0, 500_000 * US], ""),
}


@pytest.mark.parametrize("options", IOSNOOP)
def test_iosnoop_in_each_layout(options: str, tmp_path: Path) -> None:
    titles, times, at, note = IOSNOOP[options]
    lines = [
        "Tracing block I/O. Ctrl-C to end",
        f"{titles}COMM         PID    TYPE DEV      BLOCK        BYTES     LATms",
        f"{times.format('000000')}my app 2     11425  WS   253,1    4534         130560     0.04",
        f"{times.format('500000')}<idle>       0      R    253,1    4789         4096       2.01",
        "Ending tracing...",
    ]
    trace = read("\n".join(lines) + "\n", tmp_path)
    assert (trace.format, trace.devices) == ("iosnoop", ["253,1"])
    assert trace.frame.rows() == [
        (at[0], WRITE, 0, 4534 * SECTOR, 130560),
        (at[1], READ, 0, 4789 * SECTOR, 4096),
    ]
    assert len(trace.notes) == bool(note) and note in "".join(trace.notes)


def test_completions_alone_are_read_of_text_and_binary(tmp_path: Path) -> None:
    text = "  8,0    3        1     0.000000000   501  C   W 2048 + 8 [0]\n"
    record = (0x65617407, 1, 0, 2048, 4096, 8 | (2 | 1 << 7) << 16, 501, 8 << 20, 0, 0, 0)
    for data in (text.encode(), struct.pack("<IIQQIIIIIHH", *record)):
        trace = read_bytes(data, tmp_path)
        assert trace.frame.rows() == [(0, *WRITTEN)]
        note = "completions (C) read, with the times of completion: the trace has no D and no Q"
        assert note in trace.notes


def test_why_a_recording_has_no_requests(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "plugs").write_text("8,0 3 1 0.5 697 P N [a]\n8,0 3 2 0.6 697 U N [a] 1\n")
    done = cli("trace", "info", "plugs")
    why = "2 lines left out: the trace has actions P, U; expected D or Q or C"
    assert done.stderr == f"floatgate: plugs: the trace has no requests (blkparse): {why}\n"
    (tmp_path / "noplus").write_text("8,0 1 6 0.5 775 D W 51199 8\n" * 2)
    done = cli("trace", "info", "noplus")
    assert "2 of 2 lines (100 %) cannot be read as blkparse" in done.stderr
    assert "(action D without 'sector + count')" in done.stderr


def test_windows_writes_other_events_around_disk_requests(tmp_path: Path) -> None:
    lines = [
        "FileIoRead, 340, p (4), 80, 0xfffffa80, 7",
        "DiskRead, 350, p (4), 80, 0xfffffa80, 0x0000000200, 0x00000400, 250, 0, 0x060043, 240",
        "DiskWrite, 351, p (4), 80, 0xfffffa80, not a number",
    ]
    good = [lines[1]] * 198
    trace = read("\n".join([*lines, *good]) + "\n", tmp_path)
    assert (trace.format, trace.frame.height, trace.unparsed_lines) == ("etw", 199, 1)
    assert trace.frame.row(0) == (0, READ, 0, 512, 1024)
