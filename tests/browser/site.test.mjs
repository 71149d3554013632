// What the documentation site promises, in a browser: every page opens without a complaint, no link
// is broken, search finds, equations are set, and pages fit a phone. `make docs` builds the site first.

import assert from "node:assert/strict";
import { createReadStream, existsSync, readdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join, relative } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const site = process.env.SITE;
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".woff": "font/woff",
};
let browser, server, home;

/** The file that an address stands for. */
const fileOf = (address) => {
  const path = join(site, decodeURIComponent(new URL(address).pathname));
  return existsSync(path) && statSync(path).isDirectory() ? join(path, "index.html") : path;
};

/** The pages of the guide; what rustdoc wrote beside them is only linked to. */
const pages = (folder = site) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ["_static", "_sources", "rust"].includes(entry.name) ? [] : pages(path);
    return entry.name.endsWith(".html") ? [relative(site, path)] : [];
  });

before(async () => {
  assert.ok(site && existsSync(join(site, "index.html")), `no site in ${site}: run make docs`);
  server = createServer((request, response) => {
    // Browsers ask for it by themselves; the site has none.
    if (request.url === "/favicon.ico") return response.writeHead(204).end();
    const path = fileOf(`http://local${request.url}`);
    if (!existsSync(path)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" });
    createReadStream(path).pipe(response);
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  home = `http://127.0.0.1:${server.address().port}`;
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu"],
  });
});

after(async () => {
  await browser?.close();
  server?.close();
});

/** Opens a page and gives it to `look`; a complaint of the console or a request that fails or goes elsewhere is an error. */
async function open(path, look, viewport = { width: 1280, height: 800 }) {
  const context = await browser.newContext({ viewport });
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) wrong.push(`${path}: console: ${message.text()}`);
  });
  page.on("pageerror", (error) => wrong.push(`${path}: ${error.message}`));
  page.on("response", (response) => {
    if (response.status() >= 400) wrong.push(`${path}: ${response.status()} ${response.url()}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(home) && !/^(data|blob):/.test(request.url()))
      wrong.push(`${path}: asks for ${request.url()}`);
  });
  try {
    await page.goto(`${home}/${path}`);
    await look(page);
    assert.deepEqual(wrong, []);
  } finally {
    await context.close();
  }
}

test("every page opens without a complaint, and no link within the site is broken", async () => {
  const all = pages();
  assert.ok(all.length > 40, `${all.length} pages`);
  const anchors = new Map();
  const links = [];
  for (const path of all) {
    await open(path, async (page) => {
      const [ids, hrefs] = await page.evaluate(() => [
        [...document.querySelectorAll("[id], a[name]")].map((e) => e.id || e.getAttribute("name")),
        [...document.querySelectorAll("a[href], img[src]")].map((e) => e.href || e.src),
      ]);
      anchors.set(join(site, path), new Set(ids));
      for (const href of hrefs) if (href.startsWith(home)) links.push([path, href]);
    });
  }
  const broken = links.filter(([, href]) => {
    const file = fileOf(href);
    const anchor = decodeURIComponent(new URL(href).hash.slice(1));
    const known = anchors.get(file);
    return !existsSync(file) || (anchor && known && !known.has(anchor));
  });
  assert.deepEqual([...new Set(broken.map(([path, href]) => `${path} -> ${href.replace(home, "")}`))], []);
  assert.ok(links.some(([, href]) => href.includes("/rust/goc/index.html")));
});

test("search finds a setting, a class and a term", async () => {
  for (const [words, wanted] of [["penalty-scale", "command"], ["MarginalMixture", "python"], ["recurrence", "glossary"]])
    await open(`search.html?q=${words}`, async (page) => {
      await page.waitForSelector("#search-results li a");
      await page.waitForFunction(() => /found|matching/.test(document.querySelector("#search-results").textContent));
      const found = await page.$$eval("#search-results li a", (all) => all.map((a) => a.getAttribute("href")));
      assert.ok(found.some((href) => href.includes(wanted)), `${words}: ${found}`);
    });
});

test("search shows the description of a term, not the beginning of its page", async () => {
  await open("search.html?q=recurrence", async (page) => {
    const shown = () => [...document.querySelectorAll("#search-results li")].some((item) => /^\s*Glossary[\s.]*How well/.test(item.textContent));
    await page.waitForFunction(shown);
  });
});

test("equations are set, not shown as source", async () => {
  await open("explanation/clustering-sets.html", async (page) => {
    await page.waitForSelector("mjx-container, .MathJax_SVG, .MathJax");
    const source = await page.$$eval("article .math", (all) => all.filter((e) => e.textContent.includes("\\lVert")).length);
    assert.equal(source, 0);
  });
});

test("notebooks show what they printed and drew", async () => {
  for (const [path, pictures] of [["tutorials/first-groups.html", 1], ["gallery/index.html", 6]])
    await open(path, async (page) => {
      const drawn = await page.$$eval(".cell_output img", (all) => all.filter((i) => i.naturalWidth > 100).length);
      assert.ok(drawn >= pictures, `${path}: ${drawn}`);
    });
});

test("no page is wider than a phone", async () => {
  for (const path of ["index.html", "explanation/methods.html", "reference/command/cluster.html", "howto/coming-from.html"])
    await open(
      path,
      async (page) => {
        const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(over <= 0, `${path}: ${over} pixels too wide`);
      },
      { width: 390, height: 800 },
    );
});
