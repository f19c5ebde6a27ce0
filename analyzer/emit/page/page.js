// The page's theme and its tables. Texts of the trace are set as text only, never as markup.
"use strict";

function element(tag, text, attributes) {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
  return made;
}

// A file that was opened from a disk may have no storage.
function stored(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}
function store(name, value) {
  try { localStorage.setItem(name, value); } catch { /* the choice lasts as long as the page */ }
}

const page = { themeListeners: [] };

function setTheme(theme) {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  for (const listener of page.themeListeners) listener();
}

function addThemeSwitch() {
  const names = ["system", "light", "dark"];
  let chosen = Math.max(0, names.indexOf(stored("pitwall-theme")));
  const button = element("button", "", { class: "theme", type: "button" });
  const show = () => {
    button.textContent = "Theme: " + names[chosen];
    setTheme(names[chosen]);
  };
  button.addEventListener("click", () => {
    chosen = (chosen + 1) % names.length;
    store("pitwall-theme", names[chosen]);
    show();
  });
  document.querySelector("header").prepend(button);
  show();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(names[chosen]));
  // Paper is light.
  addEventListener("beforeprint", () => setTheme("light"));
  addEventListener("afterprint", () => setTheme(names[chosen]));
}

const UNITS = { ns: 1e-9, us: 1e-6, "\u00b5s": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, "%": 0.01,
  KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };

// What a cell is sorted by: its exact value where the page has it, else the number in its text, else the text.
function sortValue(cell) {
  if (!cell) return "";
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
  const text = cell.textContent.trim();
  const match = /^[<>~]?\s*(-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)\s*(%|[a-zA-Z\u00b5]*)/.exec(text);
  if (!match) return text;
  const unit = UNITS[match[2]] ?? UNITS[match[2].slice(0, 1)] ?? 1;
  return Number(match[1].replaceAll(",", "")) * unit;
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a.localeCompare(b, "en", { numeric: true });
}

function sortBy(table, heading) {
  const column = heading.cellIndex;
  const is_number = heading.classList.contains("number");
  const before = heading.getAttribute("aria-sort");
  const descending = before ? before === "ascending" : is_number;
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].map((row) => [sortValue(row.cells[column]), row]);
  rows.sort((a, b) => (descending ? compare(b[0], a[0]) : compare(a[0], b[0])));
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

function makeSortable(table) {
  if (table.tBodies[0].rows.length < 2) return;
  for (const heading of table.tHead.querySelectorAll("th")) {
    if (!heading.textContent.trim()) continue;
    const button = element("button", heading.textContent, { type: "button" });
    heading.replaceChildren(button);
    button.addEventListener("click", () => sortBy(table, heading));
  }
}

addThemeSwitch();
document.querySelectorAll("main table").forEach(makeSortable);
