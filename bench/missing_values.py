"""Stars without a radial velocity or a metallicity: what they add, and whether the others lose.

Mock skies whose truth is known: the paper's recipe, and the realistic sky of --stars stars. Values are hidden
at random or by magnitude (the faint half), the stars are grouped by `goc stars --method marginal` once
without those that miss a value (`left out`) and once with them (`prior`), all else at its defaults.

    missing_values.py velocity            half of the velocities hidden
    missing_values.py metallicity         clustered by orbits, by fe_h too, by an fe_h that says nothing
    missing_values.py tightness           goc validate: p-values of pieces of the field, and of true groups
    --first 1001 --seeds 10               which skies: seeds from 1 to 100 are for choosing, from 1001 on for judging

AMI counts each star in no group as a group of its own. Of the stars without a value that have a label:
P is the share that truly is in a group, `own` the share whose group is mostly (by its other stars) of their own origin;
R is the share of those truly in a group (whose origin has another star) that are labelled, `own R` rightly so.
`error` is the expected calibration error of their probabilities, by tenths, against the share of the other
members that are of their origin. The command is taken from GOC, else target/release/goc.
"""

import argparse
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.stats import kstest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score

ROOT = Path(__file__).resolve().parent.parent
GOC = os.environ.get("GOC") or str(Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release/goc")


def goc(*words):
    done = subprocess.run([GOC, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"goc {' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def sky(kind, seed, stars, folder):
    """A mock as a dictionary of arrays; every star has every value."""
    path = Path(folder) / "sky.parquet"
    flags = ["--sky", "realistic", "--stars", stars, "--without-velocity", 0] if kind == "realistic" else []
    goc("simulate", "--seed", seed, *flags, "--stars-out", path)
    table = pq.read_table(path)
    return {name: table[name].to_numpy() for name in table.column_names}


def hidden(columns, names, which):
    """The same with the values of these stars gone."""
    columns = dict(columns)
    for name in names:
        columns[name] = np.where(which, np.nan, columns[name])
    return columns


def half(columns, how, seed):
    """The half of the stars that loses a value."""
    n = len(columns["truth"])
    order = np.random.default_rng(seed).random(n) if how == "random" else -columns["phot_g_mean_mag"]
    return np.argsort(np.argsort(order)) < n // 2


def labelled(columns, folder, *flags):
    """What `goc stars` says of each star; stars that were not clustered have NaN."""
    table, out = Path(folder) / "stars.parquet", Path(folder) / "labels.parquet"
    pq.write_table(pa.table({k: pa.array(v, from_pandas=v.dtype.kind == "f") for k, v in columns.items()}), table)
    goc("stars", table, "--method", "marginal", *flags, "-o", out)
    found = pq.read_table(out)
    names = ("goc_label", "goc_probability", "goc_field", "goc_alone")
    return [found[name].to_numpy(zero_copy_only=False).astype(float) for name in names if name in found.column_names]


def apart(labels):
    labels = labels.astype(int)
    return np.where(labels < 0, labels.max() + 1 + np.arange(len(labels)), labels)


def ami(truth, label, which):
    return adjusted_mutual_info_score(apart(truth[which]), apart(label[which]))


def siblings(truth):
    _, group, size = np.unique(truth, return_inverse=True, return_counts=True)
    return (truth >= 0) & (size[group] > 1)


def judged(truth, label, probability, which):
    """P, own, R, own R and cases of calibration of some of the stars."""
    grouped = which & (label >= 0)
    own, share = np.zeros(len(truth), bool), np.zeros(len(truth))
    for i in np.flatnonzero(grouped):
        others = np.flatnonzero(label == label[i])
        others = truth[others[others != i]]
        if len(others):
            names, counts = np.unique(others, return_counts=True)
            own[i] = truth[i] >= 0 and truth[i] in names[counts == counts.max()]
            share[i] = np.mean(others == truth[i]) if truth[i] >= 0 else 0.0
    true = which & siblings(truth)
    n, m = max(grouped.sum(), 1), max(true.sum(), 1)
    numbers = [(grouped & true).sum() / n, own.sum() / n, (grouped & true).sum() / m, own.sum() / m]
    return numbers, probability[grouped], share[grouped]


def calibration_error(said, came):
    tenth = np.minimum((said * 10).astype(int), 9)
    gaps = [abs(said[tenth == t].sum() - came[tenth == t].sum()) for t in range(10)]
    return sum(gaps) / max(len(said), 1)


def line(*cells):
    print("| " + " | ".join(c if isinstance(c, str) else f"{c:.3f}" for c in cells) + " |", flush=True)


def head(*cells):
    line(*cells)
    line(*["---"] * len(cells))


def velocity(args):
    head("sky", "hidden", "seed", "AMI of stars with one: left out", "prior", "P", "own", "R", "own R", "with one: own", "own R", "error")
    for kind in args.sky:
        for how in ("random", "faint"):
            rows, said, came = [], [], []
            for seed in range(args.first, args.first + args.seeds):
                with tempfile.TemporaryDirectory() as folder:
                    full = sky(kind, seed, args.stars, folder)
                    lacks = half(full, how, seed)
                    stars = hidden(full, ["radial_velocity", "radial_velocity_error"], lacks)
                    truth = full["truth"].astype(int)
                    without = labelled(stars, folder, *args.flags)
                    label, probability, *_ = labelled(stars, folder, "--missing-rv", "prior", *args.flags)
                    there = ~np.isnan(without[0]) & ~np.isnan(label) & ~lacks
                    lacking = lacks & ~np.isnan(label)
                    numbers, s, c = judged(truth, label, probability, lacking)
                    base = judged(truth, label, probability, there)[0]
                    said.append(s), came.append(c)
                    rows.append([ami(truth, without[0], there), ami(truth, label, there), *numbers, base[1], base[3]])
                    line(kind, how, str(seed), *rows[-1], calibration_error(s, c))
                    if args.keep:
                        np.savez(Path(args.keep) / f"{kind}-{how}-{seed}.npz", truth=truth, label=label, probability=probability, lacks=lacks, without=without[0])
            error = calibration_error(np.concatenate(said), np.concatenate(came))
            line(kind, how, "mean", *np.mean(rows, axis=0), error)


def metallicity(args):
    head("seed", "orbits alone", "with fe_h", "half of fe_h missing", "fe_h says nothing", "half missing: P", "own", "R", "own R")
    rows = []
    for seed in range(args.first, args.first + args.seeds):
        with tempfile.TemporaryDirectory() as folder:
            full = sky("realistic", seed, args.stars, folder)
            truth, n = full["truth"].astype(int), len(full["truth"])
            rng = np.random.default_rng(seed)
            lacks = half(full, "random", seed)
            empty = {**full, "fe_h": np.where(True, rng.normal(-1.2, np.hypot(0.5, 0.1), n), 0.0)}
            found = [
                labelled(full, folder, *args.flags),
                labelled(full, folder, "--with", "fe_h", *args.flags),
                labelled(hidden(full, ["fe_h", "fe_h_error"], lacks), folder, "--with", "fe_h", *args.flags),
                labelled(empty, folder, "--with", "fe_h", *args.flags),
            ]
            there = np.all([~np.isnan(f[0]) for f in found], axis=0)
            numbers = judged(truth, found[2][0], found[2][1], lacks & there)[0]
            rows.append([*(ami(truth, f[0], there) for f in found), *numbers])
            line(str(seed), *rows[-1])
    line("mean", *np.mean(rows, axis=0))


def validated(columns, label, fe_h, seed, folder):
    """Label, size and p-value of each group, and the p-value of all."""
    table, out = Path(folder) / "labelled.parquet", Path(folder) / "validated.parquet"
    columns = {**columns, "label": label.astype(np.int64), "fe_h": fe_h}
    pq.write_table(pa.table({name: columns[name] for name in ("Jr", "Jz", "Jphi", "label", "fe_h", "fe_h_error")}), table)
    goc("validate", table, "--by", "fe_h", "--seed", seed, "-o", out)
    found = pq.read_table(out)
    whole = float(found.schema.metadata[b"goc_p_value"])
    return *(found[name].to_numpy(zero_copy_only=False) for name in ("values", "p_value")), whole


def tightness(args):
    null, null_all, power, power_all = [], [], [], []
    for seed in range(args.first, args.first + args.seeds):
        with tempfile.TemporaryDirectory() as folder:
            full = sky("realistic", seed, args.stars, folder)
            goc("actions", Path(folder) / "sky.parquet", "-o", Path(folder) / "actions.parquet")
            table = pq.read_table(Path(folder) / "actions.parquet")
            actions = {name: table[name].to_numpy(zero_copy_only=False).astype(float) for name in ("Jr", "Jz", "Jphi")}
            whole = np.isfinite(actions["Jr"])
            full = {name: value[whole] for name, value in {**full, **actions}.items()}
            truth = full["truth"].astype(int)
            # No groups: stars of disc and halo, cut into pieces by their actions; metallicities follow the orbits.
            field = {name: value[truth < 0] for name, value in full.items()}
            places = np.column_stack([np.sqrt(field["Jr"]), np.sqrt(field["Jz"]), field["Jphi"]])
            low, middle, high = np.quantile(places, [0.25, 0.5, 0.75], axis=0)
            pieces = KMeans(40, n_init=1, random_state=seed).fit_predict((places - middle) / (high - low))
            sizes, p, of_all = validated(field, np.where(pieces < 20, pieces, -1), field["fe_h"], seed, folder)
            null.append(p), null_all.append(of_all)
            sizes, p, of_all = validated(full, truth, full["fe_h"], seed, folder)
            power.append(np.column_stack([sizes, p])), power_all.append(of_all)
    null, power = np.concatenate(null), np.concatenate(power)
    null, power = null[np.isfinite(null)], power[np.isfinite(power[:, 1])]
    head("groups", "number", "p <= 0.01", "p <= 0.05", "p <= 0.25", "p <= 0.5", "Kolmogorov's p")
    shares = lambda p: [np.mean(p <= level) for level in (0.01, 0.05, 0.25, 0.5)]  # noqa: E731
    line("pieces of the field", str(len(null)), *shares(null), kstest(null, "uniform").pvalue)
    line("... all of a sky together", str(len(null_all)), *shares(np.array(null_all)), kstest(null_all, "uniform").pvalue)
    for low, high in ((2, 4), (5, 9), (10, 29), (30, 10**9)):
        p = power[(power[:, 0] >= low) & (power[:, 0] <= high), 1]
        if len(p):
            line(f"true groups of {low} to {high}" if high < 10**9 else f"true groups from {low}", str(len(p)), *shares(p), "")
    line("... all of a sky together", str(len(power_all)), *shares(np.array(power_all)), "")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["velocity", "metallicity", "tightness"])
    parser.add_argument("--first", type=int, default=1001)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--stars", type=int, default=1200, help="of the realistic sky")
    parser.add_argument("--sky", nargs="+", default=["paper", "realistic"])
    parser.add_argument("--keep", help="a folder for labels and truth")
    parser.add_argument("--flags", nargs=argparse.REMAINDER, default=[], help="more for goc stars")
    args = parser.parse_args()
    {"velocity": velocity, "metallicity": metallicity, "tightness": tightness}[args.what](args)
