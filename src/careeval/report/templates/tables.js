"use strict";
// Sortable tables: every column head becomes a button.
// A table fires "sorted" after sorting, and sorts on the event "sort" with {column, direction}.
(() => {
  const name = (cell) => cell?.textContent.trim() ?? "";
  const compare = (a, b) => {
    const [x, y] = [a?.dataset.key, b?.dataset.key];
    if (x !== undefined && y !== undefined) return x - y;
    return name(a).localeCompare(name(b), "en", { numeric: true });
  };
  const unknown = (cell) => cell?.dataset.key === "-Infinity" || name(cell) === "";

  const status = document.createElement("p");
  status.className = "sr";
  status.setAttribute("role", "status");
  document.querySelector("main")?.append(status);

  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    if (body.rows.length < 2) continue;
    const sort = (column, now) => {
      const head = heads[column];
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", now);
      table.dataset.sorted = `${column}.${now[0]}`;
      const sign = now === "ascending" ? 1 : -1;
      const rows = [...body.rows].map((row, place) => [row, row.cells[column], place]);
      // unknown values stay last in either order
      rows.sort(([, a, i], [, b, j]) => unknown(a) - unknown(b) || sign * compare(a, b) || i - j);
      body.append(...rows.map(([row]) => row));
      status.textContent = `Sorted by ${name(head.querySelector("button")).replace(/\s+/g, " ")}, ${now}.`;
    };
    table.addEventListener("sort", ({ detail: { column, direction } }) => {
      if (heads[column]?.tagName === "TH") sort(column, direction);
    });
    for (const [column, head] of heads.entries()) {
      if (head.tagName !== "TH") continue;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...[...head.childNodes].filter((part) => part.nodeName !== "svg"));
      head.prepend(button);
      button.addEventListener("click", () => {
        const numbers = head.classList.contains("n");
        const before = head.getAttribute("aria-sort");
        const now = before ? (before === "ascending" ? "descending" : "ascending")
          : numbers ? "descending" : "ascending";
        sort(column, now);
        table.dispatchEvent(new CustomEvent("sorted", { bubbles: true }));
      });
    }
  }

  // only tables that scroll can be focused, and they say that they scroll
  const regions = document.getElementsByClassName("scroll");
  const stops = () => {
    const widths = [...regions].map((region) => [region, region.scrollWidth > region.clientWidth]);
    for (const [region, scrolls] of widths) {
      region.classList.toggle("clipped", scrolls);
      region.dataset.label ??= region.getAttribute("aria-label") ?? "";
      for (const [attribute, value] of [["role", "region"], ["tabindex", "0"], ["aria-label", region.dataset.label]])
        if (scrolls) region.setAttribute(attribute, value); else region.removeAttribute(attribute);
    }
  };
  stops();
  addEventListener("resize", stops);
  document.addEventListener("toggle", stops, true);

  // open folded tables for print
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details.more:not([open])")) {
      part.open = true;
      part.dataset.printed = "";
    }
  });
  addEventListener("afterprint", () => {
    for (const part of document.querySelectorAll("details[data-printed]")) {
      part.open = false;
      delete part.dataset.printed;
    }
  });
})();
