"""A run can be ended by a signal even while a Python policy never returns."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

HANGING = """
import os, time
import floatgate as fg

class Hanging(fg.Placement):
    streams = 1

    def stream(self, write):
        if write.clock == 100:
            open("asked", "w").close()
            {hangs}
        return 0

fg.compare(
    "uniform:span=4MiB,writes=1k",
    vary={{"placement.scheme": ["single", Hanging()], "queue.depth": [1, 2]}},
    set={{"start.fill": "none"}},
)
"""

STUBBORN = """
            for _ in range(3):
                try:
                    while True:
                        pass
                except BaseException:
                    pass
            raise LookupError("let go")
"""


@pytest.mark.parametrize(
    "hangs", ["while True: pass", "while True: time.sleep(0.1)", STUBBORN.strip()]
)
def test_a_policy_that_hangs_is_interrupted(tmp_path: Path, hangs: str) -> None:
    (tmp_path / "hanging.py").write_text(HANGING.format(hangs=hangs))
    process = subprocess.Popen(
        [sys.executable, "hanging.py"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "asked").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == -signal.SIGINT
    assert stderr.splitlines()[-1] == "KeyboardInterrupt"
