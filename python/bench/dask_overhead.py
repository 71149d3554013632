"""What Dask costs an iteration: the same parts led by Dask and led in one process, second by second.

    python bench/dask_overhead.py [--objects 20000] [--candidates 20] [--partitions 8] [--workers 2]

Both do the same work on the same parts, so the difference is what scheduling and messages cost.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import distributed
import numpy as np
import pandas as pd

import goc
import goc.dask


def table(rng, first, n, m):
    middle = rng.normal(0, 1, (n, 3)) + rng.integers(-5, 6, (n, 3))
    step = np.linspace(-1, 1, m)
    values = (middle[:, None, :] + step[None, :, None] * rng.normal(0, 0.3, (n, 1, 3))).reshape(-1, 3)
    return pd.DataFrame({"object": np.repeat(np.arange(first, first + n), m), "x": values[:, 0], "y": values[:, 1], "z": values[:, 2]})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("objects", 20_000), ("candidates", 20), ("partitions", 8), ("workers", 2), ("clusters", 50)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        each = args.objects // args.partitions
        for p in range(args.partitions):
            table(rng, p * each, each, args.candidates).to_parquet(Path(folder) / f"{p}.parquet")
        oracle = goc.KMeans(n_init=1, algorithm="lloyd")
        options = {"oracle": oracle, "k_rule": "constant", "max_iter": 15, "features": ["x", "y", "z"]}
        with distributed.LocalCluster(
            n_workers=args.workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster, distributed.Client(cluster) as client:
            original, timed = goc._dask_parts.Workers.all, []

            def watched(self, function, *rest):
                if function is not goc.dask.tasks.perform:
                    return original(self, function, *rest)
                begun = time.perf_counter()
                answers = original(self, function, *rest)
                timed.append(time.perf_counter() - begun)
                return answers

            goc._dask_parts.Workers.all = watched
            begun = time.perf_counter()
            found = goc.dask.fit(folder, args.clusters, client=client, **options)
            whole = time.perf_counter() - begun

            # The same commands, the shards all here, one after the other.
            run, sources = found._run, [source for held in found._workers.held for source in held.result()]
            places = found._workers.places
            shards = [goc.dask.tasks.shard_of(source, place, run)[0] for source, place in zip(sources, places)]
            coordinator = goc._goc.Coordinator(run["settings"], [n for _, _, n in places], 3, 20_000, 10)
            here = []
            while (command := coordinator.command()) is not None:
                begun = time.perf_counter()
                answers = [shard.perform(command, 1) for shard in shards]
                here.append(time.perf_counter() - begun)
                coordinator.take(answers)
            assert coordinator.outcome()["objective"] == found.objective_

    commands, iterations = len(timed), found.n_iter_
    dask, alone = statistics.median(timed[2:]), statistics.median(here[2:])
    print(f"{args.objects} objects x {args.candidates}, {args.partitions} partitions, {args.workers} workers, K = {args.clusters}")
    print(f"{iterations} iterations, {commands} commands, {whole:.2f} s in all; {found!r}")
    print(f"a command: {1e3 * dask:.1f} ms by Dask, {1e3 * alone:.1f} ms in one process and thread (medians)")
    print(f"overhead: {1e3 * (dask - alone / args.workers):.1f} ms a command, {(sum(timed) - sum(here) / args.workers) / iterations * 1e3:.0f} ms an iteration")


if __name__ == "__main__":
    main()
