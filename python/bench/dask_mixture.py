"""What a sample costs the marginal mixture: all stars at once beside a sample with the others assigned, and with sweeps.

    python python/bench/dask_mixture.py --stars 4000 --sample 1000

A mock Milky Way: three quarters of the stars in dwarfs of 10 to 150 members, the others in the field. ARI and NMI are of the stars of
dwarfs. Seconds are CPU time of the process, which is client and worker; those of sweeps come on top of the
chains, which run once, and include the labels of all stars.
"""

import argparse
import functools
import tempfile
import time
import warnings
from pathlib import Path

import distributed
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

import goc
import goc.dask


def scores(truth, field, label):
    own = ~field
    found = len({*label[own & (label >= 0)]})
    return goc.metrics.ari(truth[own], label[own]), goc.metrics.nmi(truth[own], label[own]), (label[field] < 0).mean(), (label[own] >= 0).mean(), found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--stars", type=int, default=4000)
    parser.add_argument("--sample", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=31)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sweeps", type=int, nargs="+", default=[1, 3, 10])
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    sizes = [10, 20, 40, 80, 150]
    dwarfs = round(0.75 * args.stars / sum(sizes)) * len(sizes)
    make = functools.partial(goc.from_gaia, m=args.draws, n_jobs=1)
    rows = []
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
        with distributed.Client(cluster) as client, tempfile.TemporaryDirectory() as folder:
            for seed in range(1, args.seeds + 1):
                grouped = dwarfs // len(sizes) * sum(sizes)
                sky = pd.DataFrame(goc.galaxy.simulate(dwarfs=dwarfs, stars=sizes * (dwarfs // len(sizes)), field=args.stars - grouped, random_state=seed))
                sets = make(sky)
                truth = sets.truth
                counts = pd.Series(truth).map(pd.Series(truth).value_counts()).to_numpy()
                field = counts == 1
                begun = time.process_time()
                one = goc.MarginalMixture(random_state=seed, n_jobs=1).fit(sets)
                rows.append(("all at once", seed, *scores(truth, field, one.labels_), one.n_clusters_, time.process_time() - begun))
                print(pd.DataFrame(rows[-1:]).to_string(header=False), flush=True)
                # The chains run once: each number of sweeps goes on from the one before.
                checkpoint = Path(folder) / f"{seed}.goc"
                for sweeps in [0, *args.sweeps]:
                    begun = time.process_time()
                    found = goc.dask.fit_mixture([lambda sky=sky: sky], candidates=make, sample=args.sample, sweeps=sweeps,
                                                 random_state=seed, n_jobs=1, client=client, checkpoint=checkpoint, resume=True)  # fmt: skip
                    label = found.compute()["label"].to_numpy()
                    seconds = time.process_time() - begun
                    rows.append((f"sample, {sweeps} sweeps", seed, *scores(truth, field, label), found.n_clusters_, seconds))
                    found.close()
                print(pd.DataFrame(rows[-len(args.sweeps) - 1 :]).to_string(header=False), flush=True)
    table = pd.DataFrame(rows, columns=["how", "seed", "ARI", "NMI", "field in the field", "grouped in groups", "groups met", "clusters", "CPU s"])
    print(f"{args.stars} stars, {dwarfs} dwarfs, {args.draws} candidates each, sample {args.sample}, mean of {args.seeds} seeds")
    print(table.drop(columns="seed").groupby("how", sort=False).mean().round(3).to_string())


if __name__ == "__main__":
    main()
