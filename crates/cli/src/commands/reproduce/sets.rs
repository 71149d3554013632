//! The data sets of an experiment: the authors' ten from files, or ten that the program makes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use goc::Candidates;
use goc::scale::{Scaler, Scaling};
use goc::synthetic::{Coasting, PARALLAX, SyntheticParams};
use goc::uncertainty::{Penalty, Propagation, Sampler, Size};

use super::paper::reference_name;
use goc_pipeline::OracleName;
use crate::fail::Fail;
use goc_pipeline::Unwatched;
use goc_pipeline::long_table::LongTable;
use goc_pipeline::scores::numbered;

/// A set, scaled and ready.
pub struct Set {
    /// Its number, from 1.
    pub id: usize,
    pub candidates: Candidates,
    pub truth: Vec<i64>,
}

/// The files `seed01.fits`, `seed02.fits`, … in `folder` or in its folder `paper`.
pub fn from_folder(folder: &Path) -> Result<Vec<Set>, Fail> {
    if !folder.is_dir() {
        return Err(Fail::failed(format!("{}: no such folder", folder.display())));
    }
    let at = if folder.join("paper").is_dir() { folder.join("paper") } else { folder.to_path_buf() };
    let mut sets = Vec::new();
    for id in 1..=99 {
        let path = at.join(format!("seed{id:02}.fits"));
        if path.is_file() {
            sets.push(read(id, path)?);
        }
    }
    if sets.is_empty() {
        return Err(Fail::failed(format!("{}: no file seed01.fits, seed02.fits, … there", at.display())));
    }
    Ok(sets)
}

fn read(id: usize, path: PathBuf) -> Result<Set, Fail> {
    let args = LongTable::new(path);
    let table = args.read(&Unwatched)?;
    let truth = table
        .truth
        .as_ref()
        .ok_or_else(|| Fail::failed(format!("{}: no column of the true groups", args.input.display())))?;
    let truth = numbered(truth);
    Ok(Set { id, candidates: ready(table.candidates)?, truth })
}

/// Ten synthetic sets, candidates on a grid along the parallax as the authors drew theirs.
pub fn made_here() -> Result<Vec<Set>, Fail> {
    (1..=10).map(made).collect()
}

fn made(id: usize) -> Result<Set, Fail> {
    let said = |error: &dyn std::fmt::Display| Fail::failed(error.to_string());
    let catalogue = SyntheticParams::default().draw(id as u64).map_err(|e| said(&e))?;
    let size = Size::sigmas(2.0).map_err(|e| said(&e))?;
    let objects = catalogue.objects(size).map_err(|e| said(&e))?;
    let (candidates, report) = Propagation::new(Coasting)
        .sampler(Sampler::Grid { coordinate: PARALLAX })
        .draws(101)
        .penalty(Penalty::SurpriseOf(vec![PARALLAX]))
        .seed(id as u64)
        .propagate(&objects)
        .map_err(|e| said(&e))?;
    let truth = report.objects().iter().map(|&i| catalogue.truth()[i]).collect();
    Ok(Set { id, candidates: ready(candidates)?, truth })
}

/// Standardised features and penalties scaled to at most 1, as in the paper's section 4.2.
pub fn ready(candidates: Candidates) -> Result<Candidates, Fail> {
    let scaler = Scaler::fit(Scaling::Standard, &candidates).map_err(|e| Fail::failed(e.to_string()))?;
    Ok(scaler.apply(candidates).scale_penalties())
}

/// First labels by oracle, K(0) and set: columns oracle, K0, seed, star (from 1), init_cluster.
pub struct FirstLabels(HashMap<(String, usize, usize), Vec<i64>>);

impl FirstLabels {
    pub fn read(path: &Path, sets: &[Set]) -> Result<Self, Fail> {
        let table = goc_tables::read(path)?;
        let oracle = table.require("oracle")?;
        let integers = |name: &str| -> Result<Vec<i64>, Fail> { Ok(table.require(name)?.integers()?) };
        let (k, set, star, label) =
            (integers("K0")?, integers("seed")?, integers("star")?, integers("init_cluster")?);
        let size: HashMap<usize, usize> = sets.iter().map(|s| (s.id, s.candidates.objects())).collect();
        let mut runs: HashMap<(String, usize, usize), Vec<i64>> = HashMap::new();
        for row in 0..table.rows() {
            let id = set[row] as usize;
            let Some(&n) = size.get(&id) else { continue };
            if star[row] < 1 || star[row] as usize > n {
                let problem = format!("is not an object of set {id}, which has {n}");
                return Err(table.require("star")?.value_error(row, problem).into());
            }
            let key = (oracle.text(row).into_owned(), k[row] as usize, id);
            runs.entry(key).or_insert_with(|| vec![i64::MIN; n])[star[row] as usize - 1] = label[row];
        }
        match runs.iter().find(|(_, labels)| labels.contains(&i64::MIN)) {
            Some(((oracle, k, id), _)) => Err(Fail::failed(format!(
                "{}: not every object of set {id} has a label for {oracle}, K0 = {k}",
                path.display()
            ))),
            None => Ok(Self(runs)),
        }
    }

    pub fn of(&self, oracle: OracleName, k: usize, set: usize) -> Result<Vec<i64>, Fail> {
        let name = reference_name(oracle);
        self.0.get(&(name.to_string(), k, set)).cloned().ok_or_else(|| {
            Fail::failed(format!("the first labels have none for {name}, K0 = {k}, set {set}"))
        })
    }
}
