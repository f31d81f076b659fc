"""Live drives for tests, stopped at their end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_drive import LiveDrive, Serve


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Makes a drive of `size` bytes in the test's directory and serves it."""
    with contextlib.ExitStack() as stack:

        def start(size: int, **options: object) -> LiveDrive:
            drive = LiveDrive(tmp_path, size, **options).start()
            stack.callback(drive.stop)
            return drive

        yield start
