//! The positions of the objects: step (III) over convex sets, and convergence within the clusters.
//!
//! [`Placer::place`] gives every object its best centre and position. A box around the set rules
//! out most centres, and the certificate of [`super::hull`] most of the rest.
//!
//! [`Placer::settle`] then iterates positions and centres to convergence with fixed labels.
//! Alternating between them takes hundreds of rounds where thin sets cross at a small angle (on the
//! paper's sets six of ten hull runs had not converged after 200). But the value of a cluster as a
//! function of its centre alone,
//!
//! ```text
//! Phi(c) = sum_i min over x in T_i of |x - c|^2 + lambda * Pen_i(x),    grad Phi / 2 = sum_i (c - x_i(c))
//! ```
//!
//! is convex and piecewise quadratic. Within a piece the position `x_i` follows the centre along
//! the flat it lies in, with directions `Q_i`, so the curvature is `sum_i (1 - Q_i Q_i')` and a
//! Newton step reaches the minimum of the piece. A step that does not lower Phi is replaced by the
//! mean of the positions, which always does.

use rayon::prelude::*;

use super::Region;
use super::hull::{Corral, Hull, Solver, range};
use crate::oracle::k_means::means;
use crate::points::squared_distance;
use crate::{Candidates, Partition, Points};

/// Maximum number of rounds of one settling; most clusters need fewer than ten.
const ROUNDS: usize = 40;

/// The position of one object. The next search starts from the corral.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub(super) centre: u32,
    /// The value at the centre it was found for.
    pub(super) value: f64,
    /// `lambda * penalty`.
    pub(super) penalty: f64,
    /// Squared distance from the mean of the set to the centre, which decides ties.
    tie: f64,
    pub(super) place: Vec<f64>,
    corral: Corral,
    /// Directions in which the position follows a centre that moves slightly, one after another.
    follows: Vec<f64>,
}

/// The bounding boxes of all objects.
struct Bounds {
    low: Points,
    high: Points,
    /// `lambda` times the lowest penalty.
    penalty: Vec<f64>,
}

impl Bounds {
    fn new(candidates: &Candidates, lambda: f64) -> Self {
        let (n, q) = (candidates.objects(), candidates.features());
        let (mut low, mut high) = (Vec::with_capacity(n * q), Vec::with_capacity(n * q));
        for i in 0..n {
            for f in 0..q {
                let (least, largest) = range(candidates.feature(i, f));
                low.push(least);
                high.push(largest);
            }
        }
        let least = |p: &[f64]| if p.is_empty() { 0.0 } else { range(p).0 };
        let penalty = (0..n).map(|i| lambda * least(candidates.penalties(i))).collect();
        Self { low: Points::trusted(low, q), high: Points::trusted(high, q), penalty }
    }

    /// Puts the point of box `i` nearest to `centre` into `place`; returns its value.
    fn nearest(&self, i: usize, centre: &[f64], place: &mut [f64]) -> f64 {
        for (f, slot) in place.iter_mut().enumerate() {
            *slot = centre[f].clamp(self.low.row(i)[f], self.high.row(i)[f]);
        }
        squared_distance(place, centre) + self.penalty[i]
    }
}

/// Chooses positions repeatedly as the centres move.
pub(super) struct Placer<'c> {
    candidates: &'c Candidates,
    region: Region,
    lambda: f64,
    bounds: Bounds,
    means: Points,
    pub(super) spots: Vec<Spot>,
}

impl<'c> Placer<'c> {
    pub(super) fn new(candidates: &'c Candidates, region: Region, lambda: f64) -> Self {
        let spot = Spot {
            centre: 0,
            value: f64::INFINITY,
            penalty: 0.0,
            tie: f64::INFINITY,
            place: vec![0.0; candidates.features()],
            corral: Corral::default(),
            follows: Vec::new(),
        };
        Self {
            candidates,
            region,
            lambda,
            bounds: Bounds::new(candidates, lambda),
            means: candidates.means(),
            spots: vec![spot; candidates.objects()],
        }
    }

    /// Step (III): for every object, the centre and the point of its set with the lowest value.
    pub(super) fn place(&mut self, centres: &Points) {
        let Self { candidates, region, lambda, bounds, means, spots } = self;
        let memory = || (Solver::default(), vec![0.0; candidates.features()], Corral::default());
        spots.par_iter_mut().enumerate().for_each_init(memory, |(solver, place, corral), (i, spot)| {
            let hull = match region {
                Region::Hull => Some(Hull::new(candidates, i, *lambda)),
                Region::Box => None,
            };
            // The previous centre first: its value is a sharp bound for all others.
            let first = if (spot.centre as usize) < centres.len() { spot.centre as usize } else { 0 };
            (spot.value, spot.tie) = (f64::INFINITY, f64::INFINITY);
            for k in std::iter::once(first).chain((0..centres.len()).filter(|&k| k != first)) {
                let centre = centres.row(k);
                let bound = bounds.nearest(i, centre, place);
                if bound > spot.value {
                    continue;
                }
                let (value, penalty) = match &hull {
                    None => (bound, bounds.penalty[i]),
                    Some(hull) => {
                        corral.members.clear();
                        corral.weights.clear();
                        if k == first {
                            corral.clone_from(&spot.corral);
                        }
                        match solver.nearest(hull, centre, spot.value, corral, place) {
                            Some(nearest) => (nearest.value, nearest.penalty),
                            None => continue,
                        }
                    }
                };
                let tie = squared_distance(means.row(i), centre);
                let order = value.total_cmp(&spot.value).then(tie.total_cmp(&spot.tie));
                if order.then((k as u32).cmp(&spot.centre)).is_lt() || k == first {
                    (spot.centre, spot.value, spot.penalty, spot.tie) = (k as u32, value, penalty, tie);
                    spot.place.copy_from_slice(place);
                    spot.corral.clone_from(corral);
                }
            }
        });
    }

    /// Iterates positions and centres to convergence, with every object staying in its cluster.
    pub(super) fn settle(&mut self, still: f64) {
        let labels: Vec<u32> = self.spots.iter().map(|s| s.centre).collect();
        let bound = labels.iter().max().map_or(0, |&l| l as usize + 1);
        let partition = Partition::from_bounded(&labels, bound);
        let labels = partition.labels();
        let mut clusters: Vec<Descent> = means(&self.places(), &partition).rows().map(Descent::new).collect();
        for _ in 0..ROUNDS {
            self.project(labels, &clusters);
            for cluster in &mut clusters {
                cluster.begin();
            }
            for (spot, &l) in self.spots.iter().zip(labels) {
                clusters[l as usize].add(spot);
            }
            for cluster in &mut clusters {
                cluster.step(0.01 * still);
            }
            if clusters.iter().all(|cluster| cluster.rests) {
                break;
            }
        }
        for cluster in &mut clusters {
            cluster.end_at_the_best();
        }
        self.project(labels, &clusters);
    }

    /// All positions as points.
    pub(super) fn places(&self) -> Points {
        let values = self.spots.iter().flat_map(|s| s.place.iter().copied()).collect();
        Points::trusted(values, self.candidates.features())
    }

    /// The position of every object for the trial centre of its own cluster, unless that has
    /// converged.
    fn project(&mut self, labels: &[u32], clusters: &[Descent]) {
        let Self { candidates, region, lambda, bounds, spots, .. } = self;
        spots.par_iter_mut().enumerate().for_each_init(Solver::default, |solver, (i, spot)| {
            let cluster = &clusters[labels[i] as usize];
            if cluster.rests {
                return;
            }
            let centre = cluster.trial.as_slice();
            let q = centre.len();
            spot.follows.clear();
            match region {
                Region::Box => {
                    spot.value = bounds.nearest(i, centre, &mut spot.place);
                    for f in 0..q {
                        if bounds.low.row(i)[f] < centre[f] && centre[f] < bounds.high.row(i)[f] {
                            spot.follows.extend((0..q).map(|g| f64::from(u8::from(f == g))));
                        }
                    }
                }
                Region::Hull => {
                    let hull = Hull::new(candidates, i, *lambda);
                    let corral = &mut spot.corral;
                    if let Some(found) = solver.nearest(&hull, centre, f64::INFINITY, corral, &mut spot.place)
                    {
                        (spot.value, spot.penalty) = (found.value, found.penalty);
                    }
                    spot.follows.extend_from_slice(solver.follows(&hull, centre, corral));
                }
            }
        });
    }
}

/// One cluster on its way to convergence.
struct Descent {
    /// The centre its members are projected to next.
    trial: Vec<f64>,
    /// The best centre so far, the sum of values there, and the mean of the positions.
    best: Vec<f64>,
    least: f64,
    mean: Vec<f64>,
    rests: bool,
    size: f64,
    value: f64,
    sum: Vec<f64>,
    curvature: Vec<f64>,
}

impl Descent {
    fn new(centre: &[f64]) -> Self {
        let q = centre.len();
        Self {
            trial: centre.to_vec(),
            best: centre.to_vec(),
            least: f64::INFINITY,
            mean: centre.to_vec(),
            rests: false,
            size: 0.0,
            value: 0.0,
            sum: vec![0.0; q],
            curvature: vec![0.0; q * q],
        }
    }

    fn begin(&mut self) {
        (self.size, self.value) = (0.0, 0.0);
        self.sum.fill(0.0);
        self.curvature.fill(0.0);
    }

    fn add(&mut self, spot: &Spot) {
        let q = self.sum.len();
        self.size += 1.0;
        self.value += spot.value;
        self.sum.iter_mut().zip(&spot.place).for_each(|(s, x)| *s += x);
        for f in 0..q {
            self.curvature[f * q + f] += 1.0;
            for direction in spot.follows.chunks_exact(q) {
                for g in 0..q {
                    self.curvature[f * q + g] -= direction[f] * direction[g];
                }
            }
        }
    }

    /// A Newton step if the last one lowered the value, otherwise the mean of the positions, which
    /// always does.
    fn step(&mut self, still: f64) {
        if self.rests {
            return;
        }
        if self.value < self.least {
            self.best.copy_from_slice(&self.trial);
            self.least = self.value;
            self.mean = self.sum.iter().map(|s| s / self.size).collect();
            self.rests = squared_distance(&self.mean, &self.best).sqrt() <= still;
            let mut step: Vec<f64> =
                self.mean.iter().zip(&self.best).map(|(m, b)| self.size * (m - b)).collect();
            let finite = newton(&mut self.curvature, &mut step, self.size);
            let from = if finite { &self.best } else { &self.mean };
            let keep = f64::from(u8::from(finite));
            self.trial = from.iter().zip(&step).map(|(x, s)| x + keep * s).collect();
        } else if self.trial == self.mean {
            self.rests = true; // not even the mean is lower: nothing is left but rounding
        } else {
            self.trial.copy_from_slice(&self.mean);
        }
        if self.rests {
            self.trial.copy_from_slice(&self.best);
        }
    }

    fn end_at_the_best(&mut self) {
        self.rests = false;
        self.trial.copy_from_slice(&self.best);
    }
}

/// Solves `curvature * x = step` in place by Cholesky factors, with a small multiple of `size`
/// added to make `curvature` positive definite; returns false if the answer is not finite.
fn newton(curvature: &mut [f64], step: &mut [f64], size: f64) -> bool {
    let q = step.len();
    for f in 0..q {
        curvature[f * q + f] += 1e-10 * size;
    }
    for f in 0..q {
        for g in 0..=f {
            let mut sum = curvature[f * q + g];
            for h in 0..g {
                sum -= curvature[f * q + h] * curvature[g * q + h];
            }
            curvature[f * q + g] = if f == g { sum.sqrt() } else { sum / curvature[g * q + g] };
        }
    }
    for f in 0..q {
        for g in 0..f {
            step[f] -= curvature[f * q + g] * step[g];
        }
        step[f] /= curvature[f * q + f];
    }
    for f in (0..q).rev() {
        for g in f + 1..q {
            step[f] -= curvature[g * q + f] * step[g];
        }
        step[f] /= curvature[f * q + f];
    }
    step.iter().all(|s| s.is_finite())
}
