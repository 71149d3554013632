//! The settings of the paper's experiments and the figures it prints (Okuno & Hattori 2022, Tables
//! 1, 2 and 4 and the notes on Experiment 4): mean and standard deviation over its ten data sets.

use goc::choice::Choice;
use goc::oracle::Oracle;
use goc::oracle::gmm_diag::GmmDiag;
use goc::oracle::k_means::KMeans;
use goc::oracle::k_medoids::KMedoids;
use goc::oracle::mclust::{Mclust, Model};

goc_pipeline::words! {
    /// The oracles of the paper, each configured as in the paper.
    #[non_exhaustive]
    pub enum PaperOracle {
        /// Hartigan-Wong, as in R.
        KMeans = "k-means",
        /// FasterPAM.
        KMedoids = "k-medoids",
        /// Diagonal Gaussian mixture, as in ClusterR.
        GmmDiag = "gmm-diag",
        /// mclust, one sphere for all.
        MclustEii = "mclust-eii",
        /// mclust, a sphere each.
        MclustVii = "mclust-vii",
        /// mclust, any covariances.
        MclustVvv = "mclust-vvv",
    }
}

use PaperOracle::{GmmDiag as Gmm, KMeans as Means, KMedoids as Medoids, MclustEii, MclustVii, MclustVvv};

/// The seed of the paper's mixture: `ClusterR::GMM` sets it to 1 by default.
const CLUSTER_R_SEED: i32 = 1;

impl PaperOracle {
    /// The oracle itself. The random draw of the paper's mixture is known and is reproduced here.
    pub(crate) fn build(self) -> Box<dyn Oracle> {
        match self {
            Means => Box::new(KMeans::default()),
            Medoids => Box::new(KMedoids::default()),
            Gmm => Box::new(GmmDiag::cluster_r(CLUSTER_R_SEED)),
            MclustEii => Box::new(Mclust::new(Model::Eii)),
            MclustVii => Box::new(Mclust::new(Model::Vii)),
            MclustVvv => Box::new(Mclust::new(Model::Vvv)),
        }
    }

    /// Whether its runs depend on the seed.
    pub(crate) fn draws(self) -> bool {
        matches!(self, Means | Medoids)
    }

    /// Its name in the authors' reference tables.
    pub(crate) fn reference_name(self) -> &'static str {
        match self {
            Means | Medoids => self.word(),
            Gmm => "GMM_ClusterR",
            MclustEii => "GMM_EII",
            MclustVii => "GMM_VII",
            MclustVvv => "GMM_VVV",
        }
    }
}

/// A printed mean and standard deviation.
pub(crate) type Printed = Option<(f64, f64)>;

/// One cell of the paper: a setting and the numbers that the paper prints for it.
#[derive(Debug, PartialEq)]
pub(crate) struct Cell {
    pub oracle: PaperOracle,
    pub lambda: f64,
    /// K(0).
    pub k: usize,
    /// NMI, F, clusters, iterations, baseline NMI, baseline F.
    pub printed: [Printed; 6],
}

const fn cell(oracle: PaperOracle, lambda: f64, k: usize, v: [f64; 12]) -> Cell {
    let printed = [
        Some((v[0], v[1])),
        Some((v[2], v[3])),
        Some((v[4], v[5])),
        Some((v[6], v[7])),
        Some((v[8], v[9])),
        Some((v[10], v[11])),
    ];
    Cell { oracle, lambda, k, printed }
}

/// The notes only give NMI and the number of clusters.
const fn note(oracle: PaperOracle, nmi: (f64, f64), clusters: (f64, f64)) -> Cell {
    Cell { oracle, lambda: 0.01, k: 50, printed: [Some(nmi), None, Some(clusters), None, None, None] }
}

/// Every setting once. NMI, F, clusters, iterations, baseline NMI, baseline F; each mean, then deviation.
#[rustfmt::skip]
pub(crate) static CELLS: [Cell; 25] = [
    cell(Means, 0.0, 30, [0.830, 0.030, 0.627, 0.042, 28.3, 1.34, 15.2, 3.05, 0.808, 0.020, 0.604, 0.024]),
    cell(Means, 0.01, 30, [0.834, 0.023, 0.641, 0.026, 28.4, 0.84, 15.8, 3.74, 0.808, 0.020, 0.604, 0.024]),
    cell(Means, 0.1, 30, [0.844, 0.030, 0.648, 0.051, 28.5, 0.85, 13.3, 4.40, 0.808, 0.020, 0.604, 0.024]),
    cell(Means, 1.0, 30, [0.821, 0.021, 0.618, 0.027, 28.9, 0.57, 7.3, 1.70, 0.808, 0.020, 0.604, 0.024]),
    cell(Means, 0.0, 50, [0.880, 0.024, 0.750, 0.039, 46.1, 1.10, 15.8, 3.23, 0.839, 0.026, 0.685, 0.048]),
    cell(Means, 0.01, 50, [0.879, 0.027, 0.752, 0.046, 46.4, 0.97, 15.0, 3.33, 0.839, 0.026, 0.685, 0.048]),
    cell(Means, 0.1, 50, [0.871, 0.024, 0.736, 0.041, 47.2, 1.23, 12.8, 3.74, 0.839, 0.026, 0.685, 0.048]),
    cell(Means, 1.0, 50, [0.846, 0.026, 0.694, 0.045, 48.5, 0.85, 7.4, 1.84, 0.839, 0.026, 0.685, 0.048]),
    cell(Means, 0.0, 70, [0.877, 0.020, 0.749, 0.035, 64.6, 1.71, 11.7, 1.50, 0.837, 0.021, 0.673, 0.035]),
    cell(Means, 0.01, 70, [0.878, 0.022, 0.747, 0.036, 64.2, 1.55, 12.2, 2.10, 0.837, 0.021, 0.673, 0.035]),
    cell(Means, 0.1, 70, [0.875, 0.018, 0.742, 0.032, 66.6, 1.51, 11.9, 2.03, 0.837, 0.021, 0.673, 0.035]),
    cell(Means, 1.0, 70, [0.850, 0.027, 0.706, 0.051, 67.8, 1.32, 7.7, 1.06, 0.837, 0.021, 0.673, 0.035]),
    cell(Means, 0.01, 40, [0.868, 0.023, 0.719, 0.037, 37.6, 0.84, 15.5, 5.32, 0.832, 0.026, 0.671, 0.039]),
    cell(Means, 0.01, 60, [0.874, 0.027, 0.741, 0.044, 55.9, 1.52, 13.5, 1.96, 0.839, 0.027, 0.682, 0.047]),
    cell(Medoids, 0.01, 30, [0.848, 0.028, 0.663, 0.041, 28.7, 0.95, 16.4, 4.53, 0.816, 0.028, 0.626, 0.038]),
    cell(Gmm, 0.01, 30, [0.834, 0.021, 0.635, 0.033, 29.0, 0.81, 18.8, 3.33, 0.807, 0.028, 0.594, 0.044]),
    cell(MclustEii, 0.01, 30, [0.802, 0.028, 0.559, 0.050, 22.8, 3.39, 18.7, 8.88, 0.781, 0.025, 0.528, 0.046]),
    cell(Medoids, 0.01, 50, [0.879, 0.024, 0.753, 0.031, 46.3, 1.83, 16.2, 2.94, 0.841, 0.026, 0.698, 0.042]),
    cell(Gmm, 0.01, 50, [0.864, 0.022, 0.718, 0.039, 48.0, 1.05, 16.7, 5.40, 0.828, 0.023, 0.654, 0.040]),
    cell(MclustEii, 0.01, 50, [0.807, 0.035, 0.571, 0.059, 24.0, 3.89, 18.3, 9.11, 0.786, 0.032, 0.539, 0.057]),
    cell(Medoids, 0.01, 70, [0.875, 0.023, 0.743, 0.037, 63.9, 2.03, 13.9, 2.03, 0.845, 0.022, 0.692, 0.039]),
    cell(Gmm, 0.01, 70, [0.868, 0.023, 0.721, 0.046, 66.3, 1.89, 16.0, 5.48, 0.839, 0.022, 0.662, 0.047]),
    cell(MclustEii, 0.01, 70, [0.807, 0.035, 0.571, 0.059, 24.0, 3.89, 18.3, 9.11, 0.786, 0.032, 0.539, 0.057]),
    note(MclustVii, (0.717, 0.050), (13.0, 3.97)),
    note(MclustVvv, (0.662, 0.055), (9.1, 2.38)),
];

/// A table of the paper: a title and the cells it shows.
pub(crate) struct Experiment {
    pub title: &'static str,
    pub shows: fn(&Cell) -> bool,
}

/// The tables, in the paper's order.
pub(crate) const EXPERIMENTS: [Experiment; 4] = [
    Experiment {
        title: "Experiment 1: k-means, K(0) fixed, lambda increasing",
        shows: |c| c.oracle == Means && c.k != 40 && c.k != 60,
    },
    Experiment {
        title: "Experiment 2: k-means, lambda = 0.01, K(0) increasing",
        shows: |c| c.oracle == Means && c.lambda == 0.01,
    },
    Experiment {
        title: "Experiment 4: other oracles, lambda = 0.01",
        shows: |c| c.in_experiment_4() && ![MclustVii, MclustVvv].contains(&c.oracle),
    },
    Experiment {
        title: "Notes on Experiment 4: mclust VII and VVV",
        shows: |c| [MclustVii, MclustVvv].contains(&c.oracle),
    },
];

impl Cell {
    /// Whether its lambda and K(0) are those of Experiment 4, which the convergence figures also
    /// show.
    pub fn in_experiment_4(&self) -> bool {
        self.lambda == 0.01 && [30, 50, 70].contains(&self.k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_stands_in_a_table() {
        for cell in &CELLS {
            assert!(EXPERIMENTS.iter().any(|e| (e.shows)(cell)), "{cell:?}");
        }
        let shown: Vec<usize> =
            EXPERIMENTS.iter().map(|e| CELLS.iter().filter(|c| (e.shows)(c)).count()).collect();
        assert_eq!(shown, [12, 5, 12, 2]);
    }

    #[test]
    fn every_setting_stands_once() {
        for (at, cell) in CELLS.iter().enumerate() {
            let same = |c: &Cell| (c.oracle, c.lambda, c.k) == (cell.oracle, cell.lambda, cell.k);
            assert!(!CELLS[..at].iter().any(same), "{cell:?}");
        }
    }
}
