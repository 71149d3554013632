// What is selected, and which star is pointed at. The views and tables listen; none of them knows another.

const listeners = { selection: [], star: [], look: [] };
const on = (what, then) => listeners[what].push(then);
const tell = (what) => listeners[what].forEach((then) => then());

const state = {
  mask: new Uint8Array(stars.n), // 1: selected
  count: 0,
  labels: new Set(), // the clusters selected, when whole clusters are
  star: -1, // pointed at or walked to
  pinned: -1, // clicked, shown again when the pointer leaves
  hideNoise: false,
  sets: "selection",
  mode: "pan",
};

const hidden = (i) => state.hideNoise && stars.labels[i] === NOISE;

function selectStars(indices, labels = []) {
  state.mask.fill(0);
  for (const i of indices) state.mask[i] = 1;
  state.count = state.mask.reduce((sum, bit) => sum + bit, 0);
  state.labels = new Set(labels);
  tell("selection");
}

function selectCluster(label, add = false) {
  const labels = new Set(add ? state.labels : []);
  // A second click on what alone is selected lets go of it.
  if (state.labels.has(label) && (add || state.labels.size === 1)) labels.delete(label);
  else labels.add(label);
  selectStars(
    [...labels].flatMap((l) => clusterOf.get(l).members),
    labels,
  );
  if (labels.size === 0) say("nothing selected");
  else say(`selected: ${[...labels].map(nameOf).join(", ")}, ${counted(state.count, "star")}`);
}

function pointAt(i) {
  if (state.star === i) return;
  state.star = i;
  tell("star");
}

function clearAll() {
  state.pinned = -1;
  pointAt(-1);
  if (state.count || state.labels.size) selectStars([]);
  say("nothing selected");
}

function spoken(i) {
  const p = stars.probability ? `, probability ${percent(stars.probability[i])}` : "";
  return `star ${stars.ids[i]}, ${nameOf(stars.labels[i])}${p}`;
}
