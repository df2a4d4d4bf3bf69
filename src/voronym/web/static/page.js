"use strict";
// The page works by links and forms; this adds what they cannot: dropping files, live counts, and progress.

const say = (id, text) => { const place = document.getElementById(id); if (place) place.textContent = text; };

// -- uploads: the bytes of the file are the body, so that they are streamed ---------------------------------
for (const form of document.querySelectorAll("form[data-upload]")) {
  const input = form.querySelector("input[type=file]");
  const field = form.dataset.field;
  const send = async (file) => {
    if (!file) { say("error-" + field, "choose a file first"); return; }
    say("error-" + field, "");
    form.classList.add("busy");
    say("status-" + field, "reading " + file.name + " …");
    try {
      const query = new URLSearchParams();
      for (const [name, value] of new FormData(form)) if (typeof value === "string" && value) query.append(name, value);
      query.set("name", file.name);
      const answer = await fetch(form.dataset.upload + "?" + query, { method: "POST", body: file });
      const told = await answer.json();
      if (told.go) { location.assign(told.go); return; }
      say("error-" + field, told.error);
      for (const more of form.querySelectorAll("details")) more.open = true;
    } catch (_) {
      say("error-" + field, "the file could not be sent: it may be too large, or voronym page has ended");
    }
    say("status-" + field, "");
    form.classList.remove("busy");
    input.value = "";
  };
  input.addEventListener("change", () => send(input.files[0]));
  form.addEventListener("submit", (event) => { event.preventDefault(); send(input.files[0]); });
  form.addEventListener("dragover", (event) => { event.preventDefault(); form.classList.add("over"); });
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    event.preventDefault(); form.classList.remove("over");
    send(event.dataTransfer.files[0]);
  });
}

// -- live counts: what a form would mean, while it is filled in ----------------------------------------------
for (const form of document.querySelectorAll("form[data-live]")) {
  let turn = 0, timer = 0;
  const ask = async () => {
    const mine = ++turn;
    try {
      const answer = await fetch(form.dataset.live, { method: "POST", body: new URLSearchParams(new FormData(form)) });
      const told = await answer.json();
      if (mine === turn) for (const [id, text] of Object.entries(told.set || {})) say(id, text);
    } catch (_) { /* the page says so at the next step */ }
  };
  form.addEventListener("change", (event) => {
    const card = event.target.closest("[data-role]");
    if (card && event.target.name.startsWith("role-")) card.dataset.role = event.target.value;
    clearTimeout(timer); timer = setTimeout(ask, 150);
  });
  ask();
}

// -- pieces of the page that are asked for again and again ---------------------------------------------------
for (const place of document.querySelectorAll("[data-poll]")) {
  let last = "", timer = 0, turn = 0;
  const chosen = () => {
    const wanted = (place.dataset.with || "").split(",").filter(Boolean);
    return wanted.length ? "?" + wanted.map((name) => name + "=" + encodeURIComponent((document.querySelector("[name=" + name + "]") || {}).value || "")).join("&") : "";
  };
  const ask = async () => {
    const mine = ++turn;
    let more = true;
    try {
      const answer = await fetch(place.dataset.poll + chosen());
      if (mine !== turn) return;
      const go = answer.headers.get("x-go");
      if (go) { location.replace(go); return; }
      more = answer.headers.get("x-more") === "1";
      if (answer.ok) {
        const text = await answer.text();
        if (mine === turn && text !== last) { last = text; renew(place, text); }
      } else if (answer.status === 404 || answer.status === 403) { location.reload(); return; }
      say("lost", "");
    } catch (_) { say("lost", "voronym page does not answer; it may have ended."); }
    if (more) timer = setTimeout(ask, Number(place.dataset.every || 400));
  };
  place.addEventListener("again", () => { clearTimeout(timer); ask(); });
  ask();
}

function renew(place, text) {
  const open = [...place.querySelectorAll("details[open]")].map((one) => one.id);
  const focus = document.activeElement && place.contains(document.activeElement) ? document.activeElement.id : "";
  place.innerHTML = text;
  for (const id of open) { const one = document.getElementById(id); if (one) one.open = true; }
  if (focus) { const one = document.getElementById(focus); if (one) one.focus(); }
}

// -- a point of the picture chooses k and method -------------------------------------------------------------
document.addEventListener("click", (event) => {
  const point = event.target.closest("[data-k]");
  if (point) {
    const k = document.querySelector("[name=k]"), method = document.querySelector("[name=method]");
    k.value = point.dataset.k; method.value = point.dataset.method;
    k.dispatchEvent(new Event("change", { bubbles: true }));
    return;
  }
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    const text = document.getElementById(copy.dataset.copy).textContent;
    const done = () => say("copied", "copied");
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, () => {}); else done();
  }
});
document.addEventListener("change", (event) => {
  if (event.target.name) say("error-" + event.target.name, "");  // it was about what stood there before
  if (event.target.name === "k" || event.target.name === "method") {
    for (const place of document.querySelectorAll("[data-poll][data-with]")) place.dispatchEvent(new Event("again"));
    for (const out of document.querySelectorAll("[data-k-here]")) out.textContent = document.querySelector("[name=k]").value || "k";
  }
});

// -- a form is sent once -------------------------------------------------------------------------------------
for (const form of document.querySelectorAll("form[data-once]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) { event.preventDefault(); return; }
    form.dataset.sent = "1";
  });
}
addEventListener("pageshow", () => { for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent; });
