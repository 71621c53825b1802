/* What the pages gain from a script: keys, copy buttons, and marks that follow the opened
   call. Everything works without it. No inline handlers anywhere (strict CSP). */
"use strict";

const inTyping = (target) => target.closest("input, select, textarea, [contenteditable]");
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

/* --- rows: j and k walk what is in sight of the reader's last choice --- */

const ROWS = "[data-rows] tbody tr, [data-rows] > .span, [data-rows] > .message";
let walked = null;

const handleOf = (row) => row.querySelector(".row-link, summary");

function groupNow() {
  const active = document.activeElement.closest("[data-rows]");
  if (active) return active;
  return walked?.isConnected ? walked : document.querySelector("[data-rows]");
}

function walk(step) {
  walked = groupNow();
  if (!walked) return;
  const rows = all(ROWS).filter((row) => walked.contains(row) && handleOf(row));
  const at = rows.findIndex((row) => row.classList.contains("is-at"));
  const start = at >= 0 ? at : rows.findIndex((row) => row.querySelector("[aria-current]"));
  const next = rows[Math.min(rows.length - 1, Math.max(0, start + step))];
  if (!next) return;
  all(".is-at").forEach((row) => row.classList.remove("is-at"));
  next.classList.add("is-at");
  handleOf(next).focus();
  next.scrollIntoView({ block: "nearest" });
}

/* --- keys --- */

const follow = (selector) => document.querySelector(selector)?.click();

const KEYS = {
  j: () => walk(1),
  k: () => walk(-1),
  "/": () => document.querySelector("[data-slash]")?.focus(),
  "?": () => document.getElementById("keys").showModal(),
  "[": () => follow("#call [rel=prev]"),
  "]": () => follow("#call [rel=next]"),
};
for (const place of "1234") KEYS[place] = () => follow(`#call [data-key="${place}"]`);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && inTyping(event.target)) event.target.blur();
  if (inTyping(event.target) || document.querySelector("dialog[open]")) return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

/* --- buttons --- */

async function copyFrom(button) {
  const text = document.getElementById(button.dataset.copies).textContent;
  await navigator.clipboard.writeText(text);
  button.classList.add("is-done");
  setTimeout(() => button.classList.remove("is-done"), 1500);
}

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens]");
  if (opener) document.getElementById(opener.dataset.opens).showModal();
  const copier = event.target.closest("[data-copies]");
  if (copier) copyFrom(copier);
});

function wake() {
  // A button that only a script can serve stays hidden where there is none.
  all("[data-opens]").forEach((button) => (button.hidden = false));
  if (navigator.clipboard) all("[data-copies]").forEach((button) => (button.hidden = false));
}

/* --- the opened call: its tab stays while calls change, chart and timeline point to it --- */

const shown = () => document.getElementById("call")?.dataset;

document.addEventListener("htmx:config:request", (event) => {
  const { sourceElement, request } = event.detail.ctx;
  if (sourceElement.matches("[data-keeps-tab]")) request.body.set("tab", shown().tab);
});

document.addEventListener("htmx:after:swap", () => {
  wake();
  if (!shown()) return;
  for (const element of all("[data-goes-to][data-keeps-tab]")) {
    const { goesTo, upTo = goesTo } = element.dataset;
    if (+goesTo <= +shown().call && +shown().call <= +upTo) element.setAttribute("aria-current", "true");
    else element.removeAttribute("aria-current");
  }
  reveal();
});

/* The opened call's row comes into sight within its pane; the page itself stays put. */
function reveal() {
  const pane = document.querySelector(".timeline");
  const row = pane?.querySelector("[aria-current]")?.closest(".span");
  if (!row || pane.scrollHeight <= pane.clientHeight) return;
  const above = row.getBoundingClientRect().top - pane.getBoundingClientRect().top;
  const isInSight = above > 44 && above < pane.clientHeight - 32;
  if (!isInSight) pane.scrollTop += above - pane.clientHeight / 3;
}

/* A fragment that led elsewhere: the session ended, so the whole page goes to sign in. */
document.addEventListener("htmx:before:response", (event) => {
  if (!event.detail.ctx.response.raw.redirected) return;
  event.preventDefault();
  location.reload();
});

/* A refused fragment is shown as the whole page that explains it. */
document.addEventListener("htmx:response:error", (event) => {
  const address = event.detail.ctx?.request?.action;
  if (address && !event.target.closest("#news")) location.assign(address);
});

wake();
reveal();
