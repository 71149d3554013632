"""The README's picture, from what `goc demo` writes.

    pip install matplotlib pandas pyarrow
    goc demo && python docs/figures/demo.py
"""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

# Okabe and Ito's colours, told apart by the colour-blind too.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31"]
MARKS = ["o", "s", "^", "D", "v", "P", "X"]

candidates = pd.read_parquet("goc-demo/candidates.parquet")
panels = [("k-means on the mean of each set", "labels-uk-means.csv"),
          ("greedy optimistic clustering", "labels-goc-best.csv")]
figure, axes = plt.subplots(1, 2, figsize=(11, 5.2), sharex=True, sharey=True, layout="constrained")
for ax, (title, file) in zip(axes, panels):
    labels = pd.read_csv(Path("goc-demo") / file)
    ax.scatter(candidates["Jphi"], candidates["Jr"], s=0.6, color="#CFCFCF", linewidths=0, zorder=1, rasterized=True)
    for label, group in labels.groupby("label"):
        colour, mark = COLOURS[label % len(COLOURS)], MARKS[label // len(COLOURS) % len(MARKS)]
        centre = group[["Jphi", "Jr"]].mean()
        for x, y in group[["Jphi", "Jr"]].to_numpy():
            ax.plot([x, centre["Jphi"]], [y, centre["Jr"]], color=colour, lw=0.6, alpha=0.6, zorder=2)
        ax.scatter(group["Jphi"], group["Jr"], s=16, color=colour, marker=mark, linewidths=0, zorder=3)
    ax.set_title(title)
    ax.set_xlabel("Jphi (kpc km/s)")
for ax in axes:
    ax.set_ylabel("Jr (kpc km/s)" if ax is axes[0] else "")
low, high = labels[["Jphi", "Jr"]].quantile(0.02), labels[["Jphi", "Jr"]].quantile(0.93)
axes[0].set_xlim(low["Jphi"], high["Jphi"])
axes[0].set_ylim(low["Jr"], high["Jr"])
figure.savefig(Path(__file__).with_name("demo.png"), dpi=90)
