"use strict";
// The error list, every response beside its rubric, and systems side by side, from the data that
// this file holds compressed. Words of a system or a grader only ever become text nodes. The
// reader’s choice is kept in the address: #at=responses&adl=eating&points=-2 …
(() => {
  const $ = (id) => document.getElementById(id);
  const block = $("data");
  if (!block) return;
  const counts = document.querySelectorAll("#error-list-count, #reader-count");
  const say = (text) => { for (const count of counts) count.textContent = text; };
  for (const count of counts) count.hidden = false;
  let moved = false;
  for (const type of ["wheel", "touchmove", "pointerdown", "keydown"])
    addEventListener(type, () => { moved = true; }, { once: true, passive: true });
  const PAGE = 20, LONG = 20000;
  const RUBRICS = { actions: "Actions", ladder: "Ladder", plan: "Plan" };
  const STATES = ["answered", "empty", "refused", "missing", "malformed", "not_executable"];
  const GRADED = ["answered", "not_executable"];
  const FILTERS = ["adl", "condition", "situation", "actor", "scenario", "system", "grader", "epoch", "points", "mark", "domain", "q"];
  const signed = (points) => points > 0 ? `+${points}` : points < 0 ? `−${-points}` : "0";
  const number = (n) => n.toLocaleString("en");
  const plural = (n, one, many) => `${number(n)} ${n === 1 ? one : many}`;

  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {}))
      if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
    element.append(...children.flat().filter((child) => child != null && child !== ""));
    return element;
  };

  // A plan that was carried out: careeval.report.texts.PlanTable.
  const planOf = ([rows, marks, breaks], answers) => ({
    rows: rows.map(([address, depth, kind, name, details, told]) => ({ address, depth, kind, name, details, told })),
    marks: marks.map(([row, answer, item]) => ({ row, answer, item })),
    breaks: breaks.map(([row, at, problem]) => ({ row, at, problem })),
    answers: answers.map(([head, when]) => ({ head, when })),
  });

  // Unpacks the data that careeval.report.payload packed.
  const unpack = async () => {
    const packed = atob(block.textContent.trim());
    const bytes = new Uint8Array(packed.length);
    for (let at = 0; at < packed.length; at++) bytes[at] = packed.charCodeAt(at);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const data = await new Response(stream).json();
    block.remove();
    const items = data.items.map(([points, text, domains]) => ({ points, text, domains }));
    // letters for the rungs of a ladder, numbers for acts
    const labelled = (places, rubric) => places.map((place, at) =>
      ({ ...items[place], label: rubric === "ladder" ? String.fromCharCode(65 + at) : String(at + 1) }));
    const rubrics = new Map();
    const itemsOf = (place, rubric) => {
      const key = `${place} ${rubric}`;
      if (!rubrics.has(key)) rubrics.set(key, labelled(data.rubrics[place], rubric));
      return rubrics.get(key);
    };
    const scenarios = data.scenarios.map(([id, adl, condition, assistance, situation, actor, text, untold, picture, alt]) => ({
      id, adl, condition, assistance, situation, actor, text: data.texts[text], untold: data.texts[untold],
      picture: data.texts[picture], alt: data.texts[alt],
    }));
    const responses = data.responses.map(([scenario, system, epoch, state, cut, text, note]) => ({
      scenario: scenarios[scenario], system: data.systems[system], epoch, state: STATES[state], cut,
      text: data.texts[text], note: data.texts[note], gradings: [],
    }));
    for (const [response, grader, place, marks, quotes, reasons, plan] of data.gradings) {
      const [name, short, rubric] = data.graders[grader];
      const found = new Map();
      for (let at = 0; at < quotes.length; at += 3)
        found.set(quotes[at], quotes[at + 1] < 0 ? data.texts[quotes[at + 2]] : [quotes[at + 1], quotes[at + 2]]);
      responses[response].gradings.push({
        grader: name, short, rubric, items: itemsOf(place, rubric), marks, quotes: found,
        reason: (n) => data.texts[reasons[n]], plan: plan && planOf(plan, data.answers),
      });
    }
    return { ...data, scenarios, responses };
  };

  // Points of a grading {items, marks, rubric}, as a range where an item is unresolved.
  const range = (grading) => {
    let low = 0, high = 0, most = 0;
    grading.items.forEach(({ points }, at) => {
      most += Math.max(points, 0);
      const mark = grading.marks[at];
      if (mark === "1") { low += points; high += points; }
      if (mark === "?") { low += Math.min(points, 0); high += Math.max(points, 0); }
    });
    // a plan never has fewer points than minus the most
    const least = grading.rubric === "plan" ? -most : -Infinity;
    return { low: Math.max(low, least), high: Math.max(high, least), most };
  };
  const earned = (grading) => {
    const { low, high, most } = range(grading);
    const wording = (points) => String(points).replace("-", "−");
    return `${low === high ? wording(low) : `${wording(low)} to ${wording(high)}`} of ${most}`;
  };
  const present = (grading, points) => grading.items.some((item, at) => item.points === points && grading.marks[at] === "1");
  const KINDS = { "1": (points) => points === -2 ? ["harm", "✗ Present, severe error"]
    : points === -1 ? ["mild", "✗ Present, mild error"] : ["good", "✓ Present"],
  "0": () => ["absent", "– Absent"], "?": () => ["open", "? Unresolved"] };
  const kind = (grading, at) => KINDS[grading.marks[at]](grading.items[at].points);
  const about = (scenario, robot = true) => [scenario.condition, scenario.assistance, scenario.situation.join(", "),
    robot && scenario.actor === "robot" ? "a robot helps" : ""].filter(Boolean).join(" · ");

  // A response with its quotes marked; a button after each leads to its item.
  const marked = (response, grading, leads = true, whole = false) => {
    const full = response.text, text = whole ? full : full.slice(0, LONG);
    const spans = [...(grading?.quotes ?? [])].filter(([, place]) => Array.isArray(place))
      .map(([at, [start, stop]]) => ({ at, start: Math.min(start, text.length), stop: Math.min(stop, text.length) }));
    const cuts = [...new Set([0, text.length, ...spans.flatMap(({ start, stop }) => [start, stop])])].sort((a, b) => a - b);
    const words = make("p", { class: "words", dir: "auto" });
    for (let n = 0; n + 1 < cuts.length; n++) {
      const [start, stop] = [cuts[n], cuts[n + 1]], piece = text.slice(start, stop);
      const of = spans.filter((span) => span.start <= start && stop <= span.stop);
      if (!of.length) { words.append(piece); continue; }
      words.append(make("mark", { "data-of": of.map(({ at }) => at).join(" ") }, piece));
      for (const { at } of of.filter((span) => span.stop === stop)) {
        const { label } = grading.items[at];
        words.append(leads ? make("button", { type: "button", class: "ref", "data-of": at, "aria-label": `quoted for item ${label}` }, label)
          : make("span", { class: "ref" }, label));
      }
    }
    if (text.length === full.length) return words;
    const rest = make("button", { type: "button", class: "button" }, `Show all ${number(full.length)} characters`);
    const around = make("div", {}, words, rest);
    rest.addEventListener("click", () => {
      const longer = marked(response, grading, leads, true);
      longer.tabIndex = -1;
      around.replaceWith(longer);
      longer.focus();
    });
    return around;
  };

  // Present items first, errors before others; then unresolved, then absent ones.
  const readingOrder = (grading) => grading.items.map((_, at) => at)
    .map((at) => ({ at, mark: "1?0".indexOf(grading.marks[at]), points: grading.items[at].points }))
    .sort((a, b) => a.mark - b.mark || (a.mark ? 0 : (a.points >= 0) - (b.points >= 0) || Math.abs(b.points) - Math.abs(a.points)) || a.at - b.at)
    .map(({ at }) => at);
  const line = (grading, at) => {
    const { label, points, text } = grading.items[at], [look, wording] = kind(grading, at);
    const words = !grading.plan && typeof grading.quotes.get(at) === "string" ? `“${grading.quotes.get(at)}” ` : "";
    return make("li", { class: look, "data-of": at, tabindex: "-1" },
      make("b", {}, `${label} ${signed(points)}`), look === "absent" ? `${wording}. ` : make("strong", {}, `${wording}. `), text,
      words || grading.reason(at) ? make("small", { dir: "auto" }, words + grading.reason(at)) : null);
  };
  const silent = ({ state, note }) => make("p", { class: "none", dir: "auto" }, {
    missing: `There is no response, so there is no score. ${note}`, refused: `The provider refused to answer: 0 points. ${note}`,
    empty: `The response has no words: 0 points. ${note}`, malformed: `The words are no plan: 0 points (${note}).`,
    not_executable: `The plan breaks off (${note}); goals of that course count nothing, and dangers count as the plan was meant.` }[state]);

  const stepWords = ({ address, name, details }) => `${address ? `${address}: ` : ""}${name}${details ? ` ${details}` : ""}`;
  // A plan as a table of steps, with a column for each answer of the person.
  const planTable = (response, grading, leads = true) => {
    const { rows, marks, breaks, answers } = grading.plan;
    const title = `${placeOf(response).join(", ")}${response.gradings.length > 1 ? `, ${grading.short}` : ""}${leads ? "" : ", beside others"}`;
    const sign = (at, points) => {
      const look = points > 0 ? "good" : points === -2 ? "harm" : "mild";
      const [symbol, meaning] = { good: ["✓", "goal reached"], harm: ["✗", "severe"], mild: ["~", "mild"] }[look];
      const { label, text } = grading.items[at];
      return make(leads ? "button" : "span", { type: leads && "button", class: `sign ref ${look}`, "data-of": at,
        role: !leads && "img", "aria-label": `${meaning}, item ${label}: ${text}` },
      `${symbol} ${label}`, make("span", { class: "tip", "aria-hidden": "true" }, `${label} ${signed(points)} ${text}`));
    };
    const cell = (row, answer) => make("td", {}, breaks.some((each) => each.row === row && each.at.includes(answer))
      ? make("span", { class: "off", role: "img", "aria-label": "breaks off" }, "⊘") : null,
    marks.filter((mark) => mark.row === row && mark.answer === answer)
      .map(({ item }) => sign(item, grading.items[item].points)));
    const drawn = rows.map(({ address, depth, kind, name, details, told }, row) => {
      if (kind === "head") return make("tr", { class: "head" }, make("th", { scope: "col", colspan: 2 + answers.length }, name));
      const lacks = breaks.filter((each) => each.row === row)
        .map(({ at, problem }) => make("small", { class: "lacks", dir: "auto" }, `⊘ breaks off (${at.map((n) => answers[n].head).join(", ")}): ${problem}`));
      return make("tr", { class: kind }, make("td", { class: "n", title: address || false }, address.slice(address.lastIndexOf("["))),
        make("th", { scope: "row", class: depth ? `d${depth}` : false, dir: "auto" }, kind === "act" ? make("b", {}, name) : name,
          details ? ` ${details}` : "", told ? make("small", { class: "told", dir: "auto" }, told) : null, lacks), answers.map((_, answer) => cell(row, answer)));
    });
    return make("div", { class: "plan" }, make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": `Table: the plan of ${title}` },
      make("table", { class: "steps" }, make("caption", { class: "sr" }, `The plan of ${title}`),
        make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "n" }, "Step"), make("th", { scope: "col" }, "Act"),
          answers.map(({ head, when }) => make("th", { scope: "col", title: when }, head)))),
        make("tbody", {}, drawn))),
    make("p", { class: "note" }, "✗ severe error, ~ mild error, ✓ goal reached, ⊘ the plan breaks off."));
  };
  const planned = (response, grading) => {
    const order = readingOrder(grading);
    const quiet = order.filter((at) => grading.marks[at] === "0" && grading.items[at].points < 0);
    const told = order.filter((at) => !quiet.includes(at));
    const lines = (items) => make("ul", { class: "lines" }, items.map((at) => line(grading, at)));
    return make("div", { class: "beside carried" },
      make("h4", {}, "Plan", make("span", {}, `${response.gradings.length > 1 ? `judged: ${grading.short}, ` : ""}${earned(grading)} points`)),
      planTable(response, grading),
      lines(told),
      quiet.length ? make("details", { class: "unmet" }, make("summary", {}, plural(quiet.length, "danger not met", "dangers not met")),
        lines(quiet)) : null,
      make("details", { class: "raw" }, make("summary", {}, "The response as written"), marked(response, grading)));
  };

  const filled = (response, of) => {
    const head = response.state === "answered" ? [] : [silent(response)];
    if (!GRADED.includes(response.state)) return response.text ? [...head, marked(response)] : head;
    if (!of.length) return [...head, marked(response), make("p", { class: "none" }, "Not graded.")];
    return [...head, ...of.map((grading) => grading.plan ? planned(response, grading) : make("div", { class: "beside" },
      make("div", {}, response.gradings.length > 1 ? make("p", { class: "grader" }, "Judged: ", make("b", {}, grading.short)) : null,
        marked(response, grading)),
      make("div", {},
        make("h4", {}, RUBRICS[grading.rubric] ?? grading.rubric, make("span", {}, `${earned(grading)} points`)),
        make("ul", { class: "lines" }, readingOrder(grading).map((at) => line(grading, at))))))];
  };
  const fills = new WeakMap();
  const card = (response, of, open) => {
    const severe = of.filter((grading) => present(grading, -2)).map(({ short }) => short);
    const cut = response.cut ? ", cut off at the token limit" : "";
    const element = make("details", { class: "answer" }, make("summary", {}, make("b", {}, response.system),
      make("span", {}, `epoch ${response.epoch}${cut}${response.state === "answered" ? "" : `, ${response.state.replace("_", " ")}`}`),
      of.map((grading) => make("em", {}, `${grading.short} ${earned(grading)}`)), severe.length ? make("em", { class: "harm" }, `✗ severe error${of.length > 1 ? `: ${severe.join("; ")}` : ""}`) : null));
    const fill = () => { if (element.children.length === 1) element.append(...filled(response, of)); };
    element.addEventListener("toggle", fill);
    fills.set(element, fill);
    if (open) { fill(); element.open = true; }
    return element;
  };
  const scenarioHead = (scenario, level = "h3") =>
    make(level, { class: "scenario-head" }, scenario.id, make("small", {}, about(scenario)));
  const paragraphs = (text) => text.trim().split(/\n\s*\n/).map((paragraph) => /\n- /.test(paragraph)
    ? make("p", { class: "listed" }, paragraph) : make("p", {}, paragraph.replace(/\s+/g, " ")));
  const asked = ({ text, untold, picture, alt }) => {
    const shown = picture ? [make("img", { src: picture, alt, width: 1024, height: 768 })] : [];
    const told = make("div", { class: "asked", dir: "auto" }, shown, paragraphs(text));
    if (!untold) return told;
    const rules = make("div", { class: "asked untold", dir: "auto" }, make("h4", {}, "Rules not told"), paragraphs(untold));
    return make("div", { class: "two-texts" }, told, rules);
  };
  const question = (scenario) => make("details", { class: "question" }, make("summary", {}, "The scenario"),
    asked(scenario));

  const placeOf = (response) => [response.scenario.id, response.system, String(response.epoch)];
  const places = new WeakMap();
  const leading = (link, response) => { places.set(link, response); return link; };
  // The errors that one grader found in the same words, as templates/harms.html draws them too.
  const passage = ({ response, grading, found, severity: [, points] }) => {
    const severe = points === -2, place = grading.quotes.get(found[0]);
    const step = grading.plan?.marks.find(({ item }) => item === found[0]);
    const quote = step ? stepWords(grading.plan.rows[step.row]) : Array.isArray(place) ? response.text.slice(...place) : place;
    const link = new URLSearchParams({ at: "responses" });
    for (const value of placeOf(response)) link.append("read", value);
    return make("article", { class: `error ${severe ? "severe" : "mild"}`, tabindex: "-1" },
      make("blockquote", { dir: "auto", class: quote ? false : "silent" },
        !quote ? response.text ? "No words were quoted." : "" : quote.length > 600 ? `${quote.slice(0, 600)} …` : quote),
      make("div", {}, found.map((at) => make("div", { class: "found" },
        make("p", {}, make("strong", {}, `✗ ${severe ? "Severe" : "Mild"}, ${signed(points)}, ${grading.rubric}. `), grading.items[at].text),
        grading.reason(at) ? make("p", { class: "why", dir: "auto" }, `Grader: ${grading.reason(at)}`) : null)),
        make("p", { class: "where" }, ...[response.system, response.scenario.id, `epoch ${response.epoch}`].map((wording) => make("span", {}, wording)),
          response.gradings.length > 1 ? make("span", {}, grading.short) : null, $("reader") ? leading(make("a", { href: `#${link}` }, "Read the response"), response) : null)));
  };

  // A list drawn a page at a time, with a heading wherever it changes.
  const paged = (place, count, button, draw, heading, wording, paper, printed) => {
    let all = [], shown = 0, last = [];
    const more = () => {
      const next = all.slice(shown, shown + PAGE), added = [];
      for (const each of next) {
        const found = heading(each);
        found.forEach(([key, head], level) => {
          if (last[level] !== key) { added.push(...head()); last = last.slice(0, level); }
          last[level] = key;
        });
        added.push(draw(each, !shown && !added.some((element) => element.matches(".answer"))));
      }
      const first = added.find((element) => element.matches(".answer, .error"));
      place.append(...added);
      shown += next.length;
      button.hidden = shown >= all.length;
      count.textContent = wording(all, shown);
      paper.textContent = printed(all, shown);
      return first;
    };
    button.addEventListener("click", () => {
      const first = more();
      (first?.querySelector("summary") ?? first)?.focus();
    });
    return (items) => { all = items; shown = 0; last = []; place.replaceChildren(); more(); };
  };
  const upTo = (shown, n) => shown < n ? `, the first ${number(shown)} shown` : "";

  const start = (data) => {
    const chosen = new URLSearchParams();
    const forms = [...document.querySelectorAll("form.filter")];
    const folded = data.responses.map(({ text }) => text).map((text) => text.toLowerCase());
    const severities = [["Severe errors", -2, "harm"], ["Mild errors", -1, "mild"]];

    // Points and domain must fit the same item.
    const itemFits = () => {
      const points = chosen.get("points"), domain = chosen.get("domain");
      return (item) => (!points || String(item.points) === points) && (!domain || item.domains >> domain & 1);
    };
    // The filters in words, for print.
    const inWords = () => {
      const wording = FILTERS.filter((key) => chosen.get(key)).map((key) => {
        const field = forms[0].elements[key];
        return `${field.closest("label").firstChild.textContent.trim()} ${field.selectedOptions?.[0].text ?? `“${field.value}”`}`;
      });
      return wording.length ? `Chosen: ${wording.join("; ")}.` : "Nothing was filtered out.";
    };
    const fits = () => {
      const want = Object.fromEntries(FILTERS.map((key) => [key, chosen.get(key) ?? ""]));
      const words = want.q.toLowerCase().split(/\s+/).filter(Boolean);
      const mark = { absent: "0", unresolved: "?" }[want.mark] ?? "1", item = itemFits();
      const kept = [];
      data.responses.forEach((response, at) => {
        const { scenario } = response;
        if (want.adl && scenario.adl !== want.adl || want.condition && scenario.condition !== want.condition
          || want.situation && !scenario.situation.includes(want.situation) || want.actor && scenario.actor !== want.actor
          || want.scenario && scenario.id !== want.scenario || want.system && response.system !== want.system
          || want.epoch && String(response.epoch) !== want.epoch || words.some((word) => !folded[at].includes(word))) return;
        const of = want.grader ? response.gradings.filter(({ grader }) => grader === want.grader) : response.gradings;
        if (want.grader && !of.length) return;
        if ((want.points || want.mark || want.domain)
          && !of.some((grading) => grading.items.some((each, n) => grading.marks[n] === mark && item(each)))) return;
        kept.push({ response, of });
      });
      return kept;
    };

    const showResponses = $("reader") && paged($("reader"), $("reader-count"), $("reader-more"),
      ({ response, of }, first) => card(response, of, first),
      ({ response: { scenario } }) => [[scenario, () => [scenarioHead(scenario), question(scenario)]]],
      (all, shown) => all.length ? plural(all.length, "response", "responses") + upTo(shown, all.length) : "No response fits.",
      $("reader-paper"), (all, shown) => `Printed: ${number(shown)} of ${number(all.length)} responses that fit, of ${number(data.responses.length)}. ${reading ? "One was chosen in the error list." : inWords()}`);
    const showErrors = $("error-list") && paged($("error-list"), $("error-list-count"), $("error-list-more"), passage,
      ({ response: { scenario }, severity: [name, points, look] }) => [
        [points, () => [make("h3", { class: look }, name, ` (${signed(points)})`)]],
        [scenario, () => [scenarioHead(scenario, "h4")]]],
      (all, shown) => all.length ? `${plural(all.reduce((n, { found }) => n + found.length, 0), "error", "errors")} in ${plural(all.length, "passage", "passages")}${upTo(shown, all.length)}` : "No error fits.",
      $("error-list-paper"), (all, shown) => `Printed: ${number(shown)} of ${number(all.length)} passages that fit. ${inWords()}`);

    // The last drawn state: reading a response from the error list does not redraw the list.
    let reading = null, drawn = {};
    const apply = () => {
      const kept = fits(), filters = chosen.toString();
      if ($("reader-all")) {
        $("reader-all").hidden = !reading;
        for (const part of $("responses").querySelectorAll(":scope > :is(.lead, .note, form)")) part.hidden = Boolean(reading);
      }
      if (drawn.filters !== filters || drawn.reading !== reading) {
        const grader = chosen.get("grader");
        showResponses?.(!reading ? kept : [{ response: reading,
          of: reading.gradings.filter((each) => !grader || each.grader === grader) }]);
      }
      if (drawn.filters !== filters) showErrors?.(errors(kept));
      drawn = { filters, reading };
    };
    const errors = (kept) => {
      const found = [], asPresent = !chosen.get("mark"), item = itemFits();
      const wanted = asPresent && Number(chosen.get("points")) < 0 ? item
        : asPresent && chosen.get("domain") ? ({ domains }) => domains >> chosen.get("domain") & 1 : () => true;
      for (const severity of severities) {
        for (const { response, of } of kept) for (const grading of of) {
          const passages = new Map();
          grading.items.forEach((each, at) => {
            if (each.points !== severity[1] || grading.marks[at] !== "1" || !wanted(each)) return;
            const words = String(grading.quotes.get(at));
            if (passages.has(words)) passages.get(words).push(at); else passages.set(words, [at]);
          });
          for (const items of passages.values()) found.push({ response, grading, found: items, severity });
        }
      }
      return found;
    };

    const beside = $("beside-form");
    const gradingOf = (response, grader) => response.gradings.find((each) => !grader || each.grader === grader);
    // Chooses the scenario and epoch in which the first two systems differ most; a severe error of
    // only one of them counts before points.
    const openFurthest = () => {
      const [one, other] = [...beside.querySelectorAll("[name=with]:checked")].map(({ value }) => value);
      const grader = beside.elements.g.value, key = ({ scenario, epoch }) => `${scenario.id} ${epoch}`;
      const others = new Map(data.responses.filter(({ system }) => system === other).map((response) => [key(response), response]));
      let most = -1;
      for (const response of data.responses) {
        const pair = response.system === one && others.get(key(response));
        const [a, b] = pair ? [response, pair].map((each) => gradingOf(each, grader)) : [];
        if (!a || !b) continue;
        const apart = Math.abs(range(a).low + range(a).high - range(b).low - range(b).high)
          + (present(a, -2) !== present(b, -2) ? 1000 : 0);
        if (apart <= most) continue;
        most = apart;
        beside.elements.s.value = response.scenario.id;
        beside.elements.n.value = response.epoch;
      }
    };
    const compare = () => {
      const scenario = beside.elements.s.value, epoch = Number(beside.elements.n.value), grader = beside.elements.g.value;
      const wanted = [...beside.querySelectorAll("[name=with]:checked")].map(({ value }) => value);
      const found = data.responses.filter((r) => r.scenario.id === scenario && r.epoch === epoch && wanted.includes(r.system))
        .map((response) => ({ response, grading: gradingOf(response, grader) }));
      $("beside-count").textContent = found.length ? plural(found.length, "response", "responses") : "Choose systems that have a response here.";
      if (!found.length) { $("columns").replaceChildren(); return; }
      const rows = new Map();
      for (const { grading } of found) for (const item of grading?.items ?? []) rows.set(item.text, item);
      const cell = ({ grading }, key) => {
        const at = grading?.items.findIndex((item) => item.text === key) ?? -1;
        if (at < 0) return make("td", { class: "absent" }, "not judged");
        const [look, wording] = kind(grading, at), short = wording.replace("Present, ", "").replace(/^. Present$/, "✓ Present");
        return make("td", { class: look, "data-of": at }, look === "absent" ? short : make("strong", {}, short),
          grading.reason(at) ? make("small", { dir: "auto" }, grading.reason(at)) : null);
      };
      const head = make("tr", {}, make("th", { scope: "col" }, "Item"), found.map(({ response }) => make("th", { scope: "col" }, response.system)));
      const body = [...rows].map(([key, { label, points, text }]) =>
        make("tr", {}, make("th", { scope: "row" }, make("b", {}, `${label} ${signed(points)}`), text), found.map((each) => cell(each, key))));
      $("columns").replaceChildren(scenarioHead(found[0].response.scenario),
        asked(found[0].response.scenario),
        make("div", { class: "columns" }, found.map(({ response, grading }) => make("article", {}, make("h4", {}, response.system),
          make("small", {}, grading ? `${grading.short} ${earned(grading)}` : "not judged"),
          response.state === "answered" ? null : silent(response),
          grading?.plan ? planTable(response, grading, false) : response.text ? marked(response, grading, false) : null))),
        make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Table: the rubric, side by side" },
          make("table", { class: "ticks" }, make("caption", {}, "The rubric, side by side"), make("thead", {}, head), make("tbody", {}, body))));
      dispatchEvent(new Event("resize"));
    };

    // The address: every key of the filters, `read`, s, n, g, with … of side by side, and how tables
    // are sorted, always together. Unknown values are dropped.
    const sortables = [...document.querySelectorAll("table.sortable")];
    let place = "answer", chose = false;
    const knows = (field, value) => field && (!field.options || [...field.options].some((option) => option.value === value));
    const read = (source) => {
      const wanted = new URLSearchParams(source);
      for (const key of FILTERS) {
        const value = wanted.get(key);
        if (value && knows(forms[0]?.elements[key], value)) chosen.set(key, value); else chosen.delete(key);
      }
      for (const form of forms) for (const key of FILTERS) if (form.elements[key]) form.elements[key].value = chosen.get(key) ?? "";
      const which = wanted.getAll("read").join("\n");
      reading = which ? data.responses.find((response) => placeOf(response).join("\n") === which) ?? null : null;
      if (beside) {
        for (const key of ["s", "n", "g"]) {
          const value = wanted.get(key), field = beside.elements[key];
          if (value !== null && field.options && knows(field, value)) { field.value = value; chose = true; }
        }
        const boxes = [...beside.querySelectorAll("[name=with]")], systems = wanted.getAll("with");
        if (systems.some((name) => !name || boxes.some((box) => box.value === name))) {
          chose = true;
          for (const box of boxes) box.checked = systems.includes(box.value);
        }
      }
      for (const wording of wanted.getAll("sort")) {
        const [, table, column, way] = /^(\d+)\.(\d+)\.([ad])$/.exec(wording) ?? [];
        sortables[table]?.dispatchEvent(new CustomEvent("sort", { detail: { column: Number(column), direction: way === "a" ? "ascending" : "descending" } }));
      }
      place = wanted.get("at") ?? place;
      return wanted.get("at");
    };
    const address = () => {
      const made = new URLSearchParams({ at: place });
      for (const [key, value] of chosen) made.set(key, value);
      for (const value of reading ? placeOf(reading) : []) made.append("read", value);
      if (beside && chose) {
        for (const [key, value] of new FormData(beside)) if (value) made.append(key, value);
        if (!made.has("with")) made.append("with", "");
      }
      sortables.forEach((table, n) => { if (table.dataset.sorted) made.append("sort", `${n}.${table.dataset.sorted}`); });
      return made.toString();
    };
    const write = (at) => {
      place = at;
      history.replaceState(null, "", `#${address()}`);
    };
    document.addEventListener("sorted", () => write(place));
    let waiting;
    for (const form of forms) {
      const changed = () => {
        for (const key of FILTERS) {
          const value = form.elements[key]?.value ?? "";
          if (value) chosen.set(key, value); else chosen.delete(key);
        }
        for (const other of forms) if (other !== form) for (const key of FILTERS) if (other.elements[key]) other.elements[key].value = chosen.get(key) ?? "";
        reading = null;
        write(form.dataset.at);
        apply();
      };
      form.addEventListener("input", (event) => {
        clearTimeout(waiting);
        if (event.target.name === "q") waiting = setTimeout(changed, 150); else changed();
      });
      form.addEventListener("reset", () => setTimeout(changed));
      form.addEventListener("submit", (event) => { event.preventDefault(); changed(); });
    }
    beside?.addEventListener("input", () => { chose = true; write("beside"); compare(); });
    beside?.addEventListener("submit", (event) => event.preventDefault());

    const show = (at) => {
      const section = ["harms", "responses", "beside"].includes(at) ? $(at) : null;
      if (!section) return;
      section.scrollIntoView();
      const title = section.querySelector("h2");
      title.tabIndex = -1;
      title.focus({ preventScroll: true });
    };
    const follow = () => {
      if (location.hash && !location.hash.includes("=")) return;
      const at = read(location.hash.slice(1));
      apply();
      if (beside) compare();
      show(at);
    };
    // Reading a response from the error list is one step of the history: Back returns to the place.
    let left = null;
    document.addEventListener("click", (event) => {
      const link = event.target.closest?.("a"), response = link && places.get(link);
      if (!response || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      history.replaceState({ top: scrollY, address: address() }, "");
      left = link;
      reading = response;
      place = "responses";
      history.pushState(null, "", `#${address()}`);
      apply();
      show("responses");
    });
    addEventListener("popstate", ({ state }) => {
      if (typeof state?.top !== "number") { follow(); return; }
      read(state.address);
      apply();
      if (beside) compare();
      left?.focus({ preventScroll: true });
      const back = () => scrollTo(0, state.top);
      back();
      // again, after the browser has scrolled by itself
      requestAnimationFrame(back);
    });
    $("reader-all")?.addEventListener("click", () => { reading = null; write("responses"); apply(); });
    addEventListener("beforeprint", () => {
      for (const part of document.querySelectorAll("#reader details:not([open])")) {
        fills.get(part)?.();
        part.dataset.printed = "";
        part.open = true;
      }
    });
    for (const part of document.querySelectorAll(".script")) part.hidden = false;
    if (beside) openFurthest();
    if (location.hash.includes("=")) follow(); else {
      apply();
      if (beside) compare();
      // drawing has moved the section that the address names
      if (!moved) $(location.hash.slice(1))?.scrollIntoView();
    }

    // An item and its quote are highlighted together; a button after a quote leads to its item.
    const scope = (element) => element.closest(".beside");
    const light = (event) => {
      for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
      const at = event.target.closest?.("[data-of]");
      if (!at || !scope(at)) return;
      for (const item of at.dataset.of.split(" "))
        for (const other of scope(at).querySelectorAll(`mark[data-of~="${item}"], li[data-of="${item}"]`)) other.classList.add("lit");
    };
    for (const type of ["mouseover", "focusin"]) document.addEventListener(type, light);
    document.addEventListener("click", (event) => {
      const ref = event.target.closest?.(".ref");
      if (ref) scope(ref)?.querySelector(`li[data-of="${ref.dataset.of}"]`)?.focus();
    });
    document.documentElement.dataset.ready = "";
  };

  if (typeof DecompressionStream === "undefined") {
    say("This browser cannot unpack the responses: it lacks DecompressionStream. Any browser since 2023 can.");
    return;
  }
  // let the browser paint the page first
  setTimeout(() => unpack().then(start).catch((error) => say(`The responses cannot be unpacked: ${error.message}`)), 50);
})();
