"""Paths of a live drive's sockets, and checks that they are free."""

from __future__ import annotations

import errno
import os
import socket
import stat
import tempfile
from pathlib import Path

from floatgate._core import ConfigError, RunError

PATH_MAX = 107
"""Maximum bytes of a Unix socket's path: the kernel's `sun_path`, less its terminator."""


def folder() -> Path:
    """Returns the user's own folder for sockets, which may not exist yet."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and Path(runtime).is_dir():
        return Path(runtime) / "floatgate"
    return Path(tempfile.gettempdir()) / f"floatgate-{os.getuid()}"


def default_socket() -> Path:
    """Returns the default NBD socket of `floatgate serve`."""
    return folder() / "drive.sock"


def default_control() -> Path:
    """Returns the control socket of a server with the default NBD socket."""
    return control_of(default_socket())


def control_of(served: Path) -> Path:
    """Returns the control socket of a server whose NBD socket is `served`."""
    return served.with_name(served.name.removesuffix(".sock") + ".control")


def make_folder() -> None:
    """Creates `folder`, for its owner only.

    Raises RunError if another user could have put it there: anyone can write in /tmp.
    """
    place = folder()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise RunError(f"{place}: expected a folder that only you can access; give --socket PATH")


def claim(path: Path, option: str) -> None:
    """Checks that a socket can be created at `path`,
    and removes a socket that no server uses any more.

    Raises ConfigError that names `option`.
    """
    if len(os.fsencode(path)) > PATH_MAX:
        raise ConfigError(
            f"{option}: {path} has {len(os.fsencode(path))} bytes; a Unix socket's path has at "
            f"most {PATH_MAX}"
        )
    if not path.parent.is_dir():
        raise ConfigError(f"{option}: {path.parent} is no directory")
    try:
        kind = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(kind):
        raise ConfigError(f"{option}: {path} exists and is no socket; expected another path")
    if is_served(path):
        raise ConfigError(
            f"{option}: {path} is in use: a server answers there; expected another path"
        )
    path.unlink()


def is_served(path: Path) -> bool:
    """Returns whether a server accepts connections at a socket;
    True also if that cannot be found out.
    """
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError as error:
            return error.errno not in (errno.ECONNREFUSED, errno.ENOENT)
    return True
