//! The marginal mixture as a [`Method`].

use super::{Grouped, Method, MethodError};
use crate::Candidates;
use crate::marginal::{Marginal, Posterior};

impl Method for Marginal {
    fn name(&self) -> &str {
        "marginal"
    }

    fn group(&self, candidates: &Candidates, seed: u64) -> Result<Grouped, MethodError> {
        self.group_watched(candidates, seed, &|| {})
    }

    fn group_watched(
        &self,
        candidates: &Candidates,
        seed: u64,
        tick: &(dyn Fn() + Sync),
    ) -> Result<Grouped, MethodError> {
        Ok(Grouped::of_posterior(self.run_watched(candidates, seed, tick)?, self.sweeps()))
    }
}

impl Grouped {
    /// The answer of a mixture whose chains made so many sweeps each.
    pub fn of_posterior(found: Posterior, sweeps: usize) -> Self {
        Self {
            confidence: found.membership.clone(),
            iterations: sweeps,
            converged: found.diagnostics.converged(),
            places: Some(found.places.clone()),
            ..Self::new(found.partition.clone())
        }
        .with_posterior(found)
    }

    fn with_posterior(mut self, posterior: Posterior) -> Self {
        self.posterior = Some(Box::new(posterior));
        self
    }
}
