"""Formatting and parsing of numbers, and messages that are merged if only numbers differ."""

from __future__ import annotations

import plainly
import pytest
import report_samples as samples
from plainly import PER_CENT, THIN

from floatgate.report import payload
from floatgate.report.overview import lifetimes
from floatgate.report.told import Told, messages
from floatgate.results import values
from floatgate.results.messages import merged
from floatgate.results.values import SIZES, TIMES


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (999, "999 B"),
        (1000, "1000 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (1023 * 1024, "1023 KiB"),
        (1024**2, "1 MiB"),
        (1000 * 1024**2, "1000 MiB"),
        (1024**3, "1 GiB"),
        (2.5 * 1024**4, "2.5 TiB"),
        (2048 * 1024**4, "2048 TiB"),
        (-1536, "-1.5 KiB"),
    ],
)
def test_a_size_has_the_largest_binary_unit(value: float, text: str) -> None:
    assert values.size(value) == text.replace(" ", THIN)
    if value >= 0:
        assert values.size(value) == plainly.size(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0004, "0.000"),
        (0.0126, "0.013"),
        (0.126, "0.126"),
        (1.256, "1.26"),
        (9.994, "9.99"),
        (12.56, "12.6"),
        (125.6, "126"),
        (1256.4, "1 256"),
        (1234567.8, "1 234 568"),
        (-12.56, "\N{MINUS SIGN}12.6"),
    ],
)
def test_a_measurement_has_three_digits_that_count(value: float, text: str) -> None:
    assert values.measured(value) == text.replace(" ", THIN)


def test_other_numbers() -> None:
    assert values.ratio(99.99949) == "99.999" and values.ratio(100.04) == "100.0"
    assert values.ratio(-1.5) == "\N{MINUS SIGN}1.500"
    assert values.percent(0.12345) in (f"12.35{PER_CENT}", f"12.34{PER_CENT}")
    assert values.percent(1) == f"100.00{PER_CENT}" and values.percent(0) == f"0.00{PER_CENT}"
    assert values.count(1e6) == f"1{THIN}000{THIN}000" and values.count(999) == "999"
    assert values.fixed(1234.5678, 2) == f"1{THIN}234.57"
    for write in (values.ratio, values.percent, values.count, values.measured, values.size):
        assert write(None) == values.ABSENT


@pytest.mark.parametrize(
    ("known", "unit"),
    [
        ([], "µs"),
        ([None, 0], "µs"),
        ([0.2, 5e9], "µs"),
        ([999.9], "µs"),
        ([1000.0], "ms"),
        ([0, None, 1000.0, 7e7], "ms"),
        ([999_999.0], "ms"),
        ([1e6, 3e6], "s"),
        ([-2000.0], "ms"),
    ],
)
def test_a_column_of_times_has_one_unit(known: list[float | None], unit: str) -> None:
    assert values.unit_of(known, TIMES) == (unit, {"µs": 1, "ms": 1e3, "s": 1e6}[unit])


def test_a_column_of_sizes_has_one_unit() -> None:
    for power, name in enumerate(("B", "KiB", "MiB", "GiB", "TiB")):
        for value in (1024**power, 1024 ** (power + 1) - 1):
            assert values.unit_of([value, 1e18], SIZES) == (name, 1024**power)


def test_config_values_are_written_as_the_user_would() -> None:
    config = {"a": {"none": None, "yes": True, "no": False, "part": 0.07, "list": [1, "x"]}, "n": 4}
    assert values.flatten(config) == {
        "a.none": "none",
        "a.yes": "true",
        "a.no": "false",
        "a.part": "0.07",
        "a.list": "[1, x]",
        "n": "4",
    }


def _told(*warnings: list[str]) -> list[Told]:
    found = []
    for seed, texts in enumerate(warnings):
        document = samples.sample(seed=seed)
        document["warnings"] = texts
        found.append(document)
    return messages(samples.runs(found), lambda result: result.warnings)


def test_texts_that_differ_in_numbers_are_one_with_their_range() -> None:
    first, second, third = (
        f"was {a} and then {b:.3f} of 128" for a, b in ((9, 2), (11, 1), (10, 3))
    )
    (told,) = _told([first], [second], [third])
    # Numbers sort by value, not as text: 9 is less than 11.
    assert told.text == "was 9 to 11 and then 1.000 to 3.000 of 128"
    assert told.runs == ["seed 0", "seed 1", "seed 2"]
    assert list(told.each) == [("seed 0", first), ("seed 1", second), ("seed 2", third)]


def test_equal_texts_need_no_list() -> None:
    (told,) = _told(["the same"], [], ["the same"])
    assert told == ("the same", ["seed 0", "seed 2"], ())


def test_what_differs_in_words_stays_apart_and_in_order() -> None:
    told = _told(["b 1", "a"], ["b 2 more", "b 5"])
    assert [one.text for one in told] == ["b 1 to 5", "a", "b 2 more"]
    assert [one.runs for one in told] == [["seed 0", "seed 1"], ["seed 0"], ["seed 1"]]


def test_two_of_a_kind_in_a_run_are_one_with_both() -> None:
    (told,) = _told(["line 3 of x", "line 7 of x"])
    assert told.text == "line 3 to 7 of x" and len(told.runs) == 1
    assert [text for _, text in told.each] == ["line 3 of x", "line 7 of x"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("p99", "p95"), ("4KiB", "8KiB"), ("trace.2", "trace.3"), ("1.2.3", "1.2.4"), ("#", "5")],
)
def test_digits_in_a_word_are_no_number(one: str, other: str) -> None:
    told = _told([f"see {one} there"], [f"see {other} there"])
    assert [one.text for one in told] == [f"see {one} there", f"see {other} there"]


def test_numbers_with_thousands_apart_are_one_number() -> None:
    (told,) = _told([f"after 1{THIN}200 pages, 5%"], ["after 900 pages, 50%"])
    assert told.text == f"after 900 to 1{THIN}200 pages, 5 to 50%"
    assert merged(["has 98,304 pages", "has 589,824 pages"]) == "has 98,304 to 589,824 pages"
    assert merged(["1, 2 and 3,000", "1, 4 and 3,000"]) == "1, 2 to 4 and 3,000"


@pytest.mark.parametrize(
    ("years", "text"),
    [
        ([0.0003], "0.110 days"),
        ([0.02, 0.2], "7.30 to 73.0 days"),
        ([1, 12.5], "1.00 to 12.5 years"),
    ],
)
def test_a_lifetime_is_never_rounded_to_nothing(years: list[float], text: str) -> None:
    assert lifetimes(years) == text


def test_columns_give_back_their_rows() -> None:
    rows = [
        {"run": run, "value": value, "what": None}
        for run, value in (("a", 1.5), ("a", None), ("b", 2), ("a", 3))
    ]
    columns = payload.columns(rows)
    assert columns == {
        "run": [["a", 2], ["b", 1], ["a", 1]],
        "value": [1.5, None, 2, 3],
        "what": [None] * 4,
    }
    assert payload.columns([]) == {}


def test_per_cent_have_a_space_behind_their_number() -> None:
    text = values.space_percent("7% spare, 2.5 % more, at most 10%; a%b and 100%cotton.csv")
    assert text == f"7{PER_CENT} spare, 2.5 % more, at most 10{PER_CENT}; a%b and 100%cotton.csv"
