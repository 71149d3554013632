// Elements and numbers as people read them. Elements are made here and nowhere else, and text goes in as
// text: nothing that comes with the data can become markup.

const byId = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children); // strings become text nodes
  return node;
}

const say = (text) => {
  byId("live").textContent = text;
};

// Four digits, or all of a whole number: enough to read, the download has the rest.
function shown(value) {
  if (value == null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  let text;
  if (value === 0) text = "0";
  else if (size >= 1e7 || size < 1e-4) text = value.toExponential(2);
  else if (size >= 1000 || (Number.isInteger(value) && size >= 1)) text = value.toFixed(0);
  else text = String(Number(value.toPrecision(4)));
  return text.replace("-", "−");
}

const percent = (p) =>
  Number.isFinite(p) ? `${(100 * p).toFixed(p > 0 && p < 0.01 ? 2 : p > 0.995 && p < 1 ? 1 : 0)} %` : "–";

const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
