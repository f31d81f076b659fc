"""Takes docs/images/report.png, the picture of a report's first screen in docs/comparing.md.

    python tools/pictures_report.py

Runs the comparison of the README, opens its report in Chromium and takes a picture of the first
screen. The PNG stores the sentence and the numbers of that screen as text, which a test compares
with the report of the command.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "report.png"
KEY = b"floatgate"
WIDTH = 1280
MARGIN = 40
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def command() -> list[str]:
    """Returns the words of the README's comparison, starting with `floatgate`."""
    found = re.search(
        r"^    (floatgate compare .*)$", (ROOT / "README.md").read_text("utf-8"), re.M
    )
    assert found, "the README has no comparison"
    return shlex.split(found[1])


def shown_on(report: Path) -> list[str]:
    """Returns the texts of a report's first screen: its sentence, and the cells of its table."""
    html = report.read_text("utf-8")
    found = re.findall(r'<p class="answer">(.*?)</p>|<td data-name=[^>]*>(.*?)</td>', html, re.S)
    assert len(found) > 2, "the report has no sentence or no table on its first screen"
    return [" ".join((sentence or cell).split()) for sentence, cell in found]


def texts(png: bytes) -> dict[bytes, bytes]:
    """Returns the texts (tEXt chunks) of a PNG by their keys."""
    found = {}
    at = len(SIGNATURE)
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, content = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        if kind == b"tEXt":
            key, _, text = content.partition(b"\0")
            found[key] = text
        at += 12 + length
    return found


def with_text(png: bytes, text: bytes) -> bytes:
    """Returns the PNG with a text before its last chunk."""
    body = b"tEXt" + KEY + b"\0" + text
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return png[:-12] + chunk + png[-12:]


def main() -> None:
    from playwright import sync_api

    with tempfile.TemporaryDirectory() as folder:
        call = [sys.executable, "-m", *command(), "-q"]
        subprocess.run(call, cwd=folder, check=True)
        report = Path(folder, call[call.index("--out") + 1], "report.html")
        with sync_api.sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": WIDTH, "height": 900})
            page.goto(report.as_uri())
            page.wait_for_selector("html[data-drawn]", state="attached")
            # The picture ends above the heading of the first figure.
            box = page.locator("h2").nth(0).bounding_box()
            assert box, "the report has no figure"
            clip = {"x": 0, "y": 0, "width": WIDTH, "height": round(box["y"]) - MARGIN}
            png = page.screenshot(clip=clip)
            browser.close()
        shown = json.dumps(shown_on(report)).encode("ascii")
    PICTURE.write_bytes(with_text(png, shown))
    print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main()
