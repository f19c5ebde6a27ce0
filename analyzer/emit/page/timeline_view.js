// The timeline: reads its data and draws the visible part. Times are ns since the trace's first event.

const ROW_HEIGHT = 15, ROW_GAP = 8, AXIS = 24, PATH_HEIGHT = 18, ACTIVITY_HEIGHT = 7, LEAST_SPAN = 20;
const PALE = new Set(["section", "call", "wait", "data wait", "nothing", "recorder"]);
const CATEGORY_TEXT = { section: "section or function", call: "library call", wait: "waiting", "data wait": "waiting for data",
  data: "making data", nothing: "no event", delay: "delay", recorder: "recording", operator: "other operator" };

function readTimeline(source) {
  const data = JSON.parse(source);
  data.items = data.items.map(([text, category, detail]) => ({ text, category, detail, label: shortName(text) }));
  for (const window of data.windows) {
    window.lanes = window.lanes.map((numbers) => {
      const lane = { row: numbers[0], depth: numbers[1], pieces: [] };
      for (let at = 2, start = 0; at < numbers.length; at += 4) {
        start += numbers[at];
        lane.pieces.push({ start, dur: numbers[at + 1], item: numbers[at + 2], count: numbers[at + 3], row: lane.row, depth: lane.depth });
      }
      return lane;
    });
  }
  data.path = data.path.map(([start, dur, item, row, count]) => ({ start, dur, item, row, count, is_path: true }));
  return data;
}

// A function without its result, namespace and arguments.
function shortName(text) {
  const end = text.search(/[<(]/);
  if (end < 1) return text;
  return text.slice(0, end).replace(/^(void|static) /, "").split("::").pop() || text;
}

function duration(ns) {
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]]) {
    if (Math.abs(ns) >= size) return (ns / size).toPrecision(4).replace(/\.?0+$/, "") + " " + unit;
  }
  return Math.round(ns) + " ns";
}

// The row of the critical path is -1.
function layOut(view) {
  let y = AXIS;
  if (view.data.path.length > 0) {
    view.path_y = y;
    y += PATH_HEIGHT + ROW_GAP;
  }
  let group = "";
  view.tops = view.data.rows.map((row) => {
    view.groups.push(row.group && row.group !== group ? { text: row.group, y } : null);
    if (row.group && row.group !== group) y += ROW_HEIGHT;
    group = row.group;
    const top = y;
    y += ACTIVITY_HEIGHT + row.depths * ROW_HEIGHT + ROW_GAP;
    return top;
  });
  view.height = y + 4;
}

function categoryVariable(category) {
  return "--" + ({ "data wait": "wait" }[category] || category).replaceAll(" ", "-");
}

function readColors(view) {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  view.colors = { text: color("--text"), soft: color("--soft"), back: color("--back"), line: color("--line"), accent: color("--accent"),
    label: color("--label"), path: color("--path"), card: color("--card") };
  view.fills = view.data.items.map((item) => color(categoryVariable(item.category)) || color("--section"));
}

function xOf(view, time) {
  return view.left + ((time - view.from) / (view.to - view.from)) * (view.width - view.left);
}
function timeOf(view, x) {
  return view.from + ((x - view.left) / (view.width - view.left)) * (view.to - view.from);
}

// The beginning and the end of the text, as much as fits.
function fittedEnds(context, text, width) {
  for (let letters = text.length; letters > 4; --letters) {
    const shown = letters === text.length ? text
      : text.slice(0, Math.ceil(letters * 0.7)) + "\u2026" + text.slice(text.length - Math.floor(letters * 0.3));
    if (context.measureText(shown).width <= width) return shown;
  }
  return text.slice(0, 4);
}

// As much of the text as fits; nothing where that is less than three letters.
function fitted(context, text, width) {
  if (width < 20) return "";
  if (context.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(text.slice(0, middle) + "\u2026").width <= width) low = middle;
    else high = middle - 1;
  }
  return low < 3 ? "" : text.slice(0, low) + "\u2026";
}

function drawAxis(view, context) {
  const span = view.to - view.from;
  const wanted = span / Math.max(2, (view.width - view.left) / 110);
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= wanted);
  context.fillStyle = view.colors.soft;
  context.strokeStyle = view.colors.line;
  context.beginPath();
  const origin = view.data.home[0];
  for (let time = Math.ceil((view.from - origin) / step) * step; time + origin < view.to; time += step) {
    const x = Math.round(xOf(view, time + origin)) + 0.5;
    context.moveTo(x, AXIS - 4);
    context.lineTo(x, view.height);
    const text = Math.abs(time) < step / 2 ? "0" : duration(time);
    if (x + 3 + context.measureText(text).width < view.width) context.fillText(text, x + 3, 14);
  }
  context.stroke();
}

function drawPiece(view, context, piece, y, height, from, to) {
  const start = Math.max(piece.start, from), end = Math.min(piece.start + piece.dur, to);
  if (end < view.from || start > view.to) return;
  const x = Math.max(view.left, xOf(view, start));
  const width = Math.max(1, Math.min(view.width, xOf(view, end)) - x);
  const item = view.data.items[piece.item];
  context.fillStyle = view.fills[piece.item];
  context.globalAlpha = piece.count > 1 ? 0.6 : 1;
  context.fillRect(x, y, width > 3 ? width - 0.5 : width, height - 1);
  context.globalAlpha = 1;
  if (width < 24) return;
  context.fillStyle = PALE.has(item.category) ? view.colors.text : view.colors.label;
  const text = piece.count > 1 ? piece.count.toLocaleString("en") + " \u00d7 " + item.label : item.label;
  context.fillText(fitted(context, text, width - 6), x + 3, y + height - 4);
}

// A bar of how much runs in each part of the whole recording: also where there are no events on the page.
function drawActivity(view, context, row, y) {
  const parts = row.activity.length, length = view.data.length / parts;
  context.fillStyle = view.colors.soft;
  for (let at = Math.max(0, Math.floor(view.from / length)); at < parts && at * length < view.to; ++at) {
    const share = row.activity.charCodeAt(at) - 48;
    if (share === 0) continue;
    const x = Math.max(view.left, xOf(view, at * length));
    context.globalAlpha = 0.12 + share * 0.05;
    context.fillRect(x, y, Math.max(1, Math.min(view.width, xOf(view, (at + 1) * length)) - x), ACTIVITY_HEIGHT - 3);
  }
  context.globalAlpha = 1;
}

function drawRowTitles(view, context) {
  context.fillStyle = view.colors.back;
  context.fillRect(0, 0, view.left, view.height);
  context.textAlign = "left";
  context.fillStyle = view.colors.text;
  if (view.data.path.length > 0) context.fillText("Critical path", 8, view.path_y + 13);
  view.data.rows.forEach((row, at) => {
    if (view.groups[at]) {
      context.fillStyle = view.colors.soft;
      context.fillText(fittedEnds(context, view.groups[at].text, view.left - 14), 8, view.groups[at].y + 11);
    }
    context.fillStyle = at === view.row ? view.colors.accent : view.colors.text;
    context.fillText(fittedEnds(context, row.title, view.left - 16), 8, view.tops[at] + ACTIVITY_HEIGHT + 11);
  });
  context.strokeStyle = view.colors.line;
  context.beginPath();
  context.moveTo(view.left - 0.5, 0);
  context.lineTo(view.left - 0.5, view.height);
  context.stroke();
}

function drawPath(view, context) {
  for (const step of view.data.path) {
    drawPiece(view, context, step, view.path_y, PATH_HEIGHT, 0, view.data.length);
    if (step.row < 0 || step.start > view.to || step.start + step.dur < view.from) continue;
    const x = Math.max(view.left, xOf(view, step.start));
    const width = Math.max(1, Math.min(view.width, xOf(view, step.start + step.dur)) - x);
    context.fillStyle = view.colors.path;
    context.fillRect(x, view.tops[step.row] + ACTIVITY_HEIGHT - 3, width, 2);
  }
}

function drawMark(view, context, mark, color) {
  if (!mark) return;
  const has_row = mark.row !== undefined && mark.row >= 0;
  const top = mark.is_path ? view.path_y : has_row ? view.tops[mark.row] + ACTIVITY_HEIGHT + (mark.depth || 0) * ROW_HEIGHT : AXIS;
  const height = mark.is_path ? PATH_HEIGHT : mark.depth !== undefined ? ROW_HEIGHT
    : has_row ? view.data.rows[mark.row].depths * ROW_HEIGHT : view.height - AXIS - 2;
  const x = Math.max(view.left, xOf(view, mark.start)), end = Math.min(view.width, xOf(view, mark.start + mark.dur));
  if (end < view.left || x > view.width) return;
  context.fillStyle = color;
  context.strokeStyle = color;
  context.lineWidth = 2;
  if (mark.depth === undefined) {
    context.globalAlpha = 0.16;
    context.fillRect(x, top, Math.max(2, end - x), height);
    context.globalAlpha = 1;
  }
  context.strokeRect(x + 1, top, Math.max(2, end - x - 2), height - 1);
  context.lineWidth = 1;
}

function draw(view) {
  const ratio = devicePixelRatio || 1;
  view.width = Math.max(320, view.stage.clientWidth);
  view.left = Math.min(225, Math.round(view.width * 0.28));
  const canvas = view.canvas, context = canvas.getContext("2d");
  if (canvas.width !== Math.round(view.width * ratio) || canvas.height !== Math.round(view.height * ratio)) {
    canvas.width = Math.round(view.width * ratio);
    canvas.height = Math.round(view.height * ratio);
    canvas.style.width = view.width + "px";
    canvas.style.height = view.height + "px";
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = "11px system-ui, 'Segoe UI', 'Noto Sans', sans-serif";
  context.fillStyle = view.colors.back;
  context.fillRect(0, 0, view.width, view.height);
  drawAxis(view, context);
  view.data.rows.forEach((row, at) => drawActivity(view, context, row, view.tops[at]));
  for (const window of view.data.windows) {
    if (window.begin > view.to || window.end < view.from) continue;
    for (const lane of window.lanes) {
      const y = view.tops[lane.row] + ACTIVITY_HEIGHT + lane.depth * ROW_HEIGHT;
      for (const piece of lane.pieces) drawPiece(view, context, piece, y, ROW_HEIGHT, window.begin, window.end);
    }
  }
  if (view.data.path.length > 0) drawPath(view, context);
  drawMark(view, context, view.place, view.colors.accent);
  drawMark(view, context, view.event, view.colors.text);
  drawRowTitles(view, context);
}

function redraw(view) {
  if (view.is_waiting) return;
  view.is_waiting = true;
  requestAnimationFrame(() => {
    view.is_waiting = false;
    draw(view);
  });
}
