"""Web page of a live drive, for this machine only.

Anyone who reaches the port may view the page. Requests that change the drive need a token, which
only the user that started the server knows. A foreign web site in the user's browser reaches the
port, too. The server refuses the changes of such a site: they lack the token, and carry its own
Origin. If the site's name resolves to this machine (DNS rebinding), the server refuses all its
requests, because they carry the site's name as Host.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from floatgate._core import RunError

from .client import Live

ADDRESS = "127.0.0.1"

BODY_MAX = 1 << 16
"""Maximum size of a request's body in bytes."""

ANSWER_S = 30.0
"""Seconds that a drive may take to report its state. Changes, such as a copy, have no limit."""

IDLE_S = 30.0
"""Seconds without a request after which a browser's connection is closed."""

CONNECTIONS = 32
"""Maximum number of open connections. A further connection replaces the one idle for longest."""

ACCEPT_WAIT_S = 0.1

WINDOW_MS = "10"
"""Default length of the window of a request `lanes`."""

QUERIES = ("status", "blocks", "smart", "lanes")
CHANGES = ("plug", "faults", "snapshot", "reset", "check")

KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
FILES = (
    *("live.css", "live.js", "format.js", "tip.js", "charts.js", "blocks.js", "lanes.js"),
    "control.js",
)

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Page:
    """Context manager that runs the web server in threads of its own."""

    def __init__(self, control: Path, port: int) -> None:
        """Listens at `port` of this machine; 0 chooses any free port.

        Raises RunError if the port is in use.
        """
        self.token = secrets.token_urlsafe(32)
        try:
            self._server = _Server((ADDRESS, port), _Handler)
        except OSError as error:
            raise RunError(f"--web: port {port}: {error.strerror or error}") from error
        self._server.begin(control, self.token)

    @property
    def url(self) -> str:
        """The page's address. The browser does not send the text after the #."""
        return f"http://{ADDRESS}:{self._server.server_port}/#token={self.token}"

    @property
    def metrics_url(self) -> str:
        return f"http://{ADDRESS}:{self._server.server_port}/metrics"

    def __enter__(self) -> Page:
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    """HTTP server with at most `CONNECTIONS` connections, and a thread for each."""

    daemon_threads = True
    # A browser keeps its connection open, so the server would wait for that thread forever.
    block_on_close = False

    def begin(self, control: Path, token: str) -> None:
        """Sets the drive's control socket and the token of this page."""
        self._open: dict[socket.socket, bool] = {}
        self._lock = threading.Lock()
        self.control = control
        self.token = token.encode()
        self.hosts = {f"{name}:{self.server_port}" for name in (ADDRESS, "localhost")}

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accepts a connection.

        If the process is out of file descriptors, waits before the server tries again.
        """
        try:
            return super().get_request()
        except OSError:
            time.sleep(ACCEPT_WAIT_S)
            raise

    def verify_request(self, request: Any, _: Any) -> bool:
        """Returns whether there is room for a new connection.

        If necessary, closes the connection that has been idle for longest.
        """
        with self._lock:
            if len(self._open) >= CONNECTIONS:
                idle = next((key for key, is_busy in self._open.items() if not is_busy), None)
                if idle is None:
                    return False
                del self._open[idle]
                with contextlib.suppress(OSError):
                    idle.shutdown(socket.SHUT_RDWR)
            self._open[request] = False
            return True

    def mark(self, connection: socket.socket, *, is_busy: bool) -> None:
        """Marks a connection as busy with a request to the drive, or as idle from now on."""
        with self._lock:
            if self._open.pop(connection, None) is not None:
                self._open[connection] = is_busy

    def shutdown_request(self, request: Any) -> None:
        """Closes a connection, which makes room for another."""
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, *_: Any) -> None:
        """Ignores errors: a browser may disconnect in the middle of an answer."""


class _Refused(Exception):
    """Refusal of a request, with the HTTP status that explains it."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S

    def do_GET(self) -> None:
        """Answers with the page, its files, or a report of the drive."""
        self._answer(self._view)

    def do_POST(self) -> None:
        """Performs a request that changes the drive."""
        self._answer(self._change)

    def log_message(self, *_: Any) -> None:
        """Logs nothing: an open page makes a request every second."""

    def version_string(self) -> str:
        return "floatgate"

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answers a request that `http.server` itself refuses, with JSON as for other refusals."""
        self.close_connection = True
        # `http.server` sends no headers if it takes a malformed request for HTTP 0.9.
        self.request_version = self.protocol_version
        self._send_error(HTTPStatus(code), message or explain or HTTPStatus(code).phrase)

    def _answer(self, make: Callable[[], tuple[str, bytes]]) -> None:
        self.server.mark(self.connection, is_busy=False)
        try:
            self._check_host()
            kind, content = make()
            self._send(HTTPStatus.OK, kind, content)
        except _Refused as refused:
            self._send_error(refused.status, str(refused))
        except RunError as error:
            self._send_error(HTTPStatus.BAD_GATEWAY, str(error))

    @contextlib.contextmanager
    def _drive(self, timeout_s: float | None = None) -> Iterator[Live]:
        """Yields the drive.

        While the drive works, the connection is not closed to make room for others.
        """
        self.server.mark(self.connection, is_busy=True)
        try:
            with Live(self.server.control, timeout_s) as live:
                yield live
        finally:
            self.server.mark(self.connection, is_busy=False)

    def _view(self) -> tuple[str, bytes]:
        path = self._url()
        name = path.path.removeprefix("/") or "live.html"
        if name == "metrics":
            return self._metrics()
        if name.startswith("api/"):
            return self._query(name.removeprefix("api/"), path.query)
        if name == "theme.css":
            return "text/css", _theme()
        if name == "report.css":
            return "text/css", _asset("floatgate.report", name)
        if name == "live.html" or name in FILES:
            return KINDS[name.rpartition(".")[2]], _asset("floatgate.live", name)
        raise _Refused(HTTPStatus.NOT_FOUND, f"{name}: there is no such page")

    def _query(self, name: str, query: str) -> tuple[str, bytes]:
        request: dict[str, Any] = {"do": name}
        if name in CHANGES:
            raise _Refused(HTTPStatus.METHOD_NOT_ALLOWED, f"{name} changes the drive: POST it")
        if name not in QUERIES:
            raise _Refused(HTTPStatus.NOT_FOUND, f"{name}: there is no such request")
        if name == "lanes":
            try:
                request["window_ms"] = float(parse_qs(query).get("window_ms", [WINDOW_MS])[0])
            except ValueError:
                raise _Refused(HTTPStatus.BAD_REQUEST, "window_ms: expected a number") from None
        with self._drive(ANSWER_S) as live:
            return "application/json", live.exchange(request)

    def _change(self) -> tuple[str, bytes]:
        body = self._body()
        self._check_origin_and_token()
        name = self._url().path.removeprefix("/api/")
        if name not in CHANGES:
            raise _Refused(HTTPStatus.NOT_FOUND, f"{name}: there is no such request")
        given = _object(body)
        if name == "snapshot" and not Path(str(given.get("to", ""))).is_absolute():
            raise _Refused(HTTPStatus.BAD_REQUEST, "to: expected an absolute path")
        with self._drive() as live:
            return "application/json", live.exchange({**given, "do": name})

    def _metrics(self) -> tuple[str, bytes]:
        from . import metrics

        with self._drive(ANSWER_S) as live:
            return metrics.CONTENT_TYPE, metrics.exposition(live.status())

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        is_length = length.isdecimal() and len(length) <= len(str(BODY_MAX))
        if not is_length or int(length) > BODY_MAX:
            # The server does not read this body, so it could not find the next request after it.
            self.close_connection = True
            raise _Refused(HTTPStatus.BAD_REQUEST, f"expected a body of up to {BODY_MAX} bytes")
        return self.rfile.read(int(length))

    def _url(self) -> SplitResult:
        try:
            return urlsplit(self.path)
        except ValueError:
            raise _Refused(HTTPStatus.BAD_REQUEST, "expected the path of a page") from None

    def _check_host(self) -> None:
        if self.headers.get("Host", "") not in self.server.hosts:
            self.close_connection = True
            hosts = " or ".join(sorted(self.server.hosts))
            raise _Refused(HTTPStatus.FORBIDDEN, f"Host: expected {hosts}")

    def _check_origin_and_token(self) -> None:
        origin = self.headers.get("Origin")
        if origin is not None and origin.removeprefix("http://") not in self.server.hosts:
            raise _Refused(HTTPStatus.FORBIDDEN, "Origin: another site may not control this drive")
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), self.server.token):
            raise _Refused(HTTPStatus.FORBIDDEN, "expected the token that floatgate serve prints")

    def _send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind if ";" in kind else f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            with contextlib.suppress(OSError):
                self.wfile.write(content)

    def _send_error(self, status: HTTPStatus, why: str) -> None:
        self._send(status, "application/json", json.dumps({"error": why}).encode() + b"\n")


def _object(body: bytes) -> dict[str, Any]:
    """Returns the JSON object in a request. The drive checks its values."""
    try:
        given = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise _Refused(HTTPStatus.BAD_REQUEST, "expected a JSON object")
    if any(isinstance(value, (dict, list)) for value in given.values()):
        raise _Refused(HTTPStatus.BAD_REQUEST, "expected numbers, texts and booleans in the object")
    return given


def _asset(package: str, name: str) -> bytes:
    return resources.files(package).joinpath("assets").joinpath(name).read_bytes()


def _theme() -> bytes:
    """Returns a style sheet with the report's font and its colours for light and dark schemes."""
    from floatgate.report import palette, theme

    light, dark = theme.css_variables(theme.LIGHT), theme.css_variables(theme.DARK)
    light += f" {palette.css_variables()}"
    root = f":root {{ color-scheme: light dark; --font: {theme.FONT}; {light} }}\n"
    return (root + f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n").encode()
