"""Measures the time and memory of requests: text, reading alone, in a run, and in a comparison.

    python benches/trace_reading.py [MILLIONS]

Each row is a separate process: wall time, processor time of all its threads, and peak memory.
MILLIONS (default 20) is the length of the long traces; the text of each format has a million lines,
and its rows have the microseconds of processor time that a line takes, without the start of the
process. Unless a row says otherwise, the drive has no clock (`timing = "none"`).
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

TRACES = Path(__file__).resolve().parents[2] / "shared" / "traces"
CAPTURE = TRACES / "capture-pgbench-ext4-656k.csv.zst"
LINES = 1_000_000
COUNTING = "--set timing=none"
SHARES = ",".join(f"{0.05 + 0.005 * step:.3f}" for step in range(64))
SPARE = "--vary capacity.spare_factor=0.07,0.08,0.09,0.10,0.11,0.12,0.13,0.14"
CLI = [sys.executable, "-m", "floatgate"]
TEXT = {
    "floatgate-csv": "{us}.25,{op},{bytes},4096",
    "spc": "{device},{sector},4096,{op},{s}",
    "msr": "{ticks},usr,{device},{word},{bytes},4096,7",
    "alibaba": "{device},{op},{bytes},4096,{us}",
    "tencent": "{seconds},{sector},8,{code},{device}",
    "systor17": "{s},0.1,{op},{device},{bytes},4096",
    "diskmon": "{row}\t{s}\t0.0004\t{device}\t{word}\t{sector}\t8",
    "disksim": "{s} {device} {sector} 8 {code}",
    "fiu": "{us}000 77 httpd {sector} 8 {op} 6 {device} ab12cd34ef56ab12cd34ef56ab12cd34",
    "blkparse": "  8,{device}    1 {row:8} {s:>14} {pid:5}  D  {op}S {sector} + 8 [fio]",
    "fio 2": "/dev/sd{device} {low} {bytes} 4096",
    "fio 3": "{us} /dev/sd{device} {low} {bytes} 4096",
    "block-events": "fio-{pid} [001] ..... {s}: "
    "block_rq_issue: 8,{device} {op}S 4096 () {sector} + 8",
    "iosnoop": "{s} {s} fio {pid} {op} 8,{device} {sector} 4096 0.35",
    "biotracer": "{sector}\t8\t4096\t{code}\t{s}\t{s}\t{s}\t{s}",
    "etw": " Disk{word}, {us}, svchost ( 984), 7, 0xfffffa80, 0x{bytes:x}, 0x1000, 99, {device}, 0",
    "biosnoop": "{s} fio {pid} sd{device} {op} {sector} 4096 0.35",
}
"""A line of each text format."""
CPU = (
    "import sys, time; from floatgate.traces import read_trace; read_trace(sys.argv[2]); "
    "begin = time.process_time(); clock = time.perf_counter(); read_trace(sys.argv[1]); "
    "print(time.process_time() - begin, time.perf_counter() - clock)"
)
READ = "import sys; from floatgate.traces import read_trace; read_trace(sys.argv[1])"


def main() -> None:
    millions = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    head()
    with tempfile.TemporaryDirectory() as directory:
        text(Path(directory))
        reading(Path(directory))
        long_traces(Path(directory), millions)


def text(directory: Path) -> None:
    """Reads a million lines of each text format."""
    print(f"{'text':44} {'cpu us a line':>13} {'wall us':>8}")
    for form, line in TEXT.items():
        head = [f"fio version {form[-1]} iolog"] if form.startswith("fio ") else []
        files = []
        for name, rows in (("long", LINES), ("short", 1000)):
            files.append(directory / name)
            files[-1].write_text("\n".join([*head, *map(line.format_map, lines(rows))]) + "\n")
        command = [sys.executable, "-c", CPU, *map(str, files)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        cpu, wall = (1e6 * float(one) / LINES for one in done.stdout.split())
        print(f"{form:44} {cpu:13.3f} {wall:8.3f}", flush=True)


def lines(count: int) -> Iterator[dict[str, object]]:
    """Yields the fields of lines at random places, 100 us apart."""
    draw = random.Random(1)
    for row in range(count):
        sector, code = 8 * draw.randrange(1 << 24), draw.randrange(2)
        word, us = ("Read", "Write")[code], 100 * row
        yield {"row": row, "us": us, "s": f"{us / 1e6:.6f}", "seconds": us // 1_000_000} | {
            "ticks": 128166372003061629 + 10 * us, "sector": sector, "bytes": 512 * sector,
            "device": row % 5, "pid": 1000 + row % 50, "code": code, "word": word,
            "op": word[0], "low": word.lower(),
        }  # fmt: skip


def reading(directory: Path) -> None:
    """Reads files on disk to columns in memory, and runs a Parquet capture on a drive with its
    clock."""
    for file in sorted(TRACES.glob("*.zst")):
        report(f"read {file.name}", [sys.executable, "-c", READ, str(file)], 0)
    if CAPTURE.exists():
        path = directory / "capture.parquet"
        quietly(f"trace import {CAPTURE} -o {path}")
        report("run capture, clock", run(f"run {path}"), 656_291)
        report("run capture 20 times, clock", run(f"run {path} --repeat 20"), 20 * 656_291)
        report("run capture 20 times", run(f"run {path} --repeat 20 {COUNTING}"), 20 * 656_291)
        many = f"compare {path} --repeat 20 {COUNTING} --vary capacity.spare_factor={SHARES}"
        report("compare capture 20 times, 64 drives", run(many), 64 * 20 * 656_291)


def long_traces(directory: Path, millions: int) -> None:
    """Plays the same requests from a generator and from Parquet, on one drive and on eight."""
    spec, path = f"uniform:span=4GiB,writes={millions}M", directory / "long.parquet"
    quietly(f"trace generate {spec} -o {path}")
    requests = millions * 1_000_000
    for name, source in (("generator", spec), ("Parquet", str(path))):
        report(f"run {name}", run(f"run {source} {COUNTING}"), requests)
        for workers in (1, 2):
            eight = f"compare {source} {COUNTING} {SPARE} --workers {workers}"
            report(f"compare {name}, 8 drives, {workers} at a time", run(eight), 8 * requests)
    report("run Parquet, --limit 1000", run(f"run {path} {COUNTING} --limit 1000"), 1000)


def run(words: str) -> list[str]:
    """Returns the command line, without output on a terminal."""
    return [*CLI, *words.split(), "--json", "--quiet"]


def quietly(words: str) -> None:
    subprocess.run([*CLI, *words.split(), "--quiet"], check=True, stdout=subprocess.DEVNULL)


def head() -> None:
    print(f"{'':44} {'requests':>13} {'wall s':>8} {'cpu s':>8} {'MiB':>7} {'requests/s':>12}")


def report(name: str, command: list[str], requests: int) -> None:
    """Prints time and memory of a command, and its rate if it has `requests`."""
    begin = time.perf_counter()
    # Unlike `getrusage` of all children, `wait4` returns the memory of this child alone.
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)}: exit status {child.returncode}")
    wall, cpu = time.perf_counter() - begin, used.ru_utime + used.ru_stime
    mebibytes = used.ru_maxrss / (1 << 10 if sys.platform == "linux" else 1 << 20)
    count, rate = (f"{requests:,}", f"{requests / wall:,.0f}") if requests else ("", "")
    print(f"{name:44} {count:>13} {wall:8.2f} {cpu:8.2f} {mebibytes:7,.0f} {rate:>12}", flush=True)


if __name__ == "__main__":
    main()
