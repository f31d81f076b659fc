"""Requests of a section: kinds, sizes, rates and random offsets."""

from __future__ import annotations

from typing import Any

from . import values
from .job import Direction, Distribution, Sizes, Zones
from .settings import Settings

BLOCK = 4096
"""Default size of a request."""

SPLITS_MOST, ZONES_MOST = 64, 256
"""Most sizes of `bssplit`, and most zones."""

_KINDS = {
    "read": (False, "read"),
    "write": (False, "write"),
    "trim": (False, "trim"),
    "randread": (True, "read"),
    "randwrite": (True, "write"),
    "randtrim": (True, "trim"),
    "rw": (False, "read", "write"),
    "readwrite": (False, "read", "write"),
    "randrw": (True, "read", "write"),
}
"""Values of `rw`: whether offsets are random, and kinds of requests."""

_SHAPES = {"zipf": 1.1, "pareto": 0.2, "normal": 0.0}
"""Distributions with a parameter, and its default in fio."""


def kinds(settings: Settings) -> tuple[bool, tuple[str, ...]]:
    """Returns whether a job is random, and its kinds of requests."""
    word = settings.text("rw", "read")
    kind, _, modifier = word.partition(":")
    if kind not in _KINDS:
        raise settings.error("rw", f"expected one of {', '.join(_KINDS)}")
    is_random, *names = _KINDS[kind]
    if modifier and is_random:
        raise settings.error("rw", "not modelled: requests per random offset; expected no `:`")
    return bool(is_random), tuple(map(str, names))


def _skip(settings: Settings) -> int:
    """Returns the bytes between a request and the next one, such as of `rw=write:8m`."""

    def parse(text: str) -> int:
        _, colon, modifier = text.partition(":")
        return int(_bytes(settings)(modifier)) if colon else 0

    return settings.parsed("rw", parse, 0)


def directions(settings: Settings) -> tuple[Direction, ...]:
    """Returns the kinds of requests with their sizes, rates and zones."""
    _, wanted = kinds(settings)
    sizes, rates = _sizes(settings), _rates(settings)
    aligned = settings.by_kind("blockalign", _bytes(settings))
    percents = settings.by_kind("percentage_random", values.percentage)
    zones, skip = _zones(settings), _skip(settings)
    directions = []
    for at, kind in enumerate(values.KINDS):
        if kind in wanted:
            smallest, percent, rate = sizes[at].low, percents[at], rates[at]
            if rate is not None and settings.has("rate_iops"):
                rate *= smallest
            align = aligned[at] or smallest
            share = 100 if percent is None else percent
            directions.append(
                Direction(kind, sizes[at], align, skip, share, rate or None, zones[at])
            )
    return tuple(directions)


def _bytes(settings: Settings) -> Any:
    def read(text: str) -> int:
        number = values.whole(text, settings.kb_base)
        if not 1 <= number < 1 << 40:
            raise ValueError("1 byte to 1 TiB")
        return number

    return read


def _sizes(settings: Settings) -> list[Sizes]:
    """Returns the sizes of reads, writes and trims."""
    number = _bytes(settings)

    def split(text: str) -> Sizes:
        pairs = values.shares(text, number, SPLITS_MOST)
        kept = tuple(sorted((of, share) for of, share in pairs if share))
        every = [of for of, _ in pairs]
        return Sizes(min(every), max(every), kept)

    def between(text: str) -> Sizes:
        return Sizes(*values.span(text, number), is_unaligned=settings.flag("bs_unaligned"))

    def one(text: str) -> Sizes:
        return Sizes(number(text), number(text))

    settings.flag("bs_unaligned")
    readers = {"bs": one, "bsrange": between}
    every = {option: settings.by_kind(option, read) for option, read in readers.items()}
    chosen = every[settings.last("bs", "bsrange")]
    splits = settings.by_kind("bssplit", split)
    default = Sizes(BLOCK, BLOCK)
    return [a or b or default for a, b in zip(splits, chosen, strict=True)]


def _rates(settings: Settings) -> list[int | None]:
    """Returns `rate` in bytes or `rate_iops` in requests, per second."""
    if settings.has("rate") and settings.has("rate_iops"):
        raise settings.error("rate_iops", "rate is given, too; expected one of them")
    option = "rate_iops" if settings.has("rate_iops") else "rate"
    return settings.by_kind(option, lambda text: values.whole(text, settings.kb_base))


def distribution(settings: Settings) -> Distribution:
    """Returns the distribution of random offsets."""

    def parse(text: str) -> Distribution:
        kind, colon, rest = text.partition(":")
        if kind == "random":
            return Distribution("uniform")
        if kind in ("zoned", "zoned_abs"):
            return Distribution(kind)
        if kind not in _SHAPES:
            raise ValueError("random, zipf, pareto, normal, zoned or zoned_abs")
        shape, _, center = rest.partition(":")
        number = float(_SHAPES[kind]) if not colon else _shape(kind, shape)
        return Distribution(kind, number, values.decimal(center, 0, 1) if center else None)

    return settings.parsed("random_distribution", parse, Distribution("uniform"))


def _shape(kind: str, text: str) -> float:
    """Returns the parameter of a distribution, within fio's limits."""
    number = values.decimal(text, 0, 100)
    if kind == "zipf" and not (0 < number <= 10 and number != 1):
        raise ValueError("a theta above 0, at most 10 and other than 1")
    if kind == "pareto" and not 0 < number < 1:
        raise ValueError("a power above 0 and below 1")
    if kind == "normal" and number == 100:
        raise ValueError("a deviation of 0 to below 100 per cent")
    return number


def _zones(settings: Settings) -> list[Zones]:
    """Returns the zones of reads, writes and trims."""

    def parse(text: str) -> list[Zones]:
        kind, _, rest = text.partition(":")
        if kind not in ("zoned", "zoned_abs"):
            return [()] * len(values.KINDS)
        number = _bytes(settings) if kind == "zoned_abs" else values.percentage
        by_kind = values.by_kind(rest, lambda part: _zone_list(part, kind, number))
        if None in by_kind:
            raise ValueError("zones for every kind of request, such as zoned:60/10:40/90")
        return [zones or () for zones in by_kind]

    return settings.parsed("random_distribution", parse, [()] * len(values.KINDS))


def _zone_list(text: str, kind: str, number: Any) -> Zones:
    """Returns pairs of a percentage of the requests and a size."""
    pairs = [pair.partition("/") for pair in text.split(":") if pair]
    if not 1 <= len(pairs) <= ZONES_MOST:
        raise ValueError(f"1 to {ZONES_MOST} zones such as 60/10")
    shares = [share for _, share in values.filled([(0, share) for share, _, _ in pairs])]
    sizes: list[int | None] = [number(size) if size.strip("%") else None for _, _, size in pairs]
    blanks = sizes.count(None)
    if kind == "zoned_abs" and blanks:
        raise ValueError("a size for each zone")
    left = 100 - sum(size for size in sizes if size is not None)
    if kind == "zoned" and left < 0:
        raise ValueError(f"zones that cover at most 100 per cent, not {100 - left}")
    each = left / blanks if blanks else 0.0
    filled = [each if size is None else float(size) for size in sizes]
    if not all(size > 0 for share, size in zip(shares, filled, strict=True) if share):
        raise ValueError("zones larger than 0")
    return tuple(zip(shares, filled, strict=True))
