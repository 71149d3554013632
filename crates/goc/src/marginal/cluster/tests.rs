use super::super::blocks::{Blocks, Extents, KEPT_BYTES, LANES, Reader, of_all};
use super::super::shape::Base;
use super::*;
use crate::Candidates;
use crate::candidates::CandidatesBuilder;
use crate::marginal::matrix::lower_inverse;
use crate::marginal::shape::Likeness;

fn shape(q: usize, nu: usize) -> Shape {
    let mut psi = vec![0.1; q * q];
    let mut wide = vec![0.3; q * q];
    for f in 0..q {
        psi[f * q + f] = 0.5 + 0.1 * f as f64;
        wide[f * q + f] = 9.0;
    }
    let base = Base::new((0..q).map(|f| 0.2 * f as f64).collect(), &wide).unwrap();
    Shape::new(&Likeness::new(nu, q, 60), psi, base)
}

fn point(i: usize, q: usize) -> Vec<f64> {
    (0..q).map(|f| libm::sin((3 * i + f + 1) as f64) * 1.5).collect()
}

#[test]
fn triangles_are_inverted_and_steps_bounded_as_the_formulas_say_in_many_features() {
    for q in [1, 2, 3, 8, 50] {
        let shape = shape(q, q + 7);
        let mut cluster = Cluster::empty(q);
        (0..4).for_each(|i| cluster.add(&point(i, q), &shape));
        assert_eq!(cluster.shrink, 1.0);
        cluster.sharpen(&shape);
        let triangle = cholesky(&cluster.spread(&shape), q).unwrap();
        let at = |a: &[f64], i: usize, j: usize| a[i * q + j];
        let mut norm = 0.0;
        for i in 0..q {
            for j in 0..q {
                let one: f64 = (0..q).map(|k| at(&cluster.low, i, k) * at(&triangle, k, j)).sum();
                assert!((one - f64::from(u8::from(i == j))).abs() < 1e-12, "{q}: {i} {j}: {one}");
                // low Psi low', element by element.
                let metric: f64 = (0..q)
                    .map(|k| {
                        let row: f64 = (0..q).map(|l| at(&cluster.low, i, l) * at(&shape.psi, l, k)).sum();
                        row * at(&cluster.low, j, k)
                    })
                    .sum();
                norm += metric * metric;
            }
        }
        let want = norm.sqrt().sqrt().min(1.0);
        assert!((cluster.shrink / want - 1.0).abs() < 1e-8, "{q}: {} {want}", cluster.shrink);
    }
}

#[test]
fn members_that_come_and_go_in_many_features_leave_what_is_made_anew() {
    for q in [MANY_FEATURES - 1, MANY_FEATURES, 50] {
        let shape = shape(q, q + 7);
        let mut cluster = Cluster::empty(q);
        let same = |cluster: &Cluster, within: f64| {
            let mut anew = cluster.clone();
            anew.refresh(&shape);
            for (a, b) in cluster.low.iter().zip(&anew.low) {
                assert!((a - b).abs() < within, "{q}, {} members: {a} {b}", cluster.size);
            }
            assert!((cluster.scale / anew.scale - 1.0).abs() < within);
        };
        for i in 0..12 {
            cluster.add(&point(i, q), &shape);
            same(&cluster, 1e-11);
        }
        for i in [3, 0, 11, 5, 6, 1, 2, 4, 10, 7, 9] {
            cluster.remove(&point(i, q), &shape);
            same(&cluster, 1e-11);
        }
        assert_eq!(cluster.size, 1);
        // One outlying member that leaves: a recomputed matrix of such numbers has fewer digits
        // itself.
        let far: Vec<f64> = point(20, q).iter().map(|v| v * 1e3).collect();
        cluster.add(&point(3, q), &shape);
        cluster.add(&point(4, q), &shape);
        cluster.add(&far, &shape);
        same(&cluster, 1e-6);
        cluster.remove(&far, &shape);
        same(&cluster, 1e-6);
    }
}

#[test]
fn the_next_members_weight_is_the_ratio_of_the_densities() {
    for (q, nu) in [(1, 3), (2, 6), (3, 10), (4, 9), (6, 8), (17, 21)] {
        let shape = shape(q, nu);
        let mut cluster = Cluster::empty(q);
        for i in 0..6 {
            cluster.add(&point(i, q), &shape);
            let before = cluster.ln_density(&shape);
            // Eleven candidates, so that the last block is not full.
            let m = 11;
            let rows: Vec<f64> = (0..m).flat_map(|j| point(20 + j, q)).collect();
            let weights: Vec<f64> = (0..m).map(|j| 0.1 + j as f64).collect();
            let (candidates, mut reader) = (one_object(&rows, q), Reader::default());
            let blocks = Blocks::new(&candidates, 1, of_all(&candidates, &weights), KEPT_BYTES);
            reader.load(&blocks, 0);
            let own = reader.own(&blocks, 0);
            let (mut out, mut by_block) = (vec![0.0; m], vec![[0.0; LANES]; 2]);
            let sum = weigh_all(&cluster, own, &mut by_block);
            for (block, values) in by_block.iter().enumerate() {
                for (lane, v) in values.iter().enumerate() {
                    out[blocks.candidate(0, (block * LANES + lane) as u32) as usize] += v;
                }
                assert_eq!(*values, weigh(&cluster, own, block));
            }
            assert!((sum - out.iter().sum::<f64>()).abs() < 1e-12 * sum);
            let mut sums = Vec::new();
            weigh_listed(&[cluster.clone()], own, &[(0, 0), (0, 1)], &mut sums);
            assert!((sum - sums[0] - sums[1]).abs() < 1e-12 * sum);
            for j in 0..m {
                let mut larger = cluster.clone();
                larger.add(&point(20 + j, q), &shape);
                let want = weights[j] * (larger.ln_density(&shape) - before).exp();
                assert!((out[j] / want - 1.0).abs() < 1e-10, "q {q}, {i} {j}: {} {want}", out[j]);
            }
        }
    }
}

fn one_object(rows: &[f64], q: usize) -> Candidates {
    let mut builder = CandidatesBuilder::new(q);
    builder.push(rows, &[]).unwrap();
    builder.build().unwrap()
}

#[test]
fn no_run_weighs_more_than_its_bound() {
    for (q, nu, members) in [(1, 3, 3), (3, 10, 3), (6, 8, 3), (1, 3, 40), (3, 10, 40), (6, 8, 40)] {
        let shape = shape(q, nu);
        let rows: Vec<f64> = (0..101)
            .flat_map(|j| (0..q).map(move |f| j as f64 * 0.1 - 5.0 + libm::sin((j + f) as f64) * 0.01))
            .collect();
        let weights: Vec<f64> = (0..101).map(|j| 1.0 + f64::from(j % 7)).collect();
        let (candidates, mut reader) = (one_object(&rows, q), Reader::default());
        let blocks = Blocks::new(&candidates, 1, of_all(&candidates, &weights), KEPT_BYTES);
        let low = lower_inverse(&cholesky(&shape.psi, q).unwrap(), q);
        reader.load(&blocks, 0);
        let own = reader.own(&blocks, 0);
        let mut extents = Extents::default();
        extents.measure(own, &low);
        let mut clusters = vec![Cluster::empty(q); 3];
        for i in 0..3 * members {
            let place: Vec<f64> = point(i, q).iter().map(|v| v + 3.0 * (i % 3) as f64).collect();
            clusters[i % 3].add(&place, &shape);
        }
        clusters.iter_mut().for_each(|cluster| cluster.sharpen(&shape));
        let join: Vec<f64> = (0..=members).map(|n| (n as f64).sqrt()).collect();
        let mut bounds = [Vec::new(), Vec::new()];
        for (group, bounds) in extents.groups().zip(&mut bounds) {
            bound_all(&clusters, &[0, 1, 2], &join, group, bounds);
            assert_eq!(bounds.len(), 3);
        }
        for (k, cluster) in clusters.iter().enumerate() {
            for slot in 0..2 * LANES {
                let bound = bounds[slot / LANES][k][slot % LANES];
                if slot >= 13 {
                    assert_eq!(bound, 0.0);
                    continue;
                }
                let sum: f64 = join[members] * weigh(cluster, own, slot).iter().sum::<f64>();
                assert!(bound >= sum, "{bound} {sum}");
                // In one dimension a block is short and the bound is tight.
                assert!(q > 1 || bound < 100.0 * sum, "{bound} {sum}");
            }
        }
    }
}

#[test]
fn what_candidates_have_alone_is_the_base_density_times_their_weights_bit_for_bit() {
    for q in [1, 3, 6] {
        let shape = shape(q, q + 7);
        let rows: Vec<f64> = (0..11).flat_map(|j| point(j, q)).collect();
        let weights: Vec<f64> = (0..11).map(|j| 0.1 + f64::from(j)).collect();
        let (candidates, mut reader) = (one_object(&rows, q), Reader::default());
        let blocks = Blocks::new(&candidates, 1, of_all(&candidates, &weights), KEPT_BYTES);
        reader.load(&blocks, 0);
        let (mut lanes, mut sorted) = (Vec::new(), Vec::new());
        weigh_alone(&shape.base, reader.own(&blocks, 0), &mut lanes);
        blocks.in_order(0, &lanes, &mut sorted);
        let want: Vec<f64> = (0..11).map(|j| weights[j] * shape.base.density(&point(j, q))).collect();
        assert_eq!(sorted, want);
    }
}

#[test]
fn one_member_has_the_base_density_and_leaving_undoes_joining() {
    let shape = shape(3, 10);
    let mut cluster = Cluster::empty(3);
    cluster.add(&point(1, 3), &shape);
    assert!((cluster.ln_density(&shape) - shape.base.density(&point(1, 3)).ln()).abs() < 1e-12);
    let before = cluster.clone();
    cluster.add(&point(2, 3), &shape);
    cluster.remove(&point(2, 3), &shape);
    for (a, b) in cluster.low.iter().chain(&cluster.mean).zip(before.low.iter().chain(&before.mean)) {
        assert!((a - b).abs() < 1e-12);
    }
}

#[test]
fn the_density_of_two_members_integrates_to_one() {
    // q = 1: a grid over both members, wide enough for the neglected tails to be below 1e-3.
    let shape = shape(1, 6);
    let (step, half) = (0.5, 240);
    let mut sum = 0.0;
    for a in -half..=half {
        let mut cluster = Cluster::empty(1);
        cluster.add(&[f64::from(a) * step], &shape);
        let first = shape.base.density(&[f64::from(a) * step]);
        let (fine, count) = (0.05, 400);
        let rows: Vec<f64> = (-count..=count).map(|b| f64::from(a) * step + f64::from(b) * fine).collect();
        let (candidates, weights) = (one_object(&rows, 1), vec![1.0; rows.len()]);
        let blocks = Blocks::new(&candidates, 1, of_all(&candidates, &weights), KEPT_BYTES);
        let (mut reader, mut out) = (Reader::default(), vec![[0.0; LANES]; blocks.count(0)]);
        reader.load(&blocks, 0);
        sum += first * weigh_all(&cluster, reader.own(&blocks, 0), &mut out) * step * fine;
    }
    assert!((sum - 1.0).abs() < 5e-3, "{sum}");
}
