// Lines over time, one of each kind, and the stacked bar of causes.

import { byId, duration, element, fixed, legend, measured, percent, ratio } from "./format.js";
import { hideTip, showTip } from "./tip.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 300;
const HEIGHT = 100;

// With the column of the extremes within an entry, where that is not the column itself, and its name.
const CHARTS = [
  ["write_amplification", "Write amplification", ratio, "write_amplification_max", "highest"],
  ["host_mb_s", "Host, MB/s", measured, "host_mb_s_max", "highest"],
  ["requests_s", "Requests/s", measured, "requests_s_max", "highest"],
  ["p99_us", "p99 as measured", measured],
  ["hit_ratio", "Map hits", percent, "hit_ratio_min", "lowest"],
  ["free_units", "Free units", (value) => fixed(value)],
];

// Without a clock of the drive, the time of a request is that of the machine that serves it.
const OF_THIS_MACHINE = { p99_us: "p99 of this machine" };

const BLAME = {
  die: "flash itself", gc: "cleaning", map: "map", bus: "bus", merge: "merges", queue: "queue",
  buffer: "write buffer", remap: "remapping", controller: "controller", link: "host link",
};

const drawn = (name, attributes) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};

// The history as it was shown last, and the moment that the reader points at: its place between the
// ends of the plots, from 0 to 1, and the plot.
let shown = null;
let pointed = null;

const pointAt = (number, share, x, y) => {
  pointed = { number, share: Math.min(Math.max(share, 0), 1), x, y };
  mark();
};

const leave = () => {
  pointed = null;
  hideTip();
  if (shown) mark();
};

/** Points at the entry next to the one pointed at, or at the last. */
const step = (number, svg, by) => {
  const { at_s: at } = shown.history;
  const from = pointed ? entryAt(at, pointed.share) + by : at.length - 1;
  const entry = Math.min(Math.max(from, 0), at.length - 1);
  const { left, top, width } = svg.getBoundingClientRect();
  const share = shareOf(at, entry);
  pointAt(number, share, left + share * width, top);
};

addEventListener("scroll", leave, { passive: true });

const listen = (svg, number) => {
  svg.addEventListener("pointermove", (event) => {
    const { left, width } = svg.getBoundingClientRect();
    pointAt(number, (event.clientX - left) / width, event.clientX, event.clientY);
  });
  svg.addEventListener("pointerleave", leave);
  svg.addEventListener("blur", leave);
  svg.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") leave();
    if (by === undefined || !shown?.history.at_s.length) return;
    event.preventDefault();
    step(number, svg, by);
  });
};

const panel = (key, title, number) => {
  const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", tabindex: 0 });
  for (const y of [0, HEIGHT]) svg.append(drawn("line", { class: "grid", x1: 0, x2: WIDTH, y1: y, y2: y }));
  svg.append(drawn("path", { class: "line extreme" }), drawn("path", { class: "line mean" }));
  svg.append(drawn("line", { class: "at", y1: 0, y2: HEIGHT, visibility: "hidden" }));
  listen(svg, number);
  const value = element("output", {});
  return element("div", { class: "panel", "data-chart": key },
    element("h3", {}, title, value), svg, element("div", { class: "ends" }, element("span", {}), element("span", {})));
};

const lengthOf = (at) => Math.max(at[at.length - 1] - at[0], 1e-9);

/** The place of an entry between the ends of a plot, from 0 to 1. */
const shareOf = (at, entry) => (at[entry] - at[0]) / lengthOf(at);

/** The entry that is nearest to a place between the ends. */
const entryAt = (at, share) => {
  const time = at[0] + share * lengthOf(at);
  return at.reduce((best, one, entry) => (Math.abs(one - time) < Math.abs(at[best] - time) ? entry : best), 0);
};

const path = (at, values, most) => {
  let text = "";
  let isDown = false;
  values.forEach((value, index) => {
    if (value === null) { isDown = false; return; }
    const x = shareOf(at, index) * WIDTH;
    const y = HEIGHT - (value / most) * HEIGHT;
    text += `${isDown ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    isDown = true;
  });
  return text;
};

const titleOf = (key, title) => {
  const name = (shown.timing === "none" && OF_THIS_MACHINE[key]) || title;
  return key === "p99_us" ? `${name}, ${shown.unit.name}` : name;
};

/** The value of a column in the unit that its title names. */
const inUnit = (key, value) => (key === "p99_us" && value !== null && value !== undefined ? value / shown.unit.us : value);

/** Marks the moment that the reader points at in all plots, with its values; else shows those of now. */
const mark = () => {
  const { history } = shown;
  const { at_s: at } = history;
  if (!at.length) pointed = null;
  const now = at.length - 1;
  const entry = pointed ? entryAt(at, pointed.share) : now;
  CHARTS.forEach(([key, , format], number) => {
    const [heading, svg] = byId("charts").children[number].children;
    heading.lastChild.textContent = format(inUnit(key, history[key][entry]));
    const line = svg.querySelector(".at");
    const x = pointed ? shareOf(at, entry) * WIDTH : 0;
    for (const [name, value] of [["x1", x], ["x2", x], ["visibility", pointed ? "visible" : "hidden"]]) line.setAttribute(name, value);
  });
  if (!pointed) return;
  const [key, title, format, extreme, name] = CHARTS[pointed.number];
  const pairs = [["time", entry === now ? "now" : `${duration(at[now] - at[entry])} ago`]];
  pairs.push([titleOf(key, title), format(inUnit(key, history[key][entry]))]);
  if (extreme && history[extreme][entry] !== history[key][entry]) pairs.push([name, format(history[extreme][entry])]);
  showTip(pointed.x, pointed.y, pairs);
};

/** Draws the history that the server has kept, with times in the unit; from zero, so that heights compare. */
export const showHistory = (history, timing, unit) => {
  shown = { history, timing, unit };
  const box = byId("charts");
  if (!box.children.length) box.append(...CHARTS.map(([key, title], number) => panel(key, title, number)));
  const seconds = history.at_s.length > 1 ? history.at_s[history.at_s.length - 1] - history.at_s[0] : 0;
  CHARTS.forEach(([key, measuredTitle, format, extreme = key], number) => {
    const title = titleOf(key, measuredTitle);
    const values = history[key];
    const known = [...values, ...history[extreme]].filter((value) => value !== null);
    const most = Math.max(...known, 1e-9);
    const last = values.length ? values[values.length - 1] : null;
    const part = box.children[number];
    const [heading, svg, ends] = part.children;
    heading.firstChild.textContent = title;
    const draw = (line, column) => svg.querySelector(line).setAttribute("d", known.length ? path(history.at_s, column, most) : "");
    draw(".mean", values);
    draw(".extreme", history[extreme]);
    svg.setAttribute("aria-label", `${title}: now ${format(inUnit(key, last))}, at most ${known.length ? format(inUnit(key, most)) : "–"}`);
    ends.children[0].textContent = `${fixed(seconds)} s ago`;
    ends.children[1].textContent = known.length ? `top ${format(inUnit(key, most))}` : "nothing yet";
  });
  mark();
};

/** Shows the components of the mean latency. Without a write buffer, a write waits for room that cleaning makes. */
export const showBlame = (blame, bufferScheme, unit) => {
  const words = (us) => `${measured(us / unit.us)} ${unit.name}`;
  const names = bufferScheme === "none" ? { ...BLAME, buffer: "waiting for room (cleaning)" } : BLAME;
  const parts = Object.entries(names)
    .map(([key, name]) => [name, blame[key] ?? 0, `var(--cause-${key})`])
    .filter(([, us]) => us > 0);
  const whole = parts.reduce((sum, [, us]) => sum + us, 0);
  byId("blame-part").hidden = whole === 0;
  if (whole === 0) return;
  const bar = byId("blame");
  bar.replaceChildren(...parts.map(([name, us, colour]) => {
    const part = element("span", { title: `${name}: ${words(us)}` });
    part.style.background = colour;
    part.style.flexGrow = us / whole;
    return part;
  }));
  const named = parts.map(([name, us]) => `${name} ${words(us)}`);
  bar.setAttribute("aria-label", `Mean latency by cause: ${named.join(", ")}`);
  legend(byId("blame-legend"), parts.map(([, , colour], at) => [named[at], colour]));
};
