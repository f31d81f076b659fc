"""A run without a steady state warns, and prints the last quarter next to the mean."""

from __future__ import annotations

import pytest
from paths import ROOT

import floatgate as fg
from floatgate.cli.summary import print_comparison, print_summary

CAPTURE = ROOT.parent / "shared" / "traces"
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
    trace = CAPTURE / "capture-pgbench-ext4-656k.csv.zst"
    if not trace.exists():
        pytest.skip(f"{trace} is not there")
    result = fg.run(trace, set=COUNTED)
    aged = fg.run(trace, set=COUNTED | {"start.fill": "random"})
    assert result.write_amplification == pytest.approx(3.65, abs=0.01)
    assert unsteady(result)
    assert aged.write_amplification == pytest.approx(5.5, abs=0.02)
