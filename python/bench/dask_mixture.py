"""What a sample costs the marginal mixture: all stars at once beside a sample with the others assigned, and with sweeps.

    python python/bench/dask_mixture.py --stars 4000 --sample 1000              # groups in a plane
    python python/bench/dask_mixture.py --stars 4000 --sample 1000 --sky galaxy # a mock Milky Way, in actions: long

Three quarters of the stars are in groups of 10 to 150 members, the others in the field. ARI and NMI are of the stars of groups. Seconds are CPU time of the process, which is client and worker; those of sweeps come on top of the
chains, which run once, and include the labels of all stars.
"""

import argparse
import functools
import tempfile
import time
import warnings
from pathlib import Path

import distributed
import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

import goc
import goc.dask

SIZES = [10, 20, 40, 80, 150]


def galaxy(groups, field, draws, seed):
    """A mock Milky Way: the stars, and what makes candidates of them."""
    sky = goc.galaxy.simulate(dwarfs=groups, stars=SIZES * (groups // len(SIZES)), field=field, random_state=seed)
    return pd.DataFrame(sky), functools.partial(goc.from_gaia, m=draws, n_jobs=1)


def plane(groups, field, draws, seed):
    """Round groups among uniform others, errors of half the groups' width to twice of it."""
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.repeat(np.arange(groups), SIZES * (groups // len(SIZES))), groups + np.arange(field)])
    places = np.concatenate([rng.uniform(-30, 30, (groups, 2)), rng.uniform(-33, 33, (field, 2))])[truth]
    error = rng.uniform(0.2, 0.8, (len(truth), 1))
    x, y = (places + np.where(truth < groups, 0.4, 0.0)[:, None] * rng.normal(size=places.shape) + error * rng.normal(size=places.shape)).T
    table = {"object": rng.permutation(len(truth)), "x": x, "y": y, "error": error[:, 0], "truth": truth}
    return pd.DataFrame(table), functools.partial(drawn, m=draws)


def drawn(table, m):
    """Candidates from each object's own random stream, so that they are the same for any cut."""
    noise = np.stack([np.random.default_rng(i).normal(size=(m, 2)) for i in table["object"]])
    values = table[["x", "y"]].to_numpy()[:, None] + table["error"].to_numpy()[:, None, None] * noise
    offsets = np.arange(len(table) + 1) * m
    return goc.Candidates(values.reshape(-1, 2), offsets, ids=table["object"].to_numpy(), features=["x", "y"], truth=table["truth"].to_numpy())


def scores(truth, field, label):
    own = ~field
    found = len({*label[own & (label >= 0)]})
    return goc.metrics.ari(truth[own], label[own]), goc.metrics.nmi(truth[own], label[own]), (label[field] < 0).mean(), (label[own] >= 0).mean(), found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--stars", type=int, default=4000)
    parser.add_argument("--sample", type=int, default=1000)
    parser.add_argument("--sky", choices=["plane", "galaxy"], default="plane")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--burn", type=int, help="of the chains")
    parser.add_argument("--keep", type=int, help="of the chains")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sweeps", type=int, nargs="+", default=[1, 3, 10])
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    groups = round(0.75 * args.stars / sum(SIZES)) * len(SIZES)
    field_stars = args.stars - groups // len(SIZES) * sum(SIZES)
    chains = {name: value for name, value in [("burn", args.burn), ("keep", args.keep)] if value is not None}
    rows = []
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
        with distributed.Client(cluster) as client, tempfile.TemporaryDirectory() as folder:
            for seed in range(1, args.seeds + 1):
                sky, make = {"plane": plane, "galaxy": galaxy}[args.sky](groups, field_stars, args.draws, seed)
                sets = make(sky)
                truth = sets.truth
                counts = pd.Series(truth).map(pd.Series(truth).value_counts()).to_numpy()
                field = counts == 1
                begun = time.process_time()
                one = goc.MarginalMixture(random_state=seed, n_jobs=1, **chains).fit(sets)
                rows.append(("all at once", seed, *scores(truth, field, one.labels_), one.n_clusters_, time.process_time() - begun))
                print(pd.DataFrame(rows[-1:]).to_string(header=False), flush=True)
                # The chains run once: each number of sweeps goes on from the one before.
                checkpoint = Path(folder) / f"{seed}.goc"
                for sweeps in [0, *args.sweeps]:
                    begun = time.process_time()
                    found = goc.dask.fit_mixture([lambda sky=sky: sky], candidates=make, sample=args.sample, sweeps=sweeps,
                                                 random_state=seed, n_jobs=1, client=client, checkpoint=checkpoint, resume=True, **chains)  # fmt: skip
                    label = found.compute()["label"].to_numpy()
                    seconds = time.process_time() - begun
                    rows.append((f"sample, {sweeps} sweeps", seed, *scores(truth, field, label), found.n_clusters_, seconds))
                    found.close()
                print(pd.DataFrame(rows[-len(args.sweeps) - 1 :]).to_string(header=False), flush=True)
    table = pd.DataFrame(rows, columns=["how", "seed", "ARI", "NMI", "field in the field", "grouped in groups", "groups met", "clusters", "CPU s"])
    print(f"{args.stars} stars, {groups} groups, {args.draws} candidates each, sample {args.sample}, mean of {args.seeds} seeds")
    print(table.drop(columns="seed").groupby("how", sort=False).mean().round(3).to_string())


if __name__ == "__main__":
    main()
