// Tables that sort by any column, the table of clusters, and the members as CSV.

const AT_FIRST = 300; // rows; the rest on request, so that thousands of clusters do not delay the first paint

// `columns`: name, title, value(row), text(value), or `cell` to make the cell's content; `take(row, event)`
// when a row is chosen.
function sortable(host, rows, columns, label, take) {
  let by = 0,
    down = false,
    all = rows.length <= AT_FIRST;
  const body = make("tbody");
  const heads = columns.map((column, c) =>
    make(
      "th",
      { scope: "col", "aria-sort": "none", title: column.title },
      make(
        "button",
        {
          type: "button",
          onclick: () => {
            down = by === c ? !down : (column.down ?? true);
            by = c;
            fill();
          },
        },
        column.name,
      ),
    ),
  );
  const table = make("table", { "aria-label": label }, make("thead", {}, make("tr", {}, ...heads)), body);
  const more = make("button", {
    type: "button",
    class: "more",
    onclick: () => {
      all = true;
      fill();
    },
  });
  const order = (a, b) => {
    const [x, y] = [columns[by].value(a), columns[by].value(b)];
    const gone = (v) => v == null || Number.isNaN(v);
    if (gone(x) || gone(y)) return gone(x) - gone(y); // what is not known comes last either way
    const sign = typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x - y;
    return down ? -sign : sign;
  };
  const made = new Map();
  function rowOf(row) {
    if (!made.has(row)) {
      const first = make(
        "button",
        { type: "button", class: "take", tabindex: "-1", "aria-pressed": "false" },
        ...columns[0].cell(row),
      );
      const tr = make(
        "tr",
        {},
        make("td", {}, first),
        ...columns
          .slice(1)
          .map((column) => make("td", { class: column.words && "text" }, column.text(column.value(row)))),
      );
      tr.addEventListener("click", (event) => {
        focusOn(first, false);
        take(row, event.ctrlKey || event.metaKey || event.shiftKey);
      });
      made.set(row, { tr, first });
    }
    return made.get(row);
  }
  // One row is in the tab order; arrows go from row to row.
  function focusOn(button, move = true) {
    body.querySelectorAll(".take[tabindex='0']").forEach((b) => b.setAttribute("tabindex", "-1"));
    button.setAttribute("tabindex", "0");
    if (move) button.focus();
  }
  body.addEventListener("keydown", (event) => {
    const tr = event.target.closest("tr");
    const to = {
      ArrowDown: tr?.nextElementSibling,
      ArrowUp: tr?.previousElementSibling,
      Home: body.firstElementChild,
      End: body.lastElementChild,
    }[event.key];
    if (!to) return;
    event.preventDefault();
    focusOn(to.querySelector(".take"));
  });
  function fill() {
    heads.forEach((th, c) =>
      th.setAttribute("aria-sort", c === by ? (down ? "descending" : "ascending") : "none"),
    );
    const sorted = [...rows].sort(order);
    body.replaceChildren(...(all ? sorted : sorted.slice(0, AT_FIRST)).map((row) => rowOf(row).tr));
    if (!body.querySelector(".take[tabindex='0']"))
      body.querySelector(".take")?.setAttribute("tabindex", "0");
    more.hidden = all;
    more.textContent = `Show all ${rows.length} rows`;
  }
  fill();
  host.replaceChildren(table, more);
  return {
    light(isLit) {
      for (const [row, { tr, first }] of made) {
        const lit = isLit(row);
        tr.classList.toggle("lit", lit);
        first.setAttribute("aria-pressed", String(lit));
      }
    },
  };
}

// Which true group a cluster mostly is.
const matches = new Map();
if (told.truth) {
  for (const [row, group, count] of told.truth.cells) {
    const best = matches.get(row) || { group: -1, count: 0, all: 0 };
    best.all += count;
    if (count > best.count) [best.group, best.count] = [group, count];
    matches.set(row, best);
  }
}

function clusterTable() {
  const rows = clusters.map((cluster, at) => ({ cluster, at }));
  const number = (name, title, value) => ({ name, title, value, text: shown });
  const columns = [
    {
      name: "label",
      title: "cluster, from 0",
      down: false,
      value: (row) => (row.cluster.noise ? Infinity : row.cluster.label),
      cell: (row) => [swatch(row.cluster), row.cluster.noise ? "no group" : String(row.cluster.label)],
    },
    { name: "size", title: "members", value: (row) => row.cluster.size, text: String },
  ];
  if (stars.probability) {
    columns.push({
      name: "prob.",
      title: "mean of the members' probabilities",
      value: (row) => row.cluster.probability,
      text: (p) => percent(p ?? NaN),
    });
  }
  told.clusterExtras.forEach((extra) => {
    if (extra.name === "probability" && stars.probability) return;
    columns.push(number(extra.name.replaceAll("_", " "), extra.description, (row) => extra.values[row.at]));
  });
  if (told.truth) {
    columns.push({
      name: "true group",
      title: "the true group that most members are of",
      words: true,
      down: false,
      value: (row) => (matches.has(row.at) ? told.truth.groups[matches.get(row.at).group] : null),
      text: (v) => v ?? "–",
    });
    columns.push({
      name: "purity",
      title: "share of the members that are of that group",
      value: (row) => (matches.has(row.at) ? matches.get(row.at).count / matches.get(row.at).all : null),
      text: (p) => percent(p ?? NaN),
    });
  }
  stars.features.forEach((f, c) =>
    columns.push(
      number(
        f.name,
        `centre: mean of the members, ${f.unit || "in the unit of the input"}`,
        (row) => row.cluster.centre[c],
      ),
    ),
  );
  stars.features.forEach((f, c) =>
    columns.push(
      number(
        `± ${f.name}`,
        `spread: standard deviation of the members, ${f.unit || "in the unit of the input"}`,
        (row) => row.cluster.spread[c],
      ),
    ),
  );
  const table = sortable(byId("cluster-table"), rows, columns, "Clusters", (row, add) => {
    state.pinned = -1;
    pointAt(-1);
    selectCluster(row.cluster.label, add);
  });
  on("selection", () => table.light((row) => state.labels.has(row.cluster.label)));
}

// RFC 4180. Names are saved as they are: a leading = stays, for the file must hold the ids that the tables
// hold. For a spreadsheet, which would run such a text as a formula, it has a ' before it; a plain number
// is none.
function csv() {
  const spreadsheet = byId("spreadsheet").checked;
  const formula = (text) =>
    /^\s*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(text) && !/^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text);
  const cell = (text) => (spreadsheet && formula(text) ? `'${text}` : text);
  const quoted = (text) =>
    /[",\r\n\u2028\u2029]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const number = (v) => (v == null || Number.isNaN(v) ? "" : String(v));
  const columns = [
    ["object", (i) => cell(stars.ids[i])],
    ["label", (i) => String(stars.labels[i])],
  ];
  if (stars.probability) columns.push(["probability", (i) => number(stars.probability[i])]);
  if (stars.runnerUp) {
    columns.push([
      "runner_up",
      (i) => (stars.runnerUp.labels[i] === NOISE ? "" : String(stars.runnerUp.labels[i])),
    ]);
    columns.push(["runner_up_probability", (i) => number(stars.runnerUp.probability[i])]);
  }
  for (const e of stars.extras) columns.push([e.name, (i) => number(e.values[i])]);
  if (sets?.chosen) columns.push(["candidate", (i) => String(sets.chosen[i])]);
  for (const f of stars.features) columns.push([f.name, (i) => number(f.values[i])]);
  if (sky) {
    columns.push([sky.letters[0], (i) => number(sky.longitude[i])]);
    columns.push([sky.letters[1], (i) => number(sky.latitude[i])]);
  }
  if (stars.groups)
    columns.push(["truth", (i) => (stars.groups[i] < 0 ? "" : cell(told.truth.groups[stars.groups[i]]))]);
  const lines = [columns.map(([name]) => quoted(cell(name))).join(",")];
  for (let i = 0; i < stars.n; i++) {
    if (state.count ? state.mask[i] : !hidden(i))
      lines.push(columns.map(([, value]) => quoted(value(i))).join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}

function download() {
  const labels = [...state.labels];
  const name =
    labels.length === 1
      ? labels[0] === NOISE
        ? "noise"
        : `cluster-${labels[0]}`
      : state.count
        ? "selection"
        : "stars";
  const address = URL.createObjectURL(new Blob([csv()], { type: "text/csv;charset=utf-8" }));
  const link = make("a", { download: `${name}.csv` });
  link.setAttribute("href", address);
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
