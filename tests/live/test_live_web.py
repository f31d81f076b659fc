"""The server of the live page: its content, the requests it refuses, and its metrics."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from live_fake import ZONES, FakeDrive, blocks_document
from live_process import until
from prometheus_client.parser import text_string_to_metric_families

from floatgate import RunError
from floatgate.live import Status
from floatgate.live.metrics import exposition
from floatgate.live.web import BODY_MAX, CONNECTIONS, FILES, Page
from floatgate.results.typed import build


class Answer:
    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def _port(page: Page) -> int:
    return int(page.metrics_url.split(":")[2].split("/")[0])


def _ask(page: Page, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", _port(page), timeout=30)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named)
        return Answer(connection.getresponse())
    finally:
        connection.close()


def _steer(page: Page, what: str, given: Any = None, **headers: str) -> Answer:
    rights = {"Authorization": f"Bearer {page.token}", **headers}
    return _ask(page, "POST", f"/api/{what}", json.dumps(given or {}).encode(), **rights)


def test_the_page_and_its_files_are_there_and_fetch_nothing_else(page: Page) -> None:
    for path in ("/", "/theme.css", "/report.css", *(f"/{name}" for name in FILES)):
        answer = _ask(page, "GET", path)
        assert answer.status == 200, path
        assert b"http" not in answer.body.replace(b"http://www.w3.org/2000/svg", b""), path
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert _ask(page, "GET", "/../live/web.py").status == 404
    assert _ask(page, "GET", "/web.py").status == 404


def test_whoever_reaches_the_port_may_look(
    page: Page, drive: FakeDrive, document: dict[str, Any]
) -> None:
    assert _ask(page, "GET", "/api/status").json == {"ok": document}
    assert _ask(page, "GET", "/api/blocks").json == {"ok": blocks_document()}
    assert _ask(page, "GET", "/api/lanes?window_ms=2.5").status == 200
    assert drive.asked[-1] == {"do": "lanes", "window_ms": 2.5}
    assert _ask(page, "GET", "/api/lanes?window_ms=x").status == 400
    assert _ask(page, "GET", "/api/unknown").status == 404


def test_steering_takes_the_token(page: Page, drive: FakeDrive, tmp_path: Path) -> None:
    assert _steer(page, "plug").json["ok"]["cuts"] == 1
    assert _steer(page, "faults", {"read_only": True}).json["ok"]["read_only"] is True
    assert _steer(page, "snapshot", {"to": str(tmp_path / "a")}).json["ok"]["bytes"] == 5
    assert "exists" in _steer(page, "snapshot", {"to": str(tmp_path / "a")}).json["error"]
    assert _steer(page, "snapshot", {"to": "relative"}).status == 400
    assert _steer(page, "reset").json == {"ok": {}}
    assert _steer(page, "check").json == {"ok": {}}
    assert _steer(page, "status").status == 404
    assert drive.status["power"]["cuts"] == 1


@pytest.mark.parametrize("what", ["plug", "faults", "snapshot", "reset", "check"])
def test_without_the_token_nothing_is_steered(page: Page, drive: FakeDrive, what: str) -> None:
    wrong = page.token[:-1] + ("a" if page.token[-1] != "a" else "b")
    for given in ("", "Bearer", f"Bearer {wrong}", "Bearer \xe9", "Basic x", f"Bearer {wrong}x"):
        assert _steer(page, what, Authorization=given).status == 403
    assert _ask(page, "GET", f"/api/{what}", Authorization=f"Bearer {page.token}").status == 405
    assert drive.asked == []


def test_a_foreign_site_gets_nowhere_even_with_the_token(page: Page, drive: FakeDrive) -> None:
    port = _port(page)
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", "127.0.0.1:1", ""):
        assert _ask(page, "GET", "/api/status", Host=host).status == 403
        assert _ask(page, "GET", "/metrics", Host=host).status == 403
        assert _steer(page, "plug", Host=host).status == 403
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{port}", "http://127.0.0.1"):
        assert _steer(page, "plug", Origin=origin).status == 403
    assert drive.asked == []
    own = f"localhost:{port}"
    assert _steer(page, "plug", Host=own, Origin=f"http://{own}").status == 200


def test_what_is_no_request_is_said(page: Page) -> None:
    rights = {"Authorization": f"Bearer {page.token}"}
    for body in (b"{", b"[1]", b"\xff"):
        assert _ask(page, "POST", "/api/reset", body, **rights).status == 400
    assert _ask(page, "POST", "/api/reset", b" " * (BODY_MAX + 1), **rights).status == 400
    assert _ask(page, "POST", "/api/reset", Content_Length="x", **rights).status == 400


def test_a_drive_that_is_gone_is_said(page: Page, drive: FakeDrive) -> None:
    drive.__exit__()
    answer = _ask(page, "GET", "/api/status")
    assert answer.status == 502
    assert "no server there" in answer.json["error"]


def test_the_page_is_on_this_machine_alone_and_its_port_is_its_own(
    page: Page, drive: FakeDrive
) -> None:
    assert page.url.startswith("http://127.0.0.1:")
    assert page.url.endswith(f"#token={page.token}") and len(page.token) >= 40
    with pytest.raises(RunError, match="--web: port"):
        Page(drive.path, _port(page))


Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def _samples(text: str) -> Samples:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_the_metrics_are_the_numbers_of_the_status(page: Page, document: dict[str, Any]) -> None:
    answer = _ask(page, "GET", "/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    text = answer.body.decode()
    families = list(text_string_to_metric_families(text))
    assert all(family.documentation and family.type != "unknown" for family in families)
    found = _samples(text)

    def value(name: str, **labels: str) -> float:
        return found[f"floatgate_{name}", tuple(sorted(labels.items()))]

    result, server, smart = (document[key] for key in ("result", "server", "smart"))
    assert value("host_write_bytes_total") == result["workload"]["write_bytes"]
    assert value("host_read_bytes_total") == result["workload"]["read_bytes"]
    for kind in ("reads", "programs", "erases"):
        for cause, pages in result["flash"][kind].items():
            assert value(f"media_{kind}_total", cause=cause) == pages
    assert value("write_amplification") == result["write_amplification"]
    assert value("map_hits_total") == result["mapping"]["hits"]
    assert value("map_misses_total") == result["mapping"]["misses"]
    assert value("free_units") == document["free_units"]
    for op, number in server["requests"].items():
        assert value("requests_total", op=op) == number
    write = server["latency_us"]["write"]
    assert value("latency_seconds", op="write", quantile="0.99") == pytest.approx(
        write["p99"] * 1e-6
    )
    assert value("latency_seconds_count", op="write") == write["count"]
    assert value("latency_seconds_sum", op="write") == pytest.approx(
        write["mean"] * write["count"] * 1e-6
    )
    reads = result["latency"]["read"]
    assert value("modelled_latency_seconds", op="read", quantile="0.5") == pytest.approx(
        reads["p50_us"] * 1e-6
    )
    assert value("holding_error_seconds", quantile="0.999") == pytest.approx(55e-6)
    assert value("late_ratio") == 0.01
    assert value("mean_excess_ratio") == 0.125
    for cause, us in result["latency"]["blame_us"].items():
        assert value("modelled_blame_seconds", cause=cause) == pytest.approx((us or 0) * 1e-6)
    [shadow, broken] = document["also"]
    # One warning reports that the other shadow has failed.
    warnings = len(document["warnings"]) + 1
    warnings += sum(len(one["warnings"]) for one in (result, shadow["result"]))
    assert value("warnings") == warnings > len(document["warnings"])
    lifetime = smart["lifetime_media_bytes_written"]
    assert value("smart_lifetime_media_write_bytes_total") == lifetime
    assert value("smart_used_ratio") == pytest.approx(smart["percentage_used"] / 100)
    assert value("smart_host_write_bytes_total") == smart["host_bytes_written"]
    assert value("shadow_behind_requests", shadow="twice") == shadow["behind"]
    for cause, pages in shadow["result"]["flash"]["programs"].items():
        assert value("shadow_media_programs_total", shadow="twice", cause=cause) == pages
    assert [value("shadow_failed", shadow=one) for one in ("twice", broken["name"])] == [0, 1]
    assert ("floatgate_shadow_write_amplification", (("shadow", "broken"),)) not in found


def test_a_failed_drive_and_a_lost_image_are_numbers(document: dict[str, Any]) -> None:
    def of(**changed: Any) -> list[float | None]:
        status = build(Status, document | changed, "status")
        found = _samples(exposition(status).decode())
        names = ("failed", "image_gone", "cleaning_begins_after_bytes")
        return [found.get((f"floatgate_{name}", ())) for name in names]

    assert of() == [0, 0, 8_482_560_000]
    assert of(failure="it broke") == [1, 0, 8_482_560_000]
    assert of(image_gone="it went", cleaning_begins_after_bytes=None) == [0, 1, None]


def test_zones_are_counted_by_state(document: dict[str, Any]) -> None:
    def of(zones: Any) -> list[float | None]:
        status = build(Status, document | {"zones": zones}, "status")
        found = _samples(exposition(status).decode())
        states = ("empty", "implicitly_open", "closed", "full")
        return [found.get(("floatgate_zones", (("state", state),))) for state in states]

    assert of(ZONES) == [7, 2, 0, 5]
    assert of(None) == [None] * 4


def test_what_has_no_number_has_no_sample(document: dict[str, Any]) -> None:
    empty = {**document, "also": [], "timing": "none"}
    empty["server"] = {**document["server"], "holding": None}
    empty["result"] = {**document["result"], "write_amplification": None}
    text = exposition(build(Status, empty, "status")).decode()
    names = {name for name, _ in _samples(text)}
    assert "floatgate_write_amplification" not in names
    assert not {
        name for name in names if "shadow" in name or "modelled" in name or "late_r" in name
    }
    assert "floatgate_requests_total" in names


def _open_ones(connections: list[socket.socket]) -> int:
    """Returns the number of connections that the server has not closed."""
    for one in connections:
        one.setblocking(False)
    count = 0
    for one in connections:
        try:
            count += one.recv(1, socket.MSG_PEEK) != b""
        except BlockingIOError:
            count += 1
        except OSError:
            pass
    return count


def test_a_thousand_connections_leave_the_page_and_its_threads_alone(page: Page) -> None:
    threads = threading.active_count()
    with contextlib.ExitStack() as stack:
        strangers = []
        for _ in range(100):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", _port(page)), 30))
            one.sendall(b"GET / HTTP/1.1\r\nX")
            strangers.append(one)
        assert _ask(page, "GET", "/api/status").status == 200, "the newest is served"
        until(lambda: _open_ones(strangers) <= CONNECTIONS)
        until(lambda: threading.active_count() <= threads + CONNECTIONS)
        assert _ask(page, "GET", "/metrics").status == 200
        assert _steer(page, "reset").status == 200
    until(lambda: threading.active_count() <= threads + 2)


def test_a_request_that_the_drive_works_on_is_answered_whoever_comes(
    page: Page, drive: FakeDrive
) -> None:
    with socket.create_connection(("127.0.0.1", _port(page)), 30) as waiting:
        drive.hold.clear()
        waiting.sendall(
            f"GET /api/blocks HTTP/1.1\r\nHost: 127.0.0.1:{_port(page)}\r\n\r\n".encode()
        )
        until(lambda: drive.asked)
        with contextlib.ExitStack() as stack:
            for _ in range(2 * CONNECTIONS):
                stack.enter_context(socket.create_connection(("127.0.0.1", _port(page)), 30))
            drive.hold.set()
            assert waiting.recv(12) == b"HTTP/1.1 200"


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"garbage\r\n\r\n", 400),
        (b"GET / HTTP/x\r\n\r\n", 400),
        (b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n", 431),
        (b"GET / HTTP/1.1\r\nA: " + b"b" * 70_000 + b"\r\n\r\n", 431),
        (b"DELETE / HTTP/1.1\r\nHost: H\r\n\r\n", 501),
        (b"GET / HTTP/3.0\r\n\r\n", 505),
        (b"GET http://[/ HTTP/1.1\r\nHost: H\r\n\r\n", 400),
        (b"POST http://[/ HTTP/1.1\r\nHost: H\r\nContent-Length: 0\r\n\r\n", 403),
        (b"POST /api/reset HTTP/1.1\r\nHost: H\r\n\r\n", 400),
        (
            b"POST /api/reset HTTP/1.1\r\nHost: H\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
            400,
        ),
        (b"POST /api/reset HTTP/1.1\r\nHost: H\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST /api/reset HTTP/1.1\r\nHost: H\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    ],
)
def test_every_request_is_answered_with_json_and_all_headers(
    page: Page, drive: FakeDrive, request_: bytes, status: int
) -> None:
    own = f"127.0.0.1:{_port(page)}".encode()
    with socket.create_connection(("127.0.0.1", _port(page)), 30) as stranger:
        stranger.sendall(request_.replace(b"Host: H", b"Host: " + own))
        response = http.client.HTTPResponse(stranger)
        response.begin()
        answer = Answer(response)
    assert answer.status == status
    assert answer.json["error"]
    assert answer.headers["Content-Type"] == "application/json; charset=utf-8"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert drive.asked == []


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 60_000,
        b'{"a":' * 10_000,
        b'{"read_only":' + b"[" * 200 + b"]" * 200 + b"}",
        b'{"to": ["/a"]}',
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
)
def test_a_body_of_any_depth_is_answered(page: Page, drive: FakeDrive, body: bytes) -> None:
    rights = {"Authorization": f"Bearer {page.token}"}
    answer = _ask(page, "POST", "/api/faults", body, **rights)
    assert (answer.status, "expected" in answer.json["error"]) == (400, True)
    assert drive.asked == []
