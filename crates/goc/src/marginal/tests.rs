//! The sampler against enumeration, and what must hold of every answer.

use std::collections::HashMap;

use super::blocks::{Blocks, KEPT_BYTES, of_all};
use super::chain::{Chain, Data, FIELD, Near};
use super::cluster::Cluster;
use super::field::{Field, Level, Narrowness};
use super::prior::{Cohesion, PartitionPrior};
use super::shape::{Base, Likeness, Shape};
use super::sums::FieldSums;
use super::*;
use crate::baselines::testing::all_partitions;
use crate::candidates::CandidatesBuilder;
use crate::metrics::nmi;
use crate::objects::Scaled;
use crate::random::stream;
use crate::scale::{Scaler, Scaling};
use crate::{Partition, Points};

/// Five objects on a plane, two or three candidates each.
fn five() -> Candidates {
    let mut builder = CandidatesBuilder::new(2);
    builder.push(&[0.0, 0.0, 1.2, 0.4], &[0.0, 0.7]).unwrap();
    builder.push(&[0.9, 0.2, 2.5, 1.0, 0.2, -0.3], &[0.2, 0.0, 0.5]).unwrap();
    builder.push(&[2.2, 0.9, 0.4, 0.1], &[0.1, 0.0]).unwrap();
    builder.push(&[2.4, 1.4, 3.5, 1.9], &[0.0, 0.3]).unwrap();
    builder.push(&[-1.0, 0.5, 0.1, 0.2, 2.0, 0.8], &[0.0, 0.4, 0.8]).unwrap();
    builder.build().unwrap()
}

/// The law of (partition, choices) summed over choices, by enumeration.
fn exact(
    candidates: &Candidates,
    weights: &[f64],
    shape: &Shape,
    prior: &PartitionPrior,
    cohesion: Cohesion,
) -> HashMap<Vec<u32>, f64> {
    let n = candidates.objects();
    let mut choices = vec![vec![]];
    for i in 0..n {
        choices = choices
            .into_iter()
            .flat_map(|c: Vec<usize>| (0..candidates.count(i)).map(move |j| [&c[..], &[j]].concat()))
            .collect();
    }
    let mut law = HashMap::new();
    for labels in all_partitions(n, n as u32) {
        let k = *labels.iter().max().unwrap() as usize + 1;
        let mut sum = 0.0;
        for choice in &choices {
            let mut clusters = vec![Cluster::empty(shape.q); k];
            let mut weight = 1.0;
            for i in 0..n {
                clusters[labels[i] as usize].add(&candidates.candidate(i, choice[i]), shape);
                weight *= weights[candidates.offsets()[i] + choice[i]];
            }
            let ln: f64 = clusters.iter().map(|c| c.ln_density(shape)).sum();
            sum += weight * (ln + prior.ln_weight(clusters.iter().map(|c| c.size), cohesion)).exp();
        }
        law.insert(labels, sum);
    }
    let total: f64 = law.values().sum();
    law.values_mut().for_each(|p| *p /= total);
    law
}

/// The largest difference of a partition's share among draws and its probability, in standard
/// errors of that many independent draws.
fn compare_with_enumeration(sweeps: bool, moves: usize, draws: usize) {
    let candidates = five();
    let model = Marginal::default();
    let weights = model.weights(&candidates);
    let base = Base::new(vec![1.0, 0.4], &[4.0, 0.5, 0.5, 2.0]).unwrap();
    let shape = Shape::new(&Likeness::new(6, 2, 5), vec![1.2, 0.3, 0.3, 0.8], base);
    let (cohesion, n) = (Cohesion { alpha: 1.5, singleton_weight: 0.7, power: 0.5 }, candidates.objects());
    let prior = PartitionPrior::new(n, Some(0.5), Some(cohesion.alpha), Some(cohesion.singleton_weight));
    let alone: Vec<f64> = (0..n)
        .flat_map(|i| (0..candidates.count(i)).map(move |j| (i, j)))
        .zip(&weights)
        .map(|((i, j), w)| w * shape.base.density(&candidates.candidate(i, j)))
        .collect();
    let offsets = candidates.offsets();
    let alone_sum = [(0..n).map(|i| alone[offsets[i]..offsets[i + 1]].iter().sum()).collect::<Vec<f64>>()];
    let blocks = Blocks::new(&candidates, 1, of_all(&candidates, &weights), KEPT_BYTES);
    let near = Near::new([vec![1, 2], vec![0], vec![], vec![2, 4, 0], vec![0, 1, 2, 3]].into_iter(), 4);
    let field = Field::none(n);
    let data = Data {
        blocks: &blocks,
        near: &near,
        prior: &prior,
        field: &field,
        alone_sum: &alone_sum,
        ln_laws: &[0.0],
        likenesses: &[],
        metric_df: 4.0,
        scales: &[4.0],
        narrow_scales: 1,
        learn: false,
    };
    let law = exact(&candidates, &weights, &shape, &prior, cohesion);
    assert_eq!(law.len(), 52);
    let mut chain = Chain::new(&data, shape, vec![0; n], &vec![0; n], stream(1, 0));
    let mut counts: HashMap<Vec<u32>, f64> = HashMap::new();
    for _ in 0..draws {
        if sweeps {
            chain.sweep();
        }
        chain.split_and_merge(moves, moves);
        chain.rebuild();
        let labels = Partition::from_labels(&chain.labels).canonical().labels().to_vec();
        *counts.entry(labels).or_default() += 1.0;
    }
    let distance: f64 = law
        .iter()
        .map(|(labels, p)| (counts.get(labels).unwrap_or(&0.0) / draws as f64 - p).abs())
        .sum::<f64>()
        / 2.0;
    assert!(distance < 0.02, "total variation {distance}");
    for (labels, p) in law.iter().filter(|(_, p)| **p > 0.02) {
        let share = counts.get(labels).unwrap_or(&0.0) / draws as f64;
        // Draws of a chain are worth fewer than independent ones; three times their error is
        // allowed.
        assert!((share - p).abs() < 9.0 * (p / draws as f64).sqrt(), "{labels:?}: {share} for {p}");
    }
}

#[test]
fn sweeps_draw_the_enumerated_law_of_all_52_partitions_of_five_objects() {
    compare_with_enumeration(true, 0, 60_000);
}

#[test]
fn sweeps_with_splits_and_mergers_draw_the_same_law() {
    compare_with_enumeration(true, 3, 60_000);
}

/// Groups on a line of crossings: each object a short curve through its group's place.
fn groups(k: usize, each: usize) -> (Candidates, Vec<i64>) {
    let mut builder = CandidatesBuilder::new(2);
    let mut truth = Vec::new();
    for i in 0..k * each {
        let g = i % k;
        let (cx, cy) = ((g % 4) as f64 * 3.0, (g / 4) as f64 * 3.0);
        let angle = 0.7 * i as f64;
        let wobble = 0.05 * libm::sin(5.0 * i as f64);
        let (mut rows, mut penalties) = (Vec::new(), Vec::new());
        for j in 0..21 {
            let s = f64::from(j - 10) / 10.0 - 0.5 * libm::cos(3.0 * i as f64);
            rows.extend([cx + s * libm::cos(angle) + wobble, cy + s * libm::sin(angle) - wobble]);
            penalties.push((f64::from(j - 10) / 10.0).powi(2));
        }
        builder.push(&rows, &penalties).unwrap();
        truth.push(g as i64);
    }
    (builder.build().unwrap(), truth)
}

#[test]
fn groups_that_cross_are_found_with_their_number() {
    let (candidates, truth) = groups(8, 6);
    let found = Marginal::default().run(&candidates, 1).unwrap();
    assert!(nmi(found.partition.labels(), &truth).unwrap() > 0.95, "{:?}", found.partition.labels());
    assert_eq!(found.partition.k(), 8);
    let mean_k: f64 = found.k.iter().map(|(k, p)| *k as f64 * p).sum();
    assert!((7.0..11.0).contains(&mean_k), "{mean_k}");
    assert!((found.k.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(found.membership.iter().all(|p| (0.0..=1.0).contains(p)));
    let offsets = candidates.offsets();
    for i in 0..candidates.objects() {
        let sum: f64 = found.candidates[offsets[i]..offsets[i + 1]].iter().sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }
}

/// Round groups of plain points: size, place and spread of each.
fn clouds(groups: &[(usize, [f64; 2], f64)]) -> (Candidates, Vec<i64>) {
    let rng = &mut stream(3, 0);
    let (mut rows, mut truth) = (Vec::new(), Vec::new());
    for (g, &(size, place, spread)) in groups.iter().enumerate() {
        for _ in 0..size {
            for x in place {
                let normal: f64 = rand_distr::Distribution::sample(&rand_distr::StandardNormal, rng);
                rows.push(x + spread * normal);
            }
            truth.push(g as i64);
        }
    }
    (Candidates::from_points(&Points::new(rows, 2).unwrap()).unwrap(), truth)
}

#[test]
fn groups_of_any_size_and_spread_are_found_with_their_number() {
    // Scaled features have spreads of about 1, whence places within a few units.
    let few = [(120, [0.0, 0.0], 0.15), (100, [1.5, 0.5], 0.15), (80, [0.2, 1.6], 0.2)];
    let unequal = [(200, [0.0, 0.0], 0.2), (20, [2.0, 2.0], 0.1), (6, [-2.0, 2.0], 0.1)];
    let two = [(25, [0.0, 0.0], 0.15), (25, [2.0, 1.5], 0.15)];
    for (groups, exact) in [(&few[..], true), (&unequal, false), (&two, true)] {
        let (candidates, truth) = clouds(groups);
        let found = Marginal::default().run(&candidates, 1).unwrap();
        let scores = crate::metrics::Scores::of(found.partition.labels(), &truth).unwrap();
        // A few objects of the rim of a large cloud may stand apart.
        assert!(scores.ari > 0.97, "{groups:?}: {scores:?}, sizes {:?}", found.partition.sizes());
        assert!(!exact || found.partition.k() == groups.len(), "sizes {:?}", found.partition.sizes());
        // Fifty objects cannot tell the priors apart, hundreds can.
        assert!(candidates.objects() < 100 || found.power > 0.9, "{}", found.power);
    }
}

#[test]
fn the_same_seed_gives_the_same_answer_at_any_number_of_threads() {
    let (candidates, _) = groups(5, 4);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Marginal::default().length(3, 10, 20).run(&candidates, 7).unwrap())
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(4));
    assert_ne!(one.together, Marginal::default().length(3, 10, 20).run(&candidates, 8).unwrap().together);
}

#[test]
fn objects_scaled_as_they_are_loaded_give_the_bits_of_scaled_candidates_kept_or_not() {
    let (candidates, _) = groups(5, 4);
    // Both features not negative, so that roots can be taken of one.
    let mut builder = CandidatesBuilder::new(2);
    for i in 0..candidates.objects() {
        let rows: Vec<f64> = (0..candidates.count(i))
            .flat_map(|j| candidates.candidate(i, j))
            .map(|x| (x - 3.0) * (x - 3.0))
            .collect();
        builder.push(&rows, candidates.penalties(i)).unwrap();
    }
    let candidates = builder.build().unwrap();
    let roots = [true, false];
    let view = Scaled::new(&candidates).roots(&roots);
    let scaler = Scaler::fit_objects(Scaling::Robust, &view).unwrap();
    let view = view.scaler(&scaler).penalty_divisor(candidates.largest_penalty());
    let mut really = candidates.clone();
    really.map_features(|f, v| if roots[f] { v.sqrt() } else { v });
    let really = scaler.apply(really).scale_penalties();
    let marginal = Marginal::default().length(2, 10, 150);
    let found = marginal.run(&really, 3).unwrap();
    for kept in [KEPT_BYTES, 0] {
        assert_eq!(marginal.run_within(&view, 3, quietly(), None, kept).unwrap(), found);
    }
    assert_eq!(
        Model::fit(&marginal, &view, &found).unwrap(),
        Model::fit(&marginal, &really, &found).unwrap()
    );
}

/// The law of partitions and of who is in the field by enumeration: of labels and choices, with the
/// shares of the field's densities integrated out, and with groups that are too wide left out.
#[test]
fn with_a_field_the_draws_follow_the_law_by_enumeration() {
    let candidates = five();
    let n = candidates.objects();
    let weights = Marginal::default().weights(&candidates);
    let base = Base::new(vec![1.0, 0.4], &[4.0, 0.5, 0.5, 2.0]).unwrap();
    let shape = Shape::new(&Likeness::new(6, 2, 5), vec![0.6, 0.1, 0.1, 0.4], base);
    let cohesion = Cohesion { alpha: 0.8, singleton_weight: 0.7, power: 0.5 };
    let prior = PartitionPrior::new(n, Some(0.5), Some(cohesion.alpha), Some(cohesion.singleton_weight));
    // What two densities say of each object, and the Dirichlet prior of their shares.
    let sums = [[0.05, 0.2], [0.15, 0.01], [0.08, 0.08], [0.02, 0.12], [0.1, 0.03]];
    let shares = [0.7, 1.6];
    let narrow = Narrowness::new(vec![1.0, 0.0, 0.0, 1.0], 0.8, 2);
    let level =
        Level { sums: vec![FieldSums::of_all(&sums.concat(), 2)], narrow: narrow.clone(), ln_prior: 0.0 };
    let field = Field::new(n, libm::log(0.4), libm::log(0.6), vec![level], shares.to_vec());
    // The mean of the product of the field's densities over the shares: a sum over which density
    // each object has.
    let of_field = |members: &[usize]| -> f64 {
        let ln_gamma = |counts: [f64; 2]| {
            libm::lgamma(counts[0]) + libm::lgamma(counts[1]) - libm::lgamma(counts[0] + counts[1])
        };
        let one = |code: usize| {
            let (mut counts, mut product) = (shares, 1.0);
            for (at, i) in members.iter().enumerate() {
                counts[code >> at & 1] += 1.0;
                product *= sums[*i][code >> at & 1];
            }
            product * (ln_gamma(counts) - ln_gamma(shares)).exp()
        };
        (0..1 << members.len()).map(one).sum()
    };
    let mut law: HashMap<Vec<u32>, f64> = HashMap::new();
    // One more object, whose cluster is the field.
    for mut labels in all_partitions(n + 1, n as u32 + 1) {
        let own = labels.pop().unwrap();
        let loose: Vec<usize> = (0..n).filter(|i| labels[*i] == own).collect();
        labels.iter_mut().filter(|label| **label == own).for_each(|label| *label = FIELD);
        let labels = canonical(&labels);
        let k = labels.iter().filter(|label| **label != FIELD).max().map_or(0, |most| *most as usize + 1);
        let mut choices: Vec<Vec<usize>> = vec![vec![]];
        for i in 0..n {
            let count = if labels[i] == FIELD { 1 } else { candidates.count(i) };
            let further = |c: Vec<usize>| (0..count).map(move |j| [&c[..], &[j]].concat());
            choices = choices.into_iter().flat_map(further).collect();
        }
        let mut sum = 0.0;
        for choice in &choices {
            let mut clusters = vec![Cluster::empty(2); k];
            let mut weight = 1.0;
            for i in (0..n).filter(|i| labels[*i] != FIELD) {
                clusters[labels[i] as usize].add(&candidates.candidate(i, choice[i]), &shape);
                weight *= weights[candidates.offsets()[i] + choice[i]];
            }
            if loose.is_empty() || clusters.iter().all(|c| narrow.holds(c.size, &c.scatter)) {
                let ln: f64 = clusters.iter().map(|c| c.ln_density(&shape)).sum();
                sum += weight * (ln + prior.ln_weight(clusters.iter().map(|c| c.size), cohesion)).exp();
            }
        }
        let ln = field.ln_share(loose.len()) - prior.constants(cohesion)[n - loose.len()];
        law.insert(labels, sum * of_field(&loose) * ln.exp());
    }
    let total: f64 = law.values().sum();
    let blocks = Blocks::new(&candidates, 1, of_all(&candidates, &weights), KEPT_BYTES);
    let offsets = candidates.offsets();
    let alone = |i: usize| -> f64 {
        let of = |j| weights[offsets[i] + j] * shape.base.density(&candidates.candidate(i, j));
        (0..candidates.count(i)).map(of).sum()
    };
    let alone_sum = [(0..n).map(alone).collect::<Vec<f64>>()];
    let near = Near::new([vec![1, 2], vec![0], vec![], vec![2, 4, 0], vec![0, 1, 2, 3]].into_iter(), 4);
    let data = Data {
        blocks: &blocks,
        near: &near,
        prior: &prior,
        field: &field,
        alone_sum: &alone_sum,
        ln_laws: &[0.0],
        likenesses: &[],
        metric_df: 4.0,
        scales: &[4.0],
        narrow_scales: 1,
        learn: false,
    };
    let mut chain = Chain::new(&data, shape, vec![0; n], &vec![0; n], stream(1, 0));
    let draws = 150_000;
    let mut counts: HashMap<Vec<u32>, f64> = HashMap::new();
    for _ in 0..draws {
        chain.step(1);
        *counts.entry(canonical(&chain.labels)).or_default() += 1.0 / f64::from(draws);
    }
    let share = |state| counts.get(state).copied().unwrap_or(0.0);
    let distance: f64 = law.iter().map(|(state, p)| (share(state) - p / total).abs()).sum::<f64>() / 2.0;
    assert!(distance < 0.025, "total variation {distance}");
    for (state, p) in law.iter().map(|(state, p)| (state, p / total)).filter(|(_, p)| *p > 0.02) {
        let error = (p / f64::from(draws)).sqrt();
        assert!((share(state) - p).abs() < 9.0 * error, "{state:?}: {} for {p}", share(state));
    }
}

/// Labels of clusters in the order of their first objects; the field's stays.
fn canonical(labels: &[u32]) -> Vec<u32> {
    let mut seen = Vec::new();
    let mut of = |label: u32| {
        let at = seen.iter().position(|own| *own == label).unwrap_or(seen.len());
        if at == seen.len() {
            seen.push(label);
        }
        at as u32
    };
    labels.iter().map(|label| if *label == FIELD { FIELD } else { of(*label) }).collect()
}

#[test]
fn a_group_within_a_cloud_is_found_and_the_cloud_is_field() {
    let rng = &mut stream(9, 0);
    let mut normal = || -> f64 { rand_distr::Distribution::sample(&rand_distr::StandardNormal, rng) };
    let rows: Vec<[f64; 2]> =
        (0..220).map(|i| [normal(), normal()].map(|v| if i < 200 { v } else { 0.8 + 0.02 * v })).collect();
    let candidates = Candidates::from_points(&Points::from_rows(&rows).unwrap()).unwrap();
    let found = Marginal::default().length(2, 30, 60).run(&candidates, 1).unwrap();
    let grouped = |range: std::ops::Range<usize>| range.filter(|&i| !found.in_no_group[i]).count();
    assert!(grouped(200..220) >= 18 && grouped(0..200) <= 12, "{:?}", found.in_no_group);
    let label = found.partition.labels()[210] as usize;
    assert!(found.recurrence[label] > 0.8, "{}", found.recurrence[label]);
    assert!(found.field[..200].iter().sum::<f64>() > 150.0);
    // Told that there is none, it finds none.
    let found = Marginal::default().field_prior(0.0).length(2, 30, 60).run(&candidates, 1).unwrap();
    assert!(found.in_no_group.is_empty() && found.field.iter().all(|p| *p == 0.0));
}

#[test]
fn one_two_and_three_objects_plain_points_and_equal_points_have_answers() {
    for n in 1..=3 {
        let points = Points::new((0..n * 2).map(|v| v as f64 * 5.0).collect(), 2).unwrap();
        let candidates = Candidates::from_points(&points).unwrap();
        let found = Marginal::default().length(2, 5, 10).run(&candidates, 1).unwrap();
        assert_eq!(found.partition.len(), n);
        assert!(found.membership.iter().all(|p| p.is_finite()));
    }
    let same = Candidates::from_points(&Points::new(vec![3.0; 12], 2).unwrap()).unwrap();
    let found = Marginal::default().length(2, 20, 20).run(&same, 1).unwrap();
    assert!(found.places.values().iter().all(|v| (v - 3.0).abs() < 1e-12));
}

#[test]
fn parameters_out_of_range_are_named() {
    let candidates = five();
    let cases = [
        (Marginal::default().power(Some(1.5)), "power is 1.5, but must be from 0 to 1"),
        (Marginal::default().alpha(Some(0.0)), "alpha is 0, but must be a finite number above 0"),
        (
            Marginal::default().singleton_weight(Some(-1.0)),
            "singleton_weight is -1, but must be a finite number above 0",
        ),
        (Marginal::default().field_prior(1.0), "field_prior is 1, but must be from 0 to below 1"),
        (Marginal::default().merge_cost(2.0), "merge_cost is 2, but must be from 1 to below 2"),
        (Marginal::default().nu(3), "nu is 3, but must be at least the number of features and 2"),
        (Marginal::default().spread(Some(-1.0)), "spread is -1, but must be a finite number above 0"),
        (
            Marginal::default().penalty_strength(f64::NAN),
            "strength is NaN, but must be a finite number not below 0",
        ),
        (Marginal::default().length(0, 1, 1), "chains is 0, but must be at least 1"),
        (Marginal::default().length(1, 1, 0), "keep is 0, but must be at least 1"),
    ];
    for (model, message) in cases {
        assert_eq!(model.run(&candidates, 1).unwrap_err().to_string(), message);
    }
}

/// Five groups of thirty with quoted errors of 0.03 to 0.3, whose errors are `factor` times as large.
/// Were they all alike, large errors could not be told from wide groups.
fn with_tails(factor: f64) -> Candidates {
    use crate::uncertainty::{
        Object, Penalty, Propagation, Sampler, Size, UncertaintySet, transform::Identity,
    };
    use rand_distr::{Distribution, StandardNormal};
    let rng = &mut stream(5, 0);
    let mut normal = || -> f64 { StandardNormal.sample(rng) };
    let objects: Vec<Object> = (0..150)
        .map(|i| {
            let group = (i % 5) as f64;
            let places = [2.0 * group, (3.0 * group) % 5.0];
            let error = [0.03, 0.1, 0.3][i / 5 % 3];
            let seen = places.map(|x| x + 0.05 * normal() + error * factor * normal());
            let set = UncertaintySet::cuboid(&seen, &[error; 2], Size::sigmas(2.0).unwrap()).unwrap();
            Object::new(i as u64, set)
        })
        .collect();
    let identity = Identity::new(2);
    let propagation =
        Propagation::new(&identity).sampler(Sampler::Tails).draws(101).penalty(Penalty::Surprise);
    let mut builder = CandidatesBuilder::new(2);
    propagation.seed(1).propagate_into(&objects, &mut builder, &mut []).unwrap();
    builder.build().unwrap()
}

#[test]
fn errors_that_are_too_small_are_found_and_honest_ones_are_left_alone() {
    let marginal = Marginal::default().penalty_strength(1.0).tails(Some(2)).length(2, 40, 60);
    let learned = |factor| marginal.run(&with_tails(factor), 1).unwrap().errors.unwrap();
    let honest = learned(1.0);
    assert!(honest.factor() < 1.05 && honest.bad() < 0.05, "{honest:?}");
    // What lies farthest off is taken for objects alone, so that the factor comes out too small.
    let small = learned(2.0);
    assert!((1.4..2.4).contains(&small.factor()) && small.bad() < 0.1, "{small:?}");
}

#[test]
fn a_box_that_is_filled_evenly_has_no_groups_along_its_edges() {
    let rng = &mut stream(5, 0);
    let mut rows: Vec<[f64; 3]> = (0..500).map(|_| [(); 3].map(|()| rand::RngExt::random(rng))).collect();
    let group = |_| [0.3, 0.6, 0.5].map(|x: f64| x + 0.02 * (rand::RngExt::random::<f64>(rng) - 0.5));
    rows.extend((0..15).map(group).collect::<Vec<_>>());
    let candidates = Candidates::from_points(&Points::from_rows(&rows).unwrap()).unwrap();
    let scaler = Scaler::fit(Scaling::Robust, &candidates).unwrap();
    let found = Marginal::default().length(4, 30, 60).run(&scaler.apply(candidates), 1).unwrap();
    let strays = (0..500).filter(|i| !found.in_no_group[*i]).count();
    assert!(found.in_no_group[500..].iter().all(|alone| !alone), "the group is not found");
    assert!(strays < 15, "{strays} of the box in groups");
}

/// A run that nobody watches.
fn quietly() -> Watching<'static> {
    Watching { tick: &|| {}, enough: &|| false }
}

#[test]
fn a_run_that_is_told_to_end_answers_with_the_draws_it_has() {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    let (candidates, marginal) = (five(), Marginal::default().length(2, 4, 10));
    for last in [0, 3, 20] {
        let sweeps = AtomicUsize::new(0);
        let tick = || {
            sweeps.fetch_add(1, Relaxed);
        };
        let enough = || sweeps.load(Relaxed) >= last;
        let watching = Watching { tick: &tick, enough: &enough };
        let found = marginal.run_until(&candidates, 1, watching, None).unwrap();
        assert!(found.partial && found.partition.labels().len() == 5);
        // Every chain has a draw, and none goes on for long.
        assert!((2..20).contains(&found.together.draws().len()));
        assert!(sweeps.into_inner() <= last + 4);
    }
    let whole = marginal.run_until(&candidates, 1, quietly(), None).unwrap();
    assert_eq!(whole, marginal.run(&candidates, 1).unwrap());
    assert!(!whole.partial);
}
