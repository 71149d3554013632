#!/usr/bin/env python3
"""Reads every table below a folder with goc and with astropy or pyarrow, and compares the values.

`make foreign DIR=...`; without a folder, the odd variants that `variants.py` writes. goc's reading is looked
at through `convert`, an example of crates/tables that reads a file and writes it as Parquet. Prints one
line per format: equal, refused (with the reasons), different. A difference ends it with 1; so does a panic.
What goc leaves out by its own word (arrays, complex numbers, dates) is not compared, and counted.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from astropy.io import fits
from astropy.table import Table

ENDINGS = {".csv": "CSV", ".tsv": "CSV", ".ecsv": "ECSV", ".vot": "VOTable", ".votable": "VOTable", ".xml": "VOTable",
           ".fits": "FITS", ".fit": "FITS", ".parquet": "Parquet", ".pq": "Parquet"}
LIMIT = 60


def format_of(path):
    name = path.name.lower().removesuffix(".gz")
    return ENDINGS.get(pathlib.Path(name).suffix)


def by_others(path, kind):
    """Columns by name: values and which are missing."""
    warnings.simplefilter("ignore")
    if kind == "Parquet":
        table = pq.ParquetFile(path).read()
        return {name: from_arrow(table[name]) for name in table.column_names}
    if kind == "FITS":
        # As goc does: the first table; astropy takes a compressed image for an image.
        with fits.open(path) as hdus:
            at = next(i for i, hdu in enumerate(hdus) if isinstance(hdu, (fits.BinTableHDU, fits.TableHDU)))
        table = Table.read(path, hdu=at, mask_invalid=False, character_as_bytes=False)
    else:
        how = {"VOTable": {"format": "votable"}, "ECSV": {"format": "ascii.ecsv"}}.get(
            kind, {"format": "ascii.tab" if ".tsv" in path.name else "ascii.csv"})
        table = Table.read(path, **how)
    # A byte order mark is no part of a name.
    return {name.removeprefix("\ufeff"): from_astropy(table[name]) for name in table.colnames}


def from_astropy(column):
    values = np.ma.asarray(column)
    return [None if missing else value for value, missing in zip(values.data.tolist(), np.ma.getmaskarray(values).tolist())] \
        if values.ndim == 1 else values.tolist()


def from_arrow(column):
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.to_pylist()


def same(ours, theirs):
    """Equal values; a missing number may be NaN and a missing text empty, where a format knows no
    other way.
    """
    if isinstance(theirs, bytes) and not isinstance(ours, bytes):
        theirs = theirs.decode(errors="replace")

    def empty(value):
        return value is None or value == "" or value != value

    if empty(ours) or empty(theirs):
        return empty(ours) and empty(theirs)
    if isinstance(theirs, str) or isinstance(ours, str):
        return str(ours).rstrip() == str(theirs).rstrip()
    return ours == theirs


def compare(convert, path, kind, folder):
    """equal, refused, different or unread, with a reason, and how many columns were left out."""
    out = folder / "out.parquet"
    out.unlink(missing_ok=True)
    try:
        ran = subprocess.run([convert, path, out], capture_output=True, text=True, errors="replace", timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return "different", f"no end within {LIMIT} s", 0
    if ran.returncode not in (0, 1) or "panicked" in ran.stderr:
        return "different", f"ended with {ran.returncode}: {ran.stderr.strip()[-200:]}", 0
    try:
        theirs = by_others(path, kind)
    except Exception as error:  # whatever they say, there is nothing to compare with
        return ("refused" if ran.returncode else "unread"), f"others: {type(error).__name__}: {error}", 0
    if ran.returncode:
        return "refused", ran.stderr.strip().replace(str(path), ""), 0
    table = pq.read_table(out)
    ours = {name: from_arrow(table[name]) for name in table.column_names}
    for name, values in ours.items():
        if name not in theirs:
            return "different", f"column {name!r} is in goc's table alone", 0
        if len(values) != len(theirs[name]):
            return "different", f"{len(values)} rows, not {len(theirs[name])}", 0
        for row, pair in enumerate(zip(values, theirs[name])):
            if not same(*pair):
                return "different", f"column {name!r}, row {row + 1}: {pair[0]!r}, not {pair[1]!r}", 0
    wrong = carried(convert, path, kind, folder, theirs)
    if wrong:
        return "different", wrong, 0
    gone = [name for name in theirs if name not in ours]
    silent = [name for name in gone if name not in ran.stderr]
    if silent:
        return "different", f"left out without a word: {', '.join(silent)}", 0
    return "equal", "", len(gone)


def carried(convert, path, kind, folder, theirs):
    """Within FITS and within Parquet every column goes along, those too that goc cannot look at:
    what is not so.
    """
    ending = {"FITS": ".fits", "Parquet": ".parquet"}.get(kind)
    if not ending:
        return None
    again = folder / f"again{ending}"
    again.unlink(missing_ok=True)
    ran = subprocess.run([convert, path, again], capture_output=True, text=True, errors="replace", timeout=LIMIT)
    if ran.returncode:
        # Text beyond ASCII is read from FITS, and not written.
        return None if "FITS holds nothing else" in ran.stderr else f"not written again: {ran.stderr.strip()[-200:]}"
    ours = by_others(again, kind)
    if list(ours) != list(theirs):
        return f"written again, its columns are {list(ours)}, not {list(theirs)}"
    for name, values in theirs.items():
        pairs = zip(ours[name], values)
        if not all(same(*pair) if np.ndim(pair[1]) == 0 and not isinstance(pair[1], (list, dict)) else repr(pair[0]) == repr(pair[1])
                   for pair in pairs):
            return f"column {name!r} is not the same when it is written again"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("convert", help="the example of crates/tables")
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    asked = parser.parse_args()
    counts, reasons, wrong, left_out = collections.defaultdict(collections.Counter), collections.Counter(), [], 0
    with tempfile.TemporaryDirectory() as desk:
        desk = pathlib.Path(desk)
        folder = asked.folder
        if folder is None:
            import variants
            folder = desk / "variants"
            variants.write(folder)
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and format_of(path)):
            kind = format_of(path)
            found, reason, gone = compare(asked.convert, path, kind, desk)
            counts[kind][found] += 1
            left_out += gone
            if found == "different":
                wrong.append(f"{path.relative_to(folder)}: {reason}")
            elif found != "equal":
                short = re.sub(r"\d+", "N", reason.splitlines()[0] if reason else "")[:110]
                reasons[(kind, found, short)] += 1
    print("| format | equal | refused | read by goc alone | different |\n|---|---|---|---|---|")
    for kind, count in sorted(counts.items()):
        print(f"| {kind} | {count['equal']} | {count['refused']} | {count['unread']} | {count['different']} |")
    print(f"{left_out} columns were left out with a word")
    for (kind, found, reason), count in reasons.most_common():
        print(f"{kind}, {found}, {count}: {reason}")
    for line in wrong:
        print(f"different: {line}", file=sys.stderr)
    sys.exit(1 if wrong or not counts else 0)


if __name__ == "__main__":
    main()
