"""Outputs in the programs where users live: astropy, pandas, polars and Arrow; TOPCAT's STILTS and
R where they are installed.
"""

import re
import shutil
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from astropy.table import Table

import goc

ROOT = Path(__file__).resolve().parents[2]
FORMATS = ["fits", "vot", "parquet", "ecsv"]


@pytest.fixture(scope="module")
def outputs(command, tmp_path_factory):
    """A folder with what the commands write, in every format with metadata."""
    folder = tmp_path_factory.mktemp("outputs")
    stars, candidates = folder / "stars.fits", folder / "candidates.parquet"
    command("simulate", "--seed", 3, "--dwarfs", 5, "--stars-out", stars, "-o", candidates)
    for ending in FORMATS:
        command("stars", stars, "--k", 5, "-o", folder / f"stars-labels.{ending}")
        command("cluster", candidates, "--k", 5, "-o", folder / f"labels.{ending}", "--clusters", folder / f"clusters.{ending}")
    return folder


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("name", ["stars-labels", "labels", "clusters"])
def test_astropy_reads_every_output_without_a_warning_and_with_its_metadata(outputs, name, ending):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = Table.read(outputs / f"{name}.{ending}")
    assert len(table) > 0
    said = {str(key).lower(): value for key, value in table.meta.items()}
    if ending == "vot":  # astropy keeps a description, not parameters
        said = dict(line.split(": ", 1) for line in said["description"].splitlines())
    assert said["goc_method"] == "goc" and str(said["goc_seed"]) == "1"
    own = [column for column in table.columns.values() if name != "stars-labels" or column.name.startswith("goc_")]
    assert [column.name for column in own if not column.description] == []


def test_tables_of_every_make_give_the_same_candidates():
    stars = goc.galaxy.simulate(dwarfs=3, stars=2)
    wanted = goc.from_gaia(stars, m=5)
    for make in (pandas.DataFrame, polars.DataFrame, pyarrow.table, Table):
        assert np.array_equal(goc.from_gaia(make(stars), m=5).values, wanted.values), make
    # And out again: pandas, Arrow and, through it, polars.
    for out in (wanted.to_pandas(), wanted.to_arrow(), polars.from_arrow(wanted.to_arrow())):
        again = goc.Candidates.from_table(out)
        assert np.array_equal(again.values, wanted.values) and np.array_equal(again.penalties, wanted.penalties)


def stilts(*words):
    if shutil.which("stilts") is None:
        print("SKIPPED: no stilts; Debian's package stilts has it")
        pytest.skip("no stilts")
    done = subprocess.run(["stilts", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("ending", ["fits", "vot"])
def test_topcat_knows_what_the_columns_are(outputs, ending):
    listed = stilts("tpipe", f"in={outputs}/stars-labels.{ending}", "cmd=meta Name UCD Description", "omode=out", "ofmt=csv")
    columns = {line.split(",")[0]: line for line in listed.splitlines()}
    assert "pos.parallax.trig" in columns["parallax"] and "stat.error" in columns["parallax_error"]
    assert "meta.id" in columns["goc_label"] and "phys.angMomentum" in columns["goc_Jphi"]
    assert "group" in columns["goc_label"]


def test_topcat_matches_labels_with_stars_by_name(outputs):
    stilts(
        "tmatch2", f"in1={outputs}/stars.fits", f"in2={outputs}/labels.fits", "matcher=exact", "values1=object", "values2=object",
        "join=1and2", f"out={outputs}/both.fits",
    )  # fmt: skip
    both, stars = Table.read(outputs / "both.fits"), Table.read(outputs / "stars.fits")
    assert len(both) == len(stars) and "label" in both.colnames


def test_the_page_about_r_runs(outputs, command, tmp_path):
    """Its block without the arrow package, which many do not have."""
    if shutil.which("Rscript") is None:
        print("SKIPPED: no R")
        pytest.skip("no R")
    page = (ROOT / "docs/howto/r.md").read_text()
    block = next(block for block in re.findall(r"```r\n(.*?)```", page, re.S) if "write.csv" in block)
    Table.read(outputs / "stars.fits").write(tmp_path / "stars.csv")
    begin = 'stars <- read.csv("stars.csv")\nstars$radial_velocity[2] <- NA\n'
    (tmp_path / "run.R").write_text(f"{begin}{block}\nstopifnot(nrow(groups) == nrow(stars))\n")
    (tmp_path / "goc").symlink_to(command.path)
    done = subprocess.run(
        ["Rscript", "run.R"], cwd=tmp_path, capture_output=True, text=True, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}
    )
    assert done.returncode == 0, done.stderr
