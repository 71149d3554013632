"""The methods that astronomers use, beside the others: scores and cost, on the paper's ten sets
and on bpmg; and whether worlds that are clustered together do better than one by one.

    rivals.py scores          NMI, F, AMI, clusters and seconds
    rivals.py consistency     `consistent-worlds` against as many worlds, over --seeds seeds
    rivals.py all
    --only marginal --on bpmg        of the scores, these methods and these data

`scores`: the ten sets with K = 50 and the settings of docs/explanation/methods.md, with --seeds
seeds each. bpmg is 831 young stars near the Sun, 225 of them in five groups, in X Y Z U V W with
robust scaling; K = 5 for the methods that need it, which have no field. Truth and labels of -1 are
groups of their own. Seconds are wall time on all cores, of one set.

`consistency`: worlds, representative worlds and consistent worlds, each clustering 20 worlds. The
first two by k-means and by spectral clustering, which the third uses within. On the ten sets, and
on iris and wine: every value gets a normal error of half its feature's deviation, is moved by it,
and has 50 candidates drawn from it.

The command is taken from GOC, else target/release/goc; the data from GOC_DATA, else
../shared/data.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from running import ROOT, apart, goc, head, line
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_mutual_info_score

DATA = Path(os.environ.get("GOC_DATA") or ROOT / "../shared/data")

METHODS = (
    "consistent-worlds", "hdbscan-draws", "foptics", "significant-linkage", "extreme-deconvolution",
    "extreme-deconvolution, K by BIC", "uk-means", "worlds", "representative-worlds", "goc",
    "marginal",
)  # fmt: skip
FREE = ("hdbscan-draws", "foptics", "significant-linkage", "marginal")  # that take no K


def cluster(table, method, seed, *flags):
    """Scores of one run, its number of clusters (a label of -1 is none) and its seconds."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "labels.parquet"
        words = ["--method", method, "--seed", seed, *flags, "--json", "-o", out]
        said = goc("cluster", table, *words)
        found = pq.read_table(out)
    truth, label = (apart(found[name].to_numpy().astype(int)) for name in ("truth", "label"))
    said = json.loads(said)
    ami = adjusted_mutual_info_score(truth, label)
    return np.array([said["nmi"], said["f"], ami, said["k"], said["seconds"]])


def paper():
    return sorted((DATA / "paper").glob("seed*.fits"))


def scores(args):
    with tempfile.TemporaryDirectory() as folder:
        bpmg = Path(folder) / "bpmg.parquet"
        goc("candidates", DATA / "real/bpmg/stars.csv.gz", "--space", "xyzuvw", "-o", bpmg)
        for data, title, tables, k, flags in (
            ("paper", "the paper's ten sets, K = 50", paper(), 50, []),
            ("bpmg", "bpmg, K = 5", [bpmg], 5, ["--scale", "robust"]),
        ):
            if data not in args.on:
                continue
            print(f"\n{title}\n")
            head("method", "NMI", "F", "AMI", "clusters", "seconds")
            for name in args.only:
                seeds = range(1, args.seeds + 1)
                method, *by_bic = name.split(", ")
                more = flags + ([] if name in FREE else ["--k", "auto" if by_bic else k])
                runs = [cluster(t, method, s, *more) for t in tables for s in seeds]
                *numbers, found, seconds = np.mean(runs, axis=0)
                line(name, *numbers, f"{found:.1f}", f"{seconds:.2f}")


def with_errors(values, truth, seed, path):
    """Values moved by their errors, and candidates drawn around them."""
    rng = np.random.default_rng(seed)
    errors = 0.5 * values.std(axis=0)
    seen = values + errors * rng.normal(size=values.shape)
    drawn = seen[:, None, :] + errors * rng.normal(size=(len(values), 50, values.shape[1]))
    columns = {"object": np.repeat(np.arange(len(values)), 50), "truth": np.repeat(truth, 50)}
    columns |= {f"x{f}": drawn[:, :, f].ravel() for f in range(values.shape[1])}
    pq.write_table(pa.table(columns), path)


WORLDS = (
    ("worlds", "k-means"), ("worlds", "spectral"),
    ("representative-worlds", "k-means"), ("representative-worlds", "spectral"),
    ("consistent-worlds", "spectral"),
)  # fmt: skip


def consistency(args):
    with tempfile.TemporaryDirectory() as folder:
        sets = [("the paper's ten sets", paper(), 50)]
        for name, load in (("iris", load_iris), ("wine", load_wine)):
            values, truth = load(return_X_y=True)
            tables = [Path(folder) / f"{name}-{seed}.parquet" for seed in range(1, 11)]
            for seed, path in enumerate(tables, 1):
                with_errors(values, truth, seed, path)
            sets.append((f"{name} with errors, ten sets", tables, 3))
        head("set", "method", "each by", "NMI", "F", "AMI", "AMI less that of consistent worlds")
        for title, tables, k in sets:
            rows = {}
            for name, oracle in WORLDS:
                # Of 100 worlds 20 stand for all; without representatives 20 are drawn.
                flags = ["--worlds", 20 if name == "worlds" else 100]
                flags += ["--oracle", oracle] if name != "consistent-worlds" else []
                runs = [
                    [cluster(t, name, s, "--k", k, *flags) for s in range(1, args.seeds + 1)]
                    for t in tables
                ]
                rows[name, oracle] = np.mean(runs, axis=1)
            for (name, oracle), own in rows.items():
                gap = own[:, 2] - rows["consistent-worlds", "spectral"][:, 2]
                error = gap.std(ddof=1) / np.sqrt(len(gap))
                means = own.mean(axis=0)[:3]
                line(title, name, oracle, *means, f"{gap.mean():+.3f} +- {error:.3f}")


WHAT = {"scores": scores, "consistency": consistency}

if __name__ == "__main__":
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("what", choices=[*WHAT, "all"])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=METHODS, default=METHODS, metavar="METHOD")
    parser.add_argument("--on", nargs="+", choices=["paper", "bpmg"], default=["paper", "bpmg"])
    args = parser.parse_args()
    for name in WHAT if args.what == "all" else [args.what]:
        print(f"\n{name}")
        WHAT[name](args)
