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
    ax.scatter(candidates["vx"], candidates["vy"], s=0.6, color="#CFCFCF", linewidths=0, zorder=1, rasterized=True)
    for label, group in labels.groupby("label"):
        colour, mark = COLOURS[label % len(COLOURS)], MARKS[label // len(COLOURS) % len(MARKS)]
        centre = group[["vx", "vy"]].mean()
        for x, y in group[["vx", "vy"]].to_numpy():
            ax.plot([x, centre["vx"]], [y, centre["vy"]], color=colour, lw=0.6, alpha=0.6, zorder=2)
        ax.scatter(group["vx"], group["vy"], s=16, color=colour, marker=mark, linewidths=0, zorder=3)
    ax.set_title(title)
    ax.set_xlabel("vx")
for ax in axes:
    ax.set_ylabel("vy" if ax is axes[0] else "")
low, high = labels[["vx", "vy"]].quantile(0.01), labels[["vx", "vy"]].quantile(0.99)
axes[0].set_xlim(low["vx"], high["vx"])
axes[0].set_ylim(low["vy"], high["vy"])
figure.savefig(Path(__file__).with_name("demo.png"), dpi=90)
