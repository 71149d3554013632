//! Extreme numbers and odd shapes, through every method and every oracle: an answer or a named
//! error, never a panic, a number that is not finite, or an endless run.
//!
//! The list of methods is `goc compare`'s own, so a new method is tried without a word here. Each run
//! has a time limit ([`LIMIT`]), kept by a thread that waits for it: a run that does not end fails
//! the test by name instead of hanging it.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use goc::candidates::CandidatesBuilder;
use goc::choice::Choice;
use goc::scale::Scaling;
use goc::{Candidates, Partition};
use goc_pipeline::compare::rows;
use goc_pipeline::{Dataset, MethodName, OracleName, Settings, Unwatched, fit};
use proptest::prelude::*;

/// What any method may take on the sets here, of at most 48 objects with 50 features: a few hundredths
/// of a second is usual, the mixture with 50 features takes a few seconds. A machine that does other
/// things beside needs some room.
const LIMIT: Duration = Duration::from_secs(60);

/// K requested throughout.
const K: usize = 3;

/// The settings to try: all that `goc compare` knows, and every oracle by itself.
fn all() -> Vec<(String, Settings)> {
    let base = Settings {
        oracle_starts: Some(3),
        chains: 2,
        burn: Some(10),
        keep: 20,
        worlds: 8,
        ..Settings::default()
    };
    let base = base.clusters(K);
    let mut all: Vec<(String, Settings)> =
        rows().into_iter().map(|row| (row.name.clone(), row.settings(&base).unwrap())).collect();
    for (oracle, word, _) in OracleName::ALL {
        let settings = Settings { method: MethodName::Oracle, oracle: *oracle, ..base.clone() };
        all.push((format!("oracle/{word}"), settings));
    }
    all
}

/// Candidates of each object, row after row.
type Sets = Vec<Vec<Vec<f64>>>;

fn candidates(sets: &Sets) -> Candidates {
    let mut builder = CandidatesBuilder::new(sets[0][0].len());
    for set in sets {
        builder.push(&set.concat(), &[]).unwrap();
    }
    builder.build().unwrap()
}

/// Three groups far apart in all features, three candidates each; no two distances are the same, so
/// that no answer hangs on how ties are broken.
fn three_groups(objects: usize, features: usize) -> Sets {
    let jitter = |seed: usize| ((seed as f64 * 0.618_033_988_749_895).fract() - 0.5) * 0.4;
    let value = |i: usize, j: usize, f: usize| {
        let centre = 10.0 * ((i + f) % K) as f64 + (f % 5) as f64;
        centre + jitter(1 + i * 131 + f * 17) + 0.3 * jitter(7 + i * 31 + j * 977 + f * 5)
    };
    let row = |i, j| (0..features).map(|f| value(i, j, f)).collect();
    (0..objects).map(|i| (0..3).map(|j| row(i, j)).collect()).collect()
}

fn mapped(sets: &Sets, map: impl Fn(usize, f64) -> f64) -> Sets {
    let row = |row: &Vec<f64>| row.iter().enumerate().map(|(f, &value)| map(f, value)).collect();
    sets.iter().map(|set| set.iter().map(row).collect()).collect()
}

/// The grouping, or what was said instead; panics and endless runs fail here.
fn tried(what: &str, sets: &Sets, settings: &Settings) -> Result<Partition, String> {
    let (objects, data) = (sets.len(), Dataset::new(candidates(sets)));
    let (send, receive) = channel();
    let own = settings.clone();
    std::thread::spawn(move || {
        let _ = send.send(fit(&data, &own, 1, &Unwatched));
    });
    let found = match receive.recv_timeout(LIMIT) {
        Ok(found) => found,
        Err(RecvTimeoutError::Timeout) => panic!("{what}: no end within {LIMIT:?}"),
        Err(RecvTimeoutError::Disconnected) => panic!("{what}: panicked; {sets:?}"),
    };
    match found {
        Ok(found) => {
            let k = found.k() as i32;
            let labels = found.labels();
            assert_eq!(labels.len(), objects, "{what}");
            assert!(labels.iter().all(|label| (-1..k.max(1)).contains(label)), "{what}: {labels:?} of {k}");
            let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
            assert!(found.places.rows().all(finite), "{what}: places {:?}", found.places);
            assert!(found.centres.rows().all(finite), "{what}: centres {:?}", found.centres);
            assert!(finite(&found.input_centres()), "{what}: centres {:?}", found.input_centres());
            let objective = found.grouped.objective;
            assert!(objective.is_none_or(f64::is_finite), "{what}: objective {objective:?}; {sets:?}");
            Ok(found.grouped.partition)
        }
        Err(error) => {
            let said = error.to_string();
            assert!((10..500).contains(&said.len()) && !said.contains('{'), "{what}: {said:?}");
            Err(said)
        }
    }
}

/// Powers of two next to 1e-150, 1e-100, 1e-10, 1e10, 1e100 and 1e150: multiplying by them rounds
/// nothing.
const POWERS: [i32; 6] = [-498, -332, -33, 33, 332, 498];

#[test]
fn the_unit_of_the_input_changes_nothing_from_1e_minus_150_to_1e150() {
    let sets = three_groups(12, 3);
    for (name, settings) in all() {
        // The oracle alone does not scale unless told to.
        let scale = (settings.method == MethodName::Oracle).then_some(Scaling::Standard);
        let settings = Settings { scale, ..settings };
        let plain = tried(&name, &sets, &settings).unwrap_or_else(|said| panic!("{name}: {said}"));
        for power in POWERS {
            let what = format!("{name}, times 2^{power}");
            let scaled = mapped(&sets, |_, value| value * 2f64.powi(power));
            let found = tried(&what, &scaled, &settings).unwrap_or_else(|said| panic!("{what}: {said}"));
            assert!(found.same_grouping(&plain), "{what}: {found:?} was {plain:?}");
        }
    }
}

#[test]
fn unscaled_numbers_from_1e_minus_150_to_1e150_give_an_answer_or_an_error() {
    let sets = three_groups(12, 3);
    for (name, settings) in all() {
        let settings = Settings { scale: Some(Scaling::None), ..settings };
        for power in POWERS {
            let what = format!("{name}, unscaled, times 2^{power}");
            let _ = tried(&what, &mapped(&sets, |_, value| value * 2f64.powi(power)), &settings);
        }
        // Features of very different size, where one drowns the others.
        let what = format!("{name}, unscaled, 1e-150 beside 1e150");
        let factors = [1e-150, 1.0, 1e150];
        let _ = tried(&what, &mapped(&sets, |f, value| value * factors[f]), &settings);
    }
}

#[test]
fn the_order_of_the_objects_does_not_change_groups_that_are_far_apart() {
    let sets = three_groups(12, 3);
    let order: Vec<usize> = (0..12).map(|i| (i * 5 + 3) % 12).collect();
    let shuffled: Sets = order.iter().map(|&i| sets[i].clone()).collect();
    for (name, settings) in all() {
        let one = tried(&name, &sets, &settings).unwrap_or_else(|said| panic!("{name}: {said}"));
        let other = tried(&name, &shuffled, &settings).unwrap_or_else(|said| panic!("{name}: {said}"));
        let expected: Vec<u32> = order.iter().map(|&i| one.labels()[i]).collect();
        assert!(other.same_grouping(&Partition::from_labels(&expected)), "{name}: {one:?}, then {other:?}");
    }
}

#[test]
fn odd_shapes_give_an_answer_or_an_error() {
    let sets = three_groups(12, 3);
    let one_each: Sets = sets.iter().map(|set| vec![set[0].clone()]).collect();
    let far = |value: f64| {
        let mut sets = sets.clone();
        sets[5][1][2] = value;
        sets
    };
    let shapes: Vec<(&str, Sets)> = vec![
        ("one object", three_groups(1, 3)),
        ("one object with one candidate", one_each[..1].to_vec()),
        ("two objects", three_groups(2, 3)),
        ("K objects", three_groups(K, 3)),
        ("K objects with one candidate each", one_each[..K].to_vec()),
        ("equal objects", vec![sets[0].clone(); 12]),
        ("equal objects with one candidate each", vec![one_each[0].clone(); 12]),
        ("every object twice", [&sets[..], &sets[..]].concat()),
        ("equal candidates", sets.iter().map(|set| vec![set[0].clone(); 3]).collect()),
        ("a constant column", mapped(&sets, |f, value| if f == 1 { 7.0 } else { value })),
        ("only constant columns", mapped(&sets, |_, _| 7.0)),
        ("only zeros", mapped(&sets, |_, _| 0.0)),
        ("only minus zeros and zeros", mapped(&sets, |_, value| if value > 5.0 { 0.0 } else { -0.0 })),
        ("a column of denormal numbers", mapped(&sets, |f, v| if f == 1 { v * 5e-324 } else { v })),
        ("one far value", far(1e150)),
        ("one farther value", far(1e300)),
        ("the largest number", far(f64::MAX)),
        ("50 features of 48 objects", three_groups(48, 50)),
        ("50 features of 12 objects", three_groups(12, 50)),
        ("50 features of 4 objects", three_groups(4, 50)),
        ("one feature", three_groups(12, 1)),
    ];
    for (name, settings) in all() {
        for (shape, sets) in &shapes {
            let _ = tried(&format!("{name}, {shape}"), sets, &settings);
        }
    }
}

/// Numbers that are special to somebody.
const SPECIAL: &[f64] =
    &[0.0, -0.0, 1.0, -1.0, 5e-324, 1e-300, -1e-160, 1e-150, 1e-8, 3.0, 1e8, 1e150, -1e155, 1e200, f64::MAX];

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -3.0..3.0,
        2 => prop::sample::select(SPECIAL),
        1 => any::<f64>().prop_filter("finite", |value| value.is_finite()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_numbers_give_an_answer_or_an_error(
        which in any::<prop::sample::Index>(),
        scaling in prop::sample::select(vec![None, Some(Scaling::None), Some(Scaling::Standard), Some(Scaling::Robust)]),
        sets in (1usize..4).prop_flat_map(|features| {
            let row = prop::collection::vec(number(), features);
            prop::collection::vec(prop::collection::vec(row, 1..4), 1..10)
        }),
        power in -498i32..498,
        k in 1usize..5,
    ) {
        let all = all();
        let (name, settings) = &all[which.index(all.len())];
        let settings = Settings { scale: scaling.or(settings.scale), ..settings.clone() }.clusters(k);
        let sets = mapped(&sets, |_, value| (value * 2f64.powi(power)).clamp(f64::MIN, f64::MAX));
        let _ = tried(&format!("{name}, {scaling:?}, k {k}"), &sets, &settings);
    }
}
