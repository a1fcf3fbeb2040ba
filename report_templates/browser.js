/* content="collabtax-report" */
"use strict";
// The rollout browser: finds rollouts among very many, and shows one. collabtax/report/browser.py writes its data.
// What models said reaches the page through text nodes only; drawings are shown as pictures, which run nothing.

// ---------------------------------------------------------------------------------------------------- data files
const files = new Map(); // name of a data file -> promise of what it holds
const arrived = new Map(); // name -> function that takes the text of a file once its script runs
const addresses = window.trustedTypes
  ? trustedTypes.createPolicy("collabtax", { createScriptURL: address })
  : { createScriptURL: address };

function address(name) {
  if (!/^[a-z]+-\d{5}$/.test(name)) throw new TypeError(`${name} is no data file`);
  return `data/${name}.js`;
}

window.collabtax = (name, text) => arrived.get(name)?.(text); // what every data file calls

async function unpacked(text) {
  const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

function read(name) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    arrived.set(name, text => resolve(unpacked(text)));
    script.onload = () => { arrived.delete(name); script.remove(); reject(new Error(`${name} holds nothing`)); };
    script.onerror = () => reject(new Error(`data/${name}.js cannot be read; it belongs beside this page`));
    script.src = addresses.createScriptURL(name);
    document.head.append(script);
  });
}

const nameOf = (kind, number) => `${kind}-${String(number).padStart(5, "0")}`;

function load(kind, number) { // keeps the last few files
  const name = nameOf(kind, number), kept = files.get(name) || read(name);
  files.delete(name);
  files.set(name, kept);
  if (files.size > 24) files.delete(files.keys().next().value);
  return kept;
}

async function item(kind, number) {
  const starts = manifest.starts[kind];
  let low = 0, high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= number) low = middle; else high = middle - 1;
  }
  return (await load(kind, low))[number - starts[low]];
}

// ---------------------------------------------------------------------------------------------------- small words
const at = id => document.getElementById(id);

function el(tag, about = {}, ...children) { // strings become text nodes
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(about)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter(child => child !== null && child !== undefined && child !== ""));
  return made;
}

const number = (value, digits = 2) => value === null || value === undefined ? "–" : value.toFixed(digits);
const money = value => value === null ? "unknown" : value ? `$${value.toFixed(4)}` : "0";
const label = models => [...new Set(models)].join(" + ");
const listed = about => Object.entries(about || {}).map(([name, value]) => `${name.replaceAll("_", " ")} ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ");
const count = n => n.toLocaleString("en");

// ---------------------------------------------------------------------------------------------------- the index
let manifest, columns = {}, facets = [], shown = [], active = -1, open = -1, sorting = "", turnOfSearch = 0;
let hits = null; // for each rollout whether the search found it; null without a search

async function readIndex() {
  manifest = await read("manifest-00000");
  const parts = await Promise.all(manifest.starts.index.map((_, i) => read(nameOf("index", i))));
  for (const part of parts) for (const [name, values] of Object.entries(part)) {
    const column = columns[name] ||= [];
    for (const value of values) column.push(value); // push(...values) would overflow the stack
  }
  const cell = name => manifest.cells.map(c => c[name] === "" ? "none" : c[name]);
  const stages = Object.entries(manifest.stages), judge = many => many ? j => `, ${j}` : () => "";
  const failed = manifest.judges.flatMap(j => stages.map(([stage, word]) => `${stage} ${word} failed${judge(manifest.judges.length > 1)(j)}`));
  facets = [
    facet("study", "Study", cell("study"), columns.cell),
    facet("family", "Family", cell("family"), columns.cell),
    facet("task", "Task", cell("task"), columns.cell),
    facet("mode", "Mode", cell("mode"), columns.cell),
    facet("condition", "Condition", cell("condition"), columns.cell),
    facet("model", "Model", cell("models").map(models => [...new Set(models)]), columns.cell),
    facet("outcome", "Outcome", manifest.outcomes, columns.outcome),
    facet("stage", "Stage", ...failures(failed, stages.length)),
    facet("reading", "Reading of the answer", manifest.warnings, columns.warning),
    facet("end", "End", manifest.ends, columns.end),
    facet("cell", "Cell", cell("id"), columns.cell, true),
  ].filter(one => one.values.length > 1 || one.hidden);
}

// `kinds`: the value, or values, of each kind of rollout; `kind`: which one each rollout is.
function facet(name, title, kinds, kind, hidden = false) {
  const lists = kinds.map(values => Array.isArray(values) ? values : [values]);
  const values = [...new Set(lists.flat())], numbers = new Map(values.map((value, i) => [value, i]));
  return { name, title, values, hidden, kind: Uint32Array.from(kind), kinds: lists.map(list => list.map(v => numbers.get(v))), chosen: new Set() };
}

function failures(names, stages) { // kinds of rollouts by which stages which judges let fail
  const known = new Map(), kinds = [], kind = columns.stages.map(packed => {
    const key = packed.join();
    if (!known.has(key)) {
      known.set(key, kinds.length);
      kinds.push(packed.flatMap((one, judge) => [...Array(stages).keys()].filter(s => one >= 0 && Math.floor(one / 3 ** s) % 3 === 1).map(s => names[judge * stages + s])));
    }
    return known.get(key);
  });
  return [kinds, kind];
}

// Rollouts that pass all filters; for each facet how many there would be of each value, the other filters as they are.
function sift() {
  const n = manifest.count, passes = facets.map(f => f.kinds.map(codes => !f.chosen.size || codes.some(code => f.chosen.has(code))));
  const tallies = facets.map(f => new Uint32Array(f.kinds.length)), found = [];
  for (let i = 0; i < n; i++) {
    if (hits && !hits[i]) continue;
    let misses = 0, missed = 0;
    for (let f = 0; f < facets.length && misses < 2; f++) if (!passes[f][facets[f].kind[i]]) { misses++; missed = f; }
    if (misses === 0) { found.push(i); for (let f = 0; f < facets.length; f++) tallies[f][facets[f].kind[i]]++; }
    else if (misses === 1) tallies[missed][facets[missed].kind[i]]++;
  }
  facets.forEach((f, at) => {
    f.counts = new Uint32Array(f.values.length);
    f.kinds.forEach((codes, kind) => codes.forEach(code => { f.counts[code] += tallies[at][kind]; }));
  });
  return sorted(found);
}

const ORDERS = {
  task: i => manifest.cells[columns.cell[i]].task, mode: i => manifest.cells[columns.cell[i]].mode,
  models: i => label(manifest.cells[columns.cell[i]].models), seed: i => columns.seed[i], outcome: i => columns.outcome[i],
  score: i => columns.score[i] ?? -1, turns: i => columns.turns[i], tokens: i => columns.tokens[i], cost: i => columns.cost[i] ?? -1,
};

function sorted(found) {
  const by = ORDERS[sorting.replace("-", "")];
  if (!by) return found;
  const way = sorting.startsWith("-") ? -1 : 1, keys = new Map(found.map(i => [i, by(i)]));
  return found.sort((a, b) => { const x = keys.get(a), y = keys.get(b); return x < y ? -way : x > y ? way : a - b; });
}

// ---------------------------------------------------------------------------------------------------- search
const saidIn = []; // for each file of rollouts a promise of what was said in each of them, in small letters

function said(file) {
  return saidIn[file] ||= read(nameOf("rollouts", file)).then(rollouts => rollouts.map(r => (r.turns || []).map(t => t.text).join("\n").toLowerCase()));
}

function wanted(text) { // words, and phrases in quotes
  return [...text.toLowerCase().matchAll(/["“„]([^"“”]+)["”“]?|(\S+)/g)].map(found => found[1] || found[2]);
}

async function search() {
  try { await searchAll(); } catch (problem) { at("found").textContent = problem.message; }
}

async function searchAll() {
  const mine = ++turnOfSearch, words = wanted(at("query").value), many = manifest.starts.rollouts.length;
  if (!words.length) { hits = null; at("found").textContent = ""; return update(); }
  const found = new Uint8Array(manifest.count);
  let total = 0, told = performance.now();
  for (let file = 0; file < many; file++) {
    for (let ahead = file; ahead < Math.min(many, file + 6); ahead++) said(ahead);
    const texts = await said(file), start = manifest.starts.rollouts[file];
    if (mine !== turnOfSearch) return; // another search has begun
    texts.forEach((text, i) => { if (words.every(word => text.includes(word))) { found[start + i] = 1; total++; } });
    if (performance.now() - told > 250) {
      at("found").textContent = `${count(total)} so far, ${Math.round(100 * (file + 1) / many)} % searched`;
      told = performance.now();
      await new Promise(resolve => setTimeout(resolve));
    }
  }
  if (mine !== turnOfSearch) return;
  hits = found;
  at("found").textContent = `${count(total)} of ${count(manifest.count)} say so`;
  update();
}

// ---------------------------------------------------------------------------------------------------- the list
const COLUMNS = [
  ["task", "task"], ["mode", "mode"], ["models", "models"], ["seed", "seed"], ["outcome", "outcome"], ["score", "score"],
  ["stages", "stages"], ["turns", "turns"], ["tokens", "tokens"], ["cost", "cost"], ["reason", "reason"],
];
const narrow = matchMedia("(max-width: 44rem)");
const height = () => narrow.matches ? 68 : 34; // of a line in pixels, as in style.css

function update() { // after filters, search or order have changed
  const before = active >= 0 ? shown[active] : -1;
  shown = sift();
  active = Math.max(0, shown.indexOf(before));
  const filtered = shown.length < manifest.count;
  at("state").textContent = `${filtered ? `${count(shown.length)} of ` : ""}${count(manifest.count)} rollouts${shown.length ? "" : "; clear a filter to see some"}`;
  at("clear").hidden = !filtered && !at("query").value;
  at("grid").setAttribute("aria-rowcount", shown.length + 1);
  for (const f of facets) if (f.box) showFacet(f);
  at("grid").scrollTop = 0;
  remember();
  draw();
}

function draw() { // the lines in sight, and some around them
  const grid = at("grid"), rows = at("rows"), high = height();
  rows.style.height = `${shown.length * high}px`;
  const first = Math.max(0, Math.floor(grid.scrollTop / high) - 8);
  const last = Math.min(shown.length, first + Math.ceil(grid.clientHeight / high) + 16);
  rows.replaceChildren();
  for (let place = first; place < last; place++) rows.append(line(place, high));
  grid.setAttribute("aria-activedescendant", active >= first && active < last ? `line${active}` : "");
}

function line(place, high) {
  const i = shown[place], cell = manifest.cells[columns.cell[i]], outcome = manifest.outcomes[columns.outcome[i]];
  const texts = {
    task: cell.task, mode: cell.mode + (cell.condition ? ` ${cell.condition}` : ""), models: label(cell.models), seed: String(columns.seed[i]),
    outcome: el("span", { class: `outcome ${outcome.replace(" ", "-")}` }, outcome), score: number(columns.score[i]),
    stages: stagesOf(i), turns: String(columns.turns[i]), tokens: count(columns.tokens[i]), cost: money(columns.cost[i]), reason: columns.reason[i],
  };
  const cells = COLUMNS.map(([name]) => el("span", { role: "gridcell", class: `c-${name}` }, name === "task" ? el("a", { href: linkTo(i), tabindex: "-1" }, texts.task) : texts[name]));
  const made = el("div", { class: `line${place === active ? " active" : ""}`, role: "row", id: `line${place}`, "aria-rowindex": String(place + 2), "aria-selected": String(place === active) }, cells);
  made.style.top = `${place * high}px`;
  made.addEventListener("click", event => { active = place; if (!event.target.closest("a")) location.hash = linkTo(i).slice(1); });
  return made;
}

function stagesOf(i) { // like ✓✗·✓: the four stages as the first judge saw them
  const packed = columns.stages[i].find(one => one >= 0), names = Object.keys(manifest.stages);
  if (packed === undefined) return "";
  const marks = names.map((_, s) => "·✗✓"[Math.floor(packed / 3 ** s) % 3]);
  return el("span", { title: names.map((name, s) => `${name} ${{ "·": "no verdict", "✗": "failed", "✓": "passed" }[marks[s]]}`).join(", ") }, marks.join(""));
}

function showHead() {
  at("head").replaceChildren(...COLUMNS.map(([name, title]) => {
    const way = sorting === name ? "ascending" : sorting === `-${name}` ? "descending" : undefined;
    const button = ORDERS[name] ? el("button", { type: "button", tabindex: "-1", onclick: () => { sorting = sorting === name ? `-${name}` : sorting === `-${name}` ? "" : name; showHead(); update(); } }, title + (way ? { ascending: " ↑", descending: " ↓" }[way] : "")) : title;
    return el("span", { role: "columnheader", class: `c-${name}`, "aria-sort": way }, button);
  }));
}

function showFacets() {
  at("facets").replaceChildren(...facets.filter(f => !f.hidden).map(f => {
    f.box = el("div", { class: "values", role: "group", "aria-label": f.title });
    f.summary = el("summary");
    f.lines = f.values.map((value, code) => {
      const box = el("input", { type: "checkbox", onchange: () => { f.chosen[box.checked ? "add" : "delete"](code); update(); } });
      const told = el("span", { class: "count" });
      return { box, told, whole: el("label", {}, box, " ", el("bdi", {}, value), " ", told) };
    });
    f.box.append(...f.lines.map(one => one.whole));
    return el("details", { open: f.values.length <= 8 }, f.summary, f.box);
  }));
}

function showFacet(f) {
  f.summary.textContent = f.title + (f.chosen.size ? ` (${f.chosen.size})` : "");
  f.lines.forEach(({ box, told, whole }, code) => {
    box.checked = f.chosen.has(code);
    told.textContent = count(f.counts[code]);
    whole.classList.toggle("none", !f.counts[code]);
  });
}

function move(to) {
  if (!shown.length) return;
  active = Math.max(0, Math.min(shown.length - 1, to));
  const grid = at("grid"), high = height(), top = active * high, head = at("head").offsetHeight;
  if (top < grid.scrollTop) grid.scrollTop = top;
  else if (top + high > grid.scrollTop + grid.clientHeight - head) grid.scrollTop = top + high - grid.clientHeight + head;
  draw();
}

// ---------------------------------------------------------------------------------------------------- one rollout
const SEATS = ["initiator", "responder"];
const ENDS = { done: "the agent was done", marker: "an agent wrote ACTI!", cap: "the cap of exchanges was reached", error: "an error" };
const LONG = 20000; // characters of a text that are shown before somebody asks for more
const SHORT = 400; // characters of a text that has a line to itself

function cut(text, spans = []) { // a text in a box, parts of it marked; the rest of a very long one on demand
  const box = el("pre", { dir: "auto", class: text.length > LONG ? "long" : undefined }), fill = upto => {
    const parts = [];
    let from = 0;
    for (const { start, stop, mark } of spans) {
      if (start < from || stop > upto) continue;
      parts.push(text.slice(from, start), mark(text.slice(start, stop)));
      from = stop;
    }
    box.replaceChildren(...parts, text.slice(from, upto));
  };
  fill(Math.min(text.length, LONG));
  if (text.length > LONG) {
    const more = el("button", { type: "button", onclick: () => { fill(text.length); more.remove(); } }, `show all ${count(text.length)} characters`);
    return [box, more];
  }
  return [box];
}

// Lines of a view that no other view holds: where a text has one of them, that is where its speaker can have it from.
const bare = line => line.trim().replace(/(?<=[\p{L}\p{N}])\.$/u, "").toLowerCase();

function traceable(views) {
  const lines = views.map(text => text.split("\n")), holders = new Map();
  lines.forEach((own, v) => new Set(own.map(bare)).forEach(line => holders.set(line, [...(holders.get(line) || []), v])));
  return lines.map((own, v) => own.map((line, i) => ({ view: v, line: i, words: bare(line) }))
    .filter(one => one.words.length > 4 && one.words.length < 400 && holders.get(one.words).length === 1)).flat().slice(0, 400);
}

function trace(text, facts, onto) {
  const small = text.toLowerCase(), spans = [];
  if (small.length !== text.length || text.length > 20 * LONG) return spans;
  for (const fact of [...facts].sort((a, b) => b.words.length - a.words.length)) {
    const wordy = /\p{L}{2}/u.test(fact.words);
    for (let start = small.indexOf(fact.words); start >= 0; start = small.indexOf(fact.words, start + fact.words.length)) {
      const stop = start + fact.words.length, before = small[start - 1] || "\n", after = small[stop] || "\n";
      const whole = wordy ? !/[\p{L}\p{N}]/u.test(before) && !/[\p{L}\p{N}]/u.test(after) : before === "\n" && (after === "\n" || after === "\r");
      if (!whole || spans.some(s => s.start < stop && start < s.stop)) continue;
      spans.push({ start, stop, mark: part => { onto(fact); return el("mark", { class: `view${fact.view % 2}`, title: `as in view ${fact.view + 1}, line ${fact.line + 1}` }, part); } });
    }
  }
  return spans.sort((a, b) => a.start - b.start);
}

async function show(i) {
  const cell = manifest.cells[columns.cell[i]], seed = columns.seed[i], found = await item("rollouts", i);
  const named = await Promise.all((found.views || []).map(async ([name, text]) => [name, await item("texts", text)]));
  const asked = found.asked === undefined ? "" : await item("texts", found.asked);
  const drawing = found.drawing === undefined ? "" : await item("texts", found.drawing);
  if (open !== i) return; // another one has been asked for
  const team = new Set(cell.models).size > 1 || cell.models.length > 1, turns = found.turns || [];
  const outcome = manifest.outcomes[columns.outcome[i]], end = ENDS[manifest.ends[columns.end[i]]] || manifest.ends[columns.end[i]];
  const seatName = seat => SEATS[cell.models.length === 2 ? seat : 2] || `agent ${seat + 1}`;
  at("heading").textContent = `${cell.task}, ${cell.mode}${cell.condition ? `, ${cell.condition}` : ""}, seed ${seed}`;
  document.title = `${cell.id} seed ${seed}`;

  const facts = named.length > 1 ? traceable(named.map(([, text]) => text)) : [], told = new Map();
  const evidence = found.evidence || "", last = turns.map(t => evidence && t.text.includes(evidence)).lastIndexOf(true);
  const lanes = turns.map((turn, t) => {
    let spans = facts.length ? trace(turn.text, facts, fact => { const key = `${fact.view}/${fact.words}`; if (!told.has(key)) told.set(key, []); if (!told.get(key).includes(t + 1)) told.get(key).push(t + 1); }) : [];
    if (t === last) {
      const start = turn.text.lastIndexOf(evidence), stop = start + evidence.length;
      spans = [...spans.filter(s => s.stop <= start || s.start >= stop), { start, stop, mark: part => el("mark", { class: "evidence", title: "what the answer was read from" }, part) }].sort((a, b) => a.start - b.start);
    }
    return el("article", { class: `turn lane${turn.seat % 2}`, id: `t${t + 1}` },
      el("h3", {}, `${t + 1} · `, team ? `${seatName(turn.seat)} · ` : "", modelOf(cell.models[turn.seat] ?? cell.models[0])),
      cut(turn.text, spans), turn.data ? el("pre", { class: "answer" }, JSON.stringify(turn.data)) : "",
      el("p", { class: "small" }, [listed(Object.fromEntries(Object.entries(turn.usage || {}).map(([k, v]) => [`${k} tokens`, v]))), `${number(turn.seconds || 0, 1)} s`, turn.finish === "stop" ? "" : `stopped: ${turn.finish}`].filter(Boolean).join(" · ")));
  });
  const views = named.map(([name, text], v) => el("div", { class: `view${named.length > 1 ? ` lane${v % 2}` : ""}` },
    el("h3", {}, name, named.length > 1 ? ` · ${seatName(v)} · ` : "", named.length > 1 ? modelOf(cell.models[v] ?? cell.models[0]) : ""),
    el("pre", { dir: "auto" }, text.split("\n").flatMap((line, l) => {
      const where = told.get(`${v}/${bare(line)}`), part = where ? el("mark", { class: `view${v % 2}`, title: `stands so in turn ${where.join(", ")}` }, line) : line;
      return l ? ["\n", part] : [part];
    }))));

  const siblings = [];
  for (let other = 0; other < manifest.count && siblings.length < 60; other++) {
    const o = manifest.cells[columns.cell[other]];
    if (other !== i && columns.seed[other] === seed && o.task === cell.task && o.study === cell.study && o.models.some(m => cell.models.includes(m))) siblings.push(other);
  }
  const parts = [
    el("p", { class: "lead" }, [...new Set(cell.models)].flatMap((name, m) => m ? [" + ", modelOf(name)] : [modelOf(name)])),
    el("div", { class: "result" }, el("p", { class: "big" }, number(columns.score[i]), el("span", { class: "unit" }, " score")),
      el("p", {}, el("span", { class: `outcome ${outcome.replace(" ", "-")}` }, outcome), " ", el("bdi", {}, (found.reason || found.error || "").slice(0, SHORT)))),
    el("section", { class: "pair", id: "answer" },
      el("div", {}, el("h2", {}, outcome === "success" || !drawing ? "On the instance" : "Where it broke"), pictured(drawing, found.missing)),
      el("div", {}, el("h2", {}, "Answer"), el("pre", { class: "answer", dir: "auto", tabindex: "0" }, found.answer.slice(0, LONG)),
        pairs([["reading", manifest.warnings[columns.warning[i]]], ["evidence", evidence ? el("pre", { class: "answer", dir: "auto", tabindex: "0" }, evidence.slice(0, LONG)) : "none"], ["ended", end],
          found.second ? [`read by ${found.second.extractor}`, [found.second.agreement, el("pre", { class: "answer" }, JSON.stringify(found.second.answer))]] : null,
          found.error ? ["error", cut(found.error)] : null, found.data ? ["kept besides", el("details", {}, el("summary", {}, `${count(found.data.length)} characters`), cut(found.data))] : null]))),
    named.length ? el("section", { id: "views" }, el("h2", {}, named.length > 1 ? "What each was told" : "What the agent was told"),
      facts.length ? el("p", { class: "how" }, "Lines in colour stand so in that view only: marked in a view where somebody said them, and in the dialogue where they were said. What has no mark was put in other words, comes from both views, or from none.") : "",
      el("div", { class: "pair" }, views), asked ? el("details", {}, el("summary", {}, "The task, as it was put to each"), el("pre", { dir: "auto" }, asked)) : "") : "",
    el("section", { id: "dialogue" }, el("h2", {}, team ? "Dialogue" : "What it said"),
      lanes.length ? el("div", { class: `lanes${team ? " two" : ""}` }, lanes) : el("p", { class: "note" }, "Nothing was said."), el("p", { class: "end" }, `ended here: ${end}`)),
    found.verdicts ? el("section", { id: "verdicts" }, el("h2", {}, "Stages"), table(["stage", "judge", "verdict", "evidence"], found.verdicts.map(([judge, stage, passed, quotes]) => [
      `${stage} ${manifest.stages[stage] || ""}`, el("bdi", {}, judge),
      el("span", { class: `outcome ${passed === null ? "" : passed ? "success" : "unreadable"}` }, passed === null ? "no verdict" : passed ? "passed" : "failed"),
      quotes.map(([turn, text, there]) => el("p", { class: "quoted" }, turn ? [el("button", { type: "button", class: "link", onclick: () => at(`t${turn}`)?.scrollIntoView() }, `turn ${turn}`), ": "] : "", el("bdi", {}, text.slice(0, SHORT)), there === false ? el("span", { class: "aside" }, " (not found there)") : ""))]))) : "",
    el("section", { id: "history" }, el("h2", {}, "Grades"), table(["settings", "versions", "outcome", "score", "reason"], [{ settings: found.settings, versions: found.versions, outcome, score: columns.score[i], reason: found.reason || found.error || "" }, ...(found.earlier || [])].map(
      (g, n) => [g.settings + (n ? "" : ", this one"), listed(g.versions), g.outcome, number(g.score), el("bdi", {}, g.reason.slice(0, SHORT))]))),
    el("section", { id: "again" }, el("h2", {}, "Again"),
      el("p", { class: "how" }, "From its recording, offline; with ", el("code", {}, "--record-mode=all"), " in its place the models are asked anew. Add ", el("code", {}, "--models"), " if the run had it, and ", el("code", {}, "--cassettes"), " if its recordings lie outside of the checkout."),
      el("pre", { class: "command" }, `${cell.command[0]}--seed=${seed}${cell.command[1]}`),
      pairs([["tokens", listed(found.usage) || "none"], ["cost", columns.cost[i] === null ? "price unknown" : `$${number(columns.cost[i], 6)}`],
        ["time in calls", `${number(turns.reduce((sum, t) => sum + (t.seconds || 0), 0), 1)} s, as recorded`], ["settings", listed(found.said)],
        siblings.length ? ["same instance", siblings.flatMap((o, n) => { const c = manifest.cells[columns.cell[o]]; return [n ? " · " : "", el("a", { href: linkTo(o) }, `${c.mode}${c.condition ? ` ${c.condition}` : ""} ${label(c.models)}`)]; })] : null])),
  ];
  at("rollout").replaceChildren(...parts.filter(part => part !== ""));
}

const modelOf = name => el("span", { class: "model" }, el("bdi", {}, name), name.startsWith("sim/") ? [" ", el("span", { class: "badge" }, "simulated")] : "");
const pairs = rows => el("dl", {}, rows.filter(Boolean).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
const table = (head, rows) => el("div", { class: "wide", tabindex: "0", role: "group", "aria-label": head.join(", ") }, el("table", {},
  el("thead", {}, el("tr", {}, head.map(name => el("th", { scope: "col" }, name)))), el("tbody", {}, rows.map(row => el("tr", {}, row.map(value => el("td", {}, value)))))));

const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: "\"", "#x27": "'" };

function pictured(drawing, missing) {
  if (!drawing) return el("p", { class: "note" }, missing || "no drawing");
  const styled = drawing.replace(/^(<svg[^>]*>)/, (_, tag) => `${tag}<style>${manifest.style}</style>`);
  const [, name] = / aria-label="([^"]*)"/.exec(drawing) || ["", "drawing"];
  return el("figure", { class: "drawing" }, el("img", { src: `data:image/svg+xml,${encodeURIComponent(styled)}`, alt: name.replace(/&(\w+|#x27);/g, (_, c) => ENTITIES[c] || "") }), el("figcaption", {}, "The instance with the answer as it was graded; red marks what is wrong."));
}

// ---------------------------------------------------------------------------------------------------- where we are
const linkTo = i => `#${encodeURIComponent(manifest.cells[columns.cell[i]].study)}/${encodeURIComponent(manifest.cells[columns.cell[i]].id)}/${columns.seed[i]}`;

function listAddress() {
  const about = new URLSearchParams();
  for (const f of facets) for (const code of f.chosen) about.append(f.name, f.values[code]);
  if (at("query").value) about.set("q", at("query").value);
  if (sorting) about.set("sort", sorting);
  return `#${String(about) && `?${about}`}`;
}

function remember() { // keep the address of the list up to date, so that it can be sent
  if (open < 0) history.replaceState(null, "", listAddress());
  at("back").href = listAddress();
}

function find(hash) { // the rollout that an address names, or -1
  const [study, id, seed] = hash.split("/").map(decodeURIComponent);
  const wanted = manifest.cells.findIndex(c => c.study === study && c.id === id);
  for (let i = 0; i < manifest.count; i++) if (columns.cell[i] === wanted && columns.seed[i] === Number(seed)) return i;
  return -1;
}

async function go() {
  const hash = location.hash.slice(1);
  const before = open;
  try { open = hash && !hash.startsWith("?") ? find(hash) : -1; } catch { open = -1; }
  const one = open >= 0;
  at("list").hidden = one; at("rollout").hidden = !one; at("state").hidden = one;
  at("back").hidden = !one; at("turnpage").hidden = !one;
  if (one) {
    const place = shown.indexOf(open);
    if (place >= 0) active = place;
    for (const [id, to] of [["before", place - 1], ["after", place + 1]]) {
      const there = place >= 0 && to >= 0 && to < shown.length;
      at(id).hidden = !there;
      if (there) at(id).href = linkTo(shown[to]);
    }
    try { await show(open); } catch (problem) { at("rollout").replaceChildren(el("p", { class: "warning" }, String(problem.message))); }
    scrollTo(0, 0);
    at("heading").focus({ preventScroll: true });
    return;
  }
  at("heading").textContent = document.title = "Rollouts";
  if (hash && !hash.startsWith("?")) at("found").textContent = "no rollout has the address that was asked for";
  if (before >= 0 && location.hash === (listAddress() === "#" ? "" : listAddress())) { draw(); move(active); at("grid").focus({ preventScroll: true }); return; }
  const about = new URLSearchParams(hash.startsWith("?") ? hash.slice(1) : "");
  for (const f of facets) f.chosen = new Set(about.getAll(f.name).map(value => f.values.indexOf(value)).filter(code => code >= 0));
  sorting = ORDERS[(about.get("sort") || "").replace("-", "")] ? about.get("sort") : "";
  at("query").value = about.get("q") || "";
  showHead();
  if (at("query").value) await search(); else { hits = null; update(); }
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input:not([type=checkbox]), textarea, select"), one = open >= 0;
  const page = Math.max(1, Math.floor(at("grid").clientHeight / height()) - 2);
  const inList = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: shown.length - 1 };
  if (event.key === "Escape" && typing) { at("grid").focus(); }
  else if (typing) { if (event.key !== "ArrowDown" || one) return; at("grid").focus(); }
  else if (event.key === "Escape" && one) location.hash = listAddress();
  else if (event.key === "/" && !one) { at("query").focus(); at("query").select(); }
  else if (one && event.key === "ArrowLeft" && !at("before").hidden) location.hash = at("before").hash;
  else if (one && event.key === "ArrowRight" && !at("after").hidden) location.hash = at("after").hash;
  else if (!one && event.key in inList && (event.target === at("grid") || event.target === document.body)) move(inList[event.key]);
  else if (!one && event.key === "Enter" && (event.target === at("grid") || event.target === document.body) && shown.length) location.hash = linkTo(shown[active]);
  else return;
  event.preventDefault();
}

function later(what, wait) {
  let timer;
  return () => { clearTimeout(timer); timer = setTimeout(what, wait); };
}

async function start() {
  try {
    await readIndex();
  } catch (problem) {
    at("state").textContent = `The data of this page cannot be read: ${problem.message}.`;
    return;
  }
  if (narrow.matches) at("filters").open = false;
  showFacets();
  at("query").addEventListener("input", later(search, 250));
  at("clear").addEventListener("click", () => { location.hash = "#"; for (const f of facets) f.chosen.clear(); at("query").value = ""; turnOfSearch++; hits = null; at("found").textContent = ""; update(); });
  let waiting = false;
  const redraw = () => { if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; if (open < 0) draw(); }); } };
  at("grid").addEventListener("scroll", redraw);
  addEventListener("resize", redraw);
  addEventListener("hashchange", go);
  addEventListener("keydown", keys);
  shown = sift(); // what is before and after a rollout that the address names
  for (const f of facets) if (f.box) showFacet(f);
  showHead();
  await go();
  document.body.dataset.ready = "";
}

start();
