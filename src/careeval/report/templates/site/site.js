"use strict";
// Filters. Without this script nothing is hidden.
(() => {
  for (const part of document.querySelectorAll(".script")) part.hidden = false;

  // The filter is kept in the address: #q=…&vendor=…
  const form = document.getElementById("filter");
  if (form) {
    const list = document.querySelector(".scenes");
    const items = list ? [...list.children] : [...document.querySelectorAll("table.board tbody tr")];
    const keys = [...form.elements].map((field) => field.name).filter(Boolean);
    const what = form.querySelector("output").textContent.trim().split(" ").pop();
    const texts = new Map(items.map((item) => [item, item.textContent.toLowerCase()]));

    const fits = (item, chosen) => {
      if (!(chosen.get("q") ?? "").toLowerCase().split(/\s+/).every((word) => texts.get(item).includes(word)))
        return false;
      return keys.filter((name) => name !== "q" && name !== "order" && chosen.get(name)).every(
        (name) => (item.dataset[name] ?? "").split(name === "situation" ? " " : "\n").includes(chosen.get(name)));
    };

    const apply = () => {
      const chosen = new FormData(form);
      let n = 0;
      for (const item of items) {
        item.hidden = !fits(item, chosen);
        n += !item.hidden;
      }
      form.querySelector("output").value = `${n} of ${items.length} ${what}`;
      if (!list) return;
      const by = chosen.get("order");
      const key = { mean: (i) => Number(i.dataset.mean ?? Infinity), severe: (i) => -Number(i.dataset.severe) }[by];
      const sorted = key ? [...items].sort((a, b) => key(a) - key(b)) : items;
      list.append(...sorted);
    };

    const fromAddress = () => {
      if (location.hash && !location.hash.includes("=")) return;
      const wanted = new URLSearchParams(location.hash.slice(1));
      form.reset();
      for (const name of keys) {
        const field = form.elements[name], value = wanted.get(name) ?? "";
        if (field.type === "checkbox") field.checked = value === "1";
        else if (field.tagName !== "SELECT" || [...field.options].some((option) => option.value === value))
          field.value = value;
      }
      apply();
    };

    form.addEventListener("input", () => {
      const chosen = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
      history.replaceState(null, "", String(chosen) ? `#${chosen}` : location.pathname + location.search);
      apply();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    addEventListener("hashchange", fromAddress);
    fromAddress();
  }
})();
