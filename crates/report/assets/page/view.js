// One view: three canvases on each other. The lowest has uncertainty sets, the middle one axes and stars,
// redrawn when something changes; the top one has the star pointed at and the brush, redrawn as the pointer
// moves. A grid over the screen finds the star under the pointer among the few nearby, so a move costs the
// same for fifty stars and for five thousand.

const CELL = 20; // CSS pixels
const REACH = 14; // how far from a star the pointer still means it
const RADIUS = stars.n > 3000 ? 2.3 : stars.n > 1000 ? 2.8 : 3.4;
const views = [];
const moves = []; // milliseconds each pointer move took, drawing included; the browser tests look at them

class View {
  constructor(host, x, y) {
    this.isSky = x === "sky";
    this.stack = make("div", { class: "stack", tabindex: "0", role: "application" });
    this.layers = ["sets", "points", "over"].map((name) =>
      make("canvas", { "data-layer": name, "aria-hidden": "true" }),
    );
    this.stack.append(...this.layers);
    this.counter = make("span", { class: "count" });
    this.all = make("button", { type: "button", class: "all", title: "every star in this view" }, "Show all");
    this.all.addEventListener("click", () => this.showAll());
    const caption = make("figcaption");
    if (this.isSky) caption.append(make("span", {}, sky.name));
    else {
      const choose = (key, what) => {
        const select = make(
          "select",
          { "aria-label": `${what} axis` },
          ...axes.map((axis) =>
            make(
              "option",
              { value: axis.key, selected: axis.key === key },
              axis.name.replace(/ \(.*\)$/, ""),
            ),
          ),
        );
        select.addEventListener("change", () => this.setAxes(this.pickX.value, this.pickY.value));
        return select;
      };
      this.pickY = choose(y, "vertical");
      this.pickX = choose(x, "horizontal");
      caption.append(this.pickY, "against", this.pickX);
    }
    caption.append(this.counter, this.all);
    host.append(make("figure", {}, caption, this.stack));
    this.px = new Float32Array(stars.n);
    this.py = new Float32Array(stars.n);
    this.stale = { points: true, over: true };
    this.brush = null;
    this.drawn = 0;
    this.lit = [];
    this.candidatesDrawn = 0;
    this.setAxes(x, y);
    this.listen();
    views.push(this);
  }

  setAxes(x, y) {
    if (this.isSky) {
      [this.xs, this.ys] = [sky.x, sky.y];
      this.name = sky.name;
    } else {
      [this.x, this.y] = [axisBy(x), axisBy(y)];
      [this.xs, this.ys] = [this.x.values, this.y.values];
      this.name = `${this.y.name} against ${this.x.name}`;
    }
    this.stack.setAttribute(
      "aria-label",
      `${this.name}, ${counted(stars.n, "star")}; arrow keys go from star to star, Enter selects the cluster, plus and minus zoom, Escape clears`,
    );
    this.resetWindow();
  }

  // As at first: a few stars far from all others stay outside, or they would squeeze these into a corner.
  resetWindow() {
    this.setWindow(FAR);
  }

  showAll() {
    this.setWindow(0);
    // The button goes, and the focus must not go with it.
    this.stack.focus({ preventScroll: true });
  }

  setWindow(cut) {
    if (this.isSky) this.window = [-3.3, 3.3, -1.5, 1.5];
    else {
      const range = (values) => {
        const [low, high] = endsOf(values, cut);
        const pad = high > low ? 0.05 * (high - low) : Math.abs(low) * 0.1 || 1;
        return [low - pad, high + pad];
      };
      this.window = [...range(this.xs), ...range(this.ys)];
    }
    this.redraw();
  }

  redraw() {
    this.stale.points = this.stale.over = true;
    schedule();
  }
  redrawOver() {
    this.stale.over = true;
    schedule();
  }

  // The frame within the canvas, and the scale of the two axes.
  place() {
    const width = this.stack.clientWidth,
      height = this.stack.clientHeight;
    const frame = this.isSky
      ? { left: 4, top: 4, right: width - 4, bottom: height - 4 }
      : { left: 58, top: 6, right: width - 8, bottom: height - 34 };
    let [x0, x1, y0, y1] = this.window;
    if (this.isSky) {
      // Equal scales: a circle on the sky stays one.
      const scale = Math.min((frame.right - frame.left) / (x1 - x0), (frame.bottom - frame.top) / (y1 - y0));
      const [cx, cy] = [(x0 + x1) / 2, (y0 + y1) / 2];
      const [w, h] = [(frame.right - frame.left) / scale / 2, (frame.bottom - frame.top) / scale / 2];
      [x0, x1, y0, y1] = [cx - w, cx + w, cy - h, cy + h];
    }
    const kx = (frame.right - frame.left) / (x1 - x0),
      ky = (frame.bottom - frame.top) / (y1 - y0);
    return {
      frame,
      ends: [x0, x1, y0, y1],
      toX: (v) => frame.left + (v - x0) * kx,
      toY: (v) => frame.bottom - (v - y0) * ky,
      fromX: (p) => x0 + (p - frame.left) / kx,
      fromY: (p) => y0 + (frame.bottom - p) / ky,
    };
  }

  inside(x, y) {
    const f = this.at.frame;
    return x >= f.left && x <= f.right && y >= f.top && y <= f.bottom;
  }

  drawPoints() {
    this.at = this.place();
    const ctx = fitted(this.layers[1]);
    ctx.font = FONT;
    if (this.isSky) drawGraticule(this, ctx);
    else drawAxes(this, ctx);
    const { frame, toX, toY } = this.at;
    for (let i = 0; i < stars.n; i++) {
      this.px[i] = toX(this.xs[i]);
      this.py[i] = toY(this.ys[i]);
    }
    this.index();
    ctx.save();
    ctx.beginPath();
    ctx.rect(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top);
    ctx.clip();
    const some = state.count > 0 || state.labels.size > 0;
    this.drawn = 0;
    this.lit = [];
    const fill = (cluster, members, radius) => {
      ctx.beginPath();
      for (const i of members) {
        if (!this.inside(this.px[i], this.py[i])) continue;
        addMark(ctx, cluster.mark, this.px[i], this.py[i], radius);
        this.drawn++;
      }
      ctx.fill();
    };
    const order = [...clusters].sort((a, b) => b.noise - a.noise); // noise below all
    for (const cluster of order) {
      if (cluster.noise && state.hideNoise) continue;
      ctx.globalAlpha = some ? 0.4 : cluster.noise ? 0.55 : 0.9;
      ctx.fillStyle = some ? theme.faded : cluster.colour;
      fill(
        cluster,
        some ? cluster.members.filter((i) => !state.mask[i]) : cluster.members,
        RADIUS * (cluster.noise ? 0.75 : 1),
      );
    }
    ctx.globalAlpha = 1;
    if (some) {
      for (const cluster of order) {
        if (cluster.noise && state.hideNoise) continue;
        const members = cluster.members.filter((i) => state.mask[i]);
        if (members.length === 0) continue;
        this.lit.push(...members);
        ctx.fillStyle = cluster.colour;
        fill(cluster, members, RADIUS + 1);
        ctx.strokeStyle = theme.ink;
        ctx.lineWidth = 0.8;
        ctx.stroke();
      }
      drawNames(this, ctx);
    }
    ctx.restore();
    const held = this.isSky ? this.xs.reduce((sum, v) => sum + (Number.isFinite(v) ? 1 : 0), 0) : stars.n;
    let outside = 0;
    for (let i = 0; i < stars.n; i++) {
      if (Number.isFinite(this.px[i]) && !this.inside(this.px[i], this.py[i])) outside++;
    }
    this.all.classList.toggle("idle", outside === 0);
    this.counter.textContent =
      this.drawn === stars.n
        ? counted(stars.n, "star")
        : held < stars.n && this.drawn === held
          ? `${held} of ${stars.n} stars have a position`
          : `${this.drawn} of ${stars.n} stars` + (outside > 0 ? `, ${outside} outside` : "");
    drawSets(this);
  }

  // The stars by cells of the screen, as in a counting sort.
  index() {
    const columns = Math.ceil(this.stack.clientWidth / CELL) + 1,
      rows = Math.ceil(this.stack.clientHeight / CELL) + 1;
    const cell = new Int32Array(stars.n).fill(-1),
      from = new Uint32Array(columns * rows + 1);
    for (let i = 0; i < stars.n; i++) {
      if (hidden(i) || !this.inside(this.px[i], this.py[i])) continue;
      cell[i] = Math.floor(this.py[i] / CELL) * columns + Math.floor(this.px[i] / CELL);
      from[cell[i] + 1]++;
    }
    for (let c = 0; c < columns * rows; c++) from[c + 1] += from[c];
    const next = from.slice(),
      list = new Uint32Array(from[columns * rows]);
    for (let i = 0; i < stars.n; i++) if (cell[i] >= 0) list[next[cell[i]]++] = i;
    this.grid = { columns, rows, from, list };
  }

  nearest(x, y, reach = REACH) {
    const { columns, rows, from, list } = this.grid;
    let best = -1,
      least = reach * reach;
    const [c0, c1] = [
      Math.max(0, Math.floor((x - reach) / CELL)),
      Math.min(columns - 1, Math.floor((x + reach) / CELL)),
    ];
    for (
      let r = Math.max(0, Math.floor((y - reach) / CELL));
      r <= Math.min(rows - 1, Math.floor((y + reach) / CELL));
      r++
    ) {
      for (let at = from[r * columns + c0]; at < from[r * columns + c1 + 1]; at++) {
        const i = list[at],
          d = (this.px[i] - x) ** 2 + (this.py[i] - y) ** 2;
        if (d < least) [least, best] = [d, i];
      }
    }
    return best;
  }

  hasSets() {
    return sets && !this.isSky && this.x.candidate && this.y.candidate;
  }

  zoom(factor, x, y) {
    const { fromX, fromY, frame, ends } = this.at;
    const cx = fromX(x ?? (frame.left + frame.right) / 2),
      cy = fromY(y ?? (frame.top + frame.bottom) / 2);
    const [x0, x1, y0, y1] = ends.map((v, k) => (k < 2 ? cx + (v - cx) * factor : cy + (v - cy) * factor));
    // Beyond this a double cannot tell two pixels apart, or nothing is left to see.
    const fine = (low, high) =>
      high - low > 1e-10 * Math.max(Math.abs(low), Math.abs(high), 1e-300) && high - low < 1e300;
    if (fine(x0, x1) && fine(y0, y1)) this.window = [x0, x1, y0, y1];
    this.redraw();
  }

  pan(dx, dy) {
    const { fromX, fromY, ends } = this.at;
    const sx = fromX(0) - fromX(dx),
      sy = fromY(0) - fromY(dy);
    this.window = [ends[0] + sx, ends[1] + sx, ends[2] + sy, ends[3] + sy];
    this.redraw();
  }

  // The next star in a direction: near and straight ahead.
  walk(dx, dy) {
    const from = state.star >= 0 && this.inside(this.px[state.star], this.py[state.star]) ? state.star : -1;
    const { frame } = this.at;
    const x = from >= 0 ? this.px[from] : (frame.left + frame.right) / 2,
      y = from >= 0 ? this.py[from] : (frame.top + frame.bottom) / 2;
    let best = -1,
      least = Infinity;
    for (const i of this.grid.list) {
      const ahead = (this.px[i] - x) * dx + (this.py[i] - y) * dy,
        aside = Math.abs((this.px[i] - x) * dy) + Math.abs((this.py[i] - y) * dx);
      const cost = from < 0 ? Math.hypot(this.px[i] - x, this.py[i] - y) : ahead + 2 * aside;
      if (i !== from && (from < 0 || (ahead > 0 && aside <= ahead * 1.5)) && cost < least)
        [least, best] = [cost, i];
    }
    if (best >= 0) {
      state.pinned = best;
      pointAt(best);
      say(spoken(best));
    }
  }

  listen() {
    const stack = this.stack;
    const where = (event) => {
      const box = stack.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    let drag = null;
    stack.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const [x, y] = where(event);
      drag = { x, y, lastX: x, lastY: y, moved: false, brushes: event.shiftKey || state.mode === "brush" };
      stack.setPointerCapture(event.pointerId);
      stack.focus({ preventScroll: true });
    });
    stack.addEventListener("pointermove", (event) => {
      const began = performance.now(),
        [x, y] = where(event);
      if (!drag) {
        if (this.at) pointAt(this.inside(x, y) ? pinnedOr(this.nearest(x, y)) : state.pinned);
        flush();
        if (moves.length < 100000) moves.push(performance.now() - began);
        return;
      }
      drag.moved ||= Math.hypot(x - drag.x, y - drag.y) > 4;
      if (!drag.moved) return;
      if (drag.brushes) {
        this.brush = [drag.x, drag.y, x, y];
        this.redrawOver();
      } else {
        stack.classList.add("dragged");
        this.pan(x - drag.lastX, y - drag.lastY);
        [drag.lastX, drag.lastY] = [x, y];
      }
    });
    const done = (event) => {
      if (!drag) return;
      const { moved, brushes } = drag;
      drag = null;
      stack.classList.remove("dragged");
      if (event.type === "pointercancel") this.brush = null;
      else if (moved && brushes) this.takeBrush(event.ctrlKey || event.metaKey);
      else if (!moved) {
        const i = this.nearest(...where(event));
        state.pinned = i;
        pointAt(i);
        if (i >= 0) selectCluster(stars.labels[i], event.ctrlKey || event.metaKey);
        else clearAll();
      }
      this.redrawOver();
    };
    stack.addEventListener("pointerup", done);
    stack.addEventListener("pointercancel", done);
    stack.addEventListener("pointerleave", () => {
      if (!drag) pointAt(state.pinned);
    });
    stack.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        last = this;
        this.zoom(
          Math.exp(Math.max(-1, Math.min(1, event.deltaY * (event.deltaMode ? 0.03 : 0.0015)))),
          ...where(event),
        );
      },
      { passive: false },
    );
    stack.addEventListener("dblclick", () => this.resetWindow());
    stack.addEventListener("focus", () => {
      last = this;
    });
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    stack.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const arrow = arrows[event.key];
      if (arrow && event.shiftKey) this.pan(-40 * arrow[0], -40 * arrow[1]);
      else if (arrow) this.walk(...arrow);
      else if (event.key === "+" || event.key === "=") this.zoom(0.8);
      else if (event.key === "-" || event.key === "_") this.zoom(1.25);
      else if (event.key === "0") this.resetWindow();
      else if ((event.key === "Enter" || event.key === " ") && state.star >= 0)
        selectCluster(stars.labels[state.star]);
      else return;
      event.preventDefault();
    });
    new ResizeObserver(() => this.redraw()).observe(stack);
  }

  takeBrush(add) {
    const [a, b, c, d] = this.brush || [0, 0, 0, 0];
    this.brush = null;
    const taken = [];
    for (const i of this.grid.list) {
      const within =
        this.px[i] >= Math.min(a, c) &&
        this.px[i] <= Math.max(a, c) &&
        this.py[i] >= Math.min(b, d) &&
        this.py[i] <= Math.max(b, d);
      if (within || (add && state.mask[i])) taken.push(i);
    }
    selectStars(taken);
    say(`selected: ${counted(taken.length, "star")}`);
  }
}

let last = null; // the view used last
const pinnedOr = (i) => (i >= 0 ? i : state.pinned);

// All drawing waits for the next frame, or for `flush` when a pointer move is to be measured with its
// drawing.
let waiting = false;
function schedule() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(flush);
}
function flush() {
  waiting = false;
  for (const view of views) {
    if (view.stack.clientWidth === 0) continue;
    if (view.stale.points) view.drawPoints();
    if (view.stale.over) drawOver(view);
    view.stale.points = view.stale.over = false;
  }
}
on("selection", () => views.forEach((view) => view.redraw()));
on("look", () => views.forEach((view) => view.redraw()));
on("star", () => views.forEach((view) => view.redrawOver()));
