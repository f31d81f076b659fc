"""Column titles of a table, and the units in them."""

from __future__ import annotations

import re

BLANKS = r"[ \t]+"
#: Expressions of the delimiters between columns, in the order in which they are tried.
DELIMITERS = (r"\t", ",", ";", r"\|", BLANKS)

#: Minimum and maximum number of columns: a trace has a time, an operation, an address, a length.
_COLUMNS_MIN, _COLUMNS_MAX = 4, 200

#: Maximum number of characters of a title.
_TITLE_MAX = 40

#: Replaces a delimiter; no text contains it.
_SPLIT = "\0"

#: Marks of JSON and of quoted text: a cell with one of them is no title.
_NO_TITLE = r'["{}]'

_NUMBER = r"[-+]?(?:0[xX][0-9A-Fa-f]+|[\d.,:]*\d[\d.,:eE+-]*)"

#: Titles that count logical blocks; a block is taken as 512 bytes.
_BLOCKS = ("blocks", "nblocks", "blks", "nblks", "nblk", "nlb")

_UNITS: dict[str, dict[str, tuple[str, ...]]] = {
    "time": {
        "ns": ("ns", "nsec", "nsecs", "nanos", "nanosecond", "nanoseconds"),
        "100ns": ("100ns",),
        "us": ("us", "µs", "μs", "usec", "usecs", "micros", "microsecond", "microseconds"),
        "ms": ("ms", "msec", "msecs", "millis", "millisecond", "milliseconds"),
        "s": ("s", "sec", "secs", "second", "seconds"),
    },
    "space": {
        "bytes": ("b", "byte", "bytes", "octets"),
        "sectors": ("sector", "sectors", "lba", "lbas", "nsectors", *_BLOCKS),
        "pages": ("page", "pages", "lpn", "lpa"),
        "KiB": ("kib", "kb", "kbytes", "kilobytes"),
        "MiB": ("mib", "mb", "mbytes", "megabytes"),
    },
}


def cells_of(line: str, delimiter: str) -> list[str]:
    """Splits a line into cells and strips blanks and quotation marks around them.

    A quoted delimiter splits nothing. If the number of quotation marks is odd, all are ignored.
    """
    text = line.strip() if delimiter == BLANKS else line.rstrip("\r\n")
    parts = text.split('"')
    if len(parts) % 2 == 0:
        parts = [text]
    parts[::2] = [re.sub(delimiter, _SPLIT, part) for part in parts[::2]]
    return [cell.strip(' \t"') for cell in '"'.join(parts).split(_SPLIT)]


def titles_of(line: str, below: str | None = None) -> tuple[str, list[str]] | None:
    """Returns the delimiter and the titles if the line holds the titles of a table, or None.

    A title is no number. Words between blanks may also be a sentence, so they are titles only if
    the line `below` has equally many cells.
    """
    for delimiter in DELIMITERS:
        cells = cells_of(line, delimiter)
        if len(cells) < _COLUMNS_MIN:
            continue
        if delimiter == BLANKS and (below is None or len(cells_of(below, BLANKS)) != len(cells)):
            continue
        is_table = (
            len(cells) <= _COLUMNS_MAX
            and all(map(_may_be_title, cells))
            and sum(map(bool, cells)) >= _COLUMNS_MIN
        )
        return (delimiter, cells) if is_table else None
    return None


def _may_be_title(cell: str) -> bool:
    is_other = re.fullmatch(_NUMBER, cell) or re.search(_NO_TITLE, cell)
    return len(cell) <= _TITLE_MAX and not is_other


def unit_in(title: str, what: str) -> str | None:
    """Returns the unit that a title states for a "time" or for "space" (address or length)."""
    inside = re.findall(r"[(\[]\s*([^)\]]*?)\s*[)\]]", title)
    attached = re.fullmatch(r"[A-Z]{2,}(s|ms|us|ns)", title)
    words = [*inside, *([attached[1]] if attached else []), *reversed(words_in(title).split())]
    for word in words:
        for unit, names in _UNITS[what].items():
            if word.lower() in names:
                return unit
    return None


def words_in(title: str) -> str:
    """Returns the words of a title in lower case, without bracketed units.

    For example, "IOType (x)" becomes "io type".
    """
    bare = re.sub(r"[(\[].*?[)\]]", " ", title)
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", bare)
    return " ".join(re.findall(r"[^\W_]+", split.lower()))
