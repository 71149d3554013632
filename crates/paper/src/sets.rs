//! The data sets of an experiment: the authors' ten from files, or ten generated here.
//!
//! The authors' files have one row per candidate: star `i`, its actions, `parallax_penalty` and
//! `true_cluster_id`. Candidates without actions (-9999) are left out. Tables of `goc candidates`
//! are read too.

use std::path::Path;

use goc::Candidates;
use goc::scale::{Scaler, Scaling};
use goc::synthetic::{Coasting, PARALLAX, SyntheticParams};
use goc::uncertainty::{Penalty, Propagation, Sampler, Size};
use goc_pipeline::scores::numbered;
use goc_pipeline::{Dataset, Unwatched};

use crate::PaperError;

/// A data set, scaled and ready: standardised features and penalties of at most 1, as in the
/// paper's section 4.2.
#[derive(Clone, Debug)]
pub struct Set {
    pub(crate) id: usize,
    pub(crate) candidates: Candidates,
    pub(crate) truth: Vec<i64>,
}

impl Set {
    fn new(id: usize, candidates: Candidates, truth: Vec<i64>) -> Result<Self, PaperError> {
        let scaler = Scaler::fit(Scaling::Standard, &candidates).map_err(PaperError::making)?;
        Ok(Self { id, candidates: scaler.apply(candidates).scale_penalties(), truth })
    }

    /// The files `seed01.fits`, `seed02.fits`, … in `folder` or in its folder `paper`.
    pub fn from_folder(folder: &Path) -> Result<Vec<Self>, PaperError> {
        if !folder.is_dir() {
            return Err(PaperError::file(folder, "no such folder"));
        }
        let inner = folder.join("paper");
        let at = if inner.is_dir() { &inner } else { folder };
        let files = (1..=99).map(|id| (id, at.join(format!("seed{id:02}.fits"))));
        let sets: Vec<Self> = files
            .filter(|(_, path)| path.is_file())
            .map(|(id, path)| Self::read(id, &path))
            .collect::<Result<_, _>>()?;
        match sets[..] {
            [] => Err(PaperError::file(at, "no file seed01.fits, seed02.fits, … there")),
            _ => Ok(sets),
        }
    }

    fn read(id: usize, path: &Path) -> Result<Self, PaperError> {
        let data = Dataset::read(path, &Unwatched)?;
        let truth = data.truth.ok_or_else(|| PaperError::file(path, "no column of the true groups"))?;
        Self::new(id, data.candidates, numbered(&truth))
    }

    /// Ten synthetic sets, candidates on a grid along the parallax as the authors drew theirs.
    pub fn made_here() -> Result<Vec<Self>, PaperError> {
        (1..=10).map(Self::made).collect()
    }

    fn made(id: usize) -> Result<Self, PaperError> {
        let catalogue = SyntheticParams::default().draw(id as u64).map_err(PaperError::making)?;
        let size = Size::sigmas(2.0).map_err(PaperError::making)?;
        let objects = catalogue.objects(size).map_err(PaperError::making)?;
        let (candidates, report) = Propagation::new(Coasting)
            .sampler(Sampler::Grid { coordinate: PARALLAX })
            .draws(101)
            .penalty(Penalty::SurpriseOf(vec![PARALLAX]))
            .seed(id as u64)
            .propagate(&objects)
            .map_err(PaperError::making)?;
        let truth = report.objects().iter().map(|&i| catalogue.truth[i]).collect();
        Self::new(id, candidates, truth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goc_tables::{Column, Data, Table};

    /// Four candidates of two stars whose rows do not stand together; one has no actions.
    fn folder(truth: [i64; 5]) -> tempfile::TempDir {
        let real = |name: &str, values: [f64; 5]| Column::new(name, Data::F64(values.to_vec()));
        let table = Table::new(vec![
            Column::new("i", Data::I64(vec![7, 3, 7, 3, 3])),
            Column::new("true_cluster_id", Data::I64(truth.to_vec())),
            real("Jr", [1.0, 3.0, 1.0, -9999.0, 3.0]),
            real("Jz", [0.0, 1.0, 2.0, -9999.0, 5.0]),
            real("Jphi", [1.0, 2.0, 4.0, -9999.0, 8.0]),
            real("parallax_penalty", [0.0, 0.5, 2.0, 0.0, 1.0]),
        ]);
        let folder = tempfile::tempdir().unwrap();
        goc_tables::write(&table.unwrap(), &folder.path().join("seed04.fits")).unwrap();
        folder
    }

    #[test]
    fn a_file_of_the_authors_is_grouped_by_star_and_scaled() {
        let sets = Set::from_folder(folder([2, 9, 2, 9, 9]).path()).unwrap();
        let [set] = &sets[..] else { panic!("{} sets", sets.len()) };
        assert_eq!((set.id, &set.truth[..]), (4, &[2, 9][..]));
        assert_eq!((set.candidates.count(0), set.candidates.count(1)), (2, 2));
        assert_eq!(set.candidates.largest_penalty(), 1.0);
        // Jr is 1, 1, 3, 3: two below the mean and two above.
        assert_eq!(set.candidates.candidate(0, 1)[0], -set.candidates.candidate(1, 1)[0]);
    }

    #[test]
    fn a_star_of_two_groups_is_named() {
        let folder = folder([2, 9, 2, 9, 8]);
        let said = Set::from_folder(folder.path()).unwrap_err().to_string();
        assert!(
            said.ends_with("row 5, column `true_cluster_id`: 8 contradicts 9 for the same object 3"),
            "{said}"
        );
    }
}
