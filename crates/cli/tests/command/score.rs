//! `goc score`.

use crate::desk::Desk;

const LABELS: &str = "object,label,truth\na,0,x\nb,0,x\nc,1,y\nd,1,x\n";

#[test]
fn scores_are_printed_one_a_line() {
    let run = Desk::with(&[("labels.csv", LABELS)]).done("score labels.csv");
    assert_eq!(run.err, "");
    insta::assert_snapshot!("score", run.out);
}

#[test]
fn json_has_the_same_numbers_in_full() {
    let json = Desk::with(&[("labels.csv", LABELS)]).json("score labels.csv --json");
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "n_objects",
            "k",
            "k_true",
            "n_noise",
            "nmi",
            "f",
            "ari",
            "ami",
            "homogeneity",
            "completeness",
            "v_measure",
            "purity"
        ]
    );
    assert_eq!(
        (json["n_objects"].as_u64(), json["k"].as_u64(), json["k_true"].as_u64()),
        (Some(4), Some(2), Some(2))
    );
    // By hand: H(truth) = ln 4 - (3/4) ln 3, H(label) = ln 2, H(both) = (3/2) ln 2.
    let (h_truth, h_label, h_both) = (4f64.ln() - 0.75 * 3f64.ln(), 2f64.ln(), 1.5 * 2f64.ln());
    let shared = h_truth + h_label - h_both;
    let near = |key: &str, want: f64| {
        let got = json[key].as_f64().unwrap();
        assert!((got - want).abs() < 1e-12, "{key}: {got} {want}");
    };
    near("homogeneity", shared / h_truth);
    near("completeness", shared / h_label);
    near("v_measure", 2.0 * shared / (h_truth + h_label));
    near("purity", 0.75);
    near("ari", 0.0); // one pair together in both, and one expected: 2 * 3 / 6
}

#[test]
fn truth_may_stand_in_another_table_in_another_order() {
    let desk = Desk::with(&[
        ("labels.csv", "object,label\na,0\nb,0\nc,1\nd,1\n"),
        ("truth.csv", "object,truth\nd,x\nc,y\nb,x\na,x\ne,z\n"),
        ("both.csv", LABELS),
    ]);
    assert_eq!(desk.done("score labels.csv --truth truth.csv").out, desk.done("score both.csv").out);
}

#[test]
fn what_cannot_be_scored_is_refused() {
    let desk = Desk::with(&[
        ("labels.csv", LABELS),
        ("other.csv", "object,truth\na,x\nb,x\nc,y\n"),
        ("twice.csv", "object,truth\na,x\nb,x\nc,y\nd,x\nd,y\n"),
        ("null.csv", "object,label,truth\na,,x\nb,0,\n"),
        ("empty.csv", "object,label,truth\n"),
    ]);
    desk.refused(
        "score labels.csv --label group",
        2,
        "error: labels.csv: no column `group`; there are: object, label, truth",
    );
    desk.refused(
        "score labels.csv --truth other.csv",
        1,
        "error: labels.csv: row 4 (line 5), column `object`: \"d\" is not in other.csv",
    );
    desk.refused(
        "score labels.csv --truth twice.csv",
        1,
        "error: twice.csv: row 5 (line 6), column `truth`: \"y\" contradicts x for the same object",
    );
    desk.refused("score null.csv", 1, "error: null.csv: no object has a label and a truth");
    desk.refused("score empty.csv", 1, "error: empty.csv: the table has no rows");
}

#[test]
fn objects_without_a_label_or_a_truth_are_left_out_and_counted() {
    let text = "object,goc_label,truth\na,0,x\nb,0,x\nc,1,y\nd,,y\ne,1,\n";
    let run = Desk::with(&[("labels.csv", text)]).done("score labels.csv");
    assert!(run.err.contains("2 objects of 5 without a label or a truth: left out"), "{}", run.err);
    assert!(run.out.starts_with("3 objects, 2 clusters, 2 true groups\nnmi           1.0000"), "{}", run.out);
}
