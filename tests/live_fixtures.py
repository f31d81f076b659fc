"""Fixtures of live drives: one that nbdkit serves, one that answers from a document, and servers
with a stand-in for nbdkit."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Done
from live_fake import FakeDrive, status_document
from live_process import Serve, stand_in

from floatgate.live import nbdkit
from floatgate.live.web import Page

Serving = Callable[..., Serve]
Refused = Callable[..., str]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Any]:
    """Returns a function that makes a drive of `size` bytes in the test's directory and serves
    it."""
    from live_drive import LiveDrive

    if not nbdkit.PLUGIN.is_file():
        pytest.skip("the nbdkit plugin was not built (make build)")
    with contextlib.ExitStack() as stack:

        def start(size: int, **options: Any) -> LiveDrive:
            drive = LiveDrive(tmp_path, size, **options)
            stack.callback(drive.end)
            return drive.start()

        yield start


@pytest.fixture(scope="session")
def document() -> dict[str, Any]:
    """Returns the status of a drive on which every kind of event has happened."""
    return status_document()


@pytest.fixture
def drive(tmp_path: Path, document: dict[str, Any]) -> Iterator[FakeDrive]:
    with FakeDrive(tmp_path / "drive.control", document) as fake:
        yield fake


@pytest.fixture
def page(drive: FakeDrive) -> Iterator[Page]:
    with Page(drive.path, 0) as page:
        yield page


@pytest.fixture
def environment(tmp_path: Path, document: dict[str, Any]) -> dict[str, str]:
    """Returns the environment that selects a stand-in for nbdkit."""
    return stand_in(tmp_path, document)


@pytest.fixture
def serving(tmp_path: Path, environment: dict[str, str]) -> Serving:
    """Returns a function that starts `floatgate serve` with a stand-in for nbdkit. Its keyword
    arguments are environment variables."""

    def start(*words: object, **variables: str) -> Serve:
        return Serve(tmp_path, *words, environment=environment | variables)

    return start


@pytest.fixture
def refused(
    tmp_path: Path,
    cli: Callable[..., Done],
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> Refused:
    """Returns a function that gives the error of a wrong `serve` call, with a stand-in for
    nbdkit."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("PATH", environment["PATH"])
    monkeypatch.setattr(nbdkit, "PLUGIN", tmp_path / "plugin.so")

    def call(*words: object) -> str:
        return cli("serve", *words).refused()

    return call
