"""Display in notebooks: a picture below an estimator, and the report page as a cell's output.

The picture is a small SVG of our own, so that an estimator has one where matplotlib is not
installed.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._report import page

# Okabe & Ito's colours, which colour-blind people can tell apart.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#000000")
GREY = "#BBBBBB"
WIDTH, HEIGHT, MARGIN = 380, 260, 28
# More marks than this make a notebook heavy and show no more.
MOST = 2000


def usual(names: Sequence[Any] | None) -> tuple[int, int]:
    """The two features that a picture shows: Jphi and Jr where they are, else the first two."""
    known = [] if names is None else [str(name).lower() for name in names]
    return (known.index("jphi"), known.index("jr")) if {"jphi", "jr"} <= set(known) else (0, 1)


def picture(estimator: Any) -> str:
    """An SVG of where each object was taken to be, coloured by cluster; empty before a fit and for
    one feature.
    """
    places = getattr(estimator, "_places", None)
    if places is None or np.ndim(places) != 2 or np.shape(places)[1] < 2:
        return ""
    labels = np.asarray(estimator.labels_)
    names = getattr(estimator, "feature_names_in_", None)
    across, up = usual(names)
    shown = np.linspace(0, len(labels) - 1, min(len(labels), MOST)).astype(int)
    x, y = (np.asarray(places)[shown, f] for f in (across, up))
    # The inner 99 per cent fill the picture; what is beyond lies on its edge.
    (left, right), (low, high) = (np.quantile(v, [0.005, 0.995]) for v in (x, y))
    along = MARGIN + (WIDTH - 2 * MARGIN) * np.clip((x - left) / ((right - left) or 1), 0, 1)
    above = HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * np.clip((y - low) / ((high - low) or 1), 0, 1)
    marks = "".join(
        f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.2" fill="{GREY if label < 0 else COLOURS[label % len(COLOURS)]}"/>'
        for a, b, label in sorted(zip(along, above, labels[shown]), key=lambda mark: mark[2])
    )
    said = [html.escape(str(names[f])) if names is not None else f"feature {f}" for f in (across, up)]
    alone = int(np.sum(labels < 0))
    title = f"{estimator.n_clusters_} clusters of {len(labels)} objects" + (f", {alone} in none" if alone else "")
    text = 'font-family="sans-serif" font-size="11" fill="#555"'
    return (
        f'<figure style="margin:0.5em 0"><svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{title}" style="background:#fff">'
        f'<rect x="{MARGIN - 6}" y="{MARGIN - 6}" width="{WIDTH - 2 * MARGIN + 12}" height="{HEIGHT - 2 * MARGIN + 12}" '
        f'fill="none" stroke="#999"/>{marks}'
        f'<text x="{WIDTH / 2}" y="14" text-anchor="middle" {text}>{title}</text>'
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 5}" text-anchor="middle" {text}>{said[0]}</text>'
        f'<text x="12" y="{HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 12 {HEIGHT / 2})" {text}>{said[1]}</text>'
        "</svg></figure>"
    )


class View:
    """The report page, shown in a notebook; made by :func:`view`."""

    def __init__(self, text: str, height: int) -> None:
        #: The page, one HTML document that loads nothing.
        self.html = text
        self._height = height

    def __repr__(self) -> str:
        return f"View({len(self.html)} characters of HTML; shown in a notebook)"

    def _repr_html_(self) -> str:
        # A frame of its own: script and style of the page stay within it, and it reaches nothing of
        # the notebook.
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" sandbox="allow-scripts allow-downloads" '
            f'style="width:100%;height:{self._height}px;border:1px solid #ccc" title="goc report"></iframe>'
        )


def view(
    estimator: Any,
    X: Any = None,
    *,
    ids: Sequence[Any] | None = None,
    truth: Any = None,
    features: Sequence[str] | None = None,
    title: str = "goc",
    height: int = 700,
) -> View:
    """Show the report page of a fit inline: linked views, and the clusters in a table.

    Parameters
    ----------
    estimator : a fitted estimator
    X : what was fitted, optional
        With it an object under the pointer shows its whole uncertainty set.
    ids, truth, features, title
        As in the `report` method of the estimator, which writes the same page to a file.
    height : int, default 700
        Height in the notebook, in pixels.

    Returns
    -------
    View
        A notebook shows it; `html` is the page as text.

    Examples
    --------
    >>> import goc
    >>> X = [[[0.0, 0.0], [0.1, 0.0]], [[0.2, 0.1], [0.1, 0.1]], [[9.0, 9.0], [8.0, 9.0]]]
    >>> goc.view(goc.UKMeans(2).fit(X), X).html[:15]
    '<!doctype html>'
    """
    return View(page(estimator, X, ids, truth, features, title), int(height))
