"""System programs that tests of the live drive need, and the reasons for which tests are
skipped."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

from floatgate.live import nbdkit

HANGS_S = 300
"""Seconds after which a program counts as hung."""

PACKAGES = {
    "nbdkit": "nbdkit",
    "fio": "fio",
    "nbdcopy": "libnbd-bin",
    "nbdinfo": "libnbd-bin",
    "nbdfuse": "libnbd-bin",
    "qemu-img": "qemu-utils",
    "qemu-system-x86_64": "qemu-system-x86",
    "busybox": "busybox-static",
    "mke2fs": "e2fsprogs",
    "e2fsck": "e2fsprogs",
    "mkfs.f2fs": "f2fs-tools",
    "fsck.f2fs": "f2fs-tools",
    "filefrag": "e2fsprogs",
    "nvme": "nvme-cli",
    "mkfs.btrfs": "btrfs-progs",
    "mkfs.xfs": "xfsprogs",
    "losetup": "mount",
    "setpriv": "util-linux",
}
"""Programs, and the Debian packages that contain them."""

SYSTEM_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
"""The PATH of users other than root may lack the directories of mke2fs."""


def program(name: str) -> str | None:
    """Returns the path of the program, or None."""
    return shutil.which(name, path=SYSTEM_PATH)


def needs(*names: str) -> pytest.MarkDecorator:
    """Skips a test if a program is not installed, and names the package that has it."""
    missing = [name for name in names if program(name) is None]
    packages = sorted({PACKAGES[name] for name in missing})
    reason = f"{', '.join(missing)} not installed (packages: {' '.join(packages)})"
    return pytest.mark.skipif(bool(missing), reason=reason)


needs_plugin = pytest.mark.skipif(
    not nbdkit.PLUGIN.is_file(), reason="the nbdkit plugin was not built (make build)"
)


@cache
def why_no_loop_mounts() -> str | None:
    """Returns why this process cannot mount a file system through FUSE and a loop device, or None
    if it can."""
    if os.geteuid() != 0:
        return "mounting needs root"
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "no /dev/fuse"
    if not Path("/dev/loop-control").exists():
        return "no loop devices"
    with tempfile.TemporaryDirectory() as directory:
        image, mounted = Path(directory, "image"), Path(directory, "mounted")
        mounted.mkdir()
        with image.open("wb") as file:
            file.truncate(8 << 20)
        make = [program("mke2fs") or "mke2fs", "-q", "-F", "-t", "ext4", str(image)]
        if subprocess.run(make, capture_output=True).returncode != 0:
            return "mke2fs fails"
        mount = ["mount", "-o", "loop", str(image), str(mounted)]
        done = subprocess.run(mount, capture_output=True, text=True)
        if done.returncode != 0:
            return f"no loop mounts here: {done.stderr.strip()}"
        subprocess.run(["umount", str(mounted)], check=True)
    return None


def needs_loop_mounts() -> None:
    """Skips the test if this process cannot mount file systems."""
    why = why_no_loop_mounts()
    if why is not None:
        pytest.skip(why)


def run(*command: object, may_fail: bool = False) -> str:
    """Runs a program of the system, which has to succeed, and returns its output."""
    words = [program(str(command[0])) or str(command[0]), *map(str, command[1:])]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=HANGS_S, env={"PATH": SYSTEM_PATH}
    )
    assert may_fail or done.returncode == 0, f"{words}\n{done.stdout[-2000:]}\n{done.stderr}"
    return done.stdout
