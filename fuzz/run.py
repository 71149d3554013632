#!/usr/bin/env python3
"""Coverage-guided fuzzing by libFuzzer, on the stable toolchain: `make fuzz SECONDS=60`.

The compiler's coverage counters are a pass of LLVM, which stable rustc runs when it is told to; no
sanitizer is needed, and Rust's own checks (bounds, overflow, debug assertions) find what there is to
find. Each target begins from the seeds that the project makes itself (`src/targets.rs`), from what was
found before (`regressions/`), and from the corpus of earlier runs (`corpus/`, not in the repository).

An input that panics, takes more than ten seconds or more than 1 GB ends the run with 1 and is kept in
`found/TARGET/`. Mend it, and move the input to `regressions/TARGET/`: `make test` repeats it from then on.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
HOST = re.search(r"host: (\S+)", subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout)[1]
# As cargo-fuzz sets them. They are given for a named target, so that build scripts are compiled without.
FLAGS = ["-Cpasses=sancov-module", "-Cllvm-args=-sanitizer-coverage-level=4",
         "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters", "-Cllvm-args=-sanitizer-coverage-pc-table",
         "-Cllvm-args=-sanitizer-coverage-trace-compares", "-Ccodegen-units=1"]
LIMITS = ["-rss_limit_mb=1024", "-timeout=10"]


def build():
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target")).resolve() / "fuzz"
    environment = {**os.environ, "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(FLAGS), "CARGO_TARGET_DIR": str(target)}
    words = ["cargo", "build", "--release", "--locked", "--quiet", "--target", HOST]
    subprocess.run(words, cwd=HERE, env=environment, check=True)
    return target / HOST / "release"


def fuzz(program, name, seconds, seed, seeds):
    """Runs one target; returns executions, edges at the beginning and at the end, inputs, and what was found."""
    corpus, found, kept = HERE / "corpus" / name, HERE / "found" / name, HERE / "regressions" / name
    for folder in (corpus, found, seeds):
        folder.mkdir(parents=True, exist_ok=True)
    before = set(found.iterdir())
    listed = subprocess.run([program], env={**os.environ, "GOC_FUZZ_SEEDS": str(seeds)}, capture_output=True, text=True, check=True)
    longest = int(listed.stdout)
    words = [program, corpus, seeds, *([kept] if kept.is_dir() else []), f"-max_len={longest}",
             f"-max_total_time={seconds}", f"-seed={seed}", f"-artifact_prefix={found}/", "-print_final_stats=1", *LIMITS]
    ran = subprocess.run(words, capture_output=True, text=True, errors="replace")
    said = ran.stderr

    def number(pattern):
        return [int(n) for n in re.findall(pattern, said)]

    executions = (number(r"stat::number_of_executed_units: (\d+)") or number(r"^#(\d+)") or [0])[-1]
    edges = number(r"cov: (\d+)") or [0]
    new = sorted(set(found.iterdir()) - before)
    if ran.returncode and not new:
        new = [said[-2000:]]
    return executions, (number(r"INITED cov: (\d+)") or edges)[0], edges[-1], (number(r"corp: (\d+)") or [0])[-1], new


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="*", help="targets")
    asked = parser.parse_args()
    programs = build()
    targets = re.findall(r'\[\[bin\]\]\nname = "(\w+)"', (HERE / "Cargo.toml").read_text())
    targets = [name for name in targets if not asked.only or name in asked.only]
    seeds = HERE / "corpus" / ".seeds"
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        runs = {name: pool.submit(fuzz, programs / name, name, asked.seconds, asked.seed, seeds / name) for name in targets}
        print("| target | executions | edges, seeds alone | edges now | inputs | found |\n|---|---|---|---|---|---|", flush=True)
        total, problems = 0, []
        for name, run in runs.items():
            executions, first, last, inputs, found = run.result()
            total += executions
            problems += found
            print(f"| {name} | {executions} | {first} | {last} | {inputs} | {len(found)} |", flush=True)
    print(f"| all | {total} | | | | {len(problems)} |")
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
