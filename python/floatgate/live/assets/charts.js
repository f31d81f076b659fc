// Lines over time, one of each kind, and the stacked bar of causes.

import { byId, element, fixed, legend, measured, percent, ratio } from "./format.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 300;
const HEIGHT = 100;

// With the column of the extremes within an entry, where that is not the column itself.
const CHARTS = [
  ["write_amplification", "Write amplification", ratio, "write_amplification_max"],
  ["host_mb_s", "Host, MB/s", measured, "host_mb_s_max"],
  ["requests_s", "Requests/s", measured, "requests_s_max"],
  ["p99_us", "p99 as measured, µs", measured],
  ["hit_ratio", "Map hits", percent, "hit_ratio_min"],
  ["free_units", "Free units", (value) => fixed(value)],
];

// Without a clock of the drive, the time of a request is that of the machine that serves it.
const OF_THIS_MACHINE = { p99_us: "p99 of this machine, µs" };

const BLAME = {
  die: "flash itself", gc: "cleaning", map: "map", bus: "bus", merge: "merges", queue: "queue",
  buffer: "write buffer", remap: "remapping", controller: "controller", link: "host link",
};

const drawn = (name, attributes) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};

const panel = (key, title) => {
  const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
  for (const y of [0, HEIGHT]) svg.append(drawn("line", { class: "grid", x1: 0, x2: WIDTH, y1: y, y2: y }));
  svg.append(drawn("path", { class: "line extreme" }), drawn("path", { class: "line mean" }));
  const value = element("output", {});
  return element("div", { class: "panel", "data-chart": key },
    element("h3", {}, title, value), svg, element("div", { class: "ends" }, element("span", {}), element("span", {})));
};

const path = (at, values, most) => {
  const begin = at[0];
  const length = Math.max(at[at.length - 1] - begin, 1e-9);
  let text = "";
  let isDown = false;
  values.forEach((value, index) => {
    if (value === null) { isDown = false; return; }
    const x = ((at[index] - begin) / length) * WIDTH;
    const y = HEIGHT - (value / most) * HEIGHT;
    text += `${isDown ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    isDown = true;
  });
  return text;
};

/** Draws the history that the server has kept; from zero, so that heights compare. */
export const showHistory = (history, timing) => {
  const box = byId("charts");
  if (!box.children.length) box.append(...CHARTS.map(([key, title]) => panel(key, title)));
  const seconds = history.at_s.length > 1 ? history.at_s[history.at_s.length - 1] - history.at_s[0] : 0;
  CHARTS.forEach(([key, measuredTitle, format, extreme = key], number) => {
    const title = (timing === "none" && OF_THIS_MACHINE[key]) || measuredTitle;
    const values = history[key];
    const known = [...values, ...history[extreme]].filter((value) => value !== null);
    const most = Math.max(...known, 1e-9);
    const last = values.length ? values[values.length - 1] : null;
    const part = box.children[number];
    const [heading, svg, ends] = part.children;
    heading.firstChild.textContent = title;
    heading.lastChild.textContent = format(last);
    const draw = (line, column) => svg.querySelector(line).setAttribute("d", known.length ? path(history.at_s, column, most) : "");
    draw(".mean", values);
    draw(".extreme", history[extreme]);
    svg.setAttribute("aria-label", `${title}: now ${format(last)}, at most ${known.length ? format(most) : "–"}`);
    ends.children[0].textContent = `${fixed(seconds)} s ago`;
    ends.children[1].textContent = known.length ? `top ${format(most)}` : "nothing yet";
  });
};

/** Shows the components of the mean latency. Without a write buffer, a write waits for room that cleaning makes. */
export const showBlame = (blame, bufferScheme) => {
  const names = bufferScheme === "none" ? { ...BLAME, buffer: "waiting for room (cleaning)" } : BLAME;
  const parts = Object.entries(names)
    .map(([key, name]) => [name, blame[key] ?? 0, `var(--cause-${key})`])
    .filter(([, us]) => us > 0);
  const whole = parts.reduce((sum, [, us]) => sum + us, 0);
  byId("blame-part").hidden = whole === 0;
  if (whole === 0) return;
  const bar = byId("blame");
  bar.replaceChildren(...parts.map(([name, us, colour]) => {
    const part = element("span", { title: `${name}: ${measured(us)} µs` });
    part.style.background = colour;
    part.style.flexGrow = us / whole;
    return part;
  }));
  const words = parts.map(([name, us]) => `${name} ${measured(us)} µs`);
  bar.setAttribute("aria-label", `Mean latency by cause: ${words.join(", ")}`);
  legend(byId("blame-legend"), parts.map(([name, us, colour]) => [`${name} ${measured(us)} µs`, colour]));
};
