//! Objects with candidates, loaded one at a time, for methods that do not need an array of all of
//! them.
//!
//! Clustering uses scaled features, some of them as square roots, and penalties divided by the
//! largest. Applying all of that to [`Candidates`] makes a second copy of the largest data
//! structure in memory. [`Scaled`] applies it to one object at a time, as it is loaded, with the
//! same operations in the same order, so the numbers are bit-identical to those of scaled
//! candidates.

use crate::scale::Scaler;
use crate::{Candidates, Points};

/// Objects whose candidates can be loaded, one object after another.
pub trait Objects: Sync {
    /// Number of objects, n.
    fn objects(&self) -> usize;

    /// Number of features, q.
    fn features(&self) -> usize;

    /// The index of each object's first candidate in the order of all candidates; one entry more
    /// than there are objects.
    fn offsets(&self) -> &[usize];

    /// Loads all `m_i` values of one feature of object `i` into `values`, replacing its contents.
    fn load_feature(&self, i: usize, f: usize, values: &mut Vec<f64>);

    /// Loads the candidates of object `i` into `values`, replacing its contents, feature after
    /// feature: `m_i` values of feature 0, then of feature 1, …
    fn load(&self, i: usize, values: &mut Vec<f64>);

    /// Loads the penalties of object `i` into `penalties`, replacing its contents; zeros if there
    /// are none.
    fn load_penalties(&self, i: usize, penalties: &mut Vec<f64>);

    /// Number of candidates of object `i`, m_i.
    fn count(&self, i: usize) -> usize {
        self.offsets()[i + 1] - self.offsets()[i]
    }

    /// Total number of candidates over all objects.
    fn total(&self) -> usize {
        self.offsets()[self.objects()]
    }

    /// The mean of each object's candidates (paper, eq. 10).
    fn means(&self) -> Points {
        let (n, q) = (self.objects(), self.features());
        let (mut means, mut values) = (Vec::with_capacity(n * q), Vec::new());
        for i in 0..n {
            self.load(i, &mut values);
            means.extend(values.chunks_exact(self.count(i)).map(|x| x.iter().sum::<f64>() / x.len() as f64));
        }
        Points::trusted(means, q)
    }
}

impl Objects for Candidates {
    fn objects(&self) -> usize {
        self.objects()
    }

    fn features(&self) -> usize {
        self.features()
    }

    fn offsets(&self) -> &[usize] {
        self.offsets()
    }

    fn load_feature(&self, i: usize, f: usize, values: &mut Vec<f64>) {
        values.clear();
        values.extend_from_slice(self.feature(i, f));
    }

    fn load(&self, i: usize, values: &mut Vec<f64>) {
        values.clear();
        values.extend_from_slice(self.block(i));
    }

    fn load_penalties(&self, i: usize, penalties: &mut Vec<f64>) {
        penalties.clear();
        penalties.extend_from_slice(self.penalties(i));
        penalties.resize(self.count(i), 0.0);
    }
}

/// Candidates as a method sees them: square roots of some features, scaled, penalties divided.
/// Nothing is copied except the object being loaded.
///
/// ```
/// use goc::objects::{Objects, Scaled};
/// use goc::scale::{Scaler, Scaling};
/// use goc::{Candidates, Points};
/// let candidates = Candidates::from_points(&Points::new(vec![1.0, 4.0, 9.0], 1)?)?;
/// let roots = Scaled::new(&candidates).roots(&[true]);
/// let scaler = Scaler::fit_objects(Scaling::Standard, &roots)?;
/// let scaled = roots.scaler(&scaler);
/// assert_eq!(scaled.means().values(), [-1.0, 0.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Scaled<'a> {
    candidates: &'a Candidates,
    roots: &'a [bool],
    scaler: Option<&'a Scaler>,
    penalty_divisor: f64,
}

impl<'a> Scaled<'a> {
    /// The unmodified candidates.
    pub fn new(candidates: &'a Candidates) -> Self {
        Self { candidates, roots: &[], scaler: None, penalty_divisor: 1.0 }
    }

    /// With square roots of the marked features, which must not be negative; features beyond the
    /// marks are unchanged.
    pub fn roots(self, roots: &'a [bool]) -> Self {
        Self { roots, ..self }
    }

    /// Scaled, after square roots were taken, as by [`Scaler::apply`].
    ///
    /// # Panics
    /// If the scaler was fitted to a different number of features.
    pub fn scaler(self, scaler: &'a Scaler) -> Self {
        assert_eq!(scaler.centre().len(), self.candidates.features(), "one centre for each feature");
        Self { scaler: Some(scaler), ..self }
    }

    /// With every penalty divided by this positive number, as by [`Candidates::divide_penalties`].
    pub fn penalty_divisor(self, penalty_divisor: f64) -> Self {
        Self { penalty_divisor, ..self }
    }

    /// The underlying candidates.
    pub fn candidates(&self) -> &'a Candidates {
        self.candidates
    }

    fn map(&self, f: usize, values: &mut [f64]) {
        if self.roots.get(f) == Some(&true) {
            for v in values.iter_mut() {
                *v = v.sqrt();
            }
        }
        if let Some(scaler) = self.scaler {
            scaler.apply_feature(f, values);
        }
    }
}

impl Objects for Scaled<'_> {
    fn objects(&self) -> usize {
        self.candidates.objects()
    }

    fn features(&self) -> usize {
        self.candidates.features()
    }

    fn offsets(&self) -> &[usize] {
        self.candidates.offsets()
    }

    fn load_feature(&self, i: usize, f: usize, values: &mut Vec<f64>) {
        self.candidates.load_feature(i, f, values);
        self.map(f, values);
    }

    fn load(&self, i: usize, values: &mut Vec<f64>) {
        self.candidates.load(i, values);
        for (f, column) in values.chunks_exact_mut(self.candidates.count(i)).enumerate() {
            self.map(f, column);
        }
    }

    fn load_penalties(&self, i: usize, penalties: &mut Vec<f64>) {
        self.candidates.load_penalties(i, penalties);
        for p in penalties {
            *p /= self.penalty_divisor;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::CandidatesBuilder;
    use crate::scale::Scaling;

    /// Ragged sets of three features, of which the second is near 0 and the third reaches far.
    fn ragged(penalties: bool) -> Candidates {
        let mut builder = CandidatesBuilder::new(3);
        for i in 0..40 {
            let m = 1 + i * 7 % 23;
            let row = |j: usize| {
                let t = (i * 31 + j) as f64;
                [t * t / 7.0, libm::fabs(libm::sin(t)) * 1e-3, libm::sinh(0.02 * t) - 3.0]
            };
            let rows: Vec<f64> = (0..m).flat_map(row).collect();
            let own: Vec<f64> = (0..m).map(|j| libm::fabs(libm::cos((i + j) as f64)) * 1.7).collect();
            builder.push(&rows, if penalties { &own } else { &[] }).unwrap();
        }
        builder.build().unwrap()
    }

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|v| v.to_bits()).collect()
    }

    #[test]
    fn loaded_objects_have_the_bits_of_candidates_that_were_really_scaled() {
        for (scaling, penalties) in [
            (Scaling::Standard, true),
            (Scaling::Robust, false),
            (Scaling::Robust, true),
            (Scaling::None, true),
        ] {
            let candidates = ragged(penalties);
            for marks in [&[][..], &[true, true], &[false, true, false]] {
                let mut really = candidates.clone();
                really.map_features(|f, v| if marks.get(f) == Some(&true) { v.sqrt() } else { v });
                let view = Scaled::new(&candidates).roots(marks);
                let scaler = Scaler::fit(scaling, &really).unwrap();
                assert_eq!(Scaler::fit_objects(scaling, &view).unwrap(), scaler);
                let divisor = 1.3;
                let really = scaler.apply(really).divide_penalties(divisor);
                let view = view.scaler(&scaler).penalty_divisor(divisor);
                assert_eq!((view.objects(), view.features()), (really.objects(), really.features()));
                assert_eq!((view.offsets(), view.total()), (really.offsets(), really.total()));
                assert_eq!(bits(Objects::means(&view).values()), bits(really.means().values()));
                let (mut x, mut y) = (Vec::new(), Vec::new());
                for i in 0..really.objects() {
                    view.load(i, &mut x);
                    assert_eq!(bits(&x), bits(really.block(i)));
                    view.load_penalties(i, &mut x);
                    really.load_penalties(i, &mut y);
                    assert_eq!(bits(&x), bits(&y));
                    let own: Vec<f64> = (0..really.count(i)).map(|j| really.penalty(i, j)).collect();
                    assert_eq!(bits(&x), bits(&own));
                    for f in 0..3 {
                        view.load_feature(i, f, &mut x);
                        assert_eq!(bits(&x), bits(really.feature(i, f)));
                    }
                }
            }
        }
    }
}
