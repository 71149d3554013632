"""HATS, the layout in which lsdb keeps catalogues of survey size.

A catalogue is a folder: ``hats.properties`` says what it is, ``partition_info.csv`` which HEALPix pixels it has, and the rows of pixel
12 of order 5 are in ``dataset/Norder=5/Dir=0/Npix=12.parquet``. A collection is a folder with a catalogue and what was derived from it,
such as margins: rows close to each partition, which are in others already. ``collection.properties`` says which of them is the catalogue.
A folder also holds Parquet files that are no partitions (statistics, a preview), so the partitions are those of the list, and no file is
searched for.

Only what is needed of the format is here; reading needs no library, writing needs pyarrow.
"""

from __future__ import annotations

import csv
import os
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROPERTIES = ("hats.properties", "properties")
COLLECTION = "collection.properties"
# What a partition may be a part of; the others have rows of the same objects a second time, or no objects.
_KINDS = ("object", "source")
_PLACE = re.compile(r"Norder=(\d+)/(?:Dir=\d+/)?Npix=(\d+)")
# A pixel's number at this order is that of its first pixel there, which puts all pixels into their order on the sky.
_FINEST = 29


@dataclass(frozen=True)
class Pixel:
    """A partition by its HEALPix order and number."""

    order: int
    number: int

    def folder(self) -> str:
        return f"Norder={self.order}/Dir={self.number // 10_000 * 10_000}"

    def path(self, suffix: str) -> str:
        """Within ``dataset/``; with the suffix ``/`` it is a folder of files."""
        return f"{self.folder()}/Npix={self.number}{'' if suffix == '/' else suffix}"

    def place(self) -> tuple[int, int]:
        """Sorts pixels in the order of the sky, which is that of the rows."""
        return self.number << 2 * (_FINEST - self.order), self.order


@dataclass(frozen=True)
class Sky:
    """What a catalogue of labels takes over from the catalogue: its name, and the columns that place a row on the sky."""

    name: str
    ra: str
    dec: str
    # The column of the fine HEALPix number, and its order; a catalogue may have none.
    healpix: str | None
    healpix_order: int
    suffix: str = ".parquet"

    @classmethod
    def of(cls, properties: Mapping[str, str], where: Any) -> Sky:
        for key in ("obs_collection", "hats_col_ra", "hats_col_dec"):
            if key not in properties:
                raise ValueError(f"{where}: {key} is missing from its properties; a catalogue of objects needs it")
        order = properties.get("hats_col_healpix_order", str(_FINEST))
        if not order.isdigit():
            raise ValueError(f"{where}: hats_col_healpix_order is {order!r}, but must be a whole number")
        suffix = properties.get("hats_npix_suffix", ".parquet")
        known = (properties["obs_collection"], properties["hats_col_ra"], properties["hats_col_dec"])
        return cls(*known, properties.get("hats_col_healpix"), int(order), suffix)


@dataclass(frozen=True)
class Catalogue:
    """A catalogue on disk: its files in the order of the sky, and their paths within ``dataset/``."""

    root: Path
    sky: Sky
    files: list[Path]
    names: list[str]


def catalogue(folder: Path) -> Catalogue | None:
    """The catalogue of a collection, of a catalogue's folder, of its ``dataset/``, or of a properties file; None if it is none of these."""
    root = _root(folder)
    if root is None:
        return None
    known = _properties(root)
    assert known is not None  # _root found them
    kind = known.get("dataproduct_type", "object")
    if kind not in _KINDS:
        of = f" of {known['hats_primary_table_url']}" if "hats_primary_table_url" in known else ""
        raise ValueError(f"{root} is a HATS {kind}{of}, not a catalogue of objects; give the catalogue or its collection")
    sky = Sky.of(known, root)
    files, names = [], []
    for pixel in sorted(_pixels(root), key=Pixel.place):
        path = root / "dataset" / pixel.path(sky.suffix)
        if sky.suffix != "/":
            own = [path]
        else:
            own = sorted(p for p in path.glob("*") if p.is_file() and not p.name.startswith(("_", "."))) if path.is_dir() else []
        if not own or not own[0].is_file():
            raise ValueError(f"{root}: the list of partitions has Norder={pixel.order}, Npix={pixel.number}, but there is no {path}")
        files += own
        names += [p.relative_to(root / "dataset").as_posix() for p in own]
    if not files:
        raise ValueError(f"{root}: the list of partitions is empty")
    return Catalogue(root, sky, files, names)


def _root(folder: Path) -> Path | None:
    """The folder of the catalogue itself."""
    if folder.is_file():
        if folder.name not in (*PROPERTIES, COLLECTION):
            return None
        folder = folder.parent
    if (folder / COLLECTION).is_file():
        primary = _read(folder / COLLECTION).get("hats_primary_table_url", "")
        if not primary:
            raise ValueError(f"{folder / COLLECTION} names no hats_primary_table_url; give the catalogue's own folder")
        if "://" in primary:
            raise ValueError(f"{folder / COLLECTION}: its catalogue is {primary}; open it with lsdb.open_catalog, and give what that returns")
        root = folder / primary  # an absolute path stays what it is
        if _properties(root) is None:
            raise ValueError(f"{folder / COLLECTION}: its catalogue {root} has no hats.properties")
        return root
    if _properties(folder) is not None:
        return folder
    if folder.name == "dataset" and _properties(folder.parent) is not None:
        return folder.parent
    return None


def _properties(root: Path) -> dict[str, str] | None:
    for name in PROPERTIES:
        if (root / name).is_file():
            known = _read(root / name)
            # Other programs have files of this name, too.
            if any(key.startswith("hats_") or key in ("obs_collection", "dataproduct_type") for key in known):
                return known
    return None


def _read(path: Path) -> dict[str, str]:
    """``key=value`` by lines, as Java writes it, without escapes but those of ``:``, ``=`` and the like."""
    known = {}
    for line in path.read_text("utf-8", errors="replace").splitlines():
        line = line.strip()
        if line and line[0] not in "#!":
            key, _, value = line.partition("=")
            known[key.strip()] = re.sub(r"\\(.)", r"\1", value.strip())
    return known


def _pixels(root: Path) -> list[Pixel]:
    listed = root / "partition_info.csv"
    if not listed.is_file():
        return _pixels_of_metadata(root)
    with open(listed, newline="") as file:
        rows = csv.DictReader(file)
        if not {"Norder", "Npix"} <= set(rows.fieldnames or ()):
            raise ValueError(f"{listed}: no columns Norder and Npix")
        pixels = []
        for number, row in enumerate(rows, start=2):
            try:
                pixels.append(Pixel(int(row["Norder"]), int(row["Npix"])))
            except (TypeError, ValueError):
                raise ValueError(f"{listed}, line {number}: Norder and Npix must be whole numbers, not {row['Norder']}, {row['Npix']}") from None
    return list(dict.fromkeys(pixels))


def _pixels_of_metadata(root: Path) -> list[Pixel]:
    path = root / "dataset" / "_metadata"
    if not path.is_file():
        raise ValueError(f"{root} has neither partition_info.csv nor dataset/_metadata, which list its partitions")
    import pyarrow.parquet

    metadata = pyarrow.parquet.read_metadata(path)
    groups = [metadata.row_group(g) for g in range(metadata.num_row_groups)]
    places = [_PLACE.search(group.column(0).file_path) for group in groups if group.num_columns]
    return list(dict.fromkeys(Pixel(int(place[1]), int(place[2])) for place in places if place))


def write_whole(table: Any, path: str) -> None:
    """Writes Parquet under a temporary name first: another worker may be writing the same file after this one was given up for dead."""
    import pyarrow.parquet

    Path(path).parent.mkdir(parents=True, exist_ok=True)
    temporary = f"{path}.{uuid.uuid4().hex}.tmp"
    pyarrow.parquet.write_table(table, temporary)
    os.replace(temporary, path)


def refuse_catalogue(folder: Path) -> None:
    """What would mix with a catalogue that is there already is refused; one that was left unfinished has no properties yet."""
    for name in (*PROPERTIES, COLLECTION):
        if (folder / name).exists():
            raise ValueError(f"{folder} is a catalogue already; remove it, or give another folder")


def finish(folder: Path, name: str, sky: Sky, written: Sequence[tuple[str, int]]) -> None:
    """Makes a catalogue of partitions that were written: ``(path within dataset/, rows)`` each. The properties come last: without them it
    is no catalogue."""
    import pyarrow.parquet

    footers = []
    for path, _ in written:
        footer = pyarrow.parquet.read_metadata(folder / "dataset" / path)
        footer.set_file_path(path)
        footers.append(footer)
    schema = footers[0].schema.to_arrow_schema()
    pyarrow.parquet.write_metadata(schema, folder / "dataset" / "_metadata", metadata_collector=footers)
    pyarrow.parquet.write_metadata(schema, folder / "dataset" / "_common_metadata")
    pixels = list(dict.fromkeys(Pixel(int(place[1]), int(place[2])) for path, _ in written if (place := _PLACE.search(path))))
    rows_of = dict.fromkeys(pixels, 0)
    for path, rows in written:
        place = _PLACE.search(path)
        assert place is not None  # the paths are those of pixels
        rows_of[Pixel(int(place[1]), int(place[2]))] += rows
    with open(folder / "partition_info.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("Norder", "Npix"), *((p.order, p.number) for p in pixels)])
    known: dict[str, Any] = {
        "obs_collection": name,
        "dataproduct_type": "object",
        "hats_nrows": sum(rows_of.values()),
        "hats_col_ra": sky.ra,
        "hats_col_dec": sky.dec,
    }
    if sky.healpix is not None:
        known |= {"hats_col_healpix": sky.healpix, "hats_col_healpix_order": sky.healpix_order}
    from . import __version__

    size = sum((folder / "dataset" / path).stat().st_size for path, _ in written)
    # No date: the same fit writes the same bytes.
    known |= {
        "hats_npix_suffix": sky.suffix,
        "hats_max_rows": max(rows_of.values()),
        "hats_estsize": size // 1024,
        "hats_order": max(pixel.order for pixel in pixels),
        "hats_builder": f"goc v{__version__}",
        "hats_version": "v1.0",
    }
    text = "".join(f"{key}={value}\n" for key, value in known.items())
    for own in reversed(PROPERTIES):
        temporary = folder / f"{own}.{uuid.uuid4().hex}.tmp"
        temporary.write_text(f"#HATS catalog\n{text}")
        os.replace(temporary, folder / own)
