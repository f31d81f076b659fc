"""The sentence at the top of a report: the largest difference, or the answer of a single run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import NamedTuple

from floatgate.results.intervals import differences, mean_and_half_width
from floatgate.results.tables import Unit
from floatgate.results.values import count, fixed, interval, measured

WORDS = 1.5
"""From this factor on, the sentence gives a factor; below, a difference in per cent."""

EQUAL = 1e-9
"""Numbers whose relative difference is at most this are called equal."""

WORTH_DIGITS = 0.1
"""Minimum relative difference of two numbers that two digits neither hide nor exaggerate."""

LEADS = 1.05
"""From this factor on, write amplification leads the sentence, whatever p99 does."""

Values = Sequence[float | None]
"""A number of each seed, in the order of the seeds."""


class Subject(NamedTuple):
    """One row of the first screen."""

    name: str
    amplification: Values
    p99_us: Values
    base: int | None = None
    """Number of the base, the row that this row is compared with; None for a base itself."""
    trace: str = ""
    """Trace of the row, if the rows have several traces and the row's base has the same trace."""
    doubtful: bool = False


Of = Callable[[Subject], Values]
"""Returns one number of a row."""


class Difference(NamedTuple):
    """Difference of a row to its base, whose interval excludes zero."""

    subject: Subject
    base: Subject
    factor: float

    @property
    def size(self) -> float:
        """Absolute logarithm of the factor: equal for twice as much and for half as much."""
        return abs(math.log(self.factor))

    @property
    def doubtful(self) -> bool:
        return self.subject.doubtful or self.base.doubtful

    def of(self, number: Of) -> tuple[Values, Values]:
        return number(self.subject), number(self.base)


def answer(subjects: Sequence[Subject], time: Unit) -> str:
    """Returns the sentence of a comparison; `time` is the unit of response times of the page."""
    seeds = len(subjects[0].amplification)
    amplification = largest(subjects, _amplification)
    p99 = largest(subjects, _p99)
    if not (amplification or p99):
        return _no_difference(subjects, time)
    if amplification and amplification.size >= _least_to_lead(amplification, p99):
        text = _of_writes(amplification, time) + _lowest(subjects, amplification)
    else:
        assert p99 is not None
        text = _of_times(p99, time)
    return text if seeds > 1 else f"{text} One run each: the differences have no interval."


def _least_to_lead(amplification: Difference, p99: Difference | None) -> float:
    """Returns the minimum size at which write amplification leads the sentence. If p99 moves in the
    other direction and by more, p99 leads; otherwise the wrong drive would seem better."""
    if p99 is None:
        return 0.0
    is_opposite = (amplification.factor < 1) != (p99.factor < 1)
    return p99.size if is_opposite else min(math.log(LEADS), p99.size)


def largest(subjects: Sequence[Subject], of: Of) -> Difference | None:
    """Returns the row whose number differs from its base by the largest factor.

    With several seeds, only differences count whose 95 % interval excludes zero.
    """
    found = []
    for one in subjects:
        if one.base is None:
            continue
        base = subjects[one.base]
        factor = _factor(of(one), of(base))
        if factor and differs(of(one), of(base)):
            found.append(Difference(one, base, factor))
    return max(found, key=lambda one: one.size, default=None)


def differs(own: Values, base: Values) -> bool:
    """Returns whether the interval of the differences excludes zero.

    Rows of one seed have no interval: they differ if their numbers do.
    """
    mean, half = mean_and_half_width(differences(own, base)[0])
    return mean is not None and abs(mean) > (half or 0.0)


def change(factor: float, less: str, more: str, many: str) -> str:
    """Returns a factor in plain words: `3.7 times less than`, `8 % more than`, `13 times as much
    as`."""
    if factor >= WORDS:
        return f"{_digits(factor)} times as {many} as"
    if factor <= 1 / WORDS:
        return f"{_digits(1 / factor)} times {less} than"
    return f"{_digits(100 * abs(factor - 1))} % {less if factor < 1 else more} than"


def rough(value: float) -> str:
    """Formats a doubtful number with two significant digits."""
    two = float(f"{value:.2g}")
    digits = len(measured(two).partition(".")[2])
    return fixed(two, max(0, digits - 1))


def pair(own: float, base: float, *, doubtful: bool = False) -> tuple[str, str]:
    """Returns two numbers with as many decimals as the larger one needs.

    Doubtful numbers have two digits, unless these would hide or exaggerate a small difference.
    """
    if doubtful and abs(own - base) >= WORTH_DIGITS * base:
        return rough(own), rough(base)
    digits = len(measured(max(own, base)).partition(".")[2])
    texts = fixed(own, digits), fixed(base, digits)
    # Equal texts, or a zero, would hide the difference.
    return (measured(own), measured(base)) if "0" in texts or texts[0] == texts[1] else texts


def one_answer(
    amplification: Values,
    parts: Sequence[tuple[str, float]],
    p99_us: Values,
    time: Unit,
    causes: Sequence[tuple[str, float]],
    *,
    doubtful: bool = False,
) -> str:
    """Returns the sentence of a single row.

    `parts` has the components of write amplification except the host's own, and `causes` the shares
    of the mean response time.
    """
    text = []
    wa, half = mean_and_half_width(amplification)
    if wa is not None:
        text.append(f"Write amplification is {_number(wa, half, doubtful)}")
        name, most = max(parts, key=lambda part: part[1], default=("", 0.0))
        if most > 0:
            text[0] += f", of which {name} makes {_number(most, None, doubtful)}"
    p99, half = _scaled(p99_us, time)
    if p99 is not None:
        text.append(f"p99 is {_number(p99, half, doubtful)} {time[0]}")
        name, share = max(causes, key=lambda cause: cause[1], default=("", 0.0))
        if share > 0:
            text[-1] += f", and {name} makes {100 * share:.0f} % of the mean response time"
    if not text:
        return "The host wrote nothing, and there are no response times."
    found = "; ".join(text) + "."
    return found[:1].upper() + found[1:] if wa is not None else found


def _amplification(one: Subject) -> Values:
    return one.amplification


def _p99(one: Subject) -> Values:
    return one.p99_us


def _of_writes(found: Difference, time: Unit) -> str:
    own, base = pair(*map(_mean, found.of(_amplification)), doubtful=found.doubtful)
    words = change(found.factor, "less", "more", "much")
    text = f"{_begin(found)} writes {words} {found.base.name}"
    text += f" (write amplification {own} against {base})"
    if None in found.subject.p99_us or None in found.base.p99_us:
        return f"{text}."
    own_p99, base_p99 = map(_mean, found.of(_p99))
    if abs(own_p99 - base_p99) <= EQUAL * base_p99:
        return f"{text}, with the same p99."
    text += f", p99 {_times_text(found, time)}"
    sure = differs(found.subject.p99_us, found.base.p99_us)
    return f"{text}." if sure else f"{text} (within the interval)."


def _lowest(subjects: Sequence[Subject], found: Difference) -> str:
    """Returns a sentence with the row of the lowest write amplification, if `found` is about two
    others and all rows play the same trace."""
    known = [one for one in subjects if one.amplification and None not in one.amplification]
    least = min(known, key=lambda one: _mean(one.amplification))
    if least in (found.subject, found.base) or any(one.trace for one in subjects):
        return ""
    number = _number(_mean(least.amplification), None, least.doubtful)
    return f" {least.name} writes least ({number})."


def _of_times(found: Difference, time: Unit) -> str:
    words = change(found.factor, "shorter", "longer", "long")
    text = f"{_begin(found)} has a p99 {words} {found.base.name} ({_times_text(found, time)})"
    if None in found.subject.amplification or None in found.base.amplification:
        return f"{text}."
    of_own, of_base = map(_mean, found.of(_amplification))
    if abs(of_own - of_base) <= EQUAL * of_base:
        return f"{text}, with the same write amplification ({measured(of_own)})."
    own, base = pair(of_own, of_base, doubtful=found.doubtful)
    return f"{text}, write amplification {own} against {base}."


def _times_text(found: Difference, time: Unit) -> str:
    unit, us = time
    own, base = pair(*(_mean(one) / us for one in found.of(_p99)), doubtful=found.doubtful)
    return f"{own} against {base} {unit}"


def _begin(found: Difference) -> str:
    name, trace = found.subject.name, found.subject.trace
    return f"On {trace}, {name}" if trace else name


def _no_difference(subjects: Sequence[Subject], time: Unit) -> str:
    """Returns the sentence of a comparison in which no row differs clearly from its base."""
    texts = []
    for name, of, unit in (
        ("write amplification", _amplification, ("", 1.0)),
        ("p99", _p99, (f" {time[0]}", time[1])),
    ):
        means = [_mean(of(one)) / unit[1] for one in subjects if None not in of(one)]
        if not means:
            continue
        low, high = min(means), max(means)
        if high - low <= EQUAL * high:
            texts.append(f"the same {name} ({measured(low)}{unit[0]})")
        else:
            texts.append(f"a {name} of {' to '.join(pair(low, high))}{unit[0]}")
    if not texts:
        return "The host wrote nothing, and there are no response times."
    if len(subjects[0].amplification) == 1:
        return f"The runs have {' and '.join(texts)}."
    return f"The runs have {' and '.join(texts)}: no difference is larger than its 95 % interval."


def _factor(own: Values, base: Values) -> float | None:
    """Returns the quotient of the means, if both are known and above zero."""
    if not own or not base or None in own or None in base:
        return None
    below, above = _mean(base), _mean(own)
    return above / below if below > 0 and above > 0 else None


def _mean(values: Values) -> float:
    return fmean(value for value in values if value is not None)


def _scaled(values: Values, time: Unit) -> tuple[float | None, float | None]:
    mean, half = mean_and_half_width(values)
    return (mean and mean / time[1], half and half / time[1])


def _number(mean: float, half: float | None, doubtful: bool) -> str:
    return rough(mean) if doubtful else interval(mean, half)


def _digits(value: float) -> str:
    """Formats a factor or a percentage with two digits."""
    return fixed(value, 1) if value < 9.95 else count(round(float(f"{value:.2g}")))
