"""A resolved config that Python makes once and passes to the engine."""

from __future__ import annotations

import json
import pickle

import pytest

import floatgate as fg
from floatgate import _core
from floatgate.simulation import configs


def test_a_pickled_config_gives_the_same_drive() -> None:
    """Workers of a study get their configs as pickles."""
    config = configs.resolve("tlc-enterprise", {"queue.depth": 7})
    again = pickle.loads(pickle.dumps(config))
    assert again.text == config.text
    assert again.space(1 << 30) == config.space(1 << 30)


def test_a_changed_table_does_not_change_the_config() -> None:
    config = configs.resolve(None, {"queue.depth": 7})
    config.table()["queue"]["depth"] = 9
    assert config.table()["queue"]["depth"] == 7 == json.loads(config.text)["queue"]["depth"]


def test_page_and_spare_factor_are_those_in_force() -> None:
    set = {"mapping.unit": "8KiB", "flash.page": "16KiB", "capacity.over_provisioning": 0.25}
    config = configs.resolve(None, set)
    assert (config.page_bytes, config.spare_factor) == (8192, pytest.approx(0.2))
    config = configs.resolve(None, {"flash.page": "16KiB", "capacity.spare_factor": 0.1})
    assert (config.page_bytes, config.spare_factor) == (16384, 0.1)


def test_a_text_of_wrong_types_is_no_config() -> None:
    with pytest.raises(fg.ConfigError, match="invalid type"):
        _core.Config('{"queue": {"depth": "seven"}}')
