// What the page was told, as typed arrays. The candidates, by far the largest part, are unpacked after the
// first paint.

const told = JSON.parse(byId("goc-data").textContent);

function bytes(base64) {
  const raw = atob(base64);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out.buffer;
}
const doubles = (packed) => (packed == null ? null : new Float64Array(bytes(packed)));
const integers = (packed) => (packed == null ? null : new Int32Array(bytes(packed)));

const NOISE = -1;
const stars = {
  n: told.ids.length,
  ids: told.ids,
  labels: integers(told.labels),
  features: told.features.map((f) => ({ name: f.name, unit: f.unit, values: doubles(f.values) })),
  probability: doubles(told.probability),
  runnerUp: told.runnerUp && {
    labels: integers(told.runnerUp.labels),
    probability: doubles(told.runnerUp.probability),
  },
  extras: told.extras.map((e) => ({ name: e.name, description: e.description, values: doubles(e.values) })),
  groups: told.truth && integers(told.truth.of),
};

const clusters = told.clusters.map((c) => ({ ...c, members: [], noise: c.label === NOISE }));
const clusterOf = new Map(clusters.map((c) => [c.label, c]));
for (let i = 0; i < stars.n; i++) clusterOf.get(stars.labels[i]).members.push(i);
const nameOf = (label) => (label === NOISE ? "in no group" : `cluster ${label}`);

function offsets(counts) {
  const sums = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) sums[i + 1] = sums[i] + counts[i];
  return sums;
}

// The uncertainty sets: candidate `at` has the value `least + step * code` of each feature.
const sets = told.sets && {
  from: offsets(new Uint32Array(bytes(told.sets.counts))),
  ranges: told.sets.ranges,
  chosen: told.sets.chosen && new Uint32Array(bytes(told.sets.chosen)),
  codes: null,
  unpack() {
    if (!this.codes) {
      this.codes = new Uint16Array(bytes(byId("goc-candidates").textContent.trim()));
      byId("goc-candidates").remove();
    }
    return this.codes;
  },
  total() {
    return this.from[stars.n];
  },
  value(f, at) {
    return this.ranges[f][0] + this.ranges[f][1] * this.unpack()[f * this.total() + at];
  },
};

// Who may be together with whom.
const together = told.together && {
  from: offsets(new Uint32Array(bytes(told.together.counts))),
  partners: new Uint32Array(bytes(told.together.partners)),
  probability: new Uint16Array(bytes(told.together.probability)),
  of(i) {
    const list = [];
    for (let at = this.from[i]; at < this.from[i + 1]; at++) {
      list.push([this.partners[at], this.probability[at] / 65535]);
    }
    return list;
  },
};
