"""The other direction of make.py: goc writes, astropy, pyarrow and pandas read.

Build the example first, then: python check.py PATH/TO/convert
Every table is read from golden/, written by goc in each format, and compared.
"""

import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import pandas
import pyarrow.parquet as pq
from astropy.io import fits
from astropy.table import Table

warnings.simplefilter("error")  # a complaint about our file is a failure
warnings.filterwarnings("ignore", "(?s).*contains NULL .undefined. values")  # null logicals: so says the standard
here = os.path.dirname(os.path.abspath(__file__))
convert = os.path.abspath(sys.argv[1])


def same(found, expected):
    assert found.colnames == expected.colnames, found.colnames
    for name in expected.colnames:
        a, b = found[name], expected[name]
        if a.dtype.kind == "S":
            a = a.astype(str)
        kind = b.dtype.kind
        mask_a = np.zeros(len(a), bool) | np.ma.getmaskarray(a)
        mask_b = np.zeros(len(b), bool) | np.ma.getmaskarray(b)
        if kind == "f":
            # NaN and null meet in FITS, and astropy masks NaN on its own.
            mask_a |= np.isnan(np.ma.filled(np.ma.asarray(a), np.nan))
            mask_b |= np.isnan(np.ma.filled(np.ma.asarray(b), np.nan))
        if kind in "US":
            mask_a = mask_a | (np.ma.filled(np.ma.asarray(a), "") == "")
            mask_b = mask_b | (np.ma.filled(np.ma.asarray(b), "") == "")
        else:
            assert a.dtype.newbyteorder("=") == b.dtype.newbyteorder("="), (name, a.dtype, b.dtype)
        assert (mask_a == mask_b).all(), (name, mask_a, mask_b)
        keep = ~mask_b
        assert (np.asarray(a)[keep] == np.asarray(b)[keep]).all(), (name, a, b)
        assert str(a.unit) == str(b.unit), (name, a.unit, b.unit)
        if b.description is not None:
            assert (a.description or "").split() == b.description.split(), (name, a.description)


with tempfile.TemporaryDirectory() as folder:
    source = os.path.join(here, "space.ecsv")
    expected = Table.read(source, format="ascii.ecsv")

    def written(ending):
        to = os.path.join(folder, "t." + ending)
        subprocess.run([convert, source, to], check=True, stderr=subprocess.DEVNULL)
        return to

    table = Table.read(written("ecsv"), format="ascii.ecsv")
    same(table, expected)
    assert {k: str(v) for k, v in expected.meta.items()} == dict(table.meta), table.meta

    path = written("parquet")
    table = Table.read(path)
    # astropy reads no Parquet nulls, so only the columns without are compared here; pyarrow has them all.
    same(table["n", "f"], expected["n", "f"])
    assert str(table["d"].unit) == "km / s" and table["i"].description == 'an "integer": yes'
    assert table.meta["SEED"] == "42" and table.meta["WHO"] == "it's: me"
    arrow = pq.read_table(path)
    assert arrow.schema.field("i").metadata == {b"unit": b"mag", b"description": b'an "integer": yes'}
    assert arrow.schema.metadata[b"SEED"] == b"42"
    assert arrow["i"].to_pylist() == [1, None, 3] and arrow["s"].to_pylist() == ["a b", "c", None]
    assert arrow["n"].to_pylist() == [2**53 + 1, -(2**63), 2**63 - 1]
    frame = pandas.read_parquet(path)
    assert frame["d"][0] == 0.1 and frame.shape == (3, 6)

    path = written("fits")
    with fits.open(path, checksum=True) as units:
        units.verify("exception")
    table = Table.read(path)
    # astropy reads a null logical as false.
    assert table["b"].tolist() == [True, False, False]
    names = ["i", "n", "f", "d", "s"]
    same(table[names], expected[names])
    assert table.meta["WHO"] == "it's: me" and table.meta["LONG"] == "x" * 100

    same(Table.read(written("vot"), format="votable"), expected)
    same(Table.read(written("vot.gz"), format="votable"), expected)

    for ending in ("csv", "csv.gz"):
        frame = pandas.read_csv(written(ending))
        assert frame["n"].tolist() == [2**53 + 1, -(2**63), 2**63 - 1]
        assert frame["i"].isna().tolist() == [False, True, False] and frame["d"][0] == 0.1
print("astropy, pyarrow and pandas read every file as it was")
