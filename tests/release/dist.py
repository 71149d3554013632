"""What a release consists of, checked as a user would meet it: `make dist` builds it into dist/.

    python tests/release/dist.py archive BINARY dist     # the archive of the command, and SHA256SUMS
    python tests/release/dist.py check dist              # install everything from its file and use it
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

import tomllib

SHELLS = {"bash": "goc.bash", "zsh": "_goc", "fish": "goc.fish", "powershell": "goc.ps1", "elvish": "goc.elv"}
WORDS = ["README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE-MIT", "LICENSE-APACHE"]
USE = """
import goc
found = goc.GreedyOptimisticClustering(2).fit([[[0.0], [0.1]], [[0.05], [0.2]], [[9.0], [9.1]], [[9.1], [9.2]]])
assert found.n_clusters_ == 2
print("goc", goc.__version__, "works")
"""
# With every extra.
USE_ALL = """
import astropy.table, dask, goc, goc.dask, goc.plot, matplotlib, pandas, polars, pyarrow, tqdm
stars = goc.galaxy.simulate(dwarfs=2, stars=2, age=1)
sizes = [len(goc.from_gaia(make(stars), m=3)) for make in (pandas.DataFrame, polars.DataFrame, pyarrow.table, astropy.table.Table)]
assert sizes == [4] * 4, sizes
print("goc[all] works")
"""


def run(*words: str | Path, **how) -> str:
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True, **how).stdout


def version() -> str:
    return tomllib.loads(Path("Cargo.toml").read_text())["workspace"]["package"]["version"]


def archive(binary: Path, into: Path) -> None:
    """The stripped command with completions, manual pages and words; the same input gives the same bytes."""
    name = f"goc-{version()}-{platform.machine()}-linux"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / name
        (root / "completions").mkdir(parents=True)
        shutil.copy(binary, root / "goc")
        for shell, file in SHELLS.items():
            (root / "completions" / file).write_text(run(binary, "completions", shell))
        run(binary, "man", "--dir", root / "man", stderr=subprocess.DEVNULL)
        for word in WORDS:
            shutil.copy(word, root)

        def plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
            info.uid = info.gid = info.mtime = 0
            info.uname = info.gname = ""
            info.mode = 0o755 if info.isdir() or info.name.endswith("/goc") else 0o644
            return info

        into.mkdir(exist_ok=True)
        with tarfile.open(into / f"{name}.tar.xz", "w:xz") as tar:
            for path in sorted(root.rglob("*")):
                tar.add(path, f"{name}/{path.relative_to(root)}", recursive=False, filter=plain)


def checksums(into: Path) -> None:
    files = sorted(path for path in into.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in files]
    (into / "SHA256SUMS").write_text("\n".join(lines) + "\n")
    for path in files:
        print(f"{path.stat().st_size / 1e6:6.1f} MB  {path.name}")


def check(dist: Path) -> None:
    print(run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=dist) or "checksums hold")
    (command,) = dist.glob("*.tar.xz")
    (wheel,) = dist.glob("*.whl")
    (sdist,) = dist.glob("*.tar.gz")
    assert "abi3" in wheel.name and "manylinux" in wheel.name, wheel.name
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(command) as tar:
            tar.extractall(folder, filter="data")
        (root,) = Path(folder).iterdir()
        print(run(root / "goc", "--version").strip(), "from the archive")
        assert b"\0.symtab\0" not in (root / "goc").read_bytes(), "the binary is not stripped"
        run(root / "goc", "simulate", "--dwarfs", "3", "-o", Path(folder) / "c.parquet", stderr=subprocess.DEVNULL)
        run("bash", "-n", root / "completions" / "goc.bash")
        assert len(list((root / "man").glob("goc*.1"))) > 10
    # Nothing but the file and what it asks for; the variables of the caller's Python stay outside.
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
    for file in (wheel, sdist):
        with tempfile.TemporaryDirectory() as folder:
            venv.create(folder, with_pip=True)
            python = Path(folder) / "bin" / "python"
            for what, use in [(file.resolve(), USE)] + [(f"{file.resolve()}[all]", USE_ALL)] * (file == wheel):
                run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", what, env=clean, cwd=folder)
                print(run(python, "-c", use, env=clean, cwd=folder).strip(), "from", file.name)


def main(task: str, *words: str) -> None:
    if task == "archive":
        archive(Path(words[0]), Path(words[1]))
        checksums(Path(words[1]))
    else:
        check(Path(words[0]))


if __name__ == "__main__":
    main(*sys.argv[1:])
