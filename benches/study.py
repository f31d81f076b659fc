"""Measures the cost of a study around its runs: time per run on threads and on Ray, and memory.

    python benches/study.py [RUNS] [--ray]

The first part makes RUNS (default 1000) tiny runs one after the other. It prints the time per run:
in all, in the engine alone, and the rest. With several workers, the time of a study counts once for
each worker. The second part measures the driver alone, with an executor that returns rows without
running anything, for 10,000 and for 100,000 runs. It prints the time per run and the peak memory of
the process.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from floatgate import _core, studies
from floatgate.simulation import sources
from floatgate.simulation.options import RunOptions
from floatgate.studies.plan import Plan
from floatgate.studies.tasks import Ending, Task, run

TRACE = "uniform:span=256KiB,writes=10"
SET = {"timing": "none", "flash.blocks": 32}
DRIVER = [10_000, 100_000]


def document(runs: int) -> dict[str, Any]:
    """Returns a study with this number of runs, of ten configs."""
    shares = [0.1 + 0.05 * i for i in range(10)]
    return {
        "traces": [TRACE],
        "set": SET,
        "grid": {"capacity.spare_factor": shares},
        "seeds": runs // len(shares),
    }


class Copying(Executor):
    """Executor that runs one task, and returns its row for all other tasks."""

    def __init__(self) -> None:
        self.row: dict[str, Any] | None = None

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        task: Task = args[0]
        if self.row is None:
            self.row = fn(*args)
        future: Future[Any] = Future()
        future.set_result(self.row | {"run": task.digest, "seed": task.how.seed})
        return future


def engine_alone(runs: int) -> float:
    """Returns the engine's seconds for all runs of the study, called directly."""
    study = studies.Study.parse(document(runs))
    tasks = [*Plan(study.spec, study.base, lambda _: []).tasks()]
    workloads = [sources.open_source(TRACE, RunOptions(seed=t.how.seed)).workload for t in tasks]
    start = time.perf_counter()
    for task, workload in zip(tasks, workloads, strict=True):
        assert workload is not None
        _core.simulate(
            task.drive.config,
            workload,
            seed=task.how.seed,
            span_bytes=None,
            verify=False,
            start_cache=None,
            device=task.drive.device,
            skipped=0,
            notes=[],
            can_shrink=False,
            control=_core.Control(),
            turns=_core.Turns(1),
            reading=None,
        )
    return time.perf_counter() - start


def timed(runs: int, executor: Executor, in_flight: int) -> float:
    """Returns the seconds of a study, from its document to the last row on disk."""
    with tempfile.TemporaryDirectory() as directory:
        start = time.perf_counter()
        found = studies.study(
            document(runs), out=Path(directory) / "out", executor=executor, in_flight=in_flight
        )
        took = time.perf_counter() - start
        assert found.counts()["done"] == runs
    return took


def local(runs: int) -> None:
    alone = engine_alone(runs)
    with ThreadPoolExecutor(1) as executor:
        whole = timed(runs, executor, 4)
    report("one thread", runs, whole, alone, 1)


def on_ray(runs: int) -> None:
    from floatgate.studies.on_ray import RayExecutor

    alone = engine_alone(runs)
    with RayExecutor(None, 256 << 20) as executor:
        # Starts the workers, so that they have imported all modules.
        warm = [executor.submit(run, task, Ending()) for task in _some(runs)]
        for future in warm:
            future.result()
        whole, workers = timed(runs, executor, executor.in_flight()), executor.cores()
    report(f"Ray, {workers} workers", runs, whole, alone, workers)


def _some(runs: int) -> list[Task]:
    study = studies.Study.parse(document(runs))
    return [*Plan(study.spec, study.base, lambda _: []).tasks()][:20]


def around(runs: int, whole: float, alone: float, workers: int) -> float:
    """Returns the worker seconds of a run that are not spent in the engine.

    `whole` is the time of a study on this number of parallel workers. `alone` is the time of the
    engine for all runs, one after the other.
    """
    return (whole * workers - alone) / runs


def report(name: str, runs: int, whole: float, alone: float, workers: int) -> None:
    print(
        f"{name}: {runs:,} runs, {whole / runs * 1e3:.2f} ms each; of a worker "
        f"{whole * workers / runs * 1e3:.2f} ms, the engine alone {alone / runs * 1e3:.2f} ms, "
        f"the rest {around(runs, whole, alone, workers) * 1e3:.2f} ms",
        flush=True,
    )


def driver(runs: int) -> None:
    """Measures the driver. Needs a separate process, because peak memory never falls."""
    took = timed(runs, Copying(), 64)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"driver alone: {runs:,} runs, {took / runs * 1e3:.2f} ms each, {most:.0f} MiB", flush=True
    )


def main() -> None:
    words = sys.argv[1:]
    if "--driver" in words:
        driver(int(words[-1]))
        return
    numbers = [int(word) for word in words if word.isdecimal()]
    runs = numbers[0] if numbers else 1000
    local(runs)
    if "--ray" in words:
        on_ray(runs)
    for many in DRIVER:
        subprocess.run([sys.executable, __file__, "--driver", str(many)], check=True)


if __name__ == "__main__":
    main()
