//! A Python function as the oracle, and oracles that can be interrupted.

use std::sync::atomic::{AtomicUsize, Ordering};

use goc::oracle::k_means::KMeans;
use goc::oracle::{Oracle, OracleError, Start};
use goc::{Partition, Points, Stream};
use rand::RngExt;

use crate::watch::{Question, Watch};

/// An oracle that can be stopped at each call; without an inner oracle it calls Python.
pub struct Watched<'w> {
    pub oracle: Option<&'w dyn Oracle>,
    /// The same oracle as k-means, and where it stores the number of iterations of its best start
    /// in the last call.
    pub k_means: Option<&'w (KMeans, AtomicUsize)>,
    pub watch: &'w Watch,
}

impl<'w> Watched<'w> {
    pub fn new(watch: &'w Watch, oracle: Option<&'w dyn Oracle>) -> Self {
        Self { oracle, k_means: None, watch }
    }
}

impl Oracle for Watched<'_> {
    fn name(&self) -> &str {
        self.oracle.map_or("python", Oracle::name)
    }

    fn cluster(
        &self,
        points: &Points,
        start: Start<'_>,
        stream: &mut Stream,
    ) -> Result<Partition, OracleError> {
        self.watch.check();
        if let Some((k_means, iterations)) = self.k_means {
            let fit = k_means.fit(points, start, stream)?;
            iterations.store(fit.iterations, Ordering::Relaxed);
            return Ok(fit.partition);
        }
        if let Some(oracle) = self.oracle {
            return oracle.cluster(points, start, stream);
        }
        start.check(points)?;
        // scikit-learn takes seeds below 2^32; 31 bits also suit functions that use a C int.
        let seed = stream.random_range(0..1 << 31);
        let labels = self.watch.ask(Question { points: points.clone(), k: start.k(), seed });
        if labels.len() != points.len() {
            return Err(OracleError::WrongLength { labels: labels.len(), points: points.len() });
        }
        Ok(Partition::from_labels(&labels))
    }
}
