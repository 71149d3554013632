use super::*;
use crate::candidates::CandidatesBuilder;
use crate::optimistic::{
    Beginning, Clustering, Detail, Distance, KRule, Optimistic, OracleEvery, Termination,
};
use crate::oracle::custom::Custom;
use crate::oracle::k_means::sums::CHUNK;
use crate::oracle::k_means::{Algorithm, KMeans, Seeding, means};
use crate::oracle::linkage::{Linkage, Method};
use crate::oracle::{Oracle, Start};
use crate::{Candidates, Points, Stream, random};
use proptest::prelude::*;
use rand::{Rng, RngExt};

type Rows = Vec<(Vec<f64>, Vec<f64>)>;

/// Objects of `q` features around a few places; coarse ones are rounded, so that many are equal and
/// ties abound.
fn objects(n: usize, q: usize, groups: usize, coarse: bool, seed: u64) -> Rows {
    let mut rng = random::stream(seed, 0);
    let places: Vec<f64> = (0..groups * q).map(|_| rng.random_range(-4.0..4.0)).collect();
    let round = |x: f64| if coarse { x.round() } else { x };
    (0..n)
        .map(|_| {
            let (g, m) = (rng.random_range(0..groups), rng.random_range(1..12usize));
            let middle: Vec<f64> = (0..q).map(|f| places[g * q + f] + rng.random_range(-1.0..1.0)).collect();
            let slope: Vec<f64> = (0..q).map(|_| rng.random_range(-0.3..0.3)).collect();
            let at = |j: usize| j as f64 - (m / 2) as f64;
            let rows = (0..m).flat_map(|j| {
                let (middle, slope) = (&middle, &slope);
                (0..q).map(move |f| round(middle[f] + at(j) * slope[f]))
            });
            (rows.collect(), (0..m).map(|j| at(j) * at(j) / 36.0).collect())
        })
        .collect()
}

fn build(rows: &[(Vec<f64>, Vec<f64>)], q: usize) -> Option<Candidates> {
    let mut builder = CandidatesBuilder::new(q);
    for (rows, penalties) in rows {
        builder.push(rows, penalties).unwrap();
    }
    (!rows.is_empty()).then(|| builder.build().unwrap())
}

/// The shards between `cuts`, which need not be in order nor apart.
fn cut(rows: &Rows, q: usize, cuts: &[usize], params: &Optimistic) -> (Vec<Shard>, Vec<usize>) {
    let mut ends: Vec<usize> = cuts.iter().map(|c| c % (rows.len() + 1)).collect();
    ends.extend([0, rows.len()]);
    ends.sort_unstable();
    ends.windows(2).map(|w| (Shard::new(build(&rows[w[0]..w[1]], q), w[0], params), w[1] - w[0])).unzip()
}

fn lloyd(rounds: usize) -> KMeans {
    KMeans::default().algorithm(Algorithm::Lloyd).seeding(Seeding::PlusPlus).starts(2).max_iterations(rounds)
}

/// Everything that a run over shards and one on one machine share, bit by bit.
fn assert_same(shards: &mut [Shard], outcome: &Outcome, whole: &Clustering) {
    let bits = |points: &[f64]| points.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let results: Vec<ShardResult> =
        shards.iter_mut().map(|shard| shard.finish(&outcome.final_state).unwrap()).collect();
    let chosen: Vec<u32> = results.iter().flat_map(|s| s.chosen.iter().copied()).collect();
    let labels: Vec<u32> = results.iter().flat_map(|s| s.labels.iter().copied()).collect();
    assert_eq!(chosen, whole.chosen);
    assert_eq!(labels, whole.partition.labels());
    assert_eq!(bits(outcome.centres.values()), bits(whole.centres.values()));
    assert_eq!(outcome.objective.to_bits(), whole.objective.to_bits());
    assert_eq!((outcome.iterations, outcome.termination), (whole.iterations, whole.termination));
    let told: Vec<_> = outcome.history.iter().map(|r| (r.k, r.objective.to_bits(), r.changed)).collect();
    let want: Vec<_> = whole.history.iter().map(|r| (r.k, r.objective.to_bits(), r.changed)).collect();
    assert_eq!(told, want);
    let sizes: Vec<usize> = outcome.sizes.iter().map(|s| *s as usize).collect();
    assert_eq!(sizes, whole.partition.sizes());
}

fn params(k: usize, lambda: f64, choice: usize) -> Optimistic {
    let rules = [KRule::Constant, KRule::Occupied, KRule::Plural];
    let distances = [Distance::Squared, Distance::Euclidean, Distance::EuclideanSingle];
    let beginnings = [Beginning::Mean, Beginning::NearestToMean];
    Optimistic::new(k)
        .lambda(lambda)
        .k_rule(rules[choice % 3])
        .distance(distances[choice / 3 % 3])
        .beginning(beginnings[choice / 9 % 2])
        .tolerance([0.0, 0.05][choice / 18 % 2])
        .max_iterations([100, 2][choice / 36 % 2])
        .oracle_every(OracleEvery::First)
        .history(Detail::Counts)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_cut_into_parts_gives_the_bytes_of_one_machine(
        n in 1usize..60,
        k in 1usize..12,
        choice in 0usize..72,
        coarse in any::<bool>(),
        rounds in 1usize..6,
        seed in 0u64..1000,
        cuts in prop::collection::vec(0usize..1000, 0..6),
    ) {
        let rows = objects(n, 2, 4, coarse, seed);
        let goc = params(k.min(n), 0.3, choice);
        let whole = build(&rows, 2).unwrap();
        let always = goc.clone().oracle_every(OracleEvery::Always);
        let one = always.check(&whole).unwrap().run(&lloyd(rounds), seed).unwrap();
        let (mut shards, sizes) = cut(&rows, 2, &cuts, &goc);
        let plan = Plan { rounds, ..Plan::default() };
        let mut coordinator = Coordinator::new(goc, &sizes, 2, seed, plan).unwrap();
        let outcome = coordinator.run(&mut shards, &lloyd(rounds)).unwrap().clone();
        prop_assert_eq!(outcome.first_on, Basis::All);
        assert_same(&mut shards, &outcome, &one);
    }

    #[test]
    fn any_oracle_in_every_iteration_gives_the_bytes_of_one_machine_while_it_gets_all_objects(
        n in 3usize..40, choice in 0usize..72, seed in 0u64..1000,
        cuts in prop::collection::vec(0usize..1000, 0..4),
    ) {
        let rows = objects(n, 2, 4, false, seed);
        let goc = params(3, 0.3, choice).oracle_every(OracleEvery::Always);
        let whole = build(&rows, 2).unwrap();
        let oracle = Linkage::new(Method::Average);
        let one = goc.clone().check(&whole).unwrap().run(&oracle, seed).unwrap();
        let (mut shards, sizes) = cut(&rows, 2, &cuts, &goc);
        let mut coordinator = Coordinator::new(goc, &sizes, 2, seed, Plan::default()).unwrap();
        let outcome = coordinator.run(&mut shards, &oracle).unwrap().clone();
        assert_same(&mut shards, &outcome, &one);
    }
}

/// Four chunks and a bit: sums are put together from whole chunks and pieces.
fn many() -> (Rows, KMeans) {
    (objects(3 * CHUNK + 777, 2, 6, false, 5), lloyd(4))
}

#[test]
fn many_objects_give_the_bytes_of_one_machine_for_cuts_inside_and_between_chunks() {
    let (rows, oracle) = many();
    let whole = build(&rows, 2).unwrap();
    for (choice, cuts) in [
        (0, vec![]),
        (1, vec![CHUNK, 2 * CHUNK]),
        (2, vec![1, CHUNK - 1, CHUNK, CHUNK, CHUNK + 1]),
        (3, vec![100, 200, 300, 2 * CHUNK + 5, 3 * CHUNK + 1]),
    ] {
        let goc = params(6, 0.1, choice).max_iterations(6);
        let always = goc.clone().oracle_every(OracleEvery::Always);
        let one = always.check(&whole).unwrap().run(&oracle, 3).unwrap();
        let (mut shards, sizes) = cut(&rows, 2, &cuts, &goc);
        let plan = Plan { rounds: 4, ..Plan::default() };
        let mut coordinator = Coordinator::new(goc, &sizes, 2, 3, plan).unwrap();
        let outcome = coordinator.run(&mut shards, &oracle).unwrap().clone();
        assert_same(&mut shards, &outcome, &one);
    }
}

#[test]
fn beyond_the_sample_the_first_clustering_is_lloyds_from_the_samples_centres() {
    let (rows, oracle) = many();
    let whole = build(&rows, 2).unwrap();
    let goc = params(6, 0.1, 0).max_iterations(5);
    let plan = Plan { sample: 1000, rounds: 4 };
    let (mut shards, sizes) = cut(&rows, 2, &[5000, 9000], &goc);
    let mut coordinator = Coordinator::new(goc.clone(), &sizes, 2, 3, plan).unwrap();
    let outcome = coordinator.run(&mut shards, &oracle).unwrap().clone();

    // The same by hand: objects whose own draw is low enough, the oracle on them, Lloyd on all from there.
    let means_of_sets = whole.means();
    let drawn: Vec<usize> = (0..rows.len())
        .filter(|&i| {
            let draw = random::stream(3 ^ 0x7061_7274_5f73_616d, i as u64).next_u64();
            (draw as f64) < 1000.0 / rows.len() as f64 * u64::MAX as f64
        })
        .collect();
    assert_eq!(outcome.first_on, Basis::Sample(drawn.len()));
    assert!((drawn.len() as f64 - 1000.0).abs() < 5.0 * 1000f64.sqrt());
    let sample = means_of_sets.subset(&drawn);
    let partition = oracle.cluster(&sample, Start::K(6), &mut random::stream(3, 0)).unwrap();
    let centres = means(&sample, &partition);
    let first = oracle.cluster(&means_of_sets, Start::Centres(&centres), &mut random::stream(3, 0)).unwrap();
    let labels = first.labels().iter().map(|&l| i64::from(l)).collect();
    let by_hand = goc.oracle_every(OracleEvery::Always).initial_labels(labels);
    let one = by_hand.check(&whole).unwrap().run(&oracle, 3).unwrap();
    assert_same(&mut shards, &outcome, &one);
}

#[test]
fn a_shard_lost_at_any_step_and_a_coordinator_read_from_its_bytes_change_nothing() {
    let rows = objects(70, 2, 5, false, 8);
    for choice in 0..6 {
        let goc = params(9, 0.3, choice);
        let oracle = lloyd(3);
        let plan = Plan { rounds: 3, sample: 40 };
        let (mut shards, sizes) = cut(&rows, 2, &[20, 45], &goc);
        let fresh = Coordinator::new(goc.clone(), &sizes, 2, 2, plan).unwrap();
        let outcome = fresh.clone().run(&mut shards, &oracle).unwrap().clone();
        let results: Vec<ShardResult> =
            shards.iter_mut().map(|p| p.finish(&outcome.final_state).unwrap()).collect();

        let mut coordinator = fresh.clone();
        while let Some(command) = coordinator.command() {
            let lost = coordinator.steps() as usize % 4;
            if lost < 3 {
                shards[lost] = cut(&rows, 2, &[20, 45], &goc).0.swap_remove(lost);
            }
            let command = Command::from_bytes(&command.to_bytes()).unwrap();
            // The third shard is asked twice, as after an answer that got lost.
            shards[2].perform(&command).unwrap();
            let answers: Vec<Answer> = shards
                .iter_mut()
                .map(|shard| Answer::from_bytes(&shard.perform(&command).unwrap().to_bytes()).unwrap())
                .collect();
            coordinator.take(&answers, &oracle).unwrap();
            let bytes = coordinator.to_bytes();
            coordinator = fresh.resume(&bytes).unwrap();
            assert_eq!(coordinator.to_bytes(), bytes);
        }
        assert_eq!(coordinator.outcome(), Some(&outcome));
        let final_state = FinalState::from_bytes(&outcome.final_state.to_bytes()).unwrap();
        let again: Vec<ShardResult> = shards.iter_mut().map(|p| p.finish(&final_state).unwrap()).collect();
        assert_eq!(again, results);
    }
}

#[test]
fn single_precision_chooses_alike_where_other_parts_lie_far_out() {
    // Centres far larger than all that one shard knows: its bounds must allow for their rounding.
    let mut rows = objects(40, 2, 4, false, 9);
    for (values, _) in &mut rows[20..] {
        values.iter_mut().for_each(|x| *x = 1e7 + 3.0 * *x);
    }
    let goc = params(6, 0.1, 6);
    let one = goc.clone().oracle_every(OracleEvery::Always);
    let one = one.check(&build(&rows, 2).unwrap()).unwrap().run(&lloyd(5), 1).unwrap();
    let (mut shards, sizes) = cut(&rows, 2, &[10, 20], &goc);
    let mut coordinator = Coordinator::new(goc, &sizes, 2, 1, Plan { rounds: 5, ..Plan::default() }).unwrap();
    let outcome = coordinator.run(&mut shards, &lloyd(5)).unwrap().clone();
    assert_same(&mut shards, &outcome, &one);
}

#[test]
fn empty_clusters_and_few_distinct_points_do_occur_in_these_tests() {
    // The properties above would prove little if their data never came to these.
    let (mut repairs, mut matches) = (0, 0);
    for seed in 0..150u64 {
        let rows = objects(30, 2, 4, seed % 2 == 0, seed);
        let goc = params(11, 0.3, seed as usize % 72);
        let (mut shards, sizes) = cut(&rows, 2, &[7], &goc);
        let plan = Plan { rounds: 4, ..Plan::default() };
        let mut coordinator = Coordinator::new(goc, &sizes, 2, seed, plan).unwrap();
        while let Some(command) = coordinator.command() {
            repairs += usize::from(matches!(command.task, messages::Task::Repair { .. }));
            matches += usize::from(matches!(command.task, messages::Task::Match { .. }));
            let answers: Vec<Answer> = shards.iter_mut().map(|p| p.perform(&command).unwrap()).collect();
            coordinator.take(&answers, &lloyd(4)).unwrap();
        }
    }
    assert!(repairs > 0 && matches > 0, "{repairs} repairs, {matches} matches");
}

#[test]
fn a_cycle_is_gone_around_as_on_one_machine() {
    // An oracle that turns with the first object's choice, and so never settles.
    let restless = Custom::new("restless", |points: &Points, _: Start<'_>, _: &mut Stream| {
        let labels = if points.row(0)[0] < 0.5 { [0, 0, 1, 2, 2] } else { [0, 2, 2, 1, 0] };
        Ok::<_, String>(labels.to_vec())
    });
    let mut rows: Rows = vec![(vec![0.0, 1.0], vec![])];
    rows.extend([-0.2, 0.2, 0.7, 1.3].map(|fixed| (vec![fixed], vec![])));
    for limit in [10, 11] {
        let goc = Optimistic::new(3).k_rule(KRule::Constant).max_iterations(limit);
        let one = goc.clone().check(&build(&rows, 1).unwrap()).unwrap().run(&restless, 1).unwrap();
        assert_eq!(one.termination, Termination::Cycle { period: 2 });
        let (mut shards, sizes) = cut(&rows, 1, &[2], &goc);
        let mut coordinator = Coordinator::new(goc, &sizes, 1, 1, Plan::default()).unwrap();
        let outcome = coordinator.run(&mut shards, &restless).unwrap().clone();
        assert_same(&mut shards, &outcome, &one);
    }
}

fn small() -> (Vec<Shard>, Coordinator) {
    let goc = params(2, 0.1, 0);
    let (shards, sizes) = cut(&objects(9, 2, 2, false, 1), 2, &[4], &goc);
    (shards, Coordinator::new(goc, &sizes, 2, 1, Plan::default()).unwrap())
}

#[test]
fn a_checkpoint_of_another_run_is_refused_by_what_differs() {
    let (_, coordinator) = small();
    let bytes = coordinator.to_bytes();
    let refused = |goc: Optimistic, sizes: &[usize], seed, plan| {
        Coordinator::new(goc, sizes, 2, seed, plan).unwrap().resume(&bytes).unwrap_err().to_string()
    };
    let goc = || params(2, 0.1, 0);
    for (error, what) in [
        (refused(goc().lambda(0.2), &[4, 5], 1, Plan::default()), "lambda"),
        (refused(goc(), &[5, 4], 1, Plan::default()), "the cut of the objects into parts"),
        (refused(goc(), &[4, 5], 2, Plan::default()), "the seed"),
        (
            refused(goc(), &[4, 5], 1, Plan { rounds: 3, ..Plan::default() }),
            "the sample's size or the number of rounds",
        ),
    ] {
        let want = format!(
            "the checkpoint belongs to another run: {what} differs; start again, or use that run's parameters"
        );
        assert_eq!(error, want);
    }
}

#[test]
fn cut_or_foreign_bytes_are_an_error_and_never_a_panic() {
    let (mut shards, mut coordinator) = small();
    for _ in 0..4 {
        let command = coordinator.command().unwrap();
        let answers: Vec<Answer> = shards.iter_mut().map(|p| p.perform(&command).unwrap()).collect();
        for (bytes, what) in
            [(command.to_bytes(), 0), (answers[0].to_bytes(), 1), (coordinator.to_bytes(), 2)]
        {
            let read = |bytes: &[u8]| match what {
                0 => Command::from_bytes(bytes).map(drop),
                1 => Answer::from_bytes(bytes).map(drop),
                _ => coordinator.resume(bytes).map(drop),
            };
            assert!(read(&bytes).is_ok());
            (0..bytes.len()).for_each(|end| assert!(read(&bytes[..end]).is_err()));
            assert!(read(&[&bytes[..], &[0]].concat()).is_err());
            // Any byte may be damaged; what is read then need not be an error, but must not bring
            // the program down.
            for at in 0..bytes.len() {
                let mut damaged = bytes.clone();
                damaged[at] ^= 0xff;
                let _ = read(&damaged);
            }
        }
        coordinator.take(&answers, &lloyd(3)).unwrap();
    }
    assert_eq!(
        Command::from_bytes(b"hello, world").unwrap_err().to_string(),
        "these bytes are not a command of this version"
    );
}

#[test]
fn answers_out_of_order_or_to_another_command_are_refused_and_can_be_given_again() {
    let (mut shards, mut coordinator) = small();
    let command = coordinator.command().unwrap();
    let answers: Vec<Answer> = shards.iter_mut().map(|p| p.perform(&command).unwrap()).collect();
    let swapped = [answers[1].clone(), answers[0].clone()];
    let error = coordinator.take(&swapped, &lloyd(3)).unwrap_err().to_string();
    assert_eq!(error, "part 0 has 5 objects from 4 on, not 4 from 0 on");
    let error = coordinator.take(&answers[..1], &lloyd(3)).unwrap_err().to_string();
    assert_eq!(error, "1 answers for 2 parts");
    coordinator.take(&answers, &lloyd(3)).unwrap();
    let error = coordinator.take(&answers, &lloyd(3)).unwrap_err().to_string();
    assert_eq!(error, "part 0 answers step 0, not 1");
    coordinator.run(&mut shards, &lloyd(3)).unwrap();
    assert_eq!(
        coordinator.take(&answers, &lloyd(3)),
        Err(ShardedError::Answers { reason: format!("part 0 answers step 0, not {}", coordinator.steps()) })
    );
}

#[test]
fn what_needs_all_objects_in_one_place_is_refused() {
    let new = |goc: Optimistic, plan| Coordinator::new(goc, &[30, 30], 2, 1, plan).unwrap_err().to_string();
    let goc = || Optimistic::new(5);
    assert_eq!(
        new(goc().starts(3), Plan::default()),
        "more than one start needs all objects on one machine; leave it out, or cluster there"
    );
    assert_eq!(
        new(goc(), Plan { sample: 4, ..Plan::default() }),
        "the sample has 4 objects, but 5 clusters are asked for; raise the sample's size"
    );
    assert_eq!(new(goc(), Plan { rounds: 0, ..Plan::default() }), "the number of rounds must be at least 1");
    assert_eq!(
        new(Optimistic::new(61), Plan::default()),
        "61 clusters were asked for, but there are only 60 objects"
    );
    let goc = Optimistic::new(2);
    let mut shard = Shard::new(build(&objects(3, 2, 2, false, 1), 2), 0, &goc);
    let centres = Points::new(vec![1.0], 1).unwrap();
    let command = Command { step: 0, selected: None, task: messages::Task::Repair { centres } };
    let error = shard.perform(&command).unwrap_err().to_string();
    assert_eq!(error, "the command has centres of 1 features, part at object 0 has 2");
}
