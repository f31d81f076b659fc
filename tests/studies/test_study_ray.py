"""Studies on Ray: the same rows as on this machine, even if a machine is lost."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import floatgate as fg
import floatgate.studies
from floatgate.studies.on_ray import TRIES, RayExecutor
from floatgate.studies.rows import HOST

STUDY = {
    "traces": ["uniform:span=4MiB,writes=20k"],
    "set": {"start.fill": "random"},
    "grid": {"mapping.scheme": ["ideal", "dftl"], "capacity.spare_factor": [0.1, 0.2]},
    "seeds": 50,
}


def test_without_ray_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(fg.ConfigError, match=r"expected floatgate\[ray\]"):
        RayExecutor(None, None)


class _OutOfMemoryError(Exception):
    pass


class _LostError(Exception):
    pass


class FakeRay:
    """The parts of Ray that the executor uses. Tasks end as `outcomes` lists, in order."""

    exceptions = SimpleNamespace(
        OutOfMemoryError=_OutOfMemoryError,
        WorkerCrashedError=_LostError,
        LocalRayletDiedError=_LostError,
        NodeDiedError=_LostError,
        ObjectLostError=_LostError,
    )

    def __init__(self, *outcomes: Exception | None) -> None:
        self.outcomes = list(outcomes)
        self.claims: list[int] = []
        self.address: str | None = None

    def is_initialized(self) -> bool:
        return False

    def init(self, address: str, **_: Any) -> None:
        self.address = address

    def shutdown(self) -> None:
        self.address = None

    def nodes(self) -> list[dict[str, Any]]:
        big = {"Alive": True, "Resources": {"memory": 3000.0, "CPU": 4.0}}
        return [big, {"Alive": False, "Resources": {"memory": 9000.0}}]

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 4.0}

    def remote(self, fn: Any) -> Any:
        def options(*, memory: int, max_retries: int, **_: Any) -> Any:
            assert max_retries == 0, "Ray would retry with the same claim, and without an end"

            def remote(work: Any) -> Any:
                self.claims.append(memory)
                future: Future[Any] = Future()
                error = self.outcomes.pop(0)
                if error is None:
                    future.set_result(fn(work))
                else:
                    future.set_exception(error)
                return SimpleNamespace(future=lambda: future)

            return SimpleNamespace(remote=remote)

        return SimpleNamespace(options=options)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr("floatgate.studies.on_ray.WAIT_S", 0.01)

    def install(*outcomes: Exception | None) -> FakeRay:
        ray = FakeRay(*outcomes)
        monkeypatch.setitem(sys.modules, "ray", ray)
        return ray

    yield install


def test_a_run_short_of_memory_is_tried_later_with_a_larger_claim(fake: Any) -> None:
    ray = fake(_OutOfMemoryError(), MemoryError(), None)
    with RayExecutor("there", 1000) as executor:
        assert ray.address == "there"
        assert executor.in_flight() == 8
        assert executor.submit(divmod, 7, 2).result(10) == (3, 1)
    # No machine has four times the memory, so the claim stops at three times.
    assert ray.claims == [1000, 2000, 3000]
    assert ray.address is None


def test_a_run_whose_machine_is_lost_is_begun_again(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    delays: list[float] = []

    class Noting(threading.Timer):
        def __init__(self, delay: float, *arguments: Any) -> None:
            delays.append(delay)
            super().__init__(0, *arguments)

    monkeypatch.setattr("floatgate.studies.on_ray.Timer", Noting)
    ray = fake(_LostError(), _LostError(), _LostError(), None)
    with RayExecutor(None, 1000) as executor:
        assert ray.address == "local"
        assert executor.submit(divmod, 7, 2).result(10) == (3, 1)
    assert ray.claims == [1000] * 4
    assert delays == pytest.approx([0.01, 0.02, 0.04])


def test_what_fails_each_time_fails(fake: Any) -> None:
    ray = fake(*[_OutOfMemoryError("short")] * TRIES)
    with RayExecutor(None, 1) as executor, pytest.raises(_OutOfMemoryError):
        executor.submit(divmod, 7, 2).result(10)
    assert len(ray.claims) == TRIES
    ray = fake(ValueError("ours"))
    with RayExecutor(None, 1) as executor, pytest.raises(ValueError):
        executor.submit(divmod, 7, 2).result(10)
    assert len(ray.claims) == 1


def test_a_claim_that_no_machine_can_meet_is_refused(fake: Any) -> None:
    fake()
    with pytest.raises(fg.ConfigError, match=r"memory: 3,001 bytes a run; .* more than 3,000"):
        RayExecutor(None, 3001)


def test_a_cluster_that_is_not_there_is_said_at_once(fake: Any) -> None:
    """Ray itself retries for more than nine minutes."""
    ray = fake()
    with socket.create_server(("127.0.0.1", 0)) as server:
        there = f"127.0.0.1:{server.getsockname()[1]}"
        RayExecutor(there, 1000)
        assert ray.address == there
    ray.address = None
    for address in (there, f"ray://{there}"):
        with pytest.raises(fg.ConfigError, match=f"RAY_ADDRESS: {address}: no cluster is there"):
            RayExecutor(address, 1000)
    assert ray.address is None


@pytest.mark.long
def test_a_machine_may_be_lost_in_the_middle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """200 runs on two raylets must equal local runs to the bit, even though one raylet is
    killed."""
    # On a busy machine a raylet's helpers take longer to start than it waits for them.
    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "180")
    ray = pytest.importorskip("ray", reason="ray is not installed (floatgate[ray])")
    utils = pytest.importorskip("ray.cluster_utils")
    node = {"num_cpus": 1, "memory": 2 << 30, "object_store_memory": 100 << 20}
    cluster = utils.Cluster(initialize_head=True, head_node_args=node)
    try:
        second = cluster.add_node(**node)
        cluster.wait_for_nodes()
        place, lost = tmp_path / "ray", []

        def lose() -> None:
            """Kills the second machine once a quarter of the runs is done."""
            deadline = time.monotonic() + 300
            while time.monotonic() < deadline:
                if seen and seen[-1] >= 50:
                    cluster.remove_node(second, allow_graceful=False)
                    lost.append(seen[-1])
                    return
                time.sleep(0.02)

        seen: list[int] = []
        killer = threading.Thread(target=lose)
        killer.start()
        with RayExecutor(cluster.address, 512 << 20) as executor:
            there = fg.study(
                STUDY,
                out=place,
                executor=executor,
                in_flight=executor.in_flight(),
                progress=lambda _, done, __: seen.append(done),
            )
        killer.join()
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert lost and lost[0] < 200, "the machine was lost while runs were missing"
    assert there.counts() == {"planned": 200, "done": 200} | {
        "failed": 0,
        "missing": 0,
        "unplanned": 0,
    }
    here = fg.study(STUDY, out=tmp_path / "here")
    names = [name for name in here.head["columns"] if not name.startswith(HOST)]
    assert there.frame(names).equals(here.frame(names))
