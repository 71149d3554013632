//! The simulation of the paper's Appendix A: dwarf galaxies that dissolve, and the actions that do
//! not.
//!
//! One row per time; positions, velocities and actions in the columns, each column with the same
//! ranges at all times.

use super::axis::Axis;
use super::panel::{Entry, Page, Panel, Sign};
use super::{Figure, FigureError, Result, counted, finite_points};
use crate::colours::{COLOURS, Mark};

/// The stars of a dwarf at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The time since it was accreted, Gyr.
    pub time: f64,
    /// x and y, kpc.
    pub positions: Vec<[f64; 2]>,
    /// vx and vy, km/s.
    pub velocities: Vec<[f64; 2]>,
    /// Jphi and Jr, kpc km/s.
    pub actions: Vec<[f64; 2]>,
}

/// A dwarf galaxy.
#[derive(Clone, Debug, PartialEq)]
pub struct Dwarf {
    /// Its name in the legend.
    pub name: String,
    /// Its stars at the times of the figure's rows.
    pub snapshots: Vec<Snapshot>,
}

/// Dwarfs at the same times.
pub fn simulation(dwarfs: &[Dwarf]) -> Result<Figure> {
    let Some(times) = dwarfs.first().map(|d| d.snapshots.iter().map(|s| s.time).collect::<Vec<_>>()) else {
        return Err(FigureError::Empty { what: "dwarfs" });
    };
    let stars = |snapshot: &Snapshot| {
        [snapshot.positions.clone(), snapshot.velocities.clone(), snapshot.actions.clone()]
    };
    let mut drawn: Vec<Vec<[Vec<[f64; 2]>; 3]>> = Vec::new();
    for dwarf in dwarfs {
        counted("snapshots of a dwarf", times.len(), dwarf.snapshots.len())?;
        for (snapshot, time) in dwarf.snapshots.iter().zip(&times) {
            if snapshot.time != *time {
                return Err(FigureError::range("time", 0, snapshot.time, "the same for all dwarfs"));
            }
            finite_points("position", &snapshot.positions)?;
            finite_points("velocity", &snapshot.velocities)?;
            finite_points("action", &snapshot.actions)?;
        }
        drawn.push(dwarf.snapshots.iter().map(stars).collect());
    }
    if drawn.iter().flatten().flatten().all(Vec::is_empty) {
        return Err(FigureError::Empty { what: "stars" });
    }
    let names = [["x (kpc)", "y (kpc)"], ["vx (km/s)", "vy (km/s)"], ["Jφ (kpc km/s)", "Jr (kpc km/s)"]];
    let axis = |column: usize, c: usize| {
        let all = drawn.iter().flatten().flat_map(move |s| s[column].iter().map(move |p| p[c]));
        Axis::around(names[column][c], all)
    };
    let panels =
        (0..times.len()).flat_map(|row| (0..3).map(move |column| (row, column))).map(|(row, column)| {
            let panel = Panel::new("", axis(column, 0), axis(column, 1)).shows(row + 1 == times.len(), true);
            if column < 2 { panel.equal() } else { panel }
        });
    let legend: Vec<Entry> = dwarfs
        .iter()
        .zip(COLOURS)
        .map(|(d, colour)| Entry {
            text: d.name.clone(),
            colour: colour.into(),
            sign: Sign::Mark(Mark::Disc),
        })
        .collect();
    let rows: Vec<String> = times.iter().map(|t| format!("{t} Gyr")).collect();
    let mut page = Page::new(panels.collect(), 3, 1.0, &legend, &rows);
    for row in 0..times.len() {
        for column in 0..3 {
            page.inside(3 * row + column, |canvas, placed| {
                for (dwarf, colour) in drawn.iter().zip(COLOURS) {
                    // Stars that start at the same position form one dot, which must be visible.
                    let size = if times[row] == 0.0 && column == 0 { 4.0 } else { 1.8 };
                    canvas.dots(dwarf[row][column].iter().map(|p| placed.place(*p)), size, colour);
                }
            });
        }
    }
    Ok(page.finish())
}
