"""Notes on how the numbers of a run came about."""

from __future__ import annotations

import floatgate as fg

ONE_STREAM = 'the placement put every page in one of its 2 streams, as "single" does'


def test_a_placement_that_separates_nothing_is_noted() -> None:
    """Writes that never come again are cold for ETI; those that come often are hot."""
    settings = {"placement.scheme": "eti", "timing": "none"}
    cold = fg.run("sequential:span=16MiB,writes=4k", set=settings)
    assert ONE_STREAM in cold.notes
    hot = fg.run("hotcold:span=16MiB,r=0.9,f=0.01,writes=40k", set=settings)
    assert not any("put every page" in note for note in hot.notes)
