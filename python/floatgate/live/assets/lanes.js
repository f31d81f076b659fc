// What dies and channels did in a window of time: a row for each, a bar for each operation.

import { byId, fixed, legend } from "./format.js";

const ROW = 14;
const NAMES = 84;

const TITLES = { host: "host", map: "map", gc: "cleaning", merge: "merges", remap: "remaps" };
// As high as a bar is, an operation is told apart from others of its cause.
const HEIGHTS = { read: 0.45, program: 0.7, erase: 0.95, transfer: 0.45, wait: 0.15 };

const canvas = byId("lanes");

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Draws the window; `dies` is how many of the lanes are dies, the rest are channels. */
export const showLanes = (lanes, dies, channels) => {
  const { spans, from_ns: begin, to_ns: end } = lanes;
  const told = byId("lanes-told");
  told.hidden = begin !== null;
  told.textContent = "No request was under way in the last window.";
  canvas.hidden = begin === null;
  if (begin === null) return;
  const [count, width] = [dies + channels, canvas.parentElement.clientWidth];
  const scale = devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(count * ROW * scale)];
  canvas.style.height = `${count * ROW}px`;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  context.textBaseline = "middle";
  for (let lane = 0; lane < count; lane += 1) {
    context.fillStyle = colour("grid");
    context.fillRect(NAMES, lane * ROW + ROW - 1, width - NAMES, 1);
    context.fillStyle = colour("muted");
    context.fillText(lane < dies ? `die ${lane}` : `channel ${lane - dies}`, 0, lane * ROW + ROW / 2);
  }
  const known = Object.fromEntries(Object.keys(TITLES).map((name) => [name, colour(`cause-${name}`)]));
  const perNs = (width - NAMES) / Math.max(end - begin, 1);
  spans.lane.forEach((lane, at) => {
    const from = Math.max(spans.from_ns[at], begin);
    const to = Math.min(spans.to_ns[at], end);
    const height = (HEIGHTS[spans.doing[at]] ?? 0.5) * ROW;
    context.fillStyle = known[spans.cause[at]] ?? colour("cause-other");
    const length = Math.max((to - from) * perNs, 0.5);
    context.fillRect(NAMES + (from - begin) * perNs, lane * ROW + ROW - 1 - height, length, height);
  });
  canvas.dataset.spans = spans.lane.length;
  canvas.setAttribute("aria-label", `${fixed(spans.lane.length)} operations of ${dies} dies and ${channels} channels`);
  const seen = Object.keys(TITLES).filter((cause) => spans.cause.includes(cause));
  legend(byId("lanes-legend"), seen.map((cause) => [TITLES[cause], `var(--cause-${cause})`]));
};
