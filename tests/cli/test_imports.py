"""Commands import large libraries only when they need them, because each delays the start."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import python
from paths import DATA

LARGE = {
    *("numpy", "scipy", "polars", "pyarrow", "zstandard", "fsspec", "ray"),
    *("altair", "jinja2", "vl_convert", "optuna", "floatgate._core"),
}
"""Libraries that take longer to import than Floatgate's own modules, and the engine."""

TINY = "uniform:span=1MiB,writes=500"
TRACE = DATA / "financial.spc"
ENGINE = {"floatgate._core"}
READING = ENGINE | {"polars", "zstandard"}


def imported(folder: Path, words: Sequence[object]) -> set[str]:
    """Returns the large libraries that a command imports."""
    done = python("-X", "importtime", "-m", "floatgate", *words, cwd=folder)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip() for line in lines} & LARGE


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--help"], set()),
        (["run", "--help"], set()),
        (["predict"], set()),
        (["devices"], ENGINE),
        (["policies"], ENGINE),
        (["policies", "python:midas"], ENGINE),
        (["schema"], ENGINE),
        (["trace", "generate", "--list"], ENGINE),
        (["run", TINY], ENGINE),
        (["run", TINY, "--json"], ENGINE),
        (["run", TRACE], READING),
        (["compare", TINY, "--seeds", "2", "--json"], ENGINE | {"polars"}),
        (["run", TINY, "--out", "out"], ENGINE | {"polars", "altair", "jinja2", "vl_convert"}),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_a_command_imports_only_what_it_needs(
    tmp_path: Path, words: list[object], expected: set[str]
) -> None:
    assert imported(tmp_path, words) == expected
