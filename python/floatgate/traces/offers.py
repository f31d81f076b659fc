"""Suggests the command that reads a table of unknown form, as far as its titles explain it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from .columns import NEEDED, is_operation
from .headers import cells_of, titles_of, unit_in, words_in

#: Lines at the start of a file that are searched for titles, and the minimum number of titles that
#: name a field of a request.
_LINES_MAX, _ROLES_MIN = 20, 2

#: Roles, and expressions of titles in several languages. The rows are tried in order, and the first
#: title that matches a row gets the role. The expressions match the output of `words_in`.
_ROLES: tuple[tuple[str, str], ...] = (
    ("time", r"timestamp|time stamp|^ts\b|arrival|^time\b|^start time|submit|init time|issue time"),
    ("time", r"\btime\b|^starts?( s)?$|zeit|temps|tiempo|tempo|date|^t$|clock|^at\b|时间|時刻"),
    ("op", r"\bop\b|opcode|io type|\brw\b|rwbs|read write|operation|opera|opérat|\bis write\b"),
    ("op", r"\btype\b|\bkind\b|action|command|\bcmd\b|direction|^t$|^r w$|vorgang|typ\b|类型"),
    (
        "length",
        r"n sectors|n[ru]m? sectors?|sector count|nsectors|n blocks|nblocks|n bytes|^n$|nlb",
    ),
    ("offset", r"offset|\bs?lba\b|\blbn\b|\blpn\b|start sector|sector number|addr|adress|position"),
    ("offset", r"\bsector\b|\bblock\b|\bpos\b|dirección|indirizzo|sektor|地址"),
    ("length", r"\bsize\b|\blength\b|\blen\b|io size|größe|grösse|groesse|länge|taille|tamaño"),
    ("length", r"sectors|blocks|bytes|\bcount\b|pages|dimensione|longueur|anzahl|大小"),
    ("offset", r"^start$|^begin$"),
    ("time", r"^(?:ns|us|µs|ms|s|nsecs?|usecs?|msecs?|secs?|seconds?)$"),
    ("device", r"\bdevice\b|\bdev\b|\bdisk\b|disk num|volume|\blun\b|drive|\basu\b|festplatte"),
)
#: Titles for the end time or the duration of a request.
_NO_ROLE = r"response|latency|\blat\b|elapsed|duration|service|\bend|complet|delay|queue|svc|dauer"


#: A line of a fio log: time, value, direction, block size, and since 3.0 an offset and more.
_FIO_LOG = r"\d+, \d+, [0-2], \d+(?:, (?:0x)?[\da-f]+)*\s*"


def fio_log(lines: Sequence[str]) -> str | None:
    """Explains why a fio log is no trace; returns None if the lines are no such log."""
    if not lines or not all(re.fullmatch(_FIO_LOG, line) for line in lines[:_LINES_MAX]):
        return None
    return (
        "a log of fio's latencies, bandwidth or IOPS, which has no requests to replay; expected "
        "the log that fio --write_iolog=FILE writes, or fio --output-format=json for calibrate"
    )


def offer(lines: Sequence[str], name: str) -> str | None:
    """Suggests a command for a table with titles in one of its first lines; otherwise None."""
    for at in range(min(len(lines), _LINES_MAX)):
        table = titles_of(*lines[at : at + 2])
        if table is None:
            continue
        delimiter, titles = table
        roles = _roles(titles)
        if len(roles.keys() & {*NEEDED}) >= _ROLES_MIN:
            cells = [cells_of(line, delimiter) for line in lines[at + 1 :]]
            return _command(titles, roles, cells, name)
    return None


def _command(
    titles: Sequence[str], roles: Mapping[str, int], rows: Sequence[Sequence[str]], name: str
) -> str:
    """Returns the command for a table with these titles and rows, with `?` for missing facts."""
    columns = [*_columns(titles, roles), *_words(roles.get("op"), rows)]
    options = [f'--columns "{",".join(columns)}"', *_units(titles, roles)]
    command = f"floatgate trace import {shlex.quote(name)} {' '.join(options)} -o trace.parquet"
    lacks = []
    if "?" in "".join(columns):
        lacks.append("put a column or a word in place of each ?")
    if not any(option.startswith("--time-unit") for option in options):
        lacks.append("add --time-unit if it guesses the unit wrong")
    if "--address-unit" in command and "--length-unit" not in command:
        lacks.append("add --length-unit if lengths are not in bytes")
    return command + (f" ({'; '.join(lacks)})" if lacks else "")


def _roles(titles: Sequence[str]) -> dict[str, int]:
    """Returns the column of the time, the operation, the address, the length and the device."""
    roles: dict[str, int] = {}
    for role, expression in _ROLES:
        for index, title in enumerate(titles):
            words = words_in(title)
            free = role not in roles and index not in roles.values()
            if free and re.search(expression, words) and not re.search(_NO_ROLE, words):
                roles[role] = index
    return roles


def _columns(titles: Sequence[str], roles: Mapping[str, int]) -> Iterator[str]:
    """Yields each column by its title, or all by number if one of the titles is unusable."""
    by_name = all(
        titles.count(titles[i]) == 1
        and re.fullmatch(r'[^,="$`\\]*[^,="$`\\\d][^,="$`\\]*', titles[i])
        for i in roles.values()
    )
    for key in (*NEEDED, "device"):
        if key in roles:
            yield f"{key}={titles[roles[key]] if by_name else roles[key] + 1}"
        elif key != "device":
            yield f"{key}=?"


def _words(op: int | None, rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns keys for operations if a row has an unknown operation word."""
    words = {row[op] for row in rows if op is not None and op < len(row)}
    return [] if all(map(is_operation, words)) else ["read=?", "write=?"]


def _units(titles: Sequence[str], roles: Mapping[str, int]) -> Iterator[str]:
    """Yields options for the units that the titles state."""
    for key, option, what in (
        ("time", "time", "time"),
        ("offset", "address", "space"),
        ("length", "length", "space"),
    ):
        if key in roles and (unit := unit_in(titles[roles[key]], what)):
            yield f"--{option}-unit {unit}"
