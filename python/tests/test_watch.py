"""Long calls: Ctrl-C stops them, other threads go on meanwhile, a bar shows how far they are."""

import os
import signal
import subprocess
import sys
import threading
import time

import goc
import numpy as np
import pytest

LONG = {
    "sweeps of a mixture": "goc.MarginalMixture(burn=10**6, n_jobs=2).fit(X)",
    "swap moves": "goc.GreedyOptimisticClustering(20, swaps=10**8, n_jobs=1).fit(X)",
    "an oracle that cannot be interrupted": "goc.UKMeans(200, oracle=goc.KMeans(n_init=10**6)).fit(X.reshape(-1, 3))",
    "an oracle in Python": "goc.UKMeans(5, oracle=slow).fit(X)",
    "a simulation": "goc.galaxy.simulate(dwarfs=400, stars=1000)",
    "orbits": "goc.galaxy.orbits(np.tile([[8.0, 0, 1, 10, 200, 50]], (10**5, 1)), [10.0])",
}


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("what", LONG)
def test_ctrl_c_stops(what):
    program = f"""
import time, numpy as np, goc
X = np.random.default_rng(1).normal(size=(400, 20, 3))
def slow(points, k, seed):
    for _ in range(10**6):
        time.sleep(0.01)
print("begun", flush=True)
try:
    {LONG[what]}
except KeyboardInterrupt:
    print("stopped", flush=True)
    assert goc.UKMeans(2).fit(X).n_clusters_ == 2
    print("alive", flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "begun\n"
        time.sleep(0.4)
        began = time.monotonic()
        child.send_signal(signal.SIGINT)
        try:
            out, err = child.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            child.kill()
            raise
    assert out == "stopped\nalive\n", err
    assert child.returncode == 0
    # Two seconds of patience and the time that leaving the interpreter takes on a busy machine.
    assert time.monotonic() - began < 30


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # chains are kept short
def test_other_threads_run_during_a_fit():
    """With the interpreter's lock held there would be no counting while the fit goes on."""
    X = np.random.default_rng(1).normal(size=(300, 20, 3))
    counted, over = [0], threading.Event()

    def count():
        while not over.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    time.sleep(0.05)
    before = counted[0]
    goc.MarginalMixture(burn=10, keep=40, n_jobs=1).fit(X)
    during = counted[0] - before
    over.set()
    thread.join()
    assert during >= 5


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # chains are kept short
def test_a_bar_is_shown_on_request(capsys):
    X = np.random.default_rng(1).normal(size=(40, 5, 2))
    goc.MarginalMixture(burn=5, keep=5, chains=2, verbose=1).fit(X)
    assert "30/30" in capsys.readouterr().err
    goc.MarginalMixture(burn=5, keep=5, chains=2).fit(X)
    assert capsys.readouterr().err == ""


def test_fits_in_forked_workers_and_side_by_side():
    """joblib's processes and threads, each with a fit that has threads of its own."""
    from joblib import Parallel, delayed

    X = np.random.default_rng(1).normal(size=(60, 5, 2))
    one = goc.GreedyOptimisticClustering(4).fit(X).labels_
    for backend in ("threading", "multiprocessing"):
        for labels in Parallel(2, backend=backend)(delayed(goc.GreedyOptimisticClustering(4, n_jobs=2).fit_predict)(X) for _ in range(4)):
            assert np.array_equal(labels, one)


def test_the_environment_is_left_alone():
    """No signal handler of its own: Ctrl-C is Python's."""
    before = signal.getsignal(signal.SIGINT)
    goc.UKMeans(2).fit(np.random.default_rng(1).normal(size=(20, 2)))
    assert signal.getsignal(signal.SIGINT) is before and os.getpid() > 0
