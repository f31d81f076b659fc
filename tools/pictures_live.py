"""Takes docs/images/learn-database.png, the picture of the live page in docs/learn/database.md.

    sudo -E python tools/pictures_live.py [FOLDER]

Follows the page: serves an aged drive, puts ext4 on it, runs SQLite, and takes a picture of the
live page while SQLite updates its table. Needs root (for mounts), nbdkit with the plugin, nbdfuse,
mkfs.ext4, sqlite3, Chromium and Playwright. Takes a minute.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "learn" / "database.md"
NAME = "learn-database.png"
PROGRAMS = ("nbdkit", "nbdfuse", "mkfs.ext4", "sqlite3", "chromium", "mount", "umount")
WIDTH, MARGIN = 900, 24
UPDATES_S = 20
"""Seconds of updates before the picture."""
TIMEOUT_MS = 180_000
"""Time for each step of the browser, on a busy machine."""
TRIES = 60
"""Seconds to wait for SQLite to end."""
FIRST, AFTER = "Now", "Latency"
"""Headings of the live page at which the picture begins, and above which it ends."""


def missing() -> list[str]:
    """Returns what this machine lacks."""
    lacks = [name for name in PROGRAMS if shutil.which(name) is None]
    return lacks if os.geteuid() == 0 else ["root", *lacks]


def _line(program: str) -> str:
    """Returns the page's first line of shell that begins with the program."""
    found = re.search(rf"^    ({re.escape(program)} .*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert found, f"the page does not call {program}"
    return found[1]


@contextlib.contextmanager
def served(folder: Path) -> Iterator[dict[str, Any]]:
    """Serves the page's drive and yields the document of the ready-file."""
    subprocess.run(_line("printf"), shell=True, cwd=folder, check=True)
    ready = folder / "ready.json"
    words = shlex.split(_line("floatgate serve"))
    call = [sys.executable, "-m", *words, "--ready-file", str(ready)]
    variables = {**os.environ, "XDG_RUNTIME_DIR": str(folder)}
    process = subprocess.Popen(call, cwd=folder, env=variables)
    try:
        while not ready.exists() or not ready.read_text("utf-8"):
            assert process.poll() is None, "the server has ended"
            time.sleep(0.2)
        yield json.loads(ready.read_text("utf-8"))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


@contextlib.contextmanager
def mounted(folder: Path, uri: str) -> Iterator[None]:
    """Mounts the drive at `bank`, with a new file system."""
    for name in ("drive", "bank"):
        (folder / name).mkdir()
    fuse = subprocess.Popen(["nbdfuse", "drive/", uri], cwd=folder)
    drive = folder / "drive" / "nbd"
    try:
        while not drive.exists():
            assert fuse.poll() is None, "nbdfuse has ended"
            time.sleep(0.2)
        subprocess.run(["mkfs.ext4", "-q", "-E", "nodiscard", str(drive)], check=True)
        subprocess.run(["mount", "-o", "loop", str(drive), str(folder / "bank")], check=True)
        try:
            yield
        finally:
            _unmount(folder / "bank")
    finally:
        _unmount(folder / "drive")
        fuse.wait()


def _unmount(folder: Path) -> None:
    """Unmounts the folder, which a program that is ending may still use."""
    for _ in range(TRIES):
        if subprocess.run(["umount", str(folder)], check=False).returncode == 0:
            return
        time.sleep(1)
    raise SystemExit(f"{folder} is in use")


def picture(url: str) -> bytes:
    """Returns a picture of the part of the live page between two headings."""
    from playwright import sync_api

    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox"],
            timeout=TIMEOUT_MS,
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.set_default_timeout(TIMEOUT_MS)
        page.goto(url)
        page.wait_for_selector("html[data-shown]", state="attached")
        page.wait_for_timeout(UPDATES_S * 1000)
        first, after = (
            page.locator("h2", has_text=re.compile(f"^{name}$")).bounding_box()
            for name in (FIRST, AFTER)
        )
        assert first and after, "the live page has other headings"
        top = first["y"] - MARGIN
        clip = {"x": 0, "y": top, "width": WIDTH, "height": after["y"] - MARGIN - top}
        png: bytes = page.screenshot(full_page=True, clip=clip)
        browser.close()
    return png


def draw(folder: Path) -> None:
    """Writes the picture into the folder. Leaves the old one where something is missing."""
    if lacks := missing():
        print(f"{NAME} stays as it is: no {', '.join(lacks)}")
        return
    text = PAGE.read_text("utf-8")
    [sql] = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
    with tempfile.TemporaryDirectory() as name:
        inside = Path(name)
        (inside / "bank.sql").write_text(sql, "utf-8")
        with served(inside) as ready, mounted(inside, ready["uri"]):
            subprocess.run(_line("sqlite3"), shell=True, cwd=inside, check=True)
            updates = subprocess.Popen(
                _line("seq"),
                shell=True,
                cwd=inside,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
            png = picture(ready["page"])
            (folder / NAME).write_bytes(png)
            os.killpg(updates.pid, signal.SIGTERM)
            updates.wait()


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    draw(folder)


if __name__ == "__main__":
    main()
