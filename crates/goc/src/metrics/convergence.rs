//! How fast a run converges: eta1, eta2, eta3 of the paper's Experiment 3.
//!
//! Each compares the state at iteration `t` with the final one: the labels (eta1), the chosen
//! representatives (eta2), and how much of the final agreement with the truth is already there (eta3).

use super::{MetricsError, nmi};
use crate::Points;
use crate::points::squared_distance;

/// The three measures at one iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convergence {
    /// NMI of the labels at `t` and the final ones.
    pub eta1: f64,
    /// Mean squared distance of the representatives at `t` from the final ones.
    pub eta2: f64,
    /// NMI against the truth at `t`, over that of the final labels; `None` without a truth.
    pub eta3: Option<f64>,
}

impl Convergence {
    /// Compares one state (labels and representatives) with the final one, and with the truth if known.
    ///
    /// ```
    /// use goc::{Points, metrics::Convergence};
    /// let (then, last) = (Points::new(vec![0.0, 3.0], 1)?, Points::new(vec![0.0, 1.0], 1)?);
    /// let c = Convergence::of((&[0, 1], &then), (&[0, 1], &last), None::<&[u32]>)?;
    /// assert_eq!((c.eta1, c.eta2, c.eta3), (1.0, 2.0, None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of<T: Copy + Ord>(
        at: (&[u32], &Points),
        last: (&[u32], &Points),
        truth: Option<&[T]>,
    ) -> Result<Self, MetricsError> {
        Ok(Self {
            eta1: eta1(at.0, last.0)?,
            eta2: eta2(at.1, last.1)?,
            eta3: truth.map(|truth| eta3(at.0, last.0, truth)).transpose()?,
        })
    }
}

/// NMI of the labels at iteration `t` and the final ones: 1 once they agree.
pub fn eta1<L: Copy + Ord>(at: &[L], last: &[L]) -> Result<f64, MetricsError> {
    nmi(at, last)
}

/// Mean over objects of the squared distance between the representative at `t` and the final one.
pub fn eta2(at: &Points, last: &Points) -> Result<f64, MetricsError> {
    if at.len() != last.len() {
        return Err(MetricsError::LengthsDiffer { first: at.len(), second: last.len() });
    }
    if at.is_empty() {
        return Err(MetricsError::Empty);
    }
    if at.features() != last.features() {
        return Err(MetricsError::FeaturesDiffer { first: at.features(), second: last.features() });
    }
    let sum: f64 = at.rows().zip(last.rows()).map(|(a, b)| squared_distance(a, b)).sum();
    Ok(sum / at.len() as f64)
}

/// `NMI(labels at t, truth) / NMI(final labels, truth)`. May exceed 1: the last labels need not be the best.
///
/// If the final labels carry no information about the truth the ratio is undefined, which is an
/// error.
pub fn eta3<L: Copy + Ord, T: Copy + Ord>(at: &[L], last: &[L], truth: &[T]) -> Result<f64, MetricsError> {
    let (now, end) = (nmi(at, truth)?, nmi(last, truth)?);
    if end == 0.0 {
        return Err(MetricsError::FinalWithoutInformation);
    }
    Ok(now / end)
}
