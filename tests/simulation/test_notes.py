"""Notes on how the numbers of a run came about."""

from __future__ import annotations

import polars as pl
import pytest

import floatgate as fg

ONE_STREAM = 'the placement put every page in one of its 2 streams, as "single" does'


def test_a_placement_that_separates_nothing_is_noted() -> None:
    """Writes that never come again are cold for ETI; those that come often are hot."""
    settings = {"placement.scheme": "eti", "timing": "none"}
    cold = fg.run("sequential:span=16MiB,writes=4k", set=settings)
    assert ONE_STREAM in cold.notes
    hot = fg.run("hotcold:span=16MiB,r=0.9,f=0.01,writes=40k", set=settings)
    assert not any("put every page" in note for note in hot.notes)


class ByHandle(fg.Placement):
    """Obeys the handles of the host."""

    streams = 2

    def stream(self, write: fg.HostWrite) -> int:
        return write.handle


@pytest.mark.parametrize(
    ("scheme", "streams", "is_noted"),
    [
        ("single", "trace", True),
        ("eti", "trace", True),
        ("host", "trace", False),
        (ByHandle(), "trace", False),
        ("single", "device", True),
    ],
)
def test_handles_that_the_drive_ignores_are_noted(
    scheme: object, streams: str, is_noted: bool
) -> None:
    requests = {"at_ns": [0, 1], "op": [1, 1], "offset": [0, 4096], "length": [4096, 4096]}
    handles = {"stream": [0, 1]} if streams == "trace" else {"device": [0, 1]}
    settings = {"placement.scheme": scheme, "timing": "none"}
    result = fg.run(pl.DataFrame(requests | handles), set=settings, streams=streams)
    assert any("placement handles of the trace" in note for note in result.notes) is is_noted


def test_a_trace_without_handles_has_no_note_on_them() -> None:
    requests = {"at_ns": [0], "op": [1], "offset": [0], "length": [4096]}
    result = fg.run(pl.DataFrame(requests), set={"timing": "none"})
    assert not any("handles" in note for note in result.notes)
