//! The sums of many objects: eight candidates at a time, and only what is not negligible.
//!
//! An object has a hundred candidates, there are hundreds of kernels and several widths: with one
//! exponential for each, the sums of 100 000 objects would take as long as a third of all sweeps.
//! Here the candidates of an object, which are neighbours, are measured against a kernel together.
//! If all of them are far from it, that is all; else their densities are computed by vector units.
//! What is left out changes the density of an object by less than [`NEGLIGIBLE`] times the number
//! of densities.

use multiversion::multiversion;
use rayon::prelude::*;

use super::{Cell, Normal, Smooth};
use crate::elementary;
use crate::marginal::blocks::{LANES, squares};
use crate::marginal::sums::FieldSums;
use crate::objects::Objects;

/// A density this far below the middle of its kernel, in its logarithm, is left out.
const FAR: f64 = 25.0;

/// Sums below this share of the largest of an object are left out.
const NEGLIGIBLE: f64 = 1e-6;

/// The number of objects whose sums are made at once.
const CHUNK: usize = 256;

/// As [`Smooth::sums`].
pub(super) fn sums(
    smooth: &Smooth,
    ending: Option<&Smooth>,
    objects: &dyn Objects,
    laws: usize,
    weigh: impl Fn(usize, &mut Vec<f64>, &mut Vec<f64>) + Sync,
) -> Vec<Vec<FieldSums>> {
    let (n, kinds) = (objects.objects(), 1 + usize::from(ending.is_some()));
    let of_chunk = |at: usize| {
        let mut all = vec![vec![FieldSums::new(); laws]; kinds];
        let (mut own, mut spare, mut rows) = (Eights::default(), Vec::new(), Vec::new());
        for i in at * CHUNK..((at + 1) * CHUNK).min(n) {
            objects.load(i, &mut own.values);
            weigh(i, &mut spare, &mut own.weights);
            own.arrange(objects.features(), laws);
            own.find_images(ending, objects.features());
            rows.clear();
            rows.resize(kinds * laws * smooth.len(), 0.0);
            add_all(smooth, &smooth.own(i), &own, &mut rows);
            let parts = rows.chunks_exact(smooth.len());
            all.iter_mut().flatten().zip(parts).for_each(|(sums, row)| sums.push(row, NEGLIGIBLE));
        }
        all
    };
    let chunks: Vec<_> = (0..n.div_ceil(CHUNK)).into_par_iter().map(of_chunk).collect();
    let mut all = vec![vec![FieldSums::new(); laws]; kinds];
    for chunk in chunks {
        all.iter_mut().flatten().zip(chunk.iter().flatten()).for_each(|(sums, more)| sums.extend(more));
    }
    all
}

/// The density of each candidate of object `i`, whose `features` are given one after another, with
/// these shares: as [`Smooth::density`] of each.
pub(super) fn mixed(smooth: &Smooth, i: usize, features: &[f64], shares: &[f64], out: &mut Vec<f64>) {
    let q = smooth.kernel.len().isqrt();
    let m = features.len() / q;
    let mut own = Eights { values: features.to_vec(), weights: vec![0.0; m], ..Eights::default() };
    own.arrange(q, 1);
    own.find_images(Some(smooth), q);
    let mut all = vec![[0.0; LANES]; m.div_ceil(LANES)];
    mix(smooth, &smooth.own(i), &own, shares, &mut all);
    out.clear();
    out.extend_from_slice(&all.as_flattened()[..m]);
}

/// The candidates of one object by eights. The last eight repeats the last candidate with weight 0.
#[derive(Default)]
struct Eights {
    values: Vec<f64>,
    weights: Vec<f64>,
    laws: usize,
    /// Eight values of a feature, feature after feature, for each eight.
    places: Vec<[f64; LANES]>,
    /// The weights of each eight under each error model.
    weighed: Vec<[f64; LANES]>,
    /// For each candidate, if edges matter to it: its images behind them, or none if it is outside.
    images: Vec<Option<Vec<(usize, f64)>>>,
    /// The eights to whose candidates edges matter.
    near_edges: Vec<bool>,
}

impl Eights {
    fn arrange(&mut self, q: usize, laws: usize) {
        self.laws = laws;
        let m = self.weights.len() / laws;
        self.places.clear();
        self.weighed.clear();
        for first in (0..m).step_by(LANES) {
            for column in self.values.chunks_exact(m).take(q) {
                self.places.push(std::array::from_fn(|lane| column[(first + lane).min(m - 1)]));
            }
            for weights in self.weights.chunks_exact(m) {
                let of = |lane: usize| weights.get(first + lane).copied().unwrap_or(0.0);
                self.weighed.push(std::array::from_fn(of));
            }
        }
    }

    fn find_images(&mut self, ending: Option<&Smooth>, q: usize) {
        self.images.clear();
        self.near_edges.clear();
        let Some(edges) = ending.and_then(|ending| ending.edges.as_ref()) else { return };
        let (mut x, mut found) = (vec![0.0; q], Vec::new());
        for eight in self.places.chunks_exact(q) {
            let mut near = false;
            for lane in 0..LANES {
                x.iter_mut().zip(eight).for_each(|(x, lanes)| *x = lanes[lane]);
                let inside = edges.images(&x, &mut found);
                near |= !inside || !found.is_empty();
                self.images.push(inside.then(|| found.clone()));
            }
            self.near_edges.push(near);
        }
    }
}

/// Adds the sums of one object in all densities: plain ones under each error model, then, if there
/// are edges, those with edges.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn add_all(smooth: &Smooth, own: &(usize, Option<Cell>), eights: &Eights, rows: &mut [f64]) {
    let (len, laws) = (smooth.len(), eights.laws);
    let mut add = |eight: usize, density: usize, plain: &[f64; LANES], folded: Option<&[f64; LANES]>| {
        for (law, weights) in eights.weighed[eight * laws..(eight + 1) * laws].iter().enumerate() {
            let sum = product(weights, plain);
            rows[law * len + density] += sum;
            if let Some(row) = rows.get_mut((laws + law) * len + density) {
                *row += folded.map_or(sum, |folded| product(weights, folded));
            }
        }
    };
    for_each(smooth, own, eights, &mut add);
}

/// Adds the density of each candidate with these shares to `mixed`.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn mix(
    smooth: &Smooth,
    own: &(usize, Option<Cell>),
    eights: &Eights,
    shares: &[f64],
    mixed: &mut [[f64; LANES]],
) {
    let mut add = |eight: usize, density: usize, plain: &[f64; LANES], folded: Option<&[f64; LANES]>| {
        for (slot, here) in mixed[eight].iter_mut().zip(folded.unwrap_or(plain)) {
            *slot += shares[density] * here;
        }
    };
    for_each(smooth, own, eights, &mut add);
}

/// The sum of the products, added in pairs: a chain of eight additions would take longer than all
/// else.
#[inline(always)]
fn product(a: &[f64; LANES], b: &[f64; LANES]) -> f64 {
    let mut sums: [f64; LANES] = std::array::from_fn(|lane| a[lane] * b[lane]);
    for half in [4, 2, 1] {
        for lane in 0..half {
            sums[lane] += sums[lane + half];
        }
    }
    sums[0]
}

/// Calls `put` with the eight, the number of the density, and the densities of the candidates
/// without edges and with them, if that differs; not where they are negligible.
#[inline(always)]
fn for_each(
    smooth: &Smooth,
    own: &(usize, Option<Cell>),
    eights: &Eights,
    put: &mut impl FnMut(usize, usize, &[f64; LANES], Option<&[f64; LANES]>),
) {
    let q = smooth.kernel.len().isqrt();
    // A number of features known at compile time allows unrolling; the body is the same.
    match q {
        1 => for_each_body(smooth, own, eights, put, &mut [[0.0; LANES]; 1]),
        2 => for_each_body(smooth, own, eights, put, &mut [[0.0; LANES]; 2]),
        3 => for_each_body(smooth, own, eights, put, &mut [[0.0; LANES]; 3]),
        q => for_each_body(smooth, own, eights, put, &mut vec![[0.0; LANES]; q]),
    }
}

#[inline(always)]
fn for_each_body(
    smooth: &Smooth,
    own: &(usize, Option<Cell>),
    eights: &Eights,
    put: &mut impl FnMut(usize, usize, &[f64; LANES], Option<&[f64; LANES]>),
    d: &mut [[f64; LANES]],
) {
    let last = smooth.len() - 1;
    let mut x = vec![0.0; d.len()];
    for (eight, places) in eights.places.chunks_exact(d.len()).enumerate() {
        let near_edges = eights.near_edges.get(eight).is_some_and(|near| *near);
        for (at, cell) in smooth.cells.iter().enumerate() {
            let (kernel, share) = match &own.1 {
                _ if at != own.0 => (&cell.kernel, 1.0),
                Some(left) => (&left.kernel, left.count / cell.count),
                None => continue,
            };
            let Some(densities) = densities(kernel, share, FAR, places, d) else { continue };
            if !near_edges {
                put(eight, at, &densities, None);
                continue;
            }
            let mut folded = densities;
            for (lane, density) in folded.iter_mut().enumerate() {
                match &eights.images[eight * LANES + lane] {
                    Some(images) if images.is_empty() => {}
                    Some(images) => {
                        x.iter_mut().zip(places).for_each(|(x, lanes)| *x = lanes[lane]);
                        *density *= kernel.folded(&x, images);
                    }
                    None => *density = 0.0,
                }
            }
            put(eight, at, &densities, Some(&folded));
        }
        // The clouds and the base density have no edges.
        for (cloud, at) in smooth.clouds.iter().zip(smooth.cells.len()..) {
            if let Some(densities) = densities(cloud, 1.0, f64::INFINITY, places, d) {
                put(eight, at, &densities, None);
            }
        }
        let base: [f64; LANES] = std::array::from_fn(|lane| {
            x.iter_mut().zip(places).for_each(|(x, lanes)| *x = lanes[lane]);
            smooth.base.density(&x)
        });
        put(eight, last, &base, None);
    }
}

/// The densities of eight candidates in a kernel, times `share`; none if all are `far`.
#[inline(always)]
fn densities(
    kernel: &Normal,
    share: f64,
    far: f64,
    places: &[[f64; LANES]],
    d: &mut [[f64; LANES]],
) -> Option<[f64; LANES]> {
    for ((d, lanes), middle) in d.iter_mut().zip(places).zip(&kernel.middle) {
        *d = lanes.map(|x| x - middle);
    }
    let away = squares(&kernel.low, d).map(|sum| 0.5 * sum);
    let near = away.iter().fold(f64::INFINITY, |least, away| least.min(*away));
    (near <= far).then(|| away.map(|away| share * elementary::exp(kernel.ln_scale - away)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Points;
    use crate::candidates::CandidatesBuilder;
    use crate::marginal::shape::Base;

    #[test]
    fn the_sums_are_those_of_each_candidate_but_for_what_is_negligible() {
        let place = |i: usize, f: usize| libm::sin((7 * i + 3 * f) as f64) + 0.2 * libm::cos((i * i) as f64);
        let mut builder = CandidatesBuilder::new(2);
        for i in 0..300 {
            let of = |j: usize| (0..2).map(move |f| place(i, f) + 0.03 * libm::sin((5 * j + f) as f64));
            builder.push(&(0..11).flat_map(of).collect::<Vec<_>>(), &[]).unwrap();
        }
        let candidates = builder.build().unwrap();
        let places: Points = candidates.means();
        let base = Base::new(vec![0.0, 0.0], &[1.0, 0.0, 0.0, 1.0]).unwrap();
        let of = |ends| Smooth::new(&places, &[0.0, 0.0], &[0.6, 0.1, 0.1, 0.5], &base, 0.4, ends).unwrap();
        let (plain, ending) = (of(false), of(true));
        let weigh = |i: usize, _: &mut Vec<f64>, weights: &mut Vec<f64>| {
            weights.clear();
            weights.extend((0..22).map(|at| 0.01 * (1.0 + ((at + i) % 5) as f64)));
        };
        let exact = plain.sums(Some(&ending), &candidates, 2, weigh);
        let found = sums(&plain, Some(&ending), &candidates, 2, weigh);
        let mut left_out = 0;
        for (exact, found) in exact.iter().flatten().zip(found.iter().flatten()) {
            for i in 0..300 {
                let mut dense = vec![0.0; plain.len()];
                found.of(i).entries().for_each(|(at, sum)| dense[at] = sum);
                let largest = exact.of(i).entries().map(|(_, sum)| sum).fold(0.0, f64::max);
                for (at, sum) in exact.of(i).entries() {
                    let apart = (dense[at] - sum).abs();
                    assert!(apart < 2.0 * NEGLIGIBLE * largest, "{i} {at}: {sum} {}", dense[at]);
                    // e^-25 of a kernel's middle is little even beside the least that is kept.
                    assert!(dense[at] == 0.0 || apart < 1e-4 * sum, "{i} {at}: {sum} {}", dense[at]);
                    left_out += usize::from(dense[at] == 0.0);
                }
            }
        }
        assert!(left_out > 1000, "{left_out}");
        let shares: Vec<f64> = (0..ending.len()).map(|at| 1.0 + (at % 3) as f64).collect();
        let (mut features, mut spare, mut all) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..300 {
            candidates.load(i, &mut features);
            mixed(&ending, i, &features, &shares, &mut all);
            for (j, found) in all.iter().enumerate() {
                let x = [features[j], features[11 + j]];
                let exact = ending.density(&x, Some(i), &shares, &mut spare);
                assert!((found / exact - 1.0).abs() < 1e-6, "{i} {j}: {exact} {found}");
            }
        }
    }
}
