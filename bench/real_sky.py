"""The marginal mixture on real catalogues and on sets with a field, beside HDBSCAN. `make benchmark-real`.

goc runs with its defaults everywhere: no flag but the space and the seed. Of many settings of HDBSCAN
the one that the truth likes best is shown, which nobody has who looks at a sky.

AMI and ARI count each star in no group (label -1, truth below 0) as a group of its own. P and R are
precision and recall of "in a group", the truth being a true group of at least two. Real sets are run
with several seeds, made ones are new for every seed; numbers are means.

    real_sky.py                        all sets but the realistic sky
    real_sky.py --quick                fewer seeds
    real_sky.py --only bpmg --only halo    sets whose name contains one of these
    real_sky.py --realistic            the realistic sky too, and extreme deconvolution on it (slow)
    real_sky.py --figures docs/figures pictures of the real sets

The command is taken from GOC, else target/release/goc; the data from GOC_DATA, else ../shared/data.
"""

import argparse
import csv
import gzip
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet
from sklearn.cluster import HDBSCAN
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

ROOT = Path(__file__).resolve().parent.parent
GOC = os.environ.get("GOC") or str(Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release/goc")
DATA = Path(os.environ.get("GOC_DATA") or ROOT / "../shared/data")
SURE = 0.7  # a group whose recurrence is above this comes back from draw to draw

# HDBSCAN: least size of a cluster, neighbours, how clusters are chosen, scaling.
SIZES, NEIGHBOURS = (2, 3, 5, 10, 20, 40), (1, 3, 5, 10, 20)
CHOICES = ({}, {"cluster_selection_method": "leaf"}, {"allow_single_cluster": True})
SCALES = ("robust", "standard")


def say(*words):
    print(*words, file=sys.stderr, flush=True)


# Running goc, and reading what it writes.


def goc(*words):
    """What the command prints, and the seconds of CPU that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([GOC, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"goc {' '.join(map(str, words))}\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def columns(path):
    """A table as a dictionary of arrays."""
    path = Path(path)
    table = pyarrow.parquet.read_table(path) if path.suffix == ".parquet" else pyarrow.csv.read_csv(path)
    return {name: table[name].to_numpy() for name in table.column_names}


def cluster(path, seed):
    """Labels, truth and the rest of the label table of one run; what it says of itself; its CPU time."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "labels.csv"
        said, seconds = goc("cluster", path, "--method", "marginal", "--seed", seed, "--json", "-o", out)
        return columns(out), json.loads(said), seconds


def points(path):
    """One point per star for the rivals: the mean of its candidates, by goc's own features; and the truth."""
    table = columns(path)
    features = [name for name in table if name not in ("object", "candidate", "energy", "penalty", "truth")]
    _, first, star, count = np.unique(table["object"], return_index=True, return_inverse=True, return_counts=True)
    values = []
    for name in features:
        value = table[name].astype(float)
        value = np.sqrt(np.maximum(value, 0)) if name in ("Jr", "Jz") else value
        values.append(np.bincount(star, value) / count)
    return np.column_stack(values), table["truth"][first] if "truth" in table else None


# Scores.


def apart(labels):
    """Labels in which each star in no group is a group of its own."""
    labels = np.unique(labels, return_inverse=True)[1] * (labels >= 0) - (labels < 0)
    return np.where(labels < 0, len(labels) + np.arange(len(labels)), labels)


def grouped(labels):
    """Whether each star is in a group of at least two."""
    _, which, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return (labels >= 0) & (sizes[which] > 1)


def scores(labels, truth):
    """AMI, ARI, precision and recall of "in a group", number of groups."""
    found, true = grouped(labels), grouped(truth)
    both = (found & true).sum()
    mine, theirs = apart(labels), apart(truth)
    return np.array([
        adjusted_mutual_info_score(theirs, mine), adjusted_rand_score(theirs, mine),
        both / max(found.sum(), 1), both / max(true.sum(), 1), len(np.unique(labels[found])),
    ])  # fmt: skip


# The rivals.


def scaled(values, how):
    if how == "standard":
        return (values - values.mean(axis=0)) / values.std(axis=0)
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75], axis=0)
    return (values - middle) / (high - low)


def hdbscan(values):
    """Every setting and its labels."""
    for how, size, neighbours, choice in itertools.product(SCALES, SIZES, NEIGHBOURS, CHOICES):
        if neighbours <= len(values) and size <= len(values):
            model = HDBSCAN(min_cluster_size=size, min_samples=neighbours, copy=True, **choice)
            yield (how, size, neighbours, str(choice)), model.fit_predict(scaled(values, how))


def best_hdbscan(paths):
    """Mean scores of the setting whose mean AMI over the sets is highest."""
    of = {}
    for path in paths:
        values, truth = points(path)
        seen = {}
        for setting, labels in hdbscan(values):
            key = labels.tobytes()
            if key not in seen:
                seen[key] = scores(labels, truth)
            of.setdefault(setting, []).append(seen[key])
    means = {setting: np.mean(rows, axis=0) for setting, rows in of.items()}
    best = max(means, key=lambda setting: means[setting][0])
    say("  HDBSCAN", *best)
    return means[best]


def deconvolution(path, ks=(5, 10, 20, 40)):
    """Scores of extreme deconvolution (astroML), the number of components by BIC. It has no field."""
    from astroML.density_estimation import XDGMM

    table = columns(path)
    values, truth = points(path)
    _, first, star = np.unique(table["object"], return_index=True, return_inverse=True)
    every = np.column_stack([np.sqrt(np.maximum(table["Jr"], 0)), np.sqrt(np.maximum(table["Jz"], 0)), table["Jphi"]])
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75], axis=0)
    values, every = (values - middle) / (high - low), (every - middle) / (high - low)
    n, q = values.shape
    gaps = every - values[star]
    spread = np.zeros((n, q, q))
    np.add.at(spread, star, gaps[:, :, None] * gaps[:, None, :])
    spread = spread / np.bincount(star)[:, None, None] + 1e-8 * np.eye(q)
    best = None
    for k in ks:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = XDGMM(k, max_iter=50, tol=1e-3, random_state=1).fit(values, spread)
        logs = np.empty((n, k))
        for j in range(k):
            total, gap = model.V[j] + spread, values - model.mu[j]
            far = np.einsum("ni,ni->n", gap, np.linalg.solve(total, gap[..., None])[..., 0])
            logs[:, j] = np.log(max(model.alpha[j], 1e-300)) - 0.5 * (np.linalg.slogdet(2 * np.pi * total)[1] + far)
        bic = -2 * np.logaddexp.reduce(logs, axis=1).sum() + (k * (1 + q + q * (q + 1) / 2) - 1) * np.log(n)
        say(f"  extreme deconvolution, {k} components: BIC {bic:.0f}")
        if best is None or bic < best[0]:
            best = (bic, logs.argmax(axis=1))
    return scores(best[1], truth)


# The sets: each gives files of candidates with the truth, and seeds.


def real(name):
    """A file of the shared data; None, said loudly, where it is absent."""
    path = DATA / "real" / name
    if path.exists():
        return path
    say(f"SKIPPED: {name} is not in {DATA / 'real'} (set GOC_DATA)")
    return None


def bpmg(folder, seeds, space, members_only=False):
    stars = real("bpmg/stars.csv.gz")
    if stars is None:
        return
    if members_only:
        with gzip.open(stars, "rt", newline="") as file:
            rows = list(csv.DictReader(file))
        stars = folder / "members.csv"
        with open(stars, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(row for row in rows if int(row["truth"]) >= 0)
    for seed in range(1, seeds + 1):
        path = folder / f"{seed}.parquet"
        # As goc stars --method marginal does by default.
        goc("candidates", stars, "--space", space, "--sampler", "tails", "--seed", seed, "-o", path)
        yield path, seed


def mock(folder, seeds, *flags):
    for seed in range(1001, 1001 + seeds):
        path = folder / f"{seed}.parquet"
        goc("simulate", "--seed", seed, *flags, "-o", path)
        yield path, 1


def write(path, values, truth, draws=None):
    """A long table; with draws (stars, candidates, features) a row for each."""
    draws = values[:, None, :] if draws is None else draws
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["object", *(f"x{f}" for f in range(values.shape[1])), "truth"])
        for i, own in enumerate(draws):
            writer.writerows([i, *row, truth[i]] for row in own.tolist())


def made(folder, seeds, make):
    """Sets that `make(rng)` draws: places, truth and, where there are errors, draws from them."""
    for seed in range(1001, 1001 + seeds):
        path = folder / f"{seed}.csv"
        write(path, *make(np.random.default_rng(seed)))
        yield path, 1


def cloud_and_thirty(rng):
    tight = np.array([0.7, 0.2, -0.3]) + 0.05 * rng.normal(size=(30, 3))
    return np.concatenate([rng.normal(size=(1000, 3)), tight]), [-1] * 1000 + [0] * 30


def cloud_and_ten(rng, error=0.05):
    groups = np.repeat(rng.normal(size=(10, 3)), 10, axis=0) + 0.03 * rng.normal(size=(100, 3))
    true = np.concatenate([rng.normal(size=(2000, 3)), groups])
    seen = true + error * rng.normal(size=true.shape)
    draws = seen[:, None, :] + error * rng.normal(size=(len(seen), 30, 3))
    return seen, [-1] * 2000 + [i // 10 for i in range(100)], draws


def groups(sizes, features, apart_by=8.0):
    def make(rng):
        centres = apart_by * rng.normal(size=(len(sizes), features))
        values = np.repeat(centres, sizes, axis=0) + rng.normal(size=(sum(sizes), features))
        return values, np.repeat(np.arange(len(sizes)), sizes)

    return make


def varied(rng):
    return make_blobs(600, centers=4, cluster_std=[0.4, 1.0, 2.5, 0.7], center_box=(-12, 12), random_state=int(rng.integers(2**31)))


def stretched(rng):
    values, truth = make_blobs(600, centers=4, center_box=(-10, 10), random_state=int(rng.integers(2**31)))
    return values @ np.array([[0.6, -0.6], [-0.4, 0.8]]), truth


def plain(folder, seeds, values, truth):
    """One set of plain points, several seeds."""
    path = folder / "points.csv"
    write(path, values, truth)
    for seed in range(1, seeds + 1):
        yield path, seed


def digits():
    whole = load_digits()
    return PCA(10, random_state=0).fit_transform(whole.data), whole.target


# Name, seeds, seeds with --quick, the set.
SETS = [
    ("bpmg, X Y Z U V W, 225 of 831 in groups", 5, 2, lambda f, s: bpmg(f, s, "xyzuvw")),
    ("bpmg, U V W", 5, 2, lambda f, s: bpmg(f, s, "uvw")),
    ("bpmg, X Y Z U V W, members only", 5, 2, lambda f, s: bpmg(f, s, "xyzuvw", members_only=True)),
    ("mock, a third field", 20, 3, lambda f, s: mock(f, s, "--field", 137, "--variant", "authors")),
    ("mock, 30 groups of 30, a fifth field", 10, 2,
     lambda f, s: mock(f, s, "--dwarfs", 30, "--stars", 30, "--field", 225, "--variant", "authors")),
    ("a cloud of 1000, 30 tight within", 3, 1, lambda f, s: made(f, s, cloud_and_thirty)),
    ("a cloud of 2000, ten groups of ten, errors", 3, 1, lambda f, s: made(f, s, cloud_and_ten)),
    ("one cloud of 300, 2-d", 3, 1, lambda f, s: made(f, s, groups([300], 2))),
    ("one cloud of 300, 3-d", 3, 1, lambda f, s: made(f, s, groups([300], 3))),
    ("five of 200, 2-d", 3, 1, lambda f, s: made(f, s, groups([200] * 5, 2))),
    ("two of 500, 3-d", 3, 1, lambda f, s: made(f, s, groups([500] * 2, 3))),
    ("500 + 20 + 5, 3-d", 3, 1, lambda f, s: made(f, s, groups([500, 20, 5], 3))),
    ("four blobs of varied width", 3, 1, lambda f, s: made(f, s, varied)),
    ("four stretched blobs", 3, 1, lambda f, s: made(f, s, stretched)),
    ("wine (178 x 13)", 10, 2, lambda f, s: plain(f, s, *load_wine(return_X_y=True))),
    ("iris (150 x 4)", 10, 2, lambda f, s: plain(f, s, *load_iris(return_X_y=True))),
    ("digits by PCA (1797 x 10)", 10, 1, lambda f, s: plain(f, s, *digits())),
]  # fmt: skip
REALISTIC = ("realistic sky of 5000, actions", 3, 1, lambda f, s: mock(f, s, "--sky", "realistic"))
HALO = "2000 halo stars"

HEAD = ("set", "AMI", "ARI", "P / R", "K", "chains agree", "CPU s", "HDBSCAN at its best setting: AMI", "ARI", "P / R")


def line(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def row(name, seeds, make, deconvolve=False):
    """One line of the table."""
    say(name)
    with tempfile.TemporaryDirectory() as folder:
        mine, paths, theirs = [], [], []
        for path, seed in make(Path(folder), seeds):
            labels, said, seconds = cluster(path, seed)
            mine.append([*scores(labels["label"], labels["truth"]), said["agreement"], seconds])
            say(f"  {path.name} seed {seed}: AMI {mine[-1][0]:.3f}, K {mine[-1][4]:.0f}, {seconds:.0f} s")
            if path not in paths and not (paths and name.startswith("bpmg")):
                paths.append(path)
        if not mine:
            return
        ami, ari, precision, recall, k, agree, seconds = np.mean(mine, axis=0)
        best = best_hdbscan(paths)
        if deconvolve:
            theirs = np.mean([deconvolution(path) for path in paths], axis=0)
    line((name, f"{ami:.3f}", f"{ari:.3f}", f"{precision:.2f} / {recall:.2f}", f"{k:.1f}", f"{agree:.2f}", f"{seconds:.1f}",
          f"{best[0]:.3f}", f"{best[1]:.3f}", f"{best[2]:.2f} / {best[3]:.2f}"))  # fmt: skip
    if deconvolve:
        line((f"... extreme deconvolution, {theirs[4]:.0f} components by BIC", f"{theirs[0]:.3f}", f"{theirs[1]:.3f}",
              f"{theirs[2]:.2f} / {theirs[3]:.2f}", f"{theirs[4]:.1f}", *[""] * 5))  # fmt: skip


# The halo, of which twenty-one stars are known.


def company(labels, members):
    """How many of these stars are in the group that has most of them, and its size."""
    own = labels[members & (labels >= 0)]
    if len(own) == 0:
        return 0, 0
    found, counts = np.unique(own, return_counts=True)
    return counts.max(), (labels == found[counts.argmax()]).sum()


def likeness(labels, other):
    """Of each group the largest Jaccard similarity to a group of another run."""
    similar = {}
    for group in np.unique(labels[labels >= 0]):
        inside = labels == group
        rivals = np.unique(other[inside & (other >= 0)])
        similar[group] = max((((other == r) & inside).sum() / ((other == r) | inside).sum() for r in rivals), default=0.0)
    return similar


def halo_runs(folder, seeds):
    stars = real("gaia_halo_2000.csv.gz")
    for seed in range(1, seeds + 1) if stars else ():
        out, kept = folder / f"{seed}.csv", folder / f"{seed}.parquet"
        said, seconds = goc("stars", stars, "--method", "marginal", "--seed", seed, "--json", "--candidates", kept, "-o", out)
        table, said = columns(out), json.loads(said)
        label = table["goc_label"].astype(float)
        table["label"] = np.where(np.isfinite(label), label, -1).astype(int)
        sure = np.unique(table["label"][table["goc_recurrence"].astype(float) > SURE])
        say(f"  seed {seed}: K {said['k']}, chains agree to {said['agreement']:.2f}, {seconds:.0f} s")
        yield table, sure[sure >= 0], said, seconds, kept


def halo(seeds):
    """The lines about the halo."""
    path = real("gaia_halo_2000_known.csv")
    if path is None:
        return
    say(HALO)
    known = columns(path)
    with tempfile.TemporaryDirectory() as folder:
        runs = list(halo_runs(Path(folder), seeds))
        if not runs:
            return
        stars = runs[0][0]["source_id"]
        values, _ = points(runs[0][4])
        ids = np.unique(columns(runs[0][4])["object"])
        rivals = [labels for _, labels in hdbscan(values)]
    print("\n| 2000 halo stars, in actions | goc, each seed: of them in one group / its size | HDBSCAN at its best setting |")
    print("|---|---|---|")
    for column, name in (("m4", "ten of M4"), ("helmi_core", "seven of the Helmi core"), ("helmi_box", "eleven of the Helmi box")):
        inside = known["source_id"][known[column] == 1]
        ours = [company(table["label"], np.isin(stars, inside)) for table, *_ in runs]
        members = np.isin(ids, inside)
        theirs = max((company(labels, members) for labels in rivals), key=lambda c: c[0] / max(c[1] + members.sum() - c[0], 1))
        line((name, ", ".join(f"{a} / {b}" for a, b in ours), f"{theirs[0]} / {theirs[1]}"))
    every = [(likeness(a[0]["label"], b[0]["label"]), a[1]) for a, b in itertools.permutations(runs, 2)]
    sure = [similar[group] for similar, groups in every for group in groups]
    rest = [value for similar, groups in every for group, value in similar.items() if group not in groups]
    line((f"groups of recurrence above {SURE}", ", ".join(str(len(run[1])) for run in runs), ""))
    line(("... their best Jaccard in another seed, mean", f"{np.mean(sure):.2f}" if sure else "", ""))
    line(("... that of the other groups", f"{np.mean(rest):.2f}" if rest else "", ""))
    line(("groups, all", ", ".join(str(run[2]["k"]) for run in runs), ""))
    line(("stars in no group", ", ".join(str((run[0]["label"] < 0).sum()) for run in runs), ""))
    line(("chains agree to", ", ".join(f"{run[2]['agreement']:.2f}" for run in runs), ""))
    line(("CPU s", ", ".join(f"{run[3]:.0f}" for run in runs), ""))


# Pictures.


def draw(axes, table, prefix, pairs):
    """Groups in colour, those that do not come back hollow; the field in grey."""
    colours = ["#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"]
    label, comes_back = table["label"], table[f"{prefix}recurrence"].astype(float)
    sizes = {group: (label == group).sum() for group in np.unique(label[label >= 0])}
    for ax, (x, y, unit) in zip(axes, pairs):
        across, up = table[f"{prefix}{x}"].astype(float), table[f"{prefix}{y}"].astype(float)
        field = label < 0
        ax.scatter(across[field], up[field], s=3, color="0.75", linewidths=0, rasterized=True)
        for place, group in enumerate(sorted(sizes, key=sizes.get, reverse=True)):
            own = label == group
            colour, mark = colours[place % 7], "os^Dv"[place // 7 % 5]
            sure = comes_back[own][0] > SURE
            many = sizes[group] > 60 or len(label) > 1000  # pixels, to keep the file small
            ax.scatter(across[own], up[own], s=8 if many else 14, marker=mark, linewidths=0 if sure else 0.7, rasterized=many,
                       facecolors=colour if sure else "none", edgecolors=colour)  # fmt: skip
        ok = np.isfinite(across) & np.isfinite(up)
        for limits, values in ((ax.set_xlim, across[ok]), (ax.set_ylim, up[ok])):
            low, high = np.quantile(values, [0.005, 0.995])
            limits(low - 0.06 * (high - low), high + 0.06 * (high - low))
        ax.set_xlabel(f"{x} ({unit})")
        ax.set_ylabel(f"{y} ({unit})")


def figures(folder):
    """real-sky-bpmg.svg and real-sky-halo.svg, of the first seed."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "goc"
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        drawn = {}
        for path, seed in bpmg(Path(scratch), 1, "xyzuvw"):
            drawn["bpmg"] = (cluster(path, seed)[0], "", (("X", "Y", "pc"), ("U", "V", "km/s")))
        for table, *_ in halo_runs(Path(scratch), 1):
            drawn["halo"] = (table, "goc_", (("Jphi", "Jr", "kpc km/s"), ("Jphi", "Jz", "kpc km/s")))
    for name, (table, prefix, pairs) in drawn.items():
        figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
        draw(axes, table, prefix, pairs)
        path = folder / f"real-sky-{name}.svg"
        figure.savefig(path, dpi=120, metadata={"Date": None})
        say(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="NAME", help="sets whose name contains this; may be repeated")
    parser.add_argument("--seeds", type=int, metavar="N", help="so many seeds of every set")
    parser.add_argument("--quick", action="store_true", help="fewer seeds")
    parser.add_argument("--realistic", action="store_true", help="the realistic sky of 5000 stars too")
    parser.add_argument("--figures", type=Path, metavar="FOLDER", help="draw the real sets instead")
    args = parser.parse_args()
    if args.figures:
        figures(args.figures)
        return
    names = args.only or [""]
    wanted = [entry for entry in SETS + [REALISTIC] * args.realistic if any(name in entry[0] for name in names)]
    if wanted:
        line(HEAD)
        line(["---"] * len(HEAD))
    for name, seeds, few, make in wanted:
        row(name, args.seeds or (few if args.quick else seeds), make, deconvolve=name == REALISTIC[0])
    if any(name in HALO for name in names):
        halo(args.seeds or (2 if args.quick else 5))


if __name__ == "__main__":
    main()
