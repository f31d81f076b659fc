"""A drive that is too small is refused, and the message names a sufficient number of blocks."""

from __future__ import annotations

import re

import pytest

import floatgate as fg

SPEC = "uniform:span=256KiB,writes=2k"


def refusal(blocks: int, **sets: object) -> str | None:
    try:
        fg.run(SPEC, addresses="modulo", set={"flash.blocks": blocks, "timing": "none"} | sets)
    except fg.ConfigError as error:
        return str(error)
    return None


@pytest.mark.parametrize("blocks", [1, 2, 8, 9, 13, 14])
def test_the_smallest_drive_is_named_at_once(blocks: int) -> None:
    error = refusal(blocks)
    assert error is not None and "expected flash.blocks = 15 or more, or a larger spare" in error
    assert refusal(15) is None


@pytest.mark.parametrize(
    ("sets", "blocks"),
    [
        ({"capacity.spare_factor": 0.02}, 20),
        ({"mapping.scheme": "dftl", "mapping.cache": "16KiB"}, 20),
        ({"ftl.scheme": "bast"}, 10),
        ({"placement.scheme": "dac"}, 30),
        ({"flash.planes": 4, "flash.superblock": 4}, 40),
    ],
)
def test_the_number_that_is_named_runs(sets: dict[str, object], blocks: int) -> None:
    error = refusal(blocks, **sets)
    assert error is not None
    [least] = map(int, re.findall(r"expected flash.blocks = (\d+) or more", error))
    step = int(str(sets.get("flash.superblock", 1)))
    assert refusal(least, **sets) is None
    assert refusal(least - step, **sets) is not None


def test_a_spare_factor_that_no_number_helps_is_named() -> None:
    """Each further unit would add as many pages of data and map as it provides."""
    sets = {"capacity.spare_factor": 0.0005, "mapping.scheme": "dftl", "mapping.cache": "16KiB"}
    error = refusal(100, **sets)
    assert error is not None and error.endswith("expected a larger spare factor")
