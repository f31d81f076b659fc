"""Where things are in the source tree, and next to it."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data" / "traces"
SHARED = ROOT.parent / "shared"
"""Traces, drives and cases that are no part of the repository."""


def shared(name: str) -> Path:
    """Returns a file of `SHARED`. Skips the test if it is not here."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{path} is not here: it is no part of the repository")
    return path
