"""Star catalogues: which columns are what, and their candidates as ``goc candidates`` makes them."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _goc, galaxy
from ._base import _seed, _threads
from ._candidates import ACTIONS, OBJECT_NAMES, TRUTH_NAMES, Candidates
from ._progress import bar
from ._tables import Table
from .uncertainty import _size

# Names each quantity goes by, the first as in `columns`.
KNOWN: dict[str, tuple[str, ...]] = {
    "ra": ("ra",), "dec": ("dec",), "pmra": ("pmra",), "pmdec": ("pmdec",),
    "l": ("l", "ell", "glon"), "b": ("b", "bee", "glat"), "pml": ("pml", "pm_l", "pml_cosb"), "pmb": ("pmb", "pm_b"),
    "parallax": ("parallax",), "distance": ("distance", "dist", "distance_kpc", "dist_kpc"),
    "distance_modulus": ("distance_modulus", "dm", "DM"),
    "radial_velocity": ("radial_velocity", "rv", "HRV", "vlos", "any_vlos", "dr2_radial_velocity"),
    "x": ("x",), "y": ("y",), "z": ("z",), "vx": ("vx",), "vy": ("vy",), "vz": ("vz",),
}  # fmt: skip
DEPTHS = {"parallax": "mas", "distance": "kpc", "distance_modulus": "mag"}
PLACE = ("x", "y", "z", "vx", "vy", "vz")


class StarColumns:
    """The columns of a star catalogue: where a star is and how it moves.

    `form` is icrs, galactic or galactocentric; `names` are the six columns, `units` theirs, `depth` what the third is.
    """

    def __init__(self, table: Table, columns: Mapping[str, str] | None, angles: str) -> None:
        given = dict(columns or {})
        for name, column in given.items():
            if name not in KNOWN:
                raise ValueError(f"columns: '{name}' is not known; give some of {', '.join(KNOWN)}")
            table.named(column, ())
        angle = {"degrees": "deg", "radians": "rad"}.get(angles)
        if angle is None:
            raise ValueError(f"angles='{angles}' is not known; give degrees or radians")

        def column(quantity: str) -> str | None:
            if quantity in given:
                return given[quantity]
            return next((own for own in map(table.like, KNOWN[quantity]) if own is not None), None)

        # A depth named by the user goes before a parallax that happens to be there.
        depths = [d for d in DEPTHS if d in given] + list(DEPTHS)
        depth = next((d for d in depths if column(d) is not None), None)

        def observed(*quantities: str) -> list[str] | None:
            lon, lat, pm1, pm2 = (column(q) for q in quantities)
            names = [lon, lat, None if depth is None else column(depth), pm1, pm2, column("radial_velocity")]
            return None if None in names else names

        forms = {
            "icrs": lambda: observed("ra", "dec", "pmra", "pmdec"),
            "galactic": lambda: observed("l", "b", "pml", "pmb"),
            "galactocentric": lambda: None if None in (names := [column(q) for q in PLACE]) else names,
        }
        order = list(forms)
        if any(q in given for q in PLACE):
            order = ["galactocentric"]
        elif any(q in given for q in ("l", "b", "pml", "pmb")):
            order = ["galactic"]
        for form in order:
            names = forms[form]()
            if names is not None:
                break
        else:
            raise ValueError(
                "no star catalogue: ra, dec, parallax, pmra, pmdec, radial_velocity (or l, b, pml, pmb; or x, y, z, vx, vy, vz) are "
                f"needed; give other names with columns= (the table has {', '.join(table.names)})"
            )
        self.form, self.names, self.depth, self.angles = form, names, depth, angles
        if form == "galactocentric":
            self.units = ["kpc"] * 3 + ["km/s"] * 3
        else:
            self.units = [angle, angle, DEPTHS[depth], "mas/yr", "mas/yr", "km/s"]

    def rows(self, table: Table) -> NDArray[np.float64]:
        """The six columns: (n, 6)."""
        return np.column_stack([table.numbers(name, unit) for name, unit in zip(self.names, self.units)])


def _error_column(table: Table, name: str) -> str:
    names = (f"{name}_error", f"{name}_err", f"sigma_{name}", f"e_{name}")
    found = next((own for own in names if own in table), None)
    if found is None:
        raise ValueError(f"no error column for `{name}` (looked for {', '.join(names)}); name it with errors=")
    return found


def from_gaia(
    table: Any,
    *,
    columns: Mapping[str, str] | None = None,
    errors: Sequence[str] | None = None,
    object: str | None = None,
    shape: str | None = None,
    sigmas: float | None = None,
    eta: float | None = None,
    radius: float | None = None,
    m: int = 101,
    sampler: str = "uniform",
    distance_prior: str | None = None,
    penalty: str = "density",
    potential: Any = "mcmillan17",
    variant: str = "converged",
    sun: str = "hattori",
    jphi: str = "paper",
    angles: str = "degrees",
    zero_point: float = 0.0,
    missing: float | None = -9999.0,
    on_nan: str = "raise",
    on_empty: str = "drop",
    random_state: Any = 1,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Candidates:
    """Candidates of a star catalogue: error bars sampled and turned into orbital actions, to the byte as ``goc candidates``.

    Parameters
    ----------
    table : pandas, pyarrow or astropy table, structured array, or mapping of columns
        A row a star: ra, dec, parallax, pmra, pmdec, radial_velocity, the errors of the last four (x_error, x_err, sigma_x or e_x),
        and their correlations (x_y_corr) if there are any; or l, b, pml, pmb; or a distance (kpc) or distance_modulus in place of the
        parallax. Columns with units are converted.
    columns : mapping, optional
        Other names, such as ``{"radial_velocity": "HRV"}``.
    errors : sequence of four str, optional
        The error columns of depth, proper motions and radial velocity.
    object : str, optional
        Column that names the star; by default object, source_id, i or id, else the position.
    shape : {"box", "ellipsoid", "l1"}, optional
        By default an ellipsoid if there are correlations, else a box.
    sigmas, eta, radius
        The size of the sets, as for :func:`goc.uncertainty.box`.
    m : int
        Points drawn for each star.
    sampler : {"uniform", "sobol", "density", "grid:COLUMN"}
    distance_prior : str, optional
        What is known of the distances beforehand; points are taken from the set in proportion to it. ``"volume:5"``: as many stars in every volume, none
        beyond 5 kpc; ``"edsd:1.35"``: their density falls with a scale length of 1.35 kpc.
    penalty : {"density", "none", "distance", "density:COLUMN[,COLUMN]"}
    potential : str or Potential
        mcmillan17, mwpotential2014, or a file that ends in .ini.
    variant : {"converged", "authors", "agama"}
        How actions are computed.
    sun : str
        hattori (the paper's), astropy-v4.0, or ``"r0=8.2,z0=0.0208,vx=11.1,vy=245,vz=7.25"``.
    jphi : {"paper", "prograde-positive"}
        The sign of Jphi.
    angles : {"degrees", "radians"}
    zero_point : float
        Added to every parallax, mas.
    missing : float or None
        A star with this value anywhere is dropped.
    on_nan : {"raise", "drop"}
        A star with NaN, null or a masked value.
    on_empty : {"drop", "raise"}
        A star none of whose points has actions.
    random_state, n_jobs, verbose
        As for the estimators.

    Returns
    -------
    Candidates
        Features Jr, Jz, Jphi (kpc km/s); ``extras["energy"]``; ``truth`` where the table has it; ``losses``, the stars that lost
        points: (id, drawn, kept, reasons).

    Examples
    --------
    >>> import goc
    >>> star = {"source_id": [7], "ra": [150.0], "dec": [60.0], "parallax": [0.5], "parallax_error": [0.02], "pmra": [3.0],
    ...         "pmra_error": [0.02], "pmdec": [-4.0], "pmdec_error": [0.02], "radial_velocity": [20.0],
    ...         "radial_velocity_error": [1.0]}
    >>> sets = goc.from_gaia(star, m=10)
    >>> sets
    Candidates(1 objects, 10 candidates, 3 features)
    >>> sets.features
    ('Jr', 'Jz', 'Jphi')
    """
    if hasattr(table, "frame") and hasattr(table, "spherical"):
        raise ValueError("a SkyCoord has no error bars to sample; give a table with errors")
    for name, given, known in (("on_nan", on_nan, ("raise", "drop")), ("on_empty", on_empty, ("raise", "drop"))):
        if given not in known:
            raise ValueError(f"{name}='{given}' is not known; give {' or '.join(known)}")
    table = Table(table)
    stars = StarColumns(table, columns, angles)
    if stars.form == "galactocentric":
        raise ValueError("x, y, z, vx, vy, vz were not measured, so they have no error bars to sample")
    if zero_point != 0.0 and stars.depth != "parallax":
        raise ValueError("zero_point is for parallaxes; the catalogue has distances")
    measured = stars.names[2:]
    error_names = list(errors) if errors is not None else [_error_column(table, name) for name in measured]
    if len(error_names) != 4:
        raise ValueError(f"errors names {len(error_names)} columns, but depth, two proper motions and radial velocity have one each")
    pairs = [(0, 1), (0, 2), (1, 2)]
    correlated = [_correlation_column(table, measured[a], measured[b]) for a, b in pairs]
    if shape is None:
        shape = "ellipsoid" if any(_correlations(table, measured)) else "box"
    rows = stars.rows(table)
    error_rows = np.column_stack([table.numbers(name, unit) for name, unit in zip(error_names, stars.units[2:])])
    used = [name if shape == "ellipsoid" else None for name in correlated]
    corr_rows = np.column_stack([np.zeros(len(rows)) if name is None else table.numbers(name) for name in used])
    all_names = [*stars.names, *error_names, *(name or "" for name in used)]
    everything = np.column_stack([rows, error_rows, corr_rows])
    ids, keys = _names(table, object)
    left = np.ones(len(rows), bool) if missing is None else ~(everything == missing).any(axis=1)
    if on_nan == "drop":
        left &= ~np.isnan(everything).any(axis=1)
    _refuse(everything, left, all_names, error_rows, error_names, corr_rows, used, ids)
    kept = np.flatnonzero(left)
    if not kept.size:
        raise ValueError(f"no stars left: all {len(rows)} miss a value or an error")
    name, _, where = sampler.partition(":")
    kind, _, of = penalty.partition(":")
    sampling = {
        "shape": shape,
        "size": _size(sigmas, eta, radius),
        "sampler": name,
        "coordinate": _coordinate(stars, where) if where else 0,
        "draws": int(m),
        "distance_prior": None if distance_prior is None else str(distance_prior),
        "penalty": kind,
        "penalty_of": [_coordinate(stars, column) for column in of.split(",")] if of else None,
        "drop_empty": on_empty == "drop",
        "seed": _seed(random_state),
        "sky": stars.form,
        "far": stars.depth,
        "zero_point": float(zero_point),
        "angles": angles,
        "sun": sun,
        "jphi": jphi,
    }
    if m < 1:
        raise ValueError("at least one point must be drawn")
    finder = galaxy._finder(potential, variant)
    take = lambda array: np.ascontiguousarray(array[kept])  # noqa: E731
    with bar(verbose, len(kept), "stars") as progress:
        made = _goc.star_candidates(
            take(rows), take(error_rows), take(corr_rows), take(keys), finder, sampling, _threads(n_jobs), progress
        )
    objects = kept[made["objects"]]
    truth = table.named(None, TRUTH_NAMES)
    candidates = Candidates(
        np.ascontiguousarray(made["rows"][:, :3]),
        made["offsets"],
        made["penalties"],
        ids=ids[objects],
        features=ACTIONS,
        truth=None if truth is None else table.identifiers(truth)[objects],
        extras={"energy": np.ascontiguousarray(made["rows"][:, 3])},
        metadata={
            "goc_version": _goc.__version__,
            "goc_shape": shape,
            "goc_sampler": sampler,
            "goc_m": m,
            "goc_penalty": penalty,
            **({} if distance_prior is None else {"goc_distance_prior": distance_prior}),
            "goc_potential": potential if isinstance(potential, str) else type(potential).__name__,
            "goc_variant": variant,
            "goc_sun": sun,
            "goc_seed": sampling["seed"],
        },
    )
    candidates.losses = [(ids[kept[i]], drawn, left_of_it, why) for i, drawn, left_of_it, why in made["losses"]]
    return candidates


def _correlation_column(table: Table, x: str, y: str) -> str | None:
    return next((name for name in (f"{x}_{y}_corr", f"{y}_{x}_corr") if name in table), None)


def _correlations(table: Table, measured: list[str]) -> list[bool]:
    return [_correlation_column(table, x, y) is not None for i, x in enumerate(measured) for y in measured[i + 1 :]]


def _coordinate(stars: StarColumns, column: str) -> int:
    column = column.strip()
    if column not in stars.names:
        raise ValueError(f"`{column}` is none of the values; those are {', '.join(stars.names)}")
    return stars.names.index(column)


def _names(table: Table, object: str | None) -> tuple[NDArray[Any], NDArray[np.uint64]]:
    """What the stars are called, and the keys of their random streams."""
    name = table.named(object, OBJECT_NAMES)
    if name is None:
        ids = np.arange(len(table))
        return ids, ids.astype(np.uint64)
    ids = table.identifiers(name)
    unique, counts = np.unique(ids, return_counts=True)
    if (counts > 1).any():
        twice = unique[counts > 1][0]
        at = " and ".join(str(row) for row in np.flatnonzero(ids == twice)[:2])
        raise ValueError(f"object {twice} stands in rows {at}; one row an object is needed")
    if ids.dtype.kind == "i":
        return ids, ids.astype(np.uint64)
    return ids, np.array([_goc.key_of_text(str(own)) for own in ids], dtype=np.uint64)


def _refuse(everything, left, names, errors, error_names, correlations, used, ids) -> None:
    """Numbers that cannot be, named by row, object and column."""
    where = lambda row, name: f"row {row}, object {ids[row]}, column `{name}`"  # noqa: E731
    bad = ~np.isfinite(everything) & left[:, None]
    if bad.any():
        row, column = (int(at[0]) for at in np.nonzero(bad))
        value = everything[row, column]
        advice = ", or use on_nan='drop'" if np.isnan(value) else ""
        raise ValueError(f"{where(row, names[column])}: {value} is not a finite number; mend it{advice}")
    bad = (errors < 0) & left[:, None]
    if bad.any():
        row, column = (int(at[0]) for at in np.nonzero(bad))
        raise ValueError(f"{where(row, error_names[column])}: {errors[row, column]} is negative where an error is needed")
    bad = (np.abs(correlations) > 1) & left[:, None]
    if bad.any():
        row, column = (int(at[0]) for at in np.nonzero(bad))
        raise ValueError(f"{where(row, used[column])}: {correlations[row, column]} is no correlation")
