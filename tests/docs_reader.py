"""Files that a reader of the pages has and tests must make, and commands that tests cannot run.

Each table gives the reason. `test_docs_commands.py` fails if a row matches no command.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import zstandard
from binary_traces import capture
from command_line import in_process
from paths import DATA, ROOT, shared
from paths import SHARED as OUTSIDE

SHARED = OUTSIDE / "traces"

PLACEHOLDERS = {"SIZE": "64KiB", "DIR": str(SHARED)}
"""Words in capitals that stand for a reader's choice."""

NOT_OURS = {
    "sudo": "needs root, and packages or a disk",
    "pip": "installs packages from the network",
    "cargo": "compiles for minutes, and installs; what it names is held to be there",
    "rustup": "installs a compiler",
    "make": "sets up an environment and builds; its targets and variables are held to be there",
    "python": "benchmarks of minutes; the file and its options are held to be there",
    "mkdir": "makes a place for a mount that needs root",
    ".": "is the reader's shell, set up for what `make build` has made",
    "blkparse": "needs what blktrace has recorded as root; a file that it wrote stands in",
}
"""Programs that no test runs, with the reason."""

NOT_RUN = {
    r"floatgate calibrate --from-jobs jobs .*": "needs the results of fio on a drive",
    r"floatgate study \S+ --out \S+ --shard .*": "a part of many that GNU parallel, Slurm or"
    " Kubernetes start; test_study.py runs parts",
    r"floatgate paper \w+ --full": "takes 100 minutes for all (docs/papers/README.md)",
    r"floatgate paper all --out papers": "takes minutes; each page has its paper, and"
    " papers/test_paper_site.py the site",
}
"""Commands that no test runs, as patterns with the reason."""

LONG = {
    r"floatgate calibrate .* --fit flash.read .*": "33 simulations of a large drive",
    r"floatgate compare capture-pgbench\S* --limit 200000 .*": "a policy in Python, 24 runs",
    r"floatgate tour": "takes a minute",
    r"floatgate paper \w+": "takes one to three minutes",
    r"floatgate paper \w+ --traces DIR --json": "takes as long, but for what is in the cache",
    r"floatgate run uniform:span=16MiB,writes=20M .*": "wears a drive out, 20 M writes",
    r"floatgate study (?!--help).*": "90 runs, of which the others tell",
    r"floatgate precondition (?!--workload uniform:).*": "five seeds of two starts and 15 recipes",
    r"floatgate trace info zipf:span=64GiB,requests=100M .*": "100 M accesses",
}
"""Commands that take longer than about 15 s, as patterns with the reason. Only the long tests run
them."""


def _requests() -> Iterator[tuple[int, str]]:
    """Yields requests to pages of 64 MiB: most go to few pages, with three reads to seven
    writes."""
    chosen = random.Random(1)
    for _ in range(20_000):
        page = min(int(chosen.paretovariate(0.3)), 16_384) - 1
        yield page, "R" if chosen.random() < 0.3 else "W"


def _trace(path: Path) -> None:
    lines = ["timestamp_us,op,offset_bytes,size_bytes"]
    for number, (page, kind) in enumerate(_requests()):
        lines.append(f"{number * 500},{kind},{page * 4096},4096")
    path.write_text("\n".join(lines) + "\n", "utf-8")


def _titled(path: Path) -> None:
    """Writes a table whose titles state the units."""
    rows = ["Time,Op,LBA,Sectors"]
    for number in range(1000):
        kind = "R" if number % 3 == 0 else "W"
        rows.append(f"{number / 10_000:.4f},{kind},{number * 37 % 256 * 8},8")
    path.write_text("\n".join(rows) + "\n", "utf-8")


def _columns(header: str, write: str, read: str, unit: int) -> Callable[[Path], None]:
    """Returns a maker of a table of disk, address, time, length and operation, with or without a
    header."""

    def make(path: Path) -> None:
        rows = [header] if header else []
        for number in range(1000):
            kind = read if number % 3 == 0 else write
            place = number * 37 % 256 * 4096 // unit
            rows.append(f"{number % 2},{place},{number * 100},{4096 // unit},{kind}")
        path.write_text("\n".join(rows) + "\n", "utf-8")

    return make


def _spc(path: Path) -> None:
    """Writes the same kind of requests in the UMass format, to two volumes."""
    lines = []
    for number, (page, kind) in enumerate(_requests()):
        lines.append(f"{page % 2},{page * 8},4096,{kind.lower()},{number * 0.0005:.6f}")
    path.write_bytes(zstandard.compress(("\n".join(lines) + "\n").encode()))


def _own(name: str) -> Callable[[Path], None]:
    """Returns a maker that links a file of the repository to the path that the reader uses."""

    def make(path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(ROOT / name)

    return make


def _shared(path: Path) -> None:
    path.symlink_to(shared(f"traces/{path.name}"))


def _recorded(path: Path) -> None:
    """Leaves a capture and no trace, as a killed server does."""
    path.with_suffix("").unlink(missing_ok=True)
    path.write_bytes(capture())


def _study(path: Path) -> None:
    """Writes the first study file of docs/sweeps.md."""
    page = (ROOT / "docs" / "sweeps.md").read_text("utf-8")
    [first, *_] = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    path.write_text(first, "utf-8")


def _played(path: Path) -> None:
    """Writes a generated trace that stands for a recording."""
    call = ["trace", "generate", "zipf:span=64MiB,requests=5k,reads=0.3", "-o", path]
    in_process(path.parent, *call, "-q").check_returncode()


def _bytes(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(64 << 10))


def _roomy(path: Path) -> None:
    """Writes the second drive of docs/learn/database.md, as its `printf` does."""
    path.write_text('preset = "classic"\ncapacity.spare_factor = 0.28\n', "utf-8")


def installed(page: str, folder: Path) -> None:
    """Writes the files in Python and TOML that a page tells the reader to save, and the entry
    points that `pip install -e .` would install from them. `folder` has to be on `sys.path`."""
    text = (ROOT / page).read_text("utf-8")
    for kind, name in SAVED[page].items():
        [content] = re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)
        (folder / name).write_text(content, "utf-8")
    project = (folder / "pyproject.toml").read_text("utf-8")
    found = re.search(r'^\[project\.entry-points\."(.*)"\]\n((?:.+\n)+)', project, re.MULTILINE)
    assert found, f"{page}: no entry points"
    info = folder / "reader-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: reader\nVersion: 1\n", "utf-8")
    points = f"[{found[1]}]\n" + found[2].replace('"', "")
    (info / "entry_points.txt").write_text(points, "utf-8")


SAVED = {"docs/learn/policy.md": {"python": "twoq.py", "toml": "pyproject.toml"}}
"""Pages whose reader makes a package of policies: the files by the language of their blocks."""


FILES: dict[str, Callable[[Path], None]] = {
    "TRACE": _trace,
    "X.parquet": _played,
    "X.parquet.part": _recorded,
    "boot.bin": _bytes,
    "capture-pgbench-ext4-656k.csv.zst": _shared,
    "docs/fio/database.fio": _own("docs/fio/database.fio"),
    "docs/fio/handles.fio": _own("docs/fio/handles.fio"),
    "docs/fitting/qd1.json": _own("docs/fitting/qd1.json"),
    "docs/fitting/qd16.json": _own("docs/fitting/qd16.json"),
    "docs/fitting/start.toml": _own("docs/fitting/start.toml"),
    "docs/fitting/wa.csv": _own("docs/fitting/wa.csv"),
    "docs/studies/handles.toml": _own("docs/studies/handles.toml"),
    "disk.txt": lambda path: path.write_bytes((DATA / "queue.blkparse").read_bytes()),
    "financial.spc.zst": _spc,
    "mine.csv": _columns("", "w", "r", 1),
    "own.csv": _titled,
    "theirs.csv": _columns("disk,lba,ts,n,rw", "1", "0", 512),
    "roomy.toml": _roomy,
    "sweep.toml": _study,
}
"""Files that the pages assume the reader has, and the functions that make them here."""


def record(command: list[str], folder: Path) -> list[str]:
    """Runs fio, which writes a log. Without fio it writes a similar log itself and returns a
    message about that."""
    if shutil.which("fio"):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return []
    lines = ["fio version 3 iolog", "0 file add", "0 file open"]
    for number, (page, kind) in enumerate(_requests()):
        operation = "read" if kind == "R" else "write"
        lines.append(f"{number * 30} file {operation} {page * 4096} 4096")
    (folder / "my.log").write_text("\n".join(lines) + "\n", "utf-8")
    return ["fio is not installed: the commands ran, the numbers are of fio's log"]
