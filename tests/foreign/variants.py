"""Tables in all the odd forms that astropy and pyarrow can write: `variants.write(folder)`.

Types, nulls, encodings, compressions, scalings, HDUs, serialisations. `foreign.py` reads them again.
"""

import itertools
import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from astropy.io import fits
from astropy.table import MaskedColumn, Table


def columns():
    """A column of every type, with nulls in every second one."""
    rng = np.random.default_rng(1)
    n = 37
    wide = {np.dtype(kind): np.iinfo(kind) for kind in "u1 i1 i2 u2 i4 u4 i8 u8".split()}
    made = {kind.name: rng.integers(info.min, info.max, n, kind, endpoint=True) for kind, info in wide.items()}
    made["float32"] = rng.normal(size=n).astype("f4")
    made["float64"] = rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n)
    made["bool"] = rng.random(n) < 0.5
    made["text"] = np.array([["", "a", "b, c", 'say "so"', "line"][i % 5] + "x" * (i % 3) for i in range(n)])
    return made


def parquet(folder):
    made = columns()
    nulls = [i % 4 == 1 for i in range(37)]
    arrays = {name: pa.array(values) for name, values in made.items()}
    arrays |= {f"{name}_null": pa.array(values, mask=np.array(nulls)) for name, values in made.items()}
    arrays["none"] = pa.nulls(37)
    arrays["large"] = pa.array(list(made["text"]), pa.large_string())
    arrays["dictionary"] = pa.array(list(made["text"])).dictionary_encode()
    arrays["half"] = pa.array(made["float32"].astype("f2"))
    arrays["date"] = pa.array(range(37), pa.date32())
    arrays["decimal"] = pa.array(range(37)).cast(pa.decimal128(21, 2))
    arrays["list"] = pa.array([[1.0, 2.0]] * 37)
    arrays["fixed"] = pa.array([[k, k + 1] for k in range(37)], pa.list_(pa.int32(), 2))
    arrays["record"] = pa.array([{"a": k, "b": None if k % 3 else f"{k}"} for k in range(37)])
    arrays["raw"] = pa.array([bytes([k, 255]) for k in range(37)])
    arrays["time"] = pa.array(range(37), pa.timestamp("us", "Europe/Madrid"))
    table = pa.table(arrays)
    for compression, version, page in itertools.product(
        ["none", "snappy", "gzip", "zstd", "lz4", "brotli"], ["1.0", "2.4", "2.6"], ["1.0", "2.0"]
    ):
        path = folder / f"{compression}-{version}-pages-{page}.parquet"
        pq.write_table(table, path, compression=compression, version=version, data_page_version=page)
    pq.write_table(table, folder / "groups.parquet", row_group_size=5, use_dictionary=False, data_page_size=64)
    pq.write_table(table, folder / "checked.parquet", write_page_checksum=True)
    pq.write_table(table.slice(0, 0), folder / "no-rows.parquet")
    floats = pa.table({"x": made["float64"], "y": made["float32"]})
    pq.write_table(floats, folder / "split.parquet", use_dictionary=False, column_encoding="BYTE_STREAM_SPLIT")
    ints = pa.table({"i": made["int64"], "j": made["int32"]})
    pq.write_table(ints, folder / "delta.parquet", use_dictionary=False, column_encoding="DELTA_BINARY_PACKED")
    texts = pa.table({"t": list(made["text"])})
    for encoding in ["DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]:
        pq.write_table(texts, folder / f"{encoding.lower()}.parquet", use_dictionary=False, column_encoding=encoding)


def masked():
    table = Table(columns())
    for name in list(table.colnames):
        if table[name].dtype.kind in "iuU":
            table[f"{name}_null"] = MaskedColumn(table[name], mask=[i % 4 == 1 for i in range(37)])
    table["array"] = np.arange(74.0).reshape(37, 2)
    table["complex"] = np.arange(37) * (1 + 2j)
    return table


def fits_files(folder):
    table = masked()
    # Of unsigned numbers astropy writes TNULL as if TZERO were added already, which the standard
    # does not say.
    unsigned = ("uint16_null", "uint32_null", "uint64_null")
    plain = Table({name: table[name] for name in table.colnames if name not in unsigned})
    plain.write(folder / "astropy.fits")
    plain.write(folder / "astropy.fits.gz")
    x, i = np.arange(10.0), np.arange(10, dtype="i2")
    scaled = fits.BinTableHDU.from_columns([
        fits.Column("scaled", "I", array=i), fits.Column("nulls", "J", null=3, array=i.astype("i4")),
        fits.Column("bits", "11X", array=np.ones((10, 11), bool)), fits.Column("varying", "PD()", array=np.array([x[:k] for k in range(10)], object)),
        fits.Column("flag", "L", array=i % 2 == 0), fits.Column("name", "5A", array=np.array([f"n{k}" for k in i])),
    ])
    scaled.writeto(folder / "scaled.fits")
    # In the file, since astropy cannot divide the integers by it in memory.
    fits.setval(folder / "scaled.fits", "TSCAL1", value=0.1, ext=1)
    fits.setval(folder / "scaled.fits", "TZERO1", value=5.0, ext=1)
    image = fits.ImageHDU(np.zeros((4, 4)), name="IMAGE")
    fits.HDUList([fits.PrimaryHDU(np.zeros(3000)), image, scaled]).writeto(folder / "after-images.fits")
    other = fits.BinTableHDU.from_columns([fits.Column("other", "D", array=x)], name="OTHER")
    fits.HDUList([fits.PrimaryHDU(), scaled, other]).writeto(folder / "two-tables.fits")
    packed = fits.CompImageHDU(np.arange(64.0).reshape(8, 8), compression_type="RICE_1")
    fits.HDUList([fits.PrimaryHDU(), packed, scaled]).writeto(folder / "after-packed-image.fits")
    text = fits.TableHDU.from_columns([fits.Column("a", "F10.3", array=x), fits.Column("b", "I6", array=i)])
    fits.HDUList([fits.PrimaryHDU(), text]).writeto(folder / "ascii.fits")
    fits.BinTableHDU.from_columns([fits.Column("x", "D", array=x[:0])]).writeto(folder / "no-rows.fits")


def text_files(folder):
    table = masked()
    for delimiter, word in [(",", "comma"), (" ", "space")]:
        table.write(folder / f"{word}.ecsv", delimiter=delimiter)
        table.write(folder / f"{word}-mask.ecsv", delimiter=delimiter, serialize_method="data_mask")
    flat = Table({name: column for name, column in table.columns.items() if name not in ("array", "complex")})
    flat.write(folder / "plain.csv")
    flat.write(folder / "tabs.tsv", format="ascii.tab")
    texts = (folder / "plain.csv").read_text()
    (folder / "crlf.csv").write_bytes(texts.replace("\n", "\r\n").encode())
    (folder / "mark.csv").write_bytes(b"\xef\xbb\xbf" + texts.encode())
    # VOTable has one unsigned type, the byte.
    known = Table({name: flat[name] for name in flat.colnames if flat[name].dtype.kind != "u" or flat[name].dtype.itemsize == 1})
    known.remove_columns([name for name in known.colnames if name.startswith("int8")])
    known.remove_column("text_null")  # astropy does not read its own mark of a missing text
    for serialisation in ["tabledata", "binary2", "binary"]:
        if serialisation == "binary":  # where a missing integer needs a mark, which astropy does not choose
            known = known[[name for name in known.colnames if not name.endswith("_null")]]
        known.write(folder / f"{serialisation}.vot", format="votable", tabledata_format=serialisation)


def write(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    parquet(folder)
    fits_files(folder)
    text_files(folder)
