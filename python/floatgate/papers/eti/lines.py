"""The schemes in the ETI paper's figures."""

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
}
"""Sizes that a model scales down, with the values of the paper or the default."""

HASHES = ("crc32", "crc32_halves", "crc16")
MBF = tuple(f"mbf-{n}" for n in (1, 2, 3))
MHF = tuple(f"mhf-{n}" for n in (1, 2, 3))
FACTORS = (2, 4)
"""Factors by which the filters of Figure 5 are larger."""
LARGER = tuple(f"mbf-1-x{factor}" for factor in FACTORS)

_NO_ETI = frozenset({"unit", "merge", "alpha", "judged"})
_NO_MBF, _NO_MHF = frozenset({"mbf"}), frozenset({"mhf"})
_ELSE = _NO_ETI | _NO_MBF | _NO_MHF


def _eti(key: str, label: str, **set: str) -> Line:
    settings = {f"eti.{name}": value for name, value in set.items()}
    return Line(key, label, {"placement.scheme": "eti", **settings}, _NO_MBF | _NO_MHF)


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


_SHOWN = (
    _other("single", "no separation"),
    _eti("eti", "ETI"),
    *(_mbf(key, hashes) for key, hashes in zip(MBF, HASHES, strict=True)),
    *(_mhf(key, hashes) for key, hashes in zip(MHF, HASHES, strict=True)),
    _other("direct", "a counter per page"),
    _other("oracle", "oracle, 16 streams"),
)
_SENSITIVE = (
    *(_eti(f"eti-alpha-{n}", f"ETI, alpha {n}%", alpha_percent=str(n)) for n in (90, 80)),
    *(_eti(f"eti-beta-{n}", f"ETI, beta {n}", beta=str(n)) for n in (3, 2)),
)
LINES = (
    *_SHOWN,
    *_SENSITIVE,
    *(_mbf(key, HASHES[0], factor) for key, factor in zip(LARGER, FACTORS, strict=True)),
)
LABELS = {line.key: line.label for line in LINES}
FIGURE_4 = tuple(line.key for line in _SHOWN)
SENSITIVE = tuple(line.key for line in _SENSITIVE)

ETI = "ETI"
RIVALS = ("MBF", "MHF")
"""Names in claims. The axis of hashes names the rivals' pair of CRCs."""
