// What a view paints: axes or the sky's net, uncertainty sets, names, and what goes with the star pointed at.

function drawAxes(view, ctx) {
  const {
    frame,
    ends: [x0, x1, y0, y1],
    toX,
    toY,
  } = view.at;
  ctx.lineWidth = 1;
  ctx.strokeStyle = theme.grid;
  ctx.fillStyle = theme.soft;
  ctx.beginPath();
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  for (const [v, text] of ticks(x0, x1, Math.max(2, (frame.right - frame.left) / 70))) {
    const x = Math.round(toX(v)) + 0.5;
    ctx.moveTo(x, frame.top);
    ctx.lineTo(x, frame.bottom);
    ctx.fillText(
      text,
      Math.min(x, view.stack.clientWidth - 2 - ctx.measureText(text).width / 2),
      frame.bottom + 4,
    );
  }
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  for (const [v, text] of ticks(y0, y1, Math.max(2, (frame.bottom - frame.top) / 45))) {
    const y = Math.round(toY(v)) + 0.5;
    ctx.moveTo(frame.left, y);
    ctx.lineTo(frame.right, y);
    ctx.fillText(text, frame.left - 4, y);
  }
  ctx.stroke();
  ctx.strokeStyle = theme.line;
  ctx.strokeRect(
    frame.left + 0.5,
    frame.top + 0.5,
    frame.right - frame.left - 1,
    frame.bottom - frame.top - 1,
  );
  ctx.fillStyle = theme.ink;
  ctx.textAlign = "center";
  ctx.textBaseline = "bottom";
  ctx.fillText(view.x.name, (frame.left + frame.right) / 2, view.stack.clientHeight - 2);
  ctx.save();
  ctx.translate(5, (frame.top + frame.bottom) / 2);
  ctx.rotate(-Math.PI / 2);
  ctx.textBaseline = "top";
  ctx.fillText(view.y.name, 0, 0);
  ctx.restore();
}

function drawGraticule(view, ctx) {
  const { toX, toY, frame } = view.at;
  ctx.save();
  ctx.beginPath();
  ctx.rect(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top);
  ctx.clip();
  const line = (points) => {
    ctx.beginPath();
    points.forEach(([x, y], k) => (k ? ctx.lineTo(toX(x), toY(y)) : ctx.moveTo(toX(x), toY(y))));
    ctx.stroke();
  };
  const steps = (low, high, count) =>
    Array.from({ length: count + 1 }, (_, k) => low + ((high - low) * k) / count);
  ctx.strokeStyle = theme.grid;
  const [edge, other] = [sky.middle - 179.999, sky.middle + 179.999];
  for (const b of [-60, -30, 0, 30, 60]) line(steps(edge, other, 60).map((l) => sky.project(l, b)));
  for (let l = -120; l <= 120; l += 60) line(steps(-90, 90, 40).map((b) => sky.project(sky.middle + l, b)));
  ctx.strokeStyle = theme.line;
  for (const l of [edge, other]) line(steps(-90, 90, 60).map((b) => sky.project(l, b)));
  ctx.fillStyle = theme.soft;
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  for (const l of [-120, -60, 0, 60, 120]) {
    const [x, y] = sky.project(sky.middle + l, 0);
    ctx.fillText(`${(sky.middle + l + 360) % 360}°`, toX(x), toY(y) + 2);
  }
  // Latitudes stand outside the ellipse, where no star is.
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  for (const b of [-60, -30, 30, 60]) {
    const [x, y] = sky.project(other, b);
    ctx.fillText(`${b > 0 ? "+" : "−"}${Math.abs(b)}°`, toX(x) - 4, toY(y));
  }
  ctx.restore();
}

// The numbers of the clusters selected, at their centres.
function drawNames(view, ctx) {
  if (state.labels.size > 12 || view.isSky) return; // on the sky a group has no place
  ctx.textAlign = "center";
  ctx.textBaseline = "bottom";
  ctx.lineJoin = "round";
  ctx.font = `bold ${FONT}`;
  for (const label of state.labels) {
    const members = clusterOf.get(label).members.filter((i) => view.inside(view.px[i], view.py[i]));
    if (label === NOISE || members.length === 0) continue;
    const x = members.reduce((sum, i) => sum + view.px[i], 0) / members.length;
    const y = Math.min(...members.map((i) => view.py[i])) - RADIUS - 4;
    ctx.strokeStyle = theme.ground;
    ctx.lineWidth = 3.5;
    ctx.strokeText(String(label), x, Math.max(y, view.at.frame.top + 13));
    ctx.fillStyle = theme.ink;
    ctx.fillText(String(label), x, Math.max(y, view.at.frame.top + 13));
  }
  ctx.font = FONT;
}

// The uncertainty sets of the selection, or of all: a pixel a candidate, written straight into the picture.
function drawSets(view) {
  const canvas = view.layers[0],
    ctx = fitted(canvas);
  if (
    !sets ||
    view.isSky ||
    !view.hasSets() ||
    state.sets === "star" ||
    (state.sets === "selection" && !state.count)
  )
    return;
  const {
      frame,
      ends: [x0, , y0],
    } = view.at,
    ratio = canvas.width / Math.max(1, canvas.clientWidth);
  const picture = ctx.createImageData(canvas.width, canvas.height),
    pixels = new Uint32Array(picture.data.buffer);
  const xs = view.x.candidates(),
    ys = view.y.candidates();
  const kx = (view.at.toX(1) - view.at.toX(0)) * ratio,
    ky = (view.at.toY(0) - view.at.toY(1)) * ratio;
  const [left, right, top, bottom] = [frame.left, frame.right, frame.top, frame.bottom].map((v) =>
    Math.round(v * ratio),
  );
  const dot = ratio > 1.5 || state.sets === "selection" ? 2 : 1;
  for (const cluster of clusters) {
    if (cluster.noise && state.hideNoise) continue;
    const [r, g, b] = [1, 3, 5].map((at) => parseInt(cluster.colour.slice(at, at + 2), 16));
    const full = (((state.sets === "all" && !state.count ? 90 : 150) << 24) | (b << 16) | (g << 8) | r) >>> 0;
    for (const i of cluster.members) {
      const out = state.count > 0 && !state.mask[i],
        ink = out ? 0x30808080 : full;
      if (out && state.sets === "selection") continue;
      for (let at = sets.from[i]; at < sets.from[i + 1]; at++) {
        const x = Math.round(left + (xs[at] - x0) * kx),
          y = Math.round(bottom - (ys[at] - y0) * ky);
        if (x < left || x > right - dot || y < top || y > bottom - dot) continue;
        for (let v = 0; v < dot; v++)
          for (let u = 0; u < dot; u++) pixels[(y + v) * canvas.width + x + u] = ink;
      }
    }
  }
  ctx.putImageData(picture, 0, 0);
}

// The star pointed at: its set, its chosen candidate, those it may be together with, the runner-up.
function drawOver(view) {
  const ctx = fitted(view.layers[2]);
  view.candidatesDrawn = 0;
  const { frame, toX, toY } = view.at,
    i = state.star;
  ctx.save();
  ctx.beginPath();
  ctx.rect(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top);
  ctx.clip();
  if (i >= 0 && Number.isFinite(view.px[i])) {
    const cluster = clusterOf.get(stars.labels[i]),
      x = view.px[i],
      y = view.py[i];
    // A veil over the others, its own cluster above it: a set of a hundred points must be seen among
    // thousands.
    ctx.fillStyle = theme.ground;
    ctx.globalAlpha = state.count ? 0.2 : 0.6; // a selection has faded them already
    ctx.fillRect(frame.left + 1, frame.top + 1, frame.right - frame.left - 2, frame.bottom - frame.top - 2);
    ctx.globalAlpha = cluster.noise ? 0.5 : 1;
    ctx.fillStyle = cluster.colour;
    ctx.beginPath();
    if (!cluster.noise)
      for (const j of cluster.members)
        if (view.inside(view.px[j], view.py[j])) addMark(ctx, cluster.mark, view.px[j], view.py[j], RADIUS);
    ctx.fill();
    ctx.globalAlpha = 1;
    const line = (a, b, c, d) => {
      ctx.beginPath();
      ctx.moveTo(a, b);
      ctx.lineTo(c, d);
      ctx.stroke();
    };
    for (const [j, p] of together ? together.of(i) : []) {
      ctx.strokeStyle = theme.soft;
      ctx.globalAlpha = 0.15 + 0.5 * p;
      ctx.lineWidth = 0.5 + 1.2 * p;
      if (!hidden(j) && Number.isFinite(view.px[j])) line(x, y, view.px[j], view.py[j]);
    }
    ctx.globalAlpha = 1;
    const next = stars.runnerUp ? clusterOf.get(stars.runnerUp.labels[i]) : null;
    if (next && !next.noise) {
      const seen = next.members.filter((j) => Number.isFinite(view.px[j]));
      const cx = seen.reduce((s, j) => s + view.px[j], 0) / seen.length,
        cy = seen.reduce((s, j) => s + view.py[j], 0) / seen.length;
      ctx.strokeStyle = next.colour;
      ctx.lineWidth = 1.5;
      // On the sky a group has no middle: its stars are all around us.
      if (!view.isSky) {
        ctx.setLineDash([4, 3]);
        line(x, y, cx, cy);
        ctx.setLineDash([]);
      }
      ctx.beginPath();
      for (const j of seen) addMark(ctx, next.mark, view.px[j], view.py[j], RADIUS + 1);
      ctx.stroke();
    }
    if (view.hasSets()) {
      ctx.fillStyle = cluster.colour;
      ctx.strokeStyle = theme.ground;
      ctx.lineWidth = 1.5;
      ctx.beginPath();
      for (let at = sets.from[i]; at < sets.from[i + 1]; at++) {
        const cx = toX(view.x.candidate(at)),
          cy = toY(view.y.candidate(at));
        ctx.moveTo(cx + 2.6, cy);
        ctx.arc(cx, cy, 2.6, 0, TURN);
        view.candidatesDrawn++;
      }
      ctx.stroke();
      ctx.fill();
      if (sets.chosen) {
        const at = sets.from[i] + sets.chosen[i],
          cx = toX(view.x.candidate(at)),
          cy = toY(view.y.candidate(at));
        ctx.strokeStyle = theme.ink;
        ctx.lineWidth = 1.5;
        line(cx - 13, cy, cx - 8, cy);
        line(cx + 8, cy, cx + 13, cy);
        line(cx, cy - 13, cx, cy - 8);
        line(cx, cy + 8, cx, cy + 13);
      }
    }
    ctx.beginPath();
    addMark(ctx, cluster.mark, x, y, RADIUS + 2.5);
    ctx.fillStyle = cluster.colour;
    ctx.fill();
    ctx.lineWidth = 2;
    ctx.strokeStyle = theme.ink;
    ctx.stroke();
  }
  if (view.brush) {
    const [a, b, c, d] = view.brush;
    ctx.fillStyle = theme.accent;
    ctx.globalAlpha = 0.15;
    ctx.fillRect(Math.min(a, c), Math.min(b, d), Math.abs(c - a), Math.abs(d - b));
    ctx.globalAlpha = 1;
    ctx.strokeStyle = theme.accent;
    ctx.lineWidth = 1;
    ctx.strokeRect(Math.min(a, c), Math.min(b, d), Math.abs(c - a), Math.abs(d - b));
  }
  ctx.restore();
}
