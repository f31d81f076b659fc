"""Counters of a live drive in the text format of Prometheus; docs/live.md names the main ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from floatgate.results.result import Result

from .documents import Smart, Spread, Status, Zones, modelled

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

US = 1e-6

QUANTILES = {"p50": "0.5", "p99": "0.99", "p999": "0.999"}


def exposition(status: Status) -> bytes:
    """Returns all metrics of `status`. A metric without a number has no sample."""
    registry = CollectorRegistry()
    registry.register(_Of(status))
    return generate_latest(registry)


class _Of(Collector):
    def __init__(self, status: Status) -> None:
        self._status = status

    def collect(self) -> Iterator[Metric]:
        status = self._status
        about = {"version": status.floatgate, "device": status.device, "timing": status.timing}
        yield InfoMetricFamily(
            "floatgate", "Version, device and timing of the server.", value=about
        )
        yield from _work(status)
        yield from _inside(status)
        yield from _times(status)
        yield from _smart(status.smart)
        yield from _shadows(status)


def _work(status: Status) -> Iterator[Metric]:
    server, workload = status.server, status.result.workload
    yield _gauge("uptime_seconds", "Time since the server started.", status.uptime_s)
    yield _gauge("capacity_bytes", "Bytes that the host can address.", status.bytes)
    yield _gauge("connections", "Clients that are connected.", server.connections)
    yield _gauge("requests_in_flight", "Requests in flight.", server.in_flight)
    yield _counters("requests", "Requests of clients.", "op", vars(server.requests))
    yield _counter("request_errors", "Requests that failed.", server.errors)
    written, read = workload.write_bytes, workload.read_bytes
    yield _counter("host_write_bytes", "Bytes of the host's writes.", written)
    yield _counter("host_read_bytes", "Bytes of the host's reads.", read)
    failed = status.failure is not None
    yield _gauge("failed", "1 if the drive reads and writes nothing any more.", failed)
    gone = status.image_gone is not None
    yield _gauge("image_gone", "1 if the image's path leads to another file or none.", gone)
    yield _counter("power_cuts", "Times that the plug was pulled.", status.power.cuts)


def _inside(status: Status) -> Iterator[Metric]:
    result = status.result
    for kind, what in (
        ("reads", "Pages read from flash, by cause."),
        ("programs", "Pages programmed, by cause."),
        ("erases", "Erase units erased, by cause."),
    ):
        yield _counters(f"media_{kind}", what, "cause", vars(getattr(result.flash, kind)))
    yield _gauge(
        "write_amplification",
        "Bytes programmed for each byte that the host has written.",
        result.write_amplification,
    )
    yield _counter("map_hits", "Map entries found in the map's cache.", result.mapping.hits)
    yield _counter("map_misses", "Map entries not found in the map's cache.", result.mapping.misses)
    yield _gauge("free_units", "Erase units with nothing in them.", status.free_units)
    room = status.cleaning_begins_after_bytes
    yield _gauge("cleaning_begins_after_bytes", "Room left until units are cleaned.", room)
    if status.zones is not None:
        yield _zones(status.zones)
    yield _gauge("warnings", "Warnings in force.", len(status.all_warnings))


def _zones(zones: Zones) -> Metric:
    family = GaugeMetricFamily("floatgate_zones", "Zones, by state.", labels=["state"])
    for state, number in vars(zones.states).items():
        family.add_metric([state], number)
    return family


def _times(status: Status) -> Iterator[Metric]:
    server = status.server
    measured = vars(server.latency_us)
    yield _summary("latency_seconds", "From request to answer, as measured.", "op", measured)
    waits = {"wait": server.lock_wait_us, "held": server.lock_held_us}
    yield _summary("lock_seconds", "Waiting for the drive's lock, and holding it.", "phase", waits)
    if status.timing != "none":
        latency = status.result.latency
        times = {"read": modelled(latency.read), "write": modelled(latency.write)}
        what = "From request to answer, on the modelled drive."
        yield _summary("modelled_latency_seconds", what, "op", times)
        yield _blame(status.result)
    if server.holding is not None:
        error = {"": server.holding.error_us}
        yield _summary(
            "holding_error_seconds", "Distance of answers from their due time.", "", error
        )
        what = "Share of the answers late by more than a tenth of their due time."
        yield _gauge("late_ratio", what, server.holding.late_share)
        what = "Mean excess of the answers over their due time, as a share of it."
        yield _gauge("mean_excess_ratio", what, server.holding.mean_excess)


def _blame(result: Result) -> Metric:
    what = "Components of the mean latency of the modelled drive, by cause."
    family = GaugeMetricFamily("floatgate_modelled_blame_seconds", what, labels=["cause"])
    for cause, us in vars(result.latency.blame_us).items():
        if us is not None:
            family.add_metric([cause], us * US)
    return family


def _smart(smart: Smart) -> Iterator[Metric]:
    for name, what, value in (
        ("host_write_bytes", "Bytes written by the host, ever.", smart.host_bytes_written),
        ("host_read_bytes", "Bytes read by the host, ever.", smart.host_bytes_read),
        ("media_write_bytes", "Bytes programmed, ever.", smart.media_bytes_written),
        ("media_read_bytes", "Bytes read from the flash, ever.", smart.media_bytes_read),
        ("media_erase_bytes", "Bytes of erased units, ever.", smart.media_bytes_erased),
        (
            "lifetime_media_write_bytes",
            "Bytes programmed, ever, as recorded in the flash.",
            smart.lifetime_media_bytes_written,
        ),
        ("unsafe_shutdowns", "Losses of power.", smart.unsafe_shutdowns),
        ("media_errors", "Pages that could not be read.", smart.media_errors),
    ):
        yield _counter(f"smart_{name}", what, value)
    used = None if smart.percentage_used is None else smart.percentage_used / 100
    for name, what, share in (
        ("available_spare_ratio", "Spare left, 1 when new.", smart.available_spare_percent),
        (
            "spare_threshold_ratio",
            "The drive warns below this spare.",
            smart.available_spare_threshold_percent,
        ),
    ):
        yield _gauge(f"smart_{name}", what, share / 100)
    yield _gauge("smart_used_ratio", "Share of rated erases used up; may exceed 1.", used)
    yield _gauge("smart_erases_max", "Erases of the most worn unit.", smart.erases_max)
    yield _gauge("smart_erases_mean", "Mean erases of a unit.", smart.erases_mean)
    warnings = len(smart.critical_warnings)
    yield _gauge("smart_critical_warnings", "Critical warnings in force.", warnings)


def _shadows(status: Status) -> Iterator[Metric]:
    prefix = "floatgate_shadow_"
    wa = GaugeMetricFamily(
        prefix + "write_amplification", "Write amplification of a shadow drive.", labels=["shadow"]
    )
    behind = GaugeMetricFamily(
        prefix + "behind_requests", "Requests that the shadow has not done yet.", labels=["shadow"]
    )
    programs = CounterMetricFamily(
        prefix + "media_programs",
        "Pages programmed by a shadow drive, by cause.",
        labels=["shadow", "cause"],
    )
    failed = GaugeMetricFamily(prefix + "failed", "1 if the shadow has failed.", labels=["shadow"])
    for shadow in status.also:
        failed.add_metric([shadow.name], shadow.result is None)
        behind.add_metric([shadow.name], shadow.behind)
        if shadow.result is None:
            continue
        if shadow.result.write_amplification is not None:
            wa.add_metric([shadow.name], shadow.result.write_amplification)
        for cause, pages in vars(shadow.result.flash.programs).items():
            programs.add_metric([shadow.name, cause], pages)
    if status.also:
        yield from (wa, behind, failed, programs)


def _gauge(name: str, what: str, value: float | None) -> Metric:
    family = GaugeMetricFamily(f"floatgate_{name}", what)
    if value is not None:
        family.add_metric([], value)
    return family


def _counter(name: str, what: str, value: float) -> Metric:
    return CounterMetricFamily(f"floatgate_{name}", what, value=value)


def _counters(name: str, what: str, label: str, values: Mapping[str, float]) -> Metric:
    family = CounterMetricFamily(f"floatgate_{name}", what, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family


def _summary(name: str, what: str, label: str, spreads: Mapping[str, Spread]) -> Metric:
    """Returns a summary with quantiles, which the library's own summaries do not have."""
    full = f"floatgate_{name}"
    family = Metric(full, what, "summary")
    for key, spread in spreads.items():
        labels = {label: key} if label else {}
        for field, quantile in QUANTILES.items():
            if (value := getattr(spread, field)) is not None:
                family.add_sample(full, {**labels, "quantile": quantile}, value * US)
        family.add_sample(f"{full}_count", labels, spread.count)
        family.add_sample(f"{full}_sum", labels, spread.count * (spread.mean or 0.0) * US)
    return family
