"use strict";
// Draws the plots, first those in sight, and keeps them as wide as their box; shows tooltips;
// zooms into those that have a window of time; sorts tables; saves plots and tables as files.
// Colours are CSS variables, so a change of colour scheme is none of this script's business.
(() => {
  const { config, width: pictureWidth, locale, plots, data } = JSON.parse(
    document.getElementById("payload").textContent,
  );
  const tip = document.getElementById("tip");

  // Data come once, as columns; texts as pairs of a text and how often it follows.
  const rowsOf = (name) => {
    const entries = Object.entries(data[name]).map(([key, column]) => [
      key,
      Array.isArray(column[0])
        ? column.flatMap(([text, times]) => new Array(times).fill(text))
        : column,
    ]);
    const length = entries.length ? entries[0][1].length : 0;
    return Array.from({ length }, (_, i) =>
      Object.fromEntries(entries.map(([key, column]) => [key, column[i]])),
    );
  };

  const layersOf = (spec) => spec.layer ?? [spec];

  // A copy of the spec with its data, and without the legends that are text in the page.
  const filled = (plot, legends) => {
    const spec = structuredClone(plot.spec);
    spec.datasets = {};
    for (const layer of [spec, ...layersOf(spec)]) {
      if (layer.data?.name) spec.datasets[layer.data.name] ??= rowsOf(layer.data.name);
      for (const channel of ["color", "strokeDash"]) {
        const encoding = layer.encoding?.[channel];
        if (encoding?.type === "nominal" && !legends) encoding.legend = null;
      }
    }
    return spec;
  };

  const showTip = (event, value) => {
    if (value === null || value === undefined || value === "") {
      tip.hidden = true;
      return;
    }
    tip.replaceChildren();
    for (const [name, text] of Object.entries(value)) {
      for (const [tag, content] of [["dt", name], ["dd", text]]) {
        tip.appendChild(document.createElement(tag)).textContent = content;
      }
    }
    tip.hidden = false;
    const room = 12;
    const { width, height } = tip.getBoundingClientRect();
    const besides = event.clientX + room + width < innerWidth;
    const left = besides ? event.clientX + room : event.clientX - room - width;
    const top = Math.min(event.clientY + room, innerHeight - height - room);
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, top)}px`;
  };

  // The bars and dots of the first screen carry their own text.
  for (const mark of document.querySelectorAll("[data-tip]")) {
    mark.addEventListener("pointermove", (event) => showTip(event, JSON.parse(mark.dataset.tip)));
    mark.addEventListener("pointerleave", () => { tip.hidden = true; });
  }
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

  // Describes the point of a plot's lines that is nearest to the pointer.
  const describeNearest = (box, spec, view) => {
    const told = spec.usermeta?.near;
    if (!told) return;
    const first = layersOf(spec)[0];
    const rows = spec.datasets[(first.data ?? spec.data).name];
    const field = (channel) => (first.encoding ?? spec.encoding)[channel].field;
    const [xField, yField] = [field("x"), field("y")];
    const mark = document.createElement("span");
    mark.className = "near";
    mark.hidden = true;
    box.append(mark);
    const clamp = (at, most) => Math.min(Math.max(at, 0), most);
    box.addEventListener("pointermove", (event) => {
      const frame = box.querySelector("svg").getBoundingClientRect();
      const [left, top] = view.origin();
      const [x, y] = [view.scale("x"), view.scale("y")];
      let nearest = null;
      for (const row of rows) {
        if (row[xField] === null || row[yField] === null) continue;
        const at = [left + x(row[xField]), top + clamp(y(row[yField]), view.height())];
        const far = Math.hypot(frame.left + at[0] - event.clientX, frame.top + at[1] - event.clientY);
        if (!nearest || far < nearest.far) nearest = { far, at, row };
      }
      mark.hidden = !nearest;
      if (!nearest) return;
      mark.style.left = `${nearest.at[0]}px`;
      mark.style.top = `${nearest.at[1]}px`;
      const text = (value, style) => (style ? view.locale().format(style)(value) : value);
      const known = told.filter(([name]) => nearest.row[name] !== null);
      const lines = known.map(([name, title, style]) => [title, text(nearest.row[name], style)]);
      showTip(event, Object.fromEntries(lines));
    });
    box.addEventListener("pointerleave", () => {
      mark.hidden = true;
      tip.hidden = true;
    });
  };

  // A plot that can be zoomed into has a begin and an end of its axis that can be set.
  const movable = (spec) => {
    const zoom = spec.usermeta?.zoom;
    if (!zoom) return;
    spec.params = ["from", "to"].map((name, i) => ({ name, value: zoom.domain[i] }));
    for (const { encoding } of layersOf(spec)) {
      const { domain, ...scale } = encoding.x.scale ?? {};
      encoding.x.scale = { ...scale, domainMin: { expr: "from" }, domainMax: { expr: "to" } };
    }
  };

  // Dragging over a plot zooms into that part of it; the buttons do it for those who do not drag.
  const zoomable = (box, spec, view) => {
    const { domain, most, whole } = spec.usermeta?.zoom ?? {};
    if (!domain) return;
    const [least, end] = domain;
    const bars = layersOf(spec).find(({ encoding }) => encoding.color).data.name;
    const joined = whole && spec.datasets[bars];
    let all;
    let [from, to] = domain;
    const show = (a, b) => {
      const width = Math.min(Math.max(b - a, (end - least) / 1e5), end - least);
      from = Math.min(Math.max(a, least), end - width);
      to = from + width;
      view.signal("from", from).signal("to", to);
      if (whole) {
        // What was too short to be seen is shown as soon as there is not too much of it.
        all ??= rowsOf(whole);
        const inside = all.filter((row) => row.end > from && row.start < to);
        view.data(bars, inside.length > most ? joined : inside);
      }
      box.dataset.zoom = `${from} ${to}`;
      return view.runAsync();
    };
    const part = (begin, share) => () => show(from + begin * (to - from), from + (begin + share) * (to - from));
    const buttons = document.createElement("span");
    buttons.className = "save zoom";
    for (const [text, title, act] of [
      ["+", "Zoom in", part(0.25, 0.5)],
      ["\u2212", "Zoom out", part(-0.5, 2)],
      ["\u2190", "Earlier", part(-0.5, 1)],
      ["\u2192", "Later", part(0.5, 1)],
      ["All", "The whole window", () => show(least, end)],
    ]) {
      const button = buttons.appendChild(document.createElement("button"));
      Object.assign(button, { type: "button", textContent: text, title });
      button.setAttribute("aria-label", title);
      button.addEventListener("click", act);
    }
    box.before(buttons);

    const chosen = document.createElement("span");
    chosen.className = "chosen";
    chosen.hidden = true;
    box.append(chosen);
    box.classList.add("draggable");
    let begin = null;
    // Where the pointer is, from the left end of the axis.
    const at = (event) => {
      const left = box.querySelector("svg").getBoundingClientRect().left + view.origin()[0];
      return Math.min(Math.max(event.clientX - left, 0), view.width());
    };
    const reach = (event) => [begin, at(event)].sort((a, b) => a - b);
    box.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      begin = at(event);
      box.setPointerCapture(event.pointerId);
    });
    box.addEventListener("pointermove", (event) => {
      if (begin === null) return;
      const [left, right] = reach(event);
      chosen.hidden = right - left < 4;
      chosen.style.left = `${left + view.origin()[0]}px`;
      chosen.style.width = `${right - left}px`;
    });
    const leave = () => {
      begin = null;
      chosen.hidden = true;
    };
    box.addEventListener("pointerup", (event) => {
      if (begin === null) return;
      const [left, right] = reach(event);
      leave();
      const scale = view.scale("x");
      if (right - left >= 4) show(scale.invert(left), scale.invert(right));
    });
    box.addEventListener("pointercancel", leave);
    box.addEventListener("dblclick", () => show(least, end));
  };

  const drawings = new Map();

  const draw = async (box) => {
    const width = box.clientWidth;
    const spec = filled(plots[box.id], false);
    movable(spec);
    const fit = { width, autosize: { type: "fit-x", contains: "padding" } };
    const { view } = await vegaEmbed(box, { ...spec, ...fit }, {
      actions: false,
      config: config.page,
      defaultStyle: false,
      formatLocale: locale,
      renderer: "svg",
      tooltip: (handler, event, item, value) => showTip(event, value),
    });
    box.style.minHeight = "";
    drawings.set(box, { view, width });
    describeNearest(box, spec, view);
    zoomable(box, spec, view);
    watcher.observe(box);
  };

  // A plot is drawn again only for a new width: drawing changes the height, which comes back here.
  const watcher = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const drawing = drawings.get(target);
      if (drawing && target.clientWidth > 0 && drawing.width !== target.clientWidth) {
        drawing.width = target.clientWidth;
        drawing.view.width(target.clientWidth).runAsync();
      }
    }
  });

  const idle = () =>
    new Promise((done) => self.requestIdleCallback ? requestIdleCallback(done, { timeout: 200 }) : setTimeout(done, 1));

  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

  // What is in sight comes first, and the rest while nothing else is to be done, so that the page
  // is whole when it is printed or searched.
  const drawAll = async () => {
    const waiting = new Set(Object.keys(plots).map((id) => document.getElementById(id)));
    const near = new Set();
    let look;
    const looked = new Promise((done) => { look = done; });
    const sight = new IntersectionObserver(
      (entries) => {
        look();
        for (const { target, isIntersecting } of entries) {
          near[isIntersecting ? "add" : "delete"](target);
        }
      },
      { rootMargin: "400px" },
    );
    for (const box of waiting) {
      const { height } = plots[box.id].spec;
      if (typeof height === "number") box.style.minHeight = `${height + 45}px`;
    }
    // A browser goes to the part that the address names in its own time: what is in it comes first.
    const named = [...waiting].filter(({ id }) => id.startsWith(`${location.hash.slice(1)}-`));
    for (const box of waiting) sight.observe(box);
    if (waiting.size) await looked;
    while (waiting.size) {
      const inSight = () => [...named, ...near].find((box) => waiting.has(box));
      let seen = inSight();
      if (!seen && !document.documentElement.dataset.ready) {
        // What was drawn may have moved others into sight.
        await frame();
        seen = inSight();
      }
      if (!seen) {
        document.documentElement.dataset.ready = "true";
        await idle();
      }
      const box = seen ?? inSight() ?? [...waiting][0];
      waiting.delete(box);
      sight.unobserve(box);
      try {
        await draw(box);
      } catch (error) {
        box.textContent = `This plot could not be drawn: ${error.message}`;
        console.error(error);
      }
    }
    document.documentElement.dataset.ready = "true";
    document.documentElement.dataset.drawn = "true";
  };

  const compare = (a, b) => {
    const [x, y] = [a.dataset.order, b.dataset.order];
    if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
    const difference = Number(x) - Number(y);
    return Number.isNaN(difference) ? x.localeCompare(y, "en", { numeric: true }) : difference;
  };

  const sort = (button) => {
    const heading = button.closest("th");
    const body = heading.closest("table").tBodies[0];
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of heading.parentElement.children) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const column = heading.cellIndex;
    const absent = (row) => row.cells[column].dataset.order === undefined;
    const rows = [...body.rows].sort((a, b) => {
      const order = compare(a.cells[column], b.cells[column]);
      // What does not apply stays last, whichever way the rest goes.
      return down && absent(a) === absent(b) ? -order : order;
    });
    body.append(...rows);
  };

  const saveAs = (name, url) => {
    const link = document.createElement("a");
    link.download = name;
    link.href = url;
    link.click();
  };

  const saveText = (name, type, text) => {
    const url = URL.createObjectURL(new Blob([text], { type }));
    saveAs(name, url);
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  };

  // The plot as the picture files have it: light, with its title and legends.
  const savePlot = async (id, kind) => {
    const plot = plots[id];
    const spec = { ...filled(plot, plot.legend), width: pictureWidth, title: plot.title };
    const options = { actions: false, config: config[plot.picture], formatLocale: locale, renderer: "svg" };
    const { view } = await vegaEmbed(document.createElement("div"), spec, options);
    if (kind === "SVG") saveText(`${id}.svg`, "image/svg+xml", await view.toSVG());
    else saveAs(`${id}.png`, await view.toImageURL("png", 2));
    view.finalize();
  };

  const numbersOf = (row) => [...row.cells].filter((cell) => !cell.classList.contains("graphic"));

  const cellsOf = (row) => numbersOf(row).map((cell) => cell.textContent.trim());

  const csv = (table) => {
    const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const exact = (cell) => {
      const { order } = cell.dataset;
      return order && !Number.isNaN(Number(order)) ? order : cell.textContent.trim();
    };
    const rows = [...table.tBodies[0].rows].map((row) => numbersOf(row).map(exact));
    return [cellsOf(table.tHead.rows[0]), ...rows]
      .map((row) => `${row.map(quoted).join(",")}\r\n`)
      .join("");
  };

  const LATEX = {
    "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}",
    "\u202f": "\\,", "\u00a0": "~", "\u2013": "--", "\u2212": "$-$", "\u2264": "$\\leq$",
    "\u00b5": "\\textmu{}", "\u00d7": "$\\times$", "\u00b7": "$\\cdot$",
  };

  const latex = (table) => {
    const escape = (text) =>
      text.replace(/[\\~^\u202f\u00a0\u2013\u2212\u2264\u00b5\u00d7\u00b7&%$#_{}]/g,
        (one) => LATEX[one] ?? `\\${one}`);
    const line = (row) => `${cellsOf(row).map(escape).join(" & ")} \\\\`;
    const heads = numbersOf(table.tHead.rows[0]);
    const sides = heads.map((cell) => (cell.classList.contains("text") ? "l" : "r")).join("");
    return [
      "% needs \\usepackage{booktabs,textcomp}",
      `\\begin{tabular}{${sides}}`,
      "\\toprule",
      line(table.tHead.rows[0]),
      "\\midrule",
      ...[...table.tBodies[0].rows].map(line),
      "\\bottomrule",
      "\\end{tabular}",
      "",
    ].join("\n");
  };

  const save = (button) => {
    const kind = button.dataset.save;
    const plot = button.closest(".panel")?.querySelector(".plot");
    if (plot) {
      savePlot(plot.id, kind);
      return;
    }
    const table = button.closest("table");
    const title = table.caption.querySelector("span").textContent.trim();
    const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/-+$/, "");
    if (kind === "CSV") saveText(`${name}.csv`, "text/csv", csv(table));
    else saveText(`${name}.tex`, "application/x-tex", latex(table));
  };

  for (const button of document.querySelectorAll(".sortable th button")) {
    button.addEventListener("click", () => sort(button));
  }
  for (const button of document.querySelectorAll("[data-save]")) {
    button.addEventListener("click", () => save(button));
  }
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") tip.hidden = true;
  });
  // The contents are next to the page where it is wide, and folded above it where it is not.
  const wide = matchMedia("(min-width: 1100px)");
  const fold = () => { document.getElementById("contents").open = wide.matches; };
  wide.addEventListener("change", fold);
  fold();
  drawAll();
})();
