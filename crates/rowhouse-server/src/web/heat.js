// The heat map: a canvas with time from left to right and keys from top to bottom.
// docs/operation.md has its keys and the form of the data.
"use strict";

(() => {
  const canvas = document.getElementById("heat");
  const output = document.getElementById("heat-at");
  const text = canvas.dataset;
  const whole = { from: Number(text.from), to: Number(text.to), start: "", stop: "" };
  // What the address asks for: other keys than all, or the part in the fragment.
  const first = { ...whole, start: text.start, stop: text.stop };
  const SPAN_MIN = 5 * 60000;
  const LEFT = 260, TOP = 82, BOTTOM = 26;
  // The margins with the sums, and the space before them.
  const RIGHT = 64, SUMS = 28, GAP = 4;
  // Points between two labels of keys, and the width of the scale.
  const LABEL_STEP = 18, SCALE = 260;
  // Stops of the scales, light to dark and dark to light: lightness alone tells loads apart.
  const LIGHT = [[247, 244, 236], [250, 205, 120], [226, 110, 50], [150, 25, 45], [50, 5, 45]];
  const DARK = [[32, 36, 42], [84, 40, 96], [176, 50, 74], [240, 140, 60], [255, 240, 190]];
  const dark = matchMedia("(prefers-color-scheme: dark)");

  let view = whole;
  let data = null;
  let cursor = null; // {column, row}
  let drag = null; // {x0, y0, x1, y1}
  let printing = false;
  let asked = 0;

  async function load(next) {
    const number = ++asked;
    const params = new URLSearchParams({ of: text.of, from: next.from, to: next.to });
    if (next.start) params.set("start", next.start);
    if (next.stop) params.set("stop", next.stop);
    try {
      const answer = await fetch(`${text.json}?${params}`);
      const read = await answer.json();
      if (number !== asked) return;
      if (!answer.ok) throw new Error(read.error);
      view = next;
      data = read;
      cursor = null;
      output.textContent = "";
      note();
    } catch (error) {
      if (number === asked) output.textContent = `${text.failed} ${error.message}`;
    }
    draw();
  }

  // Keeps the part that is shown in the address, and has the link lead to the slow calls there.
  function note() {
    const part = new URLSearchParams(view).toString();
    const place = location.pathname + location.search;
    history.replaceState(null, "", view === whole ? place : `${place}#${part}`);
    const calls = document.getElementById("heat-calls");
    calls.href = `${text.calls}&${part}`;
  }

  // The part in the fragment of the address; null if there is none.
  function noted() {
    const part = new URLSearchParams(location.hash.slice(1));
    const [from, to] = ["from", "to"].map((name) => Number(part.get(name)));
    if (!(from < to)) return null;
    return { from, to, start: part.get("start") ?? "", stop: part.get("stop") ?? "" };
  }

  // Ranges of a column, with their rows in the map and the load of each row.
  function ranges(column) {
    return column.starts.map((first, at) => {
      const last = column.starts[at + 1] ?? data.bounds.length;
      return { first, last, value: column.values[at], load: column.values[at] / (last - first) };
    });
  }

  function size() {
    const width = canvas.clientWidth, height = canvas.clientHeight;
    return { width, height, inner: Math.max(width - LEFT - RIGHT, 1), rows: Math.max(height - TOP - BOTTOM, 1) };
  }

  const xOf = (millis) => LEFT + (millis - view.from) / (view.to - view.from) * size().inner;
  const yOf = (row) => TOP + row / Math.max(data.bounds.length, 1) * size().rows;

  function colour(share) {
    const scale = dark.matches && !printing ? DARK : LIGHT;
    const at = Math.min(Math.max(share, 0), 1) * (scale.length - 1);
    const low = scale[Math.floor(at)], high = scale[Math.ceil(at)], part = at - Math.floor(at);
    return `rgb(${low.map((from, i) => Math.round(from + (high[i] - from) * part)).join(" ")})`;
  }

  function draw() {
    const { width, height, inner, rows } = size();
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.fillStyle = colour(0);
    pen.fillRect(LEFT, TOP, inner, rows);
    if (!data) return;
    const most = Math.max(0, ...data.columns.flatMap((column) => ranges(column).map((it) => it.load)));
    // The load that has the strongest colour, as those above it.
    const max = Math.max(most / Number(text.brightness), Math.min(most, 1));
    // A load that is not nothing is never as light as nothing.
    const share = (load) => load > 0 ? Math.min(1, 0.08 + 0.92 * Math.log1p(load) / Math.log1p(max)) : 0;
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, TOP, inner, rows);
    pen.clip();
    for (const column of data.columns) {
      const left = xOf(column.begun), right = xOf(column.begun + column.length);
      for (const range of ranges(column)) {
        pen.fillStyle = colour(share(range.load));
        const top = yOf(range.first);
        // Half a point more closes the gaps between rectangles.
        pen.fillRect(left, top, right - left + 0.5, yOf(range.last) - top + 0.5);
      }
    }
    pen.restore();
    const ink = printing ? "#000" : getComputedStyle(document.body).color;
    pen.fillStyle = ink;
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    labelKeys(pen);
    labelTimes(pen);
    drawSums(pen, ink);
    if (max > 0) labelLoads(pen, ink, max, share);
    frame(pen, ink);
  }

  // The rows of the map that have a label.
  function labelledRows() {
    const count = data.bounds.length, most = Math.max(1, size().rows / LABEL_STEP);
    const step = Math.max(1, Math.ceil(count / most));
    return Array.from({ length: Math.ceil(count / step) }, (_, at) => at * step);
  }

  function labelKeys(pen) {
    const rows = labelledRows();
    const groups = groupsOf(pen);
    const labels = distinct(pen, rows.map(startOf), LEFT - 24);
    rows.forEach((row, at) => {
      // Below a key with the same first field, the rest of the key alone.
      const before = at > 0 && groups.find((it) => it.first <= rows[at - 1] && row < it.last);
      const label = before ? head(pen, `  ${rest(row)}`, LEFT - 24) : labels[at];
      pen.fillText(label, 0, yOf(row) + 7);
    });
  }

  // Neighbouring rows whose keys have the same first field, each group marked beside the map.
  function groupsOf(pen) {
    const groups = [];
    data.bounds.forEach(({ first }, row) => {
      const last = groups.at(-1);
      if (first && last?.name === first) last.last = row + 1;
      else groups.push({ name: first, first: row, last: row + 1 });
    });
    const several = groups.filter((it) => it.name && it.last - it.first > 1);
    for (const group of several) {
      const top = yOf(group.first) + 1, bottom = yOf(group.last) - 1;
      pen.fillRect(LEFT - 8, top, 2, bottom - top);
      for (const end of [top, bottom - 1]) pen.fillRect(LEFT - 8, end, 5, 1);
    }
    return several;
  }

  const rest = (row) => data.bounds[row].key.slice(data.bounds[row].first.length).replace(/^, /, "");

  function labelTimes(pen) {
    const { height, inner } = size();
    // Times are shown to the minute.
    const minutes = Math.floor((view.to - view.from) / 60000);
    const times = Math.max(1, Math.min(Math.floor(inner / 150), minutes));
    for (let at = 0; at <= times; at++) {
      const millis = view.from + (view.to - view.from) * at / times;
      pen.textAlign = at === 0 ? "left" : at === times ? "right" : "center";
      pen.fillText(time(millis), xOf(millis), height - BOTTOM / 2);
    }
    pen.textAlign = "right";
    pen.fillText("UTC", LEFT - 10, height - BOTTOM / 2);
    pen.textAlign = "left";
  }

  // The loads of all keys at each time, above the map, and those of all times in each row, at the
  // right. The highest sum fills the margin.
  function drawSums(pen, ink) {
    const byTime = data.columns.map((column) => column.values.reduce((sum, value) => sum + value, 0));
    const byRow = new Array(data.bounds.length).fill(0);
    for (const range of data.columns.flatMap(ranges)) {
      for (let row = range.first; row < range.last; row++) byRow[row] += range.load;
    }
    const { inner } = size();
    // A longer column has as many times more requests.
    const rates = data.columns.map((column, at) => byTime[at] / column.length);
    const highest = Math.max(...rates), widest = Math.max(...byRow);
    pen.save();
    pen.globalAlpha = 0.55;
    pen.fillStyle = ink;
    data.columns.forEach((column, at) => {
      const left = Math.max(xOf(column.begun), LEFT);
      const right = Math.min(xOf(column.begun + column.length), LEFT + inner);
      const height = highest > 0 ? rates[at] / highest * SUMS : 0;
      if (right > left) pen.fillRect(left, TOP - GAP - height, right - left, height);
    });
    byRow.forEach((sum, row) => {
      const width = widest > 0 ? sum / widest * (RIGHT - GAP) : 0;
      pen.fillRect(LEFT + inner + GAP, yOf(row), width, yOf(row + 1) - yOf(row));
    });
    pen.restore();
  }

  // The scale of the colours, with numbers: 0, powers of ten, and the highest load.
  function labelLoads(pen, ink, max, share) {
    const left = size().width - SCALE - 40;
    const x = (load) => left + share(load) * SCALE;
    for (let at = 0; at < SCALE; at++) {
      pen.fillStyle = colour(at / SCALE);
      pen.fillRect(left + at, 6, 1.5, 12);
    }
    pen.fillStyle = ink;
    pen.textAlign = "right";
    pen.fillText(`${text.unit} ${text.scale}`, left - 10, 12);
    pen.textAlign = "center";
    let end = -Infinity;
    const tick = (load) => {
      const words = amount(load), half = pen.measureText(words).width / 2;
      if (x(load) - half < end + 6) return false;
      pen.fillRect(x(load), 18, 1, 4);
      pen.fillText(words, x(load), 30);
      end = x(load) + half;
      return true;
    };
    tick(0);
    const last = x(max) - pen.measureText(amount(max)).width / 2 - 6;
    const base = text.of === "bytes" ? 1024 : 10;
    for (let load = 1; load < max; load *= base) {
      if (x(load) + pen.measureText(amount(load)).width / 2 < last) tick(load);
    }
    tick(max);
    pen.textAlign = "left";
  }

  // The cursor and the part that is being chosen.
  function frame(pen, ink) {
    pen.strokeStyle = ink;
    pen.lineWidth = 2;
    const range = cursor && rangeAt(cursor);
    if (range) {
      const column = data.columns[cursor.column];
      const left = xOf(column.begun), top = yOf(range.first);
      pen.strokeRect(left, top, xOf(column.begun + column.length) - left, yOf(range.last) - top);
    }
    if (drag) pen.strokeRect(drag.x0, drag.y0, drag.x1 - drag.x0, drag.y1 - drag.y0);
  }

  // Texts that fit the width: cut in the middle, and where that makes two alike, in front of the
  // first character in which they differ.
  function distinct(pen, texts, width) {
    const cut = texts.map((words) => middle(pen, words, width));
    const alike = new Map();
    cut.forEach((label, at) => alike.set(label, [...alike.get(label) ?? [], at]));
    for (const group of alike.values()) {
      const others = group.map((at) => texts[at]);
      if (new Set(others).size === 1) continue;
      const common = prefixOf(others);
      for (const at of group) cut[at] = head(pen, `…${texts[at].slice(Math.max(common - 2, 0))}`, width);
    }
    return cut;
  }

  // How many characters at the beginning of all texts are the same.
  function prefixOf(texts) {
    let length = 0;
    while (texts.every((it) => length < it.length && it[length] === texts[0][length])) length++;
    return length;
  }

  function middle(pen, words, width) {
    return shortest(pen, words, width, (length) => {
      const end = Math.floor(length / 2);
      return words.slice(0, length - end) + "…" + words.slice(words.length - end);
    });
  }

  const head = (pen, words, width) =>
    shortest(pen, words, width, (length) => words.slice(0, length) + "…");

  // The text, or the longest cut of it that fits.
  function shortest(pen, words, width, cut) {
    const fits = (it) => pen.measureText(it).width <= width;
    if (fits(words)) return words;
    let length = words.length - 1;
    while (length > 1 && !fits(cut(length))) length--;
    return cut(length);
  }

  const startOf = (row) => data.bounds[row].bytes === "" ? text.first : data.bounds[row].key;
  const stopOf = (row) => row < data.bounds.length ? data.bounds[row].key : data.stop?.key ?? text.end;
  const time = (millis) => new Date(millis).toISOString().slice(5, 16).replace("T", " ");
  const amount = (value) => {
    if (text.of !== "bytes") return Math.round(value).toLocaleString("en");
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    const power = Math.min(4, Math.floor(Math.log2(Math.max(value, 1)) / 10));
    return `${(value / 1024 ** power).toFixed(power ? 1 : 0)} ${units[power]}`;
  };

  const rangeAt = ({ column, row }) =>
    ranges(data.columns[column]).find((it) => it.first <= row && row < it.last);

  function move(next) {
    cursor = next;
    const range = cursor && rangeAt(cursor);
    if (range) {
      const column = data.columns[cursor.column];
      const times = `${time(column.begun)} – ${time(column.begun + column.length)} UTC`;
      output.textContent =
        `${startOf(range.first)} – ${stopOf(range.last)} · ${times} · ${text.unit}${text.colon}${amount(range.value)}`;
    }
    draw();
  }

  // The whole key of the label at this height, or nothing.
  function keyAt(y) {
    const isNear = (row) => Math.abs(yOf(row) + 7 - y) <= LABEL_STEP / 2;
    const row = data ? labelledRows().find(isNear) : undefined;
    return row === undefined ? "" : startOf(row);
  }

  // The place of a point, or null outside of the ranges.
  function placeOf(x, y) {
    if (!data) return null;
    const { inner, rows } = size();
    const millis = view.from + (x - LEFT) / inner * (view.to - view.from);
    const row = Math.floor((y - TOP) / rows * data.bounds.length);
    const column = data.columns.findIndex((it) => it.begun <= millis && millis < it.begun + it.length);
    return column < 0 || row < 0 || row >= data.bounds.length ? null : { column, row };
  }

  function zoom(from, to, first, last) {
    const middle = (from + to) / 2, half = Math.max((to - from) / 2, SPAN_MIN / 2);
    const bytes = (row, end) => row < data.bounds.length ? data.bounds[row].bytes : end;
    load({
      from: Math.max(Math.round(middle - half), whole.from),
      to: Math.min(Math.round(middle + half), whole.to),
      start: bytes(first, ""),
      stop: bytes(last, view.stop),
    });
  }

  // Shows all keys, at most in the whole time.
  function zoomOut(from, to) {
    from = Math.max(Math.round(from), whole.from);
    load({ from, to: Math.min(Math.round(to), whole.to), start: "", stop: "" });
  }

  // Shows the time before or after, with the same keys.
  function pan(spans) {
    const span = view.to - view.from;
    const from = Math.min(Math.max(view.from + Math.round(spans * span), whole.from), whole.to - span);
    load({ ...view, from, to: from + span });
  }

  function zoomAtCursor(factor) {
    const at = cursor ?? { column: 0, row: data.bounds.length >> 1 };
    const column = data.columns[at.column];
    const middle = cursor && column ? column.begun + column.length / 2 : (view.from + view.to) / 2;
    const span = (view.to - view.from) * factor / 2;
    if (factor > 1) {
      zoomOut(middle - span, middle + span);
      return;
    }
    const rows = Math.max(1, Math.ceil(data.bounds.length * factor / 2));
    zoom(middle - span, middle + span, Math.max(0, at.row - rows), at.row + rows);
  }

  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  // Goes to the next column, or to the next range of the column.
  function step([columns, rows]) {
    if (!data.columns.length) return;
    if (!cursor) {
      move({ column: data.columns.length - 1, row: 0 });
      return;
    }
    const at = cursor;
    const column = Math.min(Math.max(at.column + columns, 0), data.columns.length - 1);
    const range = rangeAt(at);
    let row = at.row;
    if (range && rows > 0) row = Math.min(range.last, data.bounds.length - 1);
    if (range && rows < 0) row = Math.max(range.first - 1, 0);
    move({ column, row });
  }

  canvas.addEventListener("keydown", (event) => {
    if (!data || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.shiftKey && steps[event.key]?.[0]) pan(steps[event.key][0] / 2);
    else if (steps[event.key]) step(steps[event.key]);
    else if (event.key === "+" || event.key === "=") zoomAtCursor(0.5);
    else if (event.key === "-") zoomAtCursor(2);
    else if (event.key === "0") load(whole);
    else return;
    event.preventDefault();
  });

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    drag = { x0: event.offsetX, y0: event.offsetY, x1: event.offsetX, y1: event.offsetY };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) {
      [drag.x1, drag.y1] = [event.offsetX, event.offsetY];
      draw();
      return;
    }
    canvas.title = event.offsetX < LEFT ? keyAt(event.offsetY) : "";
    const place = placeOf(event.offsetX, event.offsetY);
    if (place) move(place);
  });
  canvas.addEventListener("pointerup", () => {
    const done = drag;
    drag = null;
    if (!done || !data || Math.abs(done.x1 - done.x0) < 5) {
      draw();
      return;
    }
    // A drag along the time leaves the keys.
    if (Math.abs(done.y1 - done.y0) < 5) [done.y0, done.y1] = [0, Infinity];
    const { inner, rows } = size(), count = data.bounds.length;
    const millis = (x) => view.from + Math.min(Math.max(x - LEFT, 0), inner) / inner * (view.to - view.from);
    const row = (y) => Math.min(Math.max((y - TOP) / rows, 0), 1) * count;
    const xs = [done.x0, done.x1].sort((a, b) => a - b), ys = [done.y0, done.y1].sort((a, b) => a - b);
    const first = Math.min(Math.floor(row(ys[0])), count - 1);
    zoom(millis(xs[0]), millis(xs[1]), first, Math.max(Math.ceil(row(ys[1])), first + 1));
  });
  canvas.addEventListener("pointercancel", () => { drag = null; draw(); });
  canvas.addEventListener("dblclick", () => load(whole));

  for (const [name, is] of [["beforeprint", true], ["afterprint", false]]) {
    addEventListener(name, () => { printing = is; draw(); });
  }
  dark.addEventListener("change", draw);
  new ResizeObserver(draw).observe(canvas);
  // A page with a fragment is not loaded again by its own refresh.
  if (Number(text.refresh)) setTimeout(() => location.reload(), Number(text.refresh) * 1000);
  load(noted() ?? (first.start || first.stop ? first : whole));
})();
