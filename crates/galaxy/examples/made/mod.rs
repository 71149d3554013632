//! What the examples share: a mock Milky Way, and its stars' candidates made as the authors made theirs.
#![allow(dead_code)] // each example takes what it needs

use std::sync::Arc;

use goc::Candidates;
use goc::candidates::CandidatesBuilder;
use goc::scale::{Scaler, Scaling};
use goc::uncertainty::{Penalty, Propagation, Sampler, Size, WhenAllRejected};
use goc_galaxy::actions::ActionFinder;
use goc_galaxy::catalogue::{Catalogue, DistanceMeasure, DistancePrior};
use goc_galaxy::frames::{JphiSign, Sky, Sun};
use goc_galaxy::mock::Mock;
use goc_galaxy::stars::StarActions;

pub type Failure = Box<dyn std::error::Error>;

/// Jr, Jz and Jphi of 101 candidates a star, the parallax in even steps with a penalty for it
/// alone; and the true groups.
pub fn candidates(
    mock: &Mock,
    finder: &Arc<ActionFinder>,
    seed: u64,
) -> Result<(Candidates, Vec<i64>), Failure> {
    let grid = Propagation::new(StarActions::new(catalogue()?, Arc::clone(finder), JphiSign::Paper))
        .sampler(Sampler::Grid { coordinate: 2 })
        .penalty(Penalty::SurpriseOf(vec![2]))
        .scale_penalties(true);
    actions(mock, grid, seed)
}

/// The same of 101 draws of the errors, told how far the mock's stars reach and that they fill the volume: as
/// `goc candidates --sampler density --penalty none --distance-prior volume:5` makes them.
pub fn candidates_by_prior(
    mock: &Mock,
    finder: &Arc<ActionFinder>,
    reach: f64,
    seed: u64,
) -> Result<(Candidates, Vec<i64>), Failure> {
    let catalogue = catalogue()?;
    let draws = Propagation::new(StarActions::new(catalogue, Arc::clone(finder), JphiSign::Paper))
        .sampler(Sampler::Density)
        .prior(move |row| catalogue.ln_prior(DistancePrior::Volume { reach }, row));
    actions(mock, draws, seed)
}

fn catalogue() -> Result<Catalogue, Failure> {
    Ok(Catalogue::new(Sky::Galactic, DistanceMeasure::Parallax { offset: 0.0 }, Sun::hattori())?)
}

fn actions(
    mock: &Mock,
    how: Propagation<'_, StarActions>,
    seed: u64,
) -> Result<(Candidates, Vec<i64>), Failure> {
    let objects = mock.objects(Size::sigmas(2.0)?)?;
    let made = how.draws(101).when_all_rejected(WhenAllRejected::LeaveOut).seed(seed);
    let (candidates, report) = made.propagate(&objects)?;
    let truth = report.objects().iter().map(|&i| mock.stars[i].group as i64).collect();
    Ok((candidates, truth))
}

/// As the marginal mixture takes actions: square roots of Jr and Jz, robust scaling.
pub fn roots(candidates: &Candidates) -> Result<Candidates, Failure> {
    let roots = rows(candidates, |row| vec![row[0].sqrt(), row[1].sqrt(), row[2]])?;
    Ok(Scaler::fit(Scaling::Robust, &roots)?.apply(roots))
}

/// Every candidate mapped to three features.
fn rows(candidates: &Candidates, map: impl Fn(&[f64]) -> Vec<f64>) -> Result<Candidates, Failure> {
    let mut builder = CandidatesBuilder::new(3);
    for i in 0..candidates.objects() {
        let rows: Vec<f64> =
            (0..candidates.count(i)).flat_map(|j| map(&candidates.candidate(i, j))).collect();
        builder.push(&rows, candidates.penalties(i))?;
    }
    Ok(builder.build()?)
}
