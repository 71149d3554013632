#!/usr/bin/env python3
"""How long every method takes and how much memory, by objects and features: the table of
docs/reference/reliability.md.

`make limits`. Objects are in ten groups, three candidates each; every other setting is the default.
Times are CPU seconds of one thread, which a busy machine hardly changes. A run that is not done
within `--seconds` of them is called so, and larger ones of the same kind are only asked whether
they begin at all. A refusal is an answer: it names the memory that would be needed.
"""

import argparse
import os
import pathlib
import random
import resource
import subprocess
import tempfile

OBJECTS, FEATURES = (1000, 10_000, 100_000), (3, 10, 30)
KINDS = {f"--method {name}": "--k 10" for name in
         "goc gpc uk-means uk-medians expected-k-means boxes robust-boxes worlds representative-worlds consistent-worlds medoids linkage".split()}
KINDS |= {f"--method {name}": "" for name in
          "affinity fdbscan foptics hdbscan-draws significant-linkage extreme-deconvolution marginal".split()}
KINDS |= {f"--oracle {name}": "--k 10" for name in
          "k-medoids gmm-diag mclust-eii mclust-vvv linkage affinity mean-shift spectral convex hdbscan".split()}


def write(path, n, q):
    rng = random.Random(n * q)
    with path.open("w") as out:
        out.write("object," + ",".join(f"x{f}" for f in range(q)) + "\n")
        for i in range(n):
            for _ in range(3):
                values = (f"{10.0 * ((i % 10) * (f + 1) % 7) + rng.gauss(0, 1):.3f}" for f in range(q))
                out.write(f"{i}," + ",".join(values) + "\n")


def run(goc, path, words, seconds, memory):
    """What to write into the table."""

    def before():
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))

    words = [goc, "cluster", path, *words.split(), "--threads", "1", "-o", path.parent / "out.csv"]
    with (path.parent / "said").open("w+") as said:
        child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=said, preexec_fn=before)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read()
    if child.returncode < 0:
        return f"> {seconds} s"
    if child.returncode:
        needs = text.split(" of memory are needed")[0].split(": ")[-1] if "of memory are needed" in text else ""
        return f"needs {needs}" if needs else "refused: " + text.strip().splitlines()[-1][:60]
    return f"{used.ru_utime + used.ru_stime:.1f} s"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("goc", type=pathlib.Path)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--gigabytes", type=float, default=16)
    parser.add_argument("--only", nargs="*", help="methods and oracles")
    asked = parser.parse_args()
    goc, memory = asked.goc.resolve(), int(asked.gigabytes * 1e9)
    print("| | " + " | ".join(f"n = 1e{len(str(n)) - 1}, q = {q}" for n in OBJECTS for q in FEATURES) + " |")
    print("|---" * (1 + len(OBJECTS) * len(FEATURES)) + "|", flush=True)
    with tempfile.TemporaryDirectory() as desk:
        desk = pathlib.Path(desk)
        for n in OBJECTS:
            for q in FEATURES:
                write(desk / f"{n}-{q}.csv", n, q)
        for kind, more in KINDS.items():
            if asked.only and kind.split()[1] not in asked.only:
                continue
            cells, gone = [], {}
            for n in OBJECTS:
                for q in FEATURES:
                    # A refusal comes at once; the table itself must be read first.
                    seconds = 5 if q in gone else asked.seconds
                    cell = run(goc, desk / f"{n}-{q}.csv", f"{kind} {more}", seconds, memory)
                    if cell.startswith(">"):
                        cell = gone.setdefault(q, cell)
                    cells.append(cell)
            print(f"| `{kind}` | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
