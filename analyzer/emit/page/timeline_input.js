// What the reader does with the timeline: mouse, keys, buttons, and clicks on findings.

function show(view, from, to) {
  const length = view.data.length;
  const span = Math.min(Math.max(to - from, LEAST_SPAN), length * 1.04);
  const middle = (from + to) / 2;
  view.from = Math.min(Math.max(middle - span / 2, -0.02 * length), 1.02 * length - span);
  view.to = view.from + span;
  // What the page shows, for tests and for programs that read it.
  view.stage.dataset.from = Math.round(view.from);
  view.stage.dataset.to = Math.round(view.to);
  redraw(view);
}

function zoom(view, factor, around) {
  show(view, around - (around - view.from) * factor, around + (view.to - around) * factor);
}
function move(view, share) {
  const by = (view.to - view.from) * share;
  show(view, view.from + by, view.to + by);
}
function showHome(view) {
  const [from, to] = view.data.home;
  show(view, from - (to - from) * 0.01, to + (to - from) * 0.01);
}
function showAll(view) { show(view, 0, view.data.length); }
function fit(view, mark) {
  const margin = Math.max(mark.dur * 0.5, LEAST_SPAN);
  show(view, mark.start - margin, mark.start + mark.dur + margin);
}

function describe(view, piece) {
  const item = view.data.items[piece.item];
  const where = piece.is_path ? "critical path" : view.data.rows[piece.row].title;
  const what = piece.count > 1
    ? `${piece.count.toLocaleString("en")} ${piece.is_path ? "steps" : "short events"}, the longest is ${item.text}` : item.text;
  const parts = [what, `${CATEGORY_TEXT[item.category] || item.category}${item.detail ? " (" + item.detail + ")" : ""}`,
    `${duration(piece.dur)}${piece.count > 1 ? " together" : ""}, from ${duration(piece.start - view.data.home[0])}`, `on ${where}`];
  return parts.join("; ");
}

// All of a row, by time; the critical path is row -1. An event that lasts through several windows is in each of them.
function eventsOf(view, row) {
  if (row < 0) return view.data.path;
  const found = new Map();
  for (const window of view.data.windows) {
    for (const lane of window.lanes) {
      if (lane.row !== row) continue;
      for (const piece of lane.pieces) {
        const name = `${piece.depth} ${piece.start} ${piece.dur}`;
        if (!found.has(name)) found.set(name, piece);
      }
    }
  }
  return [...found.values()].sort((a, b) => a.start - b.start || a.depth - b.depth);
}

function hit(view, x, y) {
  if (x < view.left) return null;
  const time = timeOf(view, x), slack = ((view.to - view.from) / view.width) * 2;
  const touches = (piece) => piece.start - slack <= time && time <= piece.start + piece.dur + slack;
  const nearest = (pieces) => pieces.filter(touches)
    .sort((a, b) => Math.abs(a.start + a.dur / 2 - time) - Math.abs(b.start + b.dur / 2 - time))[0] || null;
  if (view.data.path.length > 0 && y >= view.path_y && y < view.path_y + PATH_HEIGHT) return nearest(view.data.path);
  const row = view.data.rows.findIndex((one, at) => y >= view.tops[at] + ACTIVITY_HEIGHT &&
    y < view.tops[at] + ACTIVITY_HEIGHT + one.depths * ROW_HEIGHT);
  if (row < 0) return null;
  const depth = Math.floor((y - view.tops[row] - ACTIVITY_HEIGHT) / ROW_HEIGHT);
  return nearest(eventsOf(view, row).filter((piece) => piece.depth === depth));
}

function select(view, piece) {
  view.event = piece;
  if (piece) {
    view.row = piece.is_path ? -1 : piece.row;
    view.detail.textContent = describe(view, piece);
    const span = view.to - view.from;
    if (piece.start + piece.dur < view.from || piece.start > view.to) show(view, piece.start - span / 2, piece.start + span / 2);
    const top = piece.is_path ? 0 : view.tops[piece.row];
    if (top < view.stage.scrollTop || top > view.stage.scrollTop + view.stage.clientHeight - 40) view.stage.scrollTop = top - 60;
  }
  redraw(view);
}

function step(view, by) {
  const events = eventsOf(view, view.row);
  let at = events.indexOf(view.event);
  if (at < 0) at = events.findIndex((piece) => piece.start >= view.from) - (by > 0 ? 1 : 0);
  if (events.length > 0) select(view, events[Math.min(Math.max(at + by, 0), events.length - 1)]);
}

function stepRow(view, by) {
  const least = view.data.path.length > 0 ? -1 : 0;
  const time = view.event ? view.event.start : view.from;
  for (let row = view.row + by; row >= least && row < view.data.rows.length; row += by) {
    const next = eventsOf(view, row).find((piece) => piece.start + piece.dur >= time);
    if (!next) continue;
    view.row = row;
    select(view, next);
    return;
  }
}

function onKey(view, event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const middle = (view.from + view.to) / 2;
  const actions = { ArrowRight: () => step(view, 1), ArrowLeft: () => step(view, -1), ArrowDown: () => stepRow(view, 1),
    ArrowUp: () => stepRow(view, -1), Enter: () => view.event && fit(view, view.event), Home: () => showHome(view), 0: () => showAll(view),
    "+": () => zoom(view, 0.5, middle), "=": () => zoom(view, 0.5, middle), "-": () => zoom(view, 2, middle), w: () => zoom(view, 0.5, middle),
    s: () => zoom(view, 2, middle), a: () => move(view, -0.25), d: () => move(view, 0.25),
    Escape: () => { view.event = view.place = null; view.detail.textContent = ""; redraw(view); } };
  const action = actions[event.key] || actions[event.key.toLowerCase()];
  if (!action) return;
  event.preventDefault();
  action();
}

function showHint(view, event, piece) {
  view.hint.hidden = !piece;
  if (!piece) return;
  view.hint.textContent = describe(view, piece);
  const box = view.hint.getBoundingClientRect();
  view.hint.style.left = Math.min(event.clientX + 12, innerWidth - box.width - 8) + "px";
  view.hint.style.top = Math.min(event.clientY + 16, innerHeight - box.height - 8) + "px";
}

function addMouse(view) {
  const canvas = view.canvas;
  const at = (event) => hit(view, event.offsetX, event.offsetY);
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.offsetX < view.left) return;
    drag = { x: event.clientX, from: view.from, to: view.to, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return showHint(view, event, at(event));
    drag.moved ||= Math.abs(event.clientX - drag.x) > 3;
    const by = ((drag.x - event.clientX) / (view.width - view.left)) * (drag.to - drag.from);
    if (drag.moved) show(view, drag.from + by, drag.to + by);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) select(view, at(event));
    drag = null;
  });
  canvas.addEventListener("pointercancel", () => { drag = null; });
  canvas.addEventListener("pointerleave", () => { view.hint.hidden = true; });
  canvas.addEventListener("dblclick", (event) => {
    const piece = at(event);
    if (piece) fit(view, piece);
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;  // the page scrolls
    event.preventDefault();
    if (event.ctrlKey) zoom(view, event.deltaY > 0 ? 1.25 : 0.8, timeOf(view, event.offsetX));
    else move(view, event.deltaX / view.width);
  }, { passive: false });
}

function addButtons(view, tools) {
  const middle = () => (view.from + view.to) / 2;
  const buttons = [["Beginning view", () => showHome(view)], ["Whole recording", () => showAll(view)], ["Zoom in", () => zoom(view, 0.5, middle())],
    ["Zoom out", () => zoom(view, 2, middle())], ["Left", () => move(view, -0.5)], ["Right", () => move(view, 0.5)]];
  for (const [text, action] of buttons) {
    const button = element("button", text, { type: "button" });
    button.addEventListener("click", action);
    tools.append(button);
  }
}

function addLegend(view, legend) {
  const categories = [...new Set(view.data.items.map((item) => item.category))].sort();
  for (const category of categories) {
    const entry = element("li");
    const swatch = element("i");
    swatch.style.background = `var(${categoryVariable(category)})`;
    entry.append(swatch, CATEGORY_TEXT[category] || category);
    legend.append(entry);
  }
  const notes = ["Pale: several short events.", "Grey bars: activity in the whole recording."];
  if (view.data.path.length > 0) notes.push("Red line: on the critical path.");
  if (view.data.shortest > 0) notes.push("The shortest events are left out, so that the page stays small.");
  legend.append(element("li", notes.join(" ")));
}

// The place of a row of evidence: its range on its row, or on all rows.
function showPlace(view, name) {
  const [start, dur, row] = view.data.places[name];
  view.place = { start, dur, row };
  view.event = null;
  if (row >= 0) view.row = row;
  fit(view, view.place);
  for (const shown of document.querySelectorAll("tr.shown")) shown.classList.remove("shown");
  const button = document.querySelector(`[data-place="${name}"]`);
  button?.closest("tr")?.classList.add("shown");
  const title = button?.closest("section")?.querySelector("h3")?.textContent || "";
  view.detail.textContent = `${title}: ${dur > 0 ? duration(dur) : "at one moment"}, from ${duration(start - view.data.home[0])}` +
    (row >= 0 ? `, on ${view.data.rows[row].title}` : "");
  view.stage.scrollTop = row >= 0 ? view.tops[row] - 60 : 0;
  document.getElementById("timeline").scrollIntoView({ block: "start" });
  view.stage.focus({ preventScroll: true });
}

function linkFindings(view) {
  for (const button of document.querySelectorAll("td button.place")) {
    button.title = "Show in the timeline";
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      showPlace(view, button.dataset.place);
    });
  }
  for (const section of document.querySelectorAll("#findings section")) {
    const first = section.querySelector("[data-place]")?.dataset.place;
    if (!first) continue;
    const button = element("button", "Show in the timeline", { class: "place", type: "button" });
    section.querySelector("h3").after(button);
    section.classList.add("has-place");
    section.addEventListener("click", (event) => {
      const is_other = event.target.closest("a, th, pre") || (event.target.closest("button") && event.target !== button);
      if (!is_other && String(getSelection()) === "") showPlace(view, first);
    });
  }
}

function startTimeline() {
  const source = document.getElementById("timeline-data");
  if (!source) return;
  const section = document.getElementById("timeline"), stage = section.querySelector(".stage");
  const view = { data: readTimeline(source.textContent), stage, canvas: element("canvas"), detail: document.getElementById("timeline-detail"),
    hint: element("div", "", { class: "hint" }), groups: [], row: 0, event: null, place: null };
  for (const part of section.querySelectorAll("[hidden]")) part.hidden = false;
  view.hint.hidden = true;
  stage.append(view.canvas);
  document.body.append(view.hint);
  layOut(view);
  readColors(view);
  addMouse(view);
  addButtons(view, section.querySelector(".tools"));
  addLegend(view, section.querySelector(".legend"));
  linkFindings(view);
  stage.addEventListener("keydown", (event) => onKey(view, event));
  new ResizeObserver(() => redraw(view)).observe(stage);
  page.themeListeners.push(() => {
    readColors(view);
    draw(view);
  });
  view.detail.textContent = "Point at an event to see what it is, or press an arrow key.";
  showHome(view);
  draw(view);
}

startTimeline();
