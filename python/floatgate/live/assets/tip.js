// The box of names and values next to the pointer.

import { byId, element } from "./format.js";

const ROOM = 12;

const tip = byId("tip");

/** Shows pairs of names and texts next to a point of the window. */
export const showTip = (x, y, pairs) => {
  tip.replaceChildren(...pairs.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = x + ROOM + width < innerWidth ? x + ROOM : x - ROOM - width;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, Math.min(y + ROOM, innerHeight - height - ROOM))}px`;
};

export const hideTip = () => { tip.hidden = true; };
