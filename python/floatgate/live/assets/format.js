// Numbers for people, and elements from text: nothing that a server says is ever markup.

const ABSENT = "–";

export const fixed = (value, digits = 0) =>
  value === null || value === undefined
    ? ABSENT
    : value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replaceAll(",", "\u202f");

/** At least three digits, no false precision. */
export const measured = (value) => {
  if (value === null || value === undefined) return ABSENT;
  if (value === 0) return "0";
  if (Math.abs(value) < 0.0005) return "< 0.001";
  return fixed(value, Math.min(3, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))));
};

/** The unit of all times on the page, and its length in µs: ms once the longest is 10 ms. */
export const timeUnit = (longest) => (longest >= 10_000 ? { name: "ms", us: 1000 } : { name: "µs", us: 1 });

export const ratio = (value) => fixed(value, 3);

export const percent = (share) =>
  share === null || share === undefined ? ABSENT : `${fixed(share * 100, 1)}\u00a0%`;

export const size = (bytes) => {
  if (bytes === null || bytes === undefined) return ABSENT;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  for (; bytes >= 1024 && at < units.length - 1; at += 1) bytes /= 1024;
  return `${Number(bytes.toPrecision(4))}\u202f${units[at]}`;
};

export const duration = (seconds) => {
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min ${whole % 60} s` : `${whole} s`;
};

export const byId = (id) => document.getElementById(id);

/** An element with text or children. */
export const element = (name, attributes, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) made.setAttribute(key, value);
  made.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return made;
};

/** Pairs of names and texts as entries of a dl, made once and changed from then on. */
export const facts = (list, pairs) => {
  const names = pairs.map(([name]) => name).join("|");
  if (list.dataset.names !== names) {
    list.dataset.names = names;
    list.replaceChildren(
      ...pairs.map(([name]) => element("div", {}, element("dt", {}, name), element("dd", {}))),
    );
  }
  pairs.forEach(([, text], at) => { list.children[at].lastChild.textContent = text; });
};

/** Rows of texts as the body of a table; the first cell of a row is its heading. */
export const rows = (body, table) => {
  body.replaceChildren(
    ...table.map(([name, ...cells]) =>
      element("tr", {},
        element("th", { scope: "row" }, name),
        ...cells.map((cell) => element("td", {}, cell)))),
  );
};

export const swatch = (colour) => {
  const made = element("span", { class: "swatch", "aria-hidden": "true" });
  made.style.background = colour;
  return made;
};

/** Names and colours as a legend, drawn again only when they are others. */
export const legend = (list, entries) => {
  const key = entries.map((entry) => entry.join()).join("|");
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  list.replaceChildren(
    ...entries.map(([name, colour]) => element("li", {}, swatch(colour), name)),
  );
};
