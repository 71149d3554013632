//! The marginal mixture as a [`Method`].

use super::{Grouped, Method, Result, Tick};
use crate::Candidates;
use crate::marginal::{Marginal, Posterior};

impl Method for Marginal {
    fn name(&self) -> &str {
        "marginal"
    }

    fn group_watched(&self, candidates: &Candidates, seed: u64, tick: Tick) -> Result<Grouped> {
        Ok(Grouped::of_posterior(self.run_watched(candidates, seed, tick)?, self.sweeps()))
    }
}

impl Grouped {
    /// The answer of a mixture whose chains made this many sweeps each.
    pub fn of_posterior(found: Posterior, sweeps: usize) -> Self {
        let grouped = Self {
            confidence: found.membership.clone(),
            iterations: sweeps,
            converged: found.diagnostics.converged(),
            places: Some(found.places.clone()),
            noise: found.unlabelled(),
            ..Self::new(found.partition.clone())
        };
        Self { posterior: Some(Box::new(found)), ..grouped }
    }
}
