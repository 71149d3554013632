"""What `make test` holds the dependencies to, in a second: Rust version, licences, bans and sources.

- None asks for a newer Rust than the workspace promises. Clippy's lint `incompatible_msrv` holds our
  own code to it; whether all builds with that Rust is tested where it is installed (`test.yml`).
- The fuzzer has a lock file of its own, which must know what the crates it fuzzes depend on.
- Licences, bans and sources are those of deny.toml. cargo-deny (`make deny`) checks the same, the
  texts of the licences, and known vulnerabilities; it takes minutes to build.
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


def listed(text: str, section: str, key: str) -> set[str]:
    """The texts of an array of deny.toml; Python 3.10 has no reader of TOML."""
    own = text.split(f"[{section}]", 1)[1]
    return set(re.findall(r'"([^"]+)"', re.search(rf"^{key} = \[(.*?)\]", own, re.MULTILINE | re.DOTALL)[1]))


def allows(expression: str, allowed: set[str]) -> bool:
    """Whether an SPDX expression can be met with these licences; the old `/` is OR."""
    tokens = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR ").replace(" WITH ", "+WITH+"))
    names = {name.replace(" WITH ", "+WITH+") for name in allowed}
    words = {"OR": "or", "AND": "and", "(": "(", ")": ")"}
    return bool(eval(" ".join(words.get(token, str(token in names)) for token in tokens)))  # of True, False, and, or alone


def main() -> int:
    promised = re.search(r'^rust-version = "(.*)"$', Path("Cargo.toml").read_text(), re.MULTILINE)[1]
    deny = Path("deny.toml").read_text()
    allowed, banned = listed(deny, "licenses", "allow"), listed(deny, "bans", "deny")
    told = subprocess.run(["cargo", "metadata", "--format-version", "1", "--locked"], check=True, capture_output=True)
    packages = json.loads(told.stdout)["packages"]
    wrong = []
    words = ["cargo", "metadata", "--format-version", "1", "--locked", "--manifest-path", "fuzz/Cargo.toml"]
    fuzz = subprocess.run(words, capture_output=True, text=True)
    if fuzz.returncode:
        wrong.append(
            "fuzz/Cargo.lock cannot be used as it is; if it is out of date, "
            f"`cargo update --workspace --manifest-path fuzz/Cargo.toml` corrects it: {fuzz.stderr.strip()}"
        )
    for package in packages:
        name = f"{package['name']} {package['version']}"
        if package["rust_version"] and version(package["rust_version"]) > version(promised):
            wrong.append(f"{name} asks for Rust {package['rust_version']}, but {promised} is promised")
        if not allows(package["license"] or "none", allowed):
            wrong.append(f"{name} has the licence {package['license']}, which deny.toml does not allow")
        if package["name"] in banned:
            wrong.append(f"{name} is banned by deny.toml")
        if package["source"] and package["source"] != "registry+https://github.com/rust-lang/crates.io-index":
            wrong.append(f"{name} comes from {package['source']}")
    print("\n".join(wrong) or f"{len(packages)} packages: Rust {promised} is enough; licences, bans and sources hold")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
