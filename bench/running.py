"""What the benches of missing values and of rivals share: running goc, and rows of a table.

The command is taken from GOC, else target/release/goc.
"""

import os
import subprocess
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
GOC = os.environ.get("GOC") or str(TARGET / "release/goc")


def goc(*words):
    words = [GOC, *map(str, words)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}\n{done.stderr}")
    return done.stdout


def line(*cells):
    text = [c if isinstance(c, str) else f"{c:.3f}" for c in cells]
    print("| " + " | ".join(text) + " |", flush=True)


def head(*cells):
    line(*cells)
    line(*["---"] * len(cells))


def apart(labels):
    """Each -1 a group of its own."""
    return np.where(labels < 0, labels.max() + 1 + np.arange(len(labels)), labels)
