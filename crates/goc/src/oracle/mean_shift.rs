//! Mean-shift (Fukunaga & Hostetler 1975, Comaniciu & Meer 2002): every point climbs to a mode of
//! the density.
//!
//! From each point the window moves to the mean of the points within the bandwidth `h`, which goes
//! uphill on the density, until a step is below `h / 1000`. Modes closer than `h` to a denser one
//! are dropped, and every point is assigned to the nearest remaining mode. This is scikit-learn's
//! procedure, and the labels are identical.
//!
//! # Decisions
//! - The number of clusters follows from the bandwidth: **K is not used** (it must still be from 1 to n, as
//!   for every oracle).
//! - The default bandwidth is scikit-learn's: the mean over the points of the distance to the
//!   `k`-th nearest point, counting the point itself, with `k = floor(quantile n)`. Here `k` is at
//!   least 2: with 1 the bandwidth is 0, which scikit-learn rejects.
//! - If so many points are equal that the rule still gives 0, every distinct point is a cluster:
//!   the limit of small bandwidths.
//! - Nothing is random. Each climb sums in the order of the points, so the number of threads has no
//!   effect.
//!
//! Cost: O(n^2 q) for one step of all windows, with some tens of steps; O(n q) memory.

use super::graph::{distances_are_finite, nearest};
use super::{Oracle, OracleError, Result, Start};
use crate::kernel::{CentreLanes, LANES};
use crate::points::squared_distance;
use crate::{Partition, Points, Stream};
use rayon::prelude::*;

/// The bandwidth of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Bandwidth {
    /// This value, in the units of the (scaled) features.
    Given(f64),
    /// The mean distance to the neighbour within whose distance this share of all points lies.
    Quantile(f64),
}

/// The mean-shift oracle. The defaults are scikit-learn's: bandwidth by the quantile 0.3, 300
/// steps.
///
/// ```
/// use goc::{Points, oracle::mean_shift::{Bandwidth, MeanShift}};
/// let points = Points::new(vec![0.0, 0.1, 5.0, 5.1, 5.2], 1)?;
/// let fit = MeanShift::default().bandwidth(Bandwidth::Given(1.0)).fit(&points)?;
/// assert_eq!(fit.partition.canonical().labels(), [0, 0, 1, 1, 1]);
/// assert!(fit.converged && (fit.modes.row(0)[0] - 5.1).abs() < 1e-12); // the densest top comes first
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MeanShift {
    bandwidth: Bandwidth,
    max_iterations: usize,
}

impl Default for MeanShift {
    fn default() -> Self {
        Self { bandwidth: Bandwidth::Quantile(0.3), max_iterations: 300 }
    }
}

/// The result of mean-shift.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanShiftFit {
    /// The clusters.
    pub partition: Partition,
    /// The modes, one per cluster, the densest first.
    pub modes: Points,
    /// The bandwidth used.
    pub bandwidth: f64,
    /// Steps of the window that took longest, not counting the last small one.
    pub iterations: usize,
    /// False if some window was still moving at the limit.
    pub converged: bool,
}

/// The end point of one window.
struct Climb {
    top: Vec<f64>,
    density: f64,
    steps: usize,
    converged: bool,
}

impl MeanShift {
    setters! {
        /// The bandwidth; validated in `fit`.
        bandwidth: Bandwidth;
        /// The maximum number of steps of a window; at least one.
        max_iterations: usize = max_iterations.max(1);
    }

    /// The full result, of which [`Oracle::cluster`] returns the partition.
    pub fn fit(&self, points: &Points) -> Result<MeanShiftFit> {
        if points.is_empty() {
            return Err(OracleError::NoPoints);
        }
        if !distances_are_finite(points) {
            return Err(failed("the distances are too large to be squared; scale the features".into()));
        }
        let h = self.width(points)?;
        if h == 0.0 {
            return Ok(every_distinct_point(points));
        }
        let lanes = CentreLanes::from_points(points);
        let climbs: Vec<Climb> = points
            .rows()
            .collect::<Vec<_>>()
            .into_par_iter()
            .map(|row| self.climb(points, &lanes, row, h))
            .collect();
        let modes = merge(&climbs, points.features(), h);
        let tops = CentreLanes::from_points(&modes);
        let labels: Vec<u32> = points.rows().map(|row| tops.nearest(row).0 as u32).collect();
        let partition = Partition::from_bounded(&labels, modes.len());
        // A mode in the middle of a ring may be nearest to no point: it is not a cluster.
        let mut used = vec![false; modes.len()];
        labels.iter().for_each(|&l| used[l as usize] = true);
        let rows: Vec<usize> = (0..modes.len()).filter(|&k| used[k]).collect();
        Ok(MeanShiftFit {
            partition,
            modes: modes.subset(&rows),
            bandwidth: h,
            iterations: climbs.iter().map(|c| c.steps).max().unwrap_or(0),
            converged: climbs.iter().all(|c| c.converged),
        })
    }

    fn width(&self, points: &Points) -> Result<f64> {
        match self.bandwidth {
            Bandwidth::Given(h) if h > 0.0 && h.is_finite() => Ok(h),
            Bandwidth::Given(h) => {
                Err(failed(format!("the bandwidth is {h}, but must be above 0 and finite")))
            }
            Bandwidth::Quantile(share) => estimate_bandwidth(points, share),
        }
    }

    /// Moves one window from `from` to its mode.
    fn climb(&self, points: &Points, lanes: &CentreLanes, from: &[f64], h: f64) -> Climb {
        let stop = 1e-3 * h;
        let mut at = from.to_vec();
        let mut next = vec![0.0; at.len()];
        let mut steps = 0;
        loop {
            let density = flat_mean(points, lanes, &at, squared(h), &mut next);
            // A window can be empty only if rounding moved it out of reach of its points.
            let converged = density == 0.0 || squared_distance(&at, &next).sqrt() <= stop;
            if density > 0.0 {
                std::mem::swap(&mut at, &mut next);
            }
            if converged || steps == self.max_iterations {
                return Climb { top: at, density, steps, converged };
            }
            steps += 1;
        }
    }
}

/// The squared bandwidth, kept finite: infinitely distant points are padding.
fn squared(h: f64) -> f64 {
    (h * h).min(f64::MAX)
}

/// The mean of the points within `radius2` (a squared distance), and their number.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn flat_mean(points: &Points, lanes: &CentreLanes, at: &[f64], radius2: f64, mean: &mut [f64]) -> f64 {
    mean.fill(0.0);
    let mut seen = 0.0;
    for first in (0..lanes.padded()).step_by(LANES) {
        let d = lanes.squared_block(at, first);
        for l in 0..LANES {
            // Padding is infinitely far away, so the row exists.
            if d[l] <= radius2 {
                for (m, x) in mean.iter_mut().zip(points.row(first + l)) {
                    *m += x;
                }
                seen += 1.0;
            }
        }
    }
    mean.iter_mut().for_each(|m| *m /= seen);
    seen
}

/// scikit-learn's rule: the mean distance to the `floor(share n)`-th neighbour, counting the point
/// itself.
///
/// ```
/// use goc::{Points, oracle::mean_shift::estimate_bandwidth};
/// let points = Points::new(vec![0.0, 1.0, 3.0, 7.0], 1)?;
/// assert_eq!(estimate_bandwidth(&points, 0.5)?, (1.0 + 1.0 + 2.0 + 4.0) / 4.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn estimate_bandwidth(points: &Points, share: f64) -> Result<f64> {
    if !(0.0..=1.0).contains(&share) {
        return Err(failed(format!("the quantile is {share}, but must be from 0 to 1")));
    }
    let n = points.len();
    if n == 0 {
        return Err(OracleError::NoPoints);
    }
    let k = ((n as f64 * share) as usize).max(2);
    let far =
        nearest(points, k - 1).iter().map(|near| near.last().map_or(0.0, |last| last.0.sqrt())).sum::<f64>();
    Ok(far / n as f64)
}

/// Drops modes within `h` of a denser one. For equal densities the larger coordinates come first,
/// as in scikit-learn.
fn merge(climbs: &[Climb], q: usize, h: f64) -> Points {
    let mut order: Vec<&Climb> = climbs.iter().collect();
    order.sort_by(|a, b| {
        let coordinates = || a.top.iter().zip(&b.top).map(|(x, y)| y.total_cmp(x)).find(|o| o.is_ne());
        b.density.total_cmp(&a.density).then_with(|| coordinates().unwrap_or(std::cmp::Ordering::Equal))
    });
    let mut kept: Vec<f64> = Vec::new();
    for climb in order {
        if kept.chunks_exact(q).all(|top| squared_distance(top, &climb.top) > squared(h)) {
            kept.extend_from_slice(&climb.top);
        }
    }
    Points::trusted(kept, q)
}

fn every_distinct_point(points: &Points) -> MeanShiftFit {
    let modes = points.subset(&points.distinct_rows());
    let lanes = CentreLanes::from_points(&modes);
    let labels: Vec<u32> = points.rows().map(|row| lanes.nearest(row).0 as u32).collect();
    let partition = Partition::from_bounded(&labels, modes.len());
    MeanShiftFit { partition, modes, bandwidth: 0.0, iterations: 0, converged: true }
}

fn failed(reason: String) -> OracleError {
    OracleError::Failed { oracle: "mean-shift".into(), reason }
}

impl Oracle for MeanShift {
    fn name(&self) -> &str {
        "mean-shift"
    }

    fn cluster(&self, points: &Points, start: Start<'_>, _stream: &mut Stream) -> Result<Partition> {
        start.check(points)?;
        self.fit(points).map(|fit| fit.partition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::graph::tests::{
        blobs, does_not_mind_order_place_and_direction, letters, refuses_bad_requests, works_inside_goc,
    };
    use crate::random::stream;

    fn flat(h: f64) -> MeanShift {
        MeanShift::default().bandwidth(Bandwidth::Given(h))
    }

    #[test]
    fn flat_windows_group_as_scikit_learn_does() {
        // scikit-learn 1.9.1: MeanShift(bandwidth): n_iter_, cluster_centers_[0], labels_ by first
        // appearance.
        let want = [
            (
                None,
                4,
                [12.398514127856943, 9.331732309488363],
                "AAABAAABACABAAABAAAAAAABAAABABABAAABAAACAAABAAABAAABAAABAAAC",
            ),
            (
                Some(1.5),
                3,
                [15.909687600967784, 9.888582461668799],
                "ABCDABCDAECDABCDABCFABCDABCDAGCDABCDABCHABCDABCDAICDABCDABCE",
            ),
            (
                Some(3.0),
                12,
                [14.640887367073447, 9.094846916671555],
                "ABBCABBCADBCABBCABBBABBCABBCABBCABBCABBEABBCABBCABBCABBCABBD",
            ),
        ];
        let points = blobs(1, 60, 2, 4);
        for (h, iterations, mode, labels) in want {
            let oracle = h.map_or(MeanShift::default(), flat);
            let fit = oracle.fit(&points).unwrap();
            assert!(fit.partition.same_grouping(&letters(labels)), "{h:?}");
            assert_eq!((fit.iterations, fit.converged), (iterations, true), "{h:?}");
            assert!(squared_distance(fit.modes.row(0), &mode) < 1e-24, "{h:?}");
        }
        let want = "ABCABABCAAABCABABCABABCABABCABABCABABCAAABCABABCAAABCABABCABABCABABCABABCABABCAA";
        let fit = MeanShift::default().fit(&blobs(2, 80, 3, 5)).unwrap();
        assert!(fit.partition.same_grouping(&letters(want)));
    }

    #[test]
    fn the_bandwidth_rule_is_scikit_learns() {
        // scikit-learn 1.9.1: estimate_bandwidth(X), estimate_bandwidth(X, quantile=0.1).
        let close = |got: f64, want: f64| assert!((got - want).abs() < 1e-13, "{got} {want}");
        let points = blobs(1, 60, 2, 4);
        close(estimate_bandwidth(&points, 0.3).unwrap(), 4.696541968988385);
        close(estimate_bandwidth(&points, 0.1).unwrap(), 1.1790895137829152);
        let points = blobs(2, 80, 3, 5);
        close(estimate_bandwidth(&points, 0.3).unwrap(), 7.60076766862326);
        close(estimate_bandwidth(&points, 0.1).unwrap(), 1.585983596092257);
    }

    #[test]
    fn order_place_and_direction_do_not_matter() {
        does_not_mind_order_place_and_direction(|points| flat(2.0).fit(points).unwrap().partition);
    }

    #[test]
    fn threads_do_not_change_the_bytes() {
        let points = blobs(6, 300, 3, 5);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| flat(1.0).fit(&points).unwrap())
        };
        assert_eq!(with(1), with(3));
    }

    #[test]
    fn one_step_is_not_convergence() {
        let points = blobs(1, 60, 2, 4);
        let fit = flat(3.0).max_iterations(1).fit(&points).unwrap();
        assert_eq!((fit.converged, fit.iterations, fit.partition.len()), (false, 1, 60));
    }

    #[test]
    fn one_point_equal_points_and_k_equal_to_n_are_defined() {
        let rng = &mut stream(1, 1);
        let one = Points::new(vec![5.0], 1).unwrap();
        let equal = Points::new(vec![5.0; 12], 2).unwrap();
        for oracle in [MeanShift::default(), flat(1.0)] {
            assert_eq!(oracle.cluster(&one, Start::K(1), rng).unwrap().labels(), [0]);
            assert_eq!(oracle.cluster(&equal, Start::K(6), rng).unwrap().labels(), [0; 6]);
        }
        // The rule gives 0 where most points are equal: each distinct point is a cluster.
        let mostly = Points::new(vec![1.0, 1.0, 2.0, 1.0, 1.0, 2.0, 1.0, 2.0, 1.0], 1).unwrap();
        let fit = MeanShift::default().fit(&mostly).unwrap();
        assert_eq!((fit.bandwidth, fit.partition.labels()), (0.0, &[0, 0, 1, 0, 0, 1, 0, 1, 0][..]));
        // K is not used.
        let points = blobs(1, 60, 2, 4);
        let at = |k| MeanShift::default().cluster(&points, Start::K(k), &mut stream(1, 1)).unwrap();
        assert_eq!(at(1), at(60));
    }

    #[test]
    fn a_window_whose_square_overflows_sees_all_points_and_no_more() {
        let points = blobs(1, 55, 3, 3);
        for h in [1e150, 1e155, f64::MAX] {
            let fit = flat(h).fit(&points).unwrap();
            assert_eq!((fit.partition.k(), fit.modes.len()), (1, 1), "{h:e}");
        }
    }

    #[test]
    fn bad_parameters_are_named() {
        let points = blobs(1, 10, 2, 1);
        for h in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = flat(h).fit(&points).unwrap_err().to_string();
            assert_eq!(error, format!("mean-shift: the bandwidth is {h}, but must be above 0 and finite"));
        }
        for share in [-0.1, 1.1, f64::NAN] {
            let oracle = MeanShift::default().bandwidth(Bandwidth::Quantile(share));
            let error = oracle.fit(&points).unwrap_err().to_string();
            assert_eq!(error, format!("mean-shift: the quantile is {share}, but must be from 0 to 1"));
        }
        refuses_bad_requests(&MeanShift::default());
    }

    #[test]
    fn it_works_inside_goc() {
        works_inside_goc(&flat(2.0));
    }
}
