"""Counts instructions per host page along nine paths of the engine, with callgrind.

    python tools/instructions.py            compare them with the table in floatgate-ftl/benches
    python tools/instructions.py --write    write them to the table

The counts do not depend on the load of the machine. A path that exceeds the table by more than the
tolerance is an error (exit status 1). The table is valid for one version of rustc. With another
version the counts are printed and not compared. Needs valgrind.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TABLE = Path(__file__).parent.parent / "crates/floatgate-ftl/benches/instructions.json"
COLLECTED = re.compile(r"Collected : (\d+)")


def main() -> int:
    """Counts, then compares or writes the table. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the table")
    is_writing = parser.parse_args().write
    table = json.loads(TABLE.read_text("utf-8"))
    rustc = _output("rustc", "--version").strip()
    program = _build()
    found = {name: count(program, name) for name in _output(program).splitlines()}
    if is_writing:
        _write(rustc, table["tolerance"], found)
        return 0
    if rustc != table["rustc"]:
        print(f"not compared: the table is of {table['rustc']}, this is {rustc}")
        return 0
    worse = regressions(table["paths"], found, table["tolerance"])
    for line in worse:
        print(line, file=sys.stderr)
    return 1 if worse else 0


def regressions(known: dict[str, int], found: dict[str, int], tolerance: float) -> list[str]:
    """Returns a message for each path that takes more instructions than in the table, and for each
    path that only one side has."""
    said = [
        f"{name}: {found[name]:,} instructions a page, {known[name]:,} before"
        for name in found
        if name in known and found[name] > known[name] * (1 + tolerance)
    ]
    unknown = sorted(known.keys() ^ found.keys())
    return said + [f"{name}: in the table or in the benchmark only" for name in unknown]


def count(program: str, name: str) -> int:
    """Counts and prints the instructions per page of one path."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                f"--callgrind-out-file={folder}/out",
                "--toggle-collect=instructions::measured",
                program,
                name,
            ],
            capture_output=True,
            text=True,
            check=True,
        )
    collected = COLLECTED.search(done.stderr)
    assert collected, done.stderr
    pages, programs = map(int, done.stdout.split())
    instructions = int(collected[1])
    assert instructions > pages, "callgrind did not see what is measured"
    each = f"{instructions / pages:10,.0f} a page{instructions / programs:8,.0f} a flash program"
    print(f"{name:32}{each}", flush=True)
    return round(instructions / pages)


def _write(rustc: str, tolerance: float, found: dict[str, int]) -> None:
    table = {"rustc": rustc, "tolerance": tolerance, "paths": found}
    TABLE.write_text(json.dumps(table, indent=2) + "\n", "utf-8")
    print(f"wrote {TABLE}")


def _build() -> str:
    """Builds the benchmark, and returns the path of its executable."""
    told = _output(
        *("cargo", "bench", "--quiet", "--locked", "-p", "floatgate-ftl"),
        *("--bench", "instructions", "--no-run", "--message-format=json"),
    )
    messages = map(json.loads, told.splitlines())
    return next(str(one["executable"]) for one in messages if one.get("executable"))


def _output(*command: str) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
