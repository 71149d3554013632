"""The marginal mixture on a sky of 100 000 stars and on samples of it: what it costs, and what is lost.

    python bench/scale.py 10000 30000 100000            # a table, one row a size
    python bench/scale.py --rivals 10000 30000 100000   # scikit-learn on the measured points
    python bench/scale.py --write 10000 sky.parquet     # the candidates, to look at them

The sky has three features, a smooth field that is not normal, and 300 groups of 10 to 300 members
for every 100 000 stars. Every star has 101 candidates, drawn from its own errors. Up to 100 000, a
size is a sample of the same sky; beyond, the sky has as many more groups. Seconds are those of the
processor in this process's children, so a busy machine does not change them. With more than one
thread they are those of all threads together.
"""

import argparse
import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from running import GOC, apart, head, line

FULL = 100_000
GROUPS = 300
CANDIDATES = 101


def field(count, rng):
    """A flat disc with a skewed radius, bent, and a round halo around it."""
    disc = rng.random(count) < 0.7
    radius = np.where(disc, rng.gamma(3.0, 0.35, count), np.abs(rng.normal(0.0, 1.2, count)))
    angle = rng.uniform(0.0, 2.0 * np.pi, count)
    height = np.where(disc, rng.laplace(0.0, 0.25, count), rng.normal(0.0, 1.0, count))
    x = radius * np.cos(angle)
    return np.column_stack([x, 1.3 * radius * np.sin(angle), height + 0.3 * x * x])


def sky(count, seed):
    """True places and groups, -1 for the field; the order is random."""
    rng = np.random.default_rng(seed)
    groups = round(GROUPS * count / FULL)
    sizes = np.exp(rng.uniform(np.log(10.0), np.log(300.0), groups)).round().astype(int)
    middles = field(groups, rng)
    widths = np.exp(rng.uniform(np.log(0.015), np.log(0.05), groups))
    places, truth = [field(count - sizes.sum(), rng)], [np.full(count - sizes.sum(), -1)]
    for group, (size, middle, width) in enumerate(zip(sizes, middles, widths, strict=True)):
        axes = width * np.exp(rng.normal(0.0, 0.3, 3))
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        places.append(middle + rng.normal(size=(size, 3)) * axes @ turn)
        truth.append(np.full(size, group))
    order = rng.permutation(count)
    return np.concatenate(places)[order], np.concatenate(truth)[order]


def measured(places, seed):
    """Measured places and three standard errors along axes of each star's own: one is long."""
    rng = np.random.default_rng(seed + 1)
    count = len(places)
    errors = np.exp(rng.uniform(np.log(0.02), np.log(0.12), (count, 1))) * np.array([1.0, 0.3, 0.2])
    axes = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
    away = np.einsum("ij,ijk->ik", errors * rng.normal(size=(count, 3)), axes)
    return places + away, errors, axes


def size_of(count, seed=1):
    """A sample of this size, or a larger sky: measured places, errors, axes, groups."""
    places, truth = sky(max(count, FULL), seed)
    return [part[:count] for part in (*measured(places, seed), truth)]


def write(count, path, seed=1, candidates=CANDIDATES):
    """Candidates of all stars, some of them at a time."""
    means, errors, axes, truth = size_of(count, seed)
    rng = np.random.default_rng(seed + 2)
    names = ["x", "y", "z"]
    schema = pa.schema([("object", pa.int32()), *((n, pa.float64()) for n in names), ("truth", pa.int32())])
    with pq.ParquetWriter(path, schema, compression="snappy") as out:
        for first in range(0, count, 10_000):
            part = slice(first, min(first + 10_000, count))
            size = part.stop - first
            draws = rng.normal(size=(size, candidates, 3)) * errors[part, None]
            rows = (means[part, None] + np.einsum("imj,ijk->imk", draws, axes[part])).reshape(-1, 3)
            columns = [np.repeat(np.arange(first, part.stop, dtype=np.int32), candidates), *rows.T]
            columns.append(np.repeat(truth[part].astype(np.int32), candidates))
            out.write_table(pa.table(dict(zip(schema.names, columns, strict=True)), schema=schema))
    return truth


def adjusted_rand(a, b):
    """The adjusted Rand index."""
    _, a = np.unique(a, return_inverse=True)
    _, b = np.unique(b, return_inverse=True)
    both = np.unique(a.astype(np.int64) * (b.max() + 1) + b, return_counts=True)[1]
    pairs = [np.sum(c * (c - 1.0) / 2.0) for c in (both, np.bincount(a), np.bincount(b))]
    expected = pairs[1] * pairs[2] / (len(a) * (len(a) - 1.0) / 2.0)
    return (pairs[0] - expected) / (0.5 * (pairs[1] + pairs[2]) - expected)


def scores(labels, truth):
    """ARI of the grouped stars, and precision and recall of being in a group."""
    grouped, found = truth >= 0, labels >= 0
    both = np.sum(grouped & found)
    ari = adjusted_rand(apart(labels)[grouped], truth[grouped])
    return [ari, both / max(found.sum(), 1), both / max(grouped.sum(), 1)]


def mixture(count, words, threads):
    """The command on a file of candidates: scores, seconds of the processor, gigabytes."""
    with tempfile.TemporaryDirectory() as folder:
        sets, out = Path(folder) / "sets.parquet", Path(folder) / "labels.parquet"
        truth = write(count, sets)
        command = [GOC, "cluster", sets, "--method", "marginal", "-o", out, "--threads", threads]
        command = [str(word) for word in [*command, "--truth", "none", "--features", "x,y,z", *words]]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
            said = run.stderr.read()
            _, status, used = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
        if run.returncode:
            raise SystemExit(said)
        table = pq.read_table(out)
        order = np.argsort(table["object"].to_numpy())
        labels = table["label"].to_numpy()[order]
    return scores(labels, truth), used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6, len(set(labels)) - 1


def rivals(count):
    """scikit-learn on the measured places, which is all it can use."""
    from sklearn.cluster import HDBSCAN
    from sklearn.mixture import BayesianGaussianMixture

    means, _, _, truth = size_of(count)
    hdbscan = HDBSCAN(min_cluster_size=10, copy=True)
    components = GROUPS + 20
    bayes = BayesianGaussianMixture(n_components=components, init_params="k-means++", random_state=1)
    for name, tool in [("HDBSCAN", hdbscan), (f"BayesianGaussianMixture({components})", bayes)]:
        begin = time.process_time()
        labels = tool.fit_predict(means)
        seconds = time.process_time() - begin
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        yield name, scores(labels, truth), seconds, memory, len(set(labels[labels >= 0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sizes", nargs="*", type=int)
    parser.add_argument("--rivals", action="store_true")
    parser.add_argument("--write", nargs=2, metavar=("SIZE", "FILE"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--words", default="", help="more flags of goc cluster")
    asked = parser.parse_args()
    if asked.write:
        write(int(asked.write[0]), asked.write[1])
        return
    head("stars", "tool", "ARI of grouped", "precision", "recall", "groups", "CPU s", "us a star", "GB")
    for count in asked.sizes:
        if asked.rivals:
            rows = rivals(count)
        else:
            found, seconds, memory, groups = mixture(count, asked.words.split(), asked.threads)
            rows = [("goc", found, seconds, memory, groups)]
        for name, found, seconds, memory, groups in rows:
            line(str(count), name, *found, str(groups), f"{seconds:.0f}", f"{seconds / count * 1e6:.0f}", memory)


if __name__ == "__main__":
    main()
