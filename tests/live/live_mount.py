"""A live drive as a block device of this machine, through nbdfuse, a loop device and ext4."""

from __future__ import annotations

import signal
import subprocess
import time

from live_drive import LiveDrive
from live_needs import HANGS_S, run


class Mounted:
    """A served drive with ext4, mounted at `path` by this machine's kernel."""

    def __init__(self, drive: LiveDrive, *, make: bool) -> None:
        """Mounts the drive. With `make`, makes a file system first."""
        self._fuse = drive.directory / "fuse"
        self.path = drive.directory / "mounted"
        for directory in (self._fuse, self.path):
            directory.mkdir(exist_ok=True)
        self._nbdfuse = subprocess.Popen(["nbdfuse", str(self._fuse), drive.uri])
        try:
            self._device = self._attach()
            if make:
                run("mke2fs", "-q", "-F", "-t", "ext4", self._device)
            # The kernel replays the journal. After that, nothing is left to repair.
            run("mount", self._device, self.path)
            run("umount", self.path)
            run("e2fsck", "-fn", self._device)
            run("mount", self._device, self.path)
        except BaseException:
            self.end()
            raise

    def _attach(self) -> str:
        end = time.monotonic() + HANGS_S
        while not (self._fuse / "nbd").exists():
            assert self._nbdfuse.poll() is None
            assert time.monotonic() < end
            time.sleep(0.02)
        self._device = ""
        return run("losetup", "-f", "--show", self._fuse / "nbd").strip()

    def freeze(self) -> None:
        """Blocks all later requests of this machine to the drive."""
        self._nbdfuse.send_signal(signal.SIGSTOP)

    def unmount(self) -> None:
        """Unmounts the file system in order."""
        run("umount", self.path)
        run("losetup", "-d", self._device)
        run("umount", self._fuse)
        assert self._nbdfuse.wait(HANGS_S) == 0

    def cut(self) -> None:
        """Closes the connection: requests that wait for the drive fail."""
        self._nbdfuse.kill()
        self._nbdfuse.wait()

    def end(self) -> None:
        """Unmounts the file system even if some of its layers are gone. No process may be using
        it."""
        self.cut()
        run("umount", self.path, may_fail=True)
        if self._device:
            run("losetup", "-d", self._device, may_fail=True)
        run("umount", "-l", self._fuse, may_fail=True)
