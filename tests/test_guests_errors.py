"""Mappings and buffers in Python that are wrong: each ends the run, and it is said how."""

from __future__ import annotations

from typing import Any

import pytest
from guest_policies import HOTCOLD, SETS, Clusters, LastUsed, NoCache

import floatgate as fg

SMALL = {"mapping.cache": "2KiB", "buffer.capacity": "128KiB", "buffer.block_pages": 8}


def _run(sets: dict[str, Any], **options: Any) -> fg.Result:
    return fg.run(HOTCOLD, set={**SETS, **SMALL, **sets}, **options)


class Liar(NoCache):
    """It never writes the map."""

    def assigned(self, lpn: int) -> list[fg.MapOp]:
        return []


class Wrong(NoCache):
    """It answers accesses as it is told to."""

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
    # Told at the end of the run only, as all of it fits into the buffer.
    with pytest.raises(fg.PolicyError, match="LookupError: no idea"):
        fg.run("uniform:span=256KiB,writes=300", set=sets)


def test_a_method_that_is_misspelt_is_an_error_and_one_of_ones_own_is_not() -> None:
    """Nobody would ever call it, and the run would be that of a policy without it."""

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
