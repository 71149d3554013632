"""Makes the small files that tests/other_programs.rs reads: astropy and pyarrow write, goc reads.

Run by hand with astropy 8 and pyarrow 22 or later: python make.py
"""

import datetime
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from astropy.io import fits
from astropy.table import Column, MaskedColumn, Table

here = os.path.dirname(os.path.abspath(__file__))


def path(name):
    return os.path.join(here, name)


t = Table()
t["b"] = MaskedColumn([True, False, True], mask=[0, 0, 1])
t["i"] = MaskedColumn(np.array([1, 2, 3], dtype="i2"), mask=[0, 1, 0], unit="mag", description='an "integer": yes')
t["n"] = Column(np.array([2**53 + 1, -(2**63), 2**63 - 1], dtype="i8"))
t["f"] = Column(np.array([0.1, -0.0, 1e-40], dtype="f4"))
t["d"] = MaskedColumn([0.1, np.nan, np.inf], mask=[0, 0, 1], unit="km s-1", description="long " * 30)
t["s"] = MaskedColumn(["a b", "c", 'd,"q"'], mask=[0, 0, 1])
t.meta = {"SEED": 42, "WHO": "it's: me", "LONG": "x" * 100}

t.write(path("space.ecsv"), format="ascii.ecsv", overwrite=True)
t.write(path("comma.ecsv"), format="ascii.ecsv", delimiter=",", overwrite=True)
t.write(path("mask.ecsv"), format="ascii.ecsv", serialize_method="data_mask", overwrite=True)
t.write(path("astropy.parquet"), overwrite=True)
t.write(path("astropy.fits"), overwrite=True)
for form in ("tabledata", "binary2"):
    t.write(path(form + ".vot"), format="votable", tabledata_format=form, overwrite=True)

# BINARY has no flags, and astropy refuses to write a masked integer into it.
whole = t.copy()
whole["i"] = Column(np.array([1, 2, 3], dtype="i2"))
whole["b"] = Column([True, False, True])
whole.write(path("binary.vot"), format="votable", tabledata_format="binary", overwrite=True)

# Unsigned, scaled, array, bit, complex and variable columns, an image before and a second table after.
columns = fits.ColDefs([
    fits.Column("u2", "I", bzero=32768, array=np.array([0, 65535], dtype="u2")),
    fits.Column("u4", "J", bzero=2**31, array=np.array([0, 2**32 - 1], dtype="u4")),
    fits.Column("u8", "K", bzero=2**63, array=np.array([7, 2**63 - 1], dtype="u8")),
    fits.Column("huge", "K", bzero=2**63, array=np.array([7, 2**64 - 1], dtype="u8")),
    fits.Column("i1", "B", bzero=-128, array=np.array([-128, 127], dtype="i1")),
    fits.Column("scaled", "I", array=np.array([2, -1], dtype="i2")),
    fits.Column("null", "J", null=-99, array=np.array([5, -99], dtype="i4"), unit="pc"),
    fits.Column("vector", "3E", array=np.arange(6, dtype="f4").reshape(2, 3)),
    fits.Column("bits", "11X", array=np.zeros((2, 11), dtype=bool)),
    fits.Column("z", "C", array=np.array([1 + 2j, 3j], dtype="c8")),
    fits.Column("ragged", "PJ()", array=np.array([np.array([1]), np.array([1, 2])], dtype=object)),
    fits.Column("name", "8A", array=np.array(["ab", "Messier3"])),
    fits.Column("after", "D", array=np.array([1.5, 2.5])),
])
table = fits.BinTableHDU.from_columns(columns, name="ODD")
table.header["HIERARCH lower key"] = "value"
# astropy 8 cannot write a scaled column made in memory: the keywords get their names afterwards.
table.header["XSCAL6"] = 0.5
table.header["XZERO6"] = 10.0
table.header["HISTORY"] = "first"
table.header["HISTORY"] = "second"
image = fits.ImageHDU(np.zeros((3, 5), dtype="f4"))
second = fits.BinTableHDU.from_columns([fits.Column("x", "D", array=np.array([1.0]))], name="MORE")
fits.HDUList([fits.PrimaryHDU(), image, table, second]).writeto(path("odd.fits"), overwrite=True)
with open(path("odd.fits"), "r+b") as file:
    content = file.read().replace(b"XSCAL6", b"TSCAL6").replace(b"XZERO6", b"TZERO6")
    file.seek(0)
    file.write(content)

# An ASCII table and a binary one, each behind what is stored as a table and is none.
compressed = fits.CompImageHDU(np.arange(100, dtype="f4").reshape(10, 10), name="PICTURE")
ascii_table = fits.TableHDU.from_columns(
    fits.ColDefs(
        [
            fits.Column("name", "A8", array=np.array(["ab", "Messier3", ""]), ascii=True),
            fits.Column("n", "I6", array=np.array([5, -99, 123456]), unit="pc", ascii=True),
            fits.Column("long", "I20", array=np.array([2**53 + 1, -(2**62), 0]), ascii=True),
            fits.Column("f", "F9.3", array=np.array([1.5, -0.25, 1234.125]), ascii=True),
            fits.Column("d", "D25.17", array=np.array([0.1, -1e-300, 1e300]), ascii=True),
        ]
    ),
    name="ASCII",
)
binary_table = fits.BinTableHDU.from_columns([fits.Column("x", "D", array=np.array([1.5, 2.5]))], name="Binary")
units = [fits.PrimaryHDU(), compressed, ascii_table, binary_table]
fits.HDUList(units).writeto(path("units.fits"), overwrite=True)

# Every Arrow type of interest, three row groups, snappy.
fields = {
    "i8": pa.array([-128, None, 127], pa.int8()),
    "u16": pa.array([0, 65535, 1], pa.uint16()),
    "u32": pa.array([0, 2**32 - 1, 1], pa.uint32()),
    "u64": pa.array([0, 2**63 - 1, 1], pa.uint64()),
    "huge": pa.array([0, 2**64 - 1, 1], pa.uint64()),
    "half": pa.array([np.float16(0.5), np.float16(-2), np.float16(1)], pa.float16()),
    "large": pa.array(["é", None, ""], pa.large_string()),
    "dictionary": pa.array(["x", "y", "x"]).dictionary_encode(),
    "view": pa.array(["short", "a text longer than twelve bytes", None], pa.string_view()),
    "nothing": pa.nulls(3),
    "list": pa.array([[1], [2, 3], None]),
    "record": pa.array([{"a": 1}, {"a": 2}, None]),
    "when": pa.array([datetime.datetime(2026, 1, 1)] * 3),
    "last": pa.array([1.5, float("nan"), None]),
}
schema = pa.schema(
    [
        pa.field(name, array.type, metadata={"unit": "km/s", "description": "the last"} if name == "last" else None)
        for name, array in fields.items()
    ],
    metadata={"survey": "Gaia"},
)
for compression in ("snappy", "zstd", "gzip", "lz4"):
    pq.write_table(
        pa.table(list(fields.values()), schema=schema),
        path(compression + ".parquet"),
        compression=compression,
        row_group_size=1,
    )

# Values as they are, so that a changed byte is a changed value that only the checksum tells.
pq.write_table(
    pa.table({"x": pa.array([1.5, 2.5, 3.5])}),
    path("checksums.parquet"),
    compression="none",
    use_dictionary=False,
    write_page_checksum=True,
    store_schema=False,
)
