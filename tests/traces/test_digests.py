"""The digest of a table's rows: it changes with every value, and not with the row batches."""

from __future__ import annotations

import io

import polars as pl
import pytest

from floatgate.files.digests import Digest, digest_of

TABLE = pl.DataFrame(
    {
        "count": pl.Series([1, None, 3, 4], dtype=pl.UInt32),
        "name": ["x", None, "é\0", 'y","z'],
        "notes": [["a", "b"], None, [], ["a,b", None]],
        "share": [0.1, float("nan"), None, -0.0],
        "done": [True, None, False, True],
    }
)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_digest_is_the_same_however_rows_are_cut(size: int) -> None:
    digest = Digest(TABLE.schema)
    for part in TABLE.iter_slices(size):
        digest.add(part)
        digest.add(part.clear())
    assert digest.text() == digest_of(TABLE)


@pytest.mark.parametrize("group", [1, 4])
def test_the_digest_is_the_same_after_a_parquet_file(group: int) -> None:
    file = io.BytesIO()
    TABLE.write_parquet(file, row_group_size=group)
    file.seek(0)
    assert digest_of(pl.read_parquet(file)) == digest_of(TABLE)


def test_every_change_gives_another_digest() -> None:
    changed = [
        TABLE.reverse(),
        TABLE.head(3),
        TABLE.head(0),
        TABLE.drop("done"),
        TABLE.rename({"done": "over"}),
        TABLE.cast({"count": pl.Int32}),
        TABLE.with_columns(pl.col("count").fill_null(0)),
        TABLE.with_columns(pl.col("share").fill_nan(1.0)),
        TABLE.with_columns(pl.col("share").abs()),
        TABLE.with_columns(pl.col("name").fill_null("null")),
        TABLE.with_columns(notes=pl.Series([["a", "b"], None, None, ["a,b", None]])),
        TABLE.with_columns(notes=pl.Series([["a", "b"], None, [], ["a", "b", None]])),
        TABLE.with_columns(done=pl.Series([True, False, False, True])),
        TABLE.with_columns(done=pl.Series([None, True, False, True])),
        TABLE.select(reversed(TABLE.columns)),
    ]
    digests = {digest_of(table) for table in (TABLE, *changed)}
    assert len(digests) == 1 + len(changed)
