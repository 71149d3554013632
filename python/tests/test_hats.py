"""HATS catalogues as lsdb writes them, in and out: the same labels however the catalogue is given, and joined by source_id."""

import functools
import shutil

import numpy as np
import pytest

import goc

distributed = pytest.importorskip("distributed")
lsdb = pytest.importorskip("lsdb")
pd = pytest.importorskip("pandas")
pq = pytest.importorskip("pyarrow.parquet")

import goc.dask  # noqa: E402
from goc import _hats  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword"),  # of lsdb and nested-pandas
]

K, M = 4, 7
LABELS = ["label", "candidate", "distance", "penalty", "Jr", "Jz", "Jphi"]


def stars(n=400):
    rng = np.random.default_rng(7)
    table = {"source_id": rng.permutation(n) * 1000 + 4_000_000_000_000, "ra": rng.uniform(0, 360, n), "dec": np.degrees(np.arcsin(rng.uniform(-1, 1, n)))}
    for name, value, error in [("parallax", 0.5, 0.02), ("pmra", 3, 0.02), ("pmdec", -4, 0.02), ("radial_velocity", 20, 1.0)]:
        table |= {name: value + rng.normal(0, 0.1, n), f"{name}_error": np.full(n, error)}
    table["radial_velocity"][5] = np.nan  # no candidates, so no label
    return pd.DataFrame(table)


make = functools.partial(goc.from_gaia, m=M, on_nan="drop")


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """A collection of a catalogue and its margin; its partitions are of two orders."""
    folder = tmp_path_factory.mktemp("hats") / "survey"
    table = stars()
    dense = table["ra"] < 90
    table = pd.concat([table, table[dense].assign(source_id=table["source_id"][dense] + 1, ra=table["ra"][dense] * 0.99)], ignore_index=True)
    catalog = lsdb.from_dataframe(table, catalog_name="halo", lowest_order=0, highest_order=2, partition_rows=60, margin_threshold=20_000)
    catalog.write_catalog(folder, create_thumbnail=True, progress_bar=False)
    return folder


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        with distributed.Client(cluster) as client:
            yield client


@pytest.fixture(scope="module")
def fit(client):
    return functools.partial(goc.dask.fit, n_clusters=K, candidates=make, scale="standard", k_rule="constant", client=client)


@pytest.fixture(scope="module")
def found(collection, fit):
    return fit(collection)


@pytest.fixture(scope="module")
def rows(found):
    return found.compute()


def test_the_collection_has_all_that_was_taken_for_partitions(collection):
    """What the other tests are about: a margin, statistics and a preview, and pixels of two orders."""
    main = collection / "halo"
    assert (main / "per_partition_statistics.parquet").exists() and (main / "data_thumbnail.parquet").exists()
    margins = [p for p in collection.iterdir() if p.is_dir() and p != main]
    assert len(margins) == 1 and list(margins[0].rglob("Npix=*.parquet"))
    assert len(set(pd.read_csv(main / "partition_info.csv")["Norder"])) == 2


def test_partitions_are_those_of_the_list_in_the_order_of_the_sky(collection):
    main = collection / "halo"
    found = goc.dask.partitions(collection)
    for same in (main, main / "dataset", str(main)):
        assert goc.dask.partitions(same) == found
    catalog = lsdb.open_catalog(collection)
    pixels = [f"Norder={p.order}/Dir={p.dir}/Npix={p.pixel}.parquet" for p in catalog.get_ordered_healpix_pixels()]
    assert found == [str(main / "dataset" / pixel) for pixel in pixels]
    assert sum(len(pq.read_table(p, partitioning=None)) for p in found) == catalog.hc_structure.catalog_info.total_rows


def test_without_its_csv_the_list_is_that_of_the_metadata(collection, tmp_path):
    shutil.copytree(collection / "halo", tmp_path / "halo")
    listed = goc.dask.partitions(tmp_path / "halo")
    (tmp_path / "halo" / "partition_info.csv").unlink()
    assert goc.dask.partitions(tmp_path / "halo") == listed
    (tmp_path / "halo" / "dataset" / "_metadata").unlink()
    with pytest.raises(ValueError, match="has neither partition_info.csv nor dataset/_metadata"):
        goc.dask.partitions(tmp_path / "halo")


def test_labels_are_the_same_however_the_catalogue_is_given(collection, found, rows, fit):
    main = collection / "halo"
    assert len(rows) == rows["object"].nunique()
    for given in (main, main / "dataset", lsdb.open_catalog(collection), lsdb.open_catalog(main)):
        again = fit(given)
        assert again.cluster_centers_.tobytes() == found.cluster_centers_.tobytes()
        assert again.compute().equals(rows)
        again.close()


def test_a_selection_of_lsdb_is_what_is_clustered(collection, fit):
    catalog = lsdb.open_catalog(collection).query("dec > 0")
    found = fit(catalog)
    whole = catalog.compute(progress_bar=False)
    named = whole["source_id"][whole["radial_velocity"].notna()]
    assert found.compute()["object"].tolist() == named.astype("int64").tolist()
    found.close()


def test_labels_come_back_as_a_catalogue_that_lsdb_opens_and_joins(collection, found, rows, tmp_path):
    written = found.to_hats(tmp_path / "labels")
    opened = lsdb.open_catalog(written)
    assert opened.name == "halo_labels" and opened.get_healpix_pixels() == lsdb.open_catalog(collection).get_healpix_pixels()
    table = opened.compute(progress_bar=False)
    assert table.index.name == "_healpix_29" and [*table.columns] == ["source_id", "ra", "dec", *LABELS]
    joined = lsdb.open_catalog(collection).join(opened, left_on="source_id", right_on="source_id", suffixes=("", "_found"), suffix_method="overlapping_columns")
    joined = joined.compute(progress_bar=False).set_index("source_id")
    assert len(joined) == len(rows)
    own = joined.loc[rows["object"]]
    for name in LABELS:
        assert own[name].to_numpy(rows[name].dtype).tobytes() == rows[name].to_numpy().tobytes(), name
    assert (own["ra"] == own["ra_found"]).all() and (own["dec"] == own["dec_found"]).all()


def test_the_catalogue_of_labels_is_valid_and_the_same_bytes_again(found, tmp_path):
    from hats.io.validation import is_valid_catalog

    first, second = found.to_hats(tmp_path / "first", "mine"), found.to_hats(tmp_path / "second", "mine")
    assert is_valid_catalog(first, strict=True)
    files = sorted(p.relative_to(first) for p in first.rglob("*") if p.is_file())
    assert files == sorted(p.relative_to(second) for p in second.rglob("*") if p.is_file())
    for path in files:
        assert (first / path).read_bytes() == (second / path).read_bytes(), path
    with pytest.raises(ValueError, match="first is a catalogue already; remove it, or give another folder"):
        found.to_hats(first)


def test_the_catalogue_of_labels_can_itself_be_read(found, rows, fit, tmp_path):
    written = found.to_hats(tmp_path / "labels")
    points = fit(written, candidates=None, features=["Jr", "Jz", "Jphi"], scale="none")
    assert points.compute()["object"].tolist() == rows["object"].tolist()
    points.close()


def test_a_column_function_labels_the_catalogue_and_its_margin(collection, found, rows):
    catalog = lsdb.open_catalog(collection)
    labelled = catalog.map_partitions(found.columns)
    assert labelled.margin is not None
    label = dict(zip(rows["object"], rows["label"]))
    distance = dict(zip(rows["object"], rows["distance"]))
    for table in (labelled.compute(progress_bar=False), labelled.margin.compute(progress_bar=False)):
        assert len(table) and {*catalog.columns} < {*table.columns}
        known = table["source_id"].isin([*label])
        assert known.sum() >= len(table) - 2
        assert table["label"][known].tolist() == [label[i] for i in table["source_id"][known]]
        assert table["distance"][known].tolist() == [distance[i] for i in table["source_id"][known]]
        assert table["label"][~known].isna().all()
    assert catalog.map_partitions(found.columns).head(3)["label"].notna().all()


def test_what_is_no_catalogue_of_objects_is_refused_by_name(collection, fit, tmp_path):
    margin = next(p for p in collection.iterdir() if p.is_dir() and p.name != "halo")
    with pytest.raises(ValueError, match="is a HATS margin of halo, not a catalogue of objects; give the catalogue or its collection"):
        goc.dask.partitions(margin)
    broken = tmp_path / "broken"
    shutil.copytree(collection / "halo", broken)
    lost = goc.dask.partitions(broken)[1]
    _hats.Path(lost).unlink()
    with pytest.raises(ValueError, match="the list of partitions has Norder=.*, but there is no .*Npix=.*.parquet"):
        fit(broken)
    (broken / "partition_info.csv").write_text("Norder,Npix\n1,2\n1,two\n")
    with pytest.raises(ValueError, match="partition_info.csv, line 3: Norder and Npix must be whole numbers, not 1, two"):
        fit(broken)
    far = tmp_path / "far"
    far.mkdir()
    (far / "collection.properties").write_text("obs_collection=far\nhats_primary_table_url=https://example.org/far\n")
    with pytest.raises(ValueError, match="open it with lsdb.open_catalog, and give what that returns"):
        fit(far)


def test_labels_of_what_is_no_catalogue_do_not_become_one(fit, tmp_path):
    found = fit([functools.partial(pd.DataFrame, stars())])
    with pytest.raises(ValueError, match="the data are no HATS catalogue, .* to_parquet writes them partition by partition"):
        found.to_hats(tmp_path / "labels")
    found.close()


def test_partitions_that_are_folders_are_read_whole(collection, fit, rows, tmp_path):
    catalog = lsdb.open_catalog(collection)
    catalog.write_catalog(tmp_path / "folders", as_collection=False, npix_suffix="/", progress_bar=False)
    found = fit(tmp_path / "folders")
    assert found.compute().equals(rows)
    opened = lsdb.open_catalog(found.to_hats(tmp_path / "labels"))
    assert len(opened.compute(progress_bar=False)) == len(rows)
    found.close()


def test_probabilities_of_the_mixture_come_back_as_a_catalogue_too(collection, client, tmp_path):
    options = {"candidates": make, "sample": 150, "sweeps": 1, "chains": 2, "burn": 20, "keep": 20, "client": client}
    found, again = goc.dask.fit_mixture(collection, **options), goc.dask.fit_mixture(lsdb.open_catalog(collection), **options)
    rows = found.compute()
    assert again.compute().equals(rows)
    table = lsdb.open_catalog(found.to_hats(tmp_path / "groups")).compute(progress_bar=False).set_index("source_id").loc[rows["object"]]
    for name in ("label", "probability", "runner_up", "alone", "field"):
        assert table[name].to_numpy(rows[name].dtype).tobytes() == rows[name].to_numpy().tobytes(), name
    found.close()
    again.close()
