//! The hot kernels of a cluster: weights of candidates and bounds of blocks, eight at a time.

use std::ops::Range;

use multiversion::multiversion;

use super::Cluster;
use crate::marginal::blocks::{Group, LANES, Own, squares};
use crate::marginal::shape::{BASE_DF, Base};

/// The factor by which each candidate of one block multiplies the density of a cluster, times its
/// own weight.
pub(in crate::marginal) fn weigh(cluster: &Cluster, own: Own<'_>, block: usize) -> [f64; LANES] {
    let mut out = [[0.0; LANES]];
    weigh_each(cluster, own, block..block + 1, &mut out);
    out[0]
}

/// The same for all blocks of an object, written to `out`; returns the sum.
pub(in crate::marginal) fn weigh_all(cluster: &Cluster, own: Own<'_>, out: &mut [[f64; LANES]]) -> f64 {
    weigh_each(cluster, own, 0..own.len(), out);
    out[..own.len()].iter().flatten().sum()
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn weigh_each(cluster: &Cluster, own: Own<'_>, of: Range<usize>, out: &mut [[f64; LANES]]) {
    for (block, slot) in of.zip(out) {
        *slot = weigh_block(cluster, own.values(block), own.weights(block));
    }
}

/// Sums of [`weigh`] over blocks, for the listed clusters and blocks of an object.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(in crate::marginal) fn weigh_listed(
    clusters: &[Cluster],
    own: Own<'_>,
    listed: &[(u32, u32)],
    sums: &mut Vec<f64>,
) {
    for &(k, block) in listed {
        let (values, weights) = (own.values(block as usize), own.weights(block as usize));
        sums.push(weigh_block(&clusters[k as usize], values, weights).iter().sum());
    }
}

/// What each candidate of an object has when alone: the base density times its own weight, one per
/// lane.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(in crate::marginal) fn weigh_alone(base: &Base, own: Own<'_>, lanes: &mut Vec<f64>) {
    lanes.clear();
    let (q, scale) = (base.q, libm::exp(base.ln_scale));
    let mut d = vec![[0.0; LANES]; q];
    for block in 0..own.len() {
        for ((d, column), middle) in d.iter_mut().zip(own.values(block).chunks_exact(LANES)).zip(&base.middle)
        {
            *d = std::array::from_fn(|lane| column[lane] - middle);
        }
        let shape = squares(&base.low, &d).map(|sum| 1.0 + sum / BASE_DF as f64);
        let t = half_powers(shape, BASE_DF + q);
        let weights = own.weights(block);
        lanes.extend((0..LANES).map(|lane| weights[lane] * (scale / t[lane])));
    }
}

/// Upper bounds of the sums of [`weigh`] over each block of a group in the listed clusters, each
/// multiplied by the cluster's `join`: eight per cluster, written to `bounds`. The radii of blocks
/// are in the metric of `Psi`. A cluster's own metric is wider, and the more so the more members it
/// has (`shrink`). So no candidate is nearer to the cluster's mean than the centre of the block
/// minus the radius in the cluster's metric, and the base's part of the density is at most its
/// share in `scale`.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(in crate::marginal) fn bound_all(
    clusters: &[Cluster],
    listed: &[u32],
    join: &[f64],
    group: Group<'_>,
    bounds: &mut Vec<[f64; LANES]>,
) {
    for &k in listed {
        let cluster = &clusters[k as usize];
        let factor = join[cluster.size] * cluster.scale * (1.0 + 1e-9);
        let quadratic = quadratic_of(cluster, group.centres);
        let near: [f64; LANES] = std::array::from_fn(|lane| {
            let least = (quadratic[lane].sqrt() - cluster.shrink * group.radii[lane]).max(0.0);
            1.0 + cluster.share * (least * least)
        });
        let t = half_powers(near, cluster.twice);
        bounds.push(std::array::from_fn(|lane| factor * group.totals[lane] / t[lane]));
    }
}

/// `|L (x - mean)|^2` of eight points.
#[inline(always)]
fn quadratic_of(cluster: &Cluster, values: &[f64]) -> [f64; LANES] {
    // A number of features known at compile time allows unrolling; the body is the same.
    match cluster.mean.len() {
        1 => squares(&cluster.low, &differences::<1>(cluster, values)),
        2 => squares(&cluster.low, &differences::<2>(cluster, values)),
        3 => squares(&cluster.low, &differences::<3>(cluster, values)),
        4 => squares(&cluster.low, &differences::<4>(cluster, values)),
        5 => squares(&cluster.low, &differences::<5>(cluster, values)),
        6 => squares(&cluster.low, &differences::<6>(cluster, values)),
        q => {
            let mut d = vec![[0.0; LANES]; q];
            fill_differences(cluster, values, &mut d);
            squares(&cluster.low, &d)
        }
    }
}

#[inline(always)]
fn weigh_block(cluster: &Cluster, values: &[f64], weights: &[f64; LANES]) -> [f64; LANES] {
    match cluster.mean.len() {
        1 => weigh_body(cluster, &differences::<1>(cluster, values), weights),
        2 => weigh_body(cluster, &differences::<2>(cluster, values), weights),
        3 => weigh_body(cluster, &differences::<3>(cluster, values), weights),
        4 => weigh_body(cluster, &differences::<4>(cluster, values), weights),
        5 => weigh_body(cluster, &differences::<5>(cluster, values), weights),
        6 => weigh_body(cluster, &differences::<6>(cluster, values), weights),
        q => {
            let mut d = vec![[0.0; LANES]; q];
            fill_differences(cluster, values, &mut d);
            weigh_body(cluster, &d, weights)
        }
    }
}

#[inline(always)]
fn differences<const Q: usize>(cluster: &Cluster, values: &[f64]) -> [[f64; LANES]; Q] {
    let mut d = [[0.0; LANES]; Q];
    fill_differences(cluster, values, &mut d);
    d
}

#[inline(always)]
fn fill_differences(cluster: &Cluster, values: &[f64], d: &mut [[f64; LANES]]) {
    // Columns of a length known at compile time are subtracted in one step.
    for ((d, column), mean) in d.iter_mut().zip(values.as_chunks::<LANES>().0).zip(&cluster.mean) {
        *d = column.map(|x| x - mean);
    }
}

#[inline(always)]
fn weigh_body(cluster: &Cluster, d: &[[f64; LANES]], weights: &[f64; LANES]) -> [f64; LANES] {
    let q = d.len();
    let quadratic = squares(&cluster.low, d);
    let mut base = [0.0; LANES];
    for r in 0..q {
        let mut b = [cluster.at_mean[r]; LANES];
        for f in 0..=r {
            let l = cluster.low_base[r * q + f];
            for lane in 0..LANES {
                b[lane] += l * d[f][lane];
            }
        }
        for lane in 0..LANES {
            base[lane] += b[lane] * b[lane];
        }
    }
    let inverse_df = 1.0 / BASE_DF as f64;
    let t = half_powers(quadratic.map(|v| 1.0 + cluster.share * v), cluster.twice);
    let h = half_powers(base.map(|v| 1.0 + v * inverse_df), BASE_DF + q);
    std::array::from_fn(|lane| weights[lane] * cluster.scale / (t[lane] * h[lane]))
}

/// `x^(twice / 2)` of each.
#[inline(always)]
pub(in crate::marginal) fn half_powers(x: [f64; LANES], twice: usize) -> [f64; LANES] {
    let mut result = if twice % 2 == 1 { x.map(f64::sqrt) } else { [1.0; LANES] };
    let (mut square, mut left) = (x, twice / 2);
    while left > 0 {
        if left % 2 == 1 {
            for lane in 0..LANES {
                result[lane] *= square[lane];
            }
        }
        left /= 2;
        if left > 0 {
            square = square.map(|v| v * v);
        }
    }
    result
}

/// `x^(twice / 2)`, by the same multiplications as for eight at a time.
pub(in crate::marginal) fn half_power(x: f64, twice: usize) -> f64 {
    half_powers([x; LANES], twice)[0]
}
