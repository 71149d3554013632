// What a view can be drawn over: features, their square roots, principal components; and the sky.

const withUnit = (name, unit) => (unit ? `${name} (${unit})` : name);

function axisOf(key, name, values, candidate) {
  let all = null;
  return {
    key,
    name,
    values,
    candidate,
    // Every candidate's place, made when all sets are to be drawn.
    candidates() {
      if (!all) {
        all = new Float32Array(sets.total());
        for (let at = 0; at < all.length; at++) all[at] = candidate(at);
      }
      return all;
    },
  };
}

const axes = stars.features.map((f, c) =>
  axisOf(`f${c}`, withUnit(f.name, f.unit), f.values, (at) => sets.value(c, at)),
);
if (told.principal) {
  const { mean, scale, axes: directions, share } = told.principal;
  directions.forEach((direction, k) => {
    const project = (value) => {
      let sum = 0;
      for (let f = 0; f < mean.length; f++) sum += direction[f] * ((value(f) - mean[f]) / scale[f]);
      return sum;
    };
    const values = Float64Array.from({ length: stars.n }, (_, i) =>
      project((f) => stars.features[f].values[i]),
    );
    axes.push(
      axisOf(`pc${k + 1}`, `PC${k + 1} (${percent(share[k])} of the variance)`, values, (at) =>
        project((f) => sets.value(f, at)),
      ),
    );
  });
}
stars.features.forEach((f, c) => {
  // Radial and vertical actions pile up near 0: their roots spread them.
  if (f.values.every((v) => v >= 0) && f.values.some((v) => v > 0)) {
    axes.push(
      axisOf(`r${c}`, `√${f.name}`, f.values.map(Math.sqrt), (at) =>
        Math.sqrt(Math.max(0, sets.value(c, at))),
      ),
    );
  }
});
if (stars.features.length === 1) {
  const rows = Float64Array.from({ length: stars.n }, (_, i) => i + 1);
  axes.push(axisOf("row", "row of the table", rows, null));
}
const axisBy = (key) => axes.find((axis) => axis.key === key);

// The views to begin with: the paper's planes of actions where there are actions, else the first features.
function firstViews() {
  const find = (name) => stars.features.findIndex((f) => f.name.toLowerCase().replace("_", "") === name);
  const [r, z, phi] = ["jr", "jz", "jphi"].map(find);
  const list = [];
  if (phi >= 0 && r >= 0) list.push([`f${phi}`, `f${r}`]);
  if (phi >= 0 && z >= 0) list.push([`f${phi}`, `f${z}`]);
  if (list.length === 0 && stars.features.length >= 2) {
    list.push(["f0", "f1"]);
    if (stars.features.length >= 3) list.push(["f0", "f2"]);
  }
  if (list.length === 0) list.push(["f0", "row"]);
  if (told.principal) list.push(["pc1", "pc2"]);
  return list;
}

// Mollweide's projection, east to the left as on the sky: equal areas, so that densities can be compared.
const sky =
  told.sky &&
  (() => {
    const middle = told.sky.frame === "galactic" ? 0 : 180;
    const project = (longitude, latitude) => {
      const phi = (latitude * Math.PI) / 180;
      let t = phi;
      if (Math.abs(latitude) < 89.99999) {
        for (let k = 0; k < 30; k++) {
          const step = (2 * t + Math.sin(2 * t) - Math.PI * Math.sin(phi)) / (2 + 2 * Math.cos(2 * t));
          t -= step;
          if (Math.abs(step) < 1e-12) break;
        }
      }
      const away = ((((longitude - middle + 180) % 360) + 360) % 360) - 180;
      return [
        ((-2 * Math.SQRT2) / Math.PI) * ((away * Math.PI) / 180) * Math.cos(t),
        Math.SQRT2 * Math.sin(t),
      ];
    };
    const longitude = doubles(told.sky.longitude),
      latitude = doubles(told.sky.latitude);
    const x = new Float64Array(stars.n),
      y = new Float64Array(stars.n);
    for (let i = 0; i < stars.n; i++) [x[i], y[i]] = project(longitude[i], latitude[i]);
    const name = middle === 0 ? "Sky: Galactic l, b" : "Sky: ra, dec";
    const letters = middle === 0 ? ["l", "b"] : ["ra", "dec"];
    return { name, middle, letters, project, longitude, latitude, x, y };
  })();

// The part of the stars at each end of an axis that may lie outside a view at first.
const FAR = 0.005;

// From where to where an axis shows values. An end is cut off where its outermost stars, `cut` of all at most, would take more
// than half as much room again; the figures of `goc plot clusters` do the same.
function endsOf(values, cut) {
  const sorted = Float64Array.from(values).sort();
  const beyond = Math.floor(sorted.length * cut);
  const [first, low, high, last] = [0, beyond, sorted.length - 1 - beyond, sorted.length - 1].map((at) => sorted[at]);
  const room = 0.5 * (high - low);
  return [low - first > room ? low : first, last - high > room ? high : last];
}

// About `most` round numbers between two ends.
function ticks(low, high, most) {
  const raw = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999) || 10 * power;
  const list = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step && list.length < 50; k++)
    list.push(k * step);
  const digits = Math.max(0, Math.min(12, -Math.floor(Math.log10(step) + 1e-9)));
  const size = Math.max(Math.abs(low), Math.abs(high));
  const text = (v) =>
    (size >= 1e6 || size < 1e-3 ? (v === 0 ? "0" : v.toExponential(1)) : v.toFixed(digits)).replace("-", "−");
  return list.map((v) => [v, text(v)]);
}
