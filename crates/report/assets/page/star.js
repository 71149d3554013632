// The card beside the views: the star pointed at, else what is selected, else how to begin.

function pairs(list) {
  return make(
    "dl",
    {},
    ...list.map(([name, value, title]) =>
      make("div", { title }, make("dt", {}, name), make("dd", {}, value)),
    ),
  );
}

function drawCard() {
  const card = byId("card"),
    i = state.star;
  card.replaceChildren();
  if (i >= 0) {
    const cluster = clusterOf.get(stars.labels[i]);
    card.append(make("h2", {}, swatch(cluster), stars.ids[i]));
    const list = [["label", cluster.noise ? "in no group" : String(cluster.label)]];
    if (stars.probability) list.push(["probability", percent(stars.probability[i])]);
    if (stars.runnerUp) {
      const next = stars.runnerUp.labels[i],
        p = stars.runnerUp.probability[i];
      list.push([
        "runner-up",
        next === NOISE ? "none" : `${next}${Number.isFinite(p) ? ` (${percent(p)})` : ""}`,
      ]);
    }
    if (stars.groups)
      list.push(["true group", stars.groups[i] < 0 ? "not known" : told.truth.groups[stars.groups[i]]]);
    for (const f of stars.features) list.push([f.name, `${shown(f.values[i])}${f.unit ? ` ${f.unit}` : ""}`]);
    if (sky && Number.isFinite(sky.x[i])) {
      list.push([
        sky.letters.join(", "),
        `${sky.longitude[i].toFixed(2)}°, ${sky.latitude[i].toFixed(2).replace("-", "−")}°`,
      ]);
    }
    for (const e of stars.extras) list.push([e.name.replaceAll("_", " "), shown(e.values[i]), e.description]);
    if (sets)
      list.push([
        "candidates",
        `${sets.from[i + 1] - sets.from[i]}${sets.chosen ? `, number ${sets.chosen[i]} chosen` : ""}`,
      ]);
    card.append(pairs(list));
    if (together) {
      const likely = together.of(i).map(([j, p]) => `${stars.ids[j]} (${percent(p)})`);
      card.append(
        make(
          "p",
          {},
          likely.length ? `likely together with ${likely.join(", ")}` : "with no other star likely together",
        ),
      );
    }
    return;
  }
  const labels = [...state.labels];
  if (labels.length === 1) {
    const cluster = clusterOf.get(labels[0]);
    card.append(
      make(
        "h2",
        {},
        swatch(cluster),
        `${cluster.noise ? "In no group" : `Cluster ${cluster.label}`}: ${counted(cluster.size, "star")}`,
      ),
    );
    card.append(
      pairs(
        stars.features.map((f, c) => [
          f.name,
          `${shown(cluster.centre[c])} ± ${shown(cluster.spread[c])}${f.unit ? ` ${f.unit}` : ""}`,
          "centre and spread",
        ]),
      ),
    );
    const names = cluster.members.slice(0, 40).map((m) => stars.ids[m]);
    card.append(
      make(
        "p",
        {},
        `members: ${names.join(", ")}${cluster.size > 40 ? `, and ${cluster.size - 40} more (Download CSV has all)` : ""}`,
      ),
    );
  } else if (state.count) {
    card.append(make("h2", {}, `${counted(state.count, "star")} selected`));
    const found = new Map();
    for (let s = 0; s < stars.n; s++)
      if (state.mask[s]) found.set(stars.labels[s], (found.get(stars.labels[s]) || 0) + 1);
    const list = [...found].sort((a, b) => b[1] - a[1]).slice(0, 30);
    card.append(
      pairs(list.map(([label, count]) => [nameOf(label), `${count} of ${clusterOf.get(label).size}`])),
    );
  } else {
    card.append(make("h2", {}, "Point at a star, or select a cluster in the table"));
    card.append(
      make(
        "p",
        {},
        sets
          ? "A star shows its uncertainty set in every view: all values that its errors allow. "
          : "This page was made without the candidates (--candidates), so stars show no uncertainty sets. ",
      ),
    );
    card.append(
      make(
        "p",
        {},
        "Click selects the star's cluster, drag moves a view, shift-drag brushes, the wheel zooms. Everything also works from the keyboard: see Keys.",
      ),
    );
    if (stars.runnerUp)
      card.append(
        make(
          "p",
          {},
          "Dashed: to the next best cluster. " +
            (together ? "Thin lines: stars it may be together with." : ""),
        ),
      );
  }
}
on("star", drawCard);
on("selection", drawCard);
on("look", drawCard);
