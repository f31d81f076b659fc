"""Live drives for tests, ended with them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_drive import Drives, LiveDrive

from floatgate.live import nbdkit


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Drives]:
    """Makes a drive of `size` bytes in the test's directory, and serves it."""
    if not nbdkit.PLUGIN.is_file():
        pytest.skip("the nbdkit plugin was not built (make build)")
    with contextlib.ExitStack() as stack:

        def start(size: int, **options: Any) -> LiveDrive:
            drive = LiveDrive(tmp_path, size, **options)
            stack.callback(drive.end)
            return drive.start()

        yield start
