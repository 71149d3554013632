//! `goc cluster`.

use std::io::Read;
use std::process::{Command, Stdio};

use crate::desk::{Desk, columns, three_groups, without_seconds};

fn desk() -> Desk {
    Desk::with(&[("c.csv", &three_groups())])
}

#[test]
fn labels_go_to_standard_output_and_a_sentence_to_standard_error() {
    let run = desk().done("cluster c.csv --k 3");
    insta::assert_snapshot!("cluster_out", run.out);
    insta::assert_snapshot!("cluster_err", without_seconds(&run.err));
}

#[test]
fn labels_go_to_a_file_and_nothing_else_is_left() {
    let desk = desk();
    let run = desk.done("cluster c.csv --k 3 -o labels.csv");
    assert_eq!(run.out, "");
    assert_eq!(desk.files(), ["c.csv", "labels.csv"]);
    assert_eq!(desk.text("labels.csv"), desk.done("cluster c.csv --k 3").out);
}

#[test]
fn an_older_file_is_replaced_whole_and_kept_on_failure() {
    let desk = desk();
    desk.put("labels.csv", b"old");
    assert_ne!(desk.goc("cluster c.csv --k 99 -o labels.csv").code, 0);
    assert_eq!(desk.text("labels.csv"), "old");
    desk.done("cluster c.csv --k 3 -o labels.csv");
    assert_eq!(desk.table("labels.csv").rows(), 12);
}

#[test]
fn label_table_has_a_row_an_object_and_the_promised_columns() {
    let desk = desk();
    desk.done("cluster c.csv --k 3 -o labels.fits");
    let table = desk.table("labels.fits");
    assert_eq!(columns(&table), "object label candidate row penalty distance x y truth");
    assert_eq!(table.rows(), 12);
    // The chosen features are those of the row that the table names, in its own units.
    let input = desk.table("c.csv");
    let rows = table.require("row").unwrap().integers().unwrap();
    for name in ["object", "truth"] {
        let texts = input.require(name).unwrap().texts();
        let want: Vec<&String> = rows.iter().map(|&row| &texts[row as usize]).collect();
        assert_eq!(table.require(name).unwrap().texts().iter().collect::<Vec<_>>(), want);
    }
    for name in ["x", "y"] {
        let all = input.require(name).unwrap().numbers().unwrap();
        for (got, &row) in table.require(name).unwrap().numbers().unwrap().iter().zip(&rows) {
            assert!((got - all[row as usize]).abs() < 1e-12, "{name} {row}: {got}");
        }
    }
    assert_eq!(table.get_metadata("goc_method"), Some("goc"));
    assert_eq!(table.get_metadata("goc_seed"), Some("1"));
}

#[test]
fn uk_means_chooses_no_candidate() {
    let desk = desk();
    desk.done("cluster c.csv --k 3 --method uk-means -o labels.fits");
    assert_eq!(columns(&desk.table("labels.fits")), "object label distance x y truth");
}

#[test]
fn json_has_the_promised_keys_with_every_method_and_oracle() {
    let desk = desk();
    let promised = [
        "method",
        "oracle",
        "preset",
        "n_objects",
        "n_candidates",
        "n_features",
        "k_initial",
        "k",
        "iterations",
        "converged",
        "cycle",
        "objective",
        "seed",
        "seconds",
        "nmi",
        "f",
        "ari",
    ];
    let ways = [
        "--method goc",
        "--method gpc",
        "--method uk-means",
        "--preset authors",
        "--oracle k-medoids",
        "--oracle gmm-diag",
        "--oracle mclust-eii",
        "--oracle mclust-vii",
        "--oracle mclust-vvv",
        "--oracle linkage",
    ];
    for way in ways {
        let json = desk.json(&format!("cluster c.csv --k 3 --json {way}"));
        for key in promised {
            assert!(json.get(key).is_some_and(|value| !value.is_null()), "{way}: no {key} in {json}");
        }
        assert_eq!(json["n_objects"], 12);
        assert_eq!(json["n_candidates"], 36);
        assert_eq!(json["n_features"], 2);
        // mclust chooses the number itself, up to the one requested.
        let first = json["k_initial"].as_u64().unwrap();
        assert!(first == 3 || way.contains("mclust") && (1..3).contains(&first), "{way}: {first}");
    }
}

#[test]
fn json_without_truth_has_no_scores() {
    let json = desk().json("cluster c.csv --k 3 --json --truth none --features x,y");
    assert!(["nmi", "f", "ari"].iter().all(|key| json.get(key).is_none()), "{json}");
}

#[test]
fn json_and_a_file_together_give_both() {
    let desk = desk();
    let json = desk.json("cluster c.csv --k 3 --json -o labels.csv");
    assert_eq!(json["output"], "labels.csv");
    assert_eq!(desk.table("labels.csv").rows(), 12);
}

#[test]
fn three_far_groups_are_found() {
    let json = desk().json("cluster c.csv --k 3 --json");
    assert_eq!(
        (json["nmi"].as_f64(), json["f"].as_f64(), json["k"].as_u64()),
        (Some(1.0), Some(1.0), Some(3))
    );
}

#[test]
fn history_and_trace_are_tables_of_their_own() {
    let desk = desk();
    let json = desk.json("cluster c.csv --k 3 --json --history h.csv --trace t.csv");
    let iterations = json["iterations"].as_u64().unwrap() as usize;
    assert_eq!(columns(&desk.table("h.csv")), "iteration k objective changed");
    assert_eq!(columns(&desk.table("t.csv")), "iteration object candidate oracle_label label");
    assert_eq!(desk.table("t.csv").rows(), 12 * desk.table("h.csv").rows());
    assert!(desk.table("h.csv").rows() >= iterations);
}

#[test]
fn first_labels_may_come_from_a_file_in_any_order() {
    let desk = desk();
    let mut rows: Vec<String> = (0..12).map(|i| format!("star-{i},{}", i % 3)).collect();
    rows.reverse();
    desk.put("first.csv", format!("object,label\n{}\n", rows.join("\n")).as_bytes());
    let json = desk.json("cluster c.csv --k 3 --json --init-labels first.csv");
    assert_eq!(json["nmi"].as_f64(), Some(1.0));
}

#[test]
fn a_missing_candidate_is_dropped_and_counted() {
    let desk = Desk::with(&[("c.csv", "object,x\na,1.0\na,-9999\nb,2.0\nc,9.0\n")]);
    let run = desk.done("cluster c.csv --k 2");
    assert!(run.err.contains("dropped 1 of 4 candidates: a feature is missing\n"), "{}", run.err);
    assert_eq!(run.out.lines().count(), 4);
}

#[test]
fn rows_of_an_object_need_not_stand_together() {
    let text = three_groups();
    let (head, body) = text.split_once('\n').unwrap();
    let mut rows: Vec<&str> = body.lines().collect();
    // Objects must first appear in the same order, so the first rows stay first.
    rows.sort_by_key(|row| row.split(',').nth(3) != Some("1.0"));
    let desk = Desk::with(&[("c.csv", &text), ("mixed.csv", &format!("{head}\n{}\n", rows.join("\n")))]);
    let plain = desk.json("cluster c.csv --k 3 --json");
    let mixed = desk.json("cluster mixed.csv --k 3 --json");
    assert_eq!((&plain["k"], &plain["nmi"]), (&mixed["k"], &mixed["nmi"]));
    let (a, b) = (plain["objective"].as_f64().unwrap(), mixed["objective"].as_f64().unwrap());
    assert!((a - b).abs() < 1e-12 * a.abs().max(1.0), "{a} {b}");
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let mut text = String::from("object,x\n");
    for i in 0..40_000 {
        text.push_str(&format!("{i},{}.5\n", i % 7));
    }
    let desk = Desk::with(&[("c.csv", &text)]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_goc"))
        .args(["cluster", "c.csv", "--k", "2", "--oracle-starts", "1", "--max-iterations", "1"])
        .current_dir(desk.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // As `head -1` does: the start is read, then the reader goes while there is more than a pipe holds.
    let mut start = [0; 6];
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut start).unwrap();
    drop(out);
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!((&start, output.status.code()), (b"object", Some(0)), "{err}");
    assert!(!err.contains("panicked") && !err.contains("error"), "{err}");
}

#[test]
fn one_object_is_one_cluster() {
    let desk = Desk::with(&[("c.csv", "object,x,y\na,1.0,2.0\na,1.5,2.5\n")]);
    let json = desk.json("cluster c.csv --k 1 --json");
    assert_eq!((json["k"].as_u64(), json["n_objects"].as_u64()), (Some(1), Some(1)));
}

#[test]
fn all_points_equal_make_one_cluster() {
    let rows: String = (0..6).map(|i| format!("{i},1.5,2.5\n")).collect();
    let desk = Desk::with(&[("c.csv", &format!("object,x,y\n{rows}"))]);
    for way in ["", "--method uk-means", "--oracle k-medoids", "--oracle linkage", "--preset authors"] {
        let json = desk.json(&format!("cluster c.csv --k 3 --json {way}"));
        assert_eq!(json["k"], 1, "{way}: {json}");
        assert_eq!(json["objective"].as_f64(), Some(0.0), "{way}");
    }
}

#[test]
fn all_candidates_of_each_object_equal_is_plain_clustering() {
    let (mut many, mut one) = (String::from("object,x\n"), String::from("object,x\n"));
    for (i, x) in [0.0, 0.5, 1.0, 8.0, 8.5, 9.0].iter().enumerate() {
        one.push_str(&format!("{i},{x:?}\n"));
        many.push_str(&format!("{i},{x:?}\n").repeat(4));
    }
    let desk = Desk::with(&[("many.csv", &many), ("one.csv", &one)]);
    let labels = |file: &str| {
        desk.done(&format!("cluster {file} --k 2 -o labels.csv"));
        desk.table("labels.csv").require("label").unwrap().integers().unwrap()
    };
    assert_eq!(labels("many.csv"), labels("one.csv"));
}

#[test]
fn the_tree_is_newick_or_a_table_as_scipys_linkage_has_it() {
    let desk = desk();
    desk.done("cluster c.csv --k 4 --k-rule constant --tree tree.nwk -o l.csv");
    let newick = desk.text("tree.nwk");
    assert!(newick.trim_end().ends_with(';') && newick.matches("star-").count() == 12, "{newick}");
    assert_eq!(newick.matches('(').count(), newick.matches(')').count());
    desk.done("cluster c.csv --k 4 --k-rule constant --tree tree.csv -o l.csv");
    let table = desk.table("tree.csv");
    assert_eq!((columns(&table).as_str(), table.rows()), ("first second height members", 11));
    let number = |name: &str| table.require(name).unwrap().numbers().unwrap();
    let (first, second, height, members) =
        (number("first"), number("second"), number("height"), number("members"));
    assert!(height.windows(2).all(|pair| pair[0] <= pair[1]), "{height:?}");
    assert_eq!(members[10], 12.0);
    // Every leaf and every merge but the last is joined once.
    let mut joined: Vec<usize> = first.iter().chain(&second).map(|&part| part as usize).collect();
    joined.sort_unstable();
    assert_eq!(joined, (0..22).collect::<Vec<_>>());
    let run = desk.goc("cluster c.csv --k 3 --method uk-means --tree tree.csv -o l.csv");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("--tree: a tree needs a method that chooses candidates"), "{}", run.err);
}

#[test]
fn noise_has_the_label_minus_one_and_is_counted() {
    let text = format!("{}lonely,500.0,500.0,0.0,g9\n", three_groups());
    let desk = Desk::with(&[("c.csv", &text)]);
    let run = desk.done("cluster c.csv --k 3 --method fdbscan --min-points 3 --scale none --eps 4 -o l.csv");
    assert!(run.err.contains("1 object in no cluster (label -1)"), "{}", run.err);
    let labels = desk.table("l.csv").require("label").unwrap().integers().unwrap();
    assert_eq!((labels.len(), labels[12]), (13, -1));
    assert!(labels[..12].iter().all(|&label| label >= 0), "{labels:?}");
    let score = desk.done("score l.csv");
    assert!(score.err.contains("1 object in no cluster"), "{}", score.err);
    assert!(score.out.starts_with("13 objects, 3 clusters, 4 true groups"), "{}", score.out);
}

#[test]
fn a_penalty_or_a_truth_that_is_not_used_does_not_become_a_feature() {
    let text = three_groups().replace(",g0", ",0.5").replace(",g1", ",1.5").replace(",g2", ",2.5");
    let desk = Desk::with(&[("c.csv", &text)]);
    let run = desk.done("cluster c.csv --k 3 --truth none --penalty none -o l.csv");
    assert!(run.err.contains("features: x, y\n"), "{}", run.err);
    assert!(!columns(&desk.table("l.csv")).contains("truth"));
}

#[test]
fn objects_without_a_truth_do_not_count_in_the_scores() {
    let text = three_groups().replace("g2", "");
    let run = Desk::with(&[("c.csv", &text)]).done("cluster c.csv --k 3 -o l.csv");
    assert!(run.err.contains("4 objects of 12 without a truth: left out of the scores"), "{}", run.err);
    assert!(run.err.contains("NMI 1.000"), "{}", run.err);
}

#[test]
fn flags_that_the_method_does_not_have_are_named() {
    let desk = desk();
    let run = desk.done("cluster c.csv --k 3 --method linkage --oracle hdbscan --eps 3 -o l.csv");
    assert!(run.err.contains("not used by --method linkage: --oracle, --eps"), "{}", run.err);
    let run = desk.done("cluster c.csv --k 3 --method linkage --linkage single -o l.csv");
    assert!(!run.err.contains("not used"), "{}", run.err);
    let run = desk.goc("cluster c.csv --k 3 -o l.csv --tree l.csv");
    assert_eq!(
        (run.code, run.err.as_str()),
        (2, "error: l.csv: named for two outputs; give each a file of its own\n")
    );
    let run = desk.goc("cluster c.csv --k 3 --method boxes --history h.csv -o l.csv");
    assert_eq!((run.code, run.err.as_str()), (2, "error: --history needs --method goc or goc-tree\n"));
}

#[test]
fn hulls_and_boxes_are_below_the_candidates_objective_and_take_gocs_flags() {
    let desk = desk();
    let objective = |method: &str| {
        desk.json(&format!("cluster c.csv --k 3 --k-rule constant --json --method {method}"))["objective"]
            .as_f64()
            .unwrap()
    };
    let (boxes, hulls, candidates) = (objective("goc-box"), objective("goc-hull"), objective("goc"));
    assert!(boxes <= hulls + 1e-12 && hulls <= candidates + 1e-12, "{boxes} {hulls} {candidates}");
}

#[test]
fn the_marginal_mixture_needs_no_k_and_says_how_sure_it_is() {
    let desk = desk();
    let run = desk.done("cluster c.csv --method marginal -o l.csv");
    assert!(run.err.contains("chains agree to"), "{}", run.err);
    let table = desk.table("l.csv");
    let sure = table.require("probability").unwrap().numbers().unwrap();
    assert!(sure.iter().all(|p| (0.0..=1.0).contains(p)), "{sure:?}");
    let run = desk.goc("cluster c.csv -o l.csv");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("error: --method goc needs --k"), "{}", run.err);
}

#[test]
fn square_roots_of_features_are_taken_and_negative_ones_refused_by_name() {
    let text = "object,x,y\na,4.0,1.0\nb,9.0,2.0\nc,16.0,-3.0\n";
    let desk = Desk::with(&[("c.csv", text)]);
    desk.done("cluster c.csv --k 3 --features sqrt(x),y --scale none -o l.csv");
    let table = desk.table("l.csv");
    assert_eq!(table.require("sqrt(x)").unwrap().numbers().unwrap(), [2.0, 3.0, 4.0]);
    let run = desk.goc("cluster c.csv --k 3 --features x,sqrt(y) -o l.csv");
    assert_eq!(run.code, 1);
    assert!(
        run.err.contains("row 3 (line 4), column `y`: -3.0 is negative and has no square root"),
        "{}",
        run.err
    );
}
