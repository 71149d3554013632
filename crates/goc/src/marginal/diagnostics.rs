//! Whether the chains can be trusted.
//!
//! Chains with different initial states should agree. The diagnostics are how similar the company
//! is that the chains give each object, and the effective number of independent draws in their
//! traces of K and of the log density (autocorrelations summed while pairs of them are positive,
//! Geyer 1992).

use super::Trace;

/// Effective draws of K below which more sweeps are recommended.
pub const ENOUGH_DRAWS: f64 = 30.0;
/// Agreement of the chains below which groups differ from chain to chain.
pub const ENOUGH_AGREEMENT: f64 = 0.7;

/// Recurrence from which on a cluster is credible, whatever the chains say about others.
pub const ENOUGH_RECURRENCE: f64 = 0.7;

/// The agreement between the chains, and the effective number of draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Diagnostics {
    /// The overlap between two chains in the company they give an object, averaged over objects and
    /// pairs of chains: 0 to 1; 1 for a single chain.
    pub agreement: f64,
    /// The effective number of independent draws of K, over all chains.
    pub effective_k: f64,
    /// The same for the log density.
    pub effective_ln_density: f64,
    /// The share of split and merge moves that were accepted.
    pub moves_taken: f64,
}

impl Diagnostics {
    /// From chains with this agreement of their co-clustering.
    pub(super) fn new(traces: &[Trace], agreement: f64) -> Self {
        let clusters =
            |t: &Trace| -> Vec<f64> { t.draws.iter().map(|draw| draw.clusters() as f64).collect() };
        let tried: usize = traces.iter().map(|t| t.moves[0]).sum();
        let taken: usize = traces.iter().map(|t| t.moves[1]).sum();
        Self {
            agreement,
            effective_k: traces.iter().map(|t| effective(&clusters(t))).sum(),
            effective_ln_density: traces.iter().map(|t| effective(&t.ln_densities)).sum(),
            moves_taken: taken as f64 / tried.max(1) as f64,
        }
    }

    /// True if no diagnostic speaks against the draws.
    pub fn converged(&self) -> bool {
        self.agrees() && self.effective_k >= ENOUGH_DRAWS
    }

    /// True if the chains agree: at least [`ENOUGH_AGREEMENT`].
    pub fn agrees(&self) -> bool {
        self.agreement >= ENOUGH_AGREEMENT
    }
}

/// The effective number of independent draws in a trace.
pub(super) fn effective(trace: &[f64]) -> f64 {
    let n = trace.len();
    let mean = trace.iter().sum::<f64>() / n.max(1) as f64;
    let covariance = |lag: usize| {
        (0..n - lag).map(|t| (trace[t] - mean) * (trace[t + lag] - mean)).sum::<f64>() / n as f64
    };
    if n < 4 {
        return n as f64;
    }
    let variance = covariance(0);
    if variance <= 0.0 {
        return n as f64; // a constant is known exactly
    }
    let mut time = -1.0;
    for lag in (0..n - 1).step_by(2) {
        let pair = (covariance(lag) + covariance(lag + 1)) / variance;
        if pair <= 0.0 {
            break;
        }
        time += 2.0 * pair;
    }
    (n as f64 / time.max(1.0)).min(n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use rand_distr::{Distribution, StandardNormal};

    #[test]
    fn an_autoregressive_trace_is_worth_what_theory_says() {
        let rng = &mut stream(1, 0);
        for (phi, n) in [(0.0, 20_000), (0.5, 20_000), (0.9, 40_000)] {
            let mut x = 0.0;
            let trace: Vec<f64> = (0..n)
                .map(|_| {
                    let noise: f64 = StandardNormal.sample(rng);
                    x = phi * x + noise;
                    x
                })
                .collect();
            let want = f64::from(n) * (1.0 - phi) / (1.0 + phi);
            assert!((effective(&trace) / want - 1.0).abs() < 0.15, "{phi}: {} {want}", effective(&trace));
        }
        assert_eq!(effective(&[2.0; 50]), 50.0);
    }
}
