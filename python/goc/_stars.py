"""Candidates of star catalogues, as ``goc candidates`` makes them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from . import _goc, galaxy
from ._base import _seed, _threads
from ._candidates import OBJECT_NAMES, TRUTH_NAMES, Candidates
from ._progress import bar
from ._tables import Table
from .uncertainty import _size

# Names each quantity goes by, the first as in `columns`.
KNOWN: dict[str, list[str]] = _goc.star_names()
# What each space needs of the Galaxy: "finder", "potential" or None.
SPACES: dict[str, str | None] = _goc.star_spaces()


def from_gaia(
    table: Any,
    *,
    columns: Mapping[str, str] | None = None,
    errors: Sequence[str] | None = None,
    inflate: float | Mapping[str, float] | None = None,
    error_floor: Mapping[str, float] | None = None,
    object: str | None = None,
    shape: str | None = None,
    sigmas: float | None = None,
    eta: float | None = None,
    radius: float | None = None,
    m: int = _goc.DRAWS,
    sampler: str = "uniform",
    distance_prior: str | None = None,
    penalty: str = "density",
    space: str = "actions",
    potential: Any = "mcmillan17",
    variant: str = "converged",
    sun: str = "hattori",
    jphi: str = "paper",
    angles: str = "degrees",
    zero_point: float = 0.0,
    missing: float | None = -9999.0,
    on_nan: str = "raise",
    missing_rv: str | None = None,
    with_: str | Sequence[str] | Mapping[str, str] | None = None,
    on_bad: str = "raise",
    on_empty: str = "drop",
    random_state: Any = 1,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Candidates:
    """Candidates of a star catalogue, in orbital actions or another space, bit-identical to those
    of ``goc candidates``.

    Parameters
    ----------
    table : pandas, pyarrow or astropy table, structured array, or mapping of columns
        One row per star: ra, dec, parallax, pmra, pmdec, radial_velocity, the errors of the last four
        (x_error, x_err, sigma_x or e_x), and their correlations (x_y_corr) if there are any; or l,
        b, pml, pmb; or a distance (kpc) or distance_modulus in place of the parallax. Columns that
        name a unit are converted, with their errors; an unknown unit is refused.
    columns : mapping, optional
        Columns with other names, such as ``{"radial_velocity": "HRV"}``.
    errors : sequence of four str, optional
        The error columns of depth, proper motions and radial velocity.
    inflate : float or mapping, optional
        Multiplies the quoted errors: one factor for all, or by column, ``{"parallax": 1.5}``.
    error_floor : mapping, optional
        The smallest error of a measured column, in its unit, ``{"pmra": 0.02}``: smaller errors, 0
        included, are raised to it, after `inflate`.
    object : str, optional
        Column that names the star; by default object, source_id, i or id, else the position.
    shape : {"box", "ellipsoid", "l1"}, optional
        By default an ellipsoid if there are correlations, else a box.
    sigmas, eta, radius
        The size of the sets, as for :func:`goc.uncertainty.box`.
    m : int
        Candidates drawn per star.
    sampler : {"uniform", "sobol", "density", "tails", "grid:COLUMN"}
        ``"tails"``: from the error distribution, some with heavy tails;
        :class:`goc.MarginalMixture` learns from them how far the quoted errors hold. ``goc stars
        --method marginal`` does so by default.
    distance_prior : str, optional
        The prior on the distances; candidates are drawn from the set in proportion to it.
        ``"volume:5"``: uniform density out to 5 kpc, none beyond; ``"edsd:1.35"``: density that
        falls with a scale length of 1.35 kpc.
    penalty : {"density", "none", "distance", "density:COLUMN[,COLUMN]"}
    space : {"actions", "iom", "orbit", "xyzuvw", "uvw", "galactocentric"}
        The features: ``"actions"`` Jr, Jz, Jphi; ``"iom"`` energy, Lz, Lperp; ``"orbit"`` energy,
        Lz, circularity, eccentricity, pericentre, apocentre, zmax; ``"xyzuvw"`` heliocentric
        Galactic X, Y, Z (pc) and U, V, W (km/s), relative to the Sun; ``"uvw"`` the velocities
        alone; ``"galactocentric"`` x, y, z (kpc), vx, vy, vz (km/s) in the frame of `sun`.
    potential : str or Potential
        mcmillan17, mwpotential2014, or a file that ends in .ini. Ignored by spaces that need none.
    variant : {"converged", "authors", "agama"}
        How actions are computed.
    sun : str
        hattori (the paper's), astropy-v4.0, or ``"r0=8.2,z0=0.0208,vx=11.1,vy=245,vz=7.25"``.
    jphi : {"paper", "prograde-positive"}
        The sign of Jphi, Lz and the circularity.
    angles : {"degrees", "radians"}
        Unit of positions, if their columns name none.
    zero_point : float
        Offset added to every parallax, in mas.
    missing : float or None
        A star with this value anywhere is dropped.
    on_nan : {"raise", "drop"}
        A star with NaN, null or a masked value.
    missing_rv : {"refuse", "drop", "prior", "prior:SIGMA"}, optional
        A star without a radial velocity: an error, left out, or its velocity drawn from a prior
        that is fitted to the other stars; SIGMA, in km/s, sets its width instead. By default as any
        other missing value.
    with_ : str, sequence of str, or mapping, optional
        More measured columns to cluster by: ``["fe_h"]``, ``["fe_h:fe_h_error", "mg_fe"]`` or
        ``{"fe_h": "fe_h_error"}``. Missing values are drawn from a prior fitted to the other stars.
    on_bad : {"raise", "drop"}
        A star with an infinite number, a negative error or a correlation beyond 1.
    on_empty : {"drop", "raise"}
        A star without valid candidates: no actions, no distance.
    random_state, n_jobs, verbose
        As for the estimators.

    Returns
    -------
    Candidates
        Features of the space, by default Jr, Jz, Jphi (kpc km/s) with ``extras["energy"]``;
        ``truth`` where the table has it; ``losses``, the stars that lost points: (id, drawn, kept,
        reasons); ``metadata``, how they were made, under the keys of ``goc candidates``.

    Warns
    -----
    UserWarning
        Correlations of a star contradict each other and were weakened just enough.

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
    choices = {"on_nan": on_nan, "on_bad": on_bad, "on_empty": on_empty}
    for name, given in choices.items():
        if given not in ("raise", "drop"):
            raise ValueError(f"{name}='{given}' is not known; give raise or drop")
    if space not in SPACES:
        raise ValueError(f"space={space!r} is not known; give one of {', '.join(SPACES)}")
    table = Table(table)
    name = table.named(object, OBJECT_NAMES)
    ids = None if name is None else table.identifiers(name)
    wanted = {
        "columns": [(str(own), str(column)) for own, column in (columns or {}).items()],
        "errors": None if errors is None else [str(column) for column in errors],
        "inflate": float(inflate) if isinstance(inflate, Real) else _by_column("inflate", inflate),
        "error_floor": _by_column("error_floor", error_floor),
        "missing": None if missing is None else float(missing),
        "drop_nan": on_nan == "drop",
        "missing_rv": None if missing_rv is None else str(missing_rv),
        "with": _with(with_),
        "bad_rows": "drop" if on_bad == "drop" else "refuse",
        "shape": shape,
        "size": _size(sigmas, eta, radius),
        "sampler": sampler,
        "draws": max(int(m), 0),
        "distance_prior": None if distance_prior is None else str(distance_prior),
        "penalty": penalty,
        "space": space,
        "when_empty": "drop" if on_empty == "drop" else "refuse",
        "potential": potential if isinstance(potential, str) else type(potential).__name__,
        "variant": variant,
        "sun": sun,
        "jphi": jphi,
        "angles": angles,
        "zero_point": float(zero_point),
        "seed": _seed(random_state),
    }
    needed = SPACES[space]
    model = None
    if needed is not None:
        model = galaxy._finder(potential, variant) if needed == "finder" else galaxy._own(potential)
    names = ids if ids is None or ids.dtype.kind == "i" else [str(own) for own in ids]
    with bar(verbose, len(table), "stars") as progress:
        made = _goc.star_candidates(table, names, model, wanted, _threads(n_jobs), progress)
    _warn([text for warning, text in made["said"] if warning])
    rows = made["rows"]
    ids = np.arange(len(table)) if ids is None else ids
    truth = table.named(None, TRUTH_NAMES)
    sets = made["candidates"]
    return Candidates._of(
        sets,
        ids=ids[rows],
        features=tuple(made["features"]),
        truth=None if truth is None else table.identifiers(truth)[rows],
        extras=made["extras"],
        metadata=dict(made["metadata"]),
        losses=[(ids[row], drawn, kept, why) for row, drawn, kept, why in made["losses"]]
        + [(ids[row], 0, 0, why) for row, why in made["dropped"]],
    )


def _by_column(name: str, given: Any) -> list[tuple[str, float]]:
    """Numbers by the column that they are for."""
    if given is not None and not isinstance(given, Mapping):
        raise ValueError(f"{name}={given!r}: give numbers by measured column, such as {{'parallax': 1.5}}")
    return [(str(column), float(number)) for column, number in (given or {}).items()]


def _with(given: Any) -> list[str]:
    """Columns to cluster by beside the others, as the command has them."""
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    if isinstance(given, Mapping):
        return [f"{column}:{error}" for column, error in given.items()]
    return [str(column) for column in given]


def _warn(warned: Sequence[str]) -> None:
    """One warning for all stars alike."""
    if warned:
        more = f"; {len(warned) - 1} more objects alike" if len(warned) > 1 else ""
        warnings.warn(warned[0] + more, UserWarning, stacklevel=3)
