// Below the views: the clusters against the truth, and how the result came about.

function truthPart() {
  const host = byId("truth");
  if (!told.truth) {
    host.append(
      make("h2", {}, "Comparison with the truth"),
      make(
        "p",
        { class: "note" },
        "The labels come without a truth, so there is nothing to compare them with.",
      ),
    );
    return;
  }
  const { groups, cells, scores, judged } = told.truth;
  host.append(make("h2", {}, "Comparison with the truth"));
  host.append(
    make(
      "div",
      { class: "scores" },
      ...scores.map(([name, value]) =>
        make("div", {}, make("b", {}, value.toFixed(3).replace("-", "−")), make("span", {}, name)),
      ),
    ),
  );
  const noise = clusters.some((c) => c.noise);
  host.append(
    make(
      "p",
      { class: "note" },
      `${counted(judged, "star")} with a known truth, ${counted(groups.length, "true group")}, ${counted(
        clusters.filter((c) => !c.noise).length,
        "cluster",
      )}.${noise ? " Each star in no group counts as a group of its own in the scores." : ""}`,
    ),
  );
  const side = make("div", { class: "side" });
  host.append(side);
  const matrix = make("div", { class: "matrix" });
  const table = make("div", { class: "boxed" }, make("h3", {}, "True groups"));
  side.append(matrix, table);
  matrixPart(matrix, groups, cells);

  const rows = groups.map((name, group) => ({ name, group, size: 0, best: -1, count: 0, pieces: 0 }));
  for (const [row, group, count] of cells) {
    const r = rows[group];
    r.size += count;
    r.pieces += 1;
    if (count > r.count) [r.best, r.count] = [row, count];
  }
  const inner = make("div", { class: "scroll" });
  table.append(inner);
  const shownRows = sortable(
    inner,
    rows,
    [
      {
        name: "true group",
        title: "as the table calls it",
        down: false,
        value: (r) => r.name,
        cell: (r) => [r.name],
      },
      { name: "size", title: "stars of the group", value: (r) => r.size, text: String },
      {
        name: "mostly in",
        title: "the cluster that has most of it",
        down: false,
        value: (r) => clusters[r.best].label,
        text: (v) => (v === NOISE ? "no group" : String(v)),
      },
      {
        name: "share there",
        title: "share of the group that is in that cluster",
        value: (r) => r.count / r.size,
        text: percent,
      },
      { name: "pieces", title: "clusters that have some of it", value: (r) => r.pieces, text: String },
    ],
    "True groups",
    (r) => {
      const same =
        state.count === r.size && stars.groups.every((g, i) => (g === r.group) === (state.mask[i] === 1));
      selectStars(same ? [] : [...stars.groups.keys()].filter((i) => stars.groups[i] === r.group));
      say(same ? "nothing selected" : `selected: true group ${r.name}, ${counted(r.size, "star")}`);
    },
  );
  on("selection", () =>
    shownRows.light(
      (r) =>
        !state.labels.size &&
        state.count === r.size &&
        stars.groups.every((g, i) => (g === r.group) === (state.mask[i] === 1)),
    ),
  );
}

// Rows are clusters, columns true groups: a cell is the darker, the larger its share of the cluster.
function matrixPart(host, groups, cells) {
  // Beyond this a cell is below a pixel's worth of attention, and a canvas has a largest size.
  if (Math.max(clusters.length, groups.length) > 500) {
    host.append(
      make(
        "p",
        { class: "note" },
        "More than 500 clusters or groups: no matrix is drawn; the tables have the numbers.",
      ),
    );
    return;
  }
  const size = Math.max(7, Math.min(26, Math.floor(600 / Math.max(clusters.length, groups.length))));
  const [left, top] = [38, 30];
  const canvas = make("canvas", {
    tabindex: "0",
    role: "application",
    "aria-label":
      "Clusters (rows) against true groups (columns); arrow keys go from cell to cell, Enter selects the cluster",
  });
  canvas.style.width = `${left + size * groups.length + 8}px`;
  canvas.style.height = `${top + size * clusters.length + 8}px`;
  const words = make(
    "p",
    { class: "note" },
    "Point at a cell. A clustering that finds every group is a diagonal.",
  );
  host.append(
    make("h3", {}, "Clusters (down) and true groups (across)"),
    make("div", { class: "scroll" }, canvas),
    words,
  );
  const count = new Map(cells.map(([row, group, n]) => [row * groups.length + group, n]));
  const groupSize = new Array(groups.length).fill(0);
  for (const [, group, n] of cells) groupSize[group] += n;
  let at = null;
  function draw() {
    const ctx = fitted(canvas);
    ctx.font = size >= 11 ? FONT : FONT.replace("11px", "9px");
    ctx.fillStyle = theme.panel;
    ctx.fillRect(left, top, size * groups.length, size * clusters.length);
    for (const [row, group, n] of cells) {
      const cluster = clusters[row];
      ctx.globalAlpha = 0.25 + 0.75 * Math.min(1, n / matches.get(row).all);
      ctx.fillStyle = cluster.noise ? theme.soft : cluster.colour;
      ctx.fillRect(left + group * size + 0.5, top + row * size + 0.5, size - 1, size - 1);
      ctx.globalAlpha = 1;
      if (size >= 15) {
        ctx.fillStyle = theme.ink;
        ctx.textAlign = "center";
        ctx.textBaseline = "middle";
        ctx.fillText(String(n), left + (group + 0.5) * size, top + (row + 0.5) * size);
      }
    }
    const every = Math.max(1, Math.ceil(11 / size)),
      across = Math.max(1, Math.ceil(26 / size));
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    clusters.forEach((cluster, row) => {
      const lit = state.labels.has(cluster.label);
      ctx.fillStyle = lit ? theme.accent : theme.soft;
      if (row % every === 0 || lit)
        ctx.fillText(cluster.noise ? "none" : String(cluster.label), left - 4, top + (row + 0.5) * size);
      if (lit) {
        ctx.strokeStyle = theme.accent;
        ctx.lineWidth = 1.5;
        ctx.strokeRect(left, top + row * size, size * groups.length, size);
      }
    });
    ctx.fillStyle = theme.soft;
    ctx.textAlign = "center";
    ctx.textBaseline = "bottom";
    groups.forEach((name, group) => {
      if (group % across === 0)
        ctx.fillText(name.length > 5 ? `${name.slice(0, 4)}…` : name, left + (group + 0.5) * size, top - 3);
    });
    if (at) {
      ctx.strokeStyle = theme.ink;
      ctx.lineWidth = 2;
      ctx.strokeRect(left + at[1] * size, top + at[0] * size, size, size);
    }
  }
  function goTo(row, group) {
    if (row < 0 || group < 0 || row >= clusters.length || group >= groups.length) return;
    at = [row, group];
    const n = count.get(row * groups.length + group) || 0;
    const inside = matches.get(row)?.all || 0;
    words.textContent = `${clusters[row].noise ? "in no group" : `cluster ${clusters[row].label}`} and true group ${groups[group]}: ${counted(n, "star")} in both, of ${inside} here and ${groupSize[group]} of the group`;
    draw();
  }
  const cellAt = (event) => {
    const box = canvas.getBoundingClientRect();
    return [
      Math.floor((event.clientY - box.top - top) / size),
      Math.floor((event.clientX - box.left - left) / size),
    ];
  };
  canvas.addEventListener("pointermove", (event) => goTo(...cellAt(event)));
  canvas.addEventListener("pointerleave", () => {
    at = null;
    draw();
  });
  canvas.addEventListener("click", (event) => {
    const row = clusters[cellAt(event)[0]];
    if (row) selectCluster(row.label, event.ctrlKey || event.metaKey);
  });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (by) {
      goTo(at ? at[0] + by[0] : 0, at ? at[1] + by[1] : 0);
      say(words.textContent);
    } else if (event.key === "Enter" && at) selectCluster(clusters[at[0]].label);
    else return;
    event.preventDefault();
  });
  on("selection", draw);
  on("look", draw);
  draw();
}

// A number with more digits than anybody reads.
const brief = (text) =>
  /^-?\d+\.\d{6,}(e-?\d+)?$/.test(text) ? String(Number(Number(text).toPrecision(5))) : text;

function runPart() {
  const host = byId("run");
  host.append(make("h2", {}, "The run"));
  const side = make("div", { class: "side" });
  for (const [heading, facts] of told.facts) {
    side.append(
      make(
        "div",
        { class: "facts" },
        make("h3", {}, heading),
        make(
          "dl",
          {},
          ...facts.flatMap(([name, value]) => [
            make("dt", {}, name),
            make("dd", { title: value }, brief(value)),
          ]),
        ),
      ),
    );
  }
  if (told.facts.length === 0)
    side.append(
      make(
        "p",
        { class: "note" },
        "The label table has no record of the run, because CSV has no metadata. Write it as .parquet, .ecsv, .fits or .vot to see parameters, seed and version here.",
      ),
    );
  host.append(side);
  if (told.history.length > 1) {
    const charts = make(
      "div",
      { class: "side" },
      chart(
        "Objective after each iteration",
        told.history.map((h) => h[1]),
      ),
      chart(
        "Stars that changed in it",
        told.history.map((h) => h[2]),
      ),
    );
    if (told.history.some((h) => h[0] !== told.history[0][0]))
      charts.append(
        chart(
          "Clusters after it",
          told.history.map((h) => h[0]),
        ),
      );
    host.append(charts);
  } else {
    host.append(
      make(
        "p",
        { class: "note" },
        "No history to show: the method does not iterate, or the labels do not record it (--history).",
      ),
    );
  }
  const dropped = make("div", { class: "facts" }, make("h3", {}, "What was dropped"));
  dropped.style.maxWidth = "none";
  if (told.remarks.length)
    dropped.append(make("ul", {}, ...told.remarks.map((text) => make("li", {}, text))));
  if (told.leftOut.length) {
    const reasons = new Map();
    for (const [id, why] of told.leftOut) reasons.set(why, [...(reasons.get(why) || []), id]);
    dropped.append(
      make("p", {}, `${counted(told.leftOut.length, "star")} not clustered:`),
      make(
        "ul",
        {},
        ...[...reasons].map(([why, ids]) =>
          make(
            "li",
            {},
            `${why || "no reason given"}: ${ids.slice(0, 20).join(", ")}${ids.length > 20 ? `, and ${ids.length - 20} more` : ""}`,
          ),
        ),
      ),
    );
  }
  if (!told.remarks.length && !told.leftOut.length)
    dropped.append(make("p", { class: "note" }, "Nothing, according to the tables."));
  host.append(dropped);
  const steps = sets
    ? ` Candidates are drawn in steps of ${stars.features.map((f, c) => `${shown(sets.ranges[c][1])}${f.unit ? ` ${f.unit}` : ""} in ${f.name}`).join(", ")} (16 bits); stars and downloads have full precision.`
    : "";
  byId("foot").textContent = `Made by goc ${told.version}.${steps}`;
}

function chart(heading, values) {
  const canvas = make("canvas", {
    role: "img",
    "aria-label": `${heading}: from ${shown(values[0])} to ${shown(values.at(-1))} in ${counted(values.length, "iteration")}`,
  });
  const box = make("div", { class: "chart" }, make("h3", {}, heading), canvas);
  const draw = () => {
    const ctx = fitted(canvas),
      known = values.filter((v) => v != null);
    const frame = { left: 58, right: canvas.clientWidth - 8, top: 6, bottom: canvas.clientHeight - 30 };
    let [low, high] = [Math.min(...known), Math.max(...known)];
    if (!(high > low)) [low, high] = [low - 1, high + 1];
    const x = (k) => frame.left + ((k + 0.5) / values.length) * (frame.right - frame.left);
    const y = (v) => frame.bottom - 4 - ((v - low) / (high - low)) * (frame.bottom - frame.top - 8);
    ctx.font = FONT;
    ctx.strokeStyle = theme.grid;
    ctx.fillStyle = theme.soft;
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    ctx.beginPath();
    for (const [v, text] of ticks(low, high, 4)) {
      ctx.moveTo(frame.left, Math.round(y(v)) + 0.5);
      ctx.lineTo(frame.right, Math.round(y(v)) + 0.5);
      ctx.fillText(text, frame.left - 4, y(v));
    }
    ctx.stroke();
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    for (const [v, text] of ticks(1, values.length, 6))
      if (Number.isInteger(v) && v >= 1) ctx.fillText(text, x(v - 1), frame.bottom + 3);
    ctx.fillText("iteration", (frame.left + frame.right) / 2, frame.bottom + 16);
    ctx.strokeStyle = ctx.fillStyle = theme.accent;
    ctx.lineWidth = 1.6;
    ctx.beginPath();
    values.forEach((v, k) => v != null && (k ? ctx.lineTo(x(k), y(v)) : ctx.moveTo(x(k), y(v))));
    ctx.stroke();
    if (values.length <= 60)
      values.forEach((v, k) => {
        if (v != null) {
          ctx.beginPath();
          ctx.arc(x(k), y(v), 2.2, 0, TURN);
          ctx.fill();
        }
      });
  };
  on("look", draw);
  requestAnimationFrame(draw);
  return box;
}
