"""Start states on disk: the same results in less time, and the notes about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import floatgate
from floatgate.simulation.builds import build

SPEC = "zipf:span=1MiB,writes=2000,seed=3"
AGED = {"start.fill": "random", "flash.pages_per_block": 16}
TAKEN, NOT_KEPT = "the start state is that of an earlier run", "the start state was not kept"


def run(cache: Path | None, **options: Any) -> tuple[dict[str, Any], list[str]]:
    """Returns a result without its machine-dependent fields, and its notes on the start state."""
    result = floatgate.run(SPEC, set=AGED, start_cache=cache, **options)
    document = json.loads(result.to_json())
    told = [note for note in document["notes"] if note.startswith((TAKEN, NOT_KEPT))]
    document["notes"] = [note for note in document["notes"] if note not in told]
    del document["engine"]
    return document, told


def test_the_second_run_takes_what_the_first_has_kept(tmp_path: Path) -> None:
    alone, silent = run(None)
    first, kept = run(tmp_path)
    (state,) = tmp_path.rglob("*.start")
    second, taken = run(tmp_path)
    assert state.parent == tmp_path / build()
    assert first == second == alone
    assert (silent, kept) == ([], [])
    assert taken == [f"{TAKEN}, from {state}"]


def test_another_seed_is_another_state(tmp_path: Path) -> None:
    run(tmp_path)
    assert run(tmp_path, seed=2) == run(None, seed=2)
    assert len(list(tmp_path.rglob("*.start"))) == 2


def test_runs_side_by_side_share_a_state(tmp_path: Path) -> None:
    vary: dict[str, Any] = {"queue.depth": [1, 4, 16, 64], "capacity.spare_factor": [0.1, 0.2]}
    tables = [
        floatgate.compare(SPEC, vary=vary, set=AGED, workers=2, start_cache=cache)
        for cache in (None, tmp_path, tmp_path)
    ]
    timeless = [table.drop(c for c in table.columns if "wall" in c) for table in tables]
    assert timeless[0].equals(timeless[1])
    assert timeless[0].equals(timeless[2])
    assert len(list(tmp_path.rglob("*.start"))) == 2
    assert len(list(tmp_path.rglob("*"))) == 3, "a directory and two states, and nothing else"


def test_a_directory_that_is_a_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    document, told = run(file)
    assert document == run(None)[0]
    assert [note[: len(NOT_KEPT)] for note in told] == [NOT_KEPT]
    assert file.read_text() == "mine"


def test_it_is_refused_where_nothing_is_filled_once(tmp_path: Path) -> None:
    with pytest.raises(floatgate.ConfigError, match="filled anew"):
        floatgate.crash(SPEC, start_cache=tmp_path)
