"""Stars without a radial velocity or a metallicity: what they add, and whether the others lose.

Mock skies whose truth is known: the paper's recipe (275 stars), and the realistic sky of --stars
stars. The stars are grouped as by `goc stars --method marginal`, all else at its defaults.

    missing_values.py velocity       half of the velocities hidden, at random or of the faint half
    missing_values.py oracle         how many of these stars one could place who knows all else
    missing_values.py half-fe_h      half of the metallicities missing, grouped by orbit and fe_h
    missing_values.py metallicity    by orbit alone, by fe_h too, and by an fe_h that says nothing
    missing_values.py tightness      goc validate: p-values without groups, and of true groups
    missing_values.py all            all of these
    --first 1001 --seeds 10          skies: 1 to 100 are for choosing, from 1001 for judging

The first two compare a run without the stars that miss a value (`left out`) with one that has them
(`with them`). AMI is that of the stars that have the value, each star in no group counting as a
group of its own. A star is `labelled` where it is in a group of at least two, and `rightly` so
where most of the other members have its origin. P and R are precision and recall of being in any
group, for stars whose origin has another star; `precision` and `recall` those of being in it
rightly. A star that misses a value is labelled only from a probability of 0.7 on (chosen on seeds 1
to 3), so its recall is low and its precision high.

`membership` is the expected calibration error (by tenths) of goc_probability against the share of
the other members with the star's origin. `pairs` is that of the probability that two stars are
together, of all pairs that have one of at least 0.05. The command is taken from GOC, else
target/release/goc.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from running import apart, goc, head, line
from scipy.stats import kstest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score

SURE = 0.7  # a star without a value is labelled from this probability on


def sky(kind, seed, stars, folder):
    """A mock as a dictionary of arrays; every star has every value."""
    path = Path(folder) / "sky.parquet"
    flags = ["--sky", "realistic", "--stars", stars, "--without-velocity", 0]
    flags = flags if kind == "realistic" else []
    goc("simulate", "--seed", seed, *flags, "--stars-out", path)
    table = pq.read_table(path)
    columns = {name: table[name].to_numpy() for name in table.column_names}
    columns["star"] = np.arange(len(columns["truth"]))
    return columns


def hidden(columns, names, which):
    """The same with the values of these stars gone."""
    gone = {name: np.where(which, np.nan, columns[name]) for name in names}
    return {**columns, **gone}


def half(columns, how, seed):
    """The half of the stars that loses a value."""
    n = len(columns["truth"])
    order = np.random.default_rng(seed).random(n)
    if how == "faint":
        order = -columns["phot_g_mean_mag"]
    return np.argsort(np.argsort(order)) < n // 2


def write(columns, path):
    """NaN becomes null."""
    arrays = {k: pa.array(v, from_pandas=v.dtype.kind == "f") for k, v in columns.items()}
    pq.write_table(pa.table(arrays), path)


class Groups:
    """What the marginal mixture says of each star; one that was not clustered is in no group."""

    def __init__(self, columns, folder, *flags):
        path, sets, out, pairs = (
            Path(folder) / f"{name}.parquet" for name in ("stars", "sets", "labels", "pairs")
        )
        write(columns, path)
        # As goc stars --method marginal does by default, which does not write pairs.
        goc("candidates", path, "--object", "star", "--sampler", "tails", *flags, "-o", sets)
        goc("cluster", sets, "--method", "marginal", "--together", pairs, "-o", out)
        found, pairs = pq.read_table(out), pq.read_table(pairs)
        n, row = len(columns["star"]), {star: i for i, star in enumerate(columns["star"])}
        here = np.array([row[int(star)] for star in found["object"].to_numpy()])
        self.truth = columns["truth"].astype(int)
        self.there = np.isin(np.arange(n), here)
        self.label, self.probability = np.full(n, -1), np.zeros(n)
        self.label[here] = found["label"].to_numpy()
        self.probability[here] = found["probability"].to_numpy()
        ends = [pairs[name].to_numpy() for name in ("object_a", "object_b")]
        ends = [[row[int(star)] for star in end] for end in ends]
        self.ends = np.array(ends, int).reshape(2, -1)
        self.together = pairs["probability"].to_numpy()

    def ami(self, which):
        return adjusted_mutual_info_score(apart(self.truth[which]), apart(self.label[which]))

    def judged(self, which):
        """Precision and recall of these stars, and calibration."""
        _, group, size = np.unique(self.truth, return_inverse=True, return_counts=True)
        true = which & (self.truth >= 0) & (size[group] > 1)
        rightly, said, share, grouped = [], [], [], []
        for i in np.flatnonzero(which & (self.label >= 0)):
            others = np.flatnonzero(self.label == self.label[i])
            others = self.truth[others[others != i]]
            if len(others) == 0:
                continue
            names, counts = np.unique(others, return_counts=True)
            field = self.truth[i] < 0
            grouped.append(true[i])
            rightly.append(not field and self.truth[i] in names[counts == counts.max()])
            share.append(0.0 if field else np.mean(others == self.truth[i]))
            said.append(self.probability[i])
        rightly, said, share = np.array(rightly, bool), np.array(said), np.array(share)
        some = np.isin(self.ends, np.flatnonzero(which)).any(axis=0)
        a, b = self.truth[self.ends[:, some]]
        return {
            "P": ratio(sum(grouped), len(grouped)),
            "R": ratio(sum(grouped), true.sum()),
            "precision": ratio(rightly.sum(), len(rightly)),
            "recall": ratio(rightly.sum(), true.sum()),
            "membership": Calibration(said, share),
            "pairs": Calibration(self.together[some], ((a == b) & (a >= 0)).astype(float)),
        }


class Calibration:
    """Probabilities by tenths, and how often they came true."""

    def __init__(self, said, came):
        tenth = np.minimum((said * 10).astype(int), 9)
        of = lambda values: np.bincount(tenth, values, minlength=10)  # noqa: E731
        self.sums = np.array([of(np.ones_like(said)), of(said), of(came)])

    def error(self):
        number, said, came = self.sums
        return ratio(np.abs(said - came).sum(), number.sum())

    @staticmethod
    def joined(some):
        joined = Calibration(np.zeros(0), np.zeros(0))
        joined.sums = sum(own.sums for own in some)
        return joined


def ratio(a, b):
    return float(a / b) if b else np.nan


def compare(args, kind, how, names, flags, rule):
    """One row a sky, and the mean: the stars that have a value, and those that lack it."""
    differences, rows, calibrations = [], [], []
    for seed in range(args.first, args.first + args.seeds):
        with tempfile.TemporaryDirectory() as folder:
            full = sky(kind, seed, args.stars, folder)
            lacks = half(full, how, seed)
            missing = hidden(full, names, lacks)
            kept = {name: values[~lacks] for name, values in missing.items()}
            alone = Groups(kept, folder, *flags, *args.flags)
            both = Groups(missing, folder, *flags, *rule, *args.flags)
        here = np.flatnonzero(~lacks)
        common = alone.there & both.there[here]
        before = alone.ami(common)
        after = both.ami(here[common])
        has = np.zeros(len(lacks), bool)
        has[here[common]] = True
        lacking, having = both.judged(lacks & both.there), both.judged(has)
        shown = ("P", "R", "precision", "recall")
        rows.append([before, after, *(lacking[name] for name in shown)])
        own = [judged[name] for judged in (lacking, having) for name in ("membership", "pairs")]
        calibrations.append(own)
        differences.append(after - before)
        line(kind, how, str(seed), *rows[-1], *(c.error() for c in own))
    errors = [Calibration.joined(column).error() for column in zip(*calibrations)]
    spread = np.std(differences, ddof=1) / np.sqrt(len(differences)) if len(rows) > 1 else np.nan
    line(f"**{kind}**", how, f"mean, difference {np.mean(differences):+.3f} +- {spread:.3f}",
         *np.nanmean(rows, axis=0), *errors)  # fmt: skip


COMPARED = (
    "sky", "hidden", "seed", "AMI, left out", "with them", "P", "R", "precision", "recall",
    "membership", "pairs", "of the others: membership", "pairs",
)  # fmt: skip


def velocity(args):
    head(*COMPARED)
    names = ["radial_velocity", "radial_velocity_error"]
    for kind in args.sky:
        for how in args.hidden:
            compare(args, kind, how, names, [], ["--missing-rv", "prior"])


def oracle(args):
    """How many stars without a velocity could be placed by one who knows all else: the groups and
    the true orbits of all others, by Bayes' rule with groups of one common normal shape."""
    names = ["radial_velocity", "radial_velocity_error"]
    rightly, sure, of = [], [], 0
    for seed in range(args.first, args.first + args.seeds):
        with tempfile.TemporaryDirectory() as folder:
            full = sky("paper", seed, args.stars, folder)
            lacks = half(full, "random", seed)
            path, sets = Path(folder) / "stars.parquet", Path(folder) / "sets.parquet"
            write(hidden(full, names, lacks), path)
            words = ["--sampler", "density", "--penalty", "none", "--missing-rv", "prior"]
            goc("candidates", path, "--object", "star", *words, "-o", sets)
            drawn = pq.read_table(sets)
        star, places = drawn["object"].to_numpy(), features(drawn, "J")
        true, truth = features(full, "true_J"), full["truth"].astype(int)
        groups, group, size = np.unique(truth, return_inverse=True, return_counts=True)
        means = np.array([true[group == g].mean(axis=0) for g in range(len(groups))])
        cloud = (true - means[group]) / np.sqrt(1 - 1 / size[group].clip(2))[:, None]
        metric = np.linalg.inv(np.cov(cloud[size[group] > 1].T))
        for i in np.flatnonzero(lacks & (size[group] > 1)):
            others = np.arange(len(groups)) == group[i]
            n = size - others
            without = (means * size[:, None] - true[i]) / n[:, None].clip(1)
            middle = np.where(others[:, None], without, means)
            away = places[star == i][:, None, :] - middle
            far = np.einsum("jgf,fe,jge->jg", away, metric, away) / (1 + 1 / n.clip(1))
            weight = np.exp(-0.5 * far).sum(axis=0) * n / (1 + 1 / n.clip(1)) ** 1.5
            best = weight.argmax()
            of += 1
            rightly.append(best == group[i])
            sure.append(weight[best] >= SURE * weight.sum() > 0)
    rightly, sure = np.array(rightly), np.array(sure)
    head("sky", "stars", "rightly placed", f"from {SURE}: precision", "recall")
    line("paper", str(of), ratio(rightly.sum(), of), ratio(rightly[sure].sum(), sure.sum()),
         ratio(rightly[sure].sum(), of))  # fmt: skip


def features(columns, prefix):
    """Roots of the first two actions, and the third, as the mixture takes them."""
    r, z, phi = (np.asarray(columns[prefix + name], float) for name in ("r", "z", "phi"))
    return np.column_stack([np.sqrt(r), np.sqrt(z), phi])


def half_fe_h(args):
    head(*COMPARED)
    compare(args, "realistic", "random", ["fe_h", "fe_h_error"], ["--with", "fe_h"], [])


def metallicity(args):
    head("seed", "AMI by orbit alone", "with fe_h", "fe_h shuffled", "gain", "loss")
    rows = []
    for seed in range(args.first, args.first + args.seeds):
        with tempfile.TemporaryDirectory() as folder:
            full = sky("realistic", seed, args.stars, folder)
            shuffled = {**full, "fe_h": np.random.default_rng(seed).permutation(full["fe_h"])}
            flags = ["--with", "fe_h", *args.flags]
            found = [
                Groups(full, folder, *args.flags),
                Groups(full, folder, *flags),
                Groups(shuffled, folder, *flags),
            ]
        there = np.all([own.there for own in found], axis=0)
        alone, both, empty = (own.ami(there) for own in found)
        rows.append([alone, both, empty, both - alone, alone - empty])
        line(str(seed), *rows[-1])
    line("**mean**", *np.mean(rows, axis=0))
    if len(rows) > 1:
        line("its standard error", *np.std(rows, axis=0, ddof=1) / np.sqrt(len(rows)))


def validated(columns, label, seed, folder):
    """The size and the p-value of each group, and the p-value of all."""
    table, out = Path(folder) / "labelled.parquet", Path(folder) / "validated.parquet"
    names = ("Jr", "Jz", "Jphi", "fe_h", "fe_h_error")
    made = {"label": label.astype(np.int64)} | {name: columns[name] for name in names}
    pq.write_table(pa.table(made), table)
    goc("validate", table, "--by", "fe_h", "--seed", seed, "-o", out)
    found = pq.read_table(out)
    of_all = float(found.schema.metadata[b"goc_p_value"])
    own = [found[name].to_numpy(zero_copy_only=False) for name in ("values", "p_value")]
    return np.column_stack(own), of_all


def tightness(args):
    """Without groups: disc and halo, whose fe_h follows the orbit, in pieces of about eight."""
    null, null_all, power, power_all = [], [], [], []
    for seed in range(args.first, args.first + args.validations):
        with tempfile.TemporaryDirectory() as folder:
            full = sky("realistic", seed, args.validation_stars, folder)
            goc("actions", Path(folder) / "sky.parquet", "-o", Path(folder) / "actions.parquet")
            table = pq.read_table(Path(folder) / "actions.parquet")
            for name in ("Jr", "Jz", "Jphi"):
                full[name] = table[name].to_numpy(zero_copy_only=False).astype(float)
            full = {name: values[np.isfinite(full["Jr"])] for name, values in full.items()}
            truth = full["truth"].astype(int)
            field = {name: values[truth < 0] for name, values in full.items()}
            places = [np.sqrt(field["Jr"]), np.sqrt(field["Jz"]), field["Jphi"]]
            low, middle, high = np.quantile(places, [0.25, 0.5, 0.75], axis=1)
            places = (np.transpose(places) - middle) / (high - low)
            pieces = KMeans(len(places) // 8, n_init=1, random_state=seed).fit_predict(places)
            p, of_all = validated(field, np.where(pieces < 20, pieces, -1), seed, folder)
            null.append(p), null_all.append(of_all)
            p, of_all = validated(full, truth, seed, folder)
            power.append(p), power_all.append(of_all)
    null, power = (rows[np.isfinite(rows[:, 1])] for rows in map(np.concatenate, (null, power)))
    levels = (0.01, 0.05, 0.25, 0.5)
    head("groups", "number", *(f"p <= {level}" for level in levels), "Kolmogorov's p")

    def show(name, p, calibrated=False):
        shares = [float(np.mean(np.asarray(p) <= level)) for level in levels]
        line(name, str(len(p)), *shares, kstest(p, "uniform").pvalue if calibrated else "")

    show("pieces of the field", null[:, 1], calibrated=True)
    show("... all of a sky together", null_all, calibrated=True)
    for low, high in ((2, 4), (5, 9), (10, 29), (30, np.inf)):
        p = power[(power[:, 0] >= low) & (power[:, 0] <= high), 1]
        show(f"true groups of {low} to {high}" if high < np.inf else f"true groups from {low}", p)
    show("... all of a sky together", power_all)


WHAT = {
    "velocity": velocity, "oracle": oracle, "half-fe_h": half_fe_h, "metallicity": metallicity,
    "tightness": tightness,
}  # fmt: skip

if __name__ == "__main__":
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("what", choices=[*WHAT, "all"])
    parser.add_argument("--first", type=int, default=1001)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--stars", type=int, default=500, help="of the realistic sky")
    parser.add_argument("--validations", type=int, default=20, help="skies for tightness")
    parser.add_argument("--validation-stars", type=int, default=2500, help="of each of them")
    parser.add_argument("--sky", nargs="+", default=["paper", "realistic"])
    parser.add_argument("--hidden", nargs="+", default=["random", "faint"], help="velocities")
    more = "more for goc candidates"
    parser.add_argument("--flags", nargs=argparse.REMAINDER, default=[], help=more)
    args = parser.parse_args()
    for name in WHAT if args.what == "all" else [args.what]:
        print(f"\n{name}\n")
        WHAT[name](args)
