// The pages under test, made by the command itself from tables that the command or this file makes.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const folder = mkdtempSync(join(tmpdir(), "goc-pages-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** Runs the command there and gives back its standard output. */
export function goc(...words) {
  return execFileSync(process.env.GOC, words, {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 1 << 28,
  });
}

const quoted = (value) =>
  /[",\n\r]|^\s|\s$/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);

export function write(name, header, rows) {
  writeFileSync(
    join(folder, name),
    [header, ...rows].map((row) => row.map(quoted).join(",")).join("\n") + "\n",
  );
}

/** RFC 4180, for what the page downloads. */
export function parse(text) {
  const rows = [[""]];
  let inside = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i],
      row = rows.at(-1);
    if (inside) {
      if (c !== '"') row[row.length - 1] += c;
      else if (text[i + 1] === '"') {
        row[row.length - 1] += c;
        i++;
      } else inside = false;
    } else if (c === '"') inside = true;
    else if (c === ",") row.push("");
    else if (c === "\r" && text[i + 1] === "\n") {
      rows.push([""]);
      i++;
    } else row[row.length - 1] += c;
  }
  return rows.slice(0, -1);
}

/** Numbers that look random and are the same each time (a linear congruence). */
function numbers(seed) {
  let state = BigInt(seed);
  return () => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
    return Number(state >> 11n) / 2 ** 53;
  };
}

/**
 * Tables of n stars in k groups with m candidates each: NAME-labels.csv, NAME-candidates.csv. Returns what is in them.
 * `label(i)` may make noise of some; `id(i)` may name them oddly.
 */
export function tables(name, { n, m, k, label = (i) => i % k, id = (i) => `star ${i}`, truth = true }) {
  const random = numbers(n + 31 * k);
  const centres = Array.from({ length: k }, () => [4000 * random() - 2000, 1500 * random(), 900 * random()]);
  const all = [];
  for (let i = 0; i < n; i++) {
    const centre = centres[i % k];
    const candidates = Array.from({ length: m }, (_, j) => {
      const along = 2 * (j / Math.max(1, m - 1)) - 1;
      return centre.map((c, f) => c + 60 * (random() - 0.5) + along * (30 + 40 * f));
    });
    const chosen = Math.floor(m / 2);
    all.push({
      id: id(i),
      label: label(i),
      truth: `g${i % k}`,
      chosen,
      candidates,
      place: candidates[chosen],
    });
  }
  write(
    `${name}-labels.csv`,
    ["object", "label", "candidate", "Jphi", "Jr", "Jz", ...(truth ? ["truth"] : [])],
    all.map((s) => [s.id, s.label, s.chosen, ...s.place, ...(truth ? [s.truth] : [])]),
  );
  write(
    `${name}-candidates.csv`,
    ["object", "Jphi", "Jr", "Jz"],
    all.flatMap((s) => s.candidates.map((c) => [s.id, ...c])),
  );
  return all;
}

/** NAME.html from NAME's tables. */
export function page(name, ...flags) {
  goc("report", `${name}-labels.csv`, "-o", `${name}.html`, ...flags);
  return name;
}
