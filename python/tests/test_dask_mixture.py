"""The marginal mixture over partitions: the same labels for any cut, any number of workers, and whoever dies on the way."""

import functools
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import goc

distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("dask.dataframe")

import goc.dask  # noqa: E402

# Some sweeps of the chains are enough to compare bytes.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

N, SAMPLE, PLACES = 1200, 300, [(-6, 0), (0, 5), (5, -4), (8, 6), (-3, -7)]
OPTIONS = {"features": ["x", "y"], "chains": 2, "burn": 60, "keep": 40, "scale": "standard"}


def long_table(n=N, seed=5):
    """Five groups and a field, five candidates each, in no order."""
    rng = np.random.default_rng(seed)
    group = rng.integers(-1, len(PLACES), n)
    places = np.where((group < 0)[:, None], rng.uniform(-12, 12, (n, 2)), np.array(PLACES)[group] + rng.normal(0, 0.3, (n, 2)))
    xy = np.repeat(places + rng.normal(0, 0.2, (n, 2)), 5, axis=0) + rng.normal(0, 0.2, (5 * n, 2))
    names = rng.permutation(n) * 7 + 3
    return pd.DataFrame({"object": np.repeat(names, 5), "x": xy[:, 0], "y": xy[:, 1]}), dict(zip(names.tolist(), group.tolist()))


@pytest.fixture(scope="module")
def table():
    return long_table()[0]


@pytest.fixture(scope="module")
def truth():
    return long_table()[1]


def write(table, folder, ends):
    """Partitions that end after so many objects."""
    folder.mkdir()
    bounds = [0, *ends, len(table) // 5]
    for i, (a, b) in enumerate(zip(bounds, bounds[1:])):
        table[5 * a : 5 * b].to_parquet(folder / f"{i}.parquet")
    return folder


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    return write(table, tmp_path_factory.mktemp("mixture") / "data", [400, 401, 401, 900])


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


def workers(cluster, client, count):
    cluster.scale(count)
    for _ in range(600):
        if len(client.scheduler_info(n_workers=-1)["workers"]) == count:
            return
        time.sleep(0.05)
    raise AssertionError(f"not {count} workers")


@pytest.fixture(scope="module")
def fit(client, folder):
    def fit(data=folder, **options):
        return goc.dask.fit_mixture(data, client=client, **{**OPTIONS, "sample": SAMPLE, **options})

    return fit


def told(found):
    """The answer, object by object."""
    rows = found.compute().sort_values("object", ignore_index=True)
    return rows, found.cluster_centers_.tobytes(), found.sizes_.tolist()


def same(found, wanted):
    rows, centres, sizes = told(found)
    assert rows.equals(wanted[0]) and (centres, sizes) == wanted[1:]


@pytest.fixture(scope="module")
def sampled(fit):
    return told(fit())


@pytest.fixture(scope="module")
def swept(fit):
    return told(fit(sweeps=2))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_one_two_or_three_workers_give_the_same_bytes(count, cluster, client, fit, sampled, swept):
    workers(cluster, client, count)
    same(fit(), sampled)
    same(fit(sweeps=2), swept)


def test_the_cut_and_the_order_of_partitions_change_nothing(fit, table, tmp_path, sampled, swept):
    objects = table["object"].to_numpy()[::5]
    upside_down = pd.concat([table[table["object"] == name] for name in objects[::-1]], ignore_index=True)
    for i, (own, ends) in enumerate([(table, []), (table, [7, 800]), (upside_down, [500])]):
        data = write(own, tmp_path / str(i), ends)
        same(fit(data), sampled)
        same(fit(data, sweeps=2), swept)


def test_a_small_catalogue_has_the_answer_of_one_machine(fit, table, tmp_path):
    table = table[: 5 * SAMPLE]
    options = {name: value for name, value in OPTIONS.items() if name != "features"}
    one = goc.MarginalMixture(**options).fit(goc.Candidates.from_table(table, features=["x", "y"]))
    found = fit(write(table, tmp_path / "small", [10, 200]), sweeps=3)
    assert (found.first_on_, found.n_sweeps_) == ("all", 0)
    rows = found.compute()
    assert rows["object"].tolist() == table["object"].tolist()[::5]
    for name, wanted in [("label", one.labels_), ("probability", one.probabilities_), ("field", one.field_), ("alone", one.alone_),
                         ("runner_up", one.runner_up_), ("runner_up_probability", one.runner_up_probability_)]:  # fmt: skip
        assert rows[name].to_numpy().tobytes() == wanted.tobytes(), name
    assert rows[["x", "y"]].to_numpy().tobytes() == one.representatives_.tobytes()


def test_the_sample_has_what_the_chains_said_and_the_others_what_the_model_says(fit, table, tmp_path, sampled):
    found = fit()
    found.save_model(tmp_path / "model.json")
    model = goc._goc.Model.from_text((tmp_path / "model.json").read_text())
    sets = goc.Candidates.from_table(table, features=["x", "y"])
    label, probability, none = model.predict(sets._sets)
    rows = found.compute()
    drawn = goc._goc.lots(1, sets.ids.view(np.uint64)) <= (2**64 - 1) * SAMPLE // N
    assert found.first_on_ == f"sample of {drawn.sum()}" and 200 < drawn.sum() < 400
    others = ~drawn
    assert rows["label"][others].tolist() == label[others].tolist()
    assert rows["probability"][others].tolist() == probability[others].tolist()
    assert (rows["alone"] + rows["field"])[others].tolist() == none[others].tolist()
    assert rows["probability"][drawn].tolist() != probability[drawn].tolist()
    # In file order this is what fitting the sample alone gives, whatever order that is in.
    chosen = table[np.repeat(drawn, 5)]
    alone = goc.MarginalMixture(**{k: v for k, v in OPTIONS.items() if k != "features"}).fit(
        goc.Candidates.from_table(chosen, features=["x", "y"])
    )
    assert goc.metrics.ari(rows["label"][drawn], alone.labels_) > 0.9


def test_the_groups_are_found_from_a_sample(fit, truth, sampled, swept):
    for rows, _, _ in (sampled, swept):
        true = np.array([truth[name] for name in rows["object"]])
        grouped = true >= 0
        assert goc.metrics.ari(true[grouped], rows["label"][grouped]) > 0.9
        assert (rows["label"][~grouped] == -1).mean() > 0.8
        shares = rows[["probability", "alone", "field"]].to_numpy()
        assert (shares >= 0).all() and (shares <= 1 + 1e-12).all()
    # Members are those of the sample first, of all objects after a sweep.
    assert sum(sampled[2]) < 400 < 0.9 * (np.array([*truth.values()]) >= 0).sum() < sum(swept[2]) < N


def test_sweeps_move_the_clusters_to_all_objects(fit, truth, sampled, swept, table):
    """The centres of a sample are off by its noise; those after sweeps are the means of all members."""
    means = table.groupby("object")[["x", "y"]].mean()
    groups = pd.Series(truth)
    true = np.array([means[groups[means.index] == g].mean() for g in range(len(PLACES))])

    def off(centres):
        centres = np.frombuffer(centres).reshape(-1, 2)
        return sum(np.linalg.norm(centres - own, axis=1).min() for own in true)

    assert off(swept[1]) < 0.5 * off(sampled[1])


def test_a_worker_killed_between_sweeps_changes_nothing(cluster, client, fit, swept):
    workers(cluster, client, 2)
    killed = []

    def kill(sweep, _):
        if sweep == 1:
            killed.append(list(client.run(os.getpid).values())[0])
            os.kill(killed[0], signal.SIGKILL)

    found = fit(sweeps=2, callback=kill)
    same(found, swept)
    assert killed and killed[0] not in client.run(os.getpid).values()


DRIVER = """
    import os, signal, sys
    import distributed, goc, goc.dask

    def die(sweep, _):
        if sweep == int(sys.argv[4]):
            os.kill(os.getpid(), signal.SIGKILL)

    if __name__ == "__main__":
        folder, checkpoint, scheduler, _ = sys.argv[1:]
        with distributed.Client(scheduler) as client:
            goc.dask.fit_mixture(folder, sample={sample}, sweeps=2, client=client, checkpoint=checkpoint, callback=die, **{options})
"""


@pytest.mark.parametrize("at", [0, 1])
def test_after_the_driver_was_killed_the_checkpoint_gives_the_same_bytes(at, client, fit, folder, tmp_path, swept):
    script, checkpoint = tmp_path / "driver.py", tmp_path / "run.goc"
    script.write_text(textwrap.dedent(DRIVER).replace("{options}", repr(OPTIONS)).replace("{sample}", str(SAMPLE)))
    environment = {**os.environ, "PYTHONPATH": str(Path(goc.__file__).parents[1])}
    done = subprocess.run([sys.executable, script, folder, checkpoint, client.scheduler.address, str(at)], env=environment)
    assert done.returncode == -signal.SIGKILL and checkpoint.exists()
    resumed = functools.partial(fit, sweeps=2, checkpoint=checkpoint, resume=True)
    for other in ({"random_state": 2}, {"sample": SAMPLE + 1}, {"keep": 41}):
        with pytest.raises(ValueError, match="belongs to another run"):
            resumed(**other)
    seen = []
    same(resumed(callback=lambda sweep, _: seen.append(sweep)), swept)
    assert seen == list(range(at + 1, 3))  # the chains were not run again


def test_columns_and_the_table_of_a_partition_say_the_same(fit, table, sampled):
    import dask.dataframe as dd

    found = fit()
    labelled = dd.from_pandas(table, npartitions=1).map_partitions(found.columns).compute()
    assert [*labelled.columns] == ["object", "x", "y", "label", "probability", "runner_up", "runner_up_probability", "alone", "field"]
    rows = found.compute().set_index("object").loc[labelled["object"]]
    for name in ("label", "probability", "alone", "field"):
        assert labelled[name].tolist() == rows[name].tolist()
    assert found.labels().compute().reset_index(drop=True).equals(found.compute())


def test_what_a_sample_cannot_say_is_refused(fit):
    with pytest.raises(ValueError, match="stability=10 would be of the sample alone; leave it out"):
        fit(stability=10)
    with pytest.raises(ValueError, match="sample=0 and sweeps=0: there must be at least one object"):
        fit(sample=0)
    with pytest.raises(ValueError, match="resume=True needs checkpoint="):
        fit(resume=True)
    with pytest.raises(TypeError, match="n_clusters"):
        fit(n_clusters=3)
