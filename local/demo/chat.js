// The demo's conversation. It is kept in this page alone: the API is stateless.

import { element, link, markdown } from "./markdown.js";

const KEPT_TURNS = 20;
const conversation = document.getElementById("conversation");
const form = document.getElementById("ask");
const message = document.getElementById("message");
const suggestions = document.getElementById("suggestions");
const history = [];

form.addEventListener("submit", (event) => {
  event.preventDefault();
  ask(message.value.trim());
});

message.addEventListener("keydown", (event) => {
  // While an input method composes, Enter accepts its proposal.
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});

suggestions.addEventListener("click", (event) => {
  if (event.target instanceof HTMLButtonElement) ask(event.target.textContent);
});

async function ask(question) {
  if (!question || form.ariaBusy === "true") return;
  suggestions.hidden = true;
  message.value = "";
  setBusy(true);
  show("question", question);
  const waiting = show("waiting", "Reading the documentation …");
  const entry = await answered(question);
  waiting.replaceWith(entry);
  setBusy(false);
  entry.scrollIntoView({ block: "nearest" });
}

async function answered(question) {
  try {
    const reply = await fetch("/api/ai-chat", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ message: question, history }),
    });
    const body = await reply.json();
    return reply.ok ? answer(question, body) : trouble(reply, body);
  } catch {
    return item("trouble", "The server cannot be reached.");
  }
}

function answer(question, { response, sources = [], signature }) {
  history.push({ role: "user", content: question }, { role: "assistant", content: response, signature });
  history.splice(0, Math.max(0, history.length - KEPT_TURNS));
  const entry = item("answer", markdown(response));
  if (sources.length) entry.append(listed(sources));
  return entry;
}

function listed(sources) {
  const links = sources.map(({ title, url }) => element("li", link(title || url, url)));
  const block = element("div", "Sources", element("ol", ...links));
  block.className = "sources";
  return block;
}

function trouble(reply, { error, code }) {
  return item("trouble", `${error ?? `The server answers ${reply.status}.`}${advice(reply, code)}`);
}

function advice(reply, code) {
  if (code?.startsWith("history_")) {
    // Kept, it would have every further question refused.
    history.length = 0;
    return " The conversation so far is dropped: please ask again.";
  }
  const seconds = Number(reply.headers.get("Retry-After"));
  return seconds > 0 ? ` You can try again in ${spoken(seconds)}.` : "";
}

function spoken(seconds) {
  const [amount, unit] = seconds < 120 ? [seconds, "second"] : seconds < 7200 ? [seconds / 60, "minute"] : [seconds / 3600, "hour"];
  return new Intl.NumberFormat("en", { style: "unit", unit, unitDisplay: "long" }).format(Math.ceil(amount));
}

function show(kind, content) {
  const entry = item(kind, content);
  conversation.append(entry);
  entry.scrollIntoView({ block: "nearest" });
  return entry;
}

function item(kind, content) {
  const entry = element("li", content);
  entry.className = kind;
  if (kind === "trouble") entry.role = "alert";
  return entry;
}

function setBusy(busy) {
  form.ariaBusy = String(busy);
  form.querySelector("button").disabled = busy;
  if (!busy) message.focus();
}
