"use strict";
// Sliders, picture, bars and tables; all numbers are those of arithmetic.js.

const DATA = JSON.parse(document.getElementById("data").textContent);
const TABLE = DATA.table;
const at = (id) => document.getElementById(id);

// Sliders move in steps that a person thinks in; `from` and `to` turn a step into a number.
const powers = (x) => 2 ** x;
const SLIDERS = [
  { key: "rate", name: "Link", usual: 100, steps: [1, 32, 1], from: (x) => 25 * x,
    to: (v) => v / 25, show: (v) => `${v} Gb/s` },
  { key: "mtu", name: "MTU", usual: 9000, steps: [576, 9216, 4], from: (x) => x, to: (v) => v,
    show: (v) => `${v} bytes` },
  { key: "message", name: "Message", usual: 131072, steps: [6, 26, 1], from: powers, to: Math.log2,
    show: bytes },
  { key: "loss", name: "Loss", usual: 0, steps: [0, 40, 1],
    from: (x) => x > 0 ? Number((1e-5 * 10 ** (x / 10)).toPrecision(3)) : 0,
    to: (v) => v > 0 ? 10 * Math.log10(v / 1e-5) : 0, show: (v) => `${trim(100 * v)} %` },
  { key: "core", name: "Your core", usual: 1, steps: [20, 500, 5], from: (x) => x / 100,
    to: (v) => 100 * v, show: (v) => `${trim(v)} × EPYC 7502` },
];
const CHOICES = { generation: [3, 4, 5, 6], lanes: [1, 2, 4, 8, 16],
  load: TABLE.load.map((load) => load.id) };
const USUAL = { generation: 4, lanes: 16, load: "stream", path: "zcrx" };
const KINDS = { "wire": "--wire", "memory": "--memory", "PCIe to the host": "--pcie",
  "PCIe to the card": "--pcie", "recovery from loss": "--loss", "time of a message": "--quiet" };
const COLUMNS = [
  ["goodput", "goodput, Gb/s", (c) => c.goodput, ["sender", "receiver", "companion", "line-share"]],
  ["receiver", "receiver's thread, cores", (c) => c.receiver, ["receiver"]],
  ["companion", "thread beside it, cores", (c) => c.companion, ["companion"]],
  ["sender", "sender's thread, cores", (c) => c.sender, ["sender"]],
  ["cpu", "receiver, s/GB", (c) => c.cpu, ["receiver", "companion"]],
  ["memory", "memory, GB/s", (c) => c.memory,
    ["memory-write", "memory-read", "memory-allocate", "cached"]],
  ["up", "PCIe to host, GB/s", (c) => c.up, ["entry", "fetch"]],
  ["down", "PCIe to card, GB/s", (c) => c.down, ["fetch", "register"]],
  ["latency", "message there after, us", (c) => c.latency, ["latency"]],
  ["efficiency", "wire efficiency, %", (c) => 100 * c.efficiency, []],
];

let state = {};

function trim(number) {
  const size = Math.abs(number);
  if (!Number.isFinite(number)) return "none";
  if (size === 0) return "0";
  if (size >= 1e6) return number.toExponential(1);
  return String(Number(number.toPrecision(size >= 100 ? 4 : 3)));
}
function bytes(number) {
  const unit = [["MiB", 1 << 20], ["KiB", 1 << 10]].find(([, size]) => number >= size);
  return unit ? `${number / unit[1]} ${unit[0]}` : `${number} bytes`;
}
function element(name, attributes = {}, ...children) {
  const isSvg = element.svg.has(name);
  const made = isSvg ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, text] of Object.entries(attributes)) {
    if (key === "onclick") made.onclick = text;
    else made.setAttribute(key, text);
  }
  made.append(...children);
  return made;
}
element.svg = new Set(["g", "rect", "path", "text", "circle", "line", "title"]);

// ---- state, in the address

function usualState() {
  const sliders = Object.fromEntries(SLIDERS.map((slider) => [slider.key, slider.usual]));
  return { ...sliders, ...USUAL, core: DATA.core };
}
function readAddress() {
  const next = usualState();
  const given = new URLSearchParams(location.hash.slice(1));
  SLIDERS.forEach((slider, place) => {
    const number = Number(given.get(slider.key) ?? NaN);
    const [least, most] = DATA.ranges[place];
    if (number >= least && number <= most) next[slider.key] = number;
  });
  for (const [key, known] of Object.entries(CHOICES)) {
    const found = known.find((choice) => String(choice) === given.get(key));
    if (found !== undefined) next[key] = found;
  }
  if (find(TABLE.path, given.get("path"))) next.path = given.get("path");
  return next;
}
function writeAddress() {
  const keys = [...SLIDERS.map((slider) => slider.key), ...Object.keys(USUAL)];
  const words = keys.map((key) => `${key}=${state[key]}`);
  history.replaceState(null, "", `#${words.join("&")}`);
}
const setup = () => ({ ...state, memory: DATA.memory, round_trip: DATA.round_trip });

// ---- controls

function makeControls() {
  for (const slider of SLIDERS) {
    const [min, max, step] = slider.steps;
    const input = element("input", { type: "range", id: slider.key, min, max, step });
    input.oninput = () => change({ [slider.key]: slider.from(Number(input.value)) });
    at("sliders").append(element("div", { class: "slider" },
      element("label", { for: slider.key }, slider.name),
      element("output", { for: slider.key, id: `${slider.key}-value` }), input));
  }
  for (const [key, known] of Object.entries(CHOICES)) {
    for (const choice of known) {
      const name = key === "load" ? find(TABLE.load, choice).name : String(choice);
      at(key).append(element("option", { value: choice }, name));
    }
    at(key).onchange = () => {
      const text = at(key).value;
      change({ [key]: key === "load" ? text : Number(text) });
    };
  }
  at("reset").onclick = () => change(usualState());
  at("close").onclick = () => at("sources").close();
  at("hint").textContent = "“Your core” is what zeronic model --calibrate measures; --core puts it "
    + "into the page. The state is in the address: a link shows what you see.";
}
function showControls() {
  for (const slider of SLIDERS) {
    const [number, input] = [state[slider.key], at(slider.key)];
    input.value = slider.to(number);
    input.setAttribute("aria-valuetext", slider.show(number));
    at(`${slider.key}-value`).textContent = slider.show(number);
  }
  for (const key of Object.keys(CHOICES)) at(key).value = state[key];
}

// ---- the picture

const PLACES = {
  wide: { box: "0 0 1040 420", nodes: {
    "wire": [10, 165, 90, 90], "card": [190, 150, 150, 120], "cache": [430, 150, 150, 120],
    "kernel": [690, 20, 120, 74], "app": [910, 20, 120, 74],
    "kernel-buffer": [690, 178, 120, 70], "app-buffer": [910, 178, 120, 70],
    "gpu": [690, 335, 340, 70], "memory": [672, 130, 366, 150] } },
  narrow: { box: "0 0 360 640", nodes: {
    "wire": [6, 6, 126, 58], "card": [6, 130, 126, 76], "cache": [6, 280, 126, 76],
    "kernel": [6, 430, 126, 66], "app": [6, 566, 126, 66],
    "kernel-buffer": [226, 280, 126, 76], "app-buffer": [226, 430, 126, 76],
    "gpu": [226, 130, 126, 76], "memory": [216, 246, 142, 298] } },
};
const NAMES = { "wire": ["wire", ""], "card": ["card", ""], "cache": ["cache", "and root complex"],
  "kernel": ["kernel", ""], "app": ["application", ""], "kernel-buffer": ["kernel's", "buffers"],
  "app-buffer": ["application's", "buffers"], "gpu": ["GPU memory", ""] };
// Where a way goes that is drawn as another place: io_uring's pages are the application's.
const ALIAS = { "app-pages": "app-buffer" };
const EDGES = [["wire", "card"], ["card", "cache"], ["cache", "kernel-buffer"],
  ["cache", "app-buffer"], ["kernel-buffer", "app-buffer"], ["card", "gpu"], ["cache", "kernel"],
  ["cache", "app"], ["kernel", "app"]];

function edgePath(nodes, from, to, isNarrow, shift) {
  const middle = ([x, y, w, h]) => [x + w / 2, y + h / 2];
  const [[ax, ay], [bx, by]] = [middle(nodes[from]), middle(nodes[to])];
  const [, , aw, ah] = nodes[from], [, , bw, bh] = nodes[to];
  if (isNarrow && from === "cache" && to === "app") {
    const right = ax + aw / 2;
    return `M${right},${ay + 20} C${right + 60},${ay + 90} ${right + 60},${by - 90} ${right},${by}`;
  }
  if (!isNarrow && to === "gpu") {
    return `M${ax},${ay + ah / 2} C${ax},${by} ${ax + 120},${by} ${bx - bw / 2},${by}`;
  }
  if (isNarrow ? Math.abs(ax - bx) < 60 : Math.abs(ay - by) > 110 && Math.abs(ax - bx) < 60) {
    const down = by > ay ? 1 : -1;
    return `M${ax + shift},${ay + down * ah / 2} L${bx + shift},${by - down * bh / 2}`;
  }
  const across = bx > ax ? 1 : -1;
  const start = [ax + across * aw / 2, ay + shift], end = [bx - across * bw / 2, by + shift];
  // Past the kernel's buffers, not through them.
  if (!isNarrow && from === "cache" && (to === "app-buffer" || to === "app")) {
    const side = to === "app" ? -1 : 1;
    const [edge, far] = [by + bh / 2, side > 0 ? by + 95 : by + 70];
    return `M${start} C${ax + 150},${far} ${bx},${far} ${bx},${edge}`;
  }
  const bend = (end[0] - start[0]) / 2;
  return `M${start} C${start[0] + bend},${start[1]} ${end[0] - bend},${end[1]} ${end}`;
}
const pairs = (way) => way.slice(1).map((to, place) => [way[place], to]);

function drawMachine(cost, path) {
  const svg = at("machine");
  const isNarrow = svg.clientWidth < 600;
  const { box, nodes } = PLACES[isNarrow ? "narrow" : "wide"];
  svg.setAttribute("viewBox", box);
  const plain = (way) => way.map((place) => ALIAS[place] ?? place).filter((p) => p !== "copy");
  const payload = plain(path.payload_way), headers = plain(path.header_way);
  const has = (way, [from, to]) => pairs(way).some(([a, b]) => a === from && b === to);
  const payloadRate = `${trim(cost.goodput / 8)} GB/s`;
  const rates = {
    "wire": [`${trim(cost.goodput / cost.efficiency)} Gb/s`],
    "cache": [`${trim(cost.up)} GB/s`], "gpu": [`${trim(cost.up)} GB/s`],
    "kernel-buffer": [payloadRate], "app-buffer": [payloadRate],
  };
  const parts = [];
  const [mx, my, mw, mh] = nodes.memory;
  parts.push(element("rect", { class: "group", x: mx, y: my, width: mw, height: mh, rx: 12 }));
  parts.push(element("text", { class: "small", x: mx + 10, y: isNarrow ? my + mh - 10 : my + 22 },
    isNarrow ? `memory ${trim(cost.memory)} GB/s`
      : `memory: ${trim(cost.memory)} of ${DATA.memory} GB/s`));
  const labels = [];
  for (const edge of EDGES) {
    const [isPayload, isHeaders] = [has(payload, edge), has(headers, edge)];
    const both = isPayload && isHeaders;
    const d = edgePath(nodes, ...edge, isNarrow, both ? -8 : 0);
    if (isPayload) {
      const width = 4 + 3 * Math.log2(1 + cost.goodput / 25);
      const seconds = Math.min(Math.max(40 / Math.max(cost.goodput, 0.5), 0.15), 8);
      parts.push(element("path", { class: "edge payload", d, style: `stroke-width:${width}px` }));
      parts.push(element("path", { class: "edge flow", d,
        style: `animation-duration:${seconds}s` }));
      const key = edge[0] === "wire" ? "wire" : edge[1];
      labels.push([d, rates[key][0], "payload", both ? -16 : -14]);
    } else if (!isHeaders) {
      parts.push(element("path", { class: "edge", d }));
    }
    if (isHeaders) {
      parts.push(element("path", { class: "edge headers",
        d: edgePath(nodes, ...edge, isNarrow, both ? 12 : 0) }));
    }
  }
  const cores = { "kernel": headers.includes("kernel") ? cost.companion
    + (headers.includes("app") ? 0 : cost.receiver) : 0 };
  const readers = path.header_way.includes("app") || !headers.includes("kernel");
  cores.app = readers ? cost.receiver + (headers.includes("kernel") ? 0 : cost.companion) : 0;
  for (const [id, [x, y, w, h]] of Object.entries(nodes)) {
    if (id === "memory") continue;
    const lit = payload.includes(id) ? " lit" : headers.includes(id) ? " head" : "";
    parts.push(element("rect", { class: `node${lit}`, x, y, width: w, height: h, rx: 10 }));
    let [name, below] = NAMES[id];
    if (id in cores) {
      const used = cores[id];
      below = used > 0.0005 ? `${trim(used)} cores` : "";
      const level = Math.min(used / 2, 1) * h;
      parts.push(element("rect", { class: `level${used > 1.9 ? " full" : ""}`, x, y: y + h - level,
        width: w, height: level, rx: 8 }));
    }
    if (id === "card") below = `PCIe ${state.generation}.0 x${state.lanes}`;
    if (id === "wire") below = `${state.rate} Gb/s`;
    const lines = [name, below].filter(Boolean);
    lines.forEach((line, place) => parts.push(element("text", { x: x + w / 2,
      y: y + h / 2 + 5 + 20 * (place - (lines.length - 1) / 2), "text-anchor": "middle",
      class: place && (id in cores || ["card", "wire", "cache"].includes(id)) ? "small" : "" },
    line)));
  }
  svg.replaceChildren(...parts);
  for (const [d, text, kind, rise] of labels) {
    const line = element("path", { d });
    svg.append(line);
    const middle = line.getPointAtLength(line.getTotalLength() * 0.5);
    const isUpright = Math.abs(line.getPointAtLength(0).x - middle.x) < 5;
    line.remove();
    const turn = isUpright ? { x: middle.x + 12, y: middle.y + 6, "text-anchor": "start" }
      : { x: middle.x, y: middle.y + rise, "text-anchor": "middle" };
    svg.append(element("text", { class: `rate ${kind}`, ...turn }, text));
  }
  at("machine-text").textContent = `${path.name}: payload goes ${payload.map(placeName).join(", ")}`
    + (path.payload_way.includes("copy") ? ", copied on the way" : "")
    + `; headers go ${headers.map(placeName).join(", ")}. `;
}

// A message's time, hop by hop; hatched is guessed.
function drawHops(cost, path) {
  const wire = ["wire", 8 * state.message / state.rate / cost.efficiency, "wire"];
  const hops = [wire, ...cellsOf(path, ["latency"]).map((cell) =>
    [cell.hop, cell.per === "byte" ? cell.value * state.message : cell.value, cell.basis])];
  const time = (ns) => ns >= 1e6 ? `${trim(ns / 1e6)} ms` : `${trim(ns / 1e3)} us`;
  at("hops").replaceChildren(...hops.map(([name, ns, basis]) =>
    element("span", { class: basis, style: `flex-grow:${ns}` },
      ns > 90 * cost.latency ? name : "")));
  at("hops-text").textContent = `${time(1000 * cost.latency)}: `
    + hops.map(([name, ns]) => `${name} ${time(ns)}`).join(", ")
    + ". Queues, and cores that are late, come on top.";
}
const placeName = (id) => NAMES[id].filter(Boolean).join(" ");

// ---- bars, table, points

function doubtOf(id) {
  const sizes = DATA.points.filter((point) => point.path === id && point.half === "held")
    .map((point) => Math.abs(point.error)).sort((a, b) => a - b);
  return sizes.length ? sizes[Math.floor(sizes.length / 2)] : null;
}
const DOUBTS = Object.fromEntries(TABLE.path.map((path) => [path.id, doubtOf(path.id)]));

// Made once; a redraw changes texts and lengths.
const BARS = {};
function makeBars() {
  for (const path of TABLE.path) {
    const part = (name, tag = "span") => element(tag, { class: name });
    const parts = { fill: part("fill"), doubt: part("doubt"), tick: part("tick"),
      bind: part("bind"),
      goodput: element("b"), cores: element("span"), off: element("span") };
    const bar = element("button", { type: "button", class: "bar", role: "radio",
      id: `bar-${path.id}`,
      onclick: () => change({ path: path.id }) },
    element("span", {}, path.name),
    element("span", { class: "track" }, parts.fill, parts.doubt, parts.tick),
    element("span", { class: "what" }, parts.goodput, parts.bind, parts.cores, parts.off));
    bar.onkeydown = (event) => {
      const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const place = TABLE.path.indexOf(path) + step + TABLE.path.length;
      const next = TABLE.path[place % TABLE.path.length].id;
      change({ path: next });
      BARS[next].bar.focus();
    };
    BARS[path.id] = { bar, ...parts };
    at("bars").append(bar);
  }
}
function drawBars(costs) {
  for (const path of TABLE.path) {
    const cost = costs[path.id], share = 100 * Math.min(cost.goodput / state.rate, 1);
    const doubt = DOUBTS[path.id], off = doubt === null ? share : Math.max(share * doubt, 0.4);
    const isChosen = path.id === state.path, parts = BARS[path.id];
    parts.bar.setAttribute("aria-checked", String(isChosen));
    parts.bar.tabIndex = isChosen ? 0 : -1;
    parts.bar.style.setProperty("--kind", `var(${KINDS[cost.binds] ?? "--core"})`);
    parts.fill.style.width = `${Math.max(share - off, 0)}%`;
    parts.doubt.style.left = `${Math.max(share - off, 0)}%`;
    parts.doubt.style.width = `${off}%`;
    parts.tick.style.left = `${100 * cost.limits[0] / state.rate}%`;
    parts.goodput.textContent = `${trim(cost.goodput)} Gb/s`;
    parts.bind.textContent = cost.binds;
    parts.cores.textContent = `${trim(cost.receiver + cost.companion)} cores of the receiver`;
    parts.off.textContent = doubt === null ? "no published point"
      : `off by ${doubt < 0.01 ? "less than 1" : trim(100 * doubt)} %`;
  }
}
const cellsOf = (path, pays) => path.cells.filter((cell) => pays.includes(cell.pays)
  && (cell.value > 0 || cell.pays === "cached"));

const NUMBERS = {};
function makeNumbers() {
  const head = element("tr", {}, element("th", { scope: "col" }, "path"),
    ...COLUMNS.map(([, name]) => element("th", { scope: "col" }, name)),
    element("th", { scope: "col", class: "text" }, "what binds"));
  const rows = TABLE.path.map((path) => {
    const buttons = COLUMNS.map((column) => {
      const guess = cellsOf(path, column[3]).some((cell) => cell.basis === "guessed");
      const button = element("button", { type: "button", class: `number${guess ? " guess" : ""}` });
      button.onclick = () => openSources(path, column, button.textContent);
      return button;
    });
    const binds = element("td", { class: "text" });
    const row = element("tr", {}, element("th", { scope: "row" }, path.name),
      ...buttons.map((button) => element("td", {}, button)), binds);
    NUMBERS[path.id] = { row, buttons, binds };
    return row;
  });
  at("numbers").append(element("thead", {}, head), element("tbody", {}, ...rows));
}
function drawNumbers(costs) {
  for (const path of TABLE.path) {
    const { row, buttons, binds } = NUMBERS[path.id];
    row.className = path.id === state.path ? "chosen" : "";
    binds.textContent = costs[path.id].binds;
    COLUMNS.forEach(([, name, read], place) => {
      const text = trim(read(costs[path.id]));
      buttons[place].textContent = text;
      buttons[place].setAttribute("aria-label", `${path.name}, ${name}: ${text}; sources`);
    });
  }
}

function openSources(path, [, name, , pays], text) {
  at("sources-title").textContent = `${path.name}: ${name} ${text}`;
  const transport = find(TABLE.transport, path.transport);
  const cells = [...cellsOf(path, pays), ...cellsOf(transport, pays)];
  const items = cells.map((cell) => {
    const source = TABLE.source[cell.source];
    return element("li", {}, `${cell.pays}, ${cell.hop ? `${cell.hop}, ` : ""}`
      + `${trim(cell.value)} ${cell.unit}${cell.spread ? ` ± ${trim(cell.spread)}` : ""} `,
    element("span", { class: `basis ${cell.basis}` }, cell.basis), ` ${source.text}. `,
    element("span", { class: "where" }, source.place));
  });
  const points = DATA.points.filter((point) => point.path === path.id);
  const counted = points.filter((point) => point.half === "held").length;
  const summary = counted
    ? `${counted} published points of this path were held back; median error `
      + `${trim(100 * DOUBTS[path.id])} %.`
    : "No published point of this path was found: nothing says how far off this is.";
  at("sources-body").replaceChildren(
    element("p", {}, cells.length ? "Times are those of a core of speed 1." :
      "Exact: lengths of headers, preamble and gap (IEEE 802.3), whole packets."),
    element("ul", {}, ...items), element("p", {}, summary),
    element("ul", {}, ...points.map(
      (point) => pointItem(point, `${TABLE.source[point.source].text}: `))));
  at("sources").showModal();
}
function pointItem(point, source = "") {
  const error = `${point.error >= 0 ? "+" : ""}${trim(100 * point.error)} %`;
  const half = point.half === "held" ? "held back" : point.half;
  return element("li", {}, `${point.name}: published ${trim(point.published)}, model `
    + `${trim(point.model)} ${point.unit}, ${error}, ${half}. `,
  element("span", { class: "where" }, point.outside ?? source + point.place));
}

function drawPoints() {
  const percent = (share) => `${trim(100 * share)} %`;
  const held = DATA.held, others = DATA.others;
  at("verdict").textContent = `${held.count} points that the fit has not seen: median error `
    + `${percent(held.median)}, worst ${percent(held.worst)} (${held.worst_name}). `
    + `Without our own: `
    + `${others.count}, ${percent(others.median)}, ${percent(others.worst)}. `
    + `${DATA.fit.count} points were fitted. `
    + `The forms of the sums were chosen with all points in sight, which flatters them. `
    + `Below 1 Gb/s an error is a share of 1 Gb/s.`;
  const size = 520, margin = 46, least = Math.log10(0.08), most = Math.log10(900);
  const room = (size - margin - 12) / (most - least);
  const place = (v) => margin + room * (Math.log10(Math.max(v, 0.08)) - least);
  const svg = at("scatter");
  svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
  svg.style.maxWidth = `${size}px`;
  const parts = [];
  const band = [[0.08, 0.08 * 1.25], [720, 900], [900, 900], [900, 675], [0.08, 0.08]]
    .map(([x, y]) => `${place(x)},${size - place(y)}`).join(" L");
  parts.push(element("path", { d: `M${band} Z`, fill: "var(--chip)" }));
  parts.push(element("line", { x1: place(0.08), y1: size - place(0.08), x2: place(900),
    y2: size - place(900), stroke: "var(--quiet)" }));
  for (const mark of [0.1, 1, 10, 100]) {
    const small = (x, y, anchor) => parts.push(
      element("text", { class: "small", x, y, "text-anchor": anchor }, mark));
    small(place(mark), size - 22, "middle");
    small(38, size - place(mark) + 4, "end");
  }
  parts.push(element("text", { class: "small", x: size / 2, y: size - 4,
    "text-anchor": "middle" }, "published, Gb/s"));
  parts.push(element("text", { class: "small", x: 4, y: 16 }, "model, Gb/s"));
  for (const point of DATA.points.filter((p) => p.unit === "Gb/s")) {
    const style = { held: "fill:var(--payload)",
      fit: "fill:none;stroke:var(--headers);stroke-width:2",
      outside: "fill:none;stroke:var(--quiet);stroke-width:2;stroke-dasharray:2 2" }[point.half];
    const title = `${point.name}: ${trim(point.published)} published, ${trim(point.model)} model`;
    parts.push(element("circle", { cx: place(point.published), cy: size - place(point.model),
      r: 5, style }, element("title", {}, title)));
  }
  svg.replaceChildren(...parts);
  const sizeOf = (point) => Math.abs(point.error);
  const counted = DATA.points.filter((point) => point.half === "held");
  const worst = counted.sort((a, b) => sizeOf(b) - sizeOf(a)).slice(0, 5);
  at("worst").replaceChildren(...worst.map((point) => pointItem(point)));
  const outside = DATA.points.filter((point) => point.half === "outside");
  at("outside").replaceChildren(...outside.map((point) => pointItem(point)));
  const head = ["point", "path", "published", "model", "unit", "error, %", "half", "where"];
  const rows = DATA.points.map((point) => element("tr", {},
    element("th", { scope: "row" }, point.name), element("td", { class: "text" }, point.path),
    element("td", {}, trim(point.published)), element("td", {}, trim(point.model)),
    element("td", { class: "text" }, point.unit), element("td", {}, trim(100 * point.error)),
    element("td", { class: "text" }, point.half),
    element("td", { class: "text" },
      point.outside ? `not modelled: ${point.outside}` : point.place)));
  at("points").replaceChildren(element("thead", {}, element("tr", {},
    ...head.map((name) => element("th", { scope: "col" }, name)))), element("tbody", {}, ...rows));
}

// ---- all of it

function draw() {
  const costs = Object.fromEntries(TABLE.path.map(
    (path) => [path.id, evaluate(TABLE, path.id, setup())]));
  const path = find(TABLE.path, state.path), cost = costs[state.path];
  showControls();
  drawMachine(cost, path);
  drawHops(cost, path);
  drawBars(costs);
  drawNumbers(costs);
  at("status").replaceChildren(`${path.name}: `, element("b", {}, `${trim(cost.goodput)} Gb/s`),
    ` of ${state.rate}; `, element("b", {}, cost.binds), ` binds. The receiver takes `,
    element("b", {}, `${trim(cost.receiver + cost.companion)} cores`), `, `,
    element("b", {}, `${trim(cost.memory)} GB/s`), ` of memory and `,
    element("b", {}, `${trim(cost.up)} GB/s`), ` of PCIe. ${path.about}`);
}
function change(next) {
  state = { ...state, ...next };
  writeAddress();
  draw();
}
makeControls();
makeBars();
makeNumbers();
drawPoints();
state = readAddress();
draw();
addEventListener("hashchange", () => { state = readAddress(); draw(); });
addEventListener("resize", draw);
