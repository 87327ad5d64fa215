// Keeps in this browser what could not be sent, each rater's apart, and sends it from whatever page
// comes next. A form keeps its number, so that it counts once if it had arrived after all.
const drawer = `careeval/${document.body.dataset.drawer}/`;
const banner = document.getElementById("unsaved");

export function say(place, words) {
  place.replaceChildren(...[words].flat().map((word) => {
    const part = document.createElement(place.tagName === "UL" ? "li" : "span");
    part.textContent = word;
    return part;
  }));
  place.hidden = words.length === 0;
}

export function keep(page, body) {
  try {
    localStorage.setItem(drawer + page, JSON.stringify({ address: location.pathname, body }));
    return true;
  } catch {
    return false; // private windows and full ones keep nothing
  }
}

export function forget(page) {
  localStorage.removeItem(drawer + page);
}

export function post(to, body) {
  return fetch(to, {
    method: "POST",
    headers: { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded" },
    body,
    signal: AbortSignal.timeout(20000),
  });
}

async function sendKept() {
  const seen = document.querySelector("#rate [name=known]");
  for (const key of Object.keys(localStorage).filter((name) => name.startsWith(drawer))) {
    const { address, body } = JSON.parse(localStorage.getItem(key));
    const answer = await post(address, body).catch(() => null);
    if (answer === null || answer.status >= 500 || answer.status === 401) {
      say(banner, "Something that you gave before is not saved yet. It is kept in this browser; open this page again when you are connected.");
      continue;
    }
    localStorage.removeItem(key);
    const said = await answer.json().catch(() => ({ error: "please sign in with your link." }));
    if (said.error || !answer.ok) {
      say(banner, `Something that you gave before could not be saved: ${said.error ?? Object.values(said.errors).join(" ")}`);
    } else if (seen && address === location.pathname && said.seen > Number(seen.value)) {
      location.reload();
    }
  }
}

// What has the focus stays above the line at the window's lower edge, however high that is.
const line = document.getElementById("standing");

function uncover(focused) {
  const field = document.querySelector(focused);
  const shown = field?.closest("label") ?? field;
  if (shown === null) return;
  const [over, under] = [line.getBoundingClientRect(), shown.getBoundingClientRect()];
  if (under.bottom > over.top && under.top < over.bottom) shown.scrollIntoView({ block: "nearest" });
}

addEventListener("focusin", () => uncover("form :focus-visible")); // not from under a finger
new ResizeObserver(() => {
  document.documentElement.style.setProperty("--standing", `${line.offsetHeight}px`);
  uncover("form :focus");
}).observe(line);

sendKept();
