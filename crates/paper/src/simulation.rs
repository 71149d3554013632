//! The figure of Appendix A: two dwarf galaxies at 0, 3 and 10 Gyr, simulated as by `goc simulate`.

use goc_galaxy::actions::{ActionFinder, Variant};
use goc_galaxy::frames::Galactocentric;
use goc_galaxy::mock::MockParams;
use goc_galaxy::orbit::{Integrator, Stop};
use goc_galaxy::units::GYR_PER_TIME;
use goc_report::figures::{Dwarf, Figure, Snapshot, simulation};

use crate::PaperError;

/// The paper's times, Gyr.
const TIMES: [f64; 3] = [0.0, 3.0, 10.0];
/// Stars of each dwarf that are shown.
const STARS: usize = 200;

/// The figure for the first two dwarfs of a seed.
pub fn simulation_figure(seed: u64) -> Result<Figure, PaperError> {
    let params = MockParams { dwarfs: 2, ..MockParams::default() };
    let integrator = Integrator::new(params.accuracy).map_err(PaperError::making)?;
    let valid = params.check().map_err(PaperError::making)?;
    let finder = ActionFinder::milky_way(Variant::Converged).map_err(PaperError::making)?;
    let mut dwarfs = Vec::new();
    for (number, name) in ["dwarf A", "dwarf B"].into_iter().enumerate() {
        let mut stars = valid.siblings(seed, number, STARS);
        let mut snapshots = Vec::new();
        let mut before = 0.0;
        for time in TIMES {
            let orbits = integrator
                .many(finder.potential().as_ref(), &stars, (time - before) / GYR_PER_TIME)
                .map_err(PaperError::making)?;
            // An orbit that could not be followed has no valid final position.
            stars = orbits.iter().filter(|o| o.stop == Stop::Reached).map(|o| o.end).collect();
            before = time;
            snapshots.push(snapshot(time, &stars, &finder));
        }
        dwarfs.push(Dwarf { name: name.into(), snapshots });
    }
    Ok(simulation(&dwarfs)?)
}

fn snapshot(time: f64, stars: &[Galactocentric], finder: &ActionFinder) -> Snapshot {
    let actions = finder.many(stars);
    let plane =
        |vector: fn(&Galactocentric) -> [f64; 3]| stars.iter().map(vector).map(|[x, y, _]| [x, y]).collect();
    Snapshot {
        time,
        positions: plane(|star| star.position),
        velocities: plane(|star| star.velocity),
        actions: actions.into_iter().filter_map(|a| a.bound()).map(|a| [a.jphi, a.jr]).collect(),
    }
}
