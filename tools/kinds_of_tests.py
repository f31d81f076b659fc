"""Counts the test functions of each kind: a table of docs/testing.md, and its picture.

    python tools/kinds_of_tests.py     # renews the table

A function may run many cases. Counts are rounded down to tens, so that they stay true as tests are
added.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "testing.md"
BEGIN, END = "<!-- kinds -->\n", "<!-- end of kinds -->"
HEAD = "| kind | at least | what they compare |\n|---|---|---|\n"

KINDS: dict[str, tuple[str, list[str]]] = {
    # The first kind with a pattern that matches a file has all tests of the file.
    "real software": (
        "flushed data after crashes of fio, Linux, PostgreSQL and clients",
        [
            f"tests/live/test_live_{name}.py"
            for name in (
                *("clients", "drive", "fio", "guest", "kills", "nvme_guest", "nvme_guest_files"),
                *("nvme_guest_zones", "nvme_kills", "postgres", "snapshot", "tools"),
            )
        ],
    ),
    "power cuts and damage": (
        "acknowledged data with what recovery, check and readers find",
        [
            *("*/tests/power.rs", "*/shrd_recovery.rs", "*recover*", "*crash*", "*fault*"),
            *("*damage*", "*test_image_kill.py"),
        ],
    ),
    "second implementations": (
        "each step with a slow, independent model of the text",
        [
            *("*naive*", "*/clock_graphs*", "*/clock_drives*", "*/unit_table.rs", "*/shadow.rs"),
            *("*/differential.rs", "*/cleaning/*", "*/cleaning.rs", "*/tests/curve.rs"),
            *("*/tests/hotness.rs", "*/recordings.rs", "*/test_traces_layout.py"),
        ],
    ),
    "laws": (
        "runs with closed forms, queueing theory, identities and bounds",
        [
            *("*/closed_forms.rs", "*/clock_laws.rs", "*/identities.rs", "*_costs.rs"),
            *("*/hotcold.rs", "*/queueing.rs", "*/counterfactual.rs", "*/separation.rs"),
            *("*/ncq_hits.rs", "*/belady.rs", "tests/models/*"),
        ],
    ),
    "measured drives": (
        "models and fits with measurements",
        ["tests/trust/*", "tests/calibrate/*"],
    ),
    "papers": ("claims, verdicts and pages with evidence made by hand", ["tests/papers/*"]),
    "documentation and rules": (
        "pages with the output of their commands; names, sizes, imports, packages",
        [
            *("tests/docs/*", "tests/project/*", "*/tidy*"),
            *("tests/studies/test_study_docs.py", "tests/advise/test_advise_page.py"),
        ],
    ),
    "trace formats": ("each field of each format with bytes made by hand", ["tests/traces/*"]),
    "parts of the engine": ("each part with examples and random sequences", ["*.rs"]),
    "commands and reports": ("what a user calls with what it prints, draws and refuses", ["*.py"]),
}
"""Each kind with what it compares, and with patterns of its files."""


def counts() -> Counter[str]:
    """Returns the number of test functions of each kind."""
    listed = ["git", "ls-files", "*.rs", "tests/*.py"]
    names = subprocess.check_output(listed, cwd=ROOT, text=True).splitlines()
    found: Counter[str] = Counter()
    for name in names:
        text = (ROOT / name).read_text("utf-8")
        pattern = r"#\[test\]" if name.endswith(".rs") else r"(?m)^ *def test_"
        found[kind_of(name)] += len(re.findall(pattern, text))
    return found


def kind_of(name: str) -> str:
    """Returns the kind of the tests in a file."""
    return next(
        kind
        for kind, (_, patterns) in KINDS.items()
        if any(fnmatch(name, pattern) for pattern in patterns)
    )


def stated(text: str) -> dict[str, int]:
    """Returns the counts in the table of the page."""
    table = text.partition(BEGIN)[2].partition(END)[0]
    rows = re.findall(r"^\| ([a-z ]+) \| ([\d,]+) \|", table, re.MULTILINE)
    return {kind: int(number.replace(",", "")) for kind, number in rows}


def renewed(text: str) -> str:
    """Returns the page with a new table."""
    rounded = {kind: number // 10 * 10 for kind, number in counts().most_common()}
    rows = [f"| {kind} | {number:,} | {KINDS[kind][0]} |\n" for kind, number in rounded.items()]
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}{HEAD}{''.join(rows)}{END}{rest.partition(END)[2]}"


def main() -> None:
    PAGE.write_text(renewed(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
