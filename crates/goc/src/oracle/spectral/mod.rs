//! Spectral clustering (Shi & Malik 2000; von Luxburg 2007): k-means on the slow modes of a random
//! walk over the points.
//!
//! Points are nodes of a graph whose edge weights `w_ij` measure the similarity of two points. With
//! the degrees `d_i = sum_j w_ij` the normalised Laplacian is
//!
//! `L = I - D^(-1/2) W D^(-1/2)`.
//!
//! Its K smallest eigenvectors, divided by `sqrt(d_i)`, are nearly constant on groups with few
//! edges to the outside; k-means finds the groups among these rows of K numbers. This is
//! scikit-learn's `SpectralClustering` with its default labelling; the row normalisation of Ng,
//! Jordan & Weiss (2002) is not applied.
//!
//! # Decisions
//! - Edges: the `k` nearest neighbours, counting the point itself as scikit-learn does, symmetrised
//!   by `(A + A^T) / 2`. A point has no edge to itself, which does not change L.
//! - Disconnected graphs: the eigenvectors of each component are computed separately, so none is
//!   lost. With exactly K components, they are the clusters. With more than K, the components
//!   closest to each other (by their nearest points) are joined until K are left; the eigenvectors
//!   would be an arbitrary choice there.
//! - With fewer distinct points than K, each is a cluster. Start centres cannot be used; only their
//!   number matters, as K.
//! - The stream initialises the eigenvector search and k-means.
//!
//! Cost: O(n^2 q) for the graph; O(n k) for a product with it, some hundreds of products, and O(n
//! K^2) for each restart of the eigenvector search; k-means O(n K^2) per round. Memory O(n (k +
//! K)).

use super::graph::{Components, bridge, distances_are_finite, nearest};
use super::k_means::{KMeans, Seeding};
use super::{Oracle, OracleError, Result, Start};
use crate::eigen::lanczos::{BLOCK, Lane, Largest, largest};
use crate::{Partition, Points, Stream};
use rayon::prelude::*;

/// The spectral oracle. The default is ten neighbours.
///
/// ```
/// use goc::{Points, oracle::{Oracle, Start, spectral::Spectral}, random};
/// // Two rings, one within the other: no centre tells them apart.
/// let ring = |i: usize, r: f64| [r * (i as f64 * 0.21).cos(), r * (i as f64 * 0.21).sin()];
/// let rows: Vec<[f64; 2]> = (0..60).map(|i| ring(i, if i < 30 { 1.0 } else { 4.0 })).collect();
/// let points = Points::from_rows(&rows)?;
/// let partition = Spectral::new(5).cluster(&points, Start::K(2), &mut random::stream(1, 0))?;
/// assert!((0..60).all(|i| partition.canonical().labels()[i] == u32::from(i >= 30)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Spectral {
    neighbours: usize,
    k_means: KMeans,
    max_restarts: usize,
}

impl Default for Spectral {
    fn default() -> Self {
        Self::new(10)
    }
}

/// The result of spectral clustering.
#[derive(Clone, Debug, PartialEq)]
pub struct SpectralFit {
    /// The clusters.
    pub partition: Partition,
    /// The eigenvalues of the normalised Laplacian that were used, in ascending order; empty if the
    /// graph's components were the answer.
    pub eigenvalues: Vec<f64>,
    /// The number of connected components of the graph.
    pub pieces: usize,
    /// Restarts of the eigenvector search, the maximum over the components.
    pub iterations: usize,
    /// False if the eigenvectors were not accurate, or k-means had not converged, at the limit.
    pub converged: bool,
}

/// The normalised affinities `w_ij / sqrt(d_i d_j)`, row after row, and the degrees.
pub(crate) struct Graph {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    degrees: Vec<f64>,
}

impl Spectral {
    /// With edges to this many nearest neighbours, counting the point itself as the first: of
    /// weight 1, or 1/2 if only one of the two is the other's neighbour. Validated in `fit`.
    pub fn new(neighbours: usize) -> Self {
        let k_means = KMeans::default().seeding(Seeding::PlusPlus).starts(10).max_iterations(100);
        Self { neighbours, k_means, max_restarts: 300 }
    }

    setters! {
        /// The k-means that groups the rows of the eigenvectors; ten k-means++ starts unless set.
        k_means: KMeans;
        /// The maximum number of restarts of the eigenvector search; at least one is made.
        max_restarts: usize = max_restarts.max(1);
    }

    /// The full result, of which [`Oracle::cluster`] returns the partition.
    pub fn fit(&self, points: &Points, start: Start<'_>, stream: &mut Stream) -> Result<SpectralFit> {
        start.check(points)?;
        if !distances_are_finite(points) {
            return Err(failed("the distances are too large to be squared; scale the features".into()));
        }
        let k = start.k();
        let distinct = points.distinct_rows();
        if distinct.len() <= k {
            let partition = self.k_means.fit(points, Start::K(k), stream)?.partition;
            return Ok(SpectralFit {
                partition,
                eigenvalues: vec![],
                pieces: 1,
                iterations: 0,
                converged: true,
            });
        }
        let others = self.neighbours.checked_sub(1);
        let others = others.ok_or_else(|| failed("the number of neighbours must be at least 1".into()))?;
        let graph = Graph::new(neighbour_rows(points, others));
        let mut components = graph.components();
        let pieces = components.count();
        if pieces >= k {
            bridge(points, &mut components, k);
            let partition = Partition::from_labels(&components.labels());
            return Ok(SpectralFit {
                partition,
                eigenvalues: vec![],
                pieces,
                iterations: 0,
                converged: true,
            });
        }
        let (rows, eigenvalues, iterations, exact) =
            self.embedding(&graph, &components.labels(), pieces, k, stream);
        let fit = self.k_means.fit(&rows, Start::K(k), stream)?;
        Ok(SpectralFit {
            partition: fit.partition,
            eigenvalues,
            pieces,
            iterations,
            converged: exact && fit.converged,
        })
    }

    /// The rows for k-means, the Laplacian's eigenvalues, restarts and whether all is accurate.
    fn embedding(
        &self,
        graph: &Graph,
        labels: &[u32],
        pieces: usize,
        k: usize,
        stream: &mut Stream,
    ) -> (Points, Vec<f64>, usize, bool) {
        let n = labels.len();
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); pieces];
        labels.iter().enumerate().for_each(|(i, &l)| members[l as usize].push(i as u32));
        let parts: Vec<Largest> = members
            .iter()
            .map(|nodes| {
                let part = graph.part(nodes);
                let apply = |x: &[Lane], y: &mut [Lane]| part.multiply(x, y);
                largest(nodes.len(), k, apply, 1e-7, self.max_restarts, stream)
            })
            .collect();
        let mut best: Vec<(f64, usize, usize)> = Vec::new();
        for (p, part) in parts.iter().enumerate() {
            best.extend(part.values.iter().enumerate().map(|(v, &value)| (value, p, v)));
        }
        best.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        best.truncate(k);
        let mut rows = vec![0.0; n * k];
        for (column, &(_, p, v)) in best.iter().enumerate() {
            let nodes = &members[p];
            let vector = &parts[p].vectors[v * nodes.len()..(v + 1) * nodes.len()];
            for (&i, x) in nodes.iter().zip(vector) {
                let i = i as usize;
                rows[i * k + column] = x / graph.scale(i);
            }
        }
        let eigenvalues = best.iter().map(|b| 1.0 - b.0).collect();
        let iterations = parts.iter().map(|p| p.restarts).max().unwrap_or(0);
        (Points::trusted(rows, k), eigenvalues, iterations, parts.iter().all(|p| p.converged))
    }
}

impl Graph {
    /// Normalises symmetric rows of weights.
    pub(crate) fn new(rows: Vec<Vec<(u32, f64)>>) -> Self {
        let degrees: Vec<f64> = rows.iter().map(|row| row.iter().map(|e| e.1).sum()).collect();
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for (i, row) in rows.iter().enumerate() {
            for &(j, w) in row {
                columns.push(j);
                values.push(w / (degrees[i].sqrt() * degrees[j as usize].sqrt()));
            }
            starts.push(columns.len());
        }
        Self { starts, columns, values, degrees }
    }

    fn edges(&self, i: usize) -> impl Iterator<Item = (u32, f64)> {
        let range = self.starts[i]..self.starts[i + 1];
        self.columns[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// The divisor of a node's entries: the square root of its degree, 1 for a node without edges.
    fn scale(&self, i: usize) -> f64 {
        if self.degrees[i] > 0.0 { self.degrees[i].sqrt() } else { 1.0 }
    }

    fn components(&self) -> Components {
        let mut components = Components::new(self.degrees.len());
        for i in 0..self.degrees.len() {
            for (j, _) in self.edges(i) {
                components.join(i as u32, j);
            }
        }
        components
    }

    /// One connected piece as a graph of its own; a single node stays still, which is the eigenvalue 1.
    fn part(&self, nodes: &[u32]) -> Graph {
        let mut number = vec![u32::MAX; self.degrees.len()];
        nodes.iter().enumerate().for_each(|(at, &i)| number[i as usize] = at as u32);
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for &i in nodes {
            for (j, value) in self.edges(i as usize) {
                columns.push(number[j as usize]);
                values.push(value);
            }
            if nodes.len() == 1 {
                columns.push(0);
                values.push(1.0);
            }
            starts.push(columns.len());
        }
        let degrees = nodes.iter().map(|&i| self.degrees[i as usize]).collect();
        Graph { starts, columns, values, degrees }
    }

    pub(crate) fn multiply(&self, x: &[Lane], y: &mut [Lane]) {
        y.par_iter_mut().enumerate().with_min_len(256).for_each(|(i, row)| {
            let range = self.starts[i]..self.starts[i + 1];
            *row = weighted_sum(&self.columns[range.clone()], &self.values[range], x);
        });
    }
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn weighted_sum(columns: &[u32], values: &[f64], x: &[Lane]) -> Lane {
    let mut sum = [0.0; BLOCK];
    for (&j, &value) in columns.iter().zip(values) {
        let row = &x[j as usize];
        for l in 0..BLOCK {
            sum[l] += value * row[l];
        }
    }
    sum
}

/// `(A + A^T) / 2` of the graph that joins each point with its `k` nearest others.
pub(crate) fn neighbour_rows(points: &Points, k: usize) -> Vec<Vec<(u32, f64)>> {
    let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); points.len()];
    for (i, near) in nearest(points, k).iter().enumerate() {
        for &(_, j) in near {
            rows[i].push((j, 0.5));
            rows[j as usize].push((i as u32, 0.5));
        }
    }
    for row in &mut rows {
        row.sort_by_key(|e| e.0);
        row.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 += later.1;
            }
            same
        });
    }
    rows
}

fn failed(reason: String) -> OracleError {
    OracleError::Failed { oracle: "spectral".into(), reason }
}

impl Oracle for Spectral {
    fn name(&self) -> &str {
        "spectral"
    }

    fn cluster(&self, points: &Points, start: Start<'_>, stream: &mut Stream) -> Result<Partition> {
        self.fit(points, start, stream).map(|fit| fit.partition)
    }
}

#[cfg(test)]
mod tests;
