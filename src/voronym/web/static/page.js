"use strict";
// The page works by links and forms; this adds what they cannot: keeping every change at once, dropping files,
// live counts and progress.

const say = (id, text) => { const place = document.getElementById(id); if (place) place.textContent = text; };

// -- every change is kept at once: only the fields that changed are sent, so that two windows do not undo each other
const keeping = { waiting: new Map(), line: Promise.resolve(), timer: 0, stay: String(Math.random()) };
document.addEventListener("focusin", () => { keeping.stay = String(Math.random()); });  // typing on is one change
const value = (field) => field.type === "checkbox" ? (field.checked ? field.value : "") : field.value;

function note(field) {
  const form = field.closest("form[data-keep]");
  if (!form || !field.name || field.type === "file" || field.name === "ticket" || field.dataset.part) return;
  if (!keeping.waiting.has(form)) keeping.waiting.set(form, new Map());
  keeping.waiting.get(form).set(field.name, value(field));
  say("saved", "…");
}

function flush() {
  clearTimeout(keeping.timer);
  const batch = [...keeping.waiting];
  keeping.waiting.clear();
  const stay = keeping.stay;
  for (const [form, fields] of batch) {
    keeping.line = keeping.line.then(async () => {
      const body = new URLSearchParams(fields);
      body.set("screen", form.dataset.screen);
      body.set("source", stay + ":" + [...fields.keys()].join(","));
      try {
        const answer = await fetch(form.dataset.keep, { method: "POST", body, keepalive: true });
        if (!answer.ok) throw new Error();
        const told = await answer.json();
        const others = told.version > Number(form.dataset.version) + 1;  // another window changed something meanwhile
        if (!others) for (const one of document.querySelectorAll("form[data-keep]")) one.dataset.version = told.version;
        say("saved", others ? "Kept. Another window changed something, too: it is shown when you come back to this one." : "Kept.");
        for (const button of document.querySelectorAll(".undo form[action$=undo] button")) button.disabled = false;
        for (const place of document.querySelectorAll("[data-after-keep]")) place.dispatchEvent(new Event("again"));
        for (const live of document.querySelectorAll("form[data-live]")) live.dispatchEvent(new Event("recount"));
      } catch (_) { say("saved", ""); say("lost", "voronym page does not answer; the last change may not have been kept."); }
    });
  }
  return keeping.line;
}

document.addEventListener("input", (event) => {
  note(event.target);
  clearTimeout(keeping.timer);
  keeping.timer = setTimeout(flush, 400);
});
document.addEventListener("change", (event) => {
  const field = event.target;
  if (field.form && field.form.dataset.keep) { note(field); flush(); }
  const card = field.closest && field.closest("[data-role]");
  if (card && field.name && field.name.startsWith("role-")) card.dataset.role = field.value;
  if (field.name) say("error-" + field.name, "");  // it was about what stood there before
  if (field.name === "k") for (const out of document.querySelectorAll("[data-k-here]")) out.textContent = field.value || "k";
  if (field.name === "show-rows") { const table = field.closest(".preview-table"); if (table) table.dataset.show = field.value; }
});
addEventListener("pagehide", () => { flush(); });

// A link waits until what was typed is kept.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || link.target || link.hasAttribute("download")) return;
  if (link.getAttribute("href").startsWith("#") || !document.querySelector("form[data-keep]")) return;
  event.preventDefault();
  flush().then(() => location.assign(link.href));
});
// So does a button; what was kept is not sent again, since it may be older than what another window chose.
for (const form of document.querySelectorAll("form[data-keep], .undo form")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (form.dataset.sent) return;
    form.dataset.sent = "1";
    flush().then(() => {
      if (form.dataset.keep) {
        const kept = document.createElement("input");
        kept.type = "hidden"; kept.name = "kept"; kept.value = "1";
        for (const field of form.elements) if (field.name !== "ticket") field.disabled = true;
        form.append(kept);
      }
      form.submit();
    });
  });
}
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
// A window that is looked at again shows what another one chose.
addEventListener("focus", async () => {
  const form = document.querySelector("form[data-state]");
  if (!form || keeping.waiting.size) return;
  try {
    await keeping.line;
    const told = await (await fetch(form.dataset.state)).json();
    if (String(told.version) !== form.dataset.version) location.reload();
  } catch (_) { /* the next change says so */ }
});
for (const place of document.querySelectorAll("[data-focus]")) { place.focus(); break; }

// -- uploads: the bytes of the file are the body, so that they are streamed ---------------------------------
for (const form of document.querySelectorAll("form[data-upload]")) {
  const input = form.querySelector("input[type=file]");
  const field = form.dataset.field;
  const send = async (files) => {
    const file = files && files[0];
    if (!file) { say("error-" + field, "choose a file first"); return; }
    say("error-" + field, "");
    form.classList.add("busy");
    say("status-" + field, "reading " + file.name + " …");
    try {
      const query = new URLSearchParams();
      for (const [name, value] of new FormData(form)) if (typeof value === "string" && value) query.append(name, value);
      let answer = {}, place = form.dataset.upload;
      const several = input.multiple && files.length > 1;
      if (several) { place = "/parts"; query.set("of", files.length); query.set("set", crypto.randomUUID()); }
      for (const part of several ? [...files].sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true })) : [file]) {
        query.set("name", part.name);
        say("status-" + field, "reading " + part.name + " …");
        answer = await (await fetch(place + "?" + query, { method: "POST", body: part })).json();
        if (answer.error) break;
      }
      if (answer.go) { location.assign(answer.go); return; }
      say("error-" + field, answer.error);
      for (const more of form.querySelectorAll("details")) more.open = true;
    } catch (_) {
      say("error-" + field, "the file could not be sent: it may be too large, or voronym page has ended");
    }
    say("status-" + field, "");
    form.classList.remove("busy");
    input.value = "";
  };
  input.addEventListener("change", () => send(input.files));
  form.addEventListener("submit", (event) => { event.preventDefault(); send(input.files); });
  form.addEventListener("dragover", (event) => { event.preventDefault(); form.classList.add("over"); });
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    event.preventDefault(); form.classList.remove("over");
    send(event.dataTransfer.files);
  });
}

// -- live counts: what the choices mean, as soon as they are kept --------------------------------------------
for (const form of document.querySelectorAll("form[data-live]")) {
  let turn = 0;
  const ask = async () => {
    const mine = ++turn;
    try {
      const answer = await fetch(form.dataset.live, { method: "POST", body: new URLSearchParams() });
      const told = await answer.json();
      if (mine === turn) for (const [id, text] of Object.entries(told.set || {})) say(id, text);
    } catch (_) { /* the page says so at the next step */ }
  };
  form.addEventListener("recount", ask);
  ask();
}

// -- pieces of the page that are asked for again and again ---------------------------------------------------
for (const place of document.querySelectorAll("[data-poll]")) {
  let last = "", timer = 0, turn = 0, seen = "";
  const ask = async (method = "GET") => {
    const mine = ++turn;
    let more = true;
    try {
      const answer = await fetch(place.dataset.poll + (seen ? "?seen=" + seen : ""), { method });
      if (mine !== turn) return;
      const go = answer.headers.get("x-go");
      if (go) { location.replace(go); return; }
      more = answer.headers.get("x-more") === "1";
      seen = answer.headers.get("x-seen") || "";
      if (answer.ok) {
        const text = await answer.text();
        if (mine === turn && text !== last) { last = text; renew(place, text); }
      } else if (answer.status === 404 || answer.status === 403) { location.reload(); return; }
      say("lost", "");
    } catch (_) { say("lost", "voronym page does not answer; it may have ended."); }
    if (more) timer = setTimeout(() => ask(), Number(place.dataset.every || 400));
  };
  place.addEventListener("again", () => { clearTimeout(timer); ask(); });
  place.addEventListener("click", (event) => {
    if (event.target.closest("[data-everything]")) { clearTimeout(timer); ask("POST"); }
  });
  ask();
}

function renew(place, text) {
  const open = place.opened ||= new Set();  // a part that is missing for a while is open again when it returns
  for (const part of place.querySelectorAll("details[id]")) open[part.open ? "add" : "delete"](part.id);
  const focus = document.activeElement && place.contains(document.activeElement) ? document.activeElement.id : "";
  place.innerHTML = text;
  for (const id of open) { const one = document.getElementById(id); if (one) one.open = true; }
  if (focus) { const one = document.getElementById(focus); if (one) one.focus(); }
  const [from, to] = (place.dataset.move || "").split(":");
  const part = from && place.querySelector("#" + from);
  if (part) {
    const target = document.getElementById(to), old = target.firstElementChild;
    if (old && old.dataset.show) {
      part.dataset.show = old.dataset.show;
      for (const one of part.querySelectorAll("[name=show-rows]")) one.checked = one.value === old.dataset.show;
    }
    target.replaceChildren(part);
  }
}

// -- a mark of the picture chooses k, and nothing else -------------------------------------------------------
document.addEventListener("click", (event) => {
  const point = event.target.closest("[data-k]");
  if (point) {
    const k = document.querySelector("[name=k]");
    k.value = point.dataset.k;
    k.dispatchEvent(new Event("change", { bubbles: true }));
    return;
  }
  const chosen = event.target.closest("[data-choose]");  // from a group: kept, and shown in its field
  if (chosen) {
    const form = document.querySelector("form[data-keep]"), body = new URLSearchParams({ screen: chosen.dataset.choose, [chosen.dataset.field]: chosen.dataset.value });
    flush().then(() => fetch(form.dataset.keep, { method: "POST", body })).then(() => location.reload());
    return;
  }
  const kinds = event.target.closest("[data-kinds]");
  if (kinds) {
    for (const i of kinds.dataset.kinds.split(",")) {
      const field = document.querySelector("[name=kind-" + i + "]");
      field.value = "nominal"; note(field);
    }
    flush(); kinds.closest("p").remove();
    return;
  }
  const add = event.target.closest("[data-add]");
  if (add) {
    const part = (name) => add.parentElement.querySelector("[data-part=" + name + "]").value;
    const quoted = /[\s="']/.test(part("column")) ? JSON.stringify(part("column")) : part("column");
    const word = part("step"), number = part("value").trim();
    const line = word === "recode" ? "recode " + quoted + " level=" + number : word === "suppress" ? "suppress " + quoted + " rare=" + number : word + " " + quoted + "=" + number;
    const box = document.getElementById(add.dataset.add);
    box.value = (box.value.trim() ? box.value.trim() + "\n" : "") + line;
    box.dispatchEvent(new Event("change", { bubbles: true }));
    return;
  }
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    const text = document.getElementById(copy.dataset.copy).textContent;
    const done = () => say("copied", "copied");
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, () => {}); else done();
  }
});
