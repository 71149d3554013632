//! Geweke's test (2004): parameters and data drawn jointly in two ways must have the same
//! distribution.
//!
//! One way draws everything forward from the prior. The other alternates between the chain's own
//! moves given the data, and new data given the state. A move that does not preserve the posterior,
//! or a density that differs from that of the forward draws, shows as a difference of means.
//!
//! Data: object `i` is observed at `y_i`, its candidates are `y_i + offset_ij`, and the true
//! position is the chosen candidate. So given labels, choices and metric, positions are drawn from
//! the clusters or from the field, and `y_i` is the position minus the offset. States with a group
//! that is too wide next to a field are redrawn, either completely or, given the state, with the
//! data alone.

use rand_distr::{Distribution, Gamma, StandardNormal};

use super::blocks::{Blocks, KEPT_BYTES};
use super::chain::{Chain, Data, FIELD, Near};
use super::cluster::Cluster;
use super::field::{Field, Level, Narrowness};
use super::matrix::{cholesky, inverse, ln_det, pick, wishart};
use super::prior::{Cohesion, PartitionPrior};
use super::shape::{Base, Likeness, Shape};
use super::sums::FieldSums;
use crate::baselines::testing::all_partitions;
use crate::candidates::CandidatesBuilder;
use crate::random::stream;
use crate::{Candidates, Stream};

const Q: usize = 2;
const N: usize = 4;
/// The possible degrees of freedom of the covariances.
const NUS: [usize; 2] = [5, 9];
const METRIC_DF: f64 = 5.0;
/// The densities of the field, round and normal: where, how wide, and the prior of their shares.
const FIELDS: [([f64; 2], f64, f64); 2] = [([0.0, 0.0], 1.5, 0.8), ([1.0, -0.5], 0.4, 1.7)];
/// How much wider these may be, how wide a group may be beside each, and the prior of each.
const LEVELS: [(f64, f64, f64); 2] = [(0.6, 0.4, 0.7), (1.0, 0.9, 0.3)];
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
/// Under each of two error models, with the prior probabilities of the models.
const WEIGHTS: [[&[f64]; N]; 2] = [
    [&[0.7, 0.3], &[0.5, 0.2, 0.3], &[1.0], &[0.2, 0.3, 0.1, 0.4]],
    [&[0.2, 0.8], &[0.1, 0.6, 0.3], &[1.0], &[0.3, 0.1, 0.5, 0.1]],
];
const LAWS: [f64; 2] = [0.6, 0.4];

/// The number of functions of the state that are compared.
const NUMBERS: usize = 28;

#[derive(Clone)]
struct State {
    cohesion: Cohesion,
    scale: f64,
    law: usize,
    labels: Vec<u32>,
    field_shares: Vec<f64>,
    level: usize,
    choice: Vec<u32>,
    nu: usize,
    psi: Vec<f64>,
    seen: Vec<[f64; 2]>,
}

/// The prior expectations of the metric, and how many of these apply with a field.
const SCALES: [f64; 3] = [0.5, 1.0, 2.0];
const NARROW_SCALES: usize = 2;

fn normal_pair(triangle: &[f64], rng: &mut Stream) -> [f64; 2] {
    let (a, b): (f64, f64) = (StandardNormal.sample(rng), StandardNormal.sample(rng));
    [triangle[0] * a, triangle[2] * a + triangle[3] * b]
}

/// A Dirichlet draw.
fn shares(rng: &mut Stream) -> Vec<f64> {
    let drawn = FIELDS.map(|(_, _, prior)| Gamma::new(prior, 1.0).unwrap().sample(rng));
    drawn.iter().map(|v| v / drawn.iter().sum::<f64>()).collect()
}

impl State {
    /// From the prior.
    fn drawn(prior: &PartitionPrior, none: f64, rng: &mut Stream) -> Self {
        let field = field(none, |_, _| vec![0.0; N * FIELDS.len()]);
        loop {
            let mut state = Self::drawn_of_any_width(prior, &field, rng);
            state.draw_data_of_any_width(rng);
            if state.is_narrow(&field) {
                return state;
            }
        }
    }

    fn drawn_of_any_width(prior: &PartitionPrior, field: &Field, rng: &mut Stream) -> Self {
        let grid = prior.grid();
        let cohesion = grid[pick(&vec![1.0; grid.len()], grid.len() as f64, rng)];
        // One more object, whose cluster is the field.
        let mut states: Vec<Vec<u32>> = all_partitions(N + 1, N as u32 + 1);
        for labels in &mut states {
            let own = labels.pop();
            labels.iter_mut().filter(|label| Some(**label) == own).for_each(|label| *label = FIELD);
            renumber(labels);
        }
        let weight = |labels: &Vec<u32>| {
            let in_field = labels.iter().filter(|label| **label == FIELD).count();
            let ln = prior.ln_weight(sizes(labels).into_iter(), cohesion) + field.ln_share(in_field)
                - prior.constants(cohesion)[N - in_field];
            ln.exp()
        };
        let weights: Vec<f64> = states.iter().map(weight).collect();
        let labels = states.swap_remove(pick(&weights, weights.iter().sum(), rng));
        let law = pick(&LAWS, 1.0, rng);
        let choice = WEIGHTS[law].map(|w| pick(w, 1.0, rng) as u32).to_vec();
        let open = if labels.contains(&FIELD) { NARROW_SCALES } else { SCALES.len() };
        let scale = SCALES[pick(&vec![1.0; open], open as f64, rng)];
        let nu = NUS[pick(&[1.0; 2], 2.0, rng)];
        let own = scale / METRIC_DF * (nu - Q - 1) as f64;
        let psi = wishart(METRIC_DF, &[own, 0.0, 0.0, own], Q, rng).unwrap();
        let seen = vec![[0.0; 2]; N];
        let (field_shares, level) = (shares(rng), pick(&LEVELS.map(|level| level.2), 1.0, rng));
        Self { cohesion, scale, law, labels, field_shares, level, choice, nu, psi, seen }
    }

    /// Whether no group is too wide in the presence of the field.
    fn is_narrow(&self, field: &Field) -> bool {
        let narrow = |k: u32| {
            let mut cluster = Cluster::empty(Q);
            for i in (0..N).filter(|i| self.labels[*i] == k) {
                let offset = OFFSETS[i][self.choice[i] as usize];
                cluster.take_in(&[self.seen[i][0] + offset[0], self.seen[i][1] + offset[1]]);
            }
            field.levels()[self.level].narrow.holds(cluster.size, &cluster.scatter)
        };
        !self.labels.contains(&FIELD) || (0..sizes(&self.labels).len() as u32).all(narrow)
    }

    /// New data given everything else.
    fn draw_data(&mut self, rng: &mut Stream) {
        let field = field(0.5, |_, _| vec![0.0; N * FIELDS.len()]);
        loop {
            self.draw_data_of_any_width(rng);
            if self.is_narrow(&field) {
                return;
            }
        }
    }

    fn draw_data_of_any_width(&mut self, rng: &mut Stream) {
        let base = cholesky(&WIDE, Q).unwrap();
        for i in (0..N).filter(|i| self.labels[*i] == FIELD) {
            // Nothing else depends on which candidate it is; the chain sums over it.
            self.choice[i] = pick(WEIGHTS[self.law][i], 1.0, rng) as u32;
            let (middle, width, _) = FIELDS[pick(&self.field_shares, 1.0, rng)];
            let width = width * LEVELS[self.level].0;
            let away = normal_pair(&[width, 0.0, 0.0, width], rng);
            let offset = OFFSETS[i][self.choice[i] as usize];
            self.seen[i] = [0, 1].map(|f| middle[f] + away[f] - offset[f]);
        }
        for k in 0..sizes(&self.labels).len() as u32 {
            let members: Vec<usize> = (0..N).filter(|i| self.labels[*i] == k).collect();
            let precision = wishart(self.nu as f64, &inverse(&self.psi, Q).unwrap(), Q, rng).unwrap();
            let triangle = cholesky(&inverse(&precision, Q).unwrap(), Q).unwrap();
            let residuals: Vec<[f64; 2]> = members.iter().map(|_| normal_pair(&triangle, rng)).collect();
            // A t with five degrees of freedom: a normal over the square root of a chi-square.
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
    fn moved(&mut self, prior: &PartitionPrior, none: f64, rng: &mut Stream) {
        let candidates = self.candidates();
        let base = Base::new(MIDDLE.to_vec(), &WIDE).unwrap();
        let summed = |law: usize, i: usize, of: &dyn Fn(&[f64]) -> f64| -> f64 {
            let own = WEIGHTS[law][i].iter().enumerate();
            own.map(|(j, w)| w * of(&candidates.candidate(i, j))).sum()
        };
        let alone_sum =
            [0, 1].map(|law| (0..N).map(|i| summed(law, i, &|x| base.density(x))).collect::<Vec<f64>>());
        let density = |x: &[f64], (middle, width, _): ([f64; 2], f64, f64)| {
            let square = ((x[0] - middle[0]).powi(2) + (x[1] - middle[1]).powi(2)) / (width * width);
            libm::exp(-0.5 * square) / (2.0 * std::f64::consts::PI * width * width)
        };
        let sums = |law: usize, wider: f64| -> Vec<f64> {
            let of = |i| {
                FIELDS.map(|(middle, width, prior)| {
                    summed(law, i, &|x| density(x, (middle, wider * width, prior)))
                })
            };
            (0..N).flat_map(of).collect()
        };
        let weigh = |i: usize, own: &mut Vec<f64>| {
            own.clear();
            WEIGHTS.iter().for_each(|of_law| own.extend_from_slice(of_law[i]));
        };
        let near = Near::new([vec![1, 3], vec![0], vec![], vec![2]].into_iter(), 2);
        let likenesses = NUS.map(|nu| Likeness::new(nu, Q, N));
        let own = &likenesses[NUS.iter().position(|nu| *nu == self.nu).unwrap()];
        let data = Data {
            blocks: &Blocks::new(&candidates, LAWS.len(), weigh, KEPT_BYTES),
            near: &near,
            prior,
            field: &field(none, sums),
            alone_sum: &alone_sum,
            ln_laws: &LAWS.map(libm::log),
            likenesses: &likenesses,
            metric_df: METRIC_DF,
            scales: &SCALES,
            narrow_scales: NARROW_SCALES,
            learn: true,
        };
        let shape = Shape::new(own, self.psi.clone(), base);
        let mut chain = Chain::new(&data, shape, self.labels.clone(), &self.choice, rng.clone());
        (chain.cohesion, chain.scale, chain.level) = (self.cohesion, self.scale, self.level);
        chain.reader.law = self.law;
        chain.field_shares.clone_from(&self.field_shares);
        chain.rebuild();
        chain.sweep();
        chain.split_and_merge(2, 2);
        assert!(chain.draw_shape());
        *rng = chain.rng.clone();
        (self.cohesion, self.scale, self.level) = (chain.cohesion, chain.scale, chain.level);
        (self.nu, self.law) = (chain.shape.nu, chain.reader.law);
        self.field_shares = chain.field_shares.clone();
        self.psi = chain.shape.psi.clone();
        (self.labels, self.choice) = (chain.labels.clone(), (0..N).map(|i| chain.choice(i)).collect());
    }

    /// Functions of the full state whose means are compared.
    fn numbers(&self) -> [f64; NUMBERS] {
        let sizes = sizes(&self.labels);
        let k = sizes.len() as f64;
        let alone = sizes.iter().filter(|size| **size == 1).count() as f64;
        let grouped = |i: usize| f64::from(u8::from(self.labels[i] != FIELD));
        let together =
            |i: usize, j: usize| grouped(i) * f64::from(u8::from(self.labels[i] == self.labels[j]));
        let in_field = (0..N).map(|i| 1.0 - grouped(i)).sum::<f64>();
        let far = libm::hypot(self.seen[0][0] - self.seen[1][0], self.seen[0][1] - self.seen[1][1]);
        [
            k,
            k * k,
            together(0, 1),
            together(2, 3),
            ln_det(&cholesky(&self.psi, Q).unwrap(), Q),
            libm::log(self.psi[0]),
            self.psi[1],
            grouped(0) * f64::from(self.choice[0]),
            grouped(3) * f64::from(self.choice[3]),
            libm::tanh(self.seen[0][0]),
            libm::log(far + 0.1),
            libm::log(self.cohesion.alpha) * k,
            libm::log(self.cohesion.singleton_weight) * alone,
            self.cohesion.power * k,
            libm::log(self.scale) * libm::log(self.psi[3]),
            in_field,
            in_field * in_field,
            self.field_shares[0] * in_field,
            self.level as f64 * in_field.min(1.0),
            self.level as f64 * in_field,
            grouped(0) * libm::log(far + 0.1),
            self.law as f64,
            self.law as f64 * in_field,
            self.law as f64 * together(0, 1),
            self.law as f64 * grouped(3) * f64::from(self.choice[3]),
            self.nu as f64,
            self.nu as f64 * together(0, 1),
            self.nu as f64 * libm::log(far + 0.1),
        ]
    }
}

/// The field with these sums of every object, by the error model and by how much wider its
/// densities are.
fn field(none: f64, sums: impl Fn(usize, f64) -> Vec<f64>) -> Field {
    let level = |(wider, widest, prior): (f64, f64, f64)| Level {
        sums: [0, 1].map(|law| FieldSums::of_all(&sums(law, wider), FIELDS.len())).to_vec(),
        narrow: Narrowness::new(vec![1.0, 0.2, 0.2, 1.5], widest, Q),
        ln_prior: libm::log(prior),
    };
    Field::new(
        N,
        libm::log(none),
        libm::log(1.0 - none),
        LEVELS.map(level).to_vec(),
        FIELDS.map(|(_, _, prior)| prior).to_vec(),
    )
}

/// Labels of clusters from 0 on, in order; the field's label is unchanged.
fn renumber(labels: &mut [u32]) {
    let mut found: Vec<u32> = labels.iter().copied().filter(|label| *label != FIELD).collect();
    found.sort_unstable();
    found.dedup();
    for label in labels {
        *label = found.iter().position(|own| own == label).map_or(FIELD, |at| at as u32);
    }
}

/// The number of members of each cluster.
fn sizes(labels: &[u32]) -> Vec<usize> {
    let clusters = labels.iter().filter(|label| **label != FIELD).max().map_or(0, |most| most + 1);
    (0..clusters).map(|k| labels.iter().filter(|label| **label == k).count()).collect()
}

/// Means and their standard errors, by batch means.
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
        let prior = PartitionPrior::new(N, power, alpha, singleton_weight);
        let rng = &mut stream(seed, 0);
        let forward: Vec<[f64; NUMBERS]> =
            (0..40_000).map(|_| State::drawn(&prior, no_field, rng).numbers()).collect();
        let mut state = State::drawn(&prior, no_field, rng);
        let alternating: Vec<[f64; NUMBERS]> = (0..40_000)
            .map(|_| {
                state.moved(&prior, no_field, rng);
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
