"""Fixtures that run the command line as a user does, in a working directory of its own."""

from __future__ import annotations

import os
import re
import shlex
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from browser import browser as browser
from command_line import Done, as_process, in_process
from hypothesis import HealthCheck, settings
from live_fixtures import document as document
from live_fixtures import drive as drive
from live_fixtures import environment as environment
from live_fixtures import page as page
from live_fixtures import refused as refused
from live_fixtures import serve as serve
from live_fixtures import serving as serving

Cli = Callable[..., Done]

EXAMPLES = "FLOATGATE_EXAMPLES"
"""Environment variable that selects Hypothesis's examples: `random` in `make test-long`."""

# No deadline, because other work on the machine slows an example down. Hypothesis changes its
# defaults when the variable `CI` is set, so we set each of those settings here.
ANYWHERE: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow],
    "database": None,
    "print_blob": True,
}
# The same examples in every run: a test fails because of a change, never by chance.
settings.register_profile("same", **ANYWHERE, derandomize=True)
settings.register_profile("random", **ANYWHERE, derandomize=False)
settings.load_profile(os.environ.get(EXAMPLES, "same"))

# A script's background job ignores SIGINT, and processes that the tests start and interrupt would
# inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Points caches at a directory of the tests instead of the user's."""
    with pytest.MonkeyPatch.context() as patch:
        directory = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(directory))
        yield directory


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Returns a function that calls `floatgate` with the given arguments in `tmp_path`.

    The command runs in the test's process. A test that needs a process takes `process`.
    """
    return partial(in_process, tmp_path)


@pytest.fixture
def process(tmp_path: Path) -> Cli:
    """Returns a function like `cli` that starts a process for each call."""
    return partial(as_process, tmp_path)


def printed(cli: Cli, command: str) -> float:
    """Returns the write amplification that a `floatgate` command prints."""
    done = cli(*shlex.split(command)[1:], "-q").ok()
    number = re.search(r"^write amplification +([\d.]+) ", done.stdout, re.MULTILINE)
    assert number, done.stdout
    return float(number[1])
