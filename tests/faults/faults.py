#!/usr/bin/env python3
"""Faults: every command of goc, killed and starved, leaves the old or the new file and nothing else.

    python3 tests/faults/faults.py GOC [--trials N] [--seed S] [--only COMMANDS] [--faults KINDS]

A trial takes one command, lays its inputs and an older file of each output into a new folder, and
does one of these to it:

    kill     SIGKILL, SIGINT or SIGTERM at a random moment of its run
    disk     no file may grow beyond a random size (RLIMIT_FSIZE), or the disk is full (a small tmpfs,
             where one may be mounted)
    denied   the folder may not be written, or an input may not be read (as another user, for root)
    streams  standard input, output and error closed, full or without a reader, in all combinations
    memory   the address space is limited to a random size (RLIMIT_AS)

Afterwards each output must be, byte for byte, the older file or what an undisturbed run writes; no
other file may be there; the inputs are as they were; and the exit code is the right one: 0 only if
all outputs are new, 1 or 2 with a message for what failed, 130 and 143 for the signals, never a
panic (101) or an abort. Only SIGKILL, which no program hears, may leave a file `.NAME.PID-N.tmp`.

Nothing but Python's standard library is used. The same seed makes the same trials, though not the same
moments: those are the machine's.
"""

import argparse
import collections
import csv
import io
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

NOBODY = 65534
OLD = b"what was here before\n"
TEMPORARY = re.compile(r"^\..*\.\d+-\d+\.tmp$")
# Kills are the larger part: their moment is the dimension that is searched.
SHARES = {"kill": 0.6, "disk": 0.1, "denied": 0.1, "streams": 0.1, "memory": 0.1}
SIGNALS = {signal.SIGKILL: None, signal.SIGINT: 130, signal.SIGTERM: 143}
# Long enough for any of the commands here on a busy machine.
PATIENCE = 300


class Case:
    """A command: its words, what it reads, what it writes."""

    def __init__(self, words, reads=(), writes=()):
        self.words, self.reads, self.writes = words.split(), tuple(reads), tuple(writes)
        self.new = {}      # what an undisturbed run writes
        self.seconds = 0.0 # and how long it takes
        self.prints = False

    @property
    def name(self):
        return self.words[0]


CASES = [
    Case("simulate --dwarfs 3 --stars 2 -m 40 --stars-out s.fits -o c.parquet", writes=["s.fits", "c.parquet"]),
    Case("actions stars.csv -o a.fits", ["stars.csv"], ["a.fits"]),
    Case("candidates stars.csv -m 300 -o c.csv.gz --losses l.csv", ["stars.csv"], ["c.csv.gz", "l.csv"]),
    Case("stars stars.csv --k 2 -m 50 -o o.vot --candidates c.parquet", ["stars.csv"], ["o.vot", "c.parquet"]),
    Case("cluster cands.csv --k 3 -o l.ecsv --clusters k.csv --history h.csv", ["cands.csv"],
         ["l.ecsv", "k.csv", "h.csv"]),
    Case("cluster cands.csv --method marginal -o l.parquet --save-model m.json", ["cands.csv"],
         ["l.parquet", "m.json"]),
    Case("predict model.json cands.csv -o p.fits", ["model.json", "cands.csv"], ["p.fits"]),
    Case("stars stars.csv --method marginal -m 50 -o o.parquet", ["stars.csv"], ["o.parquet"]),
    Case("score labels.csv --json", ["labels.csv"]),
    Case("validate groups.csv --by parallax -o v.csv", ["groups.csv"], ["v.csv"]),
    Case("compare cands.csv --k 3 --only goc/k-means,linkage,fdbscan -o r.csv", ["cands.csv"], ["r.csv"]),
    Case("plot clusters labels.csv --candidates cands.csv -o f.png", ["labels.csv", "cands.csv"], ["f.png"]),
    Case("plot truth cands.csv -o f.svg", ["cands.csv"], ["f.svg"]),
    Case("report labels.csv --candidates cands.csv -o page.html", ["labels.csv", "cands.csv"], ["page.html"]),
    Case("reproduce --oracles k-means -o out", writes=["out/runs.csv", "out/convergence.csv"]),
    Case("completions bash"),
    Case("man"),
]


def without_times(name, content):
    """A table without its column of wall-clock seconds, which no two runs share."""
    if not name.endswith(".csv"):
        return content
    rows = list(csv.reader(io.StringIO(content.decode())))
    at = [i for i, column in enumerate(rows[0] if rows else []) if column == "seconds"]
    if not at:
        return content
    return [[value for i, value in enumerate(row) if i not in at] for row in rows]


def files_below(folder):
    return {str(path.relative_to(folder)): path for path in folder.rglob("*") if not path.is_dir()}


class Harness:
    def __init__(self, goc, seed, only, faults):
        self.random = random.Random(seed)
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="goc-faults-"))
        self.home.chmod(0o755)
        self.goc = self.home / "goc"
        shutil.copy(goc, self.goc)
        self.root = os.geteuid() == 0
        self.inputs = {}
        self.problems = []
        self.done = collections.Counter()
        self.left = 0 # temporary files that SIGKILL left
        self.tmpfs = self.can_mount()
        self.shares = {fault: share for fault, share in SHARES.items() if not faults or fault in faults}
        self.cases = [case for case in CASES if not only or case.name in only]

    def can_mount(self):
        """Whether a small tmpfs can be made here."""
        place = self.home / "mount-test"
        place.mkdir()
        made = self.root and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], capture_output=True).returncode == 0
        if made:
            subprocess.run(["umount", place], check=True)
        return made

    def run(self, words, folder):
        return subprocess.run([self.goc, *words], cwd=folder, capture_output=True, timeout=PATIENCE)

    def prepare(self):
        """Makes the inputs with the command itself, and runs every case once undisturbed."""
        desk = self.home / "inputs"
        desk.mkdir()
        for words in [
            "simulate --dwarfs 4 --stars 3 -m 30 --stars-out stars.csv -o cands.csv",
            "cluster cands.csv --k 3 -o labels.csv",
            "cluster cands.csv --method marginal --save-model model.json",
            "stars stars.csv --k 2 -m 30 -o groups.csv",
        ]:
            ran = self.run(words.split(), desk)
            assert ran.returncode == 0, (words, ran.stderr)
        self.inputs = {path.name: path.read_bytes() for path in desk.iterdir()}
        for case in self.cases:
            folder = self.lay(case)
            began = time.monotonic()
            ran = self.run(case.words, folder)
            case.seconds = time.monotonic() - began
            assert ran.returncode == 0, (case.words, ran.stderr)
            case.prints = bool(ran.stdout)
            case.new = {name: (folder / name).read_bytes() for name in case.writes}
            extra = set(files_below(folder)) - set(case.writes) - set(case.reads)
            assert not extra, f"{case.words}: undisturbed it leaves {extra}"
            print(f"  undisturbed {case.seconds:6.2f} s  goc {' '.join(case.words)}")
            shutil.rmtree(folder)

    def lay(self, case, parent=None):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="trial-", dir=parent or self.home))
        folder.chmod(0o777)
        for name in case.reads:
            (folder / name).write_bytes(self.inputs[name])
        for name in case.writes:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).parent.chmod(0o777)
            (folder / name).write_bytes(OLD)
            (folder / name).chmod(0o666)
        return folder

    def check(self, what, case, folder, code, error, allowed, killed=False):
        """Holds what is there against what was promised."""
        wrong = []
        found = files_below(folder)
        fresh = 0
        for name in case.writes:
            path = found.pop(name, None)
            content = path.read_bytes() if path else None
            if content == case.new[name] or (
                content not in (None, OLD) and without_times(name, content) == without_times(name, case.new[name])
            ):
                fresh += 1
            elif content != OLD:
                size = "gone" if content is None else f"{len(content)} bytes"
                wrong.append(f"{name} is neither the old nor the new file: {size}")
        for name in case.reads:
            path = found.pop(name, None)
            if path is None or path.read_bytes() != self.inputs[name]:
                wrong.append(f"the input {name} was changed")
        for name in found:
            if killed and TEMPORARY.match(pathlib.Path(name).name):
                self.left += 1
            else:
                wrong.append(f"{name} was left behind")
        if code not in allowed:
            wrong.append(f"exit code {code}, not one of {sorted(allowed)}")
        if code == 0 and fresh < len(case.writes):
            wrong.append("exit code 0, but not all files are new")
        if b"panicked" in error:
            wrong.append("a panic")
        if code in (1, 2) and error is not None and error != b"unheard" and not error.strip():
            wrong.append("failed without a word")
        if wrong:
            said = error.decode(errors="replace").strip().splitlines()[-3:]
            self.problems.append(f"{what}: goc {' '.join(case.words)}: {'; '.join(wrong)}; it said {said}")

    # One function for each kind of fault. A command that waits is started by Popen; `before` is
    # done in the child.

    def start(self, case, folder, before=None, **more):
        more = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **more}
        return subprocess.Popen([self.goc, *case.words], cwd=folder, preexec_fn=before, **more)

    def finish(self, child):
        _, error = child.communicate(timeout=PATIENCE)
        code = child.returncode
        # As a shell says it.
        return (128 - code if code < 0 else code), error or b""

    def kill(self, case):
        what = self.random.choice(list(SIGNALS))
        moment = self.random.random() * case.seconds * 1.1
        folder = self.lay(case)
        child = self.start(case, folder)
        time.sleep(moment)
        child.send_signal(what)
        code, error = self.finish(child)
        allowed = {0, 128 + what}
        self.check(f"{what.name} after {moment:.3f} s", case, folder, code, error, allowed, what == signal.SIGKILL)
        return folder

    def disk(self, case):
        largest = max((len(content) for content in case.new.values()), default=1)
        most = self.random.randrange(largest)
        if self.tmpfs and case.writes and self.random.random() < 0.5:
            return self.small_disk(case, most)

        def before():
            # The limit's own signal stays as it is: that the command outlives it is part of the promise.
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        folder = self.lay(case)
        code, error = self.finish(self.start(case, folder, before))
        self.check(f"files of at most {most} bytes", case, folder, code, error, {0, 1})
        return folder

    def small_disk(self, case, most):
        place = pathlib.Path(tempfile.mkdtemp(prefix="disk-", dir=self.home))
        room = sum(len(self.inputs[name]) for name in case.reads) + 16384 * (2 + len(case.writes)) + most
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={room // 4096 * 4096}", "tmpfs", place], check=True)
        try:
            folder = self.lay(case, place)
            code, error = self.finish(self.start(case, folder))
            self.check(f"a disk of {room} bytes", case, folder, code, error, {0, 1})
        finally:
            subprocess.run(["umount", place], check=True)
        return place

    def denied(self, case):
        folder = self.lay(case)
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if self.root else {}
        if case.reads and (not case.writes or self.random.random() < 0.5):
            name = self.random.choice(case.reads)
            (folder / name).chmod(0o000 if self.root else 0o200)
            code, error = self.finish(self.start(case, folder, **user))
            (folder / name).chmod(0o644)
            self.check(f"{name} may not be read", case, folder, code, error, {1})
        else:
            places = [folder / name for name in case.writes]
            for place in places:
                place.parent.chmod(0o555)
            code, error = self.finish(self.start(case, folder, **user))
            for place in places:
                place.parent.chmod(0o777)
            self.check("the folder may not be written", case, folder, code, error, {1})
        return folder

    def streams(self, case):
        """Each stream as it is, closed, on a full disk, or a pipe that nobody reads."""
        how = [self.random.choice(["open", "closed", "full", "pipe"]) for _ in range(3)]
        how[0] = self.random.choice(["open", "closed"])

        def before():
            for stream, state in enumerate(how):
                if state == "closed":
                    os.close(stream)
                elif state == "full":
                    os.dup2(os.open("/dev/full", os.O_WRONLY), stream)
                elif state == "pipe":
                    read, write = os.pipe()
                    os.dup2(write, stream)
                    os.close(read)
                    os.close(write)

        folder = self.lay(case)
        code, error = self.finish(self.start(case, folder, before))
        # What cannot be printed is an error, a reader that has gone is none; messages never matter.
        fails = case.prints and how[1] in ("closed", "full")
        error = error if how[2] == "open" else b"unheard"
        self.check(f"streams {how}", case, folder, code, error, {1} if fails else {0})
        return folder

    def memory(self, case):
        # With little room the allocator asks the system for every piece, which is right and 30 times
        # slower: the longest command is not tried there.
        least = 24.5 if case.seconds < 1 else 28
        most = int(2 ** self.random.uniform(least, 31))

        def before():
            resource.setrlimit(resource.RLIMIT_AS, (most, most))

        folder = self.lay(case)
        code, error = self.finish(self.start(case, folder, before))
        # Below some size the system cannot start it at all, and says so by itself.
        if code in (127, 139) and most < 2**27:
            code, error = 1, b"could not be started"
        self.check(f"{most >> 20} MB of address space", case, folder, code, error, {0, 1})
        return folder

    def trial(self, number):
        case = self.cases[number % len(self.cases)]
        fault = self.random.choices(list(self.shares), self.shares.values())[0]
        if fault == "denied" and not case.reads and not case.writes:
            fault = "streams"  # it touches no file
        self.done[fault] += 1
        try:
            folder = getattr(self, fault)(case)
        except subprocess.TimeoutExpired:
            self.problems.append(f"{fault}: goc {' '.join(case.words)}: no end within {PATIENCE} s")
            return
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("goc")
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", help="commands")
    parser.add_argument("--faults", nargs="*", choices=list(SHARES), help="kinds of faults")
    asked = parser.parse_args()
    harness = Harness(asked.goc, asked.seed, asked.only, asked.faults)
    try:
        harness.prepare()
        if not harness.tmpfs:
            print("no tmpfs can be mounted here: full disks by RLIMIT_FSIZE alone")
        for number in range(asked.trials):
            harness.trial(number)
    finally:
        shutil.rmtree(harness.home, ignore_errors=True)
    for problem in harness.problems:
        print(problem, file=sys.stderr)
    kinds = ", ".join(f"{harness.done[fault]} {fault}" for fault in SHARES)
    commands = len({case.name for case in harness.cases})
    print(f"{asked.trials} faults over {commands} commands ({kinds}): {len(harness.problems)} promises broken; "
          f"SIGKILL left {harness.left} temporary files")
    sys.exit(1 if harness.problems else 0)


if __name__ == "__main__":
    main()
