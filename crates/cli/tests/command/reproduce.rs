//! `goc reproduce`: the paper's tables, on sets made here and on the authors' own where they are at hand.

use crate::desk::{Desk, data};

/// How many rows these oracles have in a table; every mean must be the one of the paper, which
/// stands beside it.
fn rows_as_printed(table: &str, oracles: &[&str]) -> usize {
    let of_them = |l: &&str| oracles.iter().any(|o| l.starts_with(&format!("| {o}")));
    let check = |line: &str| {
        let cells: Vec<&str> = line.trim_matches(['|', ' ']).split(" | ").collect();
        for pair in cells[3..15].chunks_exact(2) {
            let mean = |cell: &str| cell.split(" ± ").next().map(str::to_string);
            if pair[1] != "-" {
                assert_eq!(mean(pair[0]), mean(pair[1]), "{line}");
            }
        }
    };
    table.lines().filter(of_them).map(check).count()
}

#[test]
fn the_mixtures_column_comes_out_to_the_printed_digit_from_its_own_draw() {
    let Some(folder) = data("the_mixtures_column_comes_out_to_the_printed_digit_from_its_own_draw") else {
        return;
    };
    let desk = Desk::new();
    let run = desk.done(&format!("reproduce --data {} --oracles gmm-diag --seeds 3", folder.display()));
    assert_eq!(rows_as_printed(&run.out, &["gmm-diag"]), 3);
    // The draw is the paper's whatever the seed, so there is one run per set.
    assert_eq!(desk.table("goc-reproduce/runs.csv").rows(), 30);
}

#[test]
fn table_4_comes_out_to_the_printed_digit_from_the_authors_first_labels() {
    let test = "table_4_comes_out_to_the_printed_digit_from_the_authors_first_labels";
    let Some(folder) = data(test) else { return };
    let desk = Desk::new();
    let labels = folder.join("reference/init_labels_all.csv.gz");
    let run = desk.done(&format!(
        "reproduce --data {} --init-labels {} --preset authors",
        folder.display(),
        labels.display()
    ));
    let table = run.out.split("## Experiment 4").nth(1).expect("the table is printed");
    // In these columns the paper's draws are the ones the first labels come from.
    assert_eq!(rows_as_printed(table, &["k-medoids", "gmm-diag", "mclust"]), 11);
    // Every run and every step of the convergence is on file.
    assert_eq!(desk.table("goc-reproduce/runs.csv").rows(), 250);
    assert!(desk.table("goc-reproduce/convergence.csv").rows() > 2000);
}

#[test]
fn without_data_it_runs_on_sets_made_here() {
    let desk = Desk::new();
    let run = desk.done("reproduce --oracles k-medoids --format csv -o out");
    assert!(run.err.starts_with("no --data: ten simulated sets"), "{}", run.err);
    let means: Vec<&str> = run.out.lines().filter(|l| l.contains(",50,NMI,")).collect();
    assert_eq!(means.len(), 1, "{}", run.out);
    let runs = desk.table("out/runs.csv");
    assert_eq!(runs.rows(), 30); // three K(0), ten sets
    let nmi = |name: &str| runs.require(name).unwrap().numbers().unwrap().iter().sum::<f64>() / 30.0;
    assert!(nmi("nmi") > nmi("baseline_nmi") + 0.03, "{} {}", nmi("nmi"), nmi("baseline_nmi"));
    assert_eq!(
        desk.table("out/convergence.csv").names(),
        ["oracle", "k0", "set", "seed", "t", "eta1", "eta2", "eta3", "nmi", "k", "kept"]
    );
}

#[test]
fn all_three_formats_hold_the_same_figures() {
    let desk = Desk::new();
    let print =
        |format: &str| desk.done(&format!("reproduce --oracles linkage,k-medoids --format {format}")).out;
    let (markdown, latex, csv) = (print("markdown"), print("latex"), print("csv"));
    let first = csv.lines().find(|l| l.contains(",30,NMI,")).unwrap().split(',').nth(5).unwrap();
    let mean = format!("{:.3}", first.parse::<f64>().unwrap());
    assert!(markdown.contains(&format!("| k-medoids | 0.01 | 30 | {mean} ± ")), "{markdown}");
    assert!(latex.contains(&format!("k-medoids & 0.01 & 30 & ${mean}\\pm")), "{latex}");
}

#[test]
fn wrong_wishes_are_refused_before_any_work() {
    let desk = Desk::with(&[("labels.csv", "oracle,K0,seed,star,init_cluster\n")]);
    for (words, code, message) in [
        ("reproduce --data nowhere", 1, "error: nowhere: no such folder\n"),
        ("reproduce --data .", 1, "error: .: no file seed01.fits, seed02.fits, … there\n"),
        ("reproduce --seeds 0", 2, "error: --seeds must be at least 1\n"),
        (
            "reproduce --init-labels labels.csv",
            2,
            "error: --init-labels needs --data and a single seed: nothing random is left\n",
        ),
    ] {
        let run = desk.goc(words);
        assert_eq!((run.code, run.err.as_str()), (code, message));
    }
    assert_eq!(desk.files(), ["labels.csv"]);
}

#[test]
fn the_affinity_table_is_the_papers_and_has_the_true_hausdorff_beside() {
    let Some(folder) = data("the_affinity_table_is_the_papers_and_has_the_true_hausdorff_beside") else {
        return;
    };
    let run = Desk::new().done(&format!("reproduce --data {}", folder.display()));
    let rows: Vec<Vec<String>> = run
        .out
        .lines()
        .skip_while(|line| !line.starts_with("## Discussion 1"))
        .filter(|line| ["| s1", "| s2", "| s3", "| hausdorff"].iter().any(|name| line.starts_with(name)))
        .map(|line| line.trim_matches(['|', ' ']).split(" | ").map(str::to_string).collect())
        .collect();
    assert_eq!(rows.len(), 12);
    let mean = |cell: &str| cell.split(" ± ").next().unwrap().parse::<f64>().unwrap();
    for row in &rows[..9] {
        assert!((mean(&row[2]) - mean(&row[3])).abs() <= 0.005, "NMI: {row:?}");
        assert!((mean(&row[4]) - mean(&row[5])).abs() <= 0.005, "F: {row:?}");
        assert!((mean(&row[6]) - mean(&row[7])).abs() <= 1.0, "clusters: {row:?}");
    }
    assert!(rows[9..].iter().all(|row| row[3] == "-" && mean(&row[2]) > 0.7), "{rows:?}");
}

#[test]
fn figures_of_the_paper_are_drawn_for_the_oracles_that_are_run() {
    let desk = Desk::new();
    let run = desk.done("reproduce --oracles k-medoids --figures -o out");
    let drawn = ["figure-1-clusters", "data-sets", "convergence-k-medoids", "simulation"];
    assert!(run.err.contains(&format!("figures in out: {}", drawn.join(", "))), "{}", run.err);
    for name in drawn {
        assert!(desk.text(&format!("out/{name}.svg")).len() < 2_000_000);
        assert!(desk.bytes(&format!("out/{name}.png")).starts_with(b"\x89PNG"));
    }
    let svg = desk.text("out/convergence-k-medoids.svg");
    // Ten sets, three K(0), three quantities.
    assert_eq!(svg.matches("class=\"run\"").count(), 90);
    // 275 objects in both panels.
    assert_eq!(desk.text("out/figure-1-clusters.svg").matches("<use ").count(), 550);
}
