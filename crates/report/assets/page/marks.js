// The shapes of points, each a closed outline of about the same area, so that many of one cluster are one
// path and one fill.

const TURN = 2 * Math.PI;

function addMark(path, mark, x, y, r) {
  const polygon = (...points) => {
    path.moveTo(x + r * points[0], y + r * points[1]);
    for (let i = 2; i < points.length; i += 2) path.lineTo(x + r * points[i], y + r * points[i + 1]);
    path.closePath();
  };
  const w = 0.38;
  switch (mark) {
    case "square":
      polygon(-0.9, -0.9, 0.9, -0.9, 0.9, 0.9, -0.9, 0.9);
      break;
    case "up":
      polygon(0, -1.25, 1.15, 0.85, -1.15, 0.85);
      break;
    case "down":
      polygon(0, 1.25, 1.15, -0.85, -1.15, -0.85);
      break;
    case "diamond":
      polygon(0, -1.3, 1.15, 0, 0, 1.3, -1.15, 0);
      break;
    case "plus": {
      const a = 1.25;
      polygon(-w, -a, w, -a, w, -w, a, -w, a, w, w, w, w, a, -w, a, -w, w, -a, w, -a, -w, -w, -w);
      break;
    }
    case "cross": {
      const a = 1.1,
        s = w * Math.SQRT2;
      polygon(
        0,
        -s,
        a - s / 2,
        -a - s / 2,
        a + s / 2,
        -a + s / 2,
        s,
        0,
        a + s / 2,
        a - s / 2,
        a - s / 2,
        a + s / 2,
        0,
        s,
        -a + s / 2,
        a + s / 2,
        -a - s / 2,
        a - s / 2,
        -s,
        0,
        -a - s / 2,
        -a + s / 2,
        -a + s / 2,
        -a - s / 2,
      );
      break;
    }
    default:
      path.moveTo(x + r, y);
      path.arc(x, y, r, 0, TURN);
  }
}

// A cluster's colour and mark beside its name.
function swatch(cluster) {
  const canvas = make("canvas", { width: 28, height: 28, "aria-hidden": "true" });
  canvas.style.width = canvas.style.height = "14px";
  const ctx = canvas.getContext("2d");
  ctx.fillStyle = cluster.colour;
  ctx.beginPath();
  addMark(ctx, cluster.mark, 14, 14, 9);
  ctx.fill();
  return canvas;
}

// A canvas as large as it is on the screen, to the device's pixel; drawn in CSS pixels.
function fitted(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
  const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const ctx = canvas.getContext("2d");
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  return ctx;
}

// The theme's colours, read when it changes and not at every stroke.
const theme = {};
function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ground", "panel", "line", "ink", "soft", "faded", "accent", "lit", "grid"]) {
    theme[name] = style.getPropertyValue(`--${name}`).trim();
  }
}
readTheme();
const FONT = '11px system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif';
