"use strict";
// The filter lives in the address: #adl=dressing&system=…&severe=1. Without this script all is shown.
(() => {
  for (const part of document.querySelectorAll(".script")) part.hidden = false;

  const form = document.getElementById("filter");
  if (form) {
    const answers = [...document.querySelectorAll(".answer")];
    const keys = ["adl", "system", "severe"];

    const apply = () => {
      const adl = form.adl.value, system = form.system.value, severe = form.severe.checked;
      let n = 0;
      for (const answer of answers) {
        const shown = (!adl || answer.closest(".group").dataset.adl === adl)
          && (!system || answer.dataset.system === system)
          && (!severe || "severe" in answer.dataset);
        answer.hidden = !shown;
        n += shown;
      }
      for (const around of [".scenario", ".group"])
        for (const part of document.querySelectorAll(around))
          part.hidden = !part.querySelector(".answer:not([hidden])");
      form.querySelector("output").value = `${n} of ${answers.length} responses`;
    };

    const fromAddress = () => {
      if (!location.hash.includes("=")) return;
      const wanted = new URLSearchParams(location.hash.slice(1));
      form.reset();
      for (const key of keys) {
        const field = form[key], value = wanted.get(key) ?? "";
        if (field.type === "checkbox") field.checked = value === "1";
        else if ([...field.options].some((option) => option.value === value)) field.value = value;
      }
      apply();
      document.getElementById("responses").scrollIntoView();
    };

    form.addEventListener("input", () => {
      const chosen = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
      history.replaceState(null, "", `#${String(chosen) || "responses"}`);
      apply();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    addEventListener("hashchange", fromAddress);
    fromAddress();
  }

  // An item and its quote light up together.
  const light = (event) => {
    for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
    const at = event.target.closest?.("mark, .ref, .lines li[id]");
    if (!at) return;
    const items = at.matches("mark") ? at.dataset.of.trim().split(" ") : [at.id || at.hash.slice(1)];
    for (const item of items) {
      document.getElementById(item)?.classList.add("lit");
      for (const mark of at.closest(".beside").querySelectorAll(`mark[data-of~="${CSS.escape(item)}"]`))
        mark.classList.add("lit");
    }
  };
  for (const kind of ["mouseover", "focusin"]) document.addEventListener(kind, light);
})();
