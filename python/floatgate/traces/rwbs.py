"""Operations as the kernel writes them, such as `WS`, `RA` and `FWFS`.

R is a read, W a write, D a discard. An F in front of the operation, or alone, is a flush. Letters
after the operation are hints: F forced to the medium, A read-ahead, S synchronous, M metadata. N
and Z are commands that neither read, write nor discard a range of sectors that the trace names.
"""

from __future__ import annotations

import polars as pl

from .model import FLUSH, READ, TRIM, WRITE, plural

OPS = {"r": READ, "w": WRITE, "d": TRIM, "f": FLUSH}

_OTHER = r"^[NZ]"


def one_op_a_row(frame: pl.DataFrame) -> pl.DataFrame:
    """Adds the column `op`, a letter of `OPS`, from the text columns `rwbs` and `length`.

    A write with a flush before it becomes two rows.
    """
    flush = pl.col("rwbs").str.starts_with("F")
    verb = pl.col("rwbs").str.extract(r"^F?([RWD])")
    empty = pl.col("length").is_null() | (pl.col("length") == "0")
    return frame.with_columns(
        pl.when(flush & (empty | verb.is_null()))
        .then(pl.concat_list(pl.lit("F")))
        .when(flush)
        .then(pl.concat_list(pl.lit("F"), verb))
        .otherwise(pl.concat_list(verb))
        .alias("op")
    ).explode("op")


def is_other() -> pl.Expr:
    """Returns an expression that is true for a command outside `OPS`."""
    return pl.col("rwbs").str.contains(_OTHER).fill_null(False)


def left_out(commands: int) -> list[str]:
    """Returns the note about this number of commands outside `OPS`, or an empty list."""
    if not commands:
        return []
    return [f"{plural(commands, 'request')} left out: neither read, write, discard nor flush"]
