//! FOPTICS: OPTICS for uncertain objects (Kriegel & Pfeifle 2005, in the form used in astronomy:
//! Fuentes et al. 2017).
//!
//! OPTICS (Ankerst et al. 1999) orders the objects such that dense regions are contiguous. The
//! *core distance* of an object is the distance to its `mu`-th nearest object, counting itself, and
//! object `j` is *reached* from `i` at
//!
//! ```text
//! reach_ij = max(core_i, |x_i - x_j|)
//! ```
//!
//! The walk continues from each object to the one reached at the smallest distance from any object
//! already visited. Valleys in the distances along the walk are clusters; cut at `eps` they are
//! those of DBSCAN.
//!
//! If objects are uncertain, all these distances have distributions. Every object is one of its
//! candidates, all equally likely and independent of the others, and the walk uses the expectations
//!
//! ```text
//! core_i = E[d to the mu-th nearest],    reach_ij = E[max(d to the mu-th nearest of i, |x_i - x_j|)]
//! ```
//!
//! over the possible worlds: all of them if there are no more than requested, otherwise that many
//! drawn at random. Within a world the distances of one object are measured from one and the same
//! candidate, so they are dependent, as they should be; FDBSCAN ([`super::fdbscan`]) treats them as
//! independent.
//!
//! # From distances to clusters
//! If the walk is cut at `eps`, the border of a cluster depends on where the walk came from, and
//! between uncertain objects `reach_ij` differs from `reach_ji`. To make the result independent of
//! the order of the objects, clusters are what walks from all of them agree on. Objects with a core
//! distance within `eps` are dense. Dense objects are in one cluster if one is reached from the
//! other within `eps`. Any other object joins the dense one from which it is reached at the
//! smallest distance, if that is within `eps`, and is noise otherwise. For certain objects these
//! are the clusters of DBSCAN. The default of `eps` is twice the median of the expected core
//! distances, a rule of thumb: the objects around a typical one may be twice as far apart.
//!
//! Cost: `W n^2 q` for the distances, `n^2` for the walk; memory `n^2` numbers.

use rayon::prelude::*;

use super::possible_worlds::{draw, enumerate};
use super::{Grouped, Method, MethodError, Result, Tick};
use crate::points::squared_distance;
use crate::scale::median;
use crate::{Candidates, Partition, Points};

/// FOPTICS.
///
/// ```
/// use goc::baselines::{Method, foptics::Foptics};
/// use goc::candidates::CandidatesBuilder;
/// let mut builder = CandidatesBuilder::new(1);
/// for set in [[0.0, 0.2], [0.3, 0.5], [0.6, 0.7], [7.0, 9.0]] {
///     builder.push(&set, &[])?;
/// }
/// let grouped = Foptics::new(3).eps(1.0).group(&builder.build()?, 1)?;
/// assert_eq!(grouped.partition.labels(), [0, 0, 0, 1]);
/// assert_eq!(grouped.noise, [false, false, false, true]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Foptics {
    min_points: usize,
    eps: Option<f64>,
    worlds: usize,
}

/// The walk, and the distances along it.
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    /// The objects in the order of the walk.
    pub order: Vec<usize>,
    /// The distance at which each object was reached; infinite where the walk restarted.
    pub reachability: Vec<f64>,
    /// The expected core distance of each object; infinite if there are too few objects.
    pub core: Vec<f64>,
}

impl Foptics {
    /// Density is measured by the distance to the `min_points`-th nearest object, counting itself;
    /// 100 worlds.
    pub fn new(min_points: usize) -> Self {
        Self { min_points, eps: None, worlds: 100 }
    }

    setters! {
        /// The radius at which the walk is cut, in scaled features.
        eps: f64 = Some(eps);
        /// The number of worlds to draw; at least one.
        worlds: usize = worlds.max(1);
    }

    /// The walk, starting from the first object, and restarting from the first unvisited one when
    /// no further object is reached.
    pub fn walk(&self, candidates: &Candidates, seed: u64) -> Result<Walk> {
        let (core, reach) = self.distances(candidates, seed)?;
        Ok(walk(core, &reach))
    }

    /// Expected core distances, and the expected distances at which `j` is reached from `i`, in
    /// row-major order.
    fn distances(&self, candidates: &Candidates, seed: u64) -> Result<(Vec<f64>, Vec<f64>)> {
        if self.min_points == 0 {
            let (method, name, must) = ("foptics", "min_points", "at least 1");
            return Err(MethodError::Parameter { method, name, value: 0.0, must });
        }
        let worlds =
            enumerate(candidates, self.worlds).unwrap_or_else(|| draw(candidates, self.worlds, seed));
        let worlds: Vec<(Points, f64)> =
            worlds.iter().map(|world| (candidates.chosen(&world.choice), world.probability)).collect();
        let (core, reach) = expected(&worlds, self.min_points);
        if self.min_points <= candidates.objects() && reach.iter().any(|r| !r.is_finite()) {
            let reason = "the distances are too large to be squared; scale the features".into();
            return Err(MethodError::Failed { method: "foptics", reason });
        }
        Ok((core, reach))
    }
}

impl Method for Foptics {
    fn name(&self) -> &str {
        "foptics"
    }

    /// The iterations are the worlds, as many as were requested at most.
    fn group_watched(&self, candidates: &Candidates, seed: u64, _: Tick) -> Result<Grouped> {
        if let Some(value) = self.eps.filter(|eps| !(eps.is_finite() && *eps >= 0.0)) {
            let (method, name, must) = ("foptics", "eps", "a finite number not below 0");
            return Err(MethodError::Parameter { method, name, value, must });
        }
        let (core, reach) = self.distances(candidates, seed)?;
        let eps = self.eps.unwrap_or_else(|| 2.0 * median(core.clone()));
        let (labels, noise) = clusters(&core, &reach, eps);
        Ok(Grouped { noise, iterations: self.worlds, ..Grouped::new(Partition::from_labels(&labels)) })
    }
}

/// A label for each object, a separate one for each noise object, and which are noise.
fn clusters(core: &[f64], reach: &[f64], eps: f64) -> (Vec<usize>, Vec<bool>) {
    let n = core.len();
    // With too few objects the core distances are infinite, and so is their median.
    let dense: Vec<bool> = core.iter().map(|core| core.is_finite() && *core <= eps).collect();
    const NONE: usize = usize::MAX;
    let mut labels = vec![NONE; n];
    for founder in (0..n).filter(|&i| dense[i]) {
        if labels[founder] != NONE {
            continue;
        }
        labels[founder] = founder;
        let mut queue = vec![founder];
        while let Some(i) = queue.pop() {
            for j in (0..n).filter(|&j| dense[j]) {
                if labels[j] == NONE && reach[i * n + j].min(reach[j * n + i]) <= eps {
                    labels[j] = founder;
                    queue.push(j);
                }
            }
        }
    }
    let mut noise = vec![false; n];
    for j in (0..n).filter(|&j| !dense[j]) {
        let from = |i: usize| if dense[i] { reach[i * n + j] } else { f64::INFINITY };
        let nearest = super::alternating_minimisation::least((0..n).map(from));
        noise[j] = !dense[nearest] || from(nearest) > eps;
        // Noise labels come after the clusters.
        labels[j] = if noise[j] { n + j } else { labels[nearest] };
    }
    (labels, noise)
}

/// Expected core distances, and the expected distances at which `j` is reached from `i`, in
/// row-major order.
fn expected(worlds: &[(Points, f64)], min_points: usize) -> (Vec<f64>, Vec<f64>) {
    let n = worlds[0].0.len();
    let rows: Vec<(f64, Vec<f64>)> = (0..n)
        .into_par_iter()
        .map(|i| {
            let (mut core, mut reach) = (0.0, vec![0.0; n]);
            let mut distances = vec![0.0; n];
            let mut sorted = vec![0.0; n];
            for (points, probability) in worlds {
                let own = points.row(i);
                for (slot, row) in distances.iter_mut().zip(points.rows()) {
                    *slot = squared_distance(own, row).sqrt();
                }
                let nearest = if min_points > n {
                    f64::INFINITY
                } else {
                    sorted.copy_from_slice(&distances);
                    *sorted.select_nth_unstable_by(min_points - 1, f64::total_cmp).1
                };
                core += probability * nearest;
                for (sum, distance) in reach.iter_mut().zip(&distances) {
                    *sum += probability * distance.max(nearest);
                }
            }
            (core, reach)
        })
        .collect();
    let (core, reach): (Vec<f64>, Vec<Vec<f64>>) = rows.into_iter().unzip();
    (core, reach.concat())
}

/// Always continues to the object reached at the smallest distance, the first on a tie.
fn walk(core: Vec<f64>, reach: &[f64]) -> Walk {
    let n = core.len();
    let (mut order, mut reachability) = (Vec::with_capacity(n), vec![f64::INFINITY; n]);
    let mut left: Vec<usize> = (0..n).collect();
    while !left.is_empty() {
        let least = super::alternating_minimisation::least(left.iter().map(|&j| reachability[j]));
        let i = left.remove(least);
        order.push(i);
        if core[i].is_finite() {
            for &j in &left {
                reachability[j] = reachability[j].min(reach[i * n + j]);
            }
        }
    }
    Walk { order, reachability, core }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::fdbscan::Fdbscan;
    use crate::baselines::testing::{blobs, identical, one_object, same_on_any_threads};
    use crate::candidates::CandidatesBuilder;

    /// Pseudo-random, between -0.5 and 0.5; Python's `math.fmod(s * s * 0.618033988749895, 1) -
    /// 0.5`.
    fn step(s: usize) -> f64 {
        ((s * s) as f64 * 0.618_033_988_749_895) % 1.0 - 0.5
    }

    /// Two groups of ten, one of them wide, and four far apart.
    fn plain() -> Points {
        let place = |i: usize| match i {
            0..20 => {
                let wide = [1.0, 3.0][i % 2];
                [6.0 * (i % 2) as f64 + wide * step(1 + 7 * i), wide * step(40 + 11 * i)]
            }
            _ => [40.0 * step(90 + i), 40.0 * step(200 + 3 * i)],
        };
        let rows: Vec<[f64; 2]> = (0..24).map(place).collect();
        Points::from_rows(&rows).unwrap()
    }

    #[test]
    fn one_candidate_each_is_the_walk_of_scikit_learn() {
        // scikit-learn 1.9.1, OPTICS(min_samples=4): ordering_, core_distances_, reachability_, and
        // cluster_optics_dbscan.
        let candidates = Candidates::from_points(&plain()).unwrap();
        let walk = Foptics::new(4).walk(&candidates, 1).unwrap();
        assert_eq!(
            walk.order,
            [0, 4, 10, 16, 8, 12, 18, 2, 14, 6, 13, 3, 7, 11, 9, 19, 1, 15, 17, 5, 23, 22, 21, 20]
        );
        let near = |found: &[f64], wanted: &[f64]| {
            for (a, b) in found.iter().zip(wanted) {
                assert!(a == b || (a - b).abs() < 1e-12, "{found:?}");
            }
        };
        near(
            &walk.core,
            &[
                0.150969819339529,
                1.277212050489106,
                0.453647007935044,
                1.09568334789853,
                0.226823503967677,
                1.573742335405348,
                0.618309313916496,
                0.719484371294421,
                0.374675741134734,
                1.43896874258671,
                0.270329539346403,
                1.047835460990134,
                0.307540245070158,
                0.876423330392011,
                0.492453788814906,
                1.480430972704718,
                0.283254320431544,
                0.883932238256578,
                0.288187447032025,
                0.828192792384522,
                19.738651848127493,
                11.820101491475938,
                3.973642149074734,
                2.06974639836631,
            ],
        );
        near(
            &walk.reachability,
            &[
                f64::INFINITY,
                0.828192792384522,
                0.288187447032025,
                0.876423330392011,
                0.150969819339529,
                0.883932238256578,
                0.492453788814906,
                0.876423330392011,
                0.226823503967677,
                1.047835460990134,
                0.150969819339529,
                0.719484371294421,
                0.270329539346403,
                4.212866975946056,
                0.465272260181901,
                0.828192792384522,
                0.150969819339529,
                0.828192792384522,
                0.283627114967951,
                1.09568334789853,
                19.582415070363314,
                10.139461835376062,
                3.199429351875406,
                1.573742335405348,
            ],
        );
        for (eps, wanted) in [
            (0.4, "A.A.A...A.A.A...A.A....."),
            (0.8, "A.A.A.ABA.ABA.A.A.A....."),
            (2.0, "ABABABABABABABABABAB...B"),
            (9.0, "AAAAAAAAAAAAAAAAAAAA..AA"),
        ] {
            let letter = |label: &Option<u32>| label.map_or('.', |l| (b'A' + l as u8) as char);
            assert_eq!(cut(&walk, eps).iter().map(letter).collect::<String>(), wanted, "{eps}");
        }
    }

    /// scikit-learn's `cluster_optics_dbscan`: along the walk who was reached beyond `eps` begins a
    /// cluster if it is dense, and is noise if not.
    fn cut(walk: &Walk, eps: f64) -> Vec<Option<u32>> {
        let (mut labels, mut clusters) = (vec![None; walk.order.len()], 0);
        for &i in &walk.order {
            let (reached, dense) = (walk.reachability[i] <= eps, walk.core[i] <= eps);
            clusters += u32::from(!reached && dense);
            labels[i] = (reached || dense).then(|| clusters - 1);
        }
        labels
    }

    /// The expectation over all worlds, by plain loops over them, for the first object's distances.
    fn by_brute_force(
        candidates: &Candidates,
        worlds: &[Vec<u32>],
        min_points: usize,
    ) -> (Vec<f64>, Vec<f64>) {
        let n = candidates.objects();
        let (mut core, mut reach) = (vec![0.0; n], vec![0.0; n * n]);
        for world in worlds {
            let place = |i: usize| candidates.candidate(i, world[i] as usize);
            for i in 0..n {
                let distance = |j: usize| {
                    place(i).iter().zip(place(j)).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
                };
                let mut all: Vec<f64> = (0..n).map(distance).collect();
                all.sort_by(f64::total_cmp);
                core[i] += all[min_points - 1] / worlds.len() as f64;
                for j in 0..n {
                    reach[i * n + j] += distance(j).max(all[min_points - 1]) / worlds.len() as f64;
                }
            }
        }
        (core, reach)
    }

    #[test]
    fn thirty_objects_are_walked_as_by_brute_force_over_all_worlds() {
        // Thirty objects, ten of them of two candidates: 1024 worlds.
        let mut builder = CandidatesBuilder::new(2);
        for i in 0..30 {
            let x = [5.0 * (i % 3) as f64 + 2.0 * step(1 + 7 * i), 2.0 * step(40 + 11 * i)];
            match i % 3 {
                0 => builder.push(&[x[0], x[1], x[0] + 2.0 * step(300 + i), x[1] + 2.0 * step(400 + i)], &[]),
                _ => builder.push(&x, &[]),
            }
            .unwrap();
        }
        let candidates = builder.build().unwrap();
        let worlds: Vec<Vec<u32>> = (0..1024u32)
            .map(|w| (0..30).map(|i| if i % 3 == 0 { w >> (i / 3) & 1 } else { 0 }).collect())
            .collect();
        let (core, reach) = by_brute_force(&candidates, &worlds, 4);
        let found = Foptics::new(4).worlds(1024).walk(&candidates, 1).unwrap();
        // The walk by the brute force's distances: the least of all that are left, by a search over
        // all pairs.
        let (mut order, mut reached) = (vec![0], vec![f64::INFINITY; 30]);
        while order.len() < 30 {
            let left = (0..30).filter(|j| !order.contains(j));
            let from =
                |j: usize| order.iter().map(|&i: &usize| reach[i * 30 + j]).fold(f64::INFINITY, f64::min);
            let (j, least) = left.map(|j| (j, from(j))).min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
            order.push(j);
            reached[j] = least;
        }
        assert_eq!(found.order, order);
        for i in 0..30 {
            assert!((found.core[i] - core[i]).abs() < 1e-12);
            assert!(
                found.reachability[i] == reached[i] || (found.reachability[i] - reached[i]).abs() < 1e-12
            );
        }
        // Drawn worlds come near: the mean of 4000, whose distances spread by less than 2.
        let drawn = Foptics::new(4).worlds(1000).walk(&candidates, 1).unwrap();
        assert_ne!(drawn.core, found.core);
        for (a, b) in drawn.core.iter().zip(&core) {
            assert!((a - b).abs() < 0.15, "{a} {b}");
        }
    }

    #[test]
    fn certain_objects_have_the_core_clusters_of_dbscan() {
        let candidates = Candidates::from_points(&plain()).unwrap();
        for eps in [0.5, 1.0, 2.0] {
            let optics = Foptics::new(4).eps(eps).group(&candidates, 1).unwrap();
            let dbscan = Fdbscan::new(4).eps(eps).group(&candidates, 1).unwrap();
            let core: Vec<usize> =
                (0..24).filter(|&i| dbscan.confidence[i] == 1.0 && !dbscan.noise[i]).collect();
            let of =
                |partition: &Partition| -> Vec<u32> { core.iter().map(|&i| partition.labels()[i]).collect() };
            let (a, b) = (of(&optics.partition), of(&dbscan.partition));
            assert!(Partition::from_labels(&a).same_grouping(&Partition::from_labels(&b)), "{eps}");
            assert_eq!((optics.k(), &optics.noise), (dbscan.k(), &dbscan.noise), "{eps}");
            // So has the walk, cut there.
            let walk = Foptics::new(4).walk(&candidates, 1).unwrap();
            let along: Vec<Option<u32>> = core.iter().map(|&i| cut(&walk, eps)[i]).collect();
            assert!(Partition::from_labels(&along).same_grouping(&Partition::from_labels(&a)), "{eps}");
        }
    }

    #[test]
    fn order_place_and_copies_do_not_matter_to_groups_that_are_far_apart() {
        let sets = |order: &dyn Fn(usize) -> usize, shift: f64, copies: usize| {
            let mut builder = CandidatesBuilder::new(1);
            for at in 0..20 * copies {
                let i = order(at % 20);
                let x = 30.0 * (i % 2) as f64 + step(7 * i) + shift;
                builder.push(&[x - 0.1, x, x + 0.1], &[]).unwrap();
            }
            builder.build().unwrap()
        };
        let labels =
            |candidates: &Candidates| Foptics::new(3).eps(2.0).group(candidates, 1).unwrap().partition;
        let wanted: Vec<u32> = (0..20).map(|i| i % 2).collect();
        assert_eq!(labels(&sets(&|i| i, 0.0, 1)).canonical().labels(), wanted);
        assert_eq!(labels(&sets(&|i| i, 1e3, 1)).canonical().labels(), wanted);
        assert_eq!(labels(&sets(&|i| i, 0.0, 2)).canonical().labels(), wanted.repeat(2));
        let other = |i: usize| (7 * i + 3) % 20;
        let expected: Vec<u32> = (0..20).map(|i| wanted[other(i)]).collect();
        assert!(labels(&sets(&other, 0.0, 1)).same_grouping(&Partition::from_labels(&expected)));
    }

    #[test]
    fn the_default_of_eps_does_not_hang_on_the_order_and_finds_small_groups_that_are_far_apart() {
        // Three groups of four; each order draws worlds of its own.
        let jitter = |s: usize| ((s as f64 * 0.618_033_988_749_895).fract() - 0.5) * 0.4;
        let row = |i: usize, j: usize| -> Vec<f64> {
            (0..3)
                .map(|f| {
                    let own = jitter(1 + i * 131 + f * 17) + 0.3 * jitter(7 + i * 31 + j * 977 + f * 5);
                    10.0 * ((i + f) % 3) as f64 + f as f64 + own
                })
                .collect()
        };
        let sets = |order: &dyn Fn(usize) -> usize| {
            let mut builder = CandidatesBuilder::new(3);
            for at in 0..12 {
                let rows: Vec<f64> = (0..3).flat_map(|j| row(order(at), j)).collect();
                builder.push(&rows, &[]).unwrap();
            }
            builder.build().unwrap()
        };
        for seed in 0..10 {
            let labels = |candidates: &Candidates| {
                let found = Foptics::new(3).worlds(8).group(candidates, seed).unwrap();
                found.partition.canonical().labels().to_vec()
            };
            assert_eq!(labels(&sets(&|i| i)), (0..12).map(|i| i % 3).collect::<Vec<u32>>());
            let shuffled = labels(&sets(&|i| (i * 5 + 3) % 12));
            let expected: Vec<u32> = (0..12).map(|i| ((i * 5 + 3) % 12) as u32 % 3).collect();
            assert!(Partition::from_labels(&shuffled).same_grouping(&Partition::from_labels(&expected)));
        }
    }

    #[test]
    fn the_number_of_threads_does_not_change_a_byte() {
        let candidates = blobs(40, 6, 2, 1.5, 3);
        same_on_any_threads(|| Foptics::new(3).worlds(30).walk(&candidates, 7).unwrap());
    }

    #[test]
    fn degenerate_inputs_have_a_defined_answer() {
        let one = Foptics::new(2).group(&one_object(), 1).unwrap();
        assert_eq!((one.partition.labels(), &one.noise[..]), (&[0][..], &[true][..]));
        assert_eq!(Foptics::new(1).group(&one_object(), 1).unwrap().noise, [false]);
        assert_eq!(Foptics::new(3).group(&identical(5), 1).unwrap().partition.len(), 5);
        let points = Points::new(vec![3.0; 10], 2).unwrap();
        let equal = Foptics::new(3).group(&Candidates::from_points(&points).unwrap(), 1).unwrap();
        assert_eq!((equal.partition.k(), equal.noise.contains(&true)), (1, false));
        let candidates = blobs(4, 3, 2, 0.5, 1);
        for wanted in [9, usize::MAX] {
            assert_eq!(Foptics::new(wanted).eps(100.0).group(&candidates, 1).unwrap().noise, [true; 4]);
        }
        let error = Foptics::new(2).eps(f64::NAN).group(&candidates, 1).unwrap_err();
        assert_eq!(error.to_string(), "foptics: eps is NaN, but must be a finite number not below 0");
        let error = Foptics::new(0).group(&candidates, 1).unwrap_err();
        assert_eq!(error.to_string(), "foptics: min_points is 0, but must be at least 1");
        let huge = Candidates::from_points(&Points::new(vec![1e300, -1e300, 0.0], 1).unwrap()).unwrap();
        let error = Foptics::new(2).group(&huge, 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "foptics: the distances are too large to be squared; scale the features"
        );
    }
}
