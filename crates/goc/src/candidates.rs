//! Candidates: the empirical uncertainty sets of all objects (paper, eq. 5).
//!
//! There are `n` objects; object `i` has `m_i >= 1` candidate feature vectors of `q` features, each
//! with a penalty. Everything is validated once, when the sets are added, so no algorithm ever
//! encounters a NaN, a negative penalty or an empty set.
//!
//! # Layout
//! One flat vector. The candidates of one object are contiguous and stored *feature after feature*:
//! first the object's `m_i` values of feature 0, then those of feature 1, and so on. The selection
//! kernel holds eight candidates in registers and loops over the centres; with this layout its
//! loads are contiguous, nothing is padded, and an object with a single candidate is simply a row
//! of a table.

use std::collections::TryReserveError;

use std::sync::Arc;

use crate::Points;

/// The cost of a penalty of 1 in log likelihood, by default: candidates have the weight
/// `exp(-PENALTY_STRENGTH * penalty)`.
///
/// The paper scales penalties so that they are 1 at the edge of an uncertainty set, two standard
/// errors from its centre. The normal density falls by `exp(-2^2 / 2) = exp(-2)` over that
/// distance.
pub const PENALTY_STRENGTH: f64 = 2.0;

/// How objects are identified in messages and output.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Ids {
    /// By position, from 0.
    Position,
    /// By a number, such as a catalogue's `source_id`.
    Integer(Vec<i64>),
    /// By text.
    Text(Vec<String>),
}

/// The ragged sets of all objects. Made by [`CandidatesBuilder`] or [`Candidates::from_points`].
#[derive(Clone, Debug, PartialEq)]
pub struct Candidates {
    features: usize,
    offsets: Vec<usize>,
    /// Shared by clones until one of them is modified: cloning candidates is cheap.
    values: Arc<Vec<f64>>,
    /// Empty when no candidate has a penalty.
    penalties: Arc<Vec<f64>>,
    ids: Ids,
}

/// Why sets do not make valid [`Candidates`]. Objects and candidates are counted from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CandidatesError {
    /// No objects at all.
    #[error("there are no objects")]
    NoObjects,
    /// No features.
    #[error("candidates need at least one feature")]
    NoFeatures,
    /// An object with an empty set.
    #[error("object {object} has no candidates")]
    NoCandidates {
        /// The object's id or position.
        object: String,
    },
    /// The number of values is not a multiple of the number of features.
    #[error("object {object}: {values} values do not make whole candidates of {features} features")]
    Ragged {
        /// The object's id or position.
        object: String,
        /// Values given.
        values: usize,
        /// Features expected.
        features: usize,
    },
    /// NaN or infinity among the features.
    #[error("object {object}, candidate {candidate}, feature {feature}: {value} is not a finite number")]
    NotFinite {
        /// The object's id or position.
        object: String,
        /// Candidate within the object.
        candidate: usize,
        /// Feature.
        feature: usize,
        /// The value found.
        value: f64,
    },
    /// A penalty that is negative, NaN or infinite.
    #[error("object {object}, candidate {candidate}: penalty {value} must be a finite number not below 0")]
    Penalty {
        /// The object's id or position.
        object: String,
        /// Candidate within the object.
        candidate: usize,
        /// The value found.
        value: f64,
    },
    /// A weight that is negative, NaN or infinite.
    #[error("object {object}, candidate {candidate}: weight {value} must be a finite number not below 0")]
    Weight {
        /// The object's id or position.
        object: String,
        /// Candidate within the object.
        candidate: usize,
        /// The value found.
        value: f64,
    },
    /// An object whose candidates all have weight 0.
    #[error("object {object}: all weights are 0; at least one must be above")]
    NoWeight {
        /// The object's id or position.
        object: String,
    },
    /// A strength that cannot be used to convert weights.
    #[error("strength is {value}, but weights need a finite number above 0")]
    PenaltyStrength {
        /// What was given.
        value: f64,
    },
    /// The number of penalties differs from the number of candidates.
    #[error("object {object}: {penalties} penalties for {candidates} candidates")]
    PenaltyCount {
        /// The object's id or position.
        object: String,
        /// Penalties given.
        penalties: usize,
        /// Candidates given.
        candidates: usize,
    },
    /// The number of ids differs from the number of objects, or an id occurs twice.
    #[error("{reason}")]
    Ids {
        /// What is wrong with the ids.
        reason: String,
    },
}

/// Takes the objects one by one, validates each and builds [`Candidates`].
///
/// ```
/// use goc::candidates::CandidatesBuilder;
/// let mut builder = CandidatesBuilder::new(2);
/// builder.push(&[0.0, 0.0, 1.0, 1.0], &[0.0, 0.5])?; // two candidates with penalties
/// builder.push(&[5.0, 5.0], &[])?; // one candidate, no penalty
/// let candidates = builder.build()?;
/// assert_eq!((candidates.objects(), candidates.total()), (2, 3));
/// assert_eq!(candidates.candidate(0, 1), [1.0, 1.0]);
/// # Ok::<(), goc::candidates::CandidatesError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CandidatesBuilder {
    features: usize,
    offsets: Vec<usize>,
    values: Vec<f64>,
    penalties: Vec<f64>,
}

impl CandidatesBuilder {
    /// A builder for candidates of `features` features.
    pub fn new(features: usize) -> Self {
        Self::with_capacity(features, 0, 0)
    }

    /// Like `new`, with capacity for this many objects and candidates, which avoids reallocation
    /// for large inputs.
    pub fn with_capacity(features: usize, objects: usize, candidates: usize) -> Self {
        let mut offsets = Vec::with_capacity(objects + 1);
        offsets.push(0);
        Self { features, offsets, values: Vec::with_capacity(candidates * features), penalties: Vec::new() }
    }

    /// Like [`with_capacity`](Self::with_capacity), with capacity for penalties too if requested.
    /// Allocates everything at once, or returns an error if there is not enough memory.
    pub fn try_with_capacity(
        features: usize,
        objects: usize,
        candidates: usize,
        penalties: bool,
    ) -> Result<Self, TryReserveError> {
        let mut builder = Self::new(features);
        builder.offsets.try_reserve_exact(objects)?;
        builder.values.try_reserve_exact(candidates.saturating_mul(features))?;
        if penalties {
            builder.penalties.try_reserve_exact(candidates)?;
        }
        Ok(builder)
    }

    /// Adds an object: its candidates row by row, and one penalty per candidate or none at all.
    pub fn push(&mut self, rows: &[f64], penalties: &[f64]) -> Result<&mut Self, CandidatesError> {
        let q = self.features;
        if q == 0 {
            return Err(CandidatesError::NoFeatures);
        }
        let object = || (self.offsets.len() - 1).to_string();
        if rows.is_empty() {
            return Err(CandidatesError::NoCandidates { object: object() });
        }
        if !rows.len().is_multiple_of(q) {
            return Err(CandidatesError::Ragged { object: object(), values: rows.len(), features: q });
        }
        let m = rows.len() / q;
        if let Some(at) = rows.iter().position(|v| !v.is_finite()) {
            return Err(CandidatesError::NotFinite {
                object: object(),
                candidate: at / q,
                feature: at % q,
                value: rows[at],
            });
        }
        if !penalties.is_empty() && penalties.len() != m {
            let (object, penalties, candidates) = (object(), penalties.len(), m);
            return Err(CandidatesError::PenaltyCount { object, penalties, candidates });
        }
        if let Some(at) = penalties.iter().position(|p| !(p.is_finite() && *p >= 0.0)) {
            return Err(CandidatesError::Penalty { object: object(), candidate: at, value: penalties[at] });
        }

        let before = self.offsets[self.offsets.len() - 1];
        if !penalties.is_empty() && self.penalties.is_empty() {
            self.penalties.reserve_exact(self.values.capacity() / q);
            self.penalties.resize(before, 0.0);
        }
        if !penalties.is_empty() {
            self.penalties.extend_from_slice(penalties);
        } else if !self.penalties.is_empty() {
            self.penalties.resize(before + m, 0.0);
        }
        for f in 0..q {
            self.values.extend(rows.iter().skip(f).step_by(q));
        }
        self.offsets.push(before + m);
        Ok(self)
    }

    /// Adds an object whose candidates have weights instead of penalties: likelihoods, in any unit,
    /// which may differ between objects.
    ///
    /// A method that weights a penalty `P` by `exp(-penalty_strength P)` recovers exactly these
    /// weights: `P = -ln(w / largest) / penalty_strength`. Candidates of weight 0 are dropped, and
    /// the number dropped is returned.
    ///
    /// ```
    /// use goc::candidates::CandidatesBuilder;
    /// let mut builder = CandidatesBuilder::new(1);
    /// assert_eq!(builder.push_weighted(&[7.0, 8.0, 9.0], &[0.2, 0.0, 0.1], 2.0)?, 1);
    /// let candidates = builder.build()?;
    /// assert_eq!(candidates.feature(0, 0), [7.0, 9.0]);
    /// assert_eq!(candidates.penalty(0, 0), 0.0);
    /// assert!((candidates.penalty(0, 1) - f64::ln(2.0) / 2.0).abs() < 1e-15);
    /// # Ok::<(), goc::candidates::CandidatesError>(())
    /// ```
    pub fn push_weighted(
        &mut self,
        rows: &[f64],
        weights: &[f64],
        penalty_strength: f64,
    ) -> Result<usize, CandidatesError> {
        let object = || (self.offsets.len() - 1).to_string();
        if !(penalty_strength.is_finite() && penalty_strength > 0.0) {
            return Err(CandidatesError::PenaltyStrength { value: penalty_strength });
        }
        if let Some(at) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            return Err(CandidatesError::Weight { object: object(), candidate: at, value: weights[at] });
        }
        if weights.len() * self.features != rows.len() {
            let (penalties, candidates) = (weights.len(), rows.len() / self.features.max(1));
            return Err(CandidatesError::PenaltyCount { object: object(), penalties, candidates });
        }
        let largest = weights.iter().copied().fold(0.0, f64::max);
        if largest == 0.0 {
            return Err(CandidatesError::NoWeight { object: object() });
        }
        let (mut kept, mut penalties) = (Vec::with_capacity(rows.len()), Vec::with_capacity(weights.len()));
        for (row, w) in rows.chunks_exact(self.features).zip(weights).filter(|(_, w)| **w > 0.0) {
            kept.extend_from_slice(row);
            // The difference of logarithms stays finite where the ratio underflows; the largest
            // weight gets 0, not -0.
            penalties.push(((libm::log(largest) - libm::log(*w)) / penalty_strength).max(0.0));
        }
        self.push(&kept, &penalties)?;
        Ok(weights.len() - penalties.len())
    }

    /// Builds the candidates; objects are identified by their position.
    pub fn build(self) -> Result<Candidates, CandidatesError> {
        self.build_with(Ids::Position)
    }

    /// Builds the candidates; objects are identified by `ids`, one per object and all distinct.
    pub fn build_with(self, ids: Ids) -> Result<Candidates, CandidatesError> {
        if self.features == 0 {
            return Err(CandidatesError::NoFeatures);
        }
        let n = self.offsets.len() - 1;
        if n == 0 {
            return Err(CandidatesError::NoObjects);
        }
        let (count, repeated) = match &ids {
            Ids::Position => (n, None),
            Ids::Integer(v) => (v.len(), repeated(v).map(|id| id.to_string())),
            Ids::Text(v) => (v.len(), repeated(v).map(|id| id.to_string())),
        };
        if count != n {
            return Err(CandidatesError::Ids { reason: format!("{count} ids for {n} objects") });
        }
        if let Some(id) = repeated {
            return Err(CandidatesError::Ids { reason: format!("object {id} occurs twice") });
        }
        let Self { features, offsets, values, penalties } = self;
        let (values, penalties) = (Arc::new(values), Arc::new(penalties));
        Ok(Candidates { features, offsets, values, penalties, ids })
    }
}

fn repeated<T: Ord + Clone>(ids: &[T]) -> Option<T> {
    let mut sorted: Vec<&T> = ids.iter().collect();
    sorted.sort_unstable();
    sorted.windows(2).find(|w| w[0] == w[1]).map(|w| w[0].clone())
}

impl Candidates {
    /// Plain points: one candidate per object, without penalties.
    pub fn from_points(points: &Points) -> Result<Self, CandidatesError> {
        if points.is_empty() {
            return Err(CandidatesError::NoObjects);
        }
        Ok(Self {
            features: points.features(),
            offsets: (0..=points.len()).collect(),
            values: Arc::new(points.values().to_vec()),
            penalties: Arc::default(),
            ids: Ids::Position,
        })
    }

    /// The same candidates with these penalties, one per candidate in the order of all candidates.
    pub fn with_penalties(mut self, penalties: &[f64]) -> Result<Self, CandidatesError> {
        if penalties.len() != self.total() {
            let (penalties, candidates) = (penalties.len(), self.total());
            return Err(CandidatesError::PenaltyCount { object: "all".into(), penalties, candidates });
        }
        if let Some(at) = penalties.iter().position(|p| !(p.is_finite() && *p >= 0.0)) {
            let i = self.offsets.partition_point(|first| *first <= at) - 1;
            let (candidate, value) = (at - self.offsets[i], penalties[at]);
            return Err(CandidatesError::Penalty { object: self.name(i), candidate, value });
        }
        self.penalties = Arc::new(penalties.to_vec());
        Ok(self)
    }

    /// Number of objects, n.
    pub fn objects(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of features, q.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Total number of candidates over all objects.
    pub fn total(&self) -> usize {
        self.offsets[self.objects()]
    }

    /// Number of candidates of object `i`, m_i.
    pub fn count(&self, i: usize) -> usize {
        self.offsets[i + 1] - self.offsets[i]
    }

    /// The index of each object's first candidate in the order of all candidates; one entry more
    /// than there are objects.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The candidates of object `i`, feature after feature: `m_i` values of feature 0, then of feature 1, …
    pub fn block(&self, i: usize) -> &[f64] {
        &self.values[self.offsets[i] * self.features..self.offsets[i + 1] * self.features]
    }

    /// All `m_i` values of one feature of object `i`.
    pub fn feature(&self, i: usize, f: usize) -> &[f64] {
        let m = self.count(i);
        &self.block(i)[f * m..(f + 1) * m]
    }

    /// One candidate as a vector.
    pub fn candidate(&self, i: usize, j: usize) -> Vec<f64> {
        let mut row = vec![0.0; self.features];
        self.copy_candidate(i, j, &mut row);
        row
    }

    /// Copies one candidate into `row`.
    pub fn copy_candidate(&self, i: usize, j: usize, row: &mut [f64]) {
        let m = self.count(i);
        assert!(j < m, "object {i} has {m} candidates, not {j}");
        let block = self.block(i);
        for (f, slot) in row.iter_mut().enumerate() {
            *slot = block[f * m + j];
        }
    }

    /// True if any candidate has a penalty.
    pub fn has_penalties(&self) -> bool {
        !self.penalties.is_empty()
    }

    /// The penalties of object `i`; empty if no object has penalties.
    pub fn penalties(&self, i: usize) -> &[f64] {
        if self.penalties.is_empty() { &[] } else { &self.penalties[self.offsets[i]..self.offsets[i + 1]] }
    }

    /// The penalty of one candidate.
    pub fn penalty(&self, i: usize, j: usize) -> f64 {
        self.penalties(i).get(j).copied().unwrap_or(0.0)
    }

    /// The same candidates with every penalty divided by the largest, so that the largest is 1
    /// (paper, section 4.2). Penalties that are all zero stay zero.
    pub fn scale_penalties(self) -> Self {
        let largest = self.largest_penalty();
        if largest > 0.0 { self.divide_penalties(largest) } else { self }
    }

    /// The largest penalty of all candidates; 0 if there are no penalties.
    pub fn largest_penalty(&self) -> f64 {
        self.penalties.iter().copied().fold(0.0, f64::max)
    }

    /// The same candidates with every penalty divided by this positive number.
    pub fn divide_penalties(mut self, by: f64) -> Self {
        if by != 1.0 {
            Arc::make_mut(&mut self.penalties).iter_mut().for_each(|p| *p /= by);
        }
        self
    }

    /// The mean of each object's candidates (paper, eq. 10).
    pub fn means(&self) -> Points {
        let q = self.features;
        let mut values = Vec::with_capacity(self.objects() * q);
        for i in 0..self.objects() {
            for f in 0..q {
                let column = self.feature(i, f);
                values.push(column.iter().sum::<f64>() / column.len() as f64);
            }
        }
        Points::trusted(values, q)
    }

    /// The chosen candidate of each object as points.
    pub fn chosen(&self, choice: &[u32]) -> Points {
        let q = self.features;
        let mut values = vec![0.0; self.objects() * q];
        for (i, row) in values.chunks_exact_mut(q).enumerate() {
            self.copy_candidate(i, choice[i] as usize, row);
        }
        Points::trusted(values, q)
    }

    /// The identifiers of the objects.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// The name of object `i`, for messages.
    pub fn name(&self, i: usize) -> String {
        match &self.ids {
            Ids::Position => i.to_string(),
            Ids::Integer(v) => v[i].to_string(),
            Ids::Text(v) => v[i].clone(),
        }
    }

    /// The number of bytes taken by values, penalties and offsets.
    pub fn bytes(&self) -> usize {
        std::mem::size_of_val(&self.values[..])
            + std::mem::size_of_val(&self.penalties[..])
            + std::mem::size_of_val(&self.offsets[..])
    }

    /// Applies `map(feature, value)` to every value in place; `map` must keep finite values finite.
    pub fn map_features(&mut self, map: impl Fn(usize, f64) -> f64) {
        let (offsets, q) = (&self.offsets, self.features);
        let values = Arc::make_mut(&mut self.values);
        for i in 0..offsets.len() - 1 {
            let (from, m) = (offsets[i] * q, offsets[i + 1] - offsets[i]);
            for f in 0..q {
                for v in &mut values[from + f * m..from + (f + 1) * m] {
                    *v = map(f, *v);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
