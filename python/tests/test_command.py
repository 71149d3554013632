"""Python and the command give the same bytes: labels, chosen candidates, places, centres."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pyarrow
import pyarrow.parquet as parquet
import pytest
from astropy.table import Table

import goc

SPACES = list(goc._stars.SPACES)


@pytest.fixture(scope="module")
def mock(command, tmp_path_factory):
    """A mock catalogue and its candidates, both by the command."""
    folder = tmp_path_factory.mktemp("mock")
    stars, candidates = folder / "stars.parquet", folder / "candidates.parquet"
    command("simulate", "--seed", 5, "--dwarfs", 10, "--stars", 4, "--stars-out", stars, "-o", candidates)
    return stars, candidates


def run(command, tmp_path, candidates, *flags):
    out, groups = tmp_path / "labels.parquet", tmp_path / "clusters.parquet"
    summary = json.loads(command("cluster", candidates, *flags, "-o", out, "--clusters", groups, "--json"))
    return summary, parquet.read_table(out), parquet.read_table(groups)


SAME = [
    (goc.GreedyOptimisticClustering(10), ["--k", 10]),
    (goc.GreedyOptimisticClustering(10, preset="authors", random_state=7), ["--k", 10, "--preset", "authors", "--seed", 7]),
    (goc.GreedyOptimisticClustering(10, 0.1, n_init=5, swaps=20, k_rule="constant"),
     ["--k", 10, "--lambda", 0.1, "--starts", 5, "--swaps", 20, "--k-rule", "constant"]),
    (goc.GreedyOptimisticClustering(10, search="thorough", scale="robust", distance="euclidean"),
     ["--k", 10, "--search", "thorough", "--scale", "robust", "--distance", "euclidean"]),
    (goc.GreedyOptimisticClustering(8, oracle=goc.Linkage(linkage="ward")), ["--k", 8, "--oracle", "linkage", "--linkage", "ward"]),
    (goc.GreedyOptimisticClustering(8, oracle="gmm-diag", oracle_every="first"),
     ["--k", 8, "--oracle", "gmm-diag", "--oracle-every", "first"]),
    (goc.GreedyOptimisticClustering(8, oracle="mclust-vii", begin="mean"), ["--k", 8, "--oracle", "mclust-vii", "--begin", "mean"]),
    (goc.GreedyOptimisticClustering(8, oracle=goc.Affinity(preference=0.3)), ["--k", 8, "--oracle", "affinity", "--preference", 0.3]),
    (goc.GreedyOptimisticClustering(8, oracle=goc.HDBSCAN(min_cluster_size=3)),
     ["--k", 8, "--oracle", "hdbscan", "--min-cluster-size", 3]),
    (goc.GreedyOptimisticClustering("auto", "auto"), ["--k", "auto", "--lambda", "auto"]),
    (goc.GreedyOptimisticClustering("auto", k_by="bic", scale_penalties=False),
     ["--k", "auto", "--k-by", "bic", "--penalty-scale", "none"]),
    (goc.MarginalMixture(keep=20), ["--method", "marginal", "--keep", 20]),
    (goc.MarginalMixture(feature_map="none", scale="standard", chains=2, burn=5, keep=10, strength=1.5),
     ["--method", "marginal", "--feature-map", "none", "--scale", "standard", "--chains", 2, "--burn", 5, "--keep", 10,
      "--strength", 1.5]),
    (goc.MarginalMixture(keep=20, field_prior=0.9, alpha=2), ["--method", "marginal", "--keep", 20, "--field-prior", 0.9, "--alpha", 2]),
    (goc.UKMeans(10), ["--method", "uk-means", "--k", 10]),
    (goc.UKMeans(10, oracle="k-medoids"), ["--method", "uk-means", "--k", 10, "--oracle", "k-medoids"]),
    (goc.GreedyPessimisticClustering(6, reading="max-max"), ["--method", "gpc", "--k", 6, "--reading", "max-max"]),
    (goc.TreeOptimisticClustering(8), ["--method", "goc-tree", "--k", 8]),
    (goc.HullOptimisticClustering(8), ["--method", "goc-hull", "--k", 8]),
    (goc.BoxOptimisticClustering(8, preset="authors"), ["--method", "goc-box", "--k", 8, "--preset", "authors"]),
    (goc.UKMedians(8), ["--method", "uk-medians", "--k", 8]),
    (goc.ExpectedKMeans(8, n_init=4), ["--method", "expected-k-means", "--k", 8, "--oracle-starts", 4]),
    (goc.BoxKMeans(8, box_distance="max"), ["--method", "boxes", "--k", 8, "--box", "max"]),
    (goc.RobustBoxKMeans(8), ["--method", "robust-boxes", "--k", 8]),
    (goc.PossibleWorlds(8, worlds=15), ["--method", "worlds", "--k", 8, "--worlds", 15]),
    (goc.RepresentativeWorlds(8, worlds=15), ["--method", "representative-worlds", "--k", 8, "--worlds", 15]),
    (goc.ConsistentWorlds(8, worlds=30), ["--method", "consistent-worlds", "--k", 8, "--worlds", 30]),
    (goc.HDBSCANDraws(min_cluster_size=3, worlds=15),
     ["--method", "hdbscan-draws", "--min-cluster-size", 3, "--worlds", 15]),
    (goc.FOPTICS(min_points=2, eps=0.5, worlds=15), ["--method", "foptics", "--min-points", 2, "--eps", 0.5, "--worlds", 15]),
    (goc.SignificantLinkage(least_members=4), ["--method", "significant-linkage", "--least-members", 4]),
    (goc.ExtremeDeconvolution(), ["--method", "extreme-deconvolution"]),
    (goc.ExtremeDeconvolution(8), ["--method", "extreme-deconvolution", "--k", 8]),
    (goc.FDBSCAN(min_points=2, eps=0.5), ["--method", "fdbscan", "--min-points", 2, "--eps", 0.5]),
    (goc.SetAffinityPropagation(set_distance="s1"), ["--method", "affinity", "--set-distance", "s1"]),
    (goc.SetKMedoids(8, set_distance="hausdorff"), ["--method", "medoids", "--k", 8, "--set-distance", "hausdorff"]),
    (goc.SetLinkage(8, set_distance="kl", linkage="complete"),
     ["--method", "linkage", "--k", 8, "--set-distance", "kl", "--linkage", "complete"]),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # chains are kept short
@pytest.mark.parametrize(("estimator", "flags"), SAME, ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "")
def test_a_fit_has_the_bytes_of_the_command(estimator, flags, command, mock, tmp_path):
    summary, labels, groups = run(command, tmp_path, mock[1], *flags)
    sets = goc.Candidates.from_table(parquet.read_table(mock[1]))
    found = estimator.fit(sets)
    theirs = labels["label"].to_numpy()
    if (theirs < 0).any():
        # The command's labels leave gaps where noise was; the estimators close them.
        _, theirs = np.unique(np.where(theirs < 0, -1, theirs), return_inverse=True)
        theirs = theirs - 1
    assert np.array_equal(found.labels_, theirs)
    assert labels["object"].to_pylist() == sets.ids.tolist()
    places = np.column_stack([labels[name].to_numpy() for name in sets.features])
    assert found.representatives_.tobytes() == places.tobytes()
    if found.chosen_ is not None:
        assert np.array_equal(found.chosen_, labels["candidate"].to_numpy())
    if not any(found._map.roots):
        centres = np.column_stack([groups[name].to_numpy() for name in sets.features])
        assert found.cluster_centers_.tobytes() == centres.tobytes()
    if found.probabilities_ is not None:
        assert found.probabilities_.tobytes() == labels["probability"].to_numpy().tobytes()
    if isinstance(estimator, goc.MarginalMixture):
        assert found.alone_.tobytes() == labels["alone"].to_numpy().tobytes()
        assert found.field_.tobytes() == labels["field"].to_numpy().tobytes()
        assert len(found.recurrence_) == found.n_clusters_
        posterior = [(row["k"], row["probability"]) for row in summary["k_posterior"]]
        assert posterior == [tuple(row) for row in found.k_posterior_.tolist()]
    assert summary["k"] == found.n_clusters_ and summary["objective"] == found.objective_
    assert summary["converged"] == found.converged_ and summary["cycle"] == found.cycle_
    # Noise objects are groups of their own, whose order the sum may see in its last digit.
    apart = np.where(found.labels_ < 0, -1 - np.arange(len(theirs)), found.labels_)
    assert summary["nmi"] == pytest.approx(goc.metrics.nmi(apart, sets.truth), rel=1e-14 if (theirs < 0).any() else 0, abs=0)


def fits(command, tmp_path, stars):
    command("candidates", stars, "--sigmas", 3, "-m", 30, "-o", tmp_path / "wide.fits")
    return Table.read(tmp_path / "wide.fits")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_penalties_of_wider_sets_are_log_densities_here_as_there(command, mock, tmp_path):
    stars, made = parquet.read_table(mock[0]), tmp_path / "wide.parquet"
    command("candidates", mock[0], "--sigmas", 3, "-m", 30, "-o", made)
    summary, labels, _ = run(command, tmp_path, made, "--method", "marginal", "--keep", 20)
    sets = goc.from_gaia(stars, sigmas=3, m=30)
    assert summary["strength"] == sets.penalties.max() > 4
    tables = (parquet.read_table(made), sets.to_arrow(), sets.to_pandas(), fits(command, tmp_path, mock[0]))
    again = [goc.Candidates.from_table(table) for table in tables]
    for form in (sets, pickle.loads(pickle.dumps(sets)), *again):
        assert form.log_density
        found = goc.MarginalMixture(keep=20).fit(form)
        assert found.probabilities_.tobytes() == labels["probability"].to_numpy().tobytes()
    plain = goc.Candidates.from_table(sets.to_dict())
    assert not plain.log_density
    other = goc.MarginalMixture(keep=20).fit(plain)
    assert other.probabilities_.tobytes() != labels["probability"].to_numpy().tobytes()
    assert not goc.from_gaia(stars, m=3, penalty="distance").log_density
    drawn = goc.from_gaia(stars, m=5, sampler="density", distance_prior="volume:5")
    assert drawn.to_arrow().schema.metadata[b"goc_distance_prior"] == b"volume:5"
    with pytest.warns(UserWarning, match="a second time: make them with penalty none"):
        goc.MarginalMixture(keep=5).fit(drawn)
    assert goc.propagate(goc.uncertainty.box([[1.0], [2.0]], [[0.1], [0.1]]), None).log_density


def test_every_method_of_the_command_is_here(command):
    asked = {dict(zip(flags[::2], flags[1::2])).get("--method", "goc") for _, flags in SAME}
    text = command("cluster", "--help")
    there = text[text.index("--method <") :]
    there = there[: there.index("--oracle <")]
    for method in asked:
        assert f"- {method}:" in there or f"{method}:" in there or f"{method}," in there or method in there
    # As many as the help lists: none is forgotten.
    listed = [line.split(":")[0].strip(" -") for line in there.splitlines() if line.strip().startswith("- ")]
    assert set(listed) == asked | {"oracle"}  # the oracles by themselves


def test_first_labels_are_taken_as_by_the_command(command, mock, tmp_path):
    sets = goc.Candidates.from_table(parquet.read_table(mock[1]))
    first = (np.arange(len(sets)) * 7) % 9
    rows = "\n".join(f"{i},{label}" for i, label in zip(sets.ids, first))
    (tmp_path / "first.csv").write_text(f"object,label\n{rows}\n")
    _, labels, _ = run(command, tmp_path, mock[1], "--k", 9, "--init-labels", tmp_path / "first.csv")
    found = goc.GreedyOptimisticClustering(9, initial_labels=first).fit(sets)
    assert np.array_equal(found.labels_, labels["label"].to_numpy())


def test_predict_has_the_bytes_of_the_command(command, mock, tmp_path):
    table = parquet.read_table(mock[1])
    half = table.filter(np.asarray(table["object"]) < 20)
    rest = table.filter(np.asarray(table["object"]) >= 20)
    parquet.write_table(half, tmp_path / "half.parquet")
    parquet.write_table(rest, tmp_path / "rest.parquet")
    flags = ["--method", "marginal", "--keep", 20, "--save-model", tmp_path / "m.json"]
    command("cluster", tmp_path / "half.parquet", *flags, "-o", tmp_path / "l.parquet")
    command("predict", tmp_path / "m.json", tmp_path / "rest.parquet", "-o", tmp_path / "p.parquet")
    theirs = parquet.read_table(tmp_path / "p.parquet")
    found = goc.MarginalMixture(keep=20).fit(goc.Candidates.from_table(half))
    new = goc.Candidates.from_table(rest)
    label = theirs["label"].to_numpy(zero_copy_only=False)
    assert np.array_equal(found.predict(new), np.where(np.isnan(label.astype(float)), -1, label))
    probability, alone = found.predict_confidence(new)
    assert alone.tobytes() == theirs["alone"].to_numpy().tobytes()
    assert probability.tobytes() == theirs["probability"].to_numpy().tobytes()


def test_simulate_and_from_gaia_have_the_bytes_of_the_command(command, mock, tmp_path):
    catalogue = goc.galaxy.simulate(dwarfs=10, stars=4, random_state=5)
    theirs = parquet.read_table(mock[0])
    assert list(catalogue) == theirs.column_names
    for name in theirs.column_names:
        assert np.array_equal(catalogue[name], theirs[name].to_numpy(), equal_nan=catalogue[name].dtype.kind == "f"), name
    authors = goc.from_gaia(catalogue, shape="box", sampler="grid:parallax", penalty="density:parallax", random_state=5)
    assert_table(authors, parquet.read_table(mock[1]))


@pytest.mark.parametrize(
    ("how", "flags"),
    [
        ({}, []),
        ({"sigmas": 1.5, "m": 30, "sampler": "sobol", "random_state": 9}, ["--sigmas", 1.5, "-m", 30, "--sampler", "sobol", "--seed", 9]),
        ({"shape": "ellipsoid", "eta": 0.1, "m": 20, "penalty": "distance"},
         ["--shape", "ellipsoid", "--eta", 0.1, "-m", 20, "--penalty", "distance"]),
        ({"shape": "l1", "m": 20, "penalty": "none", "variant": "authors", "jphi": "prograde-positive"},
         ["--shape", "l1", "-m", 20, "--penalty", "none", "--variant", "authors", "--jphi", "prograde-positive"]),
        ({"m": 15, "potential": "mwpotential2014", "sun": "astropy-v4.0", "zero_point": 0.02},
         ["-m", 15, "--potential", "mwpotential2014", "--sun", "astropy-v4.0", "--zero-point", 0.02]),
        ({"m": 25, "sampler": "density", "penalty": "none", "distance_prior": "volume:5"},
         ["-m", 25, "--sampler", "density", "--penalty", "none", "--distance-prior", "volume:5"]),
        ({"m": 15, "inflate": {"parallax": 1.5, "radial_velocity": 2}, "error_floor": {"pml": 0.5}},
         ["-m", 15, "--inflate", "parallax=1.5,radial_velocity=2", "--error-floor", "pml=0.5"]),
        ({"m": 15, "inflate": 1.3}, ["-m", 15, "--inflate", 1.3]),
        *(({"m": 12, "space": space, "variant": "agama"}, ["-m", 12, "--space", space, "--variant", "agama"]) for space in SPACES),
    ],
)  # fmt: skip
def test_from_gaia_is_goc_candidates(how, flags, command, mock, tmp_path):
    out = tmp_path / "out.parquet"
    command("candidates", mock[0], *flags, "-o", out)
    made, theirs = goc.from_gaia(parquet.read_table(mock[0]), **how), parquet.read_table(out)
    assert_table(made, theirs)
    said = {key.decode(): value.decode() for key, value in theirs.schema.metadata.items() if key.startswith(b"goc_")}
    assert made.metadata == said and said["goc_size"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("space", SPACES)
def test_a_space_is_clustered_with_the_bytes_of_the_command(space, command, mock, tmp_path):
    """Also by methods whose own scaling is not the robust one that a space has, and from a table
    that was kept.
    """
    out, labels = tmp_path / "out.parquet", tmp_path / "labels.parquet"
    command("candidates", mock[0], "-m", 12, "--space", space, "-o", out)
    sets, kept = goc.from_gaia(parquet.read_table(mock[0]), m=12, space=space), goc.Candidates.from_table(parquet.read_table(out))
    assert kept.features == sets.features and kept.values.tobytes() == sets.values.tobytes()
    mixture = {"chains": 2, "burn": 5, "keep": 8}
    for estimator in (goc.GreedyOptimisticClustering(10), goc.MarginalMixture(**mixture)):
        flags = ["--k", 10] if estimator._method == "goc" else [word for name in mixture for word in (f"--{name}", mixture[name])]
        command("cluster", out, "--method", estimator._method, *flags, "-o", labels)
        theirs = parquet.read_table(labels)["label"].to_numpy()
        for made in (sets, kept):
            assert np.array_equal(estimator.fit(made).labels_, theirs)


@pytest.mark.filterwarnings("ignore")
def _columns(path):
    table = parquet.read_table(path)
    return table.column_names, table.columns


@pytest.mark.parametrize("more", [{"missing_rv": "prior"}, {"missing_rv": "prior:90", "with_": {"mag": "mag_error"}}, {"missing_rv": "drop"}])
def test_stars_without_a_velocity_are_those_of_the_command(more, command, mock, tmp_path):
    table = {name: column.to_numpy().copy() for name, column in zip(*_columns(mock[0]))}
    table["radial_velocity"][::3] = np.nan
    table["mag_error"] = np.full(len(table["radial_velocity"]), 0.1)
    table["mag"] = table.pop("phot_g_mean_mag")
    path, out = tmp_path / "gap.parquet", tmp_path / "c.parquet"
    parquet.write_table(pyarrow.table(table), path)
    flags = ["--with", "mag:mag_error"] if "with_" in more else []
    command("candidates", path, "--missing-rv", more["missing_rv"], *flags, "-m", "7", "-o", out)
    made, theirs = goc.from_gaia(table, m=7, **more), parquet.read_table(out)
    features = [theirs[name].to_numpy() for name in made.features]
    assert np.array_equal(made.values, np.column_stack(features))
    assert len(made.features) == 3 + len(flags) // 2
    if more["missing_rv"] == "prior":
        assert made.metadata["goc_missing_rv"] == "prior"


def test_validate_is_that_of_the_command(command, mock, tmp_path):
    path, out = tmp_path / "groups.parquet", tmp_path / "v.parquet"
    command("stars", mock[0], "--k", "4", "-m", "5", "-o", path)
    command("validate", path, "--by", "phot_g_mean_mag:parallax_error", "--draws", "99", "-o", out)
    table, theirs = parquet.read_table(path), parquet.read_table(out)
    column = lambda name: table[name].to_numpy(zero_copy_only=False)  # noqa: E731
    features = {name: column(f"goc_{name}") for name in ("Jr", "Jz", "Jphi")}
    found = goc.validate(column("goc_label"), column("phot_g_mean_mag"), column("parallax_error"), features, draws=99)
    assert np.array_equal(found.p_values, theirs["p_value"].to_numpy())
    assert np.array_equal(found.random[:, 1], theirs["random_median"].to_numpy())
    assert found.p_value == float(theirs.schema.metadata[b"goc_p_value"])
    with pytest.raises(ValueError, match="whole numbers"):
        goc.validate([0.5] * 3, [1.0] * 3, [0.1] * 3, np.zeros((3, 1)))


def test_stars_in_a_space_are_those_of_from_gaia(command, mock, tmp_path):
    flags = ["--method", "marginal", "--chains", 2, "--burn", 5, "--keep", 8, "-m", 12]
    command("stars", mock[0], "--space", "xyzuvw", *flags, "--candidates", tmp_path / "c.parquet", "-o", tmp_path / "g.parquet")
    sets = goc.from_gaia(parquet.read_table(mock[0]), m=12, space="xyzuvw", sampler="tails")
    theirs = parquet.read_table(tmp_path / "c.parquet")
    for name in sets.features:
        assert sets.to_dict()[name].tobytes() == theirs[name].to_numpy().tobytes(), name
    assert sets.features == ("X", "Y", "Z", "U", "V", "W") and sets.metadata["goc_space"] == "xyzuvw"
    labels = goc.MarginalMixture(chains=2, burn=5, keep=8).fit(sets).labels_
    assert np.array_equal(labels, parquet.read_table(tmp_path / "g.parquet")["goc_label"].to_numpy())


def assert_table(made, theirs):
    columns = made.to_dict()
    assert list(columns) == theirs.column_names
    for name in theirs.column_names:
        assert np.asarray(columns[name]).tobytes() == theirs[name].to_numpy().astype(columns[name].dtype).tobytes(), name


def test_actions_have_the_bytes_of_the_command(command, mock, tmp_path):
    command("actions", mock[0], "--frequencies", "-o", tmp_path / "a.parquet")
    theirs = parquet.read_table(tmp_path / "a.parquet")
    stars = parquet.read_table(mock[0])
    found = {**goc.galaxy.actions(stars), **goc.galaxy.angles(stars)}
    for name in ("Jr", "Jz", "Jphi", "energy", "theta_r", "theta_z", "theta_phi", "Omega_r", "Omega_z", "Omega_phi"):
        assert np.array_equal(found[name], theirs[name].to_numpy(), equal_nan=True), name
    assert found["note"].tolist() == theirs["actions_note"].to_pylist()


def test_candidates_on_the_way_to_parquet_are_never_in_memory_together(command, tmp_path):
    n, m = 40_000, 200
    i = np.arange(n)
    table = {"object": i, "x": np.sin(i), "x_error": np.full(n, 0.1), "y": np.cos(i), "y_error": np.full(n, 0.2)}
    parquet.write_table(pyarrow.table(table), tmp_path / "values.parquet")
    made = tmp_path / "candidates.parquet"
    arguments = ["candidates", tmp_path / "values.parquet", "--values", "x,y", "-m", str(m), "-o", made]
    # From a small process of its own: a child begins with the memory of its parent, and that counts.
    alone = (
        "import os, subprocess, sys\n"
        "done = subprocess.Popen(sys.argv[1:], stderr=subprocess.DEVNULL)\n"
        "_, status, used = os.wait4(done.pid, 0)\n"
        "print(status, used.ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", alone, command.path, *map(str, arguments)], capture_output=True, text=True, check=True
    )
    status, peak = map(int, done.stdout.split())
    assert status == 0
    assert parquet.read_metadata(made).num_rows == n * m
    # Two features, the penalty, the object and the candidate's number: 36 bytes each in the table alone.
    assert peak * 1024 < 32 * n * m, f"{peak // 1024} MiB"
