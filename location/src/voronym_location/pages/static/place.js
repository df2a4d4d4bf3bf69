// Places the pin where the map is clicked or touched, and moves it by the arrow keys. Without this script the
// same form works by sending every click to the server. Nothing is fetched and nothing is kept.
"use strict";
(() => {
  const frame = document.querySelector(".frame[data-span]");
  if (!frame) return;
  const picture = frame.querySelector("svg"), pin = frame.querySelector(".pin");
  const form = document.getElementById("place"), said = document.getElementById("where");
  const { latitude, longitude, metres, east } = Object.fromEntries(
    ["latitude", "longitude", "metres", "east"].map((name) => [name, Number(frame.dataset[name])]));
  const [left, top, across] = picture.getAttribute("viewBox").split(" ").map(Number);
  const scale = pin.getAttribute("transform").split(" ").at(-1);
  let at = pin.getAttribute("transform").match(/-?[\d.]+/g).slice(0, 2).map(Number);

  const put = (x, y) => {
    pin.classList.remove("unset");
    document.getElementById("use").disabled = false;
    for (const one of document.querySelectorAll("input[name=chosen]")) one.value = "1";
    at = [Math.min(Math.max(x, left), left + across), Math.min(Math.max(y, top), top + across)];
    pin.setAttribute("transform", `translate(${at[0]} ${at[1]}) ${scale}`);
    const north = (latitude - at[1] / metres).toFixed(6), sun = (longitude + at[0] / east).toFixed(6);
    for (const one of document.querySelectorAll("input[name=latitude]")) one.value = north;
    for (const one of document.querySelectorAll("input[name=longitude]")) one.value = sun;
    said.textContent = `${Number(north).toFixed(5)}, ${Number(sun).toFixed(5)}`;
  };
  const touched = (event) => {
    const box = frame.getBoundingClientRect();
    put(left + across * (event.clientX - box.left) / box.width, top + across * (event.clientY - box.top) / box.height);
  };
  frame.classList.add("live");
  frame.tabIndex = 0;
  frame.setAttribute("role", "application");
  frame.setAttribute("aria-label", "Map: the arrow keys move the pin, Enter takes the place");
  let held = false;
  frame.addEventListener("pointerdown", (event) => { held = true; frame.setPointerCapture(event.pointerId); touched(event); });
  frame.addEventListener("pointermove", (event) => { if (held) touched(event); });
  for (const end of ["pointerup", "pointercancel"]) frame.addEventListener(end, () => { held = false; });
  frame.addEventListener("keydown", (event) => {
    const step = across / (event.shiftKey ? 16 : 128);
    const way = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
    if (way) { event.preventDefault(); put(at[0] + way[0] * step, at[1] + way[1] * step); }
    if (event.key === "Enter" && !document.getElementById("use").disabled) { event.preventDefault(); form.requestSubmit(document.getElementById("use")); }
  });
})();
