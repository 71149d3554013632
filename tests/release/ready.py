"""Whether this checkout may be released: `make release-check VERSION=x.y.z`. Without a version: a rehearsal.

What a machine can see is checked; the steps of RELEASING.md that need a person are printed at the end.
"""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import tomllib

PLACEHOLDER = "https://example.org"


def problems(wanted: str) -> tuple[list[str], list[str]]:
    """What is wrong in any case, and what is wrong only for a release."""
    always: list[str] = []
    release: list[str] = []
    cargo = tomllib.loads(Path("Cargo.toml").read_text())["workspace"]
    version = cargo["package"]["version"]
    for name, dependency in cargo["dependencies"].items():
        if isinstance(dependency, dict) and "path" in dependency and dependency.get("version") != version:
            always.append(f"Cargo.toml: {name} is asked for as {dependency.get('version')}, but this is {version}")
    cited = re.search(r"^version: (.*)$", Path("CITATION.cff").read_text(), re.MULTILINE)
    if not cited or cited[1] != version:
        always.append(f"CITATION.cff does not say version {version}")
    changelog = Path("CHANGELOG.md").read_text()
    for heading in re.findall(r"^## .*$", changelog, re.MULTILINE):
        if not re.fullmatch(r"## (\[Unreleased\]|\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d)", heading):
            always.append(f"CHANGELOG.md: `{heading}` is not `## [Unreleased]` or `## [x.y.z] - YYYY-MM-DD`")
    if wanted and wanted != version:
        release.append(f"Cargo.toml has version {version}, not {wanted}")
    if f"## [{wanted or version}] - {date.today().isoformat()}" not in changelog:
        release.append(f"CHANGELOG.md has no section `## [{wanted or version}] - {date.today().isoformat()}`")
    for file in ("Cargo.toml", "python/pyproject.toml"):
        for number, line in enumerate(Path(file).read_text().splitlines(), 1):
            if PLACEHOLDER in line:
                key = line.split("=")[0].strip()
                release.append(f"{file}, line {number}: {key} is a placeholder; give the real address (RELEASING.md, step 1)")
    if subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True).stdout.strip():
        release.append("the checkout has changes that are not committed")
    return always, release


def main(wanted: str = "") -> int:
    always, release = problems(wanted)
    for problem in always + release:
        print(("error: " if wanted or problem in always else "before a release: ") + problem)
    print("by hand: the steps of RELEASING.md from 7 on (tag, crates.io, PyPI, site, DOI, announcement)")
    return bool(always or (wanted and release))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
