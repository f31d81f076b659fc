"""Cache of earlier results: a result is reused for an identical run only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from floatgate import _core
from floatgate.analysis import crash as power
from floatgate.papers.kit.batch import Bench, Played, Task
from floatgate.papers.kit.cache import Cache, run_cache
from floatgate.papers.kit.judging import runs_of
from floatgate.papers.shrd import crash as shrd_crash
from floatgate.papers.shrd.crash import RECOVERY
from floatgate.simulation import builds

PLAYED = Played("uniform:span=4MiB,writes=500")
TASK = Task(PLAYED, {"start.fill": "random"})


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Returns the seeds of the runs that the engine simulates."""
    made: list[int] = []
    engine = _core.simulate

    def simulate(*args: Any, **options: Any) -> str:
        made.append(options["seed"])
        return engine(*args, **options)

    monkeypatch.setattr(_core, "simulate", simulate)
    return made


def _run(directory: Path, *tasks: Task, device: str = "classic") -> list[Any]:
    bench = Bench(device, None, Cache(directory, resume=True))
    return [result.to_dict() for result in bench.run(tasks)]


def test_a_second_run_is_the_first(tmp_path: Path, counted: list[int]) -> None:
    first = _run(tmp_path, TASK)
    assert _run(tmp_path, TASK) == first
    assert len(counted) == 1


@pytest.mark.parametrize(
    "other",
    [
        Task(PLAYED, {"start.fill": "sequential"}),
        Task(Played("uniform:span=4MiB,writes=501"), TASK.set),
        Task(PLAYED, TASK.set, seed=2),
        Task(Played(PLAYED.spec, repeat=2), TASK.set),
    ],
    ids=["config", "workload", "seed", "repeat"],
)
def test_another_run_is_no_entry_of_this(tmp_path: Path, counted: list[int], other: Task) -> None:
    _run(tmp_path, TASK)
    assert _run(tmp_path, other) != _run(tmp_path, TASK)
    assert len(counted) == 2


def test_seeds_are_what_runs_differ_by() -> None:
    one, two = Bench("classic", None).run([TASK, Task(PLAYED, TASK.set, seed=2)])
    assert (one.seed, two.seed) == (1, 2)
    assert one.workload.hash != two.workload.hash


def test_another_engine_has_a_directory_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ours = run_cache().directory
    assert ours.parent == tmp_path / "floatgate" / "runs"
    other = tmp_path / "engine.so"
    other.write_bytes(b"another build of the same version")
    monkeypatch.setattr(builds._core, "__file__", str(other))
    builds.build.cache_clear()
    try:
        assert run_cache().directory != ours
    finally:
        builds.build.cache_clear()


@pytest.mark.parametrize("named", ["", "relative/path"])
def test_without_an_absolute_directory_it_is_in_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", named)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert run_cache().directory.parent == tmp_path / ".cache" / "floatgate" / "runs"


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "other"])
def test_a_damaged_entry_is_run_again(tmp_path: Path, counted: list[int], damage: str) -> None:
    first = _run(tmp_path, TASK)
    [entry] = tmp_path.iterdir()
    content = bytearray(entry.read_bytes())
    middle = len(content) // 2
    flipped = bytes([*content[:middle], content[middle] ^ 1, *content[middle + 1 :]])
    entry.write_bytes(
        {"cut": content[:middle], "flipped": flipped, "empty": b"", "other": b"{}"}[damage]
    )
    again = _run(tmp_path, TASK)
    assert len(counted) == 2
    assert [one["flash"] for one in again] == [one["flash"] for one in first]
    assert _run(tmp_path, TASK) == again, "the entry is whole again"
    assert len(counted) == 2


def test_a_directory_that_cannot_be_written_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    told: list[str] = []
    kept = run_cache(told.append)
    bench = Bench("classic", None, kept)
    assert len(bench.run([TASK])) == len(bench.run([replace(TASK, seed=2)])) == 1
    assert told == [f"warning: runs are not kept in {kept.directory}: Not a directory"]


def test_a_document_is_made_once_for_all_that_it_depends_on(tmp_path: Path) -> None:
    made: list[int] = []

    def make() -> dict[str, Any]:
        made.append(len(made))
        return {"number": made[-1]}

    kept = Cache(tmp_path, resume=True)
    assert [kept.document(("losses", 1), make) for _ in range(2)] == [{"number": 0}] * 2
    assert kept.document(("losses", 2), make) == {"number": 1}
    for entry in tmp_path.iterdir():
        entry.write_bytes(b"")
    assert kept.document(("losses", 1), make) == {"number": 2}


def test_losses_of_power_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[tuple[int, int]] = []

    def crash(*_: object, seed: int, every: int, **__: object) -> dict[str, Any]:
        cut.append((seed, every))
        return {"points": 1, "moments": 2, "lost": 0, "reads_mean": 3.5}

    monkeypatch.setattr(power, "crash", crash)
    runs = runs_of(shrd_crash.EXPERIMENT, [RECOVERY], False)
    bench = Bench(shrd_crash.DEVICE, None, Cache(tmp_path, resume=True))
    first = shrd_crash.explore(runs, False, bench)
    assert len(cut) == len(set(runs)) == 9
    assert shrd_crash.explore(runs, False, bench) == first
    assert len(cut) == 9
    shrd_crash.explore(runs[:1], True, bench)
    assert cut[9:] == [(1, shrd_crash.EVERY[True])], "more moments are another exploration"


def test_nothing_half_written_stays(tmp_path: Path) -> None:
    _run(tmp_path, TASK)
    assert [path.suffixes for path in tmp_path.iterdir()] == [[".json", ".gz"]]
