//! `goc report`. What the page does is tested in a browser (`tests/browser`); here, what it is made from.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::desk::{Desk, three_groups};

/// What the page was told.
fn told(desk: &Desk, name: &str) -> Value {
    let html = desk.text(name);
    let (_, rest) = html.split_once("<script type=\"application/json\" id=\"goc-data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn doubles(packed: &Value) -> Vec<f64> {
    let bytes = STANDARD.decode(packed.as_str().unwrap()).unwrap();
    bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}

fn integers(packed: &Value) -> Vec<i32> {
    let bytes = STANDARD.decode(packed.as_str().unwrap()).unwrap();
    bytes.chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn the_page_holds_what_the_label_table_holds() {
    let desk = Desk::with(&[("c.csv", &three_groups())]);
    desk.done("cluster c.csv --k 3 --features x,y -o labels.parquet");
    let run = desk.done("report labels.parquet --candidates c.csv");
    assert_eq!(run.err, "12 objects on a page: open report.html in a browser\n");
    let (told, labels) = (told(&desk, "report.html"), desk.table("labels.parquet"));
    assert_eq!(told["title"], json!("labels"));
    assert_eq!(told["ids"], json!(labels.require("object").unwrap().texts()));
    let as_i32 = |name: &str| -> Vec<i32> {
        labels.require(name).unwrap().integers().unwrap().iter().map(|v| *v as i32).collect()
    };
    assert_eq!(integers(&told["labels"]), as_i32("label"));
    assert_eq!(integers(&told["sets"]["chosen"]), as_i32("candidate"));
    assert_eq!(integers(&told["sets"]["counts"]), [3; 12]);
    for (f, name) in ["x", "y"].into_iter().enumerate() {
        assert_eq!(told["features"][f]["name"], json!(name));
        assert_eq!(doubles(&told["features"][f]["values"]), labels.require(name).unwrap().numbers().unwrap());
    }
    let score = desk.json("score labels.parquet --json");
    assert_eq!(told["truth"]["scores"][0], json!(["NMI", score["nmi"]]));
    assert_eq!(told["clusters"].as_array().unwrap().len(), 3);
}

#[test]
fn the_run_is_told_by_the_labels_alone() {
    let desk = Desk::with(&[("c.csv", &(three_groups() + "star-0,-9999,0,0,g0\n"))]);
    desk.done("cluster c.csv --k 3 --features x,y --seed 7 -o labels.ecsv --history history.csv");
    desk.done("report labels.ecsv -o one.html");
    desk.done("report labels.ecsv --history history.csv -o two.html");
    let one = told(&desk, "one.html");
    let facts: Vec<(String, String)> = serde_json::from_value(one["facts"][0][1].clone()).unwrap();
    let fact = |name: &str| facts.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    assert_eq!((fact("seed"), fact("method")), (Some("7"), Some("goc")));
    assert_eq!(fact("version"), Some(env!("CARGO_PKG_VERSION")));
    assert_eq!(one["remarks"], json!(["dropped 1 of 37 candidates: a feature is missing"]));
    let steps = desk.table("history.csv").rows();
    assert_eq!(one["history"].as_array().unwrap().len(), steps);
    assert_eq!(one["history"], told(&desk, "two.html")["history"]);
}

#[test]
fn the_galaxy_of_the_candidates_is_told_by_the_labels() {
    let desk = Desk::new();
    desk.done("simulate --dwarfs 3 --seed 2 -o c.parquet --stars-out stars.ecsv");
    desk.done("cluster c.parquet --k 3 -o labels.parquet");
    desk.done("report labels.parquet --stars stars.ecsv");
    let told = told(&desk, "report.html");
    assert_eq!(told["facts"][1][0], json!("Candidates"));
    let facts: Vec<(String, String)> = serde_json::from_value(told["facts"][1][1].clone()).unwrap();
    for key in ["potential", "sun", "jphi sign", "sampler"] {
        assert!(facts.iter().any(|(name, _)| name == key), "{key}: {facts:?}");
    }
    let stars = desk.table("stars.ecsv");
    assert_eq!(doubles(&told["sky"]["longitude"]), stars.require("l").unwrap().numbers().unwrap());
    assert_eq!(told["sky"]["frame"], json!("galactic"));
}

#[test]
fn tables_of_goc_stars_are_known_by_their_prefix_and_what_has_no_label_is_counted() {
    let desk = Desk::with(&[(
        "s.csv",
        "id,ra,dec,parallax,goc_label,goc_Jr,goc_Jphi,goc_q_value,goc_note\n\
         a,10,20,1,0,1.5,2,.01,\nb,11,21,2,0,2.5,3,.01,\nc,12,22,3,,,,,parallax missing\nd,13,23,1,-1,9,9,.5,\n",
    )]);
    let summary = desk.json("report s.csv --json");
    assert_eq!((summary["n_objects"].as_u64(), summary["n_left_out"].as_u64()), (Some(3), Some(1)));
    let told = told(&desk, "report.html");
    let names: Vec<&Value> = told["features"].as_array().unwrap().iter().map(|f| &f["name"]).collect();
    assert_eq!(names, ["Jr", "Jphi"]);
    assert_eq!(integers(&told["labels"]), [0, 0, -1]);
    assert_eq!(told["leftOut"], json!([["c", "parallax missing"]]));
    assert_eq!(told["clusterExtras"][0]["values"], json!([0.01, null]));
    assert_eq!(doubles(&told["sky"]["longitude"]), [10.0, 11.0, 13.0]);
}

#[test]
fn clusters_and_pairs_join_by_name() {
    let desk = Desk::with(&[
        ("l.csv", "object,label,x,y\nb,0,1,1\na,1,2,5\nc,1,3,2\n"),
        ("k.csv", "label,size,x,x_spread,stability,p_value\n1,2,2.5,.7,.75,.001\n0,1,1,0,,.2\n"),
        ("t.csv", "object_a,object_b,probability\na,c,.9\nb,gone,.5\n"),
    ]);
    desk.done("report l.csv --clusters k.csv --together t.csv --title <b>me</b> -o r.html");
    let told = told(&desk, "r.html");
    assert_eq!(told["title"], json!("<b>me</b>"));
    assert!(!desk.text("r.html").contains("<b>me"));
    let extras = told["clusterExtras"].as_array().unwrap();
    assert_eq!(extras.len(), 2);
    assert_eq!((&extras[0]["name"], &extras[0]["values"]), (&json!("stability"), &json!([null, 0.75])));
    assert_eq!((&extras[1]["name"], &extras[1]["values"]), (&json!("p_value"), &json!([0.2, 0.001])));
    assert_eq!(integers(&told["together"]["counts"]), [0, 1, 1]);
    assert_eq!(integers(&told["together"]["partners"]), [2, 1]);
}

#[test]
fn the_same_tables_give_the_same_bytes_at_any_number_of_threads() {
    let desk = Desk::with(&[("c.csv", &three_groups())]);
    desk.done("cluster c.csv --k 3 -o l.parquet");
    desk.done("report l.parquet --candidates c.csv -o one.html --threads 1");
    desk.done("report l.parquet --candidates c.csv -o two.html --threads 4");
    assert!(desk.bytes("one.html") == desk.bytes("two.html"));
}

#[test]
fn what_makes_no_page_is_refused() {
    let desk = Desk::with(&[
        ("l.csv", "object,label,x\na,0,1\nb,1,2\n"),
        ("twice.csv", "object,label,x\na,0,1\na,1,2\n"),
        ("words.csv", "object,label,x\na,left,1\n"),
        ("bare.csv", "object,x\na,1\n"),
        ("none.csv", "object,label,x\na,,1\n"),
        ("points.csv", "object,label\na,1\n"),
        ("other.csv", "object,x\na,1\n"),
        ("far.csv", "object,l,b\na,0,100\nb,0,0\n"),
    ]);
    desk.refused("report l.csv -o page.pdf", 2, "error: page.pdf: the page is an HTML file; name it .html");
    desk.refused(
        "report l.csv -o gone/r.html",
        1,
        "error: gone/r.html: there is no folder gone; make it first",
    );
    desk.refused(
        "report twice.csv",
        1,
        "error: twice.csv: object a occurs twice; each needs a name of its own",
    );
    desk.refused(
        "report words.csv",
        1,
        "error: words.csv: row 1 (line 2), column `label`: \"left\" is not the number of a cluster; \
         those are whole numbers, and -1 means in no group",
    );
    desk.refused(
        "report bare.csv",
        1,
        "error: bare.csv: no label column (looked for label, labels, cluster, goc_label; the table has object, x); name it with --label",
    );
    desk.refused("report none.csv", 1, "error: none.csv: no object has a label");
    desk.refused(
        "report points.csv",
        1,
        "error: points.csv: there are no features; name the columns that hold the objects' places",
    );
    desk.refused(
        "report l.csv --candidates other.csv",
        1,
        "error: other.csv: object b has no candidates; give the candidates that were clustered",
    );
    desk.refused(
        "report l.csv --stars far.csv",
        1,
        "error: far.csv: latitude of object a: 100 is beyond a pole; check the unit (degrees or radians) and the column",
    );
    desk.refused(
        "report l.csv --stars other.csv",
        1,
        "error: other.csv: no positions (looked for l and b, ra and dec; the table has object, x)",
    );
    desk.refused(
        "report l.csv --features z",
        2,
        "error: l.csv: no column `z` (did you mean `x`?); there are: object, label, x",
    );
}

#[test]
fn candidates_that_the_clustering_dropped_for_their_weight_are_dropped_again() {
    let text = "object,x,w\na,1,0\na,2,1\na,3,1\nb,5,1\nb,6,0\nb,7,0\n";
    let desk = Desk::with(&[("c.csv", text)]);
    desk.done("cluster c.csv --k 1 --features x --weight w -o l.ecsv");
    desk.done("report l.ecsv --candidates c.csv");
    let told = told(&desk, "report.html");
    assert_eq!(integers(&told["sets"]["counts"]), [2, 1]);
    assert_eq!(told["remarks"], json!(["dropped 3 of 6 candidates: their weight is 0"]));
}
