"""The sentence at the top of a report, from made-up numbers."""

from __future__ import annotations

import pytest

from floatgate.report.answer import (
    Subject,
    answer,
    change,
    differs,
    largest,
    one_answer,
    pair,
    rough,
)

MS = ("ms", 1e3)
FULL = Subject("7 % spare", (9.45, 9.46, 9.47), (122e3, 123e3, 124e3))
SPARE = Subject("28 % spare", (2.54, 2.55, 2.56), (30.9e3, 31e3, 31.1e3), 0)


def test_the_largest_difference_in_plain_words() -> None:
    assert answer([FULL, SPARE], MS) == (
        "28 % spare writes 3.7 times less than 7 % spare (write amplification 2.55 against 9.46), "
        "p99 31 against 123 ms."
    )
    middle = Subject("14 % spare", (5.0, 5.1, 5.2), (60e3, 61e3, 62e3), 0)
    assert answer([FULL, middle, SPARE], MS) == answer([FULL, SPARE], MS)


def test_the_row_that_writes_least_is_named_if_the_largest_difference_is_of_others() -> None:
    worst = Subject("QLC", (91.0, 91.1, 91.2), (1e6, 1e6, 1e6), 0)
    text = answer([FULL, SPARE, worst], MS)
    assert text.startswith("QLC writes 9.6 times as much as 7 % spare (write amplification 91")
    assert text.endswith(" 28 % spare writes least (2.55).")


def test_one_run_each_has_no_interval() -> None:
    rows = [Subject("single", (6.83,), (None,)), Subject("sepbit", (5.9,), (None,), 0)]
    assert answer(rows, MS) == (
        "sepbit writes 14 % less than single (write amplification 5.90 against 6.83). One run "
        "each: the differences have no interval."
    )


def test_a_difference_within_its_interval_does_not_count() -> None:
    noisy = Subject("noisy", (1.0, 9.0, 30.0), (122e3, 123e3, 124e3), 0)
    assert not differs(noisy.amplification, FULL.amplification)
    assert largest([FULL, noisy, SPARE], lambda one: one.amplification).subject is SPARE
    assert answer([FULL, noisy], MS) == (
        "The runs have a write amplification of 9.5 to 13.3 and the same p99 (123 ms): no "
        "difference is larger than its 95 % interval."
    )
    late = SPARE._replace(p99_us=(1e3, 300e3, 40e3))
    assert answer([FULL, late], MS).endswith(", p99 114 against 123 ms (within the interval).")


def test_equal_runs_are_called_equal() -> None:
    same = [Subject("a", (2.0,), (5.0,)), Subject("b", (2.0,), (5.0,), 0)]
    assert answer(same, MS) == (
        "The runs have the same write amplification (2.00) and the same p99 (0.005 ms)."
    )


def test_runs_without_a_ratio_are_not_called_equal() -> None:
    """A buffer that holds everything has a write amplification of 0, and reads have none."""
    buffered = [Subject("none", (6.47,), (None,)), Subject("page_lru", (0.0,), (None,), 0)]
    assert answer(buffered, MS) == "The runs have a write amplification of 0.00 to 6.47."
    traces = [Subject("a", (None,), (800.0,)), Subject("b", (None,), (3200.0,))]
    assert answer(traces, MS) == "The runs have a p99 of 0.80 to 3.20 ms."


def test_the_larger_factor_leads_if_the_directions_differ() -> None:
    worse = Subject("sepbit", (10.2, 10.3, 10.4), (20e3, 21e3, 22e3), 0)
    assert answer([FULL, worse], MS).startswith("sepbit has a p99 5.9 times shorter than 7 % spare")


def test_huge_factors_have_two_digits() -> None:
    assert (
        change(1 / 105_578, "less", "more", "much")
        == "110\N{NARROW NO-BREAK SPACE}000 times less than"
    )


def test_a_small_difference_of_doubtful_rows_keeps_its_digits() -> None:
    assert pair(10.4, 10.6, doubtful=True) == ("10.4", "10.6")


def test_p99_leads_where_write_amplification_hardly_differs() -> None:
    deep = Subject("depth 32", (9.45, 9.46, 9.47), (400e3, 410e3, 420e3), 0)
    deep = deep._replace(amplification=(9.46, 9.47, 9.48))
    assert answer([FULL, deep], MS) == (
        "depth 32 has a p99 3.3 times as long as 7 % spare (410 against 123 ms), write "
        "amplification 9.47 against 9.46."
    )
    reads = [Subject("a", (None,), (5e3,)), Subject("b", (None,), (4e3,), 0)]
    assert answer(reads, MS).startswith("b has a p99 20 % shorter than a (4.00 against 5.00 ms).")
    nothing = [Subject("a", (None,), (None,)), Subject("b", (None,), (None,), 0)]
    assert answer(nothing, MS) == "The host wrote nothing, and there are no response times."


def test_a_doubtful_row_has_two_digits() -> None:
    text = answer([FULL._replace(doubtful=True), SPARE], MS)
    assert "(write amplification 2.6 against 9.5), p99 31 against 120 ms" in text


def test_a_row_of_several_traces_names_its_trace() -> None:
    assert answer([FULL, SPARE._replace(trace="fin1")], MS).startswith("On fin1, 28 % spare writes")


def test_a_single_run_has_its_numbers_and_their_main_causes() -> None:
    parts = [("cleaning", 5.83), ("map", 0.2)]
    causes = [("queue", 0.6), ("flash itself", 0.4)]
    assert one_answer((6.83,), parts, (123e3,), MS, causes) == (
        "Write amplification is 6.83, of which cleaning makes 5.83; p99 is 123 ms, and queue makes "
        "60 % of the mean response time."
    )
    assert one_answer((6.83,), parts, (None,), MS, []) == (
        "Write amplification is 6.83, of which cleaning makes 5.83."
    )
    assert one_answer((None,), [], (5e3,), MS, []) == "p99 is 5.00 ms."
    assert "7.00 ± 2.48" in one_answer((6.0, 7.0, 8.0), [], (None,) * 3, MS, [])
    assert one_answer((None,), [], (None,), MS, []).startswith("The host wrote nothing")


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (0.27, "3.7 times less than"),
        (0.92, "8.0 % less than"),
        (1.12, "12 % more than"),
        (1.6, "1.6 times as much as"),
        (25.0, "25 times as much as"),
        (0.999, "0.1 % less than"),
    ],
)
def test_a_factor_in_words(factor: float, words: str) -> None:
    assert change(factor, "less", "more", "much") == words


def test_two_numbers_have_the_same_decimals() -> None:
    assert pair(31.2, 123.4) == ("31", "123")
    assert pair(0.4, 123.4) == ("0.400", "123")
    assert pair(123.2, 123.4) == ("123", "123")
    assert [rough(value) for value in (9.46, 0.123, 123.0, 1.0)] == ["9.5", "0.12", "120", "1.0"]
