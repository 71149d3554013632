"""Every hot path of goc beside its rival in the same run, as ratios. `make bench` installs what it needs.

Absolute times mean little on a shared machine; the ratios are what counts. A ratio above 1: goc is faster.
With the name of a folder, writes speed.csv, pruning.csv and scaling.csv there, for `goc plot bench`.
"""

import csv
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import fast_hdbscan
import kmedoids
import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import HDBSCAN, AffinityPropagation, KMeans, MeanShift, SpectralClustering
from sklearn.metrics import adjusted_rand_score

ROOT = Path(__file__).resolve().parent.parent
PRINTED = {}  # what each bench of goc printed


def cargo_output(package, name, **environment):
    """What one bench prints."""
    print(f"# cargo bench -p {package} --bench {name}", file=sys.stderr)
    return subprocess.run(
        ["cargo", "bench", "--quiet", "--locked", "-p", package, "--bench", name],
        cwd=ROOT, env=os.environ | environment, check=True, stdout=subprocess.PIPE, text=True,
    ).stdout


def cargo_bench(name, **environment):
    """Runs one bench; returns its lines as dictionaries and echoes them."""
    lines = [line for line in cargo_output("goc", name, **environment).splitlines() if "=" in line]
    for line in lines:
        print(line)
    PRINTED[name] = [dict(re.findall(r"(\w+)=(\S+)", line)) | {"line": line} for line in lines]
    return PRINTED[name]


def least_cpu(run, times):
    """The least CPU time of several runs, of all threads together, and the last result."""
    best = float("inf")
    for _ in range(times):
        begin = time.process_time()
        result = run()
        best = min(best, time.process_time() - begin)
    return best, result


def least(run, times):
    """The least wall time of several runs and the last result."""
    best = float("inf")
    for _ in range(times):
        begin = time.perf_counter()
        result = run()
        best = min(best, time.perf_counter() - begin)
    return best, result


def k_means():
    """The same million points, start centres and rounds for both."""
    rng = np.random.default_rng(1)
    middles = rng.uniform(-10, 10, (50, 3))
    points = middles[rng.integers(0, 50, 1_000_000)] + rng.normal(0, 1.0, (1_000_000, 3))
    centres = points[rng.choice(len(points), 50, replace=False)]
    with tempfile.TemporaryDirectory() as folder:
        points.tofile(Path(folder) / "points.f64")
        centres.tofile(Path(folder) / "centres.f64")
        ours, *starts = cargo_bench("k_means", GOC_BENCH_DIR=folder)
    rows = []
    for algorithm in ("lloyd", "elkan"):
        model = KMeans(50, init=centres, n_init=1, max_iter=100, tol=0, algorithm=algorithm)
        seconds, fit = least(functools.partial(model.fit, points), 3)
        print(f"scikit-learn {algorithm} seconds={seconds:.4f} loss={fit.inertia_:.6f} iterations={fit.n_iter_}")
        rows.append((f"k-means 1e6 x 3, K=50, scikit-learn {algorithm}", seconds, float(ours["seconds"])))
    for row in starts:
        n, k = int(row["n"]), int(row["k"])
        points = blobs(n, 3)
        for init in ("k-means++", "random"):
            model = KMeans(k, init=init, n_init=10, random_state=1)
            seconds, fit = least_cpu(functools.partial(model.fit, points), 5)
            print(f"scikit-learn n={n} k={k} starts=10 init={init} cpu={seconds:.5f} loss={fit.inertia_:.6f}")
            name = f"k-means n={n}, K={k}, ten starts, scikit-learn from {init} (CPU)"
            rows.append((name, seconds, float(row["cpu"])))
    return rows


def blobs(n, q):
    """The points of crates/goc/benches/k_medoids.rs, by the same congruential numbers."""
    state = 1

    def uniform():
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) / 2**31

    centres = [20.0 * uniform() for _ in range(40 * q)]
    values = []
    for _ in range(n):
        blob = int(40.0 * uniform())
        values += [centres[blob * q + f] + uniform() + uniform() + uniform() - 1.5 for f in range(q)]
    return np.array(values).reshape(n, q)


def k_medoids():
    """FasterPAM, one start and one thread each; the rival starts at random and gets its distance
    matrix for free.
    """
    ours = [row for row in cargo_bench("k_medoids") if row["line"].startswith("points n=5000 q=3 k=50 ")]
    points = blobs(5000, 3)
    matrix = cdist(points, points).astype(np.float32)
    times, losses = [], []
    for seed in range(3):
        rival = functools.partial(kmedoids.fasterpam, matrix, 50, init="random", random_state=seed, n_cpu=1)
        seconds, fit = least(rival, 5)
        times.append(seconds)
        losses.append(fit.loss)
        print(f"kmedoids.fasterpam seed={seed} seconds={seconds:.4f} loss={fit.loss:.4f}")
    mean = np.mean([float(row["seconds"]) for row in ours])
    print(f"mean loss: goc {np.mean([float(r['loss']) for r in ours]):.2f}, kmedoids {np.mean(losses):.2f}")
    return [("k-medoids n=5000, k=50, PyPI kmedoids", float(np.mean(times)), float(mean))]


def oracles():
    """Spectral and mean-shift on the same 2000 points as scikit-learn, all cores."""
    points = blobs(2000, 3)
    rivals = {
        "spectral-neighbours": SpectralClustering(50, affinity="nearest_neighbors", n_neighbors=10, random_state=1, n_jobs=-1),
        "mean-shift-flat": MeanShift(bandwidth=1.5, n_jobs=-1),
    }
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        ours = {row["oracle"]: row for row in cargo_bench("oracles", GOC_BENCH_DIR=folder)}
        labels = {name: np.loadtxt(Path(folder) / f"{name}.txt", dtype=int) for name in rivals}
    for name, model in rivals.items():
        seconds, fit = least(functools.partial(model.fit, points), 2)
        agree = adjusted_rand_score(fit.labels_, labels[name])
        print(f"scikit-learn {name} seconds={seconds:.4f} k={len(set(fit.labels_))} agreement (ARI)={agree:.4f}")
        rows.append((f"{name} n=2000, scikit-learn", seconds, float(ours[name]["seconds"])))
    return rows


def hdbscan():
    """HDBSCAN in three features beside scikit-learn and fast_hdbscan (compiled beforehand): CPU seconds; noise points as
    clusters of one. scikit-learn is left out at 1e5, where it takes minutes."""
    with tempfile.TemporaryDirectory() as folder:
        ours = {(row["n"], row["q"]): row for row in cargo_bench("hdbscan", GOC_BENCH_DIR=folder)}
        labels = {n: np.loadtxt(Path(folder) / f"{n}-3.txt", dtype=int) for n in (2000, 20_000, 100_000)}
    rows = []
    rivals = {"scikit-learn": HDBSCAN(copy=True), "fast_hdbscan": fast_hdbscan.HDBSCAN(min_cluster_size=5, min_samples=5)}
    rivals["fast_hdbscan"].fit(blobs(1000, 3))
    for n, own in labels.items():
        points = blobs(n, 3)
        for name, model in rivals.items():
            if name == "scikit-learn" and n > 20_000:
                continue
            seconds, fit = least_cpu(functools.partial(model.fit, points), 3)
            theirs = np.where(fit.labels_ < 0, n + np.arange(n), fit.labels_)
            agree = adjusted_rand_score(theirs, own)
            print(f"{name} hdbscan n={n} cpu={seconds:.4f} k={fit.labels_.max() + 1} agreement (ARI)={agree:.4f}")
            rows.append((f"HDBSCAN n={n}, {name} (CPU)", seconds, float(ours[str(n), "3"]["cpu"])))
    return rows


def affinity():
    """Distances between sets beside plain loops, and a round of affinity propagation at n = 275
    beside scikit-learn's.
    """
    text = cargo_output("goc", "affinity")
    print(text, end="")

    def milliseconds(what):
        return float(re.search(rf"^{what}\s+(\S+) ms", text, re.MULTILINE)[1])

    rounds, ours = re.search(r"^affinity s1 q=0.5, (\d+) rounds\s+(\S+) ms", text, re.MULTILINE).groups()
    points = blobs(275, 3)
    similarity = -cdist(points, points, "sqeuclidean")
    model = AffinityPropagation(damping=0.9, max_iter=1000, convergence_iter=100, affinity="precomputed",
                                preference=np.median(similarity), random_state=1)
    seconds, fit = least(lambda: model.fit(similarity), 3)
    print(f"scikit-learn affinity propagation n=275 seconds={seconds:.4f} rounds={fit.n_iter_}")
    four = milliseconds("four set distances, one pass") / 1e3
    return [
        ("four set distances of a paper set, plain loops", milliseconds("four set distances, plain loops") / 1e3, four),
        ("the same, R for three of them (71 s measured elsewhere)", 71.0, four),
        ("affinity propagation n=275, a round, scikit-learn", seconds / fit.n_iter_, float(ours) / 1e3 / int(rounds)),
    ]


def marginal():
    """One sweep of the marginal mixture over 275 objects x 101 candidates and 60 clusters: the t
    densities of every candidate in every cluster, whole arrays at a time in numpy, as the prototype
    of the method does it.
    """
    ours = cargo_bench("marginal")
    rng = np.random.default_rng(1)
    candidates = rng.normal(0, 1, (275, 101, 3))
    weights = np.full(101, 1 / 101)
    means, sizes = rng.normal(0, 1, (60, 3)), rng.integers(1, 9, 60)
    factors = np.array([np.linalg.cholesky(np.eye(3) * rng.uniform(1, 3)) for _ in range(60)])

    def sweep():
        for own in candidates:
            apart = own[None] - means[:, None]
            white = np.linalg.solve(factors, apart.swapaxes(1, 2))
            near = 1 + (sizes / (sizes + 1))[:, None] * (white**2).sum(1)
            fits = (weights * near ** (-(10 + sizes[:, None]) / 2)).sum(1) * np.sqrt(sizes)
            rng.choice(60, p=fits / fits.sum())

    rival, _ = least(sweep, 3)
    (sweep_ms,) = [float(row["sweep_ms"]) for row in ours if "sweep_ms" in row and "set" in row]
    return [("marginal mixture, a sweep over 275 x 101 candidates, numpy", rival, sweep_ms / 1e3)]


def mclust():
    """Three mixture models with BIC over 1..50, against R's mclust where R is installed (Debian:
    r-cran-mclust).
    """
    if shutil.which("Rscript") is None:
        print("Rscript is not installed: mclust is not compared (apt-get install r-cran-mclust)", file=sys.stderr)
        return []
    done = subprocess.run(["Rscript", ROOT / "bench/mclust_rival.R"], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print("R has no mclust: not compared (apt-get install r-cran-mclust)", file=sys.stderr)
        return []
    print(done.stdout, end="")
    theirs = {tuple(line.split()[:3]): re.search(r"user=(\S+)", line)[1] for line in done.stdout.splitlines()}
    rows = []
    for row in cargo_bench("mclust"):
        case = tuple(row["line"].split()[:3])
        rival = {tuple(x.upper() for x in key): value for key, value in theirs.items()}.get(
            tuple(x.upper() for x in case))
        if rival is not None:
            rows.append((f"mixture {' '.join(case)}, R's mclust", float(rival), float(row["seconds"])))
    return rows


def galaxy():
    """Potential, actions and orbits beside galpy's, per second of CPU time; AGAMA cannot be
    installed from PyPI, its figures are stated.
    """
    texts = {name: cargo_output("goc-galaxy", name) for name in ("potential", "actions", "orbit", "mock")}
    for text in texts.values():
        print(text, end="")
    import warnings

    warnings.simplefilter("ignore")
    from galpy.actionAngle import actionAngleStaeckel
    from galpy.orbit import Orbit
    from galpy.potential import MWPotential2014, evaluatePotentials, evaluateRforces, evaluatezforces

    rng = np.random.default_rng(1)
    n = 20_000
    r, z = rng.uniform(0.5, 2.0, n), rng.uniform(-0.6, 0.6, n)
    begin = time.process_time()
    for f in (evaluatePotentials, evaluateRforces, evaluatezforces):
        f(MWPotential2014, r, z)
    pulls = n / (time.process_time() - begin)
    # galpy's units: 8 kpc and 220 km/s. Its C code for the fudge, delta given.
    vr, vt, vz = rng.normal(0, 0.4, 2000), rng.normal(0, 0.5, 2000), rng.normal(0, 0.4, 2000)
    finder = actionAngleStaeckel(pot=MWPotential2014, delta=0.45, c=True)
    begin = time.process_time()
    finder(r[:2000], vr, vt, z[:2000], vz)
    actions = 2000 / (time.process_time() - begin)
    # 10 Gyr in units of 8 kpc / 220 km/s = 35.55 Myr.
    orbits = Orbit(np.column_stack([r, vr.repeat(10), vt.repeat(10), z, vz.repeat(10), rng.uniform(0, 6, n)])[:20])
    begin = time.process_time()
    orbits.integrate(np.linspace(0, 281.0, 11), MWPotential2014, method="dop853_c")
    followed = 20 / (time.process_time() - begin)

    def figure(name, pattern):
        return float(re.search(pattern, texts[name])[1])

    ours = [
        ("potential and force", figure("potential", r"force, eight at once: (\S+)"), pulls, 3.3e6),
        ("actions, fudge, halo", figure("actions", r"converged: halo: (\S+)"), actions, 6.8e4),
        ("10 Gyr orbits, halo", figure("orbit", r"starts=halo accuracy=1e-8 orbits_per_cpu_second=(\S+)"), followed, 44.0),
    ]
    print("\n| a CPU second of one core | goc | galpy, MWPotential2014 | times faster | AGAMA, as stated elsewhere | times faster |")
    print("|---|---|---|---|---|---|")
    for name, goc, galpy, agama in ours:
        print(f"| {name} | {goc:.2g} | {galpy:.2g} | {goc / galpy:.0f} | {agama:.2g} | {goc / agama:.1f} |")


def write_tables(folder, rows, select, sweeps):
    """The numbers behind the figures of the benches."""
    tables = {
        "speed": [("path", "times_faster")] + [(name, f"{rival / ours:.3g}") for name, rival, ours in rows],
        "pruning": [("set", "pairs_for_each_look", "times_faster")]
        + [(f"{row['line'].split()[1]}, K = {row['k']}", row["pruned_looks_fewer"], row["pruned_times_faster"]) for row in select],
        "scaling": [("series", "n", "seconds")]
        + [("a sweep of the marginal mixture", row["objects"], float(row["sweep_ms"]) / 1e3) for row in sweeps],
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in tables.items():
        with open(folder / f"{name}.csv", "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)


def main():
    one_set = cargo_bench("one_set")
    select = cargo_bench("select")
    settled = cargo_bench("settled")
    memory = cargo_bench("memory")
    rows = k_means() + k_medoids() + oracles() + hdbscan() + affinity() + marginal() + mclust()

    print("\n| path | rival, seconds | goc, seconds | ratio |\n|---|---|---|---|")
    authors = float(one_set[0]["total_ms"]) / 1e3
    rows.insert(0, ("GOC on one paper set, the authors' R code (1.5 s measured elsewhere)", 1.5, authors))
    for name, rival, ours in rows:
        print(f"| {name} | {rival:.3g} | {ours:.3g} | {rival / ours:.1f} |")
    print("\n| selection kernel | pairs a second, all looked at | looks saved by pruning | times faster |")
    print("|---|---|---|---|")
    for row in select:
        name = row["line"].split()[1]
        print(f"| {name}, K={row['k']} | {row['exhaustive_per_second']} | {row['pruned_looks_fewer']} |"
              f" {row['pruned_times_faster']} |")
    print("\n| step (III), 1e5 x 101, K=1000: iteration | centres that moved | passes over the candidates' memory |\n|---|---|---|")
    for row in settled:
        print(f"| {row['iteration']} | {row['moved']} | {row['passes']} |")
    if len(sys.argv) > 1:
        write_tables(Path(sys.argv[1]), rows, select, [row for row in PRINTED["marginal"] if "sweep_ms" in row and "objects" in row])
    print("\n| objects x 101 | peak memory / candidates' own size |\n|---|---|")
    for row in memory:
        print(f"| {row['objects']} | {row['peak_over_candidates']} |")
    galaxy()


if __name__ == "__main__":
    main()
