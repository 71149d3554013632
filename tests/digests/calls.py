"""The calls of the Python package whose answers are digested.

A call is a function of the data; what it gives says which lines there are: an estimator all its
public attributes that end in `_`, a `Candidates` its parts, a dict its entries. A call that raises
has a line for the error, one that warns a line for the warnings.
"""

import csv
import functools
import os
import pickle
import sys
import warnings
from pathlib import Path

import numpy as np
import outputs

import goc

K = 6
SHORT = {"chains": 2, "burn": 10, "keep": 30}


class Data:
    """The tables and sets that the calls start from, made by the command."""

    def __init__(self, inputs):
        self.inputs = inputs
        self.stars, self.gaia, self.gaps = (self.columns(f"{name}.csv") for name in ("stars", "gaia", "gaps"))
        self.plain, self.distances, self.clash = (self.columns(f"{name}.csv") for name in ("plain", "distances", "clash"))
        self.sets = goc.from_gaia(self.stars, m=21)
        self.other = goc.Candidates.from_table(self.columns("c.csv"))
        self.points = self.sets.means()
        # Objects of different numbers of candidates: every third of the second object, and so on.
        self.ragged = [own[:: 1 + i % 4].copy() for i, own in enumerate(self.sets)]
        self.block = self.sets.values.reshape(len(self.sets), 21, 3)
        values = [self.plain[name] for name in "xyz"]
        errors = [self.plain[f"{name}_error"] for name in "xyz"]
        there = self.plain["x"] != -9999
        self.values, self.errors = np.column_stack(values)[there], np.column_stack(errors)[there]
        self.keys = [str(name) for name in self.plain["object"][there]]
        self.truth = self.sets.truth
        self.weights = 1.0 + np.arange(len(self.sets)) % 3

    def columns(self, name):
        """A CSV table as a dict of arrays: whole numbers, numbers or text."""
        with open(self.inputs / name, newline="") as file:
            names, *rows = csv.reader(file)
        made = {}
        for name, cells in zip(names, zip(*rows)):
            for kind in (int, lambda cell: float(cell or "nan"), str):
                try:
                    made[name] = np.array([kind(cell) for cell in cells])
                    break
                except ValueError:
                    pass
        return made


CALLS = {}


def call(function):
    """Registers `function(data)` under its name."""
    CALLS[function.__name__.strip("_").replace("_", "-")] = function
    return function


def register(name, function):
    if name in CALLS:
        raise ValueError(f"the call {name} stands twice")
    CALLS[name] = function


# Estimators ---------------------------------------------------------------------------------------

ORACLES = ("KMeans KMedoids DiagonalMixture MclustEII MclustVII MclustVVV Linkage Affinity MeanShift SpectralClustering ConvexClustering "
           "HDBSCAN").split()  # fmt: skip
METHODS = [name for name in goc.__all__ if isinstance(getattr(goc, name), type) and hasattr(getattr(goc, name), "fit") and name not in ORACLES]


def _made(name, **settings):
    kind = getattr(goc, name)
    if "n_clusters" in kind().get_params() and "n_clusters" not in settings:
        settings["n_clusters"] = K
    return kind(**settings)


def _core(found):
    return {name: getattr(found, name) for name in ("labels_", "cluster_centers_", "chosen_", "representatives_", "objective_")}


for _name in METHODS:
    register(f"{_name}", lambda data, name=_name: _made(name).fit(data.sets))
    _fast = SHORT if _name == "MarginalMixture" else {}
    register(f"{_name}-ragged", lambda data, name=_name, fast=_fast: _core(_made(name, random_state=3, **fast).fit(data.ragged)))
for _name in ORACLES:
    register(f"{_name}", lambda data, name=_name: _made(name).fit(data.points))
    register(f"{_name}-scaled", lambda data, name=_name: _made(name, scale="standard", random_state=5).fit(data.points).labels_)

GOC = functools.partial(goc.GreedyOptimisticClustering, K)
_SETTINGS = {
    "authors": {"preset": "authors"},
    "auto-weight": {"penalty_weight": "auto"},
    "thorough": {"search": "thorough", "k_rule": "constant"},
    "swaps": {"swaps": 20, "n_init": 3, "k_rule": "constant"},
    "initial-labels": {"initial_labels": np.arange(42) % K},
    "distance": {"distance": "euclidean", "k_rule": "plural", "begin": "nearest-to-mean"},
    "first": {"oracle_every": "first", "oracle_starts": 2, "seeding": "plus-plus", "algorithm": "lloyd"},
    "penalties": {"scale_penalties": False, "penalty_weight": 0.002, "scale": "robust"},
    "oracle-linkage": {"oracle": "linkage", "linkage": "ward"},
    "oracle-hdbscan": {"oracle": "hdbscan", "min_cluster_size": 3},
    "oracle-affinity": {"oracle": "affinity", "preference": 0.3},
    "oracle-mean-shift": {"oracle": "mean-shift", "bandwidth": 0.5},
    "oracle-function": {"oracle": lambda points, k, seed: np.arange(len(points)) % k},
    "one-iteration": {"max_iter": 1},
    "tol": {"tol": 0.2, "oracle_iterations": 1, "n_jobs": 1},
}
for _name, _given in _SETTINGS.items():
    register(f"goc-{_name}", lambda data, given=_given: GOC(**given).fit(data.sets))
for _by in ("marginal", "silhouette", "bic", "icl", "stability"):
    register(f"goc-auto-{_by}", lambda data, by=_by: goc.GreedyOptimisticClustering("auto", k_by=by).fit(data.sets))


@call
def uk_means_auto(data):
    return goc.UKMeans("auto", k_by="silhouette").fit(data.sets)


@call
def goc_oracle_of_sklearn(data):
    from sklearn.cluster import AgglomerativeClustering

    return GOC(oracle=AgglomerativeClustering()).fit(data.sets)


@call
def goc_sample_weight(data):
    return GOC().fit(data.sets, sample_weight=data.weights)


@call
def uk_means_sample_weight(data):
    return goc.UKMeans(K).fit(data.sets, sample_weight=data.weights)


@call
def k_means_sample_weight(data):
    return goc.KMeans(K).fit(data.points, sample_weight=data.weights)


@call
def goc_penalty(data):
    return GOC().fit(data.block, penalty=(data.block[:, :, 0] / 1000) ** 2)


@call
def goc_weight(data):
    weight = np.ones(data.block.shape[:2])
    weight[:, ::5] = 0
    weight[:, 1] = 0.3
    return GOC(penalty_weight=0.2).fit(data.block, weight=weight)


@call
def marginal_weight(data):
    weight = np.ones(data.block.shape[:2])
    weight[:, ::5] = 0
    return goc.MarginalMixture(**SHORT).fit(data.block, weight=weight)


@call
def goc_pairs(data):
    return GOC().fit((data.sets.values, data.sets.offsets)).labels_


@call
def goc_arrow_column(data):
    import pyarrow

    return GOC().fit(pyarrow.array([own.tolist() for own in data.ragged])).labels_


@call
def goc_pandas_points(data):
    import pandas

    return GOC().fit(pandas.DataFrame(data.points, columns=["Jr", "Jz", "Jphi"]))


@call
def marginal_noise(data):
    return goc.MarginalMixture(noise=True).fit(data.sets)


@call
def marginal_settings(data):
    return goc.MarginalMixture(strength=1.0, scale="standard", feature_map="none", scale_penalties=False, **SHORT).fit(data.sets)


@call
def marginal_actions(data):
    return goc.MarginalMixture(feature_map="actions", random_state=9, **SHORT).fit(data.block)


@call
def marginal_density_twice(data):
    return goc.MarginalMixture(**SHORT).fit(goc.from_gaia(data.gaia, m=21, sampler="density")).labels_


@call
def marginal_predict(data):
    found = goc.MarginalMixture(**SHORT).fit(data.sets)
    probability, alone = found.predict_confidence(data.sets)
    return {"labels": found.predict(data.sets), "probability": probability, "alone": alone}


@call
def marginal_pickled(data):
    found = pickle.loads(pickle.dumps(goc.MarginalMixture(**SHORT).fit(data.sets)))
    return {"labels": found.predict(data.sets)}


@call
def predictions(data):
    new = data.sets.values.reshape(42, 21, 3)[::2, ::3]
    return {
        "goc": GOC().fit(data.sets).predict(new),
        "goc-authors": GOC(preset="authors", scale="robust").fit(data.sets).predict(new, penalty=np.ones(new.shape[:2])),
        "tree": goc.TreeOptimisticClustering(K).fit(data.sets).predict(new),
        "uk-means": goc.UKMeans(K).fit(data.sets).predict(new),
        "expected-k-means": goc.ExpectedKMeans(K).fit(data.sets).predict(new),
        "k-means": goc.KMeans(K).fit(data.points).predict(data.points[::2]),
    }


@call
def set_distances(data):
    settings = ("s1", "s2", "s3", "hausdorff", "kl", "kl-kernel")
    return {kind: goc.SetLinkage(K, set_distance=kind).fit(data.sets).labels_ for kind in settings}


@call
def others(data):
    return {
        "pessimistic": goc.GreedyPessimisticClustering(K, reading="max-max").fit(data.sets).labels_,
        "boxes": goc.BoxKMeans(K, box_distance="max").fit(data.sets).labels_,
        "worlds": goc.PossibleWorlds(K, worlds=9, oracle="k-medoids").fit(data.sets).labels_,
        "fdbscan": goc.FDBSCAN(eps=0.4, min_points=2).fit(data.sets).labels_,
        "affinity": goc.SetAffinityPropagation(preference=0.2, set_distance="s1").fit(data.sets).labels_,
        "linkage": goc.SetLinkage(K, linkage="complete").fit(data.sets).labels_,
        "tree": goc.TreeOptimisticClustering(K, preset="authors").fit(data.sets).labels_,
    }


# Candidates ---------------------------------------------------------------------------------------

_FROM_GAIA = {
    "stars": ("stars", {}),
    "gaia": ("gaia", {}),
    "paper": ("stars", {"shape": "box", "sampler": "grid:parallax", "penalty": "density:parallax", "variant": "authors"}),
    "sobol": ("gaia", {"sampler": "sobol", "sigmas": 1.5, "random_state": 4}),
    "volume": ("gaia", {"sampler": "density", "penalty": "none", "distance_prior": "volume:5"}),
    "edsd": ("gaia", {"distance_prior": "edsd:1.35"}),
    "distance": ("gaia", {"penalty": "distance", "shape": "box"}),
    "l1": ("gaia", {"shape": "l1", "eta": 0.2, "jphi": "prograde-positive"}),
    "model": ("gaia", {"variant": "agama", "potential": "mwpotential2014", "sun": "astropy-v4.0", "zero_point": 0.017}),
    "radius": ("gaia", {"radius": 0.05}),
    "gaps": ("gaps", {"on_nan": "drop"}),
    "gaps-refused": ("gaps", {}),
    "gaps-empty-refused": ("gaps", {"on_nan": "drop", "on_empty": "raise"}),
    "distances": ("distances", {"errors": ["distance_error", "pmra_error", "pmdec_error", "rv_error"], "columns": {"radial_velocity": "rv"}}),
    "clash": ("clash", {}),
    "not-stars": ("plain", {}),
    "sizes-refused": ("gaia", {"sigmas": 2, "eta": 0.1}),
    "zero-point-refused": ("distances", {"zero_point": 0.017}),
}
for _name, (_table, _given) in _FROM_GAIA.items():
    register(f"from-gaia-{_name}", lambda data, table=_table, given=_given: goc.from_gaia(getattr(data, table), m=11, **given))


@call
def from_gaia_tables(data):
    import pandas
    import pyarrow
    from astropy.table import QTable, Table

    units = {"ra": "rad", "parallax": "uarcsec", "parallax_error": "uarcsec", "radial_velocity": "m/s", "radial_velocity_error": "m/s"}
    known = {"ra": "deg", "parallax": "mas", "parallax_error": "mas", "radial_velocity": "km/s", "radial_velocity_error": "km/s"}
    table = QTable(data.gaia)
    for name, unit in known.items():
        table[name].unit = unit
        table[name] = table[name].to(units[name])
    tables = {"pandas": pandas.DataFrame(data.gaia), "arrow": pyarrow.table(data.gaia), "astropy": Table(data.gaia), "quantities": table}
    return {name: goc.from_gaia(own, m=5).values for name, own in tables.items()}


_SETS = {
    "box": lambda data, **size: goc.uncertainty.box(data.values, data.errors, keys=data.keys, **size),
    "l1": lambda data, **size: goc.uncertainty.l1(data.values, data.errors, **size),
    "ball": lambda data, **size: goc.uncertainty.ball(data.values, data.errors[:, 0], keys=range(len(data.values)), **size),
    "ellipsoid": lambda data, **size: goc.uncertainty.ellipsoid(
        data.values, np.diag([0.04, 0.09, 0.01]) + 0.005, keys=data.keys, **size
    ),
}
for _name, _own in _SETS.items():
    register(
        f"sample-{_name}",
        lambda data, own=_own: {
            sampler: own(data).sample(7, sampler=sampler, random_state=2) for sampler in ("uniform", "sobol", "density", "grid:1")
        },
    )
    register(f"propagate-{_name}", lambda data, own=_own: goc.propagate(own(data, eta=0.1), m=9))


def _ratio(z):
    """A function with no answer for some points."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.column_stack([np.sqrt(z[:, 0]), z[:, 1] * z[:, 2]])


for _penalty in ("density", "none", "distance", "density:0,2"):
    register(
        f"propagate-f-{_penalty.replace(':', '-').replace(',', '-')}",
        lambda data, penalty=_penalty: goc.propagate(
            _SETS["box"](data), _ratio, m=9, penalty=penalty, on_empty="drop", features=["root", "product"], sampler="sobol"
        ),
    )


@call
def propagate_refused(data):
    return goc.propagate(_SETS["box"](data), _ratio, m=9)


@call
def candidates_of_tables(data):
    import pyarrow.parquet
    from astropy.table import Table

    table = pyarrow.parquet.read_table(data.inputs / "c.parquet")
    own = {"dict": data.other, "arrow": goc.Candidates.from_table(table), "pandas": goc.Candidates.from_table(table.to_pandas())}
    own["fits"] = goc.Candidates.from_table(Table.read(data.inputs / "c.fits"))
    return {f"{name} {what}": value for name, made in own.items() for what, value in parts(made)}


@call
def candidates_of_long_table(data):
    return goc.Candidates.from_table(data.columns("long.csv"), object="star", features=["x", "y"], truth="group")


@call
def candidates_to_tables(data):
    arrow, pandas = data.sets.to_arrow(), data.sets.to_pandas()
    made = {f"dict {name}": column for name, column in data.sets.to_dict().items()}
    made |= {f"arrow {name}": [str(arrow.schema.field(name).type), arrow[name].to_pylist()] for name in arrow.column_names}
    made |= {f"pandas {name}": [str(pandas[name].dtype), pandas[name].tolist()] for name in pandas.columns}
    made |= {"arrow metadata": {k.decode(): v.decode() for k, v in (arrow.schema.metadata or {}).items()}, "pandas attrs": pandas.attrs}
    return made


@call
def candidates_parts(data):
    sets = pickle.loads(pickle.dumps(data.sets))
    return {"repr": repr(sets), "means": sets.means(), "counts": sets.counts, "third": sets[2], "last": sets[-1], "length": len(sets)}


# Scores and stars ---------------------------------------------------------------------------------


@call
def scores(data):
    labels = GOC().fit(data.sets).labels_
    made = {f"scores {name}": value for name, value in goc.metrics.scores(labels, data.truth).items()}
    made |= {name: getattr(goc.metrics, name)(labels, data.truth) for name in goc.metrics.__all__ if name != "scores"}
    made["text"] = goc.metrics.scores(["a", "a", "b", "c"], ["x", "y", "y", "y"])
    made["noise in labels"] = goc.metrics.scores([0, 0, -1, -1, 1], [0, 0, 1, 2, 2])
    made["noise in truth"] = goc.metrics.scores([0, 0, 1, 1, 2], [0, 0, -1, -1, -1])
    return made


@call
def actions(data):
    made = {}
    for variant in ("converged", "authors", "agama"):
        made |= {f"{variant} {name}": column for name, column in goc.galaxy.actions(data.stars, variant=variant).items()}
    return made


@call
def actions_of_gaps(data):
    return dict(goc.galaxy.actions(data.gaps, potential="mwpotential2014", sun="astropy-v4.0", jphi="prograde-positive", zero_point=0.017))


@call
def actions_quantity(data):
    return dict(goc.galaxy.actions(data.gaia, quantity=True, n_jobs=1))


@call
def angles(data):
    return goc.galaxy.angles(data.gaia)


@call
def places(data):
    there, reasons = goc.galaxy.to_galactocentric(data.gaps, return_reasons=True)
    back = goc.galaxy.from_galactocentric(goc.galaxy.to_galactocentric(data.gaia))
    galactic = goc.galaxy.from_galactocentric(goc.galaxy.to_galactocentric(data.stars), sky="galactic", sun="astropy-v4.0")
    return {"places": there, "reasons": reasons} | {f"icrs {n}": v for n, v in back.items()} | {f"galactic {n}": v for n, v in galactic.items()}


@call
def places_of_sky_coordinates(data):
    from astropy import units
    from astropy.coordinates import SkyCoord

    table = data.distances
    sky = SkyCoord(
        ra=table["ra"] * units.deg, dec=table["dec"] * units.deg, distance=table["distance"] * units.kpc,
        pm_ra_cosdec=table["pmra"] * units.mas / units.yr, pm_dec=table["pmdec"] * units.mas / units.yr,
        radial_velocity=table["rv"] * units.km / units.s,
    )  # fmt: skip
    return goc.galaxy.to_galactocentric(sky)


@call
def orbits(data):
    return goc.galaxy.orbits(data.gaia, [0.0, -0.5, 1.0], accuracy=1e-9)


@call
def potentials(data):
    at = [[-8.0, 0.0, 0.1], [3.0, -2.0, 1.0], [20.0, 0.0, -5.0]]
    own = {name: goc.galaxy.Potential(name) for name in ("mcmillan17", "mwpotential2014")}
    own["ini"] = goc.galaxy.Potential.from_ini((data.inputs / "galaxy.ini").read_text())
    made = {}
    for name, potential in own.items():
        made |= {f"{name} {what}": getattr(potential, what)(at) for what in ("value", "acceleration", "density")}
        made[f"{name} circular_velocity"] = potential.circular_velocity([1.0, 8.2, 30.0])
    return made


@call
def simulate(data):
    return goc.galaxy.simulate(dwarfs=4, stars=[1, 2, 3, 2], field=2, random_state=6, variant="authors")


@call
def simulate_settings(data):
    return goc.galaxy.simulate(dwarfs=2, stars=3, age=2.0, dispersion=8.0, speed=90.0, reach=4.0, latitude=30.0, magnitudes=(-1.0, 1.0),
                               errors="gaia-dr3", sun="astropy-v4.0", jphi="prograde-positive")  # fmt: skip


# Pages, pictures, partitions ----------------------------------------------------------------------


@call
def report(data):
    goc.MarginalMixture(**SHORT).fit(data.sets).report("marginal.html", data.sets, title="Stars")
    GOC().fit(data.block).report("goc.html", truth=data.truth, ids=[f"star {i}" for i in range(42)], features=["a", "b", "c"])
    return {name: Path(name).read_text() for name in ("marginal.html", "goc.html")}


@call
def plot(data):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    found, mixture = GOC().fit(data.sets), goc.MarginalMixture(**SHORT).fit(data.sets)
    drawn = {
        "clusters": lambda ax: goc.plot.clusters(found, data.sets, ax=ax),
        "whole": lambda ax: goc.plot.clusters(found, data.sets, features=(0, 1), whole=True, ax=ax),
        "k_posterior": lambda ax: goc.plot.k_posterior(mixture, ax=ax),
        "together": lambda ax: goc.plot.together(mixture, ax=ax),
        "history": lambda ax: goc.plot.history(found, ax=ax),
    }
    made = {}
    for name, draw in drawn.items():
        ax = draw(plt.figure().gca())
        texts = [ax.get_title(), ax.get_xlabel(), ax.get_ylabel()]
        made[name] = [texts, [np.asarray(own.get_offsets()) for own in ax.collections], [own.get_array() for own in ax.images]]
        made[name] += [[np.asarray(own.get_xydata()) for own in ax.lines], [own.get_height() for own in ax.patches]]
        plt.close("all")
    return made


def _dask_client():
    import distributed

    return distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None)


DASK_CALLS = 4


def dask_calls(data):
    """Partitions on a cluster within this process; one function, as a client is slow to start."""
    import dask
    import dask.dataframe as dd
    import pandas

    table = data.other.to_pandas()
    stars = pandas.DataFrame(data.gaia)
    settings = {"oracle_starts": 2, "oracle_iterations": 4, "k_rule": "constant"}
    cuts = [table[table["object"] < 17], table[table["object"] >= 17]]
    halves = dd.from_delayed([dask.delayed(cuts.__getitem__)(i) for i in range(2)], meta=table.iloc[:0])
    with _dask_client() as client:
        found = goc.dask.fit(halves, K, features=["Jr", "Jz", "Jphi"], scale="standard", client=client, **settings)
        yield "table", _partitioned(found, found.compute())
        make = functools.partial(goc.from_gaia, m=9)
        found = goc.dask.fit(dd.from_pandas(stars, npartitions=3), 3, candidates=make, client=client, **settings)
        yield "stars", _partitioned(found, found.compute())
        found = goc.dask.fit(dd.from_pandas(stars, npartitions=2), 3, candidates=make, scale=(500.0, 300.0), oracle_every="always",
                             preset="authors", client=client)  # fmt: skip
        yield "settings", _partitioned(found, found.compute())
        yield "candidates", _partitioned(None, goc.dask.candidates(dd.from_pandas(stars, npartitions=2), m=5).compute())


def _partitioned(found, table):
    answer = {} if found is None else dict(parts(found)) | {"repr": repr(found)}
    return answer | {f"col {column}": table[column].to_numpy() for column in table.columns}


# Refused ------------------------------------------------------------------------------------------

_REFUSED = {
    "more-clusters": lambda data: goc.GreedyOptimisticClustering(43).fit(data.sets),
    "no-clusters": lambda data: goc.UKMeans(0).fit(data.sets),
    "nan": lambda data: GOC().fit(np.where(data.block == data.block[3, 2, 1], np.nan, data.block)),
    "dimensions": lambda data: GOC().fit(np.zeros((2, 2, 2, 2))),
    "features": lambda data: GOC().fit([np.zeros((2, 2)), np.zeros((2, 3))]),
    "penalty-and-weight": lambda data: GOC().fit(data.block, penalty=np.ones((42, 21)), weight=np.ones((42, 21))),
    "negative-penalty": lambda data: GOC().fit(data.block, penalty=-np.ones((42, 21))),
    "penalties": lambda data: GOC().fit(data.block, penalty=np.ones(5)),
    "preset": lambda data: GOC(preset="ours").fit(data.sets),
    "oracle": lambda data: GOC(oracle="k-modes").fit(data.sets),
    "oracle-fails": lambda data: GOC(oracle=lambda points, k, seed: 1 / 0).fit(data.sets),
    "weight-auto": lambda data: GOC(penalty_weight="auto", distance="euclidean").fit(data.sets),
    "sample-weight": lambda data: GOC(oracle="linkage").fit(data.sets, sample_weight=data.weights),
    "sample-weight-length": lambda data: GOC().fit(data.sets, sample_weight=[1.0, 2.0]),
    "n-init": lambda data: GOC(n_init=0).fit(data.sets),
    "feature-map": lambda data: goc.MarginalMixture(feature_map="actions").fit(data.points[:, :2]),
    "below-zero-root": lambda data: goc.MarginalMixture(feature_map="actions").fit(-data.block),
    "predict-features": lambda data: GOC().fit(data.sets).predict(data.block[:, :, :2]),
    "predict-noise": lambda data: goc.MarginalMixture(noise=True, **SHORT).fit(data.sets).predict(data.sets),
    "long-table": lambda data: GOC().fit(data.sets.to_pandas()),
    "offsets": lambda data: goc.Candidates([[0.0], [1.0]], [0, 3]),
    "table-without-object": lambda data: goc.Candidates.from_table({"x": [1.0, 2.0]}),
    "missing-candidates": lambda data: goc.Candidates.from_table({"object": [7, 9], "x": [0.0, -9999.0]}),
    "potential": lambda data: goc.galaxy.Potential("ring"),
    "sun": lambda data: goc.galaxy.actions(data.gaia, sun="mars"),
    "scores": lambda data: goc.metrics.scores([0, 1], [0, 1, 2]),
}
for _name, _own in _REFUSED.items():
    register(f"refused-{_name}", _own)


# Running them -------------------------------------------------------------------------------------


def parts(answer):
    """(what, value) for all that a call gave."""
    if isinstance(answer, goc.Candidates):
        for name in ("values", "offsets", "penalties", "ids", "truth", "features", "losses"):
            yield name, getattr(answer, name)
        yield from ((f"extra {name}", value) for name, value in answer.extras.items())
        yield from ((f"meta {name}", value) for name, value in answer.metadata.items())
    elif isinstance(answer, dict):
        yield from answer.items()
    elif hasattr(answer, "get_params") or type(answer).__name__ == "DaskClustering":
        for name in dir(answer):
            if name.endswith("_") and not name.startswith("_"):
                try:
                    yield name, getattr(answer, name)
                except AttributeError:
                    pass
    else:
        yield "value", answer


def _lines(name, function, folder, normal):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = list(parts(function()))
        except Exception as error:
            answer = [("raises", f"{type(error).__name__}: {error}")]
    if caught:
        answer.append(("warnings", [f"{own.category.__name__}: {own.message}" for own in caught]))
    # For a look at what changed, where the folder is kept.
    (folder / f"{name}.txt").write_text("".join(f"{what}: {value!r}\n" for what, value in answer))
    return [(f"py-{name}", what, outputs.of_value(value, normal)) for what, value in answer]


def run_all(inputs, folder, normal):
    """The lines of all calls, and how many calls there are."""
    folder.mkdir()
    os.chdir(folder)  # for the files that calls write
    data = Data(inputs)
    lines, count = [], len(CALLS)
    for name, function in CALLS.items():
        lines += _lines(name, functools.partial(function, data), folder, normal)
    try:
        import dask.dataframe  # noqa: F401
        import distributed  # noqa: F401
    except ImportError as error:
        print(f"SKIPPED: the calls of goc.dask, since {error}", file=sys.stderr)
        return lines, count
    def over_partitions():
        return {f"{name} {what}": value for name, answer in dask_calls(data) for what, value in answer.items()}

    return lines + _lines("dask", over_partitions, folder, normal), count + DASK_CALLS
