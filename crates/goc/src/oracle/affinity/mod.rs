//! Affinity propagation: objects vote for exemplars by passing messages (Frey & Dueck 2007).
//!
//! Given a similarity `s(i, k)` of every pair, it searches for exemplars, and an exemplar `e(i)`
//! for each object, such that the *net similarity*
//!
//! is large. The number of clusters is not requested: it follows from the preference. Two messages
//! are passed between all pairs, each damped by mixing it with its previous value:
//!
//! - responsibility `r(i,k) = s(i,k) - max over k' != k of (a(i,k') + s(i,k'))`: how well `k` suits
//!   `i`, beside its rivals;
//! - availability `a(i,k) = min(0, r(k,k) + sum over i' not in {i,k} of max(0, r(i',k)))`, and
//!   `a(k,k) = sum over i' != k of max(0, r(i',k))`: how much support `k` has to be an exemplar;
//!
//! and `k` is an exemplar while `a(k,k) + r(k,k) > 0`. The iteration ends when the exemplars have
//! been unchanged for a window of rounds.
//!
//! The conventions are those of R's apcluster, whose labels it reproduces
//! (`tests/affinity_on_paper.rs`): preference by a quantile (R's type 7) of the off-diagonal
//! similarities, damping 0.9, at most 1000 rounds, a window of 100. At the end every cluster takes
//! the member with the largest sum of similarities as its exemplar, once, and all objects choose
//! again.
//!
//! # Rules
//! - Ties are the rule, not the exception: in a cluster of two, each member is as good an exemplar
//!   as the other. If the messages stay balanced, both become exemplars, or neither. apcluster adds
//!   noise of one rounding error, which takes some 300 rounds to grow, longer than the window. Here
//!   each preference is raised by a draw from the stream of up to a millionth of the mean
//!   similarity (or of itself, if that is larger). Exact ties of three and more can still outlast
//!   the window; a longer one resolves them. The final choice, and all values that are returned,
//!   use the numbers as given.
//! - An object equally similar to two exemplars is assigned to the lower one.
//! - All similarities equal: no messages are needed. The result is one cluster around object 0
//!   unless the preference is larger than the similarity; then each object is its own cluster.
//!   Either is the optimum.
//! - A similarity of minus infinity forbids a pair. An object that no exemplar may represent
//!   becomes its own.
//! - Not converged: the exemplars of the last round are used, and `converged` is false. No exemplar
//!   at all is an error.
//!
//! Cost: O(n^2) a round in one pass over the rows, 24 n^2 bytes.

mod messages;
mod similarities;
#[cfg(test)]
mod tests;

pub use similarities::{Similarities, SimilaritiesError};

use super::dissimilarities::Dissimilarities;
use super::{Oracle, OracleError, Result, Start};
use crate::{Partition, Points, Stream};
use messages::Messages;
use rand::RngExt;

/// The suitability of an object as an exemplar: the larger, the more clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Preference {
    /// This quantile, 0 to 1, of the finite similarities off the diagonal (R's type 7, as apcluster's `q`).
    Quantile(f64),
    /// This value, in the unit of the similarities (squared scaled features for points).
    Value(f64),
}

/// The oracle.
///
/// As an [`Oracle`] on points, the similarity is minus the squared Euclidean distance. The K of its
/// [`Start`] is validated as everywhere but **not used**, nor are start centres: the preference
/// determines the number of clusters.
///
/// ```
/// use goc::Points;
/// use goc::oracle::affinity::{Affinity, Preference};
/// use goc::random::stream;
/// let points = Points::new(vec![0.0, 1.0, 2.0, 10.0, 11.0, 12.0], 1)?;
/// let fit = Affinity::default().preference(Preference::Value(-20.0)).fit(&points, &mut stream(1, 0))?;
/// assert_eq!(fit.exemplars, [1, 4]);
/// assert_eq!(fit.partition.labels(), [0, 0, 0, 1, 1, 1]);
/// assert_eq!(fit.net_similarity, -44.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Affinity {
    preference: Preference,
    damping: f64,
    max_iterations: usize,
    window: usize,
}

impl Default for Affinity {
    /// The defaults of apcluster: the median, damping 0.9, 1000 rounds, a window of 100.
    fn default() -> Self {
        Self { preference: Preference::Quantile(0.5), damping: 0.9, max_iterations: 1000, window: 100 }
    }
}

/// The result of affinity propagation.
#[derive(Clone, Debug, PartialEq)]
pub struct AffinityFit {
    /// The clusters; label `k` belongs to exemplar `k`.
    pub partition: Partition,
    /// The exemplar of each cluster, in ascending order.
    pub exemplars: Vec<usize>,
    /// The preference used, in the unit of the similarities; 0 when a quantile was requested and
    /// there are no similarities.
    pub preference: f64,
    /// The sum of the similarities of the objects to their exemplars, and of the preferences of the
    /// exemplars: the objective.
    pub net_similarity: f64,
    /// Rounds of messages.
    pub iterations: usize,
    /// True if the exemplars were unchanged for the whole window.
    pub converged: bool,
}

impl Affinity {
    setters! {
        /// The preference of an object as an exemplar; the median similarity by default.
        preference: Preference;
        /// The share of its previous value that a message keeps, at least 0.5 and below 1; 0.9 by
        /// default.
        damping: f64;
        /// The maximum number of rounds, at least 1; 1000 by default.
        max_iterations: usize;
        /// The number of rounds without a change of exemplars after which the search ends, at least
        /// 1; 100 by default.
        window: usize;
    }

    /// Clusters points; the similarity is minus the squared Euclidean distance.
    pub fn fit(&self, points: &Points, stream: &mut Stream) -> Result<AffinityFit> {
        let similarities = Similarities::of_points(points).map_err(|_| self.failed(TOO_LARGE.into()))?;
        self.fit_similarities(&similarities, stream)
    }

    /// Clusters objects of which only the dissimilarities are known; the similarity is minus the
    /// dissimilarity.
    pub fn fit_matrix(&self, dissimilarities: &Dissimilarities, stream: &mut Stream) -> Result<AffinityFit> {
        self.fit_similarities(&Similarities::negated(dissimilarities), stream)
    }

    /// Clusters objects by similarities, which need not be symmetric.
    pub fn fit_similarities(&self, similarities: &Similarities, stream: &mut Stream) -> Result<AffinityFit> {
        self.check()?;
        let n = similarities.len();
        if n == 0 {
            return Err(OracleError::NoPoints);
        }
        let mut finite = similarities.finite();
        let preference = match self.preference {
            Preference::Value(value) => value,
            Preference::Quantile(_) if finite.is_empty() => 0.0,
            Preference::Quantile(q) => quantile(&mut finite, q),
        };
        let largest = finite.iter().fold(preference.abs(), |most, s| most.max(s.abs()));
        // Sums of n similarities, and of n squared in the exemplars' columns, must stay finite.
        if largest > f64::MAX / 64.0 / (n as f64).powi(2) {
            return Err(self.failed(TOO_LARGE.into()));
        }
        let same = finite.len() == n * (n - 1) && finite.iter().all(|s| *s == finite[0]);
        let (exemplars, iterations, converged) = if finite.is_empty() {
            ((0..n).collect(), 0, true)
        } else if same {
            let own = preference > finite[0];
            (if own { (0..n).collect() } else { vec![0] }, 0, true)
        } else {
            let usual = finite.iter().map(|s| s.abs()).sum::<f64>() / finite.len() as f64;
            self.pass_messages(similarities, preference, usual, largest, stream)
        };
        if exemplars.is_empty() {
            return Err(self.failed(format!(
                "no exemplars after {iterations} rounds; raise the preference (now {preference}), the damping or the rounds"
            )));
        }
        let exemplars = refined(similarities, exemplars);
        let labels = assigned(similarities, &exemplars);
        let net_similarity = labels
            .iter()
            .enumerate()
            .map(|(i, &k)| if exemplars[k] == i { preference } else { similarities.row(i)[exemplars[k]] })
            .sum();
        let partition = Partition::from_labels(&labels);
        Ok(AffinityFit { partition, exemplars, preference, net_similarity, iterations, converged })
    }

    /// The exemplars when the messages have settled, the rounds it took, and whether they had settled.
    fn pass_messages(
        &self,
        similarities: &Similarities,
        preference: f64,
        usual: f64,
        largest: f64,
        stream: &mut Stream,
    ) -> (Vec<usize>, usize, bool) {
        let n = similarities.len();
        // A forbidden pair need only be worse than being alone; infinity itself would make NaN of
        // the messages.
        let forbidden = -10.0 * if largest > 0.0 { largest } else { 1.0 };
        let noise = 1e-6 * usual.max(preference.abs());
        let mut messages = Messages::new(n, self.damping);
        for i in 0..n {
            let own = preference + noise * stream.random::<f64>();
            for (k, &s) in similarities.row(i).iter().enumerate() {
                messages.set_similarity(i, k, if i == k { own } else { s.max(forbidden) });
            }
        }
        let mut exemplars = vec![false; n];
        let mut stable = 0;
        for round in 1..=self.max_iterations {
            messages.pass();
            let changed = messages.update_exemplars(&mut exemplars);
            stable = if changed { 1 } else { stable + 1 };
            if stable >= self.window && exemplars.contains(&true) {
                return (places(&exemplars), round, true);
            }
        }
        (places(&exemplars), self.max_iterations, false)
    }

    fn check(&self) -> Result<()> {
        let wrong = |name: &str, value: String, must: &str| {
            Err(self.failed(format!("the {name} is {value}, but must be {must}")))
        };
        match self.preference {
            Preference::Quantile(q) if !(0.0..=1.0).contains(&q) => {
                return wrong("quantile of the preference", q.to_string(), "from 0 to 1");
            }
            Preference::Value(p) if !p.is_finite() => {
                return wrong("preference", p.to_string(), "a finite number");
            }
            _ => {}
        }
        if !(0.5..1.0).contains(&self.damping) {
            return wrong("damping", self.damping.to_string(), "at least 0.5 and below 1");
        }
        if self.max_iterations == 0 {
            return wrong("largest number of rounds", "0".into(), "at least 1");
        }
        if self.window == 0 {
            return wrong("window of rounds", "0".into(), "at least 1");
        }
        Ok(())
    }

    fn failed(&self, reason: String) -> OracleError {
        OracleError::Failed { oracle: self.name().into(), reason }
    }
}

const TOO_LARGE: &str = "the similarities are too large to be summed; scale them";

fn places(exemplars: &[bool]) -> Vec<usize> {
    (0..exemplars.len()).filter(|&k| exemplars[k]).collect()
}

/// The exemplar (its place in `exemplars`) most similar to each object; exemplars are their own.
fn assigned(similarities: &Similarities, exemplars: &[usize]) -> Vec<usize> {
    let mut labels: Vec<usize> = (0..similarities.len())
        .map(|i| {
            let row = similarities.row(i);
            let mut best = 0;
            for k in 1..exemplars.len() {
                if row[exemplars[k]] > row[exemplars[best]] {
                    best = k;
                }
            }
            best
        })
        .collect();
    for (k, &e) in exemplars.iter().enumerate() {
        labels[e] = k;
    }
    labels
}

/// The exemplars after every cluster chose its best member once; objects that no exemplar may take are added.
fn refined(similarities: &Similarities, mut exemplars: Vec<usize>) -> Vec<usize> {
    let n = similarities.len();
    let alone = |i: usize| exemplars.iter().all(|&e| e != i && similarities.row(i)[e] == f64::NEG_INFINITY);
    let added: Vec<usize> = (0..n).filter(|&i| alone(i)).collect();
    exemplars.extend(added);
    exemplars.sort_unstable();
    let labels = assigned(similarities, &exemplars);
    let mut members = vec![Vec::new(); exemplars.len()];
    labels.iter().enumerate().for_each(|(i, &k)| members[k].push(i));
    let mut better: Vec<usize> = members
        .iter()
        .zip(&exemplars)
        .map(|(members, &old)| {
            let mut sums = vec![0.0; members.len()];
            for &i in members {
                let row = similarities.row(i);
                for (sum, &j) in sums.iter_mut().zip(members) {
                    // The preference on the diagonal is the same for all of them.
                    *sum += if i == j { 0.0 } else { row[j] };
                }
            }
            let mut best = (f64::NEG_INFINITY, old);
            for (&sum, &j) in sums.iter().zip(members) {
                if sum > best.0 {
                    best = (sum, j);
                }
            }
            best.1
        })
        .collect();
    // A new exemplar may be forbidden to an object of another cluster, never to one of its own: all
    // still have one.
    better.sort_unstable();
    better
}

/// R's type 7: linear between the order statistics at `(n - 1) q`. `values` is not empty and is reordered.
fn quantile(values: &mut [f64], q: f64) -> f64 {
    let h = (values.len() - 1) as f64 * q;
    let low = h.floor() as usize;
    let (_, &mut below, rest) = values.select_nth_unstable_by(low, f64::total_cmp);
    let above = rest.iter().copied().min_by(f64::total_cmp).unwrap_or(below);
    below + (h - low as f64) * (above - below)
}

impl Oracle for Affinity {
    fn name(&self) -> &str {
        "affinity"
    }

    fn cluster(&self, points: &Points, start: Start<'_>, stream: &mut Stream) -> Result<Partition> {
        start.check(points)?;
        Ok(self.fit(points, stream)?.partition)
    }
}
