"""Results as a notebook shows them: a small table, without anything to load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .result import Result


def result_html(result: Result) -> str:
    """One result, its main metrics and every warning."""
    return rows_html([({"trace": result.workload.name, "device": result.device}, result)])


def rows_html(rows: Sequence[tuple[Mapping[str, Any], Result]]) -> str:
    """A row for each result: its labels, then its main metrics; below, the warnings."""
    if not rows:
        return "<p>no results</p>"
    told = [({**label, "seed": result.seed}, _metrics(result)) for label, result in rows]
    titles = [*told[0][0], *told[0][1]]
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "".join(
        "<tr>"
        + "".join(f"<td>{escape(str(value))}</td>" for value in label.values())
        + "".join(f'<td style="text-align:right">{escape(text)}</td>' for text in metrics.values())
        + "</tr>"
        for label, metrics in told
    )
    warnings = dict.fromkeys(text for _, result in rows for text in result.warnings)
    doubts = "".join(f"<p><b>warning:</b> {escape(text)}</p>" for text in warnings)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{doubts}"


def _metrics(result: Result) -> dict[str, str]:
    from .report.values import measured, percent, ratio

    latency, hits = result.latency.all, result.mapping.hit_ratio
    return {
        "write amplification": ratio(result.write_amplification),
        "map hits": percent(hits),
        "mean \N{MICRO SIGN}s": measured(latency.mean_us),
        "p99 \N{MICRO SIGN}s": measured(latency.p99_us),
        "requests/s": measured(result.throughput.iops),
    }
