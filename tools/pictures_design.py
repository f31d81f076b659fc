"""Draws the diagrams of docs/design.md.

    python tools/pictures_design.py

Each diagram is an SVG of cells, boxes and arrows. Its style has colours for light and for dark
pages, so the background stays transparent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
WIDTH = 480
"""Width in units of the drawing. A page of 400 pixels still shows its text at 11 pixels."""
SHOWN = 600
"""Width in pixels on a wide page."""
SIDE = 36
"""Side of a cell."""

STYLE = """
svg { --ink: #1f2328; --soft: #59636e; --line: #818b98; --plain: #dbe4ee; --hot: #f4b8ae;
  --cold: #b5d3f2; --new: #a9dcb8; --move: #f6cf8e; --edge: #c2410c; }
@media (prefers-color-scheme: dark) {
  svg { --ink: #e6edf3; --soft: #a5aeb8; --line: #7d8590; --plain: #34414f; --hot: #8f3a30;
    --cold: #26527f; --new: #246b3d; --move: #8a5a14; --edge: #f59e4a; } }
text { font: 15px system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; fill: var(--ink);
  dominant-baseline: central; text-anchor: middle; }
text.left { text-anchor: start; } text.right { text-anchor: end; }
text.soft { fill: var(--soft); } text.gone { fill: var(--soft); text-decoration: line-through; }
rect { stroke: var(--line); stroke-width: 1.2; fill: none; }
rect.plain { fill: var(--plain); } rect.hot { fill: var(--hot); } rect.cold { fill: var(--cold); }
rect.new { fill: var(--new); } rect.move { fill: var(--move); }
rect.gone { fill: url(#gone); } rect.free { stroke-dasharray: 4 3; }
rect.mark { stroke: var(--edge); stroke-width: 2.4; }
path { fill: none; stroke: var(--ink); stroke-width: 1.6; marker-end: url(#tip); }
path.soft { stroke: var(--line); stroke-dasharray: 4 3; marker-end: url(#tip-soft); }
path.edge { stroke: var(--edge); stroke-width: 2; marker-end: url(#tip-edge); }
path.bare { stroke: var(--line); marker-end: none; }
#tip path, #tip-soft path, #tip-edge path { stroke: none; marker-end: none; fill: var(--ink); }
#tip-soft path { fill: var(--line); } #tip-edge path { fill: var(--edge); }
#gone path { stroke: var(--line); stroke-width: 1; marker-end: none; }
"""

TIP = (
    '<marker id="{}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8Z"/></marker>'
)
HATCH = (
    '<pattern id="gone" width="7" height="7" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><path d="M0 0V7"/></pattern>'
)
TIPS = "".join(TIP.format(name) for name in ("tip", "tip-soft", "tip-edge"))
DEFINITIONS = f"<defs>{TIPS}{HATCH}</defs>"


@dataclass
class Drawing:
    """Elements of one diagram, drawn in the order in which they were added."""

    title: str
    height: int
    parts: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, words: str, kind: str = "") -> None:
        """Adds words around a point, or to one side of it with `left` or `right`."""
        self.parts.append(f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(words)}</text>')

    def box(self, x: float, y: float, size: tuple[float, float], words: str, kind: str) -> None:
        """Adds a rectangle with words in its middle."""
        width, height = size
        self.parts.append(
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
            ' rx="3"/>'
        )
        if words:
            inner = "gone" if kind == "gone" else ""
            self.text(x + width / 2, y + height / 2, words, inner)

    def cells(self, x: float, y: float, cells: Sequence[tuple[str, str]], side: int = SIDE) -> None:
        """Adds a row of cells, each with its words and its kind."""
        for number, (words, kind) in enumerate(cells):
            self.box(x + number * side, y, (side, SIDE), words, kind)

    def arrow(self, path: str, kind: str = "") -> None:
        """Adds an arrow along the commands of an SVG path."""
        self.parts.append(f'<path class="{kind}" d="{path}"/>')

    def svg(self) -> str:
        """Returns the document."""
        height = self.height * SHOWN / WIDTH
        size = f'width="{SHOWN}" height="{height:g}" viewBox="0 0 {WIDTH} {self.height}"'
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
                f"<title>{escape(self.title)}</title>",
                f"<style>{STYLE}</style>",
                DEFINITIONS,
                *self.parts,
                "</svg>\n",
            ]
        )


def _row(names: str, kind: str) -> list[tuple[str, str]]:
    """Returns a cell for each name in a text of names."""
    return [(name, kind) for name in names.split()]


def erase() -> Drawing:
    """In place: one changed page costs a whole block."""
    drawing = Drawing("Changing one page in place", 250)
    left, names = 130, "A B C D E F G H"
    before, after = _row(names, "plain"), _row(names, "move")
    after[2] = ("C'", "new")
    for y, label, cells in (
        (10, "block before", before),
        (107, "after the erase", _row("- - - - - - - -", "free")),
        (204, "block after", after),
    ):
        drawing.text(left - 10, y + SIDE / 2, label, "right")
        drawing.cells(left, y, [("" if word == "-" else word, kind) for word, kind in cells])
    middle = left + 4 * SIDE
    drawing.arrow(f"M{middle} 50V103", "edge")
    drawing.text(middle + 10, 76, "read 7 pages, erase", "left")
    drawing.arrow(f"M{middle} 147V200", "edge")
    drawing.text(middle + 10, 173, "program 8 pages", "left")
    return drawing


def page_map() -> Drawing:
    """Out of place: the map points to the newest version."""
    drawing = Drawing("A map of pages", 190)
    left, top, low = 120, 10, 130
    drawing.text(left - 10, top + SIDE / 2, "map", "right")
    drawing.cells(left, top, _row("A B C D", "plain"))
    drawing.text(left - 10, low + SIDE / 2, "flash", "right")
    flash = [*_row("A", "plain"), ("B", "gone"), *_row("C D", "plain"), ("B'", "new")]
    drawing.cells(left, low, [*flash, ("", "free"), ("", "free"), ("", "free")])
    for entry, page in ((0, 0), (2, 2), (3, 3)):
        x = left + (entry + 0.5) * SIDE
        drawing.arrow(f"M{x} {top + SIDE + 2}L{left + (page + 0.5) * SIDE} {low - 3}")
    x = left + 1.5 * SIDE
    drawing.arrow(f"M{x} {top + SIDE + 2}V{low - 3}", "soft")
    drawing.arrow(f"M{x} {top + SIDE + 2}L{left + 4.5 * SIDE} {low - 3}", "edge")
    drawing.text(left + 5.2 * SIDE, 88, "new version", "left")
    drawing.text(x, low + SIDE + 14, "invalid", "soft")
    drawing.text(left + 6.5 * SIDE, low + SIDE + 14, "free", "soft")
    return drawing


def clean() -> Drawing:
    """Cleaning: valid pages of the victim are copied to the open unit."""
    drawing = Drawing("Cleaning", 270)
    units = ("111101", "101110", "010010", "111011", "110111")
    width, high, top, gap = 46, 28, 34, 18
    for number, pages in enumerate(units):
        x = 14 + number * (width + gap)
        for row, valid in enumerate(pages):
            kind = "move" if number == 2 and valid == "1" else "plain"
            drawing.box(x, top + row * high, (width, high), "", kind if valid == "1" else "gone")
        drawing.text(x + width / 2, top + 6 * high + 16, f"{pages.count('1')} of 6")
    victim, opened = 14 + 2 * (width + gap), 14 + 5 * (width + gap) + 40
    drawing.box(victim - 4, top - 4, (width + 8, 6 * high + 8), "", "mark")
    drawing.text(victim + width / 2, 14, "victim")
    drawing.text(opened + width / 2, 14, "open")
    for row in range(6):
        kind = ("plain", "plain", "move", "move", "free", "free")[row]
        drawing.box(opened, top + row * high, (width, high), "", kind)
    low = top + 6 * high + 34
    drawing.arrow(f"M{victim + width / 2} {low - 4}V{low + 22}H{opened + 23}V{low - 30}", "edge")
    drawing.text((victim + opened + width) / 2, low + 10, "2 copies, then erase")
    return drawing


def streams() -> Drawing:
    """Streams: pages that die together in one unit."""
    drawing = Drawing("One stream and two streams", 214)
    width, high, top = 46, 24, 44
    mixed = ("cxcxhc", "xchxcc", "hxccxc")
    for number, pages in enumerate((*mixed, "xxxxhx", "cccccc", "cccccc")):
        x = (14 if number < 3 else 98) + number * 62
        for row, page in enumerate(pages):
            kind = {"c": "cold", "h": "hot", "x": "gone"}[page]
            drawing.box(x, top + row * high, (width, high), "", kind)
    drawing.text(99, 16, "one stream")
    drawing.text(369, 16, "two streams")
    drawing.arrow("M240 10V206", "bare")
    for x, label in ((307, "hot"), (400, "cold")):
        drawing.text(x, top + 6 * high + 14, label, "soft")
    return drawing


def cache() -> Drawing:
    """The cached map: one entry a miss, or a run of entries."""
    drawing = Drawing("DFTL and TLLLP", 220)
    drawing.arrow("M240 8V212", "bare")
    for x, name, loaded in ((14, "DFTL", (1,)), (258, "TLLLP", (1, 2, 3, 4))):
        middle = x + 3 * SIDE - 8
        drawing.text(middle, 14, name)
        drawing.box(x, 32, (6 * SIDE - 8, 58), "", "free")
        drawing.cells(
            x + 6, 43, [(str(entry + 8), "new" if entry == 1 else "move") for entry in loaded], 34
        )
        drawing.text(x + 6 * SIDE - 16, 61, "cache", "soft right")
        page = [(str(entry + 8), "plain") for entry in range(6)]
        for entry in loaded:
            page[entry] = (str(entry + 8), "new" if entry == 1 else "move")
        drawing.cells(x + 2, 150, page, 34)
        for entry in loaded:
            to = x + 6 + (loaded.index(entry) + 0.5) * 34
            drawing.arrow(f"M{x + 2 + (entry + 0.5) * 34} 147L{to} 83", "edge")
        drawing.text(middle, 202, "translation page on flash", "soft")
    return drawing


def logs() -> Drawing:
    """Log blocks: a merge takes the newest pages of both blocks."""
    drawing = Drawing("Log blocks and a merge", 200)
    drawing.text(92, 14, "data block")
    drawing.cells(20, 28, [("A", "plain"), ("B", "gone"), ("C", "plain"), ("D", "gone")])
    drawing.text(92, 112, "log block")
    drawing.cells(20, 126, [("D'", "gone"), ("B'", "new"), ("D''", "new"), ("", "free")])
    drawing.text(386, 63, "new data block")
    drawing.cells(314, 77, [("A", "move"), ("B'", "move"), ("C", "move"), ("D''", "move")])
    drawing.arrow("M170 46C230 46 240 92 308 92", "edge")
    drawing.arrow("M170 144C230 144 240 100 308 100", "edge")
    drawing.text(386, 28, "4 copies, 2 erases")
    drawing.text(92, 180, "in order of arrival", "soft")
    drawing.text(386, 131, "each page in its place", "soft")
    return drawing


def write_buffer() -> Drawing:
    """The write buffer: blocks that queued commands will use stay."""
    drawing = Drawing("A write buffer that sees the queue", 220)
    drawing.text(14, 28, "queue", "left")
    drawing.text(14, 108, "buffer", "left")
    drawing.text(14, 192, "flash", "left")
    for number, block in enumerate((5, 2, 7)):
        drawing.box(100 + number * 116, 10, (100, SIDE), f"write to {block}", "plain")
    for number, block in enumerate((7, 9, 2, 5)):
        kind = "move" if block == 9 else "new"
        drawing.box(86 + number * 96, 90, (76, SIDE), f"block {block}", kind)
    for start, end in ((150, 412), (266, 316), (382, 124)):
        drawing.arrow(f"M{start} 48L{end} 87", "soft")
    drawing.arrow("M220 129V172", "edge")
    drawing.text(232, 150, "evict: no command waits for it", "left")
    drawing.box(86, 175, (364, SIDE), "", "plain")
    return drawing


def host() -> Drawing:
    """SHRD: a log of the host, and remaps."""
    drawing = Drawing("SHRD", 270)
    left, wide = 140, 74
    writes, order = (32, 765, 128, 854), (32, 128, 765, 854)
    for y, label in ((10, "host writes"), (82, "log"), (154, "flash"), (226, "map, later")):
        drawing.text(left - 10, y + SIDE / 2, label, "right")
    for number, page in enumerate(writes):
        x = left + number * wide
        middle = x + wide / 2 - 4
        drawing.box(x, 10, (wide - 8, SIDE), str(page), "hot")
        drawing.arrow(f"M{middle} 48V79")
        drawing.box(x, 82, (wide, SIDE), str(1024 + number), "cold")
        drawing.arrow(f"M{middle} 120V151")
        drawing.box(x, 154, (wide, SIDE), f"{page}", "plain")
        drawing.box(x, 226, (wide - 8, SIDE), str(order[number]), "new")
        to = left + writes.index(order[number]) * wide + wide / 2 - 4
        drawing.arrow(f"M{middle} 223L{to} 193", "edge")
    drawing.text(left - 10, 208, "remap", "soft right")
    return drawing


def power() -> Drawing:
    """Recovery: scan from the torn page back to the checkpoint."""
    drawing = Drawing("Loss of power", 190)
    drawing.box(14, 50, (112, 48), "checkpoint", "new")
    pages = (("A", "8"), ("C", "9"), ("A", "10"), ("B", "11"))
    for number, (page, sequence) in enumerate(pages):
        x = 146 + number * 58
        old = number == 0
        drawing.box(x, 50, (50, 48), "", "gone" if old else "plain")
        drawing.text(x + 25, 64, page, "gone" if old else "")
        drawing.text(x + 25, 85, sequence, "soft")
    drawing.box(378, 50, (50, 48), "?", "hot")
    drawing.text(403, 16, "power fails")
    drawing.arrow("M403 26V46", "edge")
    drawing.arrow("M432 122H134", "edge")
    drawing.text(283, 140, "scan, newest page first")
    drawing.arrow("M130 38H360")
    drawing.text(245, 24, "programs", "soft")
    drawing.text(245, 174, "each page carries its owner and its sequence number", "soft")
    return drawing


def time() -> Drawing:
    """Decisions first: a graph, which the scheduler places on dies and channels."""
    drawing = Drawing("A graph of operations, and their time", 318)
    nodes = {
        "load map": (66, 20, "cold"),
        "program": (186, 20, "plain"),
        "copy: read": (66, 82, "move"),
        "copy: program": (190, 82, "move"),
        "erase": (346, 82, "move"),
    }
    for words, (x, y, kind) in nodes.items():
        width = 124 if len(words) > 11 else 92
        drawing.box(x, y, (width, 32), words, kind)
    drawing.box(340, 20, (116, 32), "request done", "new")
    for path in ("M158 36H183", "M278 36H337", "M158 98H187", "M314 98H343"):
        drawing.arrow(path)
    drawing.arrow("M392 82V55")
    drawing.text(14, 36, "host", "left")
    drawing.text(14, 98, "clean", "left")
    drawing.arrow("M240 124V160", "edge")
    drawing.text(252, 142, "the scheduler plays the graph", "left")
    lanes: dict[str, Sequence[tuple[int, int, str]]] = {
        "die 0": ((80, 72, "move"), (152, 146, "move"), (298, 150, "move")),
        "die 1": ((80, 56, "cold"), (152, 126, "plain")),
        "channel": ((120, 16, "cold"), (136, 16, "move"), (152, 16, "plain"), (168, 16, "move")),
    }
    for row, (lane, bars) in enumerate(lanes.items()):
        y = 172 + row * 38
        drawing.text(14, y + 13, lane, "left")
        drawing.arrow(f"M76 {y + 27}H464", "bare")
        for x, width, kind in bars:
            drawing.box(x, y, (width, 26), "", kind)
    drawing.arrow("M76 294H464", "soft")
    drawing.text(446, 306, "time", "soft")
    return drawing


DIAGRAMS: dict[str, Callable[[], Drawing]] = {
    "design-erase": erase,
    "design-map": page_map,
    "design-clean": clean,
    "design-streams": streams,
    "design-cache": cache,
    "design-log": logs,
    "design-buffer": write_buffer,
    "design-host": host,
    "design-power": power,
    "design-time": time,
}


def draw(folder: Path) -> None:
    """Writes all diagrams into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in DIAGRAMS.items():
        (folder / f"{name}.svg").write_text(make().svg(), "utf-8")


def main() -> None:
    draw(FOLDER)


if __name__ == "__main__":
    main()
