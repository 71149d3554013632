//! Geweke's test (2004): parameters and data drawn together in two ways must have the same law.
//!
//! One way draws everything forward from the prior. The other alternates: the chain's own moves
//! given the data, then new data given the state. A move that does not leave the posterior as it
//! is, or a density that is not the one the forward draws have, shows as a difference of means.
//!
//! Data: object `i` is seen at `y_i`, and its candidates are `y_i + offset_ij`; the true place is
//! the candidate chosen. So given labels, choices and metric, places are drawn from the clusters
//! and `y_i` is the place less the offset.

use rand_distr::{Distribution, Gamma, StandardNormal};

use super::blocks::{Blocks, KEPT_BYTES, of_all};
use super::chain::{Chain, Data, Near};
use super::field::FieldPrior;
use super::matrix::{cholesky, inverse, ln_det, pick, wishart};
use super::prior::{Cohesion, PartitionPrior};
use super::shape::{Base, GROUP, Shape};
use crate::baselines::testing::all_partitions;
use crate::candidates::CandidatesBuilder;
use crate::random::stream;
use crate::{Candidates, Stream};

const Q: usize = 2;
const N: usize = 4;
const NU: usize = 6;
const METRIC_DF: f64 = 5.0;
/// Degrees of freedom of the field's components, what their covariances are expected to be, and the widths.
const NU_FIELD: usize = 7;
const FIELD: [f64; 4] = [3.0, 0.5, 0.5, 1.0];
const WIDTHS: [f64; 2] = [2.0, 0.5];
/// The base density's scale matrix and its triangle.
const WIDE: [f64; 4] = [4.0, 1.0, 1.0, 2.25];
const MIDDLE: [f64; 2] = [0.5, -0.25];
/// Candidates of each object relative to where it is seen, and their weights.
const OFFSETS: [&[[f64; 2]]; N] = [
    &[[0.0, 0.0], [1.5, 0.5]],
    &[[0.0, 0.0], [-1.0, 1.0], [0.7, 0.1]],
    &[[0.3, 0.0]],
    &[[0.0, 1.2], [0.0, -1.2], [0.1, 0.0], [2.0, 0.0]],
];
const WEIGHTS: [&[f64]; N] = [&[0.7, 0.3], &[0.5, 0.2, 0.3], &[1.0], &[0.2, 0.3, 0.1, 0.4]];

/// How many functions of the state are compared.
const NUMBERS: usize = 20;

#[derive(Clone)]
struct State {
    cohesion: Cohesion,
    scale: f64,
    labels: Vec<u32>,
    /// The kind of each cluster.
    kinds: Vec<usize>,
    field_alpha: f64,
    choice: Vec<u32>,
    psi: Vec<f64>,
    seen: Vec<[f64; 2]>,
}

/// What the metric may be expected to be.
const SCALES: [f64; 3] = [0.5, 1.0, 2.0];

fn normal_pair(triangle: &[f64], rng: &mut Stream) -> [f64; 2] {
    let (a, b): (f64, f64) = (StandardNormal.sample(rng), StandardNormal.sample(rng));
    [triangle[0] * a, triangle[2] * a + triangle[3] * b]
}

impl State {
    /// From the prior.
    fn drawn(prior: &PartitionPrior, field: &FieldPrior, rng: &mut Stream) -> Self {
        let grid = prior.grid();
        let cohesion = grid[pick(&vec![1.0; grid.len()], grid.len() as f64, rng)];
        let alphas = field.alphas();
        let field_alpha = alphas[pick(&vec![1.0; alphas.len()], alphas.len() as f64, rng)];
        let mut states = Vec::new();
        for labels in all_partitions(N, N as u32) {
            let clusters = *labels.iter().max().unwrap() as usize + 1;
            let all = WIDTHS.len() + 1;
            for code in 0..all.pow(clusters as u32) {
                let kinds: Vec<usize> = (0..clusters).map(|k| code / all.pow(k as u32) % all).collect();
                states.push((labels.clone(), kinds));
            }
        }
        let weight = |(labels, kinds): &(Vec<u32>, Vec<usize>)| {
            let size = |k: usize| labels.iter().filter(|label| **label as usize == k).count();
            let (mut in_field, mut ln) = (0, 0.0);
            for (k, kind) in kinds.iter().enumerate().filter(|(_, kind)| **kind != GROUP) {
                assert!(*kind <= WIDTHS.len());
                in_field += size(k);
                ln += (field_alpha / WIDTHS.len() as f64).ln() + libm::lgamma(size(k) as f64);
            }
            let groups = (0..kinds.len()).filter(|k| kinds[*k] == GROUP).map(size);
            ln += prior.ln_weight(groups, cohesion) - prior.constants(cohesion)[N - in_field];
            ln += libm::lgamma(field_alpha) - libm::lgamma(field_alpha + in_field as f64);
            (ln + field.ln_share(in_field)).exp()
        };
        let weights: Vec<f64> = states.iter().map(weight).collect();
        let (labels, kinds) = states.swap_remove(pick(&weights, weights.iter().sum(), rng));
        let choice = WEIGHTS.map(|w| pick(w, 1.0, rng) as u32).to_vec();
        let scale = SCALES[pick(&[1.0; 3], 3.0, rng)];
        let own = scale / METRIC_DF;
        let psi = wishart(METRIC_DF, &[own, 0.0, 0.0, own], Q, rng).unwrap();
        let seen = vec![[0.0; 2]; N];
        let mut state = Self { cohesion, scale, labels, kinds, field_alpha, choice, psi, seen };
        state.draw_data(rng);
        state
    }

    /// New data given everything else.
    fn draw_data(&mut self, rng: &mut Stream) {
        let base = cholesky(&WIDE, Q).unwrap();
        let clusters = self.labels.iter().max().unwrap() + 1;
        for k in 0..clusters {
            let members: Vec<usize> = (0..N).filter(|i| self.labels[*i] == k).collect();
            let (nu, scale) = match self.kinds[k as usize] {
                GROUP => (NU, self.psi.clone()),
                kind => {
                    let times = WIDTHS[kind - 1] * (NU_FIELD - Q - 1) as f64;
                    (NU_FIELD, FIELD.map(|v| times * v).to_vec())
                }
            };
            let precision = wishart(nu as f64, &inverse(&scale, Q).unwrap(), Q, rng).unwrap();
            let triangle = cholesky(&inverse(&precision, Q).unwrap(), Q).unwrap();
            let residuals: Vec<[f64; 2]> = members.iter().map(|_| normal_pair(&triangle, rng)).collect();
            // A t with five degrees of freedom: a normal over the root of a chi-square.
            let chi_square = 2.0 * Gamma::new(2.5, 1.0).unwrap().sample(rng);
            let place = normal_pair(&base, rng).map(|v| v / f64::sqrt(chi_square / 5.0));
            for (&i, residual) in members.iter().zip(&residuals) {
                let offset = OFFSETS[i][self.choice[i] as usize];
                for f in 0..2 {
                    let mean = residuals.iter().map(|r| r[f]).sum::<f64>() / members.len() as f64;
                    self.seen[i][f] = MIDDLE[f] + place[f] + residual[f] - mean - offset[f];
                }
            }
        }
    }

    fn candidates(&self) -> Candidates {
        let mut builder = CandidatesBuilder::new(Q);
        for (seen, offsets) in self.seen.iter().zip(OFFSETS) {
            let rows: Vec<f64> = offsets.iter().flat_map(|o| [seen[0] + o[0], seen[1] + o[1]]).collect();
            builder.push(&rows, &[]).unwrap();
        }
        builder.build().unwrap()
    }

    /// The chain's moves given the data.
    fn moved(&mut self, prior: &PartitionPrior, field: &FieldPrior, rng: &mut Stream) {
        let candidates = self.candidates();
        let weights = WEIGHTS.concat();
        let base = Base::new(MIDDLE.to_vec(), &WIDE).unwrap();
        let places = (0..N).flat_map(|i| (0..OFFSETS[i].len()).map(move |j| (i, j)));
        let alone: Vec<f64> =
            places.zip(&weights).map(|((i, j), w)| w * base.density(&candidates.candidate(i, j))).collect();
        let offsets = candidates.offsets();
        let alone_sum: Vec<f64> = (0..N).map(|i| alone[offsets[i]..offsets[i + 1]].iter().sum()).collect();
        let near = Near::new([vec![1, 3], vec![0], vec![], vec![2]].into_iter(), 2);
        let data = Data {
            blocks: &Blocks::new(&candidates, of_all(&candidates, &weights), KEPT_BYTES),
            near: &near,
            prior,
            field,
            alone_sum: &alone_sum,
            metric_df: METRIC_DF,
            scales: &SCALES,
            learn: true,
        };
        let shape = Shape::new(NU, self.psi.clone(), base, N).field(NU_FIELD, &FIELD, &WIDTHS);
        let (labels, kinds) = (self.labels.clone(), &self.kinds);
        let mut chain = Chain::new(&data, shape, labels, kinds, &self.choice, rng.clone());
        (chain.cohesion, chain.scale, chain.field_alpha) = (self.cohesion, self.scale, self.field_alpha);
        chain.rebuild();
        chain.sweep();
        chain.split_and_merge(2, 2);
        assert!(chain.draw_shape());
        *rng = chain.rng.clone();
        (self.cohesion, self.scale, self.field_alpha) = (chain.cohesion, chain.scale, chain.field_alpha);
        self.kinds = chain.clusters.iter().map(|cluster| cluster.kind).collect();
        self.psi = chain.shape.psi.clone();
        (self.labels, self.choice) = (chain.labels.clone(), (0..N).map(|i| chain.choice(i)).collect());
    }

    /// Functions of everything whose means are compared.
    fn numbers(&self) -> [f64; NUMBERS] {
        let k = f64::from(self.labels.iter().max().unwrap() + 1);
        let size = |i: usize| self.labels.iter().filter(|l| **l == self.labels[i]).count();
        let alone = (0..N).filter(|&i| size(i) == 1).count() as f64;
        let together = |i: usize, j: usize| f64::from(u8::from(self.labels[i] == self.labels[j]));
        let loose = |i: usize| self.kinds[self.labels[i] as usize] != GROUP;
        let in_field = (0..N).filter(|&i| loose(i)).count() as f64;
        let components = self.kinds.iter().filter(|kind| **kind != GROUP).count() as f64;
        let far = libm::hypot(self.seen[0][0] - self.seen[1][0], self.seen[0][1] - self.seen[1][1]);
        [
            k,
            k * k,
            together(0, 1),
            together(2, 3),
            ln_det(&cholesky(&self.psi, Q).unwrap(), Q),
            libm::log(self.psi[0]),
            self.psi[1],
            f64::from(self.choice[0]),
            f64::from(self.choice[3]),
            libm::tanh(self.seen[0][0]),
            libm::log(far + 0.1),
            libm::log(self.cohesion.alpha) * k,
            libm::log(self.cohesion.singleton_weight) * alone,
            self.cohesion.power * k,
            libm::log(self.scale) * libm::log(self.psi[3]),
            in_field,
            in_field * in_field,
            libm::log(self.field_alpha) * components,
            self.kinds.iter().filter(|kind| **kind == 2).count() as f64,
            f64::from(u8::from(self.kinds[self.labels[0] as usize] == GROUP)) * libm::log(far + 0.1),
        ]
    }
}

/// Means and their standard errors, by means of batches.
fn means(numbers: &[[f64; NUMBERS]]) -> Vec<(f64, f64)> {
    let batch = 250;
    (0..NUMBERS)
        .map(|c| {
            let batches: Vec<f64> = numbers
                .chunks_exact(batch)
                .map(|rows| rows.iter().map(|row| row[c]).sum::<f64>() / batch as f64)
                .collect();
            let count = batches.len() as f64;
            let mean = batches.iter().sum::<f64>() / count;
            let variance = batches.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / (count - 1.0);
            (mean, (variance / count).sqrt())
        })
        .collect()
}

#[test]
fn drawing_forward_and_alternating_with_the_chain_give_the_same_law() {
    let cases = [
        (Some(0.5), Some(1.3), Some(1.0), 1.0, 1),
        (Some(0.5), None, Some(2.5), 0.5, 2),
        (None, None, None, 0.3, 3),
        (None, Some(0.8), Some(1.0), 0.0, 4),
    ];
    for (power, alpha, singleton_weight, no_field, seed) in cases {
        let field = FieldPrior::new(N, no_field);
        let prior = PartitionPrior::new(N, power, alpha, singleton_weight);
        let rng = &mut stream(seed, 0);
        let forward: Vec<[f64; NUMBERS]> =
            (0..40_000).map(|_| State::drawn(&prior, &field, rng).numbers()).collect();
        let mut state = State::drawn(&prior, &field, rng);
        let alternating: Vec<[f64; NUMBERS]> = (0..40_000)
            .map(|_| {
                state.moved(&prior, &field, rng);
                state.draw_data(rng);
                state.numbers()
            })
            .collect();
        for (at, (a, b)) in means(&forward).iter().zip(means(&alternating)).enumerate() {
            let z = (a.0 - b.0) / libm::hypot(a.1, b.1).max(1e-12);
            assert!(
                z.abs() < 4.0,
                "power {power:?}, alpha {alpha:?}, singleton_weight {singleton_weight:?}, number {at}: {a:?} {b:?}, z = {z:.1}"
            );
        }
    }
}
