"""The schemes in the ETI paper's figures, and further schemes."""

from __future__ import annotations

from floatgate.papers.kit.experiment import Line

PERIOD = 4096
SIZES = {
    "eti.extents": 2048,
    "eti.decay_period": PERIOD,
    "mbf.bits": 2048,
    "mbf.clear_every": 4096,
    "mhf.counters": 2048,
    "mhf.decay_period": 4096,
    "direct.decay_period": 4096,
    "lru_lists.hot": 512,
    "lru_lists.candidates": 1024,
}
"""Sizes that a model scales down, with the values of the paper or the default."""

HASHES = ("crc32", "crc32_halves", "crc16")
MBF = tuple(f"mbf-{n}" for n in (1, 2, 3))
MHF = tuple(f"mhf-{n}" for n in (1, 2, 3))
FACTORS = (2, 4)
"""Factors by which the filters of Figure 5 are larger."""
LARGER = tuple(f"mbf-1-x{factor}" for factor in FACTORS)
SENSITIVE = ("eti-alpha-90", "eti-alpha-80", "eti-beta-3", "eti-beta-2")

_NO_ETI = frozenset({"unit"})
_NO_MBF, _NO_MHF = frozenset({"mbf"}), frozenset({"mhf"})
_NEITHER = _NO_MBF | _NO_MHF
_ELSE = _NO_ETI | _NEITHER


def _eti(key: str, label: str, **set: str) -> Line:
    settings = {f"eti.{name}": value for name, value in set.items()}
    return Line(key, label, {"placement.scheme": "eti", **settings}, _NEITHER)


def _mbf(key: str, hashes: str, factor: int = 1) -> Line:
    label = f"MBF, {hashes}" + (f", {factor} times the bits" if factor > 1 else "")
    settings = {"mbf.hashes": hashes, "mbf.bits": str(factor * SIZES["mbf.bits"])}
    return Line(key, label, {"placement.scheme": "mbf", **settings}, _NO_ETI | _NO_MHF)


def _mhf(key: str, hashes: str) -> Line:
    settings = {"placement.scheme": "mhf", "mhf.hashes": hashes}
    return Line(key, f"MHF, {hashes}", settings, _NO_ETI | _NO_MBF)


def _other(scheme: str, label: str) -> Line:
    # A drive with one stream has no other stream for copies.
    ignores = _ELSE | {"copies"} if scheme == "single" else _ELSE
    return Line(scheme, label, {"placement.scheme": scheme}, ignores)


def _perfect(percent: int) -> Line:
    settings = {"placement.scheme": "perfect", "perfect.hot_share": str(percent / 100)}
    return Line(f"perfect-{percent}", "no error in hot and cold", settings, _ELSE)


_SHOWN = (
    _other("single", "no separation"),
    _eti("eti", "ETI"),
    *(_mbf(key, hashes) for key, hashes in zip(MBF, HASHES, strict=True)),
    *(_mhf(key, hashes) for key, hashes in zip(MHF, HASHES, strict=True)),
    _other("direct", "a counter per page"),
    _other("length", "short writes are hot"),
    _other("lru_lists", "two LRU lists"),
    _other("oracle", "oracle, 16 streams"),
)
_BESIDE = tuple(_other(name, name) for name in ("wdac", "asa", "dac", "sepbit", "autostream"))
_GREEDY = (*(line for line in _SHOWN if line.key not in (*MBF[1:], *MHF[1:])), *_BESIDE)
_AGED = tuple(
    Line(
        f"{line.key}-cb",
        f"{line.label}, cost-benefit",
        {**line.set, "cleaning.victim": "cost_benefit"},
        line.ignores,
    )
    for line in _GREEDY
)

LONG = "65536"
_READINGS = (
    _eti("eti-long", "ETI, period 65,536", decay_period=LONG),
    Line(
        "direct-long",
        "a counter, period 65,536",
        {"placement.scheme": "direct", "direct.decay_period": LONG},
        _ELSE,
    ),
    _eti("eti-max", "ETI, merged: the highest", merge_value="max"),
)
"""Other readings of the paper, in addition to the readings on axes."""

LINES = (
    *_SHOWN,
    _eti("eti-alpha-90", "ETI, alpha 90%", alpha_percent="90"),
    _eti("eti-alpha-80", "ETI, alpha 80%", alpha_percent="80"),
    _eti("eti-beta-3", "ETI, beta 3", beta="3"),
    _eti("eti-beta-2", "ETI, beta 2", beta="2"),
    *(_mbf(key, HASHES[0], factor) for key, factor in zip(LARGER, FACTORS, strict=True)),
    *_READINGS,
    *_BESIDE,
    *_AGED,
    _perfect(20),
    _perfect(10),
)
LABELS = {line.key: line.label for line in LINES}
FIGURE_4 = tuple(line.key for line in _SHOWN)
READINGS = tuple(line.key for line in _READINGS)
EVERY = tuple(line.key for line in (*_GREEDY, *_AGED))

STANDS_FOR = {"ETI": "eti"} | {key: key for key in (*MBF, *MHF, *LARGER, *SENSITIVE)}
"""Line for each name in claims. For MBF and MHF without a number, the axis of hashes names the
line."""
