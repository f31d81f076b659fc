"use strict";
// Draws the plots, keeps them as wide as their box, shows tooltips, sorts tables.
// Colours are CSS variables, so a change of colour scheme is none of this script's business.
(() => {
  const { config, plots } = JSON.parse(document.getElementById("payload").textContent);
  const tip = document.getElementById("tip");

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

  const drawings = new Map();

  const draw = async (box, spec) => {
    const width = box.clientWidth;
    const fit = { width, autosize: { type: "fit-x", contains: "padding" } };
    const { view } = await vegaEmbed(box, { ...spec, ...fit }, {
      actions: false,
      config,
      defaultStyle: false,
      renderer: "svg",
      tooltip: (handler, event, item, value) => showTip(event, value),
    });
    drawings.set(box, { view, width });
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

  const drawAll = async () => {
    for (const [id, spec] of Object.entries(plots)) {
      const box = document.getElementById(id);
      try {
        await draw(box, spec);
        watcher.observe(box);
      } catch (error) {
        box.textContent = `This plot could not be drawn: ${error.message}`;
        console.error(error);
      }
    }
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

  for (const button of document.querySelectorAll(".sortable th button")) {
    button.addEventListener("click", () => sort(button));
  }
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") tip.hidden = true;
  });
  drawAll();
})();
