"""Hypothesis's examples are the same in every `make test`, so that no change fails by chance."""

from __future__ import annotations

import os

import pytest
from command_line import python
from conftest import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import ROOT


def drawn() -> list[int]:
    """Returns the numbers that Hypothesis draws for a test."""
    numbers: list[int] = []

    @given(st.integers())
    def test(number: int) -> None:
        numbers.append(number)

    test()
    return numbers


def test_examples_are_the_same_unless_random_ones_are_asked_for() -> None:
    is_random = os.environ.get(EXAMPLES) == "random"
    assert settings.default is not None
    assert settings.default.derandomize != is_random
    if not is_random:
        assert drawn() == drawn()


@pytest.mark.parametrize("chosen", ["same", "random"])
@pytest.mark.parametrize("where", ["CI", "at a desk"])
def test_a_failure_prints_the_example_to_add(chosen: str, where: str) -> None:
    code = (
        "import conftest\n"
        "from hypothesis import given, strategies as st\n"
        "@given(number=st.integers(0, 1000))\n"
        "def test(number):\n"
        "    assert number < 900\n"
        "test()\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    environment |= {EXAMPLES: chosen} | ({"CI": "true"} if where == "CI" else {})
    done = python("-c", code, cwd=ROOT / "tests", env=environment)
    assert "number=900" in done.stderr
    assert "@reproduce_failure" in done.stderr
