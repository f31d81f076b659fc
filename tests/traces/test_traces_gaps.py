"""Long gaps between requests: detected, reported, and closed only on request."""

from __future__ import annotations

import json
from itertools import accumulate, pairwise
from pathlib import Path

import polars as pl
import pytest
from conftest import Cli
from hypothesis import given, settings
from hypothesis import strategies as st

import floatgate as fg
from floatgate.traces import TraceError, read_trace, trace_info, write_parquet
from floatgate.traces.gaps import long_gap, parse_duration, spell

MS, S = 10**6, 10**9
MIN, H, D = 60 * S, 3600 * S, 86_400 * S
YEAR = 31_557_600 * S  # 365.25 days


def frame(times: list[int]) -> pl.DataFrame:
    count = len(times)
    return pl.DataFrame(
        {
            "at_ns": times,
            "op": [1] * count,
            "offset": [4096 * n for n in range(count)],
            "length": [4096] * count,
        }
    )


def notes(times: list[int], **options: object) -> list[str]:
    return read_trace(frame(times), **options).notes  # type: ignore[arg-type]


def closed(times: list[int], most: str) -> list[int]:
    return read_trace(frame(times), close_gaps=most).frame["at_ns"].to_list()


def test_a_jump_of_the_clock_is_said_with_place_length_and_share() -> None:
    jump = 44 * YEAR
    times = [0, 5_200 * MS, 5_200 * MS + jump, 5_300 * MS + jump]
    (note,) = notes(times)
    assert note == (
        "1 gap of 1 d or more between requests, 100 % of the trace's 44 years; the longest, "
        "44 years, follows request 2, 5.2 s after the first; --close-gaps shortens them"
    )


def test_all_long_gaps_are_counted_and_the_longest_is_placed() -> None:
    # In a trace of 30 h, gaps of 3 h and more are long: 12 h and 9 h are, the nine of 1 h are not.
    gaps = [H] * 4 + [9 * H] + [H] * 3 + [12 * H] + [H] * 2
    times = [0, *accumulate(gaps)]
    (note,) = notes(times)
    assert note.startswith("2 gaps of 3 h or more between requests, 70 % of the trace's 1.25 d; ")
    assert "the longest, 12 h, follows request 9, 16 h after the first" in note


@pytest.mark.parametrize(
    ("duration", "border"),
    [(1, MIN), (10 * MIN, MIN), (10 * MIN + 11, MIN + 2), (10 * D - 10, D - 1), (99 * D, D)],
)
def test_a_gap_is_long_from_a_tenth_on_between_a_minute_and_a_day(
    duration: int, border: int
) -> None:
    assert long_gap(duration) == border


@pytest.mark.parametrize("duration", [8 * MIN, 5 * H, 30 * D])
def test_the_border_itself_is_long(duration: int) -> None:
    border = long_gap(duration)
    step = max(border // 2, 1)

    def with_gap(gap: int) -> list[int]:
        rest = range(0, duration - gap, step)
        return [*rest, duration - gap, duration]

    assert len(notes(with_gap(border))) == 1
    assert notes(with_gap(border - 1)) == []


def test_short_traces_and_single_requests_have_no_long_gaps() -> None:
    for times in ([0], [7], [0, 0], [0, MIN - 1], [0, MS, 50 * S]):
        assert notes(times) == []


def test_a_clock_that_was_set_back_is_said_twice() -> None:
    times = [10 * YEAR, *range(0, 50 * S, S)]
    backwards, gap = notes(times)
    assert backwards == "1 line stepped backwards in time; sorted by time"
    assert gap.startswith("1 gap of 1 d or more") and "follows request 50, 49 s after" in gap


def test_gaps_are_looked_for_in_what_a_limit_keeps() -> None:
    times = [0, S, 2 * S, YEAR]
    assert notes(times, limit=3) == ["only the first 3 of 4 requests"]
    assert read_trace(frame(times), limit=3, close_gaps="1d").notes[1:] == [
        "no gap between requests is longer than 1 d: none shortened"
    ]


def test_longer_gaps_become_the_given_one_and_others_stay() -> None:
    times = [0, H, 3 * H, 3 * H + 1, 3 * H + 2 + H, 9 * H + 2]
    # Gaps of 1 h (the limit), 2 h, 1 ns, 1 h and 1 ns, 5 h: three exceed the limit.
    assert closed(times, "1h") == [0, H, 2 * H, 2 * H + 1, 3 * H + 1, 4 * H + 1]
    assert notes(times, close_gaps="60min") == [
        "3 gaps between requests shortened to 1 h: 5 h of 9 h removed"
    ]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.one_of(st.integers(0, 20), st.integers(0, 10**12)), max_size=12), st.integers(1, 50)
)
def test_closing_agrees_with_shortening_gap_by_gap(gaps: list[int], most: int) -> None:
    times = [0, *accumulate(gaps)]
    short = [0, *accumulate(min(gap, most) for gap in gaps)]
    trace = read_trace(frame(times), close_gaps=f"{most}ns")
    assert trace.frame["at_ns"].to_list() == short
    count = sum(b - a > most for a, b in pairwise(times))
    (note,) = trace.notes
    assert note.startswith(f"{count} gap" if count else "no gap between requests is longer than")
    assert trace.frame.schema == read_trace(frame([0])).frame.schema


def test_closed_gaps_are_not_said_to_be_long() -> None:
    assert len(notes([0, 44 * YEAR], close_gaps="30d")) == 1


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("1ns", 1),
        ("2us", 2_000),
        ("3ms", 3 * MS),
        ("1.5s", 1_500 * MS),
        ("5min", 5 * MIN),
        ("1h", H),
        (" 2 d ", 2 * D),
        ("0.25h", 15 * MIN),
    ],
)
def test_durations(text: str, ns: int) -> None:
    assert parse_duration(text) == ns


@pytest.mark.parametrize("text", ["", "1", "h", "0s", "0.1ns", "-1h", "1e3s", "1m", "1 hour", 3600])
def test_what_is_no_duration_is_refused(text: object) -> None:
    with pytest.raises(TraceError, match="expected a duration above 0"):
        parse_duration(text)  # type: ignore[arg-type]
    with pytest.raises(TraceError, match="close_gaps"):
        read_trace("no such file", close_gaps=text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (1, "1 ns"),
        (999, "999 ns"),
        (1_000, "1 us"),
        (1_500_000, "1.5 ms"),
        (59 * S, "59 s"),
        (90 * S, "1.5 min"),
        (36 * H, "1.5 d"),
        (H, "1 h"),
        (YEAR, "1 year"),
        (292 * YEAR, "292 years"),
    ],
)
def test_durations_are_spelt_in_their_largest_unit(ns: int, text: str) -> None:
    assert spell(ns) == text


def test_an_imported_trace_says_its_gaps_once(tmp_path: Path) -> None:
    trace = read_trace(frame([0, S, YEAR]))
    write_parquet(trace, tmp_path / "gap.parquet")
    back = read_trace(tmp_path / "gap.parquet")
    assert back.notes == ["imported from frame (ns, bytes, bytes)", *trace.notes]
    assert len(trace.notes) == 1
    shorter = read_trace(tmp_path / "gap.parquet", close_gaps="1h")
    assert shorter.notes[1:] == [
        "1 gap between requests shortened to 1 h: 365.2 d of 1 year removed"
    ]


def test_run_and_compare_say_and_close_gaps() -> None:
    times = [n * MS for n in range(50)] + [44 * YEAR + n * MS for n in range(50)]
    assert any("44 years" in note for note in fg.run(frame(times)).notes)
    result = fg.run(frame(times), close_gaps="1h")
    told = "1 gap between requests shortened to 1 h: 44 years of 44 years removed"
    assert [note for note in result.notes if "gap" in note] == [told]
    plain = [n * MS for n in range(50)] + [H + 49 * MS + n * MS for n in range(50)]
    same = fg.run(frame(plain)).to_dict()
    assert result.to_dict()["latency"] == same["latency"]
    assert result.to_dict()["throughput"] == same["throughput"]
    table = fg.compare([frame(times)], vary={"queue.depth": [1, 2]}, close_gaps="1h")
    assert table.height == 2
    with pytest.raises(ValueError, match=r"close_gaps: '1h' given, but .* is a generator"):
        fg.run("uniform:span=1MiB,writes=9", close_gaps="1h")
    with pytest.raises(ValueError, match="expected a duration"):
        fg.run(frame(times), close_gaps="soon")


@pytest.fixture
def jumped(tmp_path: Path) -> Path:
    rows = [f"{t},W,{n * 4096},4096" for n, t in enumerate([0, 10, 10 + 44 * YEAR // 1000, 0])]
    (tmp_path / "jump.csv").write_text(
        "timestamp_us,op,offset_bytes,size_bytes\n" + "\n".join(rows)
    )
    return tmp_path


def test_the_commands_say_and_close_gaps(cli: Cli, jumped: Path) -> None:
    info = json.loads(cli("trace", "info", "jump.csv", "--json").stdout)
    assert info["duration_s"] == (44 * YEAR + 10_000) / S
    assert "1 line stepped backwards in time; sorted by time" in info["notes"]
    assert any("the longest, 44 years, follows request 3, 10 us after" in n for n in info["notes"])
    shown = cli("trace", "info", "jump.csv")
    assert "44 years" in shown.stdout + shown.stderr
    info = json.loads(cli("trace", "info", "jump.csv", "--json", "--close-gaps", "1h").stdout)
    assert info["duration_s"] == (H + 10_000) / S
    ran = json.loads(cli("run", "jump.csv", "--json", "--close-gaps", "1h").stdout)
    assert any("shortened to 1 h" in note for note in ran["notes"])
    every = cli("compare", "jump.csv", "--vary", "queue.depth=1,2", "--json", "--close-gaps", "1h")
    for result in json.loads(every.stdout)["results"]:
        assert any("shortened to 1 h" in note for note in result["notes"])
    made = cli("trace", "import", "jump.csv", "-o", "jump.parquet", "--close-gaps", "1h")
    assert made.returncode == 0 and "1 gap between requests shortened to 1 h" in made.stderr
    imported = trace_info(read_trace(jumped / "jump.parquet"))
    assert imported["duration_s"] == (H + 10_000) / S
