"""Start states: a default start that is not steady is warned of, and states are kept on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from paths import shared

import floatgate as fg
from floatgate.cli.summary import print_comparison, print_summary
from floatgate.simulation.builds import build

UNIFORM = "uniform:span=16MiB,writes=12k"
TRANSIENT = "uniform:span=32MiB,writes=18k"
COUNTED = {"timing": "none"}
SPARE = COUNTED | {"capacity.spare_factor": 0.2}


def quarters(result: fg.Result) -> list[float]:
    """Returns write amplification in each quarter of the bytes written, from the timeline."""
    frame = result.timeline
    ends = [0, *frame["host_bytes"]]
    media = [0.0] * 4
    host = [0] * 4
    for wa, begin, end in zip(frame["write_amplification"], ends, ends[1:], strict=False):
        at = min(3, 4 * begin // ends[-1])
        media[at] += (wa or 0.0) * (end - begin)
        host[at] += end - begin
    return [one / many for one, many in zip(media, host, strict=True)]


def unsteady(result: fg.Result) -> list[str]:
    return [text for text in result.warnings if text.startswith("not steady")]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("fill", ["sequential", "random", "shuffled", "none"])
def test_a_run_is_warned_of_if_a_quarter_differs_from_the_last(seed: int, fill: str) -> None:
    result = fg.run(UNIFORM, set=COUNTED | {"start.fill": fill}, seed=seed)
    each = quarters(result)
    assert result.write_amplification_last_quarter == pytest.approx(each[3])
    differs = any(abs(one - each[3]) > 0.1 * each[3] for one in each)
    aged = not any("volumes (drive" in text for text in result.warnings)
    assert bool(unsteady(result)) == (differs and aged)
    if unsteady(result):
        words = f"{each[0]:.3f}, {each[1]:.3f}, {each[2]:.3f} and {each[3]:.3f} in the quarters"
        assert words in unsteady(result)[0]
    elif aged:
        assert result.write_amplification == pytest.approx(each[3], rel=0.1)


def test_a_default_start_is_warned_of_and_an_aged_one_is_not() -> None:
    default = fg.run(TRANSIENT, set=SPARE)
    [text] = unsteady(default)
    assert 'start.fill = "steady"' in text
    steady = fg.run(TRANSIENT, set=SPARE | {"start.fill": "steady"})
    assert unsteady(steady) == []
    last = default.write_amplification_last_quarter
    assert last == pytest.approx(steady.write_amplification, rel=0.1)


def test_a_sampled_state_names_its_model_and_refuses_a_drive_without_one() -> None:
    """A drive of more units than the largest model, and a map whose cache cannot be sampled."""
    shape = {"flash.page": "512B", "flash.pages_per_block": 8, "flash.blocks": 18_000}
    sampled = COUNTED | shape | {"start.fill": "sampled"}
    result = fg.run("uniform:span=1MiB,writes=1000,size=512", set=sampled)
    assert (result.start.fill, result.start.settled) == ("sampled", True)
    assert (result.start.model_units, result.start.model_pages_per_unit) == (16_384, 8)
    assert any("a drive of 16384 erase units" in note for note in result.notes)
    words = 'start.fill = "sampled": expected "steady" with mapping.scheme = "dftl"'
    with pytest.raises(fg.ConfigError, match=words):
        fg.run(UNIFORM, set=sampled | {"mapping.scheme": "dftl"})


def test_the_last_quarter_stands_beside_the_mean(capsys: pytest.CaptureFixture[str]) -> None:
    result = fg.run(TRANSIENT, set=SPARE)
    assert result.write_amplification_last_quarter is not None
    last = f"{result.write_amplification_last_quarter:.3f}"
    print_summary(result, "classic")
    assert f"{last} in the last quarter of the writes" in capsys.readouterr().out
    print_comparison([result, result], ["mapping.scheme"])
    out = capsys.readouterr().out
    assert last in out and "quarter" in out
    table = fg.compare(TRANSIENT, vary={"timing": ["none"]}, set={"capacity.spare_factor": 0.2})
    assert f"{table['write_amplification_last_quarter'][0]:.3f}" == last


def test_the_last_quarter_is_left_out_of_a_table_where_it_says_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = fg.run("sequential:span=16MiB,writes=12k", set=COUNTED)
    print_comparison([result, result], ["mapping.scheme"])
    assert "quarter" not in capsys.readouterr().out


@pytest.mark.long
def test_a_capture_of_a_database_is_warned_of() -> None:
    trace = shared("traces/capture-pgbench-ext4-656k.csv.zst")
    result = fg.run(trace, set=COUNTED)
    aged = fg.run(trace, set=COUNTED | {"start.fill": "random"})
    assert result.write_amplification == pytest.approx(3.65, abs=0.01)
    assert unsteady(result)
    assert aged.write_amplification == pytest.approx(5.5, abs=0.02)


SPEC = "zipf:span=1MiB,writes=2000,seed=3"
AGED = {"start.fill": "random", "flash.pages_per_block": 16}
TAKEN, NOT_KEPT = "the start state is that of an earlier run", "the start state was not kept"


def run(cache: Path | None, **options: Any) -> tuple[dict[str, Any], list[str]]:
    """Returns a result without its machine-dependent fields, and its notes on the start state."""
    result = fg.run(SPEC, set=AGED, start_cache=cache, **options)
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
        fg.compare(SPEC, vary=vary, set=AGED, workers=2, start_cache=cache)
        for cache in (None, tmp_path, tmp_path)
    ]
    timeless = [table.drop(c for c in table.columns if "wall" in c) for table in tables]
    assert timeless[0].equals(timeless[1])
    assert timeless[0].equals(timeless[2])
    assert len(list(tmp_path.rglob("*.start"))) == 2
    assert len(list(tmp_path.rglob("*"))) == 3, "a directory and two states, and nothing else"


def test_it_is_refused_where_nothing_is_filled_once(tmp_path: Path) -> None:
    with pytest.raises(fg.ConfigError, match="filled anew"):
        fg.crash(SPEC, start_cache=tmp_path)


def test_states_are_kept_in_a_directory(tmp_path: Path) -> None:
    """The fill before the first write into it may take minutes."""
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(fg.ConfigError, match=r"start_cache: .*file.* given; expected a directory"):
        fg.run(UNIFORM, set=COUNTED, start_cache=file)
    assert file.read_text() == "mine"
    buffered = COUNTED | {"buffer.scheme": "page_lru"}
    result = fg.run(UNIFORM, set=buffered, start_cache=tmp_path / "states")
    (note,) = (note for note in result.notes if note.startswith(NOT_KEPT))
    assert "a write buffer" in note
