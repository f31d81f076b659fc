"""Records the captures of ext4 and f2fs that the reproduction of SHRD plays.

    python tools/record_file_systems.py python/floatgate/papers/shrd/captures

It takes minutes on a machine with KVM, more where the virtual machine is emulated, and needs the
Debian packages nbdkit, fio, qemu-system-x86, linux-image-amd64, busybox-static, e2fsprogs and
f2fs-tools.

Linux in QEMU makes each file system on a live drive of 512 MiB and fills half or nine tenths of it
with one file. fio then writes 4 KiB of this file at random, fsynced 32 at a time. A capture has the
requests at the drive of WRITES such writes, or of reading the first READ MiB of the file in order.
Both are recorded fresh, and again after AGEING writes. Reads of one sector separate the captures.
Linux has f2fs write in place on volumes below 16 GiB; we set the policy of larger ones (16).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import polars as pl

from floatgate.traces import read_trace
from floatgate.traces.model import READ as READS
from floatgate.traces.model import SCHEMA, Trace
from floatgate.traces.write import write_trace

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "live"))

import live_guest

SIZE = 512 << 20
WRITES, AGEING, READ = 8192, 65_536, 32
"""Writes in a capture, 256 MiB of writes to age, and MiB read in order."""
FULL = (50, 90)
SECTOR = 512
PARTS = ("fresh", "fresh-read", "aged", "aged-read")

MAKE = {
    "ext4": "/tools/mke2fs -q -F -t ext4 -m 0 -E lazy_itable_init=0,lazy_journal_init=0 /dev/vda",
    "f2fs": "/tools/mkfs.f2fs -q -f /dev/vda",
}
JOB = """
fail() { echo FAIL $1; poweroff -f; }
run() {
    /tools/fio --filename=$1 --thread --ioengine=psync --output=/fio.txt --name=$2 $3 >/dev/null \\
        || fail $2; }
mark() { sync; run /dev/vda mark "--rw=read --bs=512 --size=512 --offset=$1 --direct=1"; }
write() { run /mnt/file write "--rw=randwrite --bs=4k --number_ios=$1 --norandommap $2"; }
start() {
    mount -t $NAME /dev/vda /mnt || fail mount
    [ $NAME = ext4 ] || echo 16 > /sys/fs/f2fs/vda/ipu_policy; }
again() { umount /mnt; start; }
measure() {
    mark 512; write $WRITES "--fdatasync=32 --randseed=$1"; mark 1024
    again; mark 512; run /mnt/file read "--rw=read --bs=128k --size=${READ}m"; mark 1024; }
for full in $FULL; do
    $MAKE || fail make
    start
    set -- $(df -k /mnt | tail -1)
    dd if=/dev/zero of=/mnt/file bs=64k count=$(((($3 + $4) * full / 100 - $3) / 64)) 2>/dev/null
    again; df -k /mnt
    measure 1
    write $AGEING "--end_fsync=1 --randseed=2"
    measure 3
    umount /mnt; echo done $full
done
echo end; poweroff -f
"""


def job(name: str) -> str:
    """Returns the script that the virtual machine runs for the file system `name`."""
    values = {"NAME": name, "MAKE": MAKE[name], "FULL": " ".join(map(str, FULL))}
    values |= {"WRITES": str(WRITES), "AGEING": str(AGEING), "READ": str(READ)}
    return "".join(f"{key}='{value}'\n" for key, value in values.items()) + JOB


def record(name: str, folder: Path) -> Trace:
    """Returns all requests of a virtual machine's life with the file system `name`."""
    ready, recording = folder / "ready.json", folder / "all.parquet"
    command = [sys.executable, "-m", "floatgate", "serve", "--device", "small-nvme", "--quiet"]
    command += ["--size", f"{SIZE}B", "--record", recording, "--ready-file", ready]
    command += ["--socket", folder / "nbd.sock"]
    server = subprocess.Popen(command)
    while not ready.exists():
        time.sleep(0.1)
    made = live_guest.system(folder, [*live_guest.TOOLS, "fio"])
    uri = json.loads(ready.read_text())["uri"]
    live_guest.PROMPT_S = 7200
    with live_guest.Guest(made, folder, uri, job(name)) as guest:
        lines = guest.finish()
    server.terminate()
    server.wait()
    print(name, *lines, sep="\n", flush=True)
    assert lines[-1] == "end" and not any(line.startswith("FAIL") for line in lines)
    return read_trace(recording)


def parts(trace: Trace) -> Iterator[pl.DataFrame]:
    """Yields the requests between each pair of marks. The recorded times are an emulator's, so the
    requests of a part get one each microsecond, in their order."""
    marks = trace.frame.with_row_index().filter(op=READS, length=SECTOR)
    starts = marks.filter(offset=512)["index"]
    ends = marks.filter(offset=1024)["index"]
    for start, end in zip(starts, ends, strict=True):
        part = trace.frame.slice(start + 1, end - start - 1)
        yield part.select(*SCHEMA).with_columns(
            at_ns=pl.int_range(pl.len(), dtype=pl.UInt64) * 1000
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=MAKE, action="append")
    chosen = parser.parse_args()
    for name in chosen.only or MAKE:
        with tempfile.TemporaryDirectory() as folder:
            trace = record(name, Path(folder))
        for (full, part), frame in zip(product(FULL, PARTS), parts(trace), strict=True):
            path = chosen.folder / f"{name}-{full}-{part}.csv.xz"
            write_trace(replace(trace, frame=frame, notes=[]), path, ".csv.xz")
            print(path.name, frame.height, path.stat().st_size, flush=True)


if __name__ == "__main__":
    main()
