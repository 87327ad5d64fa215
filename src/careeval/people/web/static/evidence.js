// Takes words selected in the response into the field for them. Without this script they are typed.
const response = document.getElementById("response");
const take = document.getElementById("take");
const field = document.getElementById(take.dataset.into);
const taken = document.getElementById("taken");
let selected = "";

document.addEventListener("selectionchange", () => {
  const selection = getSelection();
  if (selection.isCollapsed || !response.contains(selection.anchorNode) || !response.contains(selection.focusNode)) return;
  selected = selection.toString().trim().replace(/\s+/g, " "); // a passage is one line
});

take.addEventListener("click", () => {
  if (selected === "") {
    taken.textContent = "Select words in the response first.";
    return;
  }
  const before = field.value.trimEnd();
  field.value = before === "" ? selected : `${before}\n${selected}`;
  taken.textContent = "Taken.";
  selected = "";
  getSelection().removeAllRanges();
  field.dispatchEvent(new Event("change", { bubbles: true })); // which saves it
});
take.hidden = false;
