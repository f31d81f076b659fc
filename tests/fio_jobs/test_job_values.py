"""Values of options: units, times, expressions, lists, percentages and distributions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from job_text import only

from floatgate._core import ConfigError
from floatgate.simulation.fio_jobs import values

S, MS, US = 1_000_000_000, 1_000_000, 1000


@pytest.mark.parametrize(
    ("text", "base", "number"),
    [
        ("4096", 1024, 4096),
        ("4k", 1024, 4096),
        ("4K", 1024, 4096),
        ("4kb", 1024, 4096),
        ("4kB", 1024, 4096),
        ("4096b", 1024, 4096),
        ("1m", 1024, 1 << 20),
        ("1t", 1024, 1 << 40),
        ("1p", 1024, 1 << 50),
        # fio's compatibility mode swaps the units of the standard.
        ("4ki", 1024, 4000),
        ("1MiB", 1024, 1_000_000),
        ("4k", 1000, 4000),
        ("4kib", 1000, 4096),
        ("1GiB", 1000, 1 << 30),
        ("0x1000", 1024, 4096),
        ("(1024*4)", 1024, 4096),
        ("(2^12)", 1024, 4096),
        ("(1k+3k)", 1024, 4096),
        ("(10-2*3)", 1024, 4),
        ("(7/2)", 1024, 3),
        ("(7%4)", 1024, 3),
        ("((1+2)*(3+4))", 1024, 21),
        ("8*4096", 1024, 32768),
    ],
)
def test_numbers_have_units_and_expressions(text: str, base: int, number: int) -> None:
    assert values.whole(text, base) == number


@pytest.mark.parametrize(
    "text",
    [
        *("", "k", "1.5m", "4x", "4kk", "-1", "(1", "1)", "(1+)", "(1/0)", "(1%0)", "(2-3)", "()"),
        *("1e6", "0x", "(2^-1)", "(9^999)", "(((9^99)^99)^99)", "(" * 70 + "1" + ")" * 70),
        "9" * 40,
    ],
)
def test_other_texts_are_no_numbers(text: str) -> None:
    with pytest.raises(ValueError):
        values.whole(text)


@pytest.mark.parametrize(
    ("text", "unit", "ns"),
    [
        ("10", "s", 10 * S),
        ("10", "us", 10 * US),
        ("500ms", "s", 500 * MS),
        ("500msec", "s", 500 * MS),
        ("7usec", "s", 7 * US),
        ("2M", "s", 120 * S),
        ("1h", "s", 3600 * S),
        ("1d", "us", 86_400 * S),
        # In an expression, the unit of a bare number is a microsecond.
        ("(2*10)", "s", 20 * US),
        ("(2*10ms)", "s", 20 * MS),
    ],
)
def test_times_have_units(text: str, unit: str, ns: int) -> None:
    assert values.duration(text, unit) == ns


@pytest.mark.parametrize("text", ["", "10x", "1m30s", "1.5s", "s"])
def test_other_texts_are_no_times(text: str) -> None:
    with pytest.raises(ValueError):
        values.duration(text, "s")


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("8k", [8, 8, 8]),
        ("8k,32k", [8, 32, 32]),
        ("8k,32k,", [8, 32, None]),
        (",8k", [None, 8, 8]),
        (",8k,", [None, 8, None]),
        ("1k,2k,3k", [1, 2, 3]),
    ],
)
def test_a_value_without_a_comma_applies_to_the_kinds_that_follow(
    text: str, sizes: list[int | None]
) -> None:
    found = values.by_kind(text, values.whole)
    assert [one and one // 1024 for one in found] == sizes


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("4k/60:64k/40", [(4096, 60), (65536, 40)]),
        ("4k/50:1k/:32k/", [(4096, 50), (1024, 25), (32768, 25)]),
        ("4k:8k", [(4096, 50), (8192, 50)]),
        ("4k/100%", [(4096, 100)]),
    ],
)
def test_sizes_without_a_percentage_share_what_is_left(
    text: str, pairs: list[tuple[int, float]]
) -> None:
    assert values.shares(text, values.whole, 64) == pairs


@pytest.mark.parametrize("text", ["4k/60:64k/30", "4k/60:64k/50", "4k/101", "", ":", "4k/x"])
def test_percentages_sum_to_100(text: str) -> None:
    with pytest.raises(ValueError):
        values.shares(text, values.whole, 64)


@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        (["rw=write"], "is_random", False),
        (["rw=randtrim"], "is_random", True),
        (["iodepth=8"], "refill_at", 7),
        (["iodepth=8", "iodepth_low=2"], "refill_at", 2),
        (["iodepth=8", "iodepth_batch_complete=4"], "refill_at", 4),
        (["iodepth=8", "iodepth_batch_complete_min=0"], "refill_at", 7),
        (["runtime=30"], "runtime_ns", 30 * S),
        (["timeout=30"], "runtime_ns", 30 * S),
        (["ramp_time=2"], "ramp_ns", 2 * S),
        (["startdelay=1-3"], "start_delay_ns", (S, 3 * S)),
        (["startdelay=3:1"], "start_delay_ns", (S, 3 * S)),
        (["thinktime=5"], "think_ns", 5 * US),
        (["thinktime_blocks=4"], "think_requests", 4),
        (["fsync=3", "fdatasync=0"], "flush_every", (3,)),
        (["fsync=3", "fdatasync=5"], "flush_every", (3, 5)),
        (["fsync_on_close=1"], "flushes_at_end", True),
        (["loops=3"], "loops", 3),
        (["number_ios=9"], "requests_max", 9),
        (["io_limit=64k"], "io_bytes", 65536),
        (["rwmixread=70"], "read_percent", 70),
        (["rwmixwrite=70"], "read_percent", 30),
        # Percentages that disagree: the writes count.
        (["rwmixread=30", "rwmixwrite=60"], "read_percent", 40),
        (["randrepeat=0"], "repeats", False),
        (["randseed=5"], "repeats", False),
        (["time_based", "runtime=5"], "repeats", False),
        ([], "repeats", True),
        ([], "each_once", True),
        (["norandommap"], "each_once", False),
        (["norandommap=0"], "each_once", True),
        (["norandommap", "random_generator=lfsr"], "each_once", True),
        (["blockalign=4k"], "each_once", False),
        (["random_distribution=zipf:1.2"], "each_once", False),
        (["rate_process=poisson"], "is_poisson", True),
        (["exitall"], "ends_group", True),
    ],
)
def test_an_option_sets_its_field(
    tmp_path: Path, options: list[str], field: str, value: Any
) -> None:
    assert getattr(only(tmp_path, *options), field) == value


@pytest.mark.parametrize(
    ("text", "kind", "shape", "center"),
    [
        ("random", "uniform", 0, None),
        ("zipf", "zipf", 1.1, None),
        ("zipf:1.2", "zipf", 1.2, None),
        ("zipf:1.2:0.25", "zipf", 1.2, 0.25),
        ("pareto", "pareto", 0.2, None),
        ("pareto:0.9", "pareto", 0.9, None),
        ("normal:10:0.3", "normal", 10, 0.3),
    ],
)
def test_a_distribution_has_a_shape_and_a_center(
    tmp_path: Path, text: str, kind: str, shape: float, center: float | None
) -> None:
    found = only(tmp_path, f"random_distribution={text}").distribution
    assert (found.kind, found.shape, found.center) == (kind, shape, center)


def test_zones_are_shares_or_bytes_for_each_kind(tmp_path: Path) -> None:
    def zones(text: str) -> list[Any]:
        job = only(tmp_path, "rw=randrw", f"random_distribution={text}")
        return [direction.zones for direction in job.directions]

    assert zones("zoned:60/10:40/90") == [((60, 10), (40, 90))] * 2
    assert zones("zoned:60/10:40/") == [((60, 10), (40, 90))] * 2
    assert zones("zoned:/10:/20") == [((50, 10), (50, 20))] * 2
    assert zones("zoned:100/10,100/20") == [((100, 10),), ((100, 20),)]
    assert zones("zoned_abs:60/8k:40/16k") == [((60, 8192), (40, 16384))] * 2


def test_a_rate_in_requests_counts_the_smallest_size(tmp_path: Path) -> None:
    def rates(*options: str) -> list[int | None]:
        return [one.rate for one in only(tmp_path, "rw=randrw", *options).directions]

    assert rates("rate=1m") == [1 << 20] * 2
    assert rates("rate=1m,500k") == [1 << 20, 500 << 10]
    assert rates("rate=,500k") == [None, 500 << 10]
    assert rates("rate_iops=100", "bsrange=4k-64k") == [409_600] * 2


def test_handles_are_numbers_and_ranges(tmp_path: Path) -> None:
    assert only(tmp_path).handles is None
    every = only(tmp_path, "fdp=1").handles
    assert every is not None and every.numbers == () and not every.is_random
    few = only(tmp_path, "dataplacement=streams", "fdp_pli=1,3-5", "plid_select=random").handles
    assert few is not None and few.numbers == (1, 3, 4, 5) and few.is_random
    assert few.option == "dataplacement=streams, fdp_pli=1,3,4,5"


def test_requests_in_order_can_leave_gaps(tmp_path: Path) -> None:
    (gaps,) = only(tmp_path, "rw=write:8k").directions
    (none,) = only(tmp_path, "rw=write").directions
    assert (gaps.skip, none.skip) == (8192, 0)


@pytest.mark.parametrize(
    ("option", "error"),
    [
        ("rw=sideways", "expected one of read, write"),
        ("rw=randwrite:8", "not modelled: requests per random offset"),
        ("rw=write:0", "expected 1 byte to 1 TiB"),
        ("iodepth=0", "expected 1 to 65,536"),
        ("numjobs=0", "expected 1 to 4,096"),
        ("numjobs=5000", "expected 1 to 4,096"),
        ("bs=0", "expected 1 byte to 1 TiB"),
        ("bs=1,2,3,4", "expected at most three values"),
        ("rwmixread=101", "expected 0 to 100 per cent"),
        ("bssplit=4k/50:8k/40", "expected percentages that sum to 100, not 90"),
        ("random_distribution=zipf:1", "expected a theta above 0, at most 10 and other than 1"),
        ("random_distribution=pareto:1", "expected a power above 0 and below 1"),
        ("random_distribution=normal:100", "expected a deviation of 0 to below 100"),
        ("random_distribution=bell", "expected random, zipf"),
        ("random_distribution=zoned:50/10:40/90", "expected percentages that sum to 100, not 90"),
        ("random_distribution=zoned:50/60:50/60", "expected zones that cover at most 100 per cent"),
        ("random_distribution=zoned:50/0:50/60", "expected zones larger than 0"),
        ("random_distribution=zoned_abs:60/8k:40/", "expected a size for each zone"),
        ("rate_process=bursts", "expected one of linear, poisson"),
        ("plids=1", "no data placement; expected fdp=1, too"),
        ("dataplacement=streams", "no streams; expected plids=1,2,..."),
        ("plids=4-1", "expected ascending ranges of numbers up to 65535"),
        ("time_based", "no runtime; expected runtime=TIME"),
        ("time_based=maybe", "expected 0 or 1"),
        ("wait_for=nobody", "no job above has this name"),
        ("filename=/dev/a:/dev/b", "several files; expected a section for each file"),
        ("size=3z", "expected bytes or a percentage: zones are not modelled"),
        ("kb_base=10", "expected 1000 or 1024"),
        ("filesize=50%", "expected bytes"),
        ("ioengine=cpuio", "not modelled: it sends no requests to a drive"),
    ],
)
def test_an_error_names_the_option_and_what_is_expected(
    tmp_path: Path, option: str, error: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        only(tmp_path, option)
    text = str(raised.value)
    assert text.startswith(f"some.fio, line 3: [job] {option}"), text
    assert error in text


def test_rate_and_rate_iops_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="rate_iops=5: rate is given, too"):
        only(tmp_path, "rate=1m", "rate_iops=5")
