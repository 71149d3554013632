//! The authors' own initial labels: they remove all randomness, and runs agree with the authors' to
//! the printed digit.

use std::collections::HashMap;
use std::path::Path;

use crate::cells::Cell;
use crate::{PaperError, Set};
use goc_pipeline::checkpoint::digest_of;

/// Initial labels by oracle, K(0) and set: columns oracle, K0, seed, star (from 1), init_cluster.
#[derive(Debug)]
pub struct FirstLabels(HashMap<(String, usize, usize), Vec<i64>>);

impl FirstLabels {
    /// Reads the labels for `sets`; every object of a set needs one in each run that the table
    /// contains.
    pub fn read(path: &Path, sets: &[Set]) -> Result<Self, PaperError> {
        let table = goc_tables::read(path)?;
        let oracle = table.require("oracle")?;
        let integers = |name: &str| table.require(name)?.integers();
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
            Some(((oracle, k, id), _)) => {
                let problem = format!("not every object of set {id} has a label for {oracle}, K0 = {k}");
                Err(PaperError::file(path, problem))
            }
            None => Ok(Self(runs)),
        }
    }

    /// A digest of all of them.
    pub(crate) fn digest(&self) -> String {
        let mut runs: Vec<_> = self.0.iter().collect();
        runs.sort_unstable();
        digest_of(runs.into_iter().map(|run| format!("{run:?}")))
    }

    pub(crate) fn of(&self, cell: &Cell, set: usize) -> Result<Vec<i64>, PaperError> {
        let (oracle, k) = (cell.oracle.reference_name(), cell.k);
        let labels = self.0.get(&(oracle.to_string(), k, set)).cloned();
        labels.ok_or(PaperError::NoFirstLabels { oracle, k, set })
    }
}
