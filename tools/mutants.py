"""Makes deliberate bugs, one at a time, and runs the tests that should notice each.

    make mutants FILES="crates/floatgate-lab/src/metrics.rs python/floatgate/cli/summary.py"
    make mutants CHANGED=origin/main MINUTES=10

cargo-mutants makes the mutants of Rust files, Cosmic Ray the mutants of Python files, each on a
copy of the tree. A mutant runs only the tests of its file (`SUITES`), which keeps it well under a
minute. The exit status is 1 if a mutant survives that `docs/testing.md` does not list with a
reason.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "mutants"
LISTED = ROOT / "docs" / "testing.md"
SEED = 1

FTL, LAB, PYTHON = "crates/floatgate-ftl/src/", "crates/floatgate-lab/src/", "python/floatgate/"

BINARIES = {"floatgate-ftl": "engine", "floatgate-lab": "lab"}
"""The binary of integration tests of each crate."""

SUITES: list[tuple[str, list[str]]] = [
    # The first pattern that matches a file applies. For Rust: names of the tests that run, in the
    # crate and in its test binary. Without names only the tests in the crate run.
    (FTL + "journal.rs", []),
    (FTL + "recovery.rs", []),
    (FTL + "page_ftl*", ["page_ftl", "cleaning"]),
    (FTL + "log_*", ["log_", "naive_bast", "naive_fast"]),
    (FTL + "nand*", ["nand", "timing", "clock_graphs"]),
    (FTL + "buffer*", ["buffer"]),
    (FTL + "device*", ["device", "timing", "buffered"]),
    (FTL + "host*", ["host", "shrd"]),
    (FTL + "mapping*", ["mapping", "naive_caches", "naive_dftl", "naive_t"]),
    (FTL + "placement/eti*", ["placement::eti", "naive_eti"]),
    (FTL + "*", ["golden", "tests::"]),
    (LAB + "image/*", ["image"]),
    (LAB + "stored*", ["stored"]),
    (LAB + "crash*", ["crash"]),
    (LAB + "curve*", ["curve"]),
    (LAB + "config*", ["config"]),
    (LAB + "workload*", ["workload", "generators"]),
    (LAB + "*", ["results", "tests::"]),
    # For Python: test files, as patterns.
    (PYTHON + "traces/*", ["tests/traces/test_traces_*.py"]),
    (
        PYTHON + "report/*",
        ["tests/report/test_report_[!ps]*.py", "tests/report/test_report_predictions.py"],
    ),
    (PYTHON + "cli/summary.py", ["tests/report/test_report_terminal.py"]),
    (PYTHON + "papers/*/claims.py", ["tests/papers/test_paper_claims.py"]),
    (PYTHON + "papers/*", ["tests/papers/test_paper_*.py"]),
    (PYTHON + "models/*", ["tests/models/test_models_*.py"]),
    (
        PYTHON + "*",
        ["tests/simulation/test_api.py", "tests/cli/test_cli*.py", "tests/cli/test_outputs.py"],
    ),
]


@dataclass
class Outcome:
    """Outcome of the mutants of some files."""

    caught: int = 0
    survived: list[str] = field(default_factory=list)
    unfinished: bool = False

    def __iadd__(self, other: Outcome) -> Outcome:
        self.caught += other.caught
        self.survived += other.survived
        self.unfinished |= other.unfinished
        return self


def suite(file: str) -> list[str]:
    """Returns the tests of a file."""
    return next(tests for pattern, tests in SUITES if fnmatch(file, pattern))


def changed(since: str) -> list[str]:
    """Returns source files that differ from a revision."""
    names = subprocess.check_output(
        ["git", "diff", "--name-only", "--diff-filter=AM", since], cwd=ROOT, text=True
    )
    return [name for name in names.splitlines() if is_source(name)]


def is_source(name: str) -> bool:
    return name.startswith((FTL, LAB, PYTHON)) and name.endswith((".rs", ".py"))


def listed() -> set[str]:
    """Returns the known survivors, which have a reason: the first column of their table."""
    table = LISTED.read_text("utf-8").partition("### Survivors with a reason\n")[2]
    rows = re.findall(r"^\| `([^`]+)` \|", table.partition("\n## ")[0], re.MULTILINE)
    return set(rows)


def nameless(mutant: str) -> str:
    """Returns a mutant without its line and column, which change with edits."""
    return re.sub(r":\d+:\d+:", ":", mutant)


def rust(files: list[str], tests: list[str], shard: str | None, deadline: float) -> Outcome:
    """Runs the mutants of Rust files of one crate with cargo-mutants."""
    package = files[0].split("/")[1]
    out = WORK / package
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    command = ["cargo", "mutants", "--profile", "mutants", "--package", package]
    command += ["--output", str(out), "--baseline", "run", "--minimum-test-timeout", "60"]
    command += [part for name in files for part in ("--file", name)]
    command += ["--shard", shard] if shard else []
    # For every call of cargo: only the tested targets need to be built.
    binary = [f"--test={BINARIES[package]}"] if tests else []
    command += [f"--cargo-arg={argument}" for argument in ("--locked", "--lib", *binary)]
    command += ["--", "--", *tests] if tests else []
    process = subprocess.Popen(command, cwd=ROOT)
    unfinished = False
    try:
        process.wait(max(1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        process.wait()
        unfinished = True
    if process.returncode == 4:
        sys.exit(f"the tests fail without a mutant: {' '.join(tests)}")
    lines = {
        name: (out / "mutants.out" / f"{name}.txt").read_text("utf-8").splitlines()
        for name in ("caught", "timeout", "missed")
    }
    return Outcome(len(lines["caught"]) + len(lines["timeout"]), lines["missed"], unfinished)


def python(file: str, tests: list[str], shard: str | None, deadline: float) -> Outcome:
    """Runs the mutants of a Python file with Cosmic Ray, on a copy of the files that the tests
    need."""
    from cosmic_ray.work_db import WorkDB, use_db
    from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult

    tree = WORK / "python"
    copy_tree(tree)
    names = sorted(str(path) for pattern in tests for path in tree.glob(pattern))
    command = f"{sys.executable} -m pytest -x -q -p no:cacheprovider {' '.join(names)}"
    config, session = tree / "cosmic-ray.toml", tree / "session.sqlite"
    lines = [("module-path", str(tree / file)), ("test-command", command)]
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in lines)
    config.write_text(
        f"[cosmic-ray]\n{text}timeout = 300.0\nexcluded-modules = []\n"
        '[cosmic-ray.distributor]\nname = "local"\n'
    )
    environment = os.environ | {"PYTHONPATH": str(tree / "python"), "PYTHONDONTWRITEBYTECODE": "1"}

    def ray(*arguments: object, limit: float | None = None) -> bool:
        call = [str(Path(sys.executable).parent / "cosmic-ray"), *map(str, arguments)]
        try:
            done = subprocess.run(call, cwd=tree, env=environment, timeout=limit)
        except subprocess.TimeoutExpired:
            return False
        if done.returncode != 0:
            sys.exit(f"cosmic-ray {arguments[0]} failed on {file}")
        return True

    ray("init", config, session, "--force")
    ray("baseline", config)
    with use_db(session, WorkDB.Mode.open) as work:
        skipped = WorkResult(worker_outcome=WorkerOutcome.SKIPPED)
        for item in list(work.work_items):
            mutation = item.mutations[0]
            name = f"{mutation.operator_name} {mutation.occurrence} {mutation.operator_args}"
            is_annotation = "BinaryOperator_BitOr" in name
            if is_annotation or not share(f"{file} {name}", shard):
                work.set_result(item.job_id, skipped)
    finished = ray("exec", config, session, limit=max(1, deadline - time.monotonic()))
    found = Outcome(unfinished=not finished)
    with use_db(session, WorkDB.Mode.open) as work:
        places = {item.job_id: item.mutations[0].start_pos for item in work.work_items}
        for job, result in work.results:
            if result.worker_outcome is WorkerOutcome.SKIPPED:
                continue
            if result.test_outcome is TestOutcome.SURVIVED:
                found.survived.append(f"{file}:{spell(places[job], result.diff)}")
            else:
                found.caught += 1
    return found


def copy_tree(tree: Path) -> None:
    """Copies the Python files that git tracks, and the compiled module."""
    shutil.rmtree(tree, ignore_errors=True)
    parts = ["python", "tests", "devices", "docs", "README.md", "pyproject.toml"]
    names = subprocess.check_output(["git", "ls-files", *parts], cwd=ROOT, text=True).splitlines()
    compiled = [str(path.relative_to(ROOT)) for path in ROOT.glob("python/floatgate/_core*.so")]
    for name in names + compiled:
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    shared = ROOT.parent / "shared"
    if shared.is_dir() and not (tree.parent / "shared").exists():
        (tree.parent / "shared").symlink_to(shared)


def share(mutant: str, shard: str | None) -> bool:
    """Returns whether a mutant is in this share of all, K of N. The share is the same on every
    machine."""
    if shard is None:
        return True
    part, parts = map(int, shard.split("/"))
    return random.Random(f"{SEED} {mutant}").randrange(parts) == part


def spell(position: tuple[int, int], diff: str | None) -> str:
    """Returns a Python mutant as "line:column: old -> new"."""
    lines = (diff or "").splitlines()[3:]
    old, new = ([line[1:].strip() for line in lines if line[:1] == sign] for sign in "-+")
    return f"{position[0]}:{position[1]}: {' '.join(old)} -> {' '.join(new)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("files", nargs="*", help="source files; none: those that --changed names")
    parser.add_argument("--changed", metavar="REVISION", help="files that differ from it")
    parser.add_argument("--shard", metavar="K/N", help="one mutant in N, counted from 0")
    parser.add_argument("--minutes", type=float, default=24 * 60, help="when to stop")
    given = parser.parse_args()
    if not (given.files or given.changed):
        parser.error("expected source files, or --changed with a revision")
    files = given.files + (changed(given.changed) if given.changed else [])
    for name in files:
        if not (is_source(name) and (ROOT / name).is_file()):
            sys.exit(f"{name}: no source file of the engine, the lab or the Python side")
    deadline = time.monotonic() + 60 * given.minutes
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in dict.fromkeys(files):
        single = [name] if name.endswith(".py") else []
        groups.setdefault((*suite(name), *single), []).append(name)
    total = Outcome()
    for names in groups.values():
        if time.monotonic() > deadline:
            total.unfinished = True
            break
        if names[0].endswith(".py"):
            total += python(names[0], suite(names[0]), given.shard, deadline)
        else:
            total += rust(names, suite(names[0]), given.shard, deadline)
    report(total)


def report(total: Outcome) -> None:
    known = listed()
    new = [mutant for mutant in total.survived if nameless(mutant) not in known]
    for mutant in new:
        print(f"survived: {mutant}")
    print(
        f"{total.caught} mutants caught, {len(total.survived)} survived, {len(new)} of them not in "
        f"{LISTED.relative_to(ROOT)}{'; stopped before all were tried' if total.unfinished else ''}"
    )
    sys.exit(bool(new))


if __name__ == "__main__":
    main()
