// The page in a real browser: moves it, measures it, and prints what it found as JSON.
//
// node check.mjs MODULES CHROMIUM PAGE VECTORS FOLDER
//   MODULES   a node_modules with playwright-core and axe-core
//   VECTORS   JSON: setups, paths, and the numbers that Rust has for them
//   FOLDER    where screenshots go

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, executablePath, page, vectors, folder] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${modules}/`));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const address = pathToFileURL(page).href;
const found = { requests: [], errors: [], axe: [], widths: {} };

// The sandbox needs rights that a container does not have; the page is our own.
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu",
  "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"] });

async function open(width, height, colorScheme, hash = "") {
  const tab = await browser.newPage({ viewport: { width, height }, colorScheme });
  tab.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(address) && !url.startsWith("data:")) found.requests.push(url);
  });
  tab.on("pageerror", (error) => found.errors.push(error.message));
  tab.on("console", (line) => { if (line.type() === "error") found.errors.push(line.text()); });
  await tab.goto(address + hash);
  await tab.waitForSelector("#bars button");
  return tab;
}

// What a screen reader would stumble over.
async function judge(tab, name) {
  await tab.evaluate(axe);
  const { violations } = await tab.evaluate(() => window.axe.run());
  for (const { id, nodes } of violations) {
    found.axe.push(`${name}: ${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`);
  }
}

// Rust's numbers beside the page's: the largest relative difference, and the place where it is.
async function compare(tab) {
  const all = JSON.parse(readFileSync(vectors, "utf8"));
  found.compared = all.length;
  found.difference = await tab.evaluate((all) => {
    let worst = { size: 0 };
    for (const { path, setup, numbers, binds } of all) {
      const cost = evaluate(TABLE, path, setup);
      const here = vector(cost);
      if (here.length !== numbers.length) return { size: Infinity, path, setup };
      if (cost.binds !== binds) return { size: Infinity, path, setup, binds, here: cost.binds };
      numbers.forEach((number, place) => {
        const size = Math.abs(here[place] - number) / Math.max(Math.abs(number), 1e-300);
        const isEqual = here[place] === number;
        if (!isEqual && !(size <= worst.size)) worst = { size, path, setup, place };
      });
    }
    return worst;
  }, all);
}

// Every slider to both ends and through its middle, on every path: no number may be none.
async function sweep(tab) {
  const session = await tab.context().newCDPSession(tab);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const busy = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration").value;
  };
  const redraws = 200, before = await busy();
  await tab.evaluate(async (redraws) => {
    for (let place = 0; place < redraws; place += 1) {
      change({ rate: 25 + 25 * (place % 32) });
      await new Promise(requestAnimationFrame);
    }
  }, redraws);
  found.redraw_cpu_ms = 1000 * (await busy() - before) / redraws;
  found.sweep = await tab.evaluate(() => {
    const times = [], bad = [];
    let seen = 0;
    for (const path of TABLE.path) {
      change({ path: path.id });
      for (const slider of SLIDERS) {
        const [least, most] = slider.steps;
        for (const step of [least, (least + most) / 2, most]) {
          const started = performance.now();
          const input = at(slider.key);
          input.value = step;
          input.dispatchEvent(new Event("input"));
          document.body.getBoundingClientRect();
          times.push(performance.now() - started);
          const text = document.querySelector("main").innerText;
          if (/NaN|Infinity|undefined|\bnull\b/.test(text)) bad.push(location.hash);
          seen += 1;
        }
      }
    }
    times.sort((a, b) => a - b);
    const at95 = times[Math.floor(times.length * 0.95)];
    return { seen, bad, median_ms: times[times.length >> 1], p95_ms: at95, most_ms: times.at(-1) };
  });
}

// The keyboard alone: a slider, a path, a number's sources and back.
async function keyboard(tab) {
  const text = () => tab.textContent("#status");
  const focused = () => tab.evaluate(() => document.activeElement.id);
  await tab.keyboard.press("Tab");
  found.first_focus = await focused();
  const before = await text();
  await tab.keyboard.press("ArrowRight");
  const rate = await tab.textContent("#rate-value");
  found.slider_moves = before !== await text() && rate === "125 Gb/s";
  for (let presses = 0; presses < 20 && !(await focused()).startsWith("bar-"); presses += 1) {
    await tab.keyboard.press("Tab");
  }
  await tab.keyboard.press("ArrowDown");
  found.path_moves = (await focused()) === "bar-devmem" && (await text()).includes("devmem");
  for (let presses = 0; presses < 4; presses += 1) {
    await tab.keyboard.press("Tab");
    if (await tab.evaluate(() => document.activeElement.matches("button.number"))) break;
  }
  await tab.keyboard.press("Enter");
  found.sources_open = await tab.evaluate(() => document.querySelector("dialog").open
    && document.querySelectorAll("dialog li").length > 0);
  await judge(tab, "sources");
  await tab.keyboard.press("Escape");
  found.focus_returns = await tab.evaluate(() => !document.querySelector("dialog").open
    && document.activeElement.matches("button.number"));
}

try {
  const wide = await open(1200, 1000, "light");
  await compare(wide);
  await sweep(wide);
  await wide.close();

  const keys = await open(1200, 1000, "light");
  await keyboard(keys);
  const state = await keys.evaluate(() => location.hash);
  const said = await keys.textContent("#status");
  const again = await open(1200, 1000, "light", state);
  found.link_shows_same = said === await again.textContent("#status") && state.includes("rate=125");
  await keys.close();
  await again.close();

  const wrong = await open(1200, 1000, "light",
    "#rate=0&loss=1&message=9e99&mtu=x&path=pigeon&lanes=3");
  found.wrong_address = await wrong.textContent("#status");
  await wrong.close();

  const shots = [["light", 1200, "light", ""], ["narrow", 360, "light", "#path=zeronic-user-gpu"],
    ["dark", 1200, "dark", "#rate=400&mtu=4096&message=65536&path=kernel-copy"]];
  for (const [name, width, scheme, hash] of shots) {
    const tab = await open(width, 900, scheme, hash);
    await judge(tab, name);
    found.widths[name] = await tab.evaluate(() => document.documentElement.scrollWidth);
    await tab.screenshot({ path: `${folder}/page-${name}.png`, fullPage: true });
    if (name === "light") {
      await tab.emulateMedia({ media: "print" });
      found.print_height = await tab.evaluate(() => document.body.scrollHeight);
    }
    await tab.close();
  }
} finally {
  await browser.close();
}
console.log(JSON.stringify(found));
