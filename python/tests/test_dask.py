"""GOC over partitions on a Dask cluster of separate processes: the bytes of one machine, whoever
dies on the way.
"""

import contextlib
import functools
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.exceptions import ConvergenceWarning

import goc
from goc._scaling import Moments

distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pytest.importorskip("dask.dataframe")

import cloudpickle  # noqa: E402

import goc.dask  # noqa: E402

# The workers cannot import this file: what it defines goes to them whole.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

# Some iterations are enough to compare bytes.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

K, N = 7, 5000  # more objects than one chunk of sums
ORACLE = goc.KMeans(n_init=2, max_iter=4, algorithm="lloyd")
OPTIONS = {"oracle": ORACLE, "penalty_weight": 0.05, "k_rule": "constant", "max_iter": 6}


def long_table(n=N, seed=1):
    """One row per candidate: short curves around seven places."""
    rng = np.random.default_rng(seed)
    places = rng.normal(0, 4, (7, 2))
    counts = rng.integers(1, 9, n)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    j = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
    step = j - np.repeat(counts // 2, counts)
    middle = places[np.arange(n) % 7] + rng.normal(0, 0.7, (n, 2))
    slope = rng.normal(0, 0.3, (n, 2))
    xy = np.repeat(middle, counts, axis=0) + step[:, None] * np.repeat(slope, counts, axis=0)
    names = {"object": np.repeat(np.arange(n) * 3 + 10, counts), "x": xy[:, 0], "y": xy[:, 1]}
    return pd.DataFrame(names | {"penalty": step.astype(float) ** 2})


def local(table, **options):
    sets = goc.Candidates.from_table(table, features=["x", "y"])
    same = {"scale": "none", "oracle_every": "always", **OPTIONS, **options}
    return goc.GreedyOptimisticClustering(K, **same).fit(sets)


def pieces(table, ends):
    """The table cut after the given numbers of objects."""
    objects = pd.factorize(table["object"])[0]
    bounds = [0, *ends, int(objects.max()) + 1]
    return [table[(objects >= a) & (objects < b)] for a, b in zip(bounds, bounds[1:])]


def assert_same(found, rows, one):
    assert rows["label"].to_numpy().tobytes() == one.labels_.tobytes()
    assert rows["candidate"].to_numpy().tobytes() == one.chosen_.tobytes()
    assert found.cluster_centers_.tobytes() == one.cluster_centers_.tobytes()
    assert np.float64(found.objective_).tobytes() == np.float64(one.objective_).tobytes()
    assert found.history_["objective"].tobytes() == np.ascontiguousarray(one.history_["objective"]).tobytes()
    assert rows[["x", "y"]].to_numpy().tobytes() == one.representatives_.tobytes()


@pytest.fixture(scope="module")
def table():
    return long_table()


@pytest.fixture(scope="module")
def one(table):
    return local(table)


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    """A HATS-like folder; the order of the numbers is not that of the letters, and one partition is empty."""
    root = tmp_path_factory.mktemp("hats")
    names = ["Norder=1/Dir=0/Npix=2", "Norder=1/Dir=0/Npix=10", "Norder=1/Dir=0/Npix=11", "Norder=2/Dir=0/Npix=3"]
    for name, piece in zip(names, pieces(table, [1000, 1001, 1001])):
        path = root / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        piece.to_parquet(path)
    (root / "_metadata").write_bytes(b"not a partition")
    return root


@pytest.fixture(scope="module")
def cluster():
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit="1GiB"
    )
    yield cluster
    # On a busy machine distributed hears twice of a worker that is gone, and says so with a
    # KeyError once all is closed.
    with contextlib.suppress(KeyError):
        cluster.close()


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


def workers(cluster, client, count):
    cluster.scale(count)
    client.wait_for_workers(count)
    for _ in range(200):
        if len(client.scheduler_info(n_workers=-1)["workers"]) == count:
            return
        time.sleep(0.05)
    raise AssertionError(f"not {count} workers")


@pytest.fixture(scope="module", params=[1, 2, 3])
def some_workers(request, cluster, client):
    workers(cluster, client, request.param)


def test_one_two_or_three_workers_give_the_bytes_of_one_machine(some_workers, client, folder, one):
    found = goc.dask.fit(folder, K, features=["x", "y"], client=client, **OPTIONS)
    assert found.first_on_ == "all"
    assert_same(found, found.compute(), one)
    found.close()


def test_a_dask_dataframe_in_and_labels_as_one_out(cluster, client, table, one):
    import dask.dataframe as dd
    from dask import delayed

    cuts = pieces(table, [4097])
    ddf = dd.from_delayed([delayed(cuts.__getitem__)(i) for i in range(2)], meta=table.iloc[:0])
    found = goc.dask.fit(ddf, K, features=["x", "y"], client=client, **OPTIONS)
    labels = found.labels()
    assert labels.npartitions == 2
    rows = labels.compute()
    assert rows["object"].tolist() == table["object"].drop_duplicates().tolist()
    assert_same(found, rows, one)


def test_labels_are_written_partition_by_partition(client, folder, one, tmp_path):
    found = goc.dask.fit(folder, K, features=["x", "y"], client=client, **OPTIONS)
    written = found.to_parquet(tmp_path / "labels")
    within = [str(Path(p).relative_to(tmp_path / "labels")) for p in written]
    assert within == [str(Path(p).relative_to(folder)) for p in goc.dask.partitions(folder)]
    assert sorted(p for p in within) == sorted(str(p.relative_to(tmp_path / "labels")) for p in (tmp_path / "labels").rglob("*.*"))
    rows = pd.concat([pa.parquet.read_table(p, partitioning=None).to_pandas() for p in written], ignore_index=True)
    assert_same(found, rows, one)


def test_a_worker_killed_in_the_middle_changes_nothing(cluster, client, folder, one):
    workers(cluster, client, 2)
    killed = []

    def kill(iteration, _):
        if iteration == 2:
            pid = list(client.run(os.getpid).values())[0]
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    found = goc.dask.fit(folder, K, features=["x", "y"], client=client, callback=kill, **OPTIONS)
    assert killed and len(found.history_) > 2
    assert_same(found, found.compute(), one)
    assert killed[0] not in client.run(os.getpid).values()


DRIVER = """
    import os, signal, sys
    import distributed, goc, goc.dask
    from goc import KMeans

    def die(iteration, _):
        if iteration == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    if __name__ == "__main__":
        folder, checkpoint, scheduler = sys.argv[1:]
        with distributed.Client(scheduler) as client:
            goc.dask.fit(folder, 7, features=["x", "y"], client=client, checkpoint=checkpoint, callback=die, **{options})
"""


def test_after_the_driver_was_killed_the_checkpoint_gives_the_same_bytes(client, folder, one, tmp_path):
    script, checkpoint = tmp_path / "driver.py", tmp_path / "run.goc"
    script.write_text(textwrap.dedent(DRIVER).replace("{options}", repr(OPTIONS)))
    package = str(Path(goc.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": package}
    done = subprocess.run([sys.executable, script, folder, checkpoint, client.scheduler.address], env=environment)
    assert done.returncode == -signal.SIGKILL
    assert checkpoint.exists()

    iterations = []
    resumed = functools.partial(goc.dask.fit, folder, features=["x", "y"], client=client, checkpoint=checkpoint, resume=True)
    with pytest.raises(ValueError, match="another run"):
        resumed(n_clusters=K, **{**OPTIONS, "penalty_weight": 0.06})
    with pytest.raises(ValueError, match="another run"):
        resumed(n_clusters=K + 1, **OPTIONS)
    with pytest.raises(ValueError, match="the seed|another run"):
        resumed(n_clusters=K, random_state=2, **OPTIONS)
    found = resumed(n_clusters=K, callback=lambda t, _: iterations.append(t), **OPTIONS)
    assert iterations[0] == 3  # two were not done again
    assert_same(found, found.compute(), one)


def counted(function, folder):
    """The function, and a file more in the folder each time it is called; the files tell by which
    partition.
    """

    def call(table):
        made = function(table)
        with open(os.path.join(folder, f"{made.ids[0]}-{os.urandom(8).hex()}"), "w"):
            return made

    return call


def calls(folder):
    """How often each partition was made, by its first object; the folder is empty afterwards."""
    files = sorted(Path(folder).iterdir())
    for file in files:
        file.unlink()
    return Counter(int(file.name.split("-")[0]) for file in files)


def scale_of(found):
    """What the library scaled the features by: centre, spread."""
    return found._scale if hasattr(found, "_scale") else (found._map.centre, found._map.spread)


def stars(n, first=0):
    rng = np.random.default_rng(first)
    star = {"source_id": np.arange(n) + first, "ra": rng.uniform(0, 360, n), "dec": rng.uniform(-60, 60, n)}
    for name, value, error in [("parallax", 0.5, 0.02), ("pmra", 3, 0.02), ("pmdec", -4, 0.02), ("radial_velocity", 20, 1.0)]:
        star |= {name: value + rng.normal(0, 0.1, n), f"{name}_error": np.full(n, error)}
    return pd.DataFrame(star)


def test_actions_are_computed_once_where_the_parts_fit(some_workers, client, tmp_path):
    tables = [stars(40, first) for first in (100, 200, 300, 400, 500, 600)]
    sets = [goc.from_gaia(table, m=11) for table in tables]
    log = tmp_path / "calls"
    log.mkdir()
    made = counted(functools.partial(goc.from_gaia, m=11), str(log))
    options = {"scale": "standard", "k_rule": "constant", "client": client, "candidates": made}
    found = goc.dask.fit([functools.partial(pd.DataFrame, table) for table in tables], 3, cache=2**24, **options)
    rows, written = found.compute(), found.to_parquet(tmp_path / "labels")
    assert calls(log) == dict.fromkeys((100, 200, 300, 400, 500, 600), 1)
    assert rows["object"].tolist() == np.concatenate([own.ids for own in sets]).tolist()
    assert pd.concat([pd.read_parquet(path) for path in written], ignore_index=True).equals(rows)
    # Without room they are made for every command, and the answer is the same.
    again = goc.dask.fit([functools.partial(pd.DataFrame, table) for table in tables], 3, cache=0, **options)
    assert min(calls(log).values()) > len(again.history_)
    assert again.compute().equals(rows) and again.cluster_centers_.tobytes() == found.cluster_centers_.tobytes()
    # One machine scales by the same numbers but for the last digit.
    values, offsets = np.concatenate([own.values for own in sets]), np.arange(sum(map(len, sets)) + 1) * 11
    one = goc.GreedyOptimisticClustering(3, oracle=goc.KMeans(algorithm="lloyd"), k_rule="constant").fit((values, offsets))
    for ours, theirs in zip(found.scale_, scale_of(one)):
        assert (np.abs(ours - theirs) <= 2 * np.spacing(np.abs(theirs))).all()


class FakePart:
    def __init__(self, nbytes):
        self.nbytes = nbytes


def test_candidates_wait_for_their_part_within_the_same_budget(monkeypatch):
    from goc import _dask_tasks as tasks

    cache = tasks.Cache()
    for index in range(4):
        cache.put("run", index, tasks.Kept(sets="candidates", size=30), 100)
    assert [cache.get("run", index) is not None for index in range(4)] == [True, True, True, False]
    assert cache.get("run", 0) is None, "handed over: a part takes their place"
    for index in range(4):
        cache.put("run", index, tasks.Kept(shard=FakePart(40), ids=np.zeros(1)), 100)
    assert [cache.get("run", index) is not None for index in range(4)] == [True, True, False, False]
    assert cache.get("run", 0) is not None, "parts stay"
    cache.put("other", 0, tasks.Kept(shard=FakePart(40)), 100)
    assert cache.get("run", 0) is None and cache.get("other", 0) is not None, "those of other runs make room"
    # By the worker's memory: kept below 55 per cent, candidates let go above 70 per cent, then parts.
    used = [0.5]
    monkeypatch.setattr(tasks, "memory", lambda: (used[0], 1.0))
    cache.put("run", 0, tasks.Kept(shard=FakePart(40)), None)
    cache.put("run", 1, tasks.Kept(sets="candidates", size=30), None)
    used[0] = 0.6
    cache.put("run", 2, tasks.Kept(sets="candidates", size=30), None)
    assert sorted(index for _, index in cache.kept) == [0, 1]
    used[0] = 0.75
    cache.put("run", 3, tasks.Kept(shard=FakePart(40)), None)
    assert sorted(index for _, index in cache.kept) == [0]
    cache.put("run", 3, tasks.Kept(shard=FakePart(40)), None)
    assert not cache.kept


@settings(max_examples=60, deadline=None)
@given(
    values=hnp.arrays(np.float64, st.tuples(st.integers(2, 40), st.just(2)), elements=st.floats(allow_nan=False, allow_infinity=False)),
    cuts=st.lists(st.integers(1, 39), max_size=4),
)
def test_means_and_deviations_do_not_depend_on_the_cut(values, cuts):
    pieces = [own for own in np.split(values, sorted({c for c in cuts if c < len(values)})) if len(own)]
    whole = Moments.of(values)
    assert Moments.together([Moments.of(own) for own in pieces]) == whole
    for f in range(2):
        column = [Fraction(v) for v in values[:, f].tolist()]
        assert (whole.sums[f], whole.squares[f]) == (sum(column), sum(v * v for v in column))


@pytest.mark.parametrize(("centre", "unit"), [(0.0, 1.0), (1e6, 1.0), (-3.0, 1e-170), (0.0, 1e170), (0.1, 0.0)])
def test_the_scale_is_the_librarys_but_for_the_last_digit(centre, unit):
    values = centre + unit * np.random.default_rng(3).lognormal(0, 2, (3000, 2))
    for ours, theirs in zip(Moments.of(values).scale(), scale_of(goc.UKMeans(1).fit(values))):
        assert (np.abs(ours - theirs) <= 2 * np.spacing(np.abs(theirs))).all()


def test_features_that_reach_too_far_are_named():
    with pytest.raises(ValueError, match="feature 0 reaches from -1.7e[+]308 to 1.7e[+]308: too far to be scaled"):
        Moments.of(np.array([[-1.7e308], [1.7e308]])).scale()


def fat(table, m=400):
    """Candidates far larger than what they are made of: 400 for each object."""
    x = table["x"].to_numpy() if hasattr(table["x"], "to_numpy") else np.asarray(table["x"])
    step = np.linspace(-1, 1, m)
    values = np.empty((len(x), m, 3))
    values[..., 0] = x[:, None] + step
    values[..., 1] = 0.3 * step + np.sin(x)[:, None]
    values[..., 2] = 0.1 * step
    return goc.Candidates(values.reshape(-1, 3), np.arange(len(x) + 1) * m)


def test_less_memory_than_the_data_take_is_enough(tmp_path):
    rng = np.random.default_rng(3)
    parts, each, limit = 28, 2000, 512 * 2**20
    for p in range(parts):
        pd.DataFrame({"x": rng.choice([-9.0, 0.0, 9.0], each) + rng.normal(0, 1, each)}).to_parquet(tmp_path / f"{p}.parquet")
    assert parts * each * 400 * 3 * 8 > limit
    oracle = goc.KMeans(max_iter=1, algorithm="lloyd")
    options = {"n_clusters": 3, "candidates": fat, "max_iter": 1, "oracle": oracle, "sample": 5000}
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=limit
    ) as cluster, distributed.Client(cluster) as client:
        first = client.run(os.getpid)
        found = goc.dask.fit(tmp_path, client=client, **options)
        assert client.run(os.getpid) == first  # the nanny never had to end it
    assert found.first_on_.startswith("sample of ")
    assert found.sizes_.sum() == parts * each
    assert sorted(np.round(found.cluster_centers_[:, 0])) == [-9, 0, 9]


def test_what_parts_cannot_do_is_refused(client, folder, tmp_path):
    refused = functools.partial(goc.dask.fit, folder, K, features=["x", "y"], client=client)
    with pytest.raises(ValueError, match="swaps=5 needs all objects in one place"):
        refused(swaps=5)
    with pytest.raises(ValueError, match="n_clusters and penalty_weight must be numbers"):
        goc.dask.fit(folder, "auto", client=client)
    with pytest.raises(ValueError, match="scale='robust' is not known over partitions"):
        refused(scale="robust")
    with pytest.raises(ValueError, match="partition 0: no column `z`"):
        goc.dask.fit(folder, K, features=["x", "z"], client=client)
    with pytest.raises(ValueError, match="no Parquet files"):
        goc.dask.fit(tmp_path, K, client=client)
    broken = long_table(20)
    half = len(broken) // 2
    while broken["object"].iloc[half - 1] != broken["object"].iloc[half]:
        half += 1
    for i, piece in enumerate([broken.iloc[:half], broken.iloc[half:]]):
        piece.to_parquet(tmp_path / f"{i}.parquet")
    with pytest.raises(ValueError, match="is in two partitions"):
        goc.dask.fit(tmp_path, 2, features=["x", "y"], client=client)


def test_the_limit_of_iterations_is_said(client, folder):
    short = functools.partial(goc.dask.fit, folder, K, features=["x", "y"], client=client)
    with pytest.warns(ConvergenceWarning, match="goc.dask.fit did not converge in max_iter=1 iterations; raise max_iter"):
        found = short(**{**OPTIONS, "max_iter": 1})
    assert not found.converged_ and repr(found).endswith("1 iterations, stopped at the limit)")


def test_paths_that_are_not_there_are_named_before_any_worker_is_asked(tmp_path):
    class Nobody:
        def __getattr__(self, name):
            raise AssertionError("a worker was asked")

    for data in (tmp_path / "nowhere", str(tmp_path / "nothing.parquet"), [tmp_path / "nothing.parquet"]):
        with pytest.raises(FileNotFoundError, match="no file or folder .*(nowhere|nothing.parquet);"):
            goc.dask.fit(data, K, client=Nobody())


def test_a_file_that_is_none_of_parquet_is_named_by_its_partition(client, tmp_path):
    (tmp_path / "0.parquet").write_bytes(b"no table")
    with pytest.raises(ValueError, match="partition 0: "):
        goc.dask.fit(tmp_path, 2, client=client)


def test_a_star_catalogue_is_not_taken_for_candidates(client, tmp_path):
    import dask.dataframe as dd

    catalogue = pd.DataFrame({"source_id": [1, 2], "RA": [0.1, 0.2], "dec": [0.3, 0.4], "parallax": [0.5, 0.6], "pmra": [1.0, 2.0]})
    catalogue.to_parquet(tmp_path / "0.parquet")
    for data in (tmp_path, [tmp_path / "0.parquet"], dd.from_pandas(catalogue, npartitions=1), [lambda: catalogue]):
        with pytest.raises(ValueError, match="looks like a star catalogue; give candidates=goc.from_gaia"):
            goc.dask.fit(data, 2, client=client)
    # Candidates that keep where they come from are none, and who names features knows.
    galactic = catalogue.rename(columns={"RA": "l", "dec": "b"})
    for table, features in [(galactic.assign(Jr=1.0, Jz=2.0, Jphi=[3.0, 4.0]), None), (galactic, ["l", "b"])]:
        assert goc.dask.fit([lambda table=table: table], 2, features=features, client=client, k_rule="constant").sizes_.sum() == 2


def test_candidates_of_stars_do_not_depend_on_the_partitions(client):
    import dask.dataframe as dd

    table = stars(6, 100)
    whole = goc.from_gaia(table, m=5)
    made = goc.dask.candidates(dd.from_pandas(table, npartitions=3), m=5).compute()
    assert made[["Jr", "Jz", "Jphi"]].to_numpy().tobytes() == whole.values.tobytes()
    assert made["object"].tolist() == np.repeat(whole.ids, whole.counts).tolist()


def test_an_oracle_of_ones_own_and_a_sample_are_the_same_for_any_cut(client, folder, table, tmp_path):
    from sklearn.cluster import KMeans

    def own(points, k, seed):
        return KMeans(k, n_init=1, random_state=seed).fit_predict(points)

    whole = tmp_path / "whole.parquet"
    table.to_parquet(whole)
    options = {**OPTIONS, "n_clusters": K, "oracle": own, "features": ["x", "y"], "sample": 600, "scale": "standard", "client": client}
    many, one = goc.dask.fit(folder, **options), goc.dask.fit(whole, **options)
    assert many.first_on_ == one.first_on_ and many.first_on_ != "all"
    assert many.cluster_centers_.tobytes() == one.cluster_centers_.tobytes()
    assert many.compute().equals(one.compute())
    spread = goc.Candidates.from_table(table, features=["x", "y"]).values.std(axis=0, ddof=1)
    np.testing.assert_allclose(many.scale_[1], spread, rtol=1e-13)
