//! The sweeps of one chain: its burn-in, and the draws that are kept.

use super::beginning;
use super::chain::kept::Keeper;
use super::chain::{Chain, FIELD};
use super::draws::Draw;
use super::smooth::Smooth;
use super::summary::Tally;
use super::{Marginal, MarginalError, Watching};

/// What one chain returns.
pub(super) struct Trace {
    pub(super) draws: Vec<Draw>,
    pub(super) ln_densities: Vec<f64>,
    pub(super) moves: [usize; 2],
    /// The number of draws in which the field is a field, and not a wide group.
    pub(super) with_field: usize,
    /// The number of draws at each smoothness level of the field.
    pub(super) levels: Vec<usize>,
    /// Sums over the draws of the shares of the field's densities.
    pub(super) field_shares: Vec<f64>,
    /// Sums over the draws of the expected covariance, of the logarithms of `nu`, `alpha` and the
    /// singleton weight, and of the power.
    pub(super) metric: Vec<f64>,
    pub(super) ln_nu: f64,
    pub(super) alpha: f64,
    pub(super) singleton_weight: f64,
    pub(super) power: f64,
    /// The number of draws under each error model.
    pub(super) laws: Vec<f64>,
}

impl Trace {
    /// An empty trace with capacity for `draws` draws and the given numbers of field levels, field
    /// shares, metric entries and error models.
    pub(super) fn new([levels, field_shares, metric, laws]: [usize; 4], draws: usize) -> Self {
        Self {
            draws: Vec::with_capacity(draws),
            ln_densities: Vec::with_capacity(draws),
            moves: [0, 0],
            with_field: 0,
            levels: vec![0; levels],
            field_shares: vec![0.0; field_shares],
            metric: vec![0.0; metric],
            ln_nu: 0.0,
            alpha: 0.0,
            singleton_weight: 0.0,
            power: 0.0,
            laws: vec![0.0; laws],
        }
    }
}

impl Marginal {
    /// The burn-in: sweeps between the initial state and the first kept draw.
    pub(super) fn burn<'a>(
        &self,
        mut chain: Chain<'a>,
        keeper: Keeper<'a>,
        watching: Watching<'_>,
    ) -> Result<(f64, Chain<'a>), MarginalError> {
        let (from, [mut ln_joint, mut judged]) =
            keeper.burnt(&mut chain)?.unwrap_or((self.begun(), [0.0, 0.0]));
        (self.begun()..from).for_each(|_| (watching.tick)());
        for t in from..self.burn {
            if (watching.enough)() {
                break;
            }
            chain.step(self.moves);
            if t + beginning::JUDGED >= self.burn {
                ln_joint += chain.ln_joint();
                judged += 1.0;
            }
            (watching.tick)();
            keeper.keep_burnt(&chain, t + 1, self.burn, [ln_joint, judged])?;
        }
        Ok((ln_joint / f64::max(judged, 1.0), chain))
    }

    pub(super) fn walk<'a>(
        &self,
        mut chain: Chain<'a>,
        keeper: Keeper<'a>,
        offsets: &[usize],
        smooth: &[Smooth],
        tally: &Tally,
        watching: Watching<'_>,
    ) -> Result<Trace, MarginalError> {
        let (levels, shares) = (chain.data.field.levels().len(), chain.field_shares.len());
        let (metric, laws) = (chain.shape.psi.len(), chain.data.ln_laws.len());
        let mut trace = Trace::new([levels, shares, metric, laws], self.keep);
        let from = keeper.walked(&mut chain, &mut trace, tally, offsets)?;
        (0..from).for_each(|_| (watching.tick)());
        let mut stretch = Vec::new();
        for _ in from..self.keep {
            if (watching.enough)() && !trace.draws.is_empty() {
                break;
            }
            chain.step(self.moves);
            {
                trace.with_field +=
                    usize::from(smooth.get(chain.level).is_some_and(|smooth| chain.has_field(smooth)));
                trace.levels[chain.level] += 1;
                let field: Vec<bool> = chain.labels.iter().map(|k| *k == FIELD).collect();
                let more = chain.clusters.len() as u32;
                let labels: Vec<u32> = chain.labels.iter().map(|k| (*k).min(more)).collect();
                trace.draws.push(Draw::with_field(&labels, &field));
                for (i, from) in offsets[..offsets.len() - 1].iter().enumerate() {
                    if chain.labels[i] != FIELD {
                        tally.add(from + chain.choice(i) as usize);
                    }
                }
                for (sum, share) in trace.field_shares.iter_mut().zip(&chain.field_shares) {
                    *sum += share;
                }
                trace.ln_densities.push(chain.ln_density());
                for (sum, psi) in trace.metric.iter_mut().zip(&chain.shape.psi) {
                    *sum += psi / chain.shape.expected_times();
                }
                trace.ln_nu += libm::log(chain.shape.nu as f64);
                trace.alpha += libm::log(chain.cohesion.alpha);
                trace.singleton_weight += libm::log(chain.cohesion.singleton_weight);
                trace.power += chain.cohesion.power;
                trace.laws[chain.reader.law] += 1.0;
            }
            (watching.tick)();
            keeper.keep_walked(&chain, &trace, &mut stretch, self.keep)?;
        }
        trace.moves = chain.moves;
        Ok(trace)
    }
}
