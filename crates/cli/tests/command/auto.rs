//! `--k auto`, `--lambda auto`, `--trim` and `--search`.

use crate::desk::{Desk, columns};

/// Four groups of six on the corners of a square, far apart; five candidates each on a short line.
fn four_groups() -> String {
    let mut text = String::from("object,x,y,penalty,truth\n");
    for i in 0..24 {
        let group = i % 4;
        // Multiples of irrational numbers fill the unit interval evenly.
        let (u, v) =
            ((f64::from(i) * 0.6180339887).fract() - 0.5, (f64::from(i) * 0.7548776662).fract() - 0.5);
        for j in 0..5 {
            let s = f64::from(j - 2) / 2.0;
            let x = 10.0 * f64::from(group % 2) + u + 0.4 * s * (1.0 + v);
            let y = 10.0 * f64::from(group / 2) + v + 0.3 * s * u;
            text.push_str(&format!("{i},{x:?},{y:?},{:?},{group}\n", s * s));
        }
    }
    text
}

fn desk() -> Desk {
    Desk::with(&[("c.csv", &four_groups())])
}

#[test]
fn every_criterion_finds_the_four_groups_and_says_so() {
    let desk = desk();
    for by in ["silhouette", "bic", "icl", "stability", "marginal"] {
        let summary = desk.json(&format!("cluster c.csv --k auto --k-by {by} --json"));
        assert_eq!(summary["k"], 4, "{by}: {summary}");
        assert_eq!(summary["k_asked"], "auto");
        assert_eq!(summary["k_by"], by);
        assert_eq!(summary["k_chosen"], 4);
        assert_eq!(summary["nmi"], 1.0, "{by}");
        assert_eq!((&summary["search"], &summary["k_rule"]), (&"thorough".into(), &"constant".into()));
        assert!(summary["k_curve"].as_array().unwrap().iter().any(|point| point[0] == 4));
    }
}

#[test]
fn the_curve_is_a_table_with_the_nmi_and_a_drawing_for_people() {
    let desk = desk();
    let run = desk.done("cluster c.csv --k auto --k-by silhouette --k-curve curve.csv -o labels.csv");
    let curve = desk.table("curve.csv");
    assert_eq!(columns(&curve), "k silhouette nmi chosen");
    let k = curve.require("k").unwrap().integers().unwrap();
    let value = curve.require("silhouette").unwrap().numbers().unwrap();
    let best = (0..k.len()).max_by(|&a, &b| value[a].total_cmp(&value[b])).unwrap();
    assert_eq!(k[best], 4);
    assert_eq!(curve.require("nmi").unwrap().numbers().unwrap()[best], 1.0);
    assert!(run.err.contains("K = 4 by silhouette\n"), "{}", run.err);
    assert!(
        run.err.lines().any(|line| line.starts_with("*    4  ") && line.ends_with("####")),
        "{}",
        run.err
    );
    let labels = desk.table("labels.csv");
    assert_eq!(labels.require("label").unwrap().integers().unwrap().len(), 24);
    desk.done("cluster c.csv --k auto --k-by bic -o labels.fits");
    assert_eq!(desk.table("labels.fits").get_metadata("goc_k_by"), Some("bic"));
    assert_eq!(desk.table("labels.fits").get_metadata("goc_k_chosen"), Some("4"));
}

#[test]
fn methods_that_take_k_can_have_it_found() {
    let desk = desk();
    for method in ["uk-means", "uk-medians", "boxes", "worlds", "medoids", "linkage", "goc-tree", "goc-hull"]
    {
        let words = format!("cluster c.csv --k auto --k-by silhouette --method {method} --json");
        let summary = desk.json(&words);
        assert_eq!(summary["k_initial"], 4, "{method}: {summary}");
    }
    // One that finds its own K has no use for the wish, and no complaint.
    let run = desk.done("cluster c.csv --k auto --method marginal -o labels.csv");
    assert!(!run.err.contains("not used"), "{}", run.err);
}

#[test]
fn lambda_is_found_said_and_used() {
    let desk = desk();
    let words = "cluster c.csv --k 4 --k-rule constant --search thorough";
    let found = desk.json(&format!("{words} --lambda auto --json"));
    let lambda = found["lambda"].as_f64().unwrap();
    assert!(lambda > 0.0 && lambda != 0.01, "{found}");
    assert_eq!(found["lambda_asked"], "auto");
    assert_eq!(found["lambda_rounds"].as_array().unwrap().last().unwrap().as_f64(), Some(lambda));
    let given = desk.json(&format!("{words} --lambda {lambda:?} --json"));
    assert_eq!(given["objective"], found["objective"]);
    let run = desk.done(&format!("{words} --lambda auto -o labels.csv"));
    assert!(run.err.contains("lambda = ") && run.err.contains(" by the likelihood"), "{}", run.err);
    let both = desk.json("cluster c.csv --k auto --k-by icl --lambda auto --json");
    assert_eq!((&both["k"], &both["lambda_asked"]), (&4.into(), &"auto".into()));
}

#[test]
fn the_thorough_search_is_never_worse_and_is_named_in_the_output() {
    let desk = desk();
    let words = "cluster c.csv --k 7 --k-rule constant --json";
    let plain = desk.json(words);
    let thorough = desk.json(&format!("{words} --search thorough"));
    assert!(thorough["objective"].as_f64() <= plain["objective"].as_f64());
    assert_eq!(thorough["search"], "thorough");
}

#[test]
fn trimmed_objects_have_the_label_minus_one_and_move_no_centre() {
    let far: String =
        (0..6).map(|i| format!("f{i},{}.0,{}.0,0.0,-1\n", 40 + 9 * i * i, 70 - 30 * i)).collect();
    let desk = Desk::with(&[("c.csv", &(four_groups() + &far))]);
    for trim in ["0.2", "auto"] {
        let run = desk.done(&format!("cluster c.csv --k 4 --k-rule constant --trim {trim} -o l.fits"));
        let labels = desk.table("l.fits");
        let numbers = labels.require("label").unwrap().integers().unwrap();
        assert!(numbers[..24].iter().all(|label| (0..4).contains(label)), "{trim}: {numbers:?}");
        assert!(numbers[24..].iter().all(|label| *label == -1), "{trim}: {numbers:?}");
        assert!(run.err.contains("6 objects in no cluster (label -1)"), "{}", run.err);
        assert_eq!(labels.get_metadata("goc_trim"), Some(trim));
    }
    let run = desk.done("cluster c.csv --k 4 --method uk-means --trim 0.2 -o l.csv");
    assert!(run.err.contains("not used by --method uk-means: --trim"), "{}", run.err);
    for (share, code) in [("1", 2), ("-0.1", 2), ("1.5", 2)] {
        let said =
            format!("error: --trim {share} must be a share of the objects, from 0 to below 1, or auto");
        desk.refused(&format!("cluster c.csv --k 4 --trim {share}"), code, &said);
    }
    desk.refused(
        "cluster c.csv --k 4 --trim 0.9",
        2,
        "features: x, y\nerror: 4 clusters were asked for, but trimming leaves 3 of 30 objects",
    );
}

#[test]
fn wishes_that_do_not_fit_are_refused_with_the_way_out() {
    let desk = desk();
    desk.refused(
        "cluster c.csv --k 3 --k-by bic",
        2,
        "error: --k-by is a way to find K: it needs --k auto and a method that takes K",
    );
    desk.refused(
        "cluster c.csv --k 3 --k-curve curve.csv",
        2,
        "error: --k-curve needs --k auto and a method that takes K",
    );
    desk.refused(
        "cluster c.csv --k 3 --preset authors --lambda auto",
        2,
        "error: --lambda auto is defined for the squared distance only; add --distance squared",
    );
    desk.refused(
        "cluster c.csv --k auto --init-labels c.csv",
        2,
        "error: --init-labels fixes K, so it cannot go with --k auto",
    );
    let run = desk.goc("cluster c.csv --k two");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("give a number or auto"), "{}", run.err);
}

#[test]
fn one_two_and_three_objects_have_an_answer() {
    for n in 1..=3u64 {
        let mut text = String::from("object,x,y\n");
        for i in 0..n as i64 {
            for j in 0..3 {
                text.push_str(&format!("{i},{}.5,{}.5\n", 7 * i * i + j, 3 * i + j * j));
            }
        }
        let desk = Desk::with(&[("c.csv", &text)]);
        for by in ["silhouette", "bic", "icl", "stability"] {
            let summary = desk.json(&format!("cluster c.csv --k auto --k-by {by} --json"));
            assert!(summary["k"].as_u64().is_some_and(|k| (1..=n).contains(&k)), "{by} {n}: {summary}");
        }
    }
}
