/* content="collabtax-report" */
"use strict";
// An episode that can be stepped through; collabtax/coop/pages.py writes its data into the page.
// What models said reaches the page through text nodes only; drawings are shown as pictures, which run nothing.

const { film, style, trace } = JSON.parse(document.getElementById("episode").textContent);
const at = id => document.getElementById(id);
const frames = []; // lists of pieces, worked out as far as they were asked for

function frame(step) {
  for (let i = frames.length; i <= step; i++) {
    const pieces = i ? [...frames[i - 1]] : [];
    for (const [from, removed, inserted] of [...film.frames[i]].reverse()) pieces.splice(from, removed, ...inserted);
    frames.push(pieces);
  }
  return frames[step];
}

function drawn(step) {
  const svg = frame(step).map(number => film.pieces[number]).join("");
  const end = svg.indexOf(">") + 1;
  return `data:image/svg+xml,${encodeURIComponent(`${svg.slice(0, end)}<style>${style}</style>${svg.slice(end)}`)}`;
}

const list = names => names.join(", ");
const inventory = held => Object.entries(held).map(([name, count]) => `${name} ${count}`).join(", ") || "nothing";
const SAYS = { // an event in words
  status: e => `${e.agent}: ${e.from} → ${e.to}`,
  plan: e => `${e.agent} plans (${e.plan}) ${e.task || "–"}: ${e.calls.join("; ")}${e.fallback ? " [fallback]" : ""}`,
  message: e => `${e.sender} → ${list(e.recipients)} (${e.kind}): ${e.text}`,
  call: e => `${e.agent}: ${e.call}: ${e.outcome}, ${e.reason}`,
  step: e => Object.entries(e.actions).map(([agent, action]) => `${agent} ${action}`).join(", "),
  attempt: e => `${list(e.agents)} at ${e.task}: ${e.success ? "done" : "in vain"}, takes ${e.participants}; ` +
    Object.entries(e.counts).map(([name, count]) => `${name} ${count}`).join(", "),
  completed: e => `${e.task} completed by ${list(e.agents)}: +${e.score}`,
  task: e => `${e.task} is ${e.status.replace("_", " ")}`,
  capability: e => `${e.agent} holds ${inventory(e.inventory)}`,
  check: e => `foreseen: ${Object.keys(e.failing).map(task => `${task} fails`).concat(e.passed.map(task => `${task} fits`)).join(", ")}`,
  repair: e => `repair of ${e.task} among ${list(e.agents)}: ${list(e.constraints)}`,
  cooldown: e => `${e.task} is likely to fail, but was repaired not long ago`,
  left: e => `${e.agent} has died`,
  end: e => `the end: ${e.reason}`,
};

const steps = Math.max(0, ...trace.map(event => event.step));
const slider = at("step");
slider.max = String(steps);

function show(step) {
  step = Math.min(Math.max(step, 0), steps);
  slider.value = String(step);
  const now = trace.filter(event => event.step === step);
  at("told").textContent = `step ${step} of ${steps}, ${now.length ? now.at(-1).at : 0} s`;
  if (step < film.frames.length) {
    at("world").src = drawn(step);
    at("world").alt = `The world after step ${step}`;
  }
  const kinds = at("quiet").checked ? ["status", "task"] : [];
  const items = now.filter(event => event.event in SAYS && !kinds.includes(event.event)).map(event => {
    const item = document.createElement("li");
    item.textContent = SAYS[event.event](event);
    return item;
  });
  at("happened").replaceChildren(...items);
  const x = Number(at("timeline").dataset.left) + Number(at("timeline").dataset.unit) * (step + (now.length ? now.at(-1).at : 0));
  at("now").setAttribute("transform", `translate(${x - Number(at("timeline").dataset.left)})`);
}

slider.addEventListener("input", () => show(Number(slider.value)));
at("quiet").addEventListener("change", () => show(Number(slider.value)));
for (const [id, by] of [["back", -1], ["on", 1]]) at(id).addEventListener("click", () => show(Number(slider.value) + by));
document.addEventListener("keydown", event => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (by && event.target !== slider) show(Number(slider.value) + by);
});
at("timeline").addEventListener("click", event => {
  const svg = at("timeline").querySelector("svg");
  const x = (event.clientX - svg.getBoundingClientRect().left - Number(at("timeline").dataset.left)) / Number(at("timeline").dataset.unit);
  const past = trace.filter(one => one.at + one.step <= x);
  show(past.length ? past.at(-1).step : 0);
});
show(0);
