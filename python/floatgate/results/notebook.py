"""Results in a notebook: a small table with their warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from floatgate.result_types import ResultFields

from .drawn import warnings_html
from .marks import mark
from .values import measured, percent, ratio


def result_html(result: ResultFields) -> str:
    """Returns one result with its main metrics and every warning."""
    return rows_html([({"trace": result.workload.name, "device": result.device}, result)])


def rows_html(rows: Sequence[tuple[Mapping[str, Any], ResultFields]]) -> str:
    """Returns a row for each result: its labels, then its main metrics. The warnings come below."""
    if not rows:
        return "<p>no results</p>"
    shown = [({**label, "seed": result.seed}, _metrics(result)) for label, result in rows]
    if any(marks := [mark(result) for _, result in rows]):
        shown = [
            (label | {"drive": one}, numbers)
            for (label, numbers), one in zip(shown, marks, strict=True)
        ]
    titles = [*shown[0][0], *shown[0][1]]
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "".join(
        "<tr>"
        + "".join(f"<td>{escape(str(value))}</td>" for value in label.values())
        + "".join(f'<td style="text-align:right">{escape(text)}</td>' for text in metrics.values())
        + "</tr>"
        for label, metrics in shown
    )
    warnings = dict.fromkeys(text for _, result in rows for text in result.warnings)
    doubts = warnings_html([*warnings])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{doubts}"


def _metrics(result: ResultFields) -> dict[str, str]:
    latency, hits = result.latency.all, result.mapping.hit_ratio
    return {
        "write amplification": ratio(result.write_amplification),
        "map hits": percent(hits),
        "mean \N{MICRO SIGN}s": measured(latency.mean_us),
        "p99 \N{MICRO SIGN}s": measured(latency.p99_us),
        "requests/s": measured(result.throughput.iops),
    }
