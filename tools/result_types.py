"""Writes python/floatgate/result_types.py, the classes of a result, from the engine's schema.

    python tools/result_types.py

Fields, types and docs come from the Rust structs in crates/floatgate-lab/src/result. The additions
of Python are in this tool. A test checks that the file equals the output of this tool.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from floatgate import _core

TARGET = Path(__file__).parents[1] / "python" / "floatgate" / "result_types.py"

WIDTH = 100

HEAD = '''"""Parts of a result. tools/result_types.py generates them from the engine's schema.

Times are of the simulated clock unless a field states another; pages are flash pages. A number
is None where it does not exist.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import Any
'''

#: Column tables of the document. `Result` makes a frame of their columns.
LEFT_OUT = {"timeline"}

PERCENTILES = {
    "p50": "Median",
    "p95": "95th percentile",
    "p99": "99th percentile",
    "p999": "99.9th percentile",
}

ADDED = {
    "CauseCounts": '''
    @property
    def total(self) -> int:
        """Operations of all causes."""
        return sum(vars(self).values())
''',
    "Distribution": '''
    @property
    def cdf(self) -> tuple[tuple[float, float], ...]:
        """Time in microseconds and share of requests (0 to 1) that took no longer, rising: 0 with
        those of no time, then every bucket."""
        ranks = accumulate(self.counts, initial=self.none)
        times = zip((0, *self.ns), ranks, strict=True)
        return tuple((ns / 1000, rank / self.requests) for ns, rank in times if self.requests)

    def quantile_us(self, share: float) -> float | None:
        """The time in microseconds that `share` (0 to 1) of the requests did not exceed, within
        0.1 %; None of no requests."""
        rank = max(1, math.ceil(round(share * self.requests, 6))) - 0.5
        return next((us for us, part in self.cdf if part * self.requests > rank), None)

    def share_above(self, us: float) -> float | None:
        """The share of the requests (0 to 1) that it took longer than `us` microseconds, to
        within 0.1 % of `us`; None of no requests."""
        above = (count for ns, count in zip(self.ns, self.counts, strict=True) if ns > us * 1000)
        return sum(above) / self.requests if self.requests else None
''',
    "LatencyResult": "".join(
        f'''
    @property
    def {name}(self) -> float | None:
        """{words} over all requests, microseconds."""
        return self.all.{name}_us
'''
        for name, words in PERCENTILES.items()
    ),
}
"""Methods and properties that Python adds to a class."""


def module(schema: dict[str, Any]) -> str:
    """Returns the text of the module. A class follows the classes of its fields."""
    defs = schema["$defs"]
    classes: dict[str, str] = {}

    def visit(name: str, table: dict[str, Any]) -> None:
        for field in fields(table):
            for other in references(table["properties"][field]):
                if other not in classes and "properties" in defs[other]:
                    visit(other, defs[other])
        classes[name] = class_text(name, table, defs)

    visit("ResultFields", schema)
    return "\n\n".join([HEAD, *classes.values()])


def fields(table: dict[str, Any]) -> list[str]:
    """Returns the field names in the order of the Rust struct, which `required` keeps."""
    return [name for name in table["required"] if name not in LEFT_OUT]


def references(schema: Any) -> Iterator[str]:
    """Yields the names of the definitions that a schema refers to."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].rpartition("/")[2]
        for value in schema.values():
            yield from references(value)


def class_text(name: str, table: dict[str, Any], defs: dict[str, Any]) -> str:
    lines = ["@dataclass(frozen=True)", f"class {name}:", *doc(table["description"]), ""]
    for field in fields(table):
        schema = table["properties"][field]
        lines += [f"    {field}: {python_type(schema, defs)}", *doc(schema["description"])]
    return "\n".join(lines) + "\n" + ADDED.get(name, "")


def doc(text: str) -> list[str]:
    """Returns the lines of a docstring, indented for a class body."""
    return textwrap.wrap(f'"""{text}"""', WIDTH, initial_indent="    ", subsequent_indent="    ")


def python_type(schema: dict[str, Any], defs: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return name if "properties" in defs[name] else "str"
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return " | ".join(_simple_type(kind, schema, defs) for kind in kinds)


def _simple_type(kind: str, schema: dict[str, Any], defs: dict[str, Any]) -> str:
    if kind == "array" and "prefixItems" in schema:
        return f"tuple[{', '.join(python_type(item, defs) for item in schema['prefixItems'])}]"
    if kind == "array":
        return f"tuple[{python_type(schema['items'], defs)}, ...]"
    plain = {"integer": "int", "number": "float", "string": "str", "boolean": "bool"}
    return (plain | {"null": "None", "object": "dict[str, Any]"})[kind]


def main() -> None:
    TARGET.write_text(module(json.loads(_core.result_schema())), "utf-8")
    print(f"wrote {TARGET}")


if __name__ == "__main__":
    main()
