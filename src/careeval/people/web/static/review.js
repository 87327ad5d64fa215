// Saves every change at once. Without this script the buttons of the form do the same.
import { forget, keep, post, say } from "./kept.js";

const form = document.getElementById("rate");
const status = document.getElementById("saved");
const banner = document.getElementById("unsaved");
const notices = document.getElementById("notices");
const page = form.elements.page.value;
const told = new Set(); // of other windows' changes

let dirty = false; // something is typed that no form has been made of
let waiting = null; // the form that is to be sent again, as kept in this browser
let sending = false;
let leaving = 0; // the form has been sent by a button: nothing may overtake it on its way
let kept = true; // whether this browser keeps it
let wait = 2000;
let timer = 0;

function clock(date) {
  return date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

function filled(submitter) {
  form.elements.number.value = Number(form.elements.number.value) + 1;
  return new URLSearchParams(new FormData(form, submitter)).toString();
}

function later(why) {
  if (leaving) return; // what the button sent is kept, and says all that this one does
  status.textContent = "";
  kept = keep(page, waiting);
  say(banner, `Not saved yet: ${why} ${kept ? "It is kept in this browser and will be sent again." : "Please leave this page open: it will be sent again."}`);
  clearTimeout(timer);
  timer = setTimeout(save, wait);
  wait = Math.min(2 * wait, 60000);
}

// "Saved" stands only while nothing waits.
function changed() {
  dirty = true;
  status.textContent = "";
}

// One form at a time, so that they arrive in their order.
async function save() {
  if (sending || leaving || (!dirty && waiting === null)) return;
  sending = true;
  if (waiting === null) {
    dirty = false;
    waiting = filled();
  }
  try {
    const answer = await post(location.pathname, waiting);
    const said = await answer.json();
    if (answer.ok || answer.status === 422) {
      forget(page);
      waiting = null;
      wait = 2000;
      const news = said.notices.filter((notice) => !told.has(notice));
      if (news.length) say(notices, news);
      news.forEach((notice) => told.add(notice));
      for (const place of form.querySelectorAll(".error")) {
        say(place, said.errors[place.id.replace("-error", "")] ?? "");
      }
      const wrong = Object.values(said.errors);
      say(banner, wrong.join(" "));
      status.textContent = wrong.length || dirty ? "" : `Saved ${clock(new Date())}`;
    } else if (answer.status === 401 || answer.status >= 500) {
      later(said.error);
    } else {
      forget(page);
      waiting = null; // it would be refused again
      status.textContent = "";
      say(banner, `Not saved: ${said.error}`);
    }
  } catch {
    later("there is no connection.");
  }
  sending = false;
  if (dirty && waiting === null) save();
}

// The page did not change, or was come back to: saving goes on.
function stay() {
  clearTimeout(leaving);
  leaving = 0;
  save();
}

form.addEventListener("change", (event) => {
  // a field that is left is saved already, as it was typed in: "Saved" stays, so that no button
  // moves from under a press; what a script filled in is not
  if (event.isTrusted && event.target.tagName === "TEXTAREA" && !dirty) return;
  if (event.target.type === "radio") event.target.closest("fieldset").querySelector("[type=hidden]")?.remove();
  changed();
  save();
});
for (const clear of form.querySelectorAll(".clear")) {
  clear.addEventListener("click", (event) => {
    event.preventDefault(); // which would save too, and show the page anew
    const group = clear.closest("fieldset");
    const choice = group.querySelector(":checked");
    if (choice === null) return;
    choice.checked = false;
    choice.focus();
    const none = document.createElement("input"); // a form says nothing of what is not chosen
    Object.assign(none, { type: "hidden", name: choice.name, value: "" });
    group.append(none);
    changed();
    save();
  });
}
form.addEventListener("input", (event) => {
  if (event.target.tagName !== "TEXTAREA") return;
  changed();
  clearTimeout(timer);
  timer = setTimeout(save, 800);
});
form.addEventListener("submit", (event) => {
  clearTimeout(timer);
  if (waiting !== null && !sending) waiting = null; // this form says all that it said
  keep(page, filled(event.submitter)); // the next page sends it, should the connection fail now
  leaving = setTimeout(stay, 30000);
});
addEventListener("pageshow", stay);
addEventListener("online", save);
addEventListener("beforeunload", (event) => {
  if (waiting !== null && !kept) event.preventDefault();
});

for (const time of status.querySelectorAll("time")) time.textContent = clock(new Date(time.dateTime));
