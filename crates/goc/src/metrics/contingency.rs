//! The contingency table of two groupings, and all scores derived from it.
//!
//! Only non-empty cells are stored, so the table of a million objects in thousands of clusters
//! never has more entries than there are objects. Cells are sorted, and sums run over them in that
//! order, so a score does not depend on the order of the objects.

use super::{MetricsError, Scores};
use crate::Partition;

/// How many objects lie in cluster `k` of the first grouping and `l` of the second, `n_kl`.
///
/// ```
/// use goc::metrics::Contingency;
/// assert_eq!(Contingency::new(&[0, 0, 1], &[7, 7, 8])?.nmi(), 1.0);
/// # Ok::<(), goc::metrics::MetricsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contingency {
    n: u64,
    rows: Vec<u64>,
    columns: Vec<u64>,
    cells: Vec<(u32, u32, u64)>,
}

impl Contingency {
    /// Counts `predicted` (the rows) against `truth` (the columns).
    pub fn new<P: Copy + Ord, T: Copy + Ord>(predicted: &[P], truth: &[T]) -> Result<Self, MetricsError> {
        if predicted.len() != truth.len() {
            return Err(MetricsError::LengthsDiffer { first: predicted.len(), second: truth.len() });
        }
        if predicted.is_empty() {
            return Err(MetricsError::Empty);
        }
        let (first, second) = (Partition::from_labels(predicted), Partition::from_labels(truth));
        let sizes = |p: &Partition| p.sizes().into_iter().map(|s| s as u64).collect::<Vec<u64>>();

        let mut pairs: Vec<(u32, u32)> =
            first.labels().iter().copied().zip(second.labels().iter().copied()).collect();
        pairs.sort_unstable();
        let cells = pairs.chunk_by(|a, b| a == b).map(|run| (run[0].0, run[0].1, run.len() as u64)).collect();
        Ok(Self { n: predicted.len() as u64, rows: sizes(&first), columns: sizes(&second), cells })
    }

    /// All scores, the rows being the prediction.
    pub fn scores(&self) -> Scores {
        Scores {
            nmi: self.nmi(),
            f: self.f(),
            ari: self.ari(),
            ami: self.ami(),
            homogeneity: self.homogeneity(),
            completeness: self.completeness(),
            v_measure: self.v_measure(),
            purity: self.purity(),
        }
    }

    /// As many cells as clusters on either side: the groupings are the same.
    fn same_grouping(&self) -> bool {
        self.cells.len() == self.rows.len() && self.cells.len() == self.columns.len()
    }

    /// Mutual information in nats. Exactly 0 when one side is a single cluster.
    pub fn mutual_information(&self) -> f64 {
        if self.rows.len() == 1 || self.columns.len() == 1 {
            return 0.0;
        }
        let n = self.n as f64;
        let sum: f64 = self
            .cells
            .iter()
            .map(|&(k, l, count)| {
                let expected = self.rows[k as usize] as f64 * self.columns[l as usize] as f64;
                count as f64 / n * (n * count as f64 / expected).ln()
            })
            .sum();
        // Rounding alone can take the information of independent groupings below zero.
        sum.max(0.0)
    }

    /// `2 I / (H1 + H2)`, the paper's NMI.
    pub fn nmi(&self) -> f64 {
        if self.same_grouping() {
            return 1.0;
        }
        // The entropies are not both 0 here: two single clusters are the same grouping.
        let mean = (entropy(&self.rows, self.n) + entropy(&self.columns, self.n)) / 2.0;
        (self.mutual_information() / mean).min(1.0)
    }

    /// The paper's F: for each true cluster the best `2 n_kl / (n_k + n_l)`, weighted by its share.
    pub fn f(&self) -> f64 {
        let mut best = vec![0.0_f64; self.columns.len()];
        for &(k, l, count) in &self.cells {
            let together = (self.rows[k as usize] + self.columns[l as usize]) as f64;
            let best = &mut best[l as usize];
            *best = best.max(2.0 * count as f64 / together);
        }
        let weighted: f64 = best.iter().zip(&self.columns).map(|(b, &c)| b * c as f64).sum();
        weighted / self.n as f64
    }

    /// Adjusted Rand index (Hubert & Arabie 1985), from integer numbers of pairs.
    pub fn ari(&self) -> f64 {
        if self.same_grouping() {
            return 1.0;
        }
        let squares = |counts: &mut dyn Iterator<Item = u64>| -> u128 {
            counts.map(|c| u128::from(c) * u128::from(c)).sum()
        };
        let n = u128::from(self.n);
        let cells = squares(&mut self.cells.iter().map(|c| c.2));
        let rows = squares(&mut self.rows.iter().copied());
        let columns = squares(&mut self.columns.iter().copied());
        // Ordered pairs: together in both, in one only, in neither.
        let both = (cells - n) as f64;
        let rows_only = (rows - cells) as f64;
        let columns_only = (columns - cells) as f64;
        let neither = (n * n + cells - rows - columns) as f64;
        let below =
            (both + rows_only) * (rows_only + neither) + (both + columns_only) * (columns_only + neither);
        2.0 * (both * neither - rows_only * columns_only) / below
    }

    /// Adjusted mutual information (Vinh, Epps & Bailey 2010), arithmetic mean of the entropies.
    ///
    /// Exactly 0 if the sizes alone determine the information: one cluster, or all singletons, on
    /// one side.
    pub fn ami(&self) -> f64 {
        if self.same_grouping() {
            return 1.0;
        }
        let n = self.n as usize;
        if [&self.rows, &self.columns].iter().any(|sizes| sizes.len() == 1 || sizes.len() == n) {
            return 0.0;
        }
        let expected = self.expected_mutual_information();
        let mean = (entropy(&self.rows, self.n) + entropy(&self.columns, self.n)) / 2.0;
        (self.mutual_information() - expected) / (mean - expected)
    }

    /// `I / H(truth)`; 1 when the truth is a single cluster.
    pub fn homogeneity(&self) -> f64 {
        // One cell a row: the prediction settles the truth. Said exactly, not by way of two logarithms.
        if self.cells.len() == self.rows.len() { 1.0 } else { self.share_of_entropy(&self.columns) }
    }

    /// `I / H(predicted)`; 1 when the prediction is a single cluster.
    pub fn completeness(&self) -> f64 {
        if self.cells.len() == self.columns.len() { 1.0 } else { self.share_of_entropy(&self.rows) }
    }

    /// Harmonic mean of homogeneity and completeness.
    pub fn v_measure(&self) -> f64 {
        let (h, c) = (self.homogeneity(), self.completeness());
        if h + c == 0.0 { 0.0 } else { 2.0 * h * c / (h + c) }
    }

    /// The share of objects in the most common true cluster of their predicted cluster.
    pub fn purity(&self) -> f64 {
        let commonest: u64 =
            self.cells.chunk_by(|a, b| a.0 == b.0).filter_map(|row| row.iter().map(|c| c.2).max()).sum();
        commonest as f64 / self.n as f64
    }

    /// The mean mutual information of two random groupings with these cluster sizes, in nats.
    ///
    /// A cell of a row of `a` and a column of `b` holds `x` objects with the hypergeometric chance
    /// `p(x)`, and adds `x/n ln(n x / (a b))`. Log-gamma would give `p`, but loses digits as `n`
    /// grows (its value is about `n ln n`, its error that times 1e-16). Instead the ratios
    /// `p(x+1)/p(x)` are multiplied up and down from the likeliest `x` and everything is divided by
    /// the sum of the chances, which keeps all digits and lets the walk stop where nothing can be
    /// added. Equal sizes are counted once.
    pub fn expected_mutual_information(&self) -> f64 {
        let (rows, columns) = (with_multiplicity(&self.rows), with_multiplicity(&self.columns));
        let mut sum = 0.0;
        for &(a, times_a) in &rows {
            let mut of_row = 0.0;
            for &(b, times_b) in &columns {
                of_row += times_b as f64 * expected_cell(a, b, self.n);
            }
            sum += times_a as f64 * of_row;
        }
        sum
    }

    /// Information over the entropy of one side, which must have more than one cluster.
    fn share_of_entropy(&self, sizes: &[u64]) -> f64 {
        (self.mutual_information() / entropy(sizes, self.n)).min(1.0)
    }
}

/// Distinct sizes, ascending, with how often each occurs.
fn with_multiplicity(sizes: &[u64]) -> Vec<(u64, u64)> {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u64)).collect()
}

/// Entropy in nats of clusters of these sizes. Exactly 0 for a single one.
fn entropy(sizes: &[u64], n: u64) -> f64 {
    if sizes.len() == 1 {
        return 0.0;
    }
    let n = n as f64;
    -sizes.iter().map(|&s| s as f64 / n * (s as f64 / n).ln()).sum::<f64>()
}

/// The mean of `x/n ln(n x / (a b))`, `x` hypergeometric: the overlap of random sets of `a` and `b`
/// out of `n`.
fn expected_cell(a: u64, b: u64, n: u64) -> f64 {
    // Below this share of the likeliest chance, all remaining terms together are lost in rounding.
    const NEGLIGIBLE: f64 = 1e-25;
    let least = (a + b).saturating_sub(n);
    let most = a.min(b);
    let likeliest = ((u128::from(a + 1) * u128::from(b + 1)) / u128::from(n + 2)) as u64;
    let likeliest = likeliest.clamp(least, most);

    let (af, bf, nf) = (a as f64, b as f64, n as f64);
    let value = |x: u64| if x == 0 { 0.0 } else { x as f64 / nf * (nf * x as f64 / (af * bf)).ln() };
    // p(x + 1) / p(x)
    let ratio = |x: u64| {
        let spare = (n - a) as f64 - (bf - x as f64) + 1.0;
        (a - x) as f64 * (b - x) as f64 / ((x + 1) as f64 * spare)
    };

    let (mut chances, mut sum) = (1.0, value(likeliest));
    let mut chance = 1.0;
    for x in likeliest..most {
        chance *= ratio(x);
        chances += chance;
        sum += chance * value(x + 1);
        if chance < NEGLIGIBLE {
            break;
        }
    }
    chance = 1.0;
    for x in (least..likeliest).rev() {
        chance /= ratio(x);
        chances += chance;
        sum += chance * value(x);
        if chance < NEGLIGIBLE {
            break;
        }
    }
    sum / chances
}
