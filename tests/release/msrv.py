"""No dependency asks for a newer Rust than the workspace promises.

Clippy's lint `incompatible_msrv` (part of `make test`) holds our own code to it; this holds the crates
in Cargo.lock to it. Whether all of it builds with that Rust is tested where it is installed (the
workflow `test.yml`).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path


def version(text: str) -> tuple[int, ...]:
    numbers = [int(part) for part in text.split("-")[0].split(".")]
    return tuple(numbers + [0] * (3 - len(numbers)))


def main() -> int:
    promised = re.search(r'^rust-version = "(.*)"$', Path("Cargo.toml").read_text(), re.MULTILINE)[1]
    told = subprocess.run(["cargo", "metadata", "--format-version", "1", "--locked"], check=True, capture_output=True)
    packages = json.loads(told.stdout)["packages"]
    newer = [p for p in packages if p["rust_version"] and version(p["rust_version"]) > version(promised)]
    silent = sum(p["rust_version"] is None for p in packages)
    for package in newer:
        print(f"{package['name']} {package['version']} asks for Rust {package['rust_version']}, but {promised} is promised")
    if not newer:
        print(f"Rust {promised}: none of {len(packages)} packages asks for a newer one ({silent} do not say)")
    return bool(newer)


if __name__ == "__main__":
    sys.exit(main())
