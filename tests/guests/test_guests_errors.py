"""Wrong mappings and buffers in Python: each ends the run with an error that names the mistake. A
signal ends a run even while a policy never returns."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pytest
from guest_policies import HOTCOLD, SETS, Clusters, LastUsed, NoCache, Short

import floatgate as fg

SMALL = {"mapping.cache": "2KiB", "buffer.capacity": "128KiB", "buffer.block_pages": 8}


def _run(sets: dict[str, Any], **options: Any) -> fg.Result:
    return fg.run(HOTCOLD, set={**SETS, **SMALL, **sets}, **options)


class Liar(NoCache):
    """Never writes the map."""

    def assigned(self, lpn: int) -> list[fg.MapOp]:
        return []


class Wrong(NoCache):
    """Answers every access with `answer`."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def access(self, access: fg.MapAccess) -> Any:
        return self.answer


class Vague(NoCache):
    def residency(self, lpn: int) -> str:
        return "perhaps"


class Busy(NoCache):
    def relocated(self, lpns: Any) -> list[fg.MapOp]:
        return [("update", 0)] * (len(lpns) + 1)


class Elsewhere(LastUsed):
    def victim(self, blocks: Any) -> int:
        return int(blocks.max()) + 1


class Forgetful(Clusters):
    def trimmed(self, lpn: int) -> None:
        raise KeyError(lpn)


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        ({"mapping.scheme": Wrong([("burn", 0)])}, r"access\(\) returned .*\"fetch\", \"update\""),
        ({"mapping.scheme": Wrong([("fetch", 1 << 20)])}, "translation page from 0 to"),
        ({"mapping.scheme": Wrong("fetch")}, r"access\(\) returned 'fetch'"),
        ({"mapping.scheme": Vague()}, r"residency\(\) returned 'perhaps'"),
        ({"mapping.scheme": Busy()}, r"relocated\(\) returned \d+ programs: expected at most"),
        ({"buffer.scheme": Elsewhere()}, r"victim\(\) returned .* blocks that it was given"),
        ({"placement.scheme": Forgetful()}, r"at request \d+ of the trace \(trim, .*KeyError"),
    ],
)
def test_nonsense_is_an_error(sets: dict[str, Any], said: str) -> None:
    with pytest.raises(fg.PolicyError, match=said):
        _run(sets)


def test_a_map_that_is_out_of_date_is_found_when_it_is_verified() -> None:
    sets = {**SETS, **SMALL, "mapping.scheme": Liar(), "start.fill": "none"}
    trace = "uniform:span=8MiB,writes=500"
    with pytest.raises(fg.PolicyError, match="the map on flash is out of date") as caught:
        fg.run(trace, set=sets, verify=True)
    assert isinstance(caught.value.__cause__, AssertionError)
    assert fg.run(trace, set=sets).flash.programs.map == 0


def test_a_buffer_is_told_of_writes_in_one_way() -> None:
    class Both(fg.WriteBuffer):
        def victim(self, blocks: Any) -> int:
            return int(blocks[0])

        def written(self, block: int, first: int, pages: int, buffered: int) -> None:
            pass

        def written_batch(self, writes: fg.BufferWrites) -> None:
            raise LookupError("no idea")

    class Many(Both):
        written = fg.WriteBuffer.written

    with pytest.raises(
        TypeError, match=r"written and written_batch: expected written\(\) or written_batch\(\)"
    ):
        Both()
    sets = {"buffer.scheme": Many(), "buffer.capacity": "1MiB", "start.fill": "none"}
    with pytest.raises(fg.PolicyError, match="LookupError: no idea") as caught:
        fg.run("uniform:span=4MiB,writes=3000", set=sets)
    assert caught.value.number is not None and 1 < caught.value.number <= 1024
    # All pages fit into the buffer, so the error appears only at the end of the run.
    with pytest.raises(fg.PolicyError, match="LookupError: no idea"):
        fg.run("uniform:span=256KiB,writes=300", set=sets)


def test_a_method_that_is_misspelt_is_an_error_and_one_of_ones_own_is_not() -> None:
    """The engine would never call a misspelt method, and the run would silently lack it."""

    class One(fg.Placement):
        streams = 1

        def stream(self, write: fg.HostWrite) -> int:
            return 0

    class Move(One):
        def move(self, pages: fg.MovedPages) -> int:
            return 0

    class Writen(fg.WriteBuffer):
        def victim(self, blocks: Any) -> int:
            return int(blocks[0])

        def writen(self, block: int, first: int, pages: int, buffered: int) -> None:
            pass

    class Own(One):
        def moved(self, pages: fg.MovedPages) -> int:
            return self.move(pages)

        def move(self, pages: fg.MovedPages) -> int:
            return 0

        def temperature(self, lpn: int) -> int:
            return lpn

    with pytest.raises(TypeError, match=r"Move\.move: .* no such method; expected moved"):
        Move()
    with pytest.raises(TypeError, match=r"Writen\.writen: .* no such method; expected written"):
        Writen()
    assert Own().move


class Set(Short):
    """Sets on the object an attribute that the engine looks for in the class."""

    def __init__(self, name: str, value: Any) -> None:
        setattr(self, name, value)


def test_a_method_that_is_set_on_the_object_is_an_error() -> None:
    """The engine looks up methods in the class. A method on the object would not be called, or not
    be checked."""
    said = r"Set: {0} is set on the object; expected {0}\(\) to be defined in the class"
    for name in ("moved", "stream", "start"):
        with pytest.raises(TypeError, match=said.format(name)):
            Set(name, lambda _: 1)
    with pytest.raises(TypeError, match="or another name for what is no such method"):
        Set("reclaimed", 0)
    late = Short()
    late.stream = lambda: 1  # type: ignore[assignment, method-assign, misc]
    with pytest.raises(TypeError, match="Short: stream is set on the object"):
        _run({"placement.scheme": late})
    assert Set("units", 0).units == 0  # type: ignore[attr-defined]


def test_so_is_one_that_is_set_when_a_run_begins() -> None:
    class Late(Short):
        def start(self, drive: fg.DriveShape) -> None:
            self.moved = self.one_for_all  # type: ignore[method-assign]

        def one_for_all(self, pages: fg.MovedPages) -> int:
            return 1

    with pytest.raises(fg.PolicyError, match="first request: TypeError: Late: moved is set on"):
        _run({"placement.scheme": Late()})


def test_slots_are_no_methods() -> None:
    class Slotted(Short):
        __slots__ = ("moved", "units")

    class Units(Short):
        __slots__ = ("units",)

    with pytest.raises(TypeError, match=r"Slotted\.moved is <member .*: expected a method"):
        Slotted()
    assert _run({"placement.scheme": Units()}).flash.programs.gc > 0


class Locked(Short):
    """A policy that cannot be copied."""

    def __init__(self) -> None:
        self.lock = Lock()


def test_a_policy_that_cannot_be_copied_is_named() -> None:
    said = (
        r"^placement\.scheme = python:Locked: each of several runs has a deep copy of the policy, "
        r"and it cannot be copied: TypeError: cannot pickle .*lock.*in start\(\)$"
    )
    with pytest.raises(fg.ConfigError, match=said):
        fg.compare(HOTCOLD, vary={"placement.scheme": ["single", Locked()]}, set=SETS)
    assert _run({"placement.scheme": Locked()}).flash.programs.gc > 0


def test_a_data_sheet_takes_a_policy_by_its_name() -> None:
    said = r"^placement.*: the policy Short\(\) itself; name it python:NAME, by the entry point"
    for placement in (Short(), {"scheme": Short()}):
        with pytest.raises(fg.ConfigError, match=said):
            fg.measure_device({"placement": placement}, quick=True)


class Masked(fg.Placement):
    """Returns masked arrays."""

    streams = 2

    def __init__(self, batch: Any, moved: Any) -> None:
        self.answers = batch, moved

    def stream_batch(self, writes: fg.HostWrites) -> Any:
        return np.ma.array(np.zeros(len(writes.lpn), int), mask=self.answers[0])

    def moved(self, pages: fg.MovedPages) -> Any:
        return self.answers[1]


def test_an_array_with_masked_elements_is_no_answer() -> None:
    sets = {**SETS, "start.fill": "none", "flash.pages_per_block": 16}
    said = r"{}\(\) returned an array with masked elements: expected a stream for each page"
    for mine, method in (
        (Masked(True, 0), "stream_batch"),
        (Masked(False, np.ma.array(1, mask=True)), "moved"),
    ):
        with pytest.raises(fg.PolicyError, match=said.format(method)):
            fg.run(HOTCOLD, set={**sets, "placement.scheme": mine})
    whole = fg.run(HOTCOLD, set={**sets, "placement.scheme": Masked(False, 0)})
    assert whole.flash.programs.gc > 0


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


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
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
