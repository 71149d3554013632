"""The rival of crates/goc/benches/k_medoids.rs: kmedoids.fasterpam, one thread, random start.

pip install numpy scipy kmedoids. Its distance matrix is made beforehand and not timed.
"""

import time

import kmedoids
import numpy as np
from scipy.spatial.distance import cdist


def blobs(n, q):
    state = 1

    def uniform():
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) / 2**31

    centres = [20.0 * uniform() for _ in range(40 * q)]
    values = []
    for _ in range(n):
        blob = int(40.0 * uniform())
        values += [centres[blob * q + f] + uniform() + uniform() + uniform() - 1.5 for f in range(q)]
    return np.array(values).reshape(n, q)


for n, q, k in [(5000, 3, 50), (5000, 3, 5), (1000, 3, 50), (300, 3, 50), (2000, 12, 50), (2000, 40, 50)]:
    points = blobs(n, q)
    distances = cdist(points, points)
    for dtype in (np.float32, np.float64):
        matrix = distances.astype(dtype)
        for seed in range(3):
            begin = time.perf_counter()
            fit = kmedoids.fasterpam(matrix, k, init="random", random_state=seed, n_cpu=1)
            seconds = time.perf_counter() - begin
            print(f"rival {dtype.__name__} n={n} q={q} k={k} seed={seed} seconds={seconds:.4f} loss={fit.loss:.4f}")
