"""The command line as a user meets it: a process with a working directory of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Done = subprocess.CompletedProcess[str]
Cli = Callable[..., Done]

HANGS_S = 900
"""A command that takes so many seconds hangs: a slow machine that does other things needs less."""


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Runs `floatgate` with the given arguments in `tmp_path`."""

    def call(*arguments: object) -> Done:
        command = [sys.executable, "-m", "floatgate", *map(str, arguments)]
        return subprocess.run(
            command,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=HANGS_S,
        )

    return call
