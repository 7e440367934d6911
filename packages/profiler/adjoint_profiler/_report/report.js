const data = JSON.parse(document.getElementById("data").textContent);
const [NAME, START, LENGTH, DEPTH, LANE, KIND, SEQUENCE, DETAIL, BYTES] = data.events.length ? data.events[0].keys() : [];
const colors = ["--call", "--node", "--engine", "--label", "--python", "--device"];
const DEVICE = 5, ROW = 19, AXIS = 22, GAP = 24;
const byId = (id) => document.getElementById(id);
const [flame, memory, tip, search] = ["flame", "memory", "tip", "search"].map(byId);
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function time(us) {
  const size = Math.abs(us);
  return size >= 1e6 ? `${(us / 1e6).toFixed(3)} s` : size >= 1e3 ? `${(us / 1e3).toFixed(3)} ms` : `${us.toFixed(2)} µs`;
}
function bytes(n) {
  for (const [size, unit] of [[2 ** 30, "GB"], [2 ** 20, "MB"], [2 ** 10, "KB"]])
    if (Math.abs(n) >= size) return `${(n / size).toFixed(2)} ${unit}`;
  return `${n} B`;
}

// ---- what is shown: a window of time; lanes of threads and of streams below each other

let first = Infinity, last = -Infinity;
for (const e of data.events) {
  first = Math.min(first, e[START]);
  last = Math.max(last, e[START] + e[LENGTH]);
}
if (!(last > first)) [first, last] = [0, 1];
let from = first, to = last, wanted = "", hover = -1;

const levels = data.lanes.map(() => 1);
for (const e of data.events) levels[e[LANE]] = Math.max(levels[e[LANE]], e[DEPTH] + 1);
let height = AXIS;
const tops = levels.map((n) => { const top = height; height += n * ROW + GAP; return top; });
if (!levels.length) height += ROW;

// The call that made a node, and back: by thread and sequence number. What ran on a device, and the call that put it there.
const calls = new Map(), partner = new Map();
data.events.forEach((e, i) => {
  if (e[SEQUENCE] < 0) return;
  const key = `${e[LANE]} ${e[SEQUENCE]}`;
  if (e[KIND] !== 1) { if (!calls.has(key)) calls.set(key, i); }
  else if (calls.has(key)) { partner.set(i, calls.get(key)); partner.set(calls.get(key), i); }
});
for (const [piece, call] of data.started) {
  partner.set(piece, call);
  if (!partner.has(call)) partner.set(call, piece);
}

const x = (t) => (t - from) / (to - from) * flame.clientWidth;
const top = (e) => tops[e[LANE]] + GAP - 6 + e[DEPTH] * ROW;
const matches = (e) => wanted && data.names[e[NAME]].toLowerCase().includes(wanted);

function prepared(canvas, wantedHeight) {
  const scale = window.devicePixelRatio || 1, width = canvas.clientWidth;
  canvas.style.height = `${wantedHeight}px`;
  canvas.width = width * scale;
  canvas.height = wantedHeight * scale;
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  return [pen, width];
}

function drawAxis(pen, width) {
  const step = 10 ** Math.floor(Math.log10((to - from) / 4));
  const tick = [1, 2, 5, 10].map((k) => k * step).find((s) => (to - from) / s <= 10);
  pen.fillStyle = style("--soft");
  pen.strokeStyle = style("--line");
  for (let t = Math.ceil(from / tick) * tick; t <= to; t += tick) {
    pen.beginPath();
    pen.moveTo(x(t), AXIS - 5);
    pen.lineTo(x(t), height);
    pen.stroke();
    if (x(t) < width - 50) pen.fillText(time(t), x(t) + 4, 8);
  }
}

function drawFlame() {
  const [pen, width] = prepared(flame, height);
  drawAxis(pen, width);
  const fills = colors.map(style), ink = style("--ink"), light = style("--on-bar");
  pen.fillStyle = style("--soft");
  if (data.lanes.length > 1) data.lanes.forEach((lane, i) => pen.fillText(lane, 4, tops[i] + 9));
  const lastPixel = new Map();   // events thinner than a pixel are drawn once for each pixel
  data.events.forEach((e, i) => {
    const left = x(e[START]), right = x(e[START] + e[LENGTH]);
    if (right < 0 || left > width) return;
    const key = e[LANE] * 4096 + e[DEPTH], pixel = Math.floor(left);
    if (right - left < 1 && lastPixel.get(key) === pixel && !matches(e)) return;
    lastPixel.set(key, pixel);
    const a = Math.max(left, 0), w = Math.max(Math.min(right, width) - a, 1);
    pen.globalAlpha = wanted && !matches(e) ? 0.22 : 1;
    pen.fillStyle = fills[e[KIND]];
    pen.fillRect(a, top(e), Math.max(w - 0.7, 0.8), ROW - 2);
    if (w > 30) {
      pen.save();
      pen.beginPath();
      pen.rect(a, top(e), w - 5, ROW - 2);
      pen.clip();
      pen.fillStyle = e[KIND] === 2 ? ink : light;
      pen.fillText(data.names[e[NAME]].replace("autograd::engine::evaluate_function: ", "evaluate "), a + 4, top(e) + ROW / 2 - 0.5);
      pen.restore();
    }
    pen.globalAlpha = 1;
    if (i === hover) outline(pen, e, a, w, ink);
  });
  if (hover >= 0 && partner.has(hover)) drawArrow(pen, ink);
}

function outline(pen, e, left, width, color) {
  pen.strokeStyle = color;
  pen.lineWidth = 1.6;
  pen.strokeRect(left + 0.5, top(e) + 0.5, Math.max(width - 1.6, 1), ROW - 3);
  pen.lineWidth = 1;
}

function drawArrow(pen, color) {
  const [a, b] = [hover, partner.get(hover)].map((i) => data.events[i]).sort((p, q) => p[START] - q[START]);
  const [x0, y0, x1, y1] = [x(a[START] + a[LENGTH]), top(a) + ROW / 2, x(b[START]), top(b) + ROW / 2];
  const bend = Math.max(30, Math.abs(x1 - x0) / 3);
  pen.strokeStyle = pen.fillStyle = color;
  pen.lineWidth = 1.6;
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.bezierCurveTo(x0 + bend, y0 + 3 * ROW, x1 - bend, y1 + 3 * ROW, x1 - 2, y1 + 2);
  pen.stroke();
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x1 - 9, y1 + 2);
  pen.lineTo(x1 - 5, y1 + 9);
  pen.fill();
  pen.lineWidth = 1;
  for (const e of [a, b]) outline(pen, e, Math.max(x(e[START]), 0), Math.max(x(e[START] + e[LENGTH]) - Math.max(x(e[START]), 0), 1), color);
}

// ---- memory

const curves = Object.entries(data.memory).map(([device, curve]) => {
  const lives = curve.map((m) => m[1]), canvas = document.createElement("canvas");
  canvas.setAttribute("aria-label", `Memory of tensors over time, ${device}`);
  memory.append(canvas);
  return { device, curve, canvas, least: lives.reduce((a, b) => Math.min(a, b), 0), most: lives.reduce((a, b) => Math.max(a, b), 1) };
});

function drawMemory({ device, curve, canvas, least, most }) {
  const tall = 110, [pen, width] = prepared(canvas, tall);
  const y = (n) => tall - 6 - (n - least) / (most - least) * (tall - 30);
  pen.fillStyle = style("--label");
  pen.beginPath();
  pen.moveTo(0, y(0));
  let level = y(0), pixel = 0;
  for (const [t, live] of curve) {
    const at = Math.max(x(t), 0);
    if (x(t) > width) break;
    if (at - pixel >= 0.5 || y(live) < level) {
      pen.lineTo(pixel, level);   // what was left out since then
      pen.lineTo(at, level);
      pen.lineTo(at, y(live));
      pixel = at;
    }
    level = y(live);
  }
  pen.lineTo(width, level);
  pen.lineTo(width, y(0));
  pen.globalAlpha = 0.35;
  pen.fill();
  pen.globalAlpha = 1;
  pen.strokeStyle = style("--label");
  pen.stroke();
  pen.fillStyle = style("--soft");
  pen.fillText(`Memory of tensors${device === "cpu" ? "" : ` on ${device}`}: at most ${bytes(most)}`, 4, 9);
}

// ---- moving about

let due = false;
function draw() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => { due = false; drawFlame(); curves.forEach(drawMemory); });
}
function show(a, b) {
  const least = 0.05, middle = (a + b) / 2, half = Math.max((b - a) / 2, least);
  [from, to] = [middle - half, middle + half];
  if (to - from >= last - first) [from, to] = [first, last];
  else if (from < first) [from, to] = [first, first + 2 * half];
  else if (to > last) [from, to] = [last - 2 * half, last];
  draw();
}
function zoom(factor, share) {
  const at = from + (to - from) * share, size = (to - from) * factor;
  show(at - size * share, at + size * (1 - share));
}
function at(event) {
  const box = flame.getBoundingClientRect(), t = from + (event.clientX - box.left) / box.width * (to - from), y = event.clientY - box.top;
  const slack = (to - from) / box.width;
  return data.events.findLastIndex((e) => e[START] - slack <= t && t <= e[START] + e[LENGTH] + slack && top(e) <= y && y < top(e) + ROW);
}
function relation(kind, other) {
  return kind === DEVICE ? "started by" : other === DEVICE ? "on the device:" : kind === 1 ? "made by" : "in backward:";
}
function point(event) {
  const found = at(event);
  if (found !== hover) { hover = found; draw(); }
  tip.hidden = found < 0;
  if (found < 0) return;
  const e = data.events[found], other = partner.get(found);
  tip.replaceChildren(Object.assign(document.createElement("b"), { textContent: data.names[e[NAME]] }));
  tip.append(`${time(e[LENGTH])}, begins at ${time(e[START])}`);
  if (e[BYTES]) tip.append(`\n${bytes(e[BYTES])} of its own`);
  if (data.details[e[DETAIL]]) tip.append(`\n${data.details[e[DETAIL]]}`);
  if (other !== undefined) tip.append(`\n${relation(e[KIND], data.events[other][KIND])} ${data.names[data.events[other][NAME]]}`);
  const box = flame.getBoundingClientRect(), left = event.clientX - box.left + 14;
  tip.style.left = `${Math.max(0, Math.min(left, box.width - tip.offsetWidth - 4))}px`;
  tip.style.top = `${event.clientY - box.top + 18}px`;
}

flame.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, event.offsetX / flame.clientWidth);
}, { passive: false });
let drag = null;
flame.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, from, to, moved: false }; flame.setPointerCapture(event.pointerId); });
flame.addEventListener("pointermove", (event) => {
  if (!drag) return point(event);
  const by = (drag.x - event.clientX) / flame.clientWidth * (drag.to - drag.from);
  drag.moved = drag.moved || Math.abs(drag.x - event.clientX) > 3;
  if (drag.moved) show(drag.from + by, drag.to + by);
});
flame.addEventListener("pointerup", (event) => {
  const found = drag && !drag.moved ? at(event) : -1;
  drag = null;
  if (found < 0) return;
  const e = data.events[found];
  show(e[START] - e[LENGTH] * 0.03, e[START] + e[LENGTH] * 1.03);
});
flame.addEventListener("pointerleave", () => { hover = -1; tip.hidden = true; draw(); });
flame.addEventListener("keydown", (event) => {
  const size = (to - from) / 8, moves = { w: () => zoom(1 / 1.4, 0.5), s: () => zoom(1.4, 0.5), a: () => show(from - size, to - size), d: () => show(from + size, to + size) };
  moves[event.key.toLowerCase()]?.();
});
byId("reset").addEventListener("click", () => show(first, last));

// ---- finding names, the legend, the table

function find(text) {
  wanted = text.trim().toLowerCase();
  const found = data.events.filter(matches);
  byId("found").textContent = wanted ? `${found.length} found` : "";
  for (const row of byId("table").tBodies[0]?.rows ?? []) row.classList.toggle("found", Boolean(wanted) && row.cells[0].textContent.toLowerCase().includes(wanted));
  draw();
}
search.addEventListener("input", () => find(search.value));

const used = new Set(data.events.map((e) => e[KIND]));
data.kinds.forEach((kind, i) => {
  if (!used.has(i)) return;
  const item = document.createElement("li"), mark = document.createElement("i");
  mark.style.background = `var(${colors[i]})`;
  item.append(mark, kind);
  byId("legend").append(item);
});
for (const [name, value] of data.summary) {
  const pair = document.createElement("div");
  pair.append(Object.assign(document.createElement("dt"), { textContent: name }), Object.assign(document.createElement("dd"), { textContent: value }));
  byId("summary").append(pair);
}

let sorted = { column: 2, down: true };
function fillTable() {
  const { columns, rows } = data.table, table = byId("table"), { column, down } = sorted;
  const order = (a, b) => (typeof a[column] === "string" ? a[column].localeCompare(b[column]) : a[column] - b[column]) * (down ? -1 : 1);
  table.replaceChildren();
  const head = table.createTHead().insertRow(), body = table.createTBody();
  columns.forEach((title, i) => {
    const cell = Object.assign(document.createElement("th"), { textContent: title, tabIndex: 0, scope: "col" });
    if (i === column) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    const sort = () => { sorted = { column: i, down: i === column ? !down : i > 0 }; fillTable(); };
    cell.addEventListener("click", sort);
    cell.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
    head.append(cell);
  });
  for (const row of [...rows].sort(order)) {
    const line = body.insertRow();
    row.forEach((value, i) => {
      const cell = line.insertCell();
      cell.textContent = typeof value === "string" ? value : columns[i] === "Calls" ? value.toLocaleString("en") : columns[i].endsWith("memory") ? bytes(value) : value.toFixed(2);
      if (i === 0) cell.title = value;
      if (columns[i] === "Self %") {
        cell.className = "share";
        cell.style.setProperty("--part", `${Math.min(value, 100)}%`);
      }
    });
    line.cells[0].addEventListener("click", () => { search.value = row[0]; find(row[0]); });
  }
}
fillTable();
new ResizeObserver(draw).observe(flame.parentElement);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
draw();
