// The block map: a pixel per erase unit in a picture that the canvas enlarges, so that a hundred
// thousand units are one drawing operation.

import { byId, element, fixed, legend, percent } from "./format.js";

const CELL_MOST = 48;
const CELL_LEAST = 2;
const HEIGHT_MOST = 520;
const GAP_FROM = 6;

// Viridis, at even steps.
const RAMP = [
  [68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129],
  [92, 200, 99], [170, 220, 50], [253, 231, 37],
];
const STREAMS = 8;

const canvas = byId("blocks");
const told = byId("blocks-told");
const small = document.createElement("canvas");
let shown = null;
let cells = { columns: 1, size: 1 };
let chosen = null;

const ramp = (share) => {
  const place = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const at = Math.min(Math.floor(place), RAMP.length - 2);
  return RAMP[at].map((low, part) => low + (RAMP[at + 1][part] - low) * (place - at));
};

/** A CSS variable as red, green, blue. */
const rgb = (name) => {
  const text = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
};

const mode = () => document.querySelector("input[name=colour]:checked").value;

/** What colours a unit: a function of its number. Free units are as the grid, but for their wear. */
const colours = () => {
  const { valid, erases, stream, pages_per_unit: pages } = shown;
  const free = rgb("rule");
  if (mode() === "valid") return (unit) => (stream[unit] < 0 ? free : ramp(valid[unit] / pages));
  if (mode() === "stream") {
    const known = Array.from({ length: STREAMS }, (_, at) => rgb(`run-${at}`));
    return (unit) => (stream[unit] < 0 ? free : known[stream[unit] % STREAMS]);
  }
  const [least, most] = span(erases);
  return (unit) => ramp((erases[unit] - least) / Math.max(most - least, 1));
};

const span = (values) => values.reduce(([low, high], one) => [Math.min(low, one), Math.max(high, one)], [Infinity, 0]);

const layOut = () => {
  const width = canvas.parentElement.clientWidth;
  let size = CELL_MOST;
  const rowsOf = (one) => Math.ceil(shown.units / Math.max(Math.floor(width / one), 1));
  while (size > CELL_LEAST && rowsOf(size) * size > HEIGHT_MOST) size -= 1;
  cells = { size, columns: Math.max(Math.floor(width / size), 1), rows: rowsOf(size), width };
};

const paint = () => {
  if (!shown || canvas.parentElement.clientWidth === 0) return;
  layOut();
  const { columns, rows, size, width } = cells;
  [small.width, small.height] = [columns, rows];
  const picture = new ImageData(columns, rows);
  const of = colours();
  for (let unit = 0; unit < shown.units; unit += 1) {
    const [red, green, blue] = of(unit);
    picture.data.set([red, green, blue, 255], unit * 4);
  }
  small.getContext("2d").putImageData(picture, 0, 0);
  const scale = devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(rows * size * scale)];
  canvas.style.height = `${rows * size}px`;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, columns * size, rows * size);
  if (size >= GAP_FROM) gaps(context);
  if (chosen !== null) ring(context);
  Object.assign(canvas.dataset, { units: shown.units, colour: mode(), columns, cell: size });
  showLegend();
};

const gaps = (context) => {
  const { columns, rows, size } = cells;
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--paper");
  for (let column = 1; column <= columns; column += 1) context.fillRect(column * size - 1, 0, 1, rows * size);
  for (let row = 1; row <= rows; row += 1) context.fillRect(0, row * size - 1, columns * size, 1);
};

const ring = (context) => {
  const { columns, size } = cells;
  const [x, y] = [(chosen % columns) * size, Math.floor(chosen / columns) * size];
  context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--ink");
  context.lineWidth = 2;
  context.strokeRect(x, y, size, size);
};

const showLegend = () => {
  const list = byId("blocks-legend");
  const [least, most] = span(shown.erases);
  const ends = { valid: ["none valid", "all valid"], wear: [`${fixed(least)} erases`, `${fixed(most)} erases`] }[mode()];
  if (ends) {
    const key = ends.join();
    if (list.dataset.key === key) return;
    list.dataset.key = key;
    const bar = element("span", { class: "ramp", "aria-hidden": "true" });
    bar.style.background = `linear-gradient(90deg, ${RAMP.map((one) => `rgb(${one})`).join()})`;
    const entry = element("li", {}, ends[0], bar, ends[1]);
    list.replaceChildren(entry);
    if (mode() === "valid") {
      const box = element("span", { class: "swatch", "aria-hidden": "true" });
      box.style.background = "var(--rule)";
      list.append(element("li", {}, box, "free"));
    }
    return;
  }
  const streams = Array.from({ length: Math.min(shown.streams, STREAMS) }, (_, at) => [`stream ${at}`, `var(--run-${at})`]);
  legend(list, [...streams, ["free", "var(--rule)"]]);
};

const describe = (unit) => {
  const { valid, written, erases, stream, sealed, pages_per_unit: pages } = shown;
  if (stream[unit] < 0) return `Unit ${unit}: free, ${fixed(erases[unit])} erases`;
  const state = sealed[unit] ? "full" : `${fixed(written[unit])} pages written`;
  const share = percent(valid[unit] / pages);
  return `Unit ${unit}: ${state}, ${fixed(valid[unit])} of ${fixed(pages)} pages valid (${share}), `
    + `${fixed(erases[unit])} erases, stream ${stream[unit]}`;
};

const choose = (unit) => {
  if (!shown || unit < 0 || unit >= shown.units) return;
  chosen = unit;
  told.textContent = describe(unit);
  paint();
};

canvas.addEventListener("pointermove", (event) => {
  const { columns, size } = cells;
  const column = Math.floor(event.offsetX / size);
  if (column < columns) choose(Math.floor(event.offsetY / size) * columns + column);
});

canvas.addEventListener("keydown", (event) => {
  const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: cells.columns, ArrowUp: -cells.columns }[event.key];
  if (by === undefined) return;
  event.preventDefault();
  choose(chosen === null ? 0 : chosen + by);
});

byId("colour").addEventListener("change", paint);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  delete byId("blocks-legend").dataset.key;
  paint();
});
new ResizeObserver(() => {
  if (canvas.parentElement.clientWidth !== cells.width) paint();
}).observe(canvas.parentElement);

/** Draws the units as they are now. */
export const showBlocks = (blocks) => {
  shown = blocks;
  if (chosen !== null) {
    chosen = Math.min(chosen, blocks.units - 1);
    told.textContent = describe(chosen);
  }
  const free = blocks.stream.filter((stream) => stream < 0).length;
  canvas.setAttribute("aria-label", `Block map: ${fixed(blocks.units)} erase units, ${fixed(free)} free`);
  paint();
};
