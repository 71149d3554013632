"""What Python adds to a fit: the same fit by the command (its own `seconds`: scaling and
clustering, without reading the file) and by an estimator (everything from the call of `fit` on a
contiguous array to its attributes).

    python bench/overhead.py --command target/debug/goc [--repeats 25]

Both on one thread, turn by turn, the least of several: a busy machine disturbs both alike. The
wheel and the command should be built with the same profile. Prints a table and the ratio; at most
1.1 is asked for.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet

import goc

FITS = [
    ("GOC, K 50", {}, ["--k", "50"]),
    ("GOC, K 50, 20 starts", {"n_init": 20}, ["--k", "50", "--starts", "20"]),
    ("GOC, K 50, thorough", {"k_rule": "constant", "search": "thorough"}, ["--k", "50", "--k-rule", "constant", "--search", "thorough"]),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", default="target/debug/goc")
    parser.add_argument("--repeats", type=int, default=25)
    given = parser.parse_args()
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mock.parquet"
        subprocess.run([given.command, "simulate", "-o", path], check=True, capture_output=True)
        sets = goc.Candidates.from_table(parquet.read_table(path))
        # Every object has 101 candidates, so that the array is one block.
        X = np.ascontiguousarray(sets.values.reshape(len(sets), -1, 3))
        print(f"{len(sets)} objects, {len(sets.values)} candidates, one thread, least of {given.repeats}")
        print(f"{'fit':24} {'Rust, s':>9} {'Python, s':>10} {'ratio':>6}")
        for name, params, flags in FITS:
            rust, python = [], []
            for _ in range(given.repeats):
                done = subprocess.run(
                    [given.command, "cluster", path, *flags, "--threads", "1", "--json"], check=True, capture_output=True, text=True
                )
                summary = json.loads(done.stdout)
                rust.append(summary["seconds"])
                estimator = goc.GreedyOptimisticClustering(50, n_jobs=1, **params)
                began = time.perf_counter()
                estimator.fit(X, penalty=sets.penalties)
                python.append(time.perf_counter() - began)
                assert estimator.objective_ == summary["objective"], "not the same fit"
            ratio = min(python) / min(rust)
            worst = max(worst, ratio)
            print(f"{name:24} {min(rust):9.4f} {min(python):10.4f} {ratio:6.3f}")
        for name, call in (("checks and the one copy", lambda: goc.Candidates(X.reshape(-1, 3), np.arange(len(X) + 1) * X.shape[1])),):
            seconds = []
            for _ in range(given.repeats):
                began = time.perf_counter()
                call()
                seconds.append(time.perf_counter() - began)
            print(f"{name:24} {'':9} {min(seconds):10.4f}")
    print(f"worst ratio {worst:.3f}")
    return 0 if worst <= 1.1 else 1


if __name__ == "__main__":
    sys.exit(main())
