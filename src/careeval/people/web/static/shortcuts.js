// A key chooses an answer; Control and Enter together do what the first button does.
const form = document.querySelector("form[data-shortcuts]");
form?.addEventListener("keydown", (event) => {
  if (event.target.type === "radio" && !event.ctrlKey && !event.altKey && !event.metaKey) {
    const group = event.target.closest("fieldset");
    const choice = group.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
    if (choice) { choice.focus(); choice.click(); }
  }
});
if (form) document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.ctrlKey || event.target.closest("a")) return; // which opens
  event.preventDefault();
  form.querySelector("[name=go]").click();
});
