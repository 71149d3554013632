// Sphinx looks for the text of a class by `#goc.MarginalMixture`, where the dot begins a style
// class, and finds nothing. Escaped, the name is found, and with it the description that follows.
document.addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "undefined") return;
  const text = Search.htmlToText;
  const escaped = (anchor) => `#${CSS.escape(anchor.slice(1))}`;
  const described = (id) => `:is(dt${id} + dd, ${id}:not(dt))`;
  Search.htmlToText = (page, anchor) => text(page, anchor && described(escaped(anchor)));
});
