"""External policies in Python: they decide like the built-in ones, and their errors are
reported."""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from guest_policies import (
    HOTCOLD,
    SETS,
    Clusters,
    Counting,
    Emptiest,
    LastUsed,
    LastUsedBatch,
    Oldest,
    Short,
    ShortBatch,
    counts,
)

import floatgate as fg
from floatgate.guests.midas import Midas


def run(sets: dict[str, Any] | None = None, trace: Any = HOTCOLD, **options: Any) -> fg.Result:
    return fg.run(trace, set={**SETS, **(sets or {})}, **options)


@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize(
    ("mine", "key", "built_in"),
    [
        (Short(), "placement.scheme", "length"),
        (ShortBatch(), "placement.scheme", "length"),
        (Clusters(), "placement.scheme", "dac"),
        (Emptiest(), "cleaning.victim", "greedy"),
        (Oldest(), "cleaning.victim", "fifo"),
        (Counting(), "mapping.scheme", "dftl"),
        (LastUsed(), "buffer.scheme", "lru"),
        (LastUsedBatch(), "buffer.scheme", "lru"),
    ],
)
def test_the_same_decisions_give_the_same_result(
    mine: Any, key: str, built_in: str, verify: bool
) -> None:
    more = {
        "placement.scheme": "dac",
        "mapping.scheme": "dftl",
        "mapping.cache": "2KiB",
        "dftl.replacement": "lru",
        "buffer.capacity": "128KiB",
        "buffer.block_pages": 8,
    }
    ours = run({**more, key: mine}, verify=verify)
    theirs = run({**more, key: built_in}, verify=verify)
    assert counts(ours) == counts(theirs)
    section, _, name = key.partition(".")
    assert ours.config[section][name] == f"python:{type(mine).__name__}"
    assert ours.flash.programs.gc > 0


def test_long_requests_and_arrival_times_are_told_alike_one_by_one_and_in_batches() -> None:
    seen: dict[str, list[tuple[int, ...]]] = {"one": [], "batch": []}

    class One(fg.Placement):
        streams = 3

        def stream(self, write: fg.HostWrite) -> int:
            seen["one"].append((write.lpn, write.request_pages, write.clock))
            return write.lpn % 3

    class Batch(fg.Placement):
        streams = 3

        def stream_batch(self, writes: fg.HostWrites) -> Any:
            rows = zip(writes.lpn, writes.request_pages, writes.clock, strict=True)
            seen["batch"] += [tuple(map(int, row)) for row in rows]
            assert np.all(np.diff(writes.arrival_ns) >= 0)
            return writes.lpn % 3

    trace = "uniform:span=4MiB,writes=3000,size=20KiB,interarrival=100us,reads=0.3"
    sets = {"placement.scheme": One(), "queue.arrivals": "open"}
    one = run(sets, trace)
    batch = run({**sets, "placement.scheme": Batch()}, trace)
    assert counts(one) == counts(batch)
    assert seen["one"] == seen["batch"]
    assert {pages for _, pages, _ in seen["one"]} >= {1, 5}


def test_a_buffer_is_told_the_same_one_by_one_and_in_batches() -> None:
    seen: dict[str, list[tuple[Any, ...]]] = {"one": [], "batch": []}
    sizes: list[int] = []

    class One(fg.WriteBuffer):
        told = "one"

        def written(self, block: int, first: int, pages: int, buffered: int) -> None:
            seen["one"].append(("written", block, first, pages, buffered))

        def read(self, block: int) -> None:
            seen[self.told].append(("read", block))

        def trimmed(self, block: int, left: int) -> None:
            seen[self.told].append(("trimmed", block, left))

        def victim(self, blocks: Any) -> int:
            seen[self.told].append(("victim", *map(int, blocks)))
            return int(blocks.min())

    class Batch(One):
        told = "batch"
        written = fg.WriteBuffer.written

        def written_batch(self, writes: fg.BufferWrites) -> None:
            columns = (writes.block, writes.first, writes.pages, writes.buffered)
            rows = zip(*columns, strict=True)
            seen["batch"] += [("written", *map(int, row)) for row in rows]
            sizes.append(len(writes.block))

    # Some requests are longer than a block. Without reads and trims, batches grow.
    for trace in (
        "uniform:span=4MiB,writes=3000,size=20KiB,reads=0.2,trim=0.05",
        "uniform:span=512KiB,writes=3000,size=4KiB",
    ):
        sets = {"buffer.capacity": "1MiB", "buffer.block_pages": 4}
        one = run({**sets, "buffer.scheme": One()}, trace)
        batch = run({**sets, "buffer.scheme": Batch()}, trace)
        assert counts(one) == counts(batch)
        assert seen["one"] == seen["batch"]
    assert {kind for kind, *_ in seen["one"]} == {"written", "read", "trimmed", "victim"}
    assert max(sizes) == 1024, "as nothing else is asked for a long time"
    assert sizes[-1] < 1024, "what is left is told when the run ends"


def test_a_policy_stands_where_a_config_has_its_name() -> None:
    same = [
        run({"placement.scheme": Short()}),
        fg.run(HOTCOLD, device={"preset": "classic", "placement": Short()}, set=SETS),
        fg.run(HOTCOLD, device={"placement": {"scheme": Short()}, "preset": "classic"}, set=SETS),
    ]
    assert same[0].flash == same[1].flash == same[2].flash
    assert same[0].latency == same[1].latency == same[2].latency
    assert same[0].config["placement"]["streams"] == 2
    table = fg.compare(
        HOTCOLD, vary={"placement.scheme": ["length", Short(), ShortBatch()]}, set=SETS, workers=2
    )
    assert table["placement.scheme"].to_list() == ["length", "python:Short", "python:ShortBatch"]
    assert table["write_amplification"].n_unique() == 1


def test_each_run_of_a_comparison_has_a_policy_of_its_own() -> None:
    mine = Clusters()
    table = fg.compare(
        HOTCOLD,
        vary={"capacity.spare_factor": [0.2, 0.3]},
        workers=2,
        set={
            **{k: v for k, v in SETS.items() if k != "capacity.spare_factor"},
            "placement.scheme": mine,
        },
    )
    assert table["write_amplification"].n_unique() == 2
    assert not hasattr(mine, "regions")
    run({"placement.scheme": mine})
    assert hasattr(mine, "regions")


def test_what_two_policies_share_they_share_in_every_run() -> None:
    runs = fg.compare_results(
        HOTCOLD,
        vary={"queue.depth": [1, 2]},
        set={**SETS, "placement.scheme": Midas(), "cleaning.victim": "python:midas"},
    )
    assert runs[0].flash == runs[1].flash
    assert len([one for one in runs[0].placement.streams if one.gc_pages]) > 1


def _in_a_process(mine: fg.Placement) -> dict[str, Any]:
    return counts(run({"placement.scheme": mine}))


def test_a_policy_can_be_sent_to_another_process() -> None:
    mine = pickle.loads(pickle.dumps(Clusters()))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(_in_a_process, mine).result() == _in_a_process(Clusters())


def test_runs_with_a_python_policy_are_not_kept_and_say_so(tmp_path: Path) -> None:
    vary = {"placement.scheme": ["single", Short()]}
    options: dict[str, Any] = {"keep": tmp_path / "kept", "start_cache": tmp_path / "starts"}
    first = fg.compare_results(HOTCOLD, vary=vary, set=SETS, **options)
    why = "python:Short: the name of a Python policy does not identify its code"
    said = [f"not resumable: {why}, so this run is not kept", f"start state not kept: {why}"]
    noted = [[note for note in run.notes if "not kept" in note] for run in first]
    assert noted == [[], said]
    # Only the built-in row was kept for the next call, which simulates the Python row again.
    (kept,) = (tmp_path / "kept").iterdir()
    assert fg.Result.from_json(kept.read_text()).config["placement"]["scheme"] == "single"
    again = fg.compare_results(HOTCOLD, vary=vary, set=SETS, resume=True, **options)
    assert again[0].engine == first[0].engine
    assert again[1].engine != first[1].engine
    assert [run.flash for run in again] == [run.flash for run in first]
    assert not any("not kept" in note for note in run({"placement.scheme": Short()}).notes)


def test_a_class_stands_for_an_object_of_it() -> None:
    table = fg.compare(
        HOTCOLD, vary={"placement.scheme": ["single", Short], "queue.depth": [1, 2]}, set=SETS
    )
    assert table["placement.scheme"].to_list() == ["single"] * 2 + ["python:Short"] * 2


class Failing(fg.Placement):
    """Fails at one page of the trace or of the fill."""

    streams = 2

    def __init__(self, at: int, answer: Any = None) -> None:
        self.at, self.answer = at, answer

    def stream(self, write: fg.HostWrite) -> int:
        if write.clock == self.at:
            if self.answer is None:
                raise LookupError("no idea")
            return self.answer
        return 0


WRITES = "uniform:span=4MiB,writes=3000,size=4KiB,seed=5"


def test_what_a_policy_raises_ends_the_run_and_names_the_request() -> None:
    with pytest.raises(fg.PolicyError) as caught:
        run({"placement.scheme": Failing(99), "start.fill": "none"}, WRITES)
    error = caught.value
    assert (error.number, error.op, error.length, error.is_start) == (100, "write", 4096, False)
    assert f"at request 100 of the trace (write, offset {error.offset}, length 4096)" in str(error)
    assert "Failing" in str(error) and "LookupError: no idea" in str(error)
    cause = error.__cause__
    assert isinstance(cause, LookupError)
    assert cause.__traceback__ is not None
    assert cause.__traceback__.tb_frame.f_code.co_filename.endswith(".py")


def test_of_a_fill_it_is_said_that_it_is_one() -> None:
    with pytest.raises(fg.PolicyError, match="at request 100 of the drive's fill") as caught:
        run({"placement.scheme": Failing(99)}, WRITES)
    assert caught.value.is_start


@pytest.mark.parametrize("answer", [2, -1, 300, "one", 0.5])
def test_a_stream_that_is_none_is_an_error(answer: Any) -> None:
    with pytest.raises(fg.PolicyError, match="expected an int from 0 to 1") as caught:
        run({"placement.scheme": Failing(7, answer), "start.fill": "none"}, WRITES)
    assert caught.value.number == 8


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda n: np.full(n, 2), "returned 2 for page .*: expected 0 to 1"),
        (lambda n: np.full(n, -1), "returned -1 for page"),
        (lambda n: np.zeros(n + 1, int), "expected"),
        (lambda n: np.zeros(n), "float64 values: expected whole numbers"),
        (lambda n: None, "expected whole numbers"),
    ],
)
def test_a_batch_of_nonsense_is_an_error(answer: Any, said: str) -> None:
    class Mine(fg.Placement):
        streams = 2

        def stream_batch(self, writes: fg.HostWrites) -> Any:
            return answer(len(writes.lpn))

    with pytest.raises(fg.PolicyError, match=said):
        run({"placement.scheme": Mine()})


def test_a_victim_that_is_no_candidate_is_an_error() -> None:
    class Mine(fg.Victim):
        def pick(self, candidates: fg.Candidates) -> int:
            return int(candidates.unit.max()) + 1

    with pytest.raises(fg.PolicyError, match=r"pick\(\) returned .* in candidates.unit"):
        run({"cleaning.victim": Mine()})


def test_of_several_runs_the_error_says_which() -> None:
    with pytest.raises(fg.PolicyError, match=r"placement\.scheme=python:Failing") as caught:
        fg.compare(WRITES, vary={"placement.scheme": ["single", Failing(50)]}, set=SETS)
    assert caught.value.number == 51
    results = vars(caught.value)["results"]
    assert [one is not None for one in results] == [True, False]


def test_a_batch_needs_the_order_of_the_requests() -> None:
    for sets in ({"buffer.scheme": "lru"}, {"queue.queues": 2}, {"host.scheme": "shrd"}):
        with pytest.raises(fg.ConfigError, match="in the order of the requests"):
            run({**sets, "placement.scheme": ShortBatch()})
    assert run({"buffer.scheme": "lru", "placement.scheme": Short()}).buffer.hits > 0


def test_policies_are_checked_when_they_are_made() -> None:
    class Nothing(fg.Placement):
        streams = 1

    class Both(Short):
        def stream_batch(self, writes: fg.HostWrites) -> Any:
            return 0

    class Narrow(fg.Placement):
        streams = 1

        def stream(self) -> int:  # type: ignore[override]
            return 0

    class NoStreams(fg.Placement):
        def stream(self, write: fg.HostWrite) -> int:
            return 0

    class Many(Short):
        streams = 201

    class Half(Short):
        streams = 1.5  # type: ignore[assignment]

    class Spaced(Short):
        name = "two words"

    for wrong, kind, said in [
        (Nothing, TypeError, r"Nothing defines none of them: expected stream\(\) or stream_batch"),
        (Both, TypeError, "Both defines stream and stream_batch"),
        (Narrow, TypeError, r"Narrow.stream\(self\) -> 'int': expected \(self, write\)"),
        (NoStreams, TypeError, "NoStreams.streams is None: expected an int"),
        (Many, ValueError, "Many.streams is 201: expected 1 to 200"),
        (Half, TypeError, "Half.streams is 1.5"),
        (Spaced, ValueError, "Spaced.name is 'two words'"),
    ]:
        with pytest.raises(kind, match=said):
            wrong()


def test_a_policy_where_it_does_not_belong_is_refused() -> None:
    with pytest.raises(fg.ConfigError, match=r"cleaning\.victim: Short is a policy for placement"):
        run({"cleaning.victim": Short()})
    with pytest.raises(fg.ConfigError, match="the class Failing given; expected an object of it"):
        run({"placement.scheme": Failing})
    with pytest.raises(fg.ConfigError, match="two policies are called Short"):
        fg.compare(HOTCOLD, vary={"placement.scheme": [Short(), Short()]})
    with pytest.raises(fg.ConfigError, match="python:nobody: no installed package"):
        run({"placement.scheme": "python:nobody"})
    with pytest.raises(fg.ConfigError, match=r"placement.streams = 2: expected only with"):
        run({"placement.streams": 2})
    with pytest.raises(fg.ConfigError, match="a policy in Python"):
        fg.crash("uniform:span=1MiB,writes=300", set={"cleaning.victim": Emptiest()})
