"""Digests of what the command and the Python package give, to compare before and after a change.

    python tests/digests/run.py --goc target/release/goc --out after.tsv python tests/digests/run.py
    --compare tests/digests/before.tsv after.tsv --allowed tests/digests/changed.md

A line of the file is `name TAB what TAB digest`. README.md says more.
"""

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

import outputs
from commands import COMMANDS, FILES, STEPS


class Runner:
    """Runs commands, each in a folder of its own, with the files that its words name."""

    def __init__(self, goc, work):
        self.goc, self.work = str(Path(goc).resolve()), Path(work)
        self.inputs = self.work / "inputs"
        self.inputs.mkdir(parents=True)
        for name, text in FILES.items():
            (self.inputs / name).write_text(text)
        said = subprocess.run([self.goc, "--version"], capture_output=True, text=True, check=True).stdout
        self.normal = outputs.Normal(said.split()[-1], self.work)
        # Nothing of the terminal, the language or the data at hand may show; the number of threads
        # may be set from outside.
        kept = ("PATH", "HOME", "TMPDIR", "RAYON_NUM_THREADS")
        self.environment = {key: os.environ[key] for key in kept if key in os.environ} | {"LC_ALL": "C", "NO_COLOR": "1"}

    def run(self, name, words, files=""):
        """The lines of one command, and the files that it left."""
        folder = self.work / "runs" / name
        folder.mkdir(parents=True)
        words = words.split()
        given = [word for word in words + files.split() if (self.inputs / word).is_file()]
        for file in given:
            (folder / file).parent.mkdir(exist_ok=True)
            shutil.copyfile(self.inputs / file, folder / file)
        ended = subprocess.run(
            [self.goc, *words], cwd=folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True
        )
        lines = [("exit", str(ended.returncode))]
        for what, said in (("stdout", ended.stdout), ("stderr", ended.stderr)):
            if said:
                lines += outputs.of_text(what, said.decode(), self.normal)
        left = {}
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            file, content = path.relative_to(folder).as_posix(), path.read_bytes()
            if file not in given or content != (self.inputs / file).read_bytes():
                left[file] = path
                lines += outputs.of_file(file, content, self.normal)
        # For a look at what changed, where the folder is kept.
        (folder / "stdout").write_bytes(ended.stdout)
        (folder / "stderr").write_bytes(ended.stderr)
        return [(name, what, value) for what, value in lines], left

    def make_data(self, jobs):
        """The commands whose files are inputs of others; the lines of all."""
        lines = []
        with ThreadPoolExecutor(jobs) as pool:
            for wave in STEPS:
                for own, left in pool.map(lambda command: self.run(*command), wave):
                    lines += own
                    if own[0][2] != "0":
                        sys.exit(f"{own[0][0]} failed, and others need what it makes: see {self.work}")
                    for file, path in left.items():
                        (self.inputs / file).parent.mkdir(exist_ok=True)
                        shutil.copyfile(path, self.inputs / file)
        return lines

    def run_commands(self, jobs):
        with ThreadPoolExecutor(jobs) as pool:
            return [line for own, _ in pool.map(lambda command: self.run(*command), COMMANDS) for line in own]


def made(options):
    """Runs everything and writes the file."""
    if importlib.util.find_spec("pyarrow") is None:
        sys.exit("pyarrow is needed to look into Parquet: take a Python with python/requirements-test.txt")
    if options.only != "cli":
        import calls  # at once, so that a missing package is not found after all commands
    if options.work is None:
        work = Path(tempfile.mkdtemp(prefix="digests-")).resolve()
    else:
        work = Path(options.work).resolve()
        if work.exists() and any(work.iterdir()):
            sys.exit(f"{work} is not empty; give --work another folder")
    count = sum(map(len, STEPS)) + len(COMMANDS)
    out = Path(options.out).resolve()  # calls write files, and go to a folder of their own for it
    began = time.monotonic()
    runner = Runner(options.goc, work)
    lines = runner.make_data(options.jobs)
    if options.only == "python":
        lines = []
    else:
        lines += runner.run_commands(options.jobs)
        print(f"{count} commands, {len(lines)} lines, {time.monotonic() - began:.0f} s", file=sys.stderr)
    if options.only != "cli":
        began = time.monotonic()
        own, calls_made = calls.run_all(runner.inputs, work / "calls", runner.normal)
        print(f"{calls_made} calls, {len(own)} lines, {time.monotonic() - began:.0f} s", file=sys.stderr)
        lines += own
    seen = set()
    for name, what, _ in lines:
        if (name, what) in seen or any(sign in name + what for sign in "\t\n"):
            sys.exit(f"a name that stands twice, or has a tabulator or a new line: {name!r} {what!r}")
        seen.add((name, what))
    out.write_text("".join("\t".join(line) + "\n" for line in lines))
    if options.work is None:
        os.chdir(out.parent)
        shutil.rmtree(work)


def read(path):
    """(name, what) to digest."""
    lines = [line.split("\t") for line in Path(path).read_text().splitlines() if line]
    return {(name, what): value for name, what, value in lines}


def allowed_patterns(path):
    """The first cells of the rows of a Markdown table, below its rule."""
    patterns = []
    for line in Path(path).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) >= 2 and cells[0] != "pattern" and set(cells[0]) != {"-"}:
            if not cells[1]:
                sys.exit(f"{path}: `{cells[0]}` does not say which defect it corrects")
            patterns.append(cells[0].strip("`"))
    return patterns


def compared(old, new, allowed, only):
    """Prints what differs; whether all of it is allowed."""
    old, new = read(old), read(new)
    if only:
        ours = lambda known: {key: value for key, value in known.items() if key[0].startswith("py-") == (only == "python")}  # noqa: E731
        old, new = ours(old), ours(new)
    patterns = allowed_patterns(allowed) if allowed else []
    used, refused, differing = set(), 0, 0
    for key in [*old, *(key for key in new if key not in old)]:
        if old.get(key) == new.get(key):
            continue
        differing += 1
        covering = [pattern for pattern in patterns if fnmatchcase(" ".join(key), pattern)]
        used.update(covering)
        refused += not covering
        kind = "gone" if key not in new else "new" if key not in old else "changed"
        values = f"{old[key]} -> {new[key]}" if kind == "changed" else old.get(key, new.get(key))
        print(f"{'allowed' if covering else 'DIFFERS'}\t{kind}\t{key[0]}\t{key[1]}\t{values}")
    for pattern in patterns:
        if pattern not in used:
            print(f"no line differs any more by the entry `{pattern}`", file=sys.stderr)
    print(f"{len(old)} lines before, {len(new)} after: {differing} differ, {refused} of them not allowed", file=sys.stderr)
    return refused == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--goc", help="the command to run")
    parser.add_argument("--out", help="the file to write")
    parser.add_argument("--only", choices=["cli", "python"], help="the command alone, or the Python package alone")
    parser.add_argument("--jobs", type=int, default=2, help="commands at a time")
    parser.add_argument("--work", help="an empty folder to work in, which is kept; else a temporary one")
    parser.add_argument("--compare", nargs=2, metavar=("OLD", "NEW"), help="list the lines that differ; exit 1 if one is not allowed")
    parser.add_argument("--allowed", help="the table of changes that were meant")
    options = parser.parse_args()
    if options.compare:
        sys.exit(0 if compared(*options.compare, options.allowed, options.only) else 1)
    if not options.goc or not options.out:
        parser.error("give --goc and --out, or --compare")
    made(options)


if __name__ == "__main__":
    main()
