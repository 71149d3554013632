// One Chromium for all tests; every page opened is watched for errors and for anything it would fetch.

import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { folder } from "./pages.mjs";

let browser;

export async function start() {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

export const stop = () => browser.close();

/** Opens NAME.html from disk, runs `look`, and fails on any error, complaint of the console, or request but the file's own. */
export async function open(name, look, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 720 },
    acceptDownloads: true,
    ...options,
  });
  const page = await context.newPage();
  const wrong = [];
  const own = pathToFileURL(join(folder, `${name}.html`)).href;
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) wrong.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url() !== own && !request.url().startsWith("blob:")) wrong.push(`request: ${request.url()}`);
  });
  try {
    await page.goto(own);
    await page.waitForFunction(() => window.gocReport !== undefined);
    await settled(page);
    await look(page);
    assert.deepEqual(wrong, []);
  } finally {
    await context.close();
  }
}

/** Two frames later all drawing is done. */
export const settled = (page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

export const views = (page) => page.evaluate(() => window.gocReport.views());

/** The pointer on a star of a view. */
export async function pointAt(page, view, id) {
  const [x, y] = await page.evaluate(([v, i]) => window.gocReport.place(v, i), [view, id]);
  await page.mouse.move(x, y);
  await settled(page);
  return [x, y];
}

/** How many pixels of a layer are not empty. */
export const inked = (page, view, layer) =>
  page.evaluate(
    ([v, name]) => {
      const canvas = document.querySelectorAll(`canvas[data-layer=${name}]`)[v];
      // A copy is read: reading the page's own canvas would change how the browser keeps it.
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", {
        willReadFrequently: true,
      });
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let i = 3; i < data.length; i += 4) if (data[i] > 0) count++;
      return count;
    },
    [view, layer],
  );
