"""The commands whose outputs are digested, and the tables they start from.

`FILES` are small tables written out here; `STEPS` are waves of commands that make the data of later
ones; `COMMANDS` are all others, in any order. A command runs in a folder of its own, where the files
that its words name are put before; what is there afterwards is its output. Every flag of `goc cluster`
and `goc candidates`, and every choice that it has, stands in a command or is the default of others.
"""

METHODS = (
    "goc gpc uk-means uk-medians expected-k-means boxes robust-boxes worlds representative-worlds fdbscan affinity medoids linkage goc-hull "
    "goc-box marginal goc-tree"
).split()
ORACLES = (
    "k-means k-medoids gmm-diag mclust-eii mclust-vii mclust-vvv linkage affinity mean-shift spectral convex hdbscan"
).split()
FINDS_K = ("fdbscan", "affinity", "marginal")
SHORT = "--method marginal --chains 2 --burn 10 --keep 30"
LONG = "cluster long.csv --object star --features x,y --truth group"


# Hand-written tables ------------------------------------------------------------------------------


def _wobble(i, j):
    """A number from -1 to 1 that looks random and is exact to four digits."""
    return ((i * 7919 + j * 104729 + i * j * 31) % 2001 - 1000) / 1000


def _table(names, rows):
    return "\n".join(",".join(map(str, row)) for row in [names.split(","), *rows]) + "\n"


PLACES = [(0, 0, 5), (10, 3, 1), (4, 9, 8), (-6, 5, -2)]


def _plain():
    """Values with errors and correlations: text ids, a missing value, an exact one, a truth."""
    rows = []
    for i in range(24):
        x, y, z = (f"{p + 0.8 * _wobble(i, j):.4f}" for j, p in enumerate(PLACES[i % 4]))
        errors = [f"{0.2 + 0.15 * abs(_wobble(i, j)):.4f}" for j in (3, 4, 5)]
        row = [f"obj-{i:02}", x, errors[0], y, errors[1], z, errors[2], f"{0.6 * _wobble(i, 6):.3f}", f"{-0.3 * _wobble(i, 7):.3f}"]
        rows.append(row + [i * 3, "red" if i % 3 else "blue", f"group {i % 4}"])
    rows[5][1] = "-9999"
    rows[7][4] = "0"
    return rows


PLAIN = "object,x,x_error,y,y_error,z,z_error,x_y_corr,y_z_corr,mass,colour,truth"


def _plain_but(changes, names=PLAIN):
    rows = [list(row) for row in _plain()]
    for (row, column), value in changes.items():
        rows[row][names.split(",").index(column)] = value
    return _table(names, rows)


def _other_names():
    """Other names of errors, no correlations, whole numbers as ids."""
    rows = []
    for i in range(15):
        x, y = (f"{p + 0.5 * _wobble(i, j + 20):.4f}" for j, p in enumerate(PLACES[i % 3][:2]))
        rows.append([100 + i, x, f"{0.3 + 0.1 * abs(_wobble(i, 22)):.3f}", y, f"{0.3 + 0.1 * abs(_wobble(i, 23)):.3f}"])
    return _table("id,u,sigma_u,v,e_v", rows)


def _many():
    """Enough objects for the numbers of clusters that the paper begins with."""
    rows = []
    for i in range(90):
        middle = [10 * _wobble(i % 30, 70 + j) for j in range(3)]
        values = [f"{p + 0.3 * _wobble(i, 73 + j):.4f}" for j, p in enumerate(middle)]
        rows.append([i, *(x for v in values for x in (v, "0.3")), i % 30])
    return _table("object,x,x_error,y,y_error,z,z_error,truth", rows)


def _tracks():
    """What the toy transform `coasting` takes; the last object has no distance."""
    rows = []
    for i in range(12):
        direction = [(1, 0), (0.8, 0.6), (0, 1)][i % 3]
        values = [0.5 + 0.05 * _wobble(i, 30), 1 + i % 3 + 0.2 * _wobble(i, 31), 2 - i % 3 + 0.2 * _wobble(i, 32)]
        if i == 11:
            values[0] = -0.5
        rows.append([i, direction[0], 0, direction[1], 0, *(x for v in values for x in (f"{v:.4f}", "0.05"))])
    names = "direction_x direction_y parallax motion speed".split()
    return _table("object," + ",".join(f"{name},{name}_error" for name in names), rows)


def _long(nan=False):
    """One row per candidate: text ids, one to six each, likelihoods, a missing one; perhaps NaN."""
    rows = []
    for i in range(20):
        for j in range(1 + i % 6):
            x, y = (p + 0.7 * _wobble(i, f + 40) + 0.25 * j * _wobble(i, f + 43) for f, p in enumerate(PLACES[i % 4][:2]))
            rows.append([f"s{i:02}", j, f"{x:.4f}", f"{y:.4f}", f"{0.5 * j * j:.3f}", f"{1 / (1 + j):.4f}", i % 4])
    rows[9][2] = "-9999"
    if nan:
        rows[12][3] = "NaN"
    return _table("star,candidate,x,y,penalty,like,group", rows)


def _gaia(gaps=False, clash=False):
    """A Gaia-like catalogue with correlations.

    Gaps: a missing velocity, a parallax below 0, an unbound star, an empty field. A clash:
    correlations that cannot be together.
    """
    names = (
        "source_id,ra,dec,parallax,parallax_error,pmra,pmra_error,pmdec,pmdec_error,radial_velocity,radial_velocity_error,"
        "parallax_pmra_corr,parallax_pmdec_corr,pmra_pmdec_corr,truth"
    )
    sky = [(150.0, 60.0, 0.5, 3.0, -4.0, 20.0), (210.0, -20.0, 0.8, -6.0, -9.0, -110.0), (30.0, 35.0, 0.35, 5.0, -2.5, 160.0)]
    rows = []
    for i in range(15):
        place = sky[i % 3]
        ra, dec = (f"{p + 4 * _wobble(i, 50 + j):.5f}" for j, p in enumerate(place[:2]))
        parallax = f"{place[2] * (1 + 0.1 * _wobble(i, 52)):.5f}"
        motions = [f"{p + 0.2 * _wobble(i, 53 + j):.5f}" for j, p in enumerate(place[3:5])]
        errors = [f"{0.02 + 0.01 * abs(_wobble(i, 55 + j)):.4f}" for j in range(3)]
        velocity = [f"{place[5] + 5 * _wobble(i, 58):.4f}", f"{1 + abs(_wobble(i, 59)):.3f}"]
        correlations = [f"{0.4 * _wobble(i, 60 + j):.3f}" for j in range(3)]
        rows.append([4611686018427387905 + i, ra, dec, parallax, errors[0], motions[0], errors[1], motions[1], errors[2], *velocity,
                     *correlations, i % 3])  # fmt: skip
    if clash:
        rows[3][-4:-1] = ["0.9", "0.9", "-0.9"]
    if gaps:
        at = names.split(",").index
        rows[2][at("radial_velocity")] = "-9999"
        rows[4][at("parallax")] = "-0.2"
        rows[6][at("radial_velocity")] = "900.5"
        rows[8][at("pmra")] = ""
        rows[10][at("parallax_error")] = "0.4"
    return _table(names, rows)


UNITS = """# %ECSV 1.0
# ---
# datatype:
# - {name: id, datatype: int64}
# - {name: ra, unit: deg, datatype: float64}
# - {name: dec, unit: deg, datatype: float64}
# - {name: parallax, unit: UNIT, datatype: float64}
# - {name: pmra, unit: mas/yr, datatype: float64}
# - {name: pmdec, unit: mas/yr, datatype: float64}
# - {name: radial_velocity, unit: km/s, datatype: float64}
# schema: astropy-2.0
id ra dec parallax pmra pmdec radial_velocity
1 150.0 60.0 0.5 3.0 -4.0 20.0
2 210.0 -20.0 0.8 -6.0 -9.0 -110.0
"""

FILES = {
    "plain.csv": _table(PLAIN, _plain()),
    "nan.csv": _plain_but({(3, "y"): "NaN", (9, "z_error"): ""}),
    "bad.csv": _plain_but({(4, "y_error"): "-0.1", (6, "x"): "inf", (8, "x_y_corr"): "1.5"}),
    "twice.csv": _plain_but({(3, "object"): "obj-02"}),
    "words.csv": _plain_but({(3, "y"): "many"}),
    "other.csv": _other_names(),
    "many.csv": _many(),
    "tracks.csv": _tracks(),
    "long.csv": _long(),
    "long-nan.csv": _long(nan=True),
    "noise-truth.csv": "object,label,truth\na,0,x\nb,0,x\nc,1,-1\nd,-1,-1\ne,-1,y\nf,1,y\n",
    "whole-truth.csv": "object,label,truth\n1,0,4\n2,0,4\n3,1,-1\n4,-1,-1\n5,-1,7\n6,1,7\n",
    "labels-alone.csv": "name,cluster,value\nobj-00,1,0.5\nobj-01,2,1.5\nobj-02,2,1.25\nobj-03,1,0.75\n",
    "positions.csv": _table("object,ra,dec", [[f"obj-{i:02}", f"{0.1 * i:.1f}", f"{0.05 * i - 0.6:.2f}"] for i in range(24)]),
    "truth-alone.csv": "name,truth\nobj-03,a\nobj-02,b\nobj-01,b\nobj-00,c\n",
    "first.csv": _table("object,label", [[i, i % 7] for i in range(42)]),
    "gaia.csv": _gaia(),
    "gaps.csv": _gaia(gaps=True),
    "clash.csv": _gaia(clash=True),
    "places.csv": "id,x,y,z,vx,vy,vz\n1,-8.0,0.0,0.1,10.0,220.0,5.0\n2,-7.5,1.0,-2.0,150.0,-60.0,40.0\n3,-8.2,0.0,0.0,900.0,0.0,0.0\n",
    "distances.csv": (
        "id,ra,dec,distance,distance_error,pmra,pmra_error,pmdec,pmdec_error,rv,rv_error\n"
        "1,150.0,60.0,2.0,0.2,3.0,0.05,-4.0,0.05,20.0,1.0\n2,210.0,-20.0,1.2,0.1,-6.0,0.05,-9.0,0.05,-110.0,2.0\n"
        "3,30.0,35.0,2.8,0.3,5.0,0.05,-2.5,0.05,160.0,1.5\n"
    ),
    "radians.csv": (
        "id,RA_X,DE_X,plx,e_plx,pm1,e_pm1,pm2,e_pm2,HRV,e_HRV\n"
        "1,2.6,1.0,0.5,0.02,3.0,0.02,-4.0,0.02,20.0,1.5\n2,3.6,-0.3,0.8,0.03,-6.0,0.02,-9.0,0.03,-110.0,2.0\n"
    ),
    "mas.ecsv": UNITS.replace("UNIT", "mas"),
    "uas.ecsv": UNITS.replace("UNIT", "uas"),
    "first-paper.csv": _table(
        "oracle,K0,seed,star,init_cluster",
        [["k-medoids", k, seed, star, star * seed % k] for k in (30, 50, 70) for seed in (1, 2) for star in range(1, 91)],
    ),
    "galaxy.ini": (
        "[Potential disk]\ntype = MiyamotoNagai\nmass = 6.8e10\nscaleRadius = 3.0\nscaleHeight = 0.28\n\n"
        "[Potential halo]\ntype = NFW\nmass = 5e11\nscaleRadius = 16\n"
    ),
    "calibration.csv": "kind,said,came_true,count\nlabel,0.25,0.2,10\nlabel,0.5,0.55,20\nlabel,0.9,0.85,40\npair,0.5,0.45,100\npair,0.9,0.95,50\n",
    "bars.csv": "name,ours,rival\nselect,1.5,9.0\nactions,0.25,1.75\n",
    "lines.csv": "n,seconds,series\n100,0.01,ours\n1000,0.1,ours\n100,0.05,rival\n1000,0.9,rival\n",
    "empty.csv": "object,x\n",
    "one.csv": "object,x\na,1.5\na,2.5\n",
    "cut.fits": "SIMPLE  =                    T",
    "table.hdf5": "none",
}

# Data that later commands start from, by the command itself ---------------------------------------

DWARFS = "--dwarfs 12 --stars 1,2,3,4,5,6,1,2,3,4,5,6 -m 21"
STEPS = [
    [
        ("simulate", f"simulate {DWARFS} --stars-out stars.csv -o mock.parquet"),
        ("simulate-field", "simulate --dwarfs 6 --stars 4 --field 12 --seed 5 -m 21 --stars-out field.fits -o field.vot"),
    ],
    [
        *((f"candidates-to-{e}", f"candidates stars.csv -m 21 -o c.{e}") for e in ("parquet", "csv", "ecsv", "fits", "vot", "csv.gz")),
        ("candidates-plain", "candidates plain.csv -m 15 -o p.parquet"),
        *((f"candidates-set-{i}", f"candidates many.csv --seed {i} -m 7 -o seed0{i}.fits") for i in (1, 2)),
        ("candidates-gaia", "candidates gaia.csv -m 21 -o g.ecsv"),
        *((f"actions-to-{e}", f"actions gaia.csv -o a.{e}") for e in ("parquet", "csv", "ecsv", "fits", "vot")),
    ],
    [
        ("cluster-goc", "cluster c.parquet --k 12 --history history.csv --trace trace.csv -o goc.parquet"),
        ("cluster-uk-means", "cluster c.parquet --k 12 --method uk-means -o uk.csv"),
        (
            "cluster-marginal",
            "cluster c.parquet --method marginal -o marginal.ecsv --together together.csv --k-posterior posterior.csv --candidate-weights "
            "weights.csv --save-model model.json --clusters groups.csv",
        ),
        ("cluster-marginal-plain", "cluster p.parquet --method marginal --save-model plain-model.json -o plain-labels.csv"),
        ("cluster-marginal-long", f"{LONG} --weight like {SHORT} --save-model long-model.json -o long-labels.csv"),
        ("reproduce-sets", "reproduce --oracles k-medoids --format csv -o made"),
    ],
]  # fmt: skip

COMMANDS = []


def _add(name, words, files=""):
    """`files` are inputs that no word names."""
    COMMANDS.append((name, words, files))


# The longest first, so that the others go beside it.
_add("demo", "demo --out shown --seed 1")
_add("reproduce", "reproduce --oracles k-means,gmm-diag --seeds 1 -o made --figures")
_add("reproduce-data", "reproduce --data . --preset paper --seeds 2 --oracles k-means,mclust-vvv -o made", "seed01.fits seed02.fits")
_add("reproduce-first", "reproduce --data . --oracles k-medoids --init-labels first-paper.csv -o made", "seed01.fits seed02.fits")
_add("reproduce-paper", "reproduce --oracles k-medoids --preset paper --format latex -o made")
_add("reproduce-json", "reproduce --oracles linkage,k-medoids,mclust-eii --json -o made")

# simulate
_add("simulate-stdout", "simulate --dwarfs 3 --stars 2 --seed 7")
for errors in ("gaia-dr3", "gaia-dr4", "gaia-dr5"):
    _add(f"simulate-{errors}", f"simulate --dwarfs 3 --stars 3 --errors {errors} --magnitudes=-1,1.5 --stars-out s.csv")
_add(
    "simulate-model",
    "simulate --dwarfs 3 --stars 1,4,2 --age 3 --dispersion 8 --speed 80 --reach 4 --latitude 30 --accuracy 1e-6 --most 2000 --variant "
    "agama --sun astropy-v4.0 --jphi prograde-positive --sigmas 1.5 -m 9 --stars-out s.ecsv -o x.csv",
)
_add("simulate-full", "simulate --dwarfs 2 --stars 2 --full --most 200 --age 1 --variant authors -m 5 --stars-out s.csv -o x.csv")
_add("simulate-prior", "simulate --dwarfs 4 --stars 2 --distance-prior volume:5 -m 9 -o x.parquet")
_add("simulate-json", "simulate --dwarfs 2 --stars 2 -m 5 -o x.csv --json")

# actions
for ending in ("fits", "vot"):
    _add(f"actions-from-{ending}", f"actions a.{ending} --prefix again_ -o x.csv")
_add("actions-stdout", "actions places.csv")
_add("actions-json", "actions places.csv --json -o x.csv")
for variant in ("authors", "agama"):
    _add(f"actions-{variant}", f"actions stars.csv --variant {variant} -o x.csv")
_add("actions-frequencies", "actions gaia.csv --frequencies --jphi prograde-positive --zero-point 0.017 -o x.ecsv")
_add("actions-mwpotential2014", "actions gaia.csv --potential mwpotential2014 --sun astropy-v4.0 -o x.csv")
_add("actions-ini", "actions gaia.csv --potential galaxy.ini --sun r0=8.2,z0=0.02,vx=11.1,vy=245,vz=7.25 -o x.csv")
_RADIANS = "radians.csv --angles radians --columns ra=RA_X,dec=DE_X,parallax=plx,pmra=pm1,pmdec=pm2"
_add("actions-columns", f"actions {_RADIANS} -o x.csv")
_add("actions-gaps", "actions gaps.csv -o x.parquet")
_add("actions-missing", "actions gaps.csv --missing=-9999,0.5 -o x.csv")
_add("actions-units", "actions mas.ecsv -o x.ecsv")
_add("actions-distances", "actions distances.csv -o x.csv")
_add("actions-gz", "actions gaia.csv -o x.ecsv.gz")

# candidates
for ending in ("parquet", "ecsv", "fits", "vot"):
    _add(f"candidates-from-{ending}", f"candidates a.{ending} -m 7 -o x.csv")
_add("candidates-stdout", "candidates other.csv -m 3")
_add("candidates-json", "candidates plain.csv -m 5 --json -o x.csv --losses lost.csv")
for shape in ("box", "ellipsoid", "ball", "l1"):
    values = "--values x,y --errors x_error,x_error" if shape == "ball" else ""
    _add(f"candidates-shape-{shape}", f"candidates plain.csv --shape {shape} {values} -m 9 -o x.ecsv")
    _add(f"candidates-eta-{shape}", f"candidates plain.csv --shape {shape} {values} --eta 0.1 -m 9 -o x.csv")
_add("candidates-sigmas", "candidates plain.csv --sigmas 3 -m 9 -o x.csv")
_add("candidates-radius", "candidates plain.csv --radius 0.7 -m 9 -o x.csv")
for sampler in ("uniform", "sobol", "grid:y", "density"):
    _add(f"candidates-sampler-{sampler.replace(':', '-')}", f"candidates plain.csv --sampler {sampler} --seed 4 -m 9 -o x.csv")
for penalty in ("none", "density", "density:x", "density:x,z", "distance"):
    name = penalty.replace(":", "-").replace(",", "-")
    _add(f"candidates-penalty-{name}", f"candidates plain.csv --penalty {penalty} -m 9 -o x.ecsv")
for transform in ("none", "pca:2", "kernel-pca:2", "kernel-pca-poly:2"):
    _add(f"candidates-transform-{transform.replace(':', '-')}", f"candidates plain.csv --transform {transform} -m 9 -o x.ecsv")
_TRACKS = "candidates tracks.csv --values direction_x,direction_y,parallax,motion,speed --transform coasting"
_add("candidates-coasting-refuse", f"{_TRACKS} -m 9 -o x.csv")
_add("candidates-coasting-drop", f"{_TRACKS} --when-empty drop --penalty none --sigmas 4 -m 9 -o x.csv --losses lost.csv")
_add("candidates-keep", "candidates plain.csv --values z,x --keep colour,mass -m 4 -o x.parquet")
_add("candidates-missing-nan", "candidates nan.csv --missing nan -m 4 -o x.csv")
_add("candidates-missing-list", "candidates nan.csv --missing=-9999,nan -m 4 -o x.csv")
_add("candidates-missing-none", "candidates plain.csv --missing none -m 4 -o x.csv")
_add("candidates-missing-space", "candidates plain.csv --missing -9999 -m 4 -o x.csv")
_add("candidates-bad-rows", "candidates bad.csv --bad-rows drop -m 4 -o x.csv")
_add("candidates-object", "candidates plain.csv --object mass --values x,z -m 4 -o x.csv")
_add("candidates-other-names", "candidates other.csv -m 8 --seed 11 -o x.fits")
_add("candidates-errors", "candidates other.csv --values v,u --errors e_v,sigma_u -m 8 -o x.csv")
# candidates of stars
_add("stars-gaps", "candidates gaps.csv --missing=-9999,nan -m 9 -o x.parquet --losses lost.ecsv")
_add("stars-gaps-refuse", "candidates gaps.csv --missing=-9999,nan --when-empty refuse -m 9 -o x.csv")
_add("stars-clash", "candidates clash.csv -m 9 -o x.csv")
_add("stars-transform-none", "candidates gaia.csv --transform none -m 9 -o x.csv")
_add("stars-paper", "candidates stars.csv --shape box --sampler grid:parallax --penalty density:parallax --variant authors -m 21 -o x.ecsv")
_add("stars-distance-penalty", "candidates gaia.csv --penalty distance -m 9 -o x.csv")
for prior in ("volume:5", "edsd:1.35"):
    name = prior.replace(":", "-")
    _add(f"stars-prior-{name}", f"candidates gaia.csv --sampler density --penalty none --distance-prior {prior} -m 21 -o x.ecsv")
_add("stars-prior-uniform", "candidates stars.csv --distance-prior volume:4 -m 21 -o x.csv --losses lost.csv")
_add("stars-distances", "candidates distances.csv --sampler sobol --penalty density:distance -m 9 -o x.csv")
_add(
    "stars-model",
    "candidates gaia.csv --variant agama --potential mwpotential2014 --sun astropy-v4.0 --jphi prograde-positive --zero-point 0.017 --shape l1 "
    "--eta 0.2 -m 9 --seed 9 -o x.ecsv",
)
_add("stars-radians", f"candidates {_RADIANS} --threads 1 -m 5 -o x.csv")
_add("stars-columns", "candidates distances.csv --columns radial_velocity=rv --errors distance_error,pmra_error,pmdec_error,rv_error -m 5 -o x.csv")

# stars
_add("stars-goc", "stars stars.csv --k 12 --preset authors -m 21 -o x.csv --candidates made.parquet --clusters groups.csv")
for ending in ("parquet", "ecsv", "fits", "vot"):
    _add(f"stars-to-{ending}", f"stars gaia.csv --k 3 -m 21 -o x.{ending}")
_add("stars-stdout", "stars gaia.csv --k 3 -m 9")
_add("stars-json", "stars gaia.csv --k 3 -m 9 --json -o x.csv")
_add("stars-with-gaps", "stars gaps.csv --k 3 -m 21 -o x.parquet --prefix my_")
_add("stars-marginal", f"stars field.fits {SHORT} --noise -m 21 -o x.ecsv")
_add("stars-marginal-default", "stars gaia.csv --method marginal --distance-prior edsd:1.35 --sampler density --penalty none -m 21 -o x.csv")
_add("stars-sure", "stars stars.csv --k 8 --stability 2 --significance 4 --noise -m 11 -o x.csv --clusters groups.csv")
_add(
    "stars-settings-1",
    "stars gaia.csv --object source_id --shape box --sigmas 1 --sampler sobol --penalty distance --potential mwpotential2014 --sun astropy-v4.0 "
    "--jphi prograde-positive --zero-point 0.02 --variant agama --seed 8 -m 9 --k 4 --oracle linkage --linkage ward --scale robust "
    "--feature-map actions --distance euclidean --begin nearest-to-mean --oracle-every first --k-rule constant -o x.csv",
)
_add(
    "stars-settings-2",
    "stars gaps.csv --missing=-9999,nan --bad-rows drop --when-empty drop --radius 0.1 -m 9 --method marginal --strength 2 --chains 2 --burn 5 "
    "--keep 20 --penalty-scale none -o x.csv",
)
_add(
    "stars-settings-3",
    "stars distances.csv --columns radial_velocity=rv --errors distance_error,pmra_error,pmdec_error,rv_error --eta 0.2 -m 9 --k 2 --starts 2 "
    "--swaps 3 --search thorough --tolerance 0.1 --max-iterations 9 --oracle-starts 3 --oracle-iterations 4 --algorithm lloyd --seeding "
    "plus-plus --threads 1 -o x.csv",
)
_add("stars-settings-4", f"stars {_RADIANS} --method fdbscan --eps 2 --min-points 1 -m 9 -o x.csv")
_add("stars-settings-5", "stars gaia.csv --k auto --k-by bic --noise --background shuffled --fdr 0.2 -m 9 -o x.csv")
_add("stars-settings-6", "stars gaia.csv --method affinity --set-distance s1 --preference 0.3 -m 9 -o x.csv")
_add("stars-settings-7", "stars stars.csv --k 7 --init-labels first.csv --oracle hdbscan --min-cluster-size 2 -m 9 -o x.csv")
_add("stars-auto", "stars stars.csv --k auto --lambda auto -m 11 -o x.csv")

# cluster: methods, oracles and formats
for method in METHODS:
    k = "" if method in FINDS_K else "--k 10"
    _add(f"method-{method}", f"cluster c.parquet --method {method} {k} -o l.ecsv")
    _add(f"method-{method}-long", f"{LONG} --method {method} {k and '--k 4'} --lambda 0.1 -o l.csv")
for oracle in ORACLES:
    _add(f"oracle-{oracle}", f"cluster c.parquet --oracle {oracle} --k 10 -o l.csv")
    _add(f"oracle-{oracle}-first", f"cluster p.parquet --oracle {oracle} --oracle-every first --k 5 -o l.csv")
    _add(f"oracle-{oracle}-uk-means", f"cluster c.parquet --method uk-means --oracle {oracle} --k 10 -o l.csv")
for ending in ("parquet", "csv", "ecsv", "fits", "vot", "csv.gz"):
    _add(f"cluster-{ending}", f"cluster c.{ending} --k 12 -o l.{ending}")
_add("cluster-mock", "cluster mock.parquet --k 12 --preset authors -o l.csv --json")
_add("cluster-field", "cluster field.vot --k 9 -o l.csv")
_add("cluster-gaia", "cluster g.ecsv --k 3 -o l.csv")
_add("cluster-stdout", f"{LONG} --k 4")
_add("cluster-features-found", "cluster long.csv --object star --k 4 -o l.csv")

# cluster: settings
_SETTINGS = {
    "preset-authors": "--preset authors",
    "preset-paper-constant": "--preset paper --k-rule constant",
    "distance-squared": "--distance squared",
    "distance-euclidean": "--distance euclidean",
    "distance-euclidean-f32": "--distance euclidean-f32",
    "k-rule-occupied": "--k-rule occupied",
    "k-rule-plural": "--k-rule plural",
    "oracle-every-always": "--preset authors --oracle-every always",
    "oracle-every-first": "--oracle-every first",
    "begin-mean": "--preset authors --begin mean",
    "begin-nearest-to-mean": "--begin nearest-to-mean",
    "scale-robust": "--scale robust",
    "scale-none": "--scale none",
    "feature-map-actions": "--feature-map actions",
    "feature-map-auto": "--feature-map auto",
    "feature-map-none": "--feature-map none",
    "features-roots": "--features sqrt(Jr),sqrt(Jz),Jphi",
    "features-some": "--features Jphi,energy",
    "lambda-0": "--lambda 0",
    "lambda-auto": "--lambda auto",
    "penalty-scale-none": "--penalty-scale none --lambda 0.002",
    "penalty-none": "--penalty none",
    "truth-none": "--truth none",
    "init-labels": "--init-labels first.csv",
    "starts": "--starts 4 --k-rule constant",
    "swaps": "--swaps 20 --k-rule constant",
    "search-thorough": "--search thorough --k-rule constant",
    "search-plain": "--search plain",
    "tolerance": "--tolerance 0.1",
    "max-iterations": "--max-iterations 2",
    "oracle-starts": "--oracle-starts 3",
    "oracle-iterations": "--oracle-iterations 1",
    "lloyd": "--algorithm lloyd",
    "plus-plus": "--seeding plus-plus --oracle-starts 2",
    "seed": "--seed 17",
    "threads": "--threads 1",
    "missing-none": "--missing none",
    "defaults": "--penalty-scale max --algorithm hartigan-wong --seeding random --search plain --lambda 0.01 --scale standard --seed 1",
}
for name, flags in _SETTINGS.items():
    _add(f"cluster-{name}", f"cluster c.parquet --k 12 {flags} -o l.csv")
# What the metadata tell of the settings.
_TOLD = {
    "1": "--preset authors --distance euclidean --k-rule constant --oracle-every always --begin mean --starts 2 --swaps 5 --scale robust",
    "2": "--feature-map actions --penalty-scale none --lambda 0.003 --tolerance 0.02 --max-iterations 50 --search thorough --k-rule constant",
    "3": "--oracle-starts 5 --oracle-iterations 3 --algorithm lloyd --seeding plus-plus --seed 3 --penalty none --truth none",
    "4": "--oracle linkage --linkage ward --k-rule plural --distance squared --begin nearest-to-mean --oracle-every first",
}
for name, flags in _TOLD.items():
    _add(f"cluster-told-{name}", f"cluster c.parquet --k 12 {flags} -o l.ecsv")
for linkage in ("single", "complete", "average", "weighted", "ward", "centroid", "median"):
    _add(f"cluster-linkage-{linkage}", f"cluster c.parquet --k 8 --oracle linkage --linkage {linkage} -o l.csv")
_METHOD_SETTINGS = {
    "gpc-max-max": "--method gpc --reading max-max --k 8",
    "gpc-k-rule": "--method gpc --k 8 --k-rule constant --distance euclidean --max-iterations 5",
    "boxes-max": "--method boxes --box max --k 8",
    "worlds-few": "--method worlds --worlds 7 --oracle k-medoids --k 8",
    "representative-worlds-few": "--method representative-worlds --worlds 12 --k 8",
    "fdbscan-eps": "--method fdbscan --eps 0.4 --min-points 2",
    "affinity-preference": "--method affinity --preference 0.2",
    "oracle-affinity-preference": "--oracle affinity --preference 0.1 --k 8",
    "mean-shift-bandwidth": "--oracle mean-shift --bandwidth 0.6 --k 8",
    "hdbscan-min-cluster-size": "--oracle hdbscan --min-cluster-size 3 --k 8",
    "uk-medians-starts": "--method uk-medians --k 8 --oracle-starts 2 --max-iterations 3",
    "hull-settings": "--method goc-hull --k 8 --preset authors --max-iterations 6",
    "box-settings": "--method goc-box --k 8 --k-rule constant --starts 2",
    "set-linkage-ward": "--method linkage --linkage ward --k 8",
    "set-linkage-single": "--method linkage --linkage single --k 8",
    "tree-settings": "--method goc-tree --k 6 --preset authors",
}
for name, flags in _METHOD_SETTINGS.items():
    _add(f"cluster-{name}", f"cluster c.parquet {flags} -o l.csv")
for distance in ("s1", "s2", "s3", "hausdorff", "kl", "kl-kernel"):
    _add(f"set-distance-{distance}-medoids", f"cluster c.parquet --method medoids --set-distance {distance} --k 8 -o l.csv")
    _add(f"set-distance-{distance}-affinity", f"cluster c.parquet --method affinity --set-distance {distance} -o l.csv")
    _add(f"set-distance-{distance}-linkage", f"cluster p.parquet --method linkage --set-distance {distance} --k 4 -o l.csv")

# cluster: K
for by in ("marginal", "silhouette", "bic", "icl", "stability"):
    _add(f"k-auto-{by}", f"cluster c.parquet --k auto --k-by {by} --k-curve curve.csv --json -o l.csv")
    _add(f"k-auto-{by}-plain", f"cluster p.parquet --k auto --k-by {by} -o l.csv")
_add("k-auto-uk-means", "cluster c.parquet --k auto --method uk-means --k-by silhouette -o l.csv")
_add("k-auto-linkage", "cluster p.parquet --k auto --method linkage --k-by silhouette -o l.csv")
_add("k-auto-tree", "cluster c.parquet --k auto --method goc-tree -o l.csv --tree tree.csv")
_add("k-auto-gpc", f"{LONG} --k auto --k-by bic --method gpc -o l.csv")
_add("k-auto-lambda-auto", "cluster c.parquet --k auto --lambda auto --search plain -o l.csv --k-curve curve.ecsv")

# cluster: beside the labels
_add("cluster-tree-nwk", "cluster c.parquet --k 10 --tree tree.nwk -o l.csv")
_add("cluster-tree-csv", "cluster c.parquet --k 10 --tree tree.csv -o l.csv")
_add("cluster-tree-gpc", "cluster c.parquet --k 6 --method gpc --tree tree.fits -o l.csv")
_add("cluster-tree-tree", "cluster c.parquet --k 6 --method goc-tree --tree tree.nwk --history history.csv -o l.csv")
_add("cluster-beside", "cluster c.parquet --k 10 --history h.parquet --trace t.fits --clusters g.vot --tree tree.ecsv -o l.fits")

# cluster: how sure
_add("stability", "cluster c.parquet --k 8 --stability 3 --clusters groups.csv -o l.ecsv")
_add("stability-uk-means", "cluster c.parquet --k 8 --method uk-means --stability 3 -o l.csv")
_add("stability-marginal", f"cluster p.parquet {SHORT} --stability 2 --clusters groups.csv -o l.csv")
_add("significance", "cluster c.parquet --k 8 --significance 6 --clusters groups.csv -o l.ecsv")
_add("significance-shuffled", "cluster c.parquet --k 8 --significance 6 --background shuffled --clusters groups.csv -o l.csv")
_add("significance-linkage", "cluster c.parquet --k 8 --method linkage --significance 5 --clusters groups.csv -o l.csv")
_add("noise-goc", "cluster field.vot --k 9 --preset authors --noise --clusters groups.csv -o l.csv --json")
_add("noise-fdr", "cluster field.vot --k 9 --preset authors --noise --significance 8 --fdr 0.3 -o l.csv")
_add("noise-uk-means", "cluster field.vot --k 9 --method uk-means --noise --background shuffled -o l.csv")
_add("noise-marginal", "cluster field.vot --method marginal --noise --clusters groups.csv --together pairs.csv -o l.ecsv")
_add("noise-marginal-significance", f"cluster field.vot {SHORT} --noise --significance 4 -o l.csv")
_add("noise-fdbscan", "cluster field.vot --method fdbscan --noise -o l.csv")
_add("sure-all", "cluster c.parquet --k auto --stability 2 --significance 4 --noise --clusters groups.ecsv -o l.parquet")
_add("sure-weight", f"{LONG} --weight like --k 4 --stability 2 --significance 3 -o l.csv")

# cluster: the marginal mixture
_add("marginal-json", f"cluster c.parquet {SHORT} --json -o l.csv")
_add("marginal-strength", f"cluster c.parquet {SHORT} --strength 1 --candidate-weights w.csv -o l.csv")
_add("marginal-mock", f"cluster mock.parquet {SHORT} --candidate-weights w.csv -o l.csv")
_add("marginal-weight", f"{LONG} --weight like {SHORT} --candidate-weights w.csv -o l.csv")
_add("marginal-scale", f"cluster c.parquet {SHORT} --scale standard --feature-map none -o l.csv")
_add("marginal-penalty-scale", f"cluster mock.parquet {SHORT} --penalty-scale none -o l.csv")
_add("marginal-penalty-none", f"cluster c.parquet {SHORT} --penalty none -o l.csv")
_add("marginal-together-all", f"cluster p.parquet {SHORT} --together all.parquet --together-above 0 --k-posterior k.fits -o l.fits")
_add("marginal-model", f"cluster p.parquet {SHORT} --seed 6 --save-model m.json -o l.csv")
_add("marginal-csv", f"cluster c.csv {SHORT} -o l.csv")
_add("weight-goc", f"{LONG} --weight like --k 4 -o l.csv")
_add("weight-strength", f"{LONG} --weight like --strength 1 --k 4 --lambda 0.5 -o l.csv")

# predict
_add("predict", "predict model.json c.parquet -o new.csv")
for ending in ("ecsv", "fits", "vot"):
    _add(f"predict-{ending}", f"predict model.json c.{ending} -o new.{ending}")
_add("predict-mock", "predict model.json mock.parquet --json -o new.csv")
_add("predict-stdout", "predict plain-model.json p.parquet")
_add("predict-columns", "predict plain-model.json p.parquet --features x,y,z --penalty none --truth none -o new.csv")
_add("predict-weight", "predict long-model.json long.csv --object star --weight like --truth group --missing=-9999 --threads 1 -o new.csv")
_add("predict-wrong-features", "predict model.json p.parquet -o new.csv")
_add("predict-no-model", "predict first.csv c.parquet -o new.csv")

# score
_add("score", "score goc.parquet")
_add("score-json", "score marginal.ecsv --json")
_add("score-noise", "score noise-truth.csv")
_add("score-whole", "score whole-truth.csv --json")
_add("score-other-table", "score labels-alone.csv --truth truth-alone.csv --object name --label cluster --json")
_add("score-column", "score plain-labels.csv --truth truth --label label")
_add("score-no-truth", "score labels-alone.csv")

# compare
_add("compare", "compare c.parquet --k 10 -o runs.csv")
_add("compare-csv", "compare c.parquet mock.parquet --k 8 --only goc,uk-means/k-means,affinity --seeds 2 --format csv -o runs.ecsv")
_add("compare-json", "compare p.parquet --k 4 --only goc/k-means,gpc,medoids,marginal,goc-tree --seeds 2 --seed 3 --json")
_add("compare-list", "compare --list")
_add(
    "compare-settings",
    "compare c.parquet --k 8 --lambda 0.1 --scale robust --feature-map actions --penalty-scale none --preset authors --only "
    "goc/k-means,goc/linkage,worlds --format csv -- --worlds 9 --linkage ward",
)
_add("compare-columns", "compare long.csv --object star --features x,y --penalty none --truth group --k 4 --only uk-means,linkage --format csv")

# plot
_add("plot-clusters", "plot clusters uk.csv goc.parquet --candidates c.parquet -o x.svg")
_add("plot-clusters-png", "plot clusters goc.parquet --candidates c.parquet --axes Jphi,Jr --whole --titles GOC --width 500 -o x.png")
_add("plot-truth", "plot truth c.parquet mock.parquet --groups 1,3,5 -o x.svg")
_add("plot-truth-columns", "plot truth long.csv --object star --features x,y --truth group -o x.svg")
_add("plot-convergence", "plot convergence made/convergence.csv --oracle k-medoids -o x.svg")
_add("plot-history", "plot convergence history.csv -o x.svg")
_add("plot-simulation", "plot simulation --seed 2 -o x.svg")
_add("plot-calibration", "plot calibration calibration.csv -o x.svg")
_add("plot-k-posterior", "plot k-posterior posterior.csv -o x.svg")
_add("plot-together", "plot together together.csv --labels marginal.ecsv -o x.svg")
_add("plot-together-png", "plot together together.csv --labels marginal.ecsv --width 400 -o x.png")
_add("plot-bars", "plot bench bars.csv -o x.svg")
_add("plot-lines", "plot bench lines.csv -o x.svg")
_add("plot-another-run", "plot clusters goc.parquet --candidates mock.parquet -o x.svg")
_add("plot-other-candidates", "plot clusters goc.parquet --candidates p.parquet -o x.svg")

# report
_add("report", "report goc.parquet --candidates c.parquet --stars stars.csv --title Stars -o x.html")
_add(
    "report-marginal",
    "report marginal.ecsv --candidates c.parquet --together together.csv --clusters groups.csv --stars stars.csv -o x.html --json",
)
_add("report-csv", "report uk.csv --history history.csv --truth none --features Jr,Jphi")
_add("report-plain", "report plain-labels.csv --candidates p.parquet -o x.html")
_add("report-columns", "report labels-alone.csv --label cluster --object name --features value -o x.html")
_add("report-angles", "report plain-labels.csv --candidates p.parquet --stars positions.csv --angles radians --missing=-9999 -o x.html")
_add("report-another-run", "report goc.parquet --candidates mock.parquet -o x.html")
_add("report-other-candidates", "report goc.parquet --candidates p.parquet -o x.html")

# Refused, with a code and a message ---------------------------------------------------------------

_REFUSED = {
    "no-command": "",
    "no-such-command": "clusters c.parquet",
    "no-k": "cluster c.parquet -o x.csv",
    "k-above-n": "cluster c.parquet --k 43 -o x.csv",
    "k-zero": "cluster c.parquet --k 0 -o x.csv",
    "k-two": "cluster c.parquet --k two -o x.csv",
    "k-above-n-uk-means": "cluster c.parquet --k 43 --method uk-means -o x.csv",
    "k-above-n-linkage": "cluster c.parquet --k 43 --method linkage -o x.csv",
    "no-column": "cluster c.parquet --k 3 --features Jx -o x.csv",
    "no-object": "cluster c.parquet --k 3 --object star -o x.csv",
    "nan": "cluster long-nan.csv --object star --features x,y --k 3 -o x.csv",
    "all-missing": "cluster long.csv --object star --missing=-9999,0.000 --features penalty --penalty none --k 3 -o x.csv",
    "error-bars": "cluster plain.csv --k 3 -o x.csv",
    "lambda-below-0": "cluster c.parquet --k 3 --lambda -0.5 -o x.csv",
    "lambda-auto-euclidean": "cluster c.parquet --k 3 --lambda auto --distance euclidean -o x.csv",
    "tolerance": "cluster c.parquet --k 3 --tolerance 1.5 -o x.csv",
    "trace-uk-means": "cluster c.parquet --k 3 --method uk-means --trace t.csv -o x.csv",
    "history-linkage": "cluster c.parquet --k 3 --method linkage --history t.csv -o x.csv",
    "together-goc": "cluster c.parquet --k 3 --together t.csv -o x.csv",
    "save-model-goc": "cluster c.parquet --k 3 --save-model m.json -o x.csv",
    "save-model-noise": f"cluster c.parquet {SHORT} --noise --save-model m.json -o x.csv",
    "k-curve-without-auto": "cluster c.parquet --k 3 --k-curve t.csv -o x.csv",
    "tree-uk-means": "cluster c.parquet --k 3 --method uk-means --tree t.nwk -o x.csv",
    "init-labels-starts": "cluster c.parquet --k 7 --init-labels first.csv --starts 3 -o x.csv",
    "init-labels-auto": "cluster c.parquet --k auto --init-labels first.csv -o x.csv",
    "init-labels-others": "cluster p.parquet --k 3 --init-labels first.csv -o x.csv",
    "stability-init-labels": "cluster c.parquet --k 7 --init-labels first.csv --stability 2 -o x.csv",
    "fdr": "cluster c.parquet --k 3 --noise --fdr 0 -o x.csv",
    "weight-and-penalty": "cluster long.csv --object star --weight like --penalty penalty --k 3 -o x.csv",
    "feature-map-plain": "cluster long.csv --object star --feature-map actions --k 3 -o x.csv",
    "one-object": "cluster one.csv --k 2 -o x.csv",
    "empty": "cluster empty.csv --k 2 -o x.csv",
    "no-file": "cluster nothing.csv --k 2 -o x.csv",
    "cut-off": "cluster cut.fits --k 2 -o x.csv",
    "unknown-kind": "cluster table.hdf5 --k 2 -o x.csv",
    "unknown-output": "cluster c.parquet --k 2 -o x.hdf5",
    "over-the-input": "cluster c.parquet --k 2 -o c.parquet",
    "same-output-twice": "cluster c.parquet --k 2 --clusters x.csv -o x.csv",
    "threads": "cluster c.parquet --k 2 --threads 0 -o x.csv",
    "unknown-method": "cluster c.parquet --k 2 --method kmeans -o x.csv",
    "unknown-flag": "cluster c.parquet --k 2 --colour red -o x.csv",
    "missing-space": "cluster c.parquet --k 2 --missing -9999 -o x.csv",
    "candidates-nan": "candidates nan.csv -o x.csv",
    "candidates-bad": "candidates bad.csv -o x.csv",
    "candidates-words": "candidates words.csv --values x,y -o x.csv",
    "candidates-twice": "candidates twice.csv -o x.csv",
    "candidates-values": "candidates plain.csv --values x,q -o x.csv",
    "candidates-sizes": "candidates plain.csv --sigmas 2 --eta 0.1 -o x.csv",
    "candidates-eta": "candidates plain.csv --eta 1.5 -o x.csv",
    "candidates-grid": "candidates plain.csv --sampler grid:q -o x.csv",
    "candidates-sampler": "candidates plain.csv --sampler random -o x.csv",
    "candidates-prior": "candidates plain.csv --distance-prior volume:5 -o x.csv",
    "candidates-prior-word": "candidates gaia.csv --distance-prior box:5 -o x.csv",
    "candidates-actions": "candidates plain.csv --transform actions -o x.csv",
    "candidates-pca": "candidates plain.csv --transform pca:9 -o x.csv",
    "candidates-coasting": "candidates plain.csv --transform coasting -o x.csv",
    "candidates-ball": "candidates plain.csv --shape ball -o x.csv",
    "candidates-places": "candidates places.csv -o x.csv",
    "candidates-zero-point": "candidates distances.csv --zero-point 0.017 -o x.csv",
    "candidates-null": "candidates gaps.csv -o x.csv",
    "stars-plain": "stars plain.csv --k 3 -o x.csv",
    "stars-transform": "stars gaia.csv --transform none --k 3 -o x.csv",
    "actions-units": "actions uas.ecsv -o x.csv",
    "actions-radians": "actions mas.ecsv --angles radians -o x.csv",
    "actions-columns": "actions plain.csv -o x.csv",
    "actions-prefix": "actions a.csv -o x.csv",
    "actions-potential": "actions gaia.csv --potential ring -o x.csv",
    "actions-sun": "actions gaia.csv --sun mars -o x.csv",
    "simulate-stars": "simulate --dwarfs 3 --stars 1,2 -o x.csv",
    "compare-unknown": "compare c.parquet --k 3 --only nothing",
    "compare-no-k": "compare c.parquet",
    "reproduce-data": "reproduce --data nowhere",
    "plot-kind": "plot pie c.parquet -o x.svg",
    "plot-output": "plot clusters goc.parquet -o x.gif",
    "report-output": "report goc.parquet -o x.pdf",
    "predict-columns": "predict model.json long.csv --object star -o x.csv",
}
for name, words in _REFUSED.items():
    _add(f"refused-{name}", words)
