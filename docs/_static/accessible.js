// What the theme leaves out for people who listen to a page or use the keyboard alone.
document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("p.caption[role=heading]").forEach((caption) => caption.setAttribute("aria-level", "2"));
  document.querySelectorAll("aside.sidebar-drawer").forEach((aside) => aside.setAttribute("aria-label", "All pages"));
  document.querySelectorAll("aside.toc-drawer").forEach((aside) => aside.setAttribute("aria-label", "This page"));
  document.querySelectorAll("div.highlight pre, div.table-wrapper").forEach((box) => (box.tabIndex = 0));
  document.querySelectorAll("th").forEach((head) => {
    if (head.textContent.trim() === "") head.replaceWith(document.createElement("td"));
  });
});
