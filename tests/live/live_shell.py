"""A shell in a virtual machine, which a test talks to over a serial line."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Sequence
from pathlib import Path

from live_guest import PROMPT_S, Guest

SHELL = """
stty raw -echo < /dev/ttyS1
echo ready
exec sh /dev/ttyS1
"""

UNTIL_ENTER = "read line < /dev/ttyS1"
"""Waits, in a started command, for `Shell.press_enter`."""

COMMAND_MAX = 2000
"""Longest command in bytes. The terminal of the virtual machine drops more than 4,096 bytes that
the shell has not read."""


class Shell(Guest):
    """A virtual machine that runs one command after another.

    `functions` are shell functions for these commands.
    """

    def __init__(
        self,
        made: tuple[Path, Path],
        directory: Path,
        attached: Sequence[str],
        functions: str = "",
    ) -> None:
        path = directory / "shell.sock"
        path.unlink(missing_ok=True)
        functions_file = f"cat > /functions <<'END'\n{functions}\nEND\n"
        super().__init__(
            made, directory, attached, functions_file + SHELL, f"unix:{path},server=on"
        )
        self._number = 0
        self._text = ""
        self._lines: list[str] = []
        self._socket = self._connected(path)
        self.wait(1, "ready")
        self.run(". /functions")

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._socket.close()

    def run(self, command: str, *, fails: bool = False) -> str:
        """Runs a command that has to succeed, or to fail, and returns its output. A command that
        fails returns its error messages, too."""
        self.start(command)
        status, lines = self.end()
        assert (status != 0) == fails, (command, status, lines, self.report())
        return "\n".join(lines)

    def start(self, command: str) -> None:
        """Starts a command, in whose place the shell takes no other."""
        assert len(command) <= COMMAND_MAX
        self._number += 1
        self._lines = []
        # The output may end without the end of a line.
        end = f'status=$?; [ $status = 0 ] || cat /errors; echo; echo "end {self._number} $status"'
        self._socket.sendall(f"{{ {command}\n}} </dev/null 2>/errors; {end}\n".encode())

    def press_enter(self) -> None:
        """Lets a started command continue that waits."""
        self._socket.sendall(b"\n")

    def end(self) -> tuple[int, list[str]]:
        """Waits for the end of the started command. Returns its exit status and its lines."""
        self.wait(1, f"end {self._number} ")
        *lines, last = self._lines
        found = re.fullmatch(r"end \d+ (\d+)", last)
        assert found, last
        return int(found[1]), lines[:-1] if lines[-1:] == [""] else lines

    def lines(self) -> list[str]:
        """Returns the complete lines that the started command has written so far."""
        self._receive(0)
        return list(self._lines)

    def wait(self, count: int, beginning: str) -> None:
        """Returns once the started command has written `count` lines that start with
        `beginning`."""
        end = time.monotonic() + PROMPT_S
        while sum(line.startswith(beginning) for line in self._lines) < count:
            self.check()
            assert time.monotonic() < end, self.report()
            self._receive(0.1)

    def report(self) -> str:
        return "\n".join([super().report(), *self._lines[-40:], self._text])

    def _connected(self, path: Path) -> socket.socket:
        """Returns a connection to the serial line. The virtual machine waits for it."""
        end = time.monotonic() + PROMPT_S
        connection = socket.socket(socket.AF_UNIX)
        while True:
            try:
                connection.connect(str(path))
            except (FileNotFoundError, ConnectionRefusedError):
                self.check()
                assert time.monotonic() < end
                time.sleep(0.02)
            else:
                return connection

    def _receive(self, seconds: float) -> None:
        """Receives all text that has come, or that comes within some seconds."""
        self._socket.settimeout(seconds)
        try:
            while piece := self._socket.recv(1 << 16):
                self._text += piece.decode(errors="replace").replace("\r", "")
                self._socket.settimeout(0)
        except (BlockingIOError, TimeoutError):
            pass
        *lines, self._text = self._text.split("\n")
        self._lines += lines
