// The page puts itself together: head, views, tables; then the tools.

document.title = `${told.title} – goc`;
byId("title").textContent = told.title;
{
  const k = clusters.filter((c) => !c.noise).length,
    noise = clusterOf.get(NOISE)?.size || 0;
  const parts = [counted(stars.n, "star"), counted(k, "cluster")];
  if (noise) parts.push(`${noise} in no group`);
  if (sets) parts.push(counted(sets.total(), "candidate"));
  if (told.truth)
    parts.push(
      told.truth.scores
        .slice(0, 3)
        .map(([name, v]) => `${name} ${v.toFixed(3)}`)
        .join(", "),
    );
  byId("summary").textContent = parts.join(" · ");
  byId("noise-label").hidden = !noise;
  byId("sets-label").hidden = !sets;
}

const host = byId("views");
for (const [x, y] of firstViews()) new View(host, x, y);
if (sky) new View(host, "sky");
host.dataset.count = views.length;
last = views[0];
drawCard();
clusterTable();
truthPart();
runPart();

const pressed = (button, is) => button.setAttribute("aria-pressed", String(is));
for (const mode of ["pan", "brush"]) {
  byId(mode).addEventListener("click", () => {
    state.mode = mode;
    pressed(byId("pan"), mode === "pan");
    pressed(byId("brush"), mode === "brush");
  });
}
byId("in").addEventListener("click", () => last.zoom(0.8));
byId("out").addEventListener("click", () => last.zoom(1.25));
byId("reset").addEventListener("click", () => views.forEach((view) => view.resetWindow()));
byId("noise").addEventListener("change", (event) => {
  state.hideNoise = event.target.checked;
  tell("look");
});
byId("sets").addEventListener("change", (event) => {
  state.sets = event.target.value;
  tell("look");
});
byId("clear").addEventListener("click", clearAll);
byId("download").addEventListener("click", download);
on("selection", () => {
  const what = state.count ? counted(state.count, "star") : "all";
  byId("download").textContent = `Download CSV (${what})`;
});
byId("download").textContent = "Download CSV (all)";

// The id typed, or the first that begins with it.
byId("find").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  const wanted = event.target.value.trim();
  if (!wanted) return;
  let i = stars.ids.indexOf(wanted);
  if (i < 0) i = stars.ids.findIndex((id) => id.startsWith(wanted));
  if (i < 0) {
    say(`no star ${wanted}`);
    event.target.setAttribute("aria-invalid", "true");
    return;
  }
  event.target.removeAttribute("aria-invalid");
  state.pinned = i;
  pointAt(i);
  say(spoken(i));
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  if (byId("help").open) {
    byId("help").open = false;
    return;
  }
  for (const view of views) view.brush = null;
  clearAll();
});

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
function themeChanged() {
  readTheme();
  byId("theme").textContent = isDark() ? "Light" : "Dark";
  tell("look");
}
byId("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  themeChanged();
});
dark.addEventListener("change", themeChanged);
themeChanged();
flush();

// For those who test the page, and for the curious: what is drawn, not what should be.
window.gocReport = Object.freeze({
  stars: stars.n,
  clusters: clusters.length,
  views: () =>
    views.map((view) => ({
      name: view.name,
      points: view.drawn,
      lit: view.lit.map((i) => stars.ids[i]),
      candidates: view.candidatesDrawn,
    })),
  place: (v, id) => {
    const i = stars.ids.indexOf(id),
      box = views[v].stack.getBoundingClientRect();
    return [box.left + views[v].px[i], box.top + views[v].py[i]];
  },
  star: () => (state.star < 0 ? null : stars.ids[state.star]),
  selected: () => stars.ids.filter((_, i) => state.mask[i]),
  candidate: (id, j) => stars.features.map((_, f) => sets.value(f, sets.from[stars.ids.indexOf(id)] + j)),
  moves: () => moves.slice(),
});

// The candidates are unpacked when the page stands, before anybody points at a star.
if (sets) setTimeout(() => sets.unpack(), 0);
