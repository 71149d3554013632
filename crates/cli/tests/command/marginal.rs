//! `goc cluster --method marginal`: what it takes by itself, and what it writes.

use std::collections::HashMap;

use crate::desk::{Desk, catalogue, columns, three_groups};

/// Twenty-one stars in three groups, five candidates each, actions under names of mixed case;
/// groups are round in the roots.
pub fn actions() -> String {
    let mut text = String::from("source_id,JR,Jz,jphi,penalty,truth\n");
    for i in 0..21 {
        let (group, t) = (i % 3, f64::from(i));
        for j in 0..5 {
            let s = f64::from(j - 2);
            let jr = (4.0 + 5.0 * f64::from(group) + 0.3 * t.sin() + 0.4 * s * t.cos()).powi(2);
            let jz = (3.0 + 4.0 * f64::from(group) + 0.3 * t.cos() + 0.4 * s * t.sin()).powi(2);
            let jphi = 900.0 * f64::from(group) + 20.0 * (2.0 * t).sin() + 30.0 * s;
            text.push_str(&format!("{},{jr:?},{jz:?},{jphi:?},{:?},{group}\n", 100 + i, s * s));
        }
    }
    text
}

fn desk() -> Desk {
    Desk::with(&[("a.csv", &actions())])
}

const SHORT: &str = "--method marginal --chains 2 --burn 20 --keep 30";

#[test]
fn actions_are_recognised_and_the_map_and_scaling_are_said_and_kept() {
    let desk = desk();
    let run = desk.done("cluster a.csv --method marginal -o l.fits");
    assert!(run.err.contains("clustered by sqrt(JR), sqrt(Jz), jphi; scaling robust\n"), "{}", run.err);
    assert!(run.err.contains("NMI 1.000"), "{}", run.err);
    let table = desk.table("l.fits");
    let want = "object label probability runner_up runner_up_probability alone field recurrence distance JR Jz jphi truth";
    assert_eq!((columns(&table).as_str(), table.rows()), (want, 21));
    let kept = |key: &str| table.get_metadata(&format!("goc_{key}")).map(str::to_string);
    for (key, value) in
        [("feature_map", "actions"), ("scale", "robust"), ("chains", "4"), ("sweeps", "180"), ("k", "3")]
    {
        assert_eq!(kept(key).as_deref(), Some(value), "{key}");
    }
    for key in ["agreement", "effective_draws", "k_mean"] {
        assert!(kept(key).unwrap().parse::<f64>().unwrap() > 0.0, "{key}");
    }
}

#[test]
fn flags_win_over_what_the_method_would_take_and_other_methods_take_features_as_they_are() {
    let desk = desk();
    let of = |flags: &str| {
        let json = desk.json(&format!("cluster a.csv --json {flags}"));
        (json["feature_map"].as_str().unwrap().to_string(), json["scale"].as_str().unwrap().to_string())
    };
    let pair = |map: &str, scale: &str| (map.to_string(), scale.to_string());
    assert_eq!(of(&format!("{SHORT} --feature-map none --scale standard")), pair("none", "standard"));
    assert_eq!(of(&format!("{SHORT} --features Jz,jphi")), pair("none", "robust"));
    assert_eq!(of("--k 3"), pair("none", "standard"));
    assert_eq!(of("--k 3 --method linkage --feature-map auto --scale none"), pair("actions", "none"));
}

#[test]
fn a_candidate_chosen_by_roots_is_told_in_the_units_of_the_input() {
    let desk = desk();
    desk.done("cluster a.csv --k 3 --feature-map actions -o l.csv");
    let (labels, input) = (desk.table("l.csv"), desk.table("a.csv"));
    let rows = labels.require("row").unwrap().integers().unwrap();
    for name in ["JR", "Jz", "jphi"] {
        let all = input.require(name).unwrap().numbers().unwrap();
        for (got, &row) in labels.require(name).unwrap().numbers().unwrap().iter().zip(&rows) {
            assert!((got - all[row as usize]).abs() < 1e-9, "{name}: {got} {}", all[row as usize]);
        }
    }
    let compared = desk.json("compare a.csv --k 3 --feature-map actions --only goc/k-means --json");
    let alone = desk.json("cluster a.csv --k 3 --feature-map actions --json");
    assert_eq!(compared["methods"][0]["objective"], alone["objective"]);
    assert_eq!(compared["feature_map"], "actions");
}

#[test]
fn features_are_the_means_of_the_inputs_own_numbers_by_the_weights_that_are_written() {
    let desk = desk();
    desk.done(&format!("cluster a.csv {SHORT} -o l.csv --candidate-weights w.csv"));
    let (labels, weights, input) = (desk.table("l.csv"), desk.table("w.csv"), desk.table("a.csv"));
    assert_eq!((columns(&weights).as_str(), weights.rows()), ("object candidate row weight posterior", 105));
    let number = |name: &str| weights.require(name).unwrap().numbers().unwrap();
    let (object, row, prior, posterior) =
        (number("object"), number("row"), number("weight"), number("posterior"));
    let mut sums: HashMap<i64, (f64, f64)> = HashMap::new();
    for at in 0..105 {
        let sum = sums.entry(object[at] as i64).or_default();
        *sum = (sum.0 + prior[at], sum.1 + posterior[at]);
    }
    assert_eq!(sums.len(), 21);
    assert!(sums.values().all(|(a, b)| (a - 1.0).abs() < 1e-12 && (b - 1.0).abs() < 1e-12), "{sums:?}");
    // Penalties 0, 1, 4 over the largest, 4: exp(-2 P).
    assert!((prior[0] / prior[2] - f64::exp(-2.0)).abs() < 1e-12);
    assert!((prior[1] / prior[2] - f64::exp(-0.5)).abs() < 1e-12);
    let ids = labels.require("object").unwrap().integers().unwrap();
    for name in ["JR", "Jz", "jphi"] {
        let all = input.require(name).unwrap().numbers().unwrap();
        for (i, got) in labels.require(name).unwrap().numbers().unwrap().iter().enumerate() {
            let own = (0..105).filter(|&at| object[at] as i64 == ids[i]);
            let want: f64 = own.map(|at| posterior[at] * all[row[at] as usize]).sum();
            assert!((got - want).abs() < 1e-9 * want.abs().max(1.0), "{name}: {got} {want}");
        }
    }
}

#[test]
fn pairs_and_the_number_of_clusters_have_tables_and_the_summary_has_the_rest() {
    let desk = desk();
    let flags = "--json -o l.csv --k-posterior k.csv --together t.csv --together-above";
    let read = || {
        let pairs = desk.table("t.csv");
        assert_eq!(columns(&pairs), "object_a object_b probability");
        let number = |name: &str| pairs.require(name).unwrap().numbers().unwrap();
        let ids = number("object_a").into_iter().zip(number("object_b"));
        ids.zip(number("probability")).map(|((a, b), p)| (a as i64, b as i64, p)).collect::<Vec<_>>()
    };
    desk.json(&format!("cluster a.csv {SHORT} {flags} 0.5"));
    let likely = read();
    let json = desk.json(&format!("cluster a.csv {SHORT} {flags} 0"));
    let all = read();
    assert!(all.iter().all(|(a, b, p)| a < b && *p > 0.0 && *p <= 1.0));
    assert_eq!(likely, all.iter().copied().filter(|(_, _, p)| *p >= 0.5).collect::<Vec<_>>());
    // The groups are far apart: no pair crosses.
    assert!(likely.len() > 30 && likely.iter().all(|(a, b, _)| (b - a) % 3 == 0), "{likely:?}");
    // An object's probability is its mean over the others of its cluster.
    let labels = desk.table("l.csv");
    let (ids, label, sure) = (
        labels.require("object").unwrap().integers().unwrap(),
        labels.require("label").unwrap().integers().unwrap(),
        labels.require("probability").unwrap().numbers().unwrap(),
    );
    for i in 0..21 {
        let others: Vec<i64> = (0..21).filter(|&j| j != i && label[j] == label[i]).map(|j| ids[j]).collect();
        let of = |other: &i64| {
            let pair = (ids[i].min(*other), ids[i].max(*other));
            all.iter().find(|(a, b, _)| (*a, *b) == pair).map_or(0.0, |(_, _, p)| *p)
        };
        let want = others.iter().map(of).sum::<f64>() / others.len() as f64;
        assert!((sure[i] - want).abs() < 1e-12, "{i}: {} {want}", sure[i]);
    }
    let k = desk.table("k.csv");
    assert_eq!(columns(&k), "k probability");
    let share = k.require("probability").unwrap().numbers().unwrap();
    assert!((share.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{share:?}");
    let said = json["k_posterior"].as_array().unwrap();
    assert_eq!(said.len(), k.rows());
    assert_eq!(said[0]["probability"].as_f64(), Some(share[0]));
    for key in ["agreement", "effective_draws", "effective_draws_ln_density", "moves_taken", "k_mean"] {
        assert!(json[key].is_number(), "{key}: {json}");
    }
}

#[test]
fn weights_take_the_place_of_penalties_and_a_weight_of_nothing_is_dropped() {
    let rows: String = actions()
        .lines()
        .skip(1)
        .enumerate()
        .map(|(r, line)| format!("{line},{:?}\n", if r % 5 == 0 { 0.0 } else { 0.5 + (r % 5) as f64 }))
        .collect();
    let text = format!("source_id,JR,Jz,jphi,penalty,truth,like\n{rows}");
    let desk = Desk::with(&[("a.csv", &text)]);
    for strength in ["2", "0.7"] {
        let run = desk.done(&format!(
            "cluster a.csv {SHORT} --weight like --strength {strength} -o l.ecsv --candidate-weights w.csv"
        ));
        assert!(run.err.contains("dropped 21 of 105 candidates: their weight is 0\n"), "{}", run.err);
        let weights = desk.table("w.csv").require("weight").unwrap().numbers().unwrap();
        assert_eq!(weights.len(), 84);
        for (at, w) in weights.iter().enumerate() {
            // 1.5, 2.5, 3.5 and 4.5 of 12.
            assert!((w - (1.5 + (at % 4) as f64) / 12.0).abs() < 1e-12, "{at}: {w}");
        }
        assert_eq!(desk.table("l.ecsv").get_metadata("goc_weight"), Some("like"));
    }
    // GOC takes lambda times the same penalties, which are not scaled.
    desk.done("cluster a.csv --k 3 --weight like --strength 1 -o l.csv");
    let labels = desk.table("l.csv");
    let (rows, penalties) = (
        labels.require("row").unwrap().integers().unwrap(),
        labels.require("penalty").unwrap().numbers().unwrap(),
    );
    for (row, penalty) in rows.iter().zip(penalties) {
        let want = (4.5 / (0.5 + (row % 5) as f64)).ln();
        assert!((penalty - want).abs() < 1e-12, "{row}: {penalty} {want}");
    }
}

#[test]
fn penalties_of_goc_are_taken_as_log_densities_whatever_the_size_of_the_sets() {
    let desk = Desk::new();
    desk.write("catalogue.csv", &catalogue(4, 3));
    // The weights beforehand, and what they should be by the penalties: by what a penalty of 1
    // costs, in the unit of the largest.
    let worst = |file: &str, flags: &str, strength: &dyn Fn(f64) -> f64| {
        desk.done(&format!("cluster {file} {SHORT} {flags} -o l.ecsv --candidate-weights w.csv"));
        let numbers = |file: &str, name: &str| desk.table(file).require(name).unwrap().numbers().unwrap();
        let (weights, penalties) = (numbers("w.csv", "weight"), numbers(file, "penalty"));
        let objects = desk.table(file).require("object").unwrap().integers().unwrap();
        let most = penalties.iter().copied().fold(0.0, f64::max);
        let plain: Vec<f64> = penalties.iter().map(|p| (-p * strength(most)).exp()).collect();
        let mut sums = std::collections::BTreeMap::new();
        for (object, w) in objects.iter().zip(&plain) {
            *sums.entry(object).or_insert(0.0) += w;
        }
        let apart = |r: usize| (weights[r] - plain[r] / sums[&objects[r]]).abs();
        (0..weights.len()).map(apart).fold(0.0, f64::max)
    };
    for sigmas in ["1", "3"] {
        let make =
            format!("candidates catalogue.csv --transform coasting --when-empty drop -m 9 --sigmas {sigmas}");
        desk.done(&format!("{make} -o c.parquet"));
        assert!(worst("c.parquet", "", &|_| 1.0) < 1e-12);
        assert!(worst("c.parquet", "--penalty-scale none", &|_| 1.0) < 1e-12);
        assert!(worst("c.parquet", "--strength 3", &|most| 3.0 / most) < 1e-12);
        // CSV has no metadata: taken for the paper's.
        desk.done(&format!("{make} -o c.csv"));
        assert!(worst("c.csv", "", &|most| 2.0 / most) < 1e-12);
    }
    // Drawn from the errors, and weighed by them once more.
    let make = "candidates catalogue.csv --transform coasting --when-empty drop -m 9 --sampler density";
    for (penalty, said) in [("density", true), ("none", false)] {
        desk.done(&format!("{make} --penalty {penalty} -o d.parquet"));
        let run = desk.done(&format!("cluster d.parquet {SHORT} -o l.csv"));
        assert_eq!(run.err.contains("a second time: make them with penalty none"), said, "{}", run.err);
    }
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let text = actions();
    let negative = text.replacen("100,", "100,-", 1);
    let files = [
        ("a.csv", text.as_str()),
        ("n.csv", negative.as_str()),
        ("c.csv", &three_groups()),
        ("w.csv", "object,x,w\na,1.0,0.5\nb,2.0,-1.0\n"),
        ("z.csv", "object,x,w\na,1.0,0.5\nb,2.0,0.0\nb,3.0,0.0\n"),
    ];
    let desk = Desk::with(&files);
    let value = negative.lines().nth(1).unwrap().split(',').nth(1).unwrap();
    desk.refused(
        "cluster n.csv --method marginal",
        1,
        &format!(
            "error: n.csv: row 1 (line 2), column `JR`: {value} is negative and has no square root; fix \
             it, or use --feature-map none"
        ),
    );
    desk.refused(
        "cluster c.csv --k 3 --feature-map actions --features x,y",
        2,
        "error: --feature-map actions needs features Jr and Jz, not x, y; name them with --features, or use --feature-map none",
    );
    desk.refused(
        "cluster w.csv --method marginal --features x --weight w",
        1,
        "error: w.csv: row 2 (line 3), column `w`: -1.0 is not a weight; weights are finite and not below 0",
    );
    desk.refused(
        "cluster z.csv --method marginal --features x --weight w",
        1,
        "error: z.csv: object b has no candidates left: all 2 have a missing feature or the weight 0; \
         drop the object or fix column `w`",
    );
    desk.refused(
        "cluster w.csv --method marginal --features x --weight w --strength 0",
        2,
        "error: --strength is 0, but --weight needs a finite number above 0",
    );
    for (flag, file) in [
        ("--together", "t.csv"),
        ("--k-posterior", "k.csv"),
        ("--candidate-weights", "w2.csv"),
        ("--save-model", "m.json"),
    ] {
        desk.refused(
            &format!("cluster a.csv --k 3 {flag} {file}"),
            2,
            &format!("error: {flag} needs --method marginal, not goc"),
        );
    }
    desk.refused(
        "cluster a.csv --method marginal --save-model m.csv",
        2,
        "error: m.csv: a model is saved as .json",
    );
    desk.refused(
        "cluster a.csv --method marginal --together t.csv --together-above 2",
        2,
        "error: --together-above is 2, but must be from 0 to 1",
    );
    desk.refused(
        "cluster a.csv --method marginal --together t.csv -o t.csv",
        2,
        "error: t.csv: named for two outputs; give each a file of its own",
    );
    let run = desk.goc("cluster a.csv --method marginal --weight penalty --penalty penalty");
    assert_eq!(run.code, 2);
}

#[test]
fn one_object_and_equal_objects_have_an_answer() {
    let desk = Desk::with(&[
        ("one.csv", "object,Jr,Jz,Jphi\na,1.0,2.0,3.0\n"),
        ("same.csv", "object,x,y\na,1.0,2.0\nb,1.0,2.0\nc,1.0,2.0\n"),
    ]);
    for (file, n) in [("one.csv", 1), ("same.csv", 3)] {
        desk.done(&format!("cluster {file} {SHORT} -o l.csv --save-model m.json --together t.csv"));
        assert_eq!(desk.table("l.csv").rows(), n);
        desk.done(&format!("predict m.json {file} -o p.csv"));
        assert_eq!(desk.table("p.csv").rows(), n);
    }
}

#[test]
fn stars_of_a_catalogue_get_the_same_columns_and_a_star_without_actions_none_of_them() {
    let mut text = String::from(
        "source_id,ra,dec,parallax,parallax_error,pmra,pmra_error,pmdec,pmdec_error,radial_velocity,radial_velocity_error\n",
    );
    for i in 0..6 {
        let (t, parallax) = (f64::from(i), if i == 4 { -2.0 } else { 0.8 });
        let (ra, pmra) = (180.0 + t, -5.0 * f64::from(i % 2));
        text.push_str(&format!("{i},{ra:?},40.0,{parallax:?},0.02,{pmra:?},0.02,-3.0,0.02,20.0,1.0\n"));
    }
    let desk = Desk::with(&[("gaia.csv", &text)]);
    let run = desk.done(&format!("stars gaia.csv {SHORT} -o s.ecsv"));
    assert!(run.err.contains("clustered by sqrt(Jr), sqrt(Jz), Jphi; scaling robust\n"), "{}", run.err);
    let table = desk.table("s.ecsv");
    for name in ["probability", "alone", "Jr", "Jz", "Jphi"] {
        let column = table.require(&format!("goc_{name}")).unwrap();
        assert!((0..6).all(|row| column.is_null(row) == (row == 4)), "{name}: {:?}", column.texts());
    }
    assert!(table.require("goc_runner_up").unwrap().is_null(4));
    assert!(table.require("goc_runner_up_probability").is_ok());
    assert_eq!(table.get_metadata("goc_feature_map"), Some("actions"));
}
