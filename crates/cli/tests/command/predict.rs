//! `goc predict`: new objects by a model that was kept.

use goc_tables::{Column, Data, Table};

use crate::desk::{Desk, columns};
use crate::marginal::actions;

/// A desk with the actions, clustered, and their model.
fn desk() -> Desk {
    let desk = Desk::with(&[("a.csv", &actions())]);
    desk.done("cluster a.csv --method marginal -o l.csv --save-model m.json");
    desk
}

#[test]
fn training_objects_get_their_own_labels_in_the_units_of_the_input() {
    let desk = desk();
    let run = desk.done("predict m.json a.csv -o p.fits");
    assert!(
        run.err.contains("21 objects, 105 candidates: 21 in the model's 3 clusters, 0 in none"),
        "{}",
        run.err
    );
    assert!(run.err.contains("NMI 1.000"), "{}", run.err);
    let (labels, found) = (desk.table("l.csv"), desk.table("p.fits"));
    assert_eq!(
        columns(&found),
        "object label probability runner_up runner_up_probability alone field JR Jz jphi truth"
    );
    let integers = |table: &Table| table.require("label").unwrap().integers().unwrap();
    assert_eq!(integers(&labels), integers(&found));
    assert_eq!(found.get_metadata("goc_feature_map"), Some("actions"));
    // Means of the input's own numbers: within each star's candidates.
    let input = desk.table("a.csv").require("JR").unwrap().numbers().unwrap();
    for (i, mean) in found.require("JR").unwrap().numbers().unwrap().iter().enumerate() {
        let own = &input[5 * i..5 * i + 5];
        let (low, high) = own.iter().fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(*x), h.max(*x)));
        assert!((low..=high).contains(mean), "{i}: {mean} {own:?}");
    }
    assert!(desk.done("score p.fits").out.contains("nmi           1.0000"));
}

#[test]
fn plain_points_and_other_names_and_orders_of_columns_fit_the_model() {
    let desk = desk();
    // One row per star, no penalties, no object; columns turned round, and a star that is nowhere near.
    desk.put(
        "new.csv",
        b"jphi,JZ,jr\n10.0,9.5,16.0\n905.0,49.0,80.0\n1800.0,121.0,195.0\n90000.0,9.0,16.0\n",
    );
    desk.done("predict m.json new.csv -o p.csv");
    desk.put(
        "named.csv",
        b"L,vertical,radial\n10.0,9.5,16.0\n905.0,49.0,80.0\n1800.0,121.0,195.0\n90000.0,9.0,16.0\n",
    );
    let json = desk.json("predict m.json named.csv --features radial,vertical,L -o q.csv --json");
    assert_eq!((json["n_objects"].as_u64(), json["n_noise"].as_u64()), (Some(4), Some(1)));
    let labels = |file: &str| desk.table(file).require("label").unwrap().integers().unwrap();
    assert_eq!(labels("p.csv"), labels("q.csv"));
    assert_eq!(labels("p.csv"), [0, 1, 2, -1]);
    let alone = desk.table("p.csv").require("alone").unwrap().numbers().unwrap();
    assert!(alone[3] > 0.99 && alone[..3].iter().all(|p| *p < 0.2), "{alone:?}");
}

#[test]
fn penalties_of_new_objects_are_divided_as_those_of_the_old_were() {
    let desk = desk();
    // Three candidates of the first star, whose penalties reach 1 only, alone and beside stars
    // whose penalties reach 4.
    let text = actions();
    let lines: Vec<&str> = text.lines().collect();
    let file = |rows: std::ops::Range<usize>| {
        let rows = [2, 3, 4].into_iter().chain(rows).map(|r| lines[r]);
        format!("{}\n{}\n", lines[0], rows.collect::<Vec<_>>().join("\n"))
    };
    desk.put("alone.csv", file(0..0).as_bytes());
    desk.put("beside.csv", file(6..26).as_bytes());
    let first =
        |file: &str| desk.done(&format!("predict m.json {file}")).out.lines().nth(1).unwrap().to_string();
    assert_eq!(first("alone.csv"), first("beside.csv"));
    // And by the number that the model keeps.
    let model = desk.text("m.json");
    let changed = model.replacen("\"penalty_divisor\": 4.0", "\"penalty_divisor\": 1.0", 1);
    assert_ne!(model, changed);
    let before = first("alone.csv");
    desk.put("m.json", changed.as_bytes());
    assert_ne!(before, first("alone.csv"));
}

#[test]
fn a_model_is_the_same_bytes_again_and_at_any_number_of_threads() {
    let desk = desk();
    let first = desk.bytes("m.json");
    for threads in [1, 3] {
        desk.done(&format!(
            "cluster a.csv --method marginal -o l.csv --save-model n.json --threads {threads}"
        ));
        assert_eq!(desk.bytes("n.json"), first);
    }
    let one = desk.done("predict m.json a.csv --threads 1").out;
    assert_eq!(one, desk.done("predict m.json a.csv --threads 4").out);
}

#[test]
fn tables_and_files_that_do_not_fit_are_refused_by_name() {
    let desk = desk();
    desk.put("x.csv", b"object,x,y\na,1.0,2.0\n");
    desk.put("e.csv", b"object,JR,JR_error,Jz,jphi\na,1.0,0.1,2.0,3.0\n");
    desk.put("n.csv", b"object,JR,Jz,jphi\na,-1.0,2.0,3.0\n");
    desk.put("empty.csv", b"object,JR,Jz,jphi\n");
    desk.put("cut.json", &desk.bytes("m.json")[..500]);
    desk.put("other.json", b"{\"format\": \"else\"}");
    desk.refused(
        "predict m.json x.csv",
        2,
        "error: x.csv: no column `JR`: the model has the features JR, Jz, jphi, the table the columns object, x, y; name them in the model's order with --features",
    );
    desk.refused(
        "predict m.json x.csv --features x,y",
        2,
        "error: --features names 2 columns (x, y), but the model has 3 (JR, Jz, jphi)",
    );
    desk.refused(
        "predict m.json e.csv",
        2,
        "error: e.csv: column `JR_error` looks like an error bar: make candidates first (goc candidates), or name the features with --features",
    );
    desk.refused(
        "predict m.json n.csv",
        1,
        "error: n.csv: row 1 (line 2), column `JR`: -1 is negative and has no square root; fix it, or \
         drop it",
    );
    desk.refused("predict m.json empty.csv", 1, "error: empty.csv: the table has no rows");
    desk.refused(
        "predict other.json a.csv",
        1,
        "error: other.json: is not a model; goc cluster --method marginal --save-model writes one",
    );
    let run = desk.goc("predict cut.json a.csv");
    assert!(run.code == 1 && run.err.starts_with("error: cut.json: is not JSON: "), "{}", run.err);
    let run = desk.goc("predict none.json a.csv");
    assert!(run.code == 1 && run.err.starts_with("error: none.json: cannot read it: "), "{}", run.err);
}

#[test]
fn units_that_differ_from_the_models_are_refused() {
    let table = |unit: &str| {
        let x: Vec<f64> = (0..12).map(|i| f64::from(10 * (i % 2)) + 0.1 * f64::from(i)).collect();
        Table::new(vec![Column::new("x", Data::F64(x)).with_unit(unit)]).unwrap()
    };
    let desk = Desk::new();
    desk.write("km.ecsv", &table("km"));
    desk.write("pc.ecsv", &table("pc"));
    desk.done(
        "cluster km.ecsv --method marginal --chains 1 --burn 10 --keep 10 -o l.csv --save-model m.json",
    );
    desk.done("predict m.json km.ecsv -o p.csv");
    let run = desk.goc("predict m.json pc.ecsv -o p.csv");
    assert_eq!(run.code, 1);
    assert!(
        run.err.ends_with("error: pc.ecsv: column `x` is in pc, but the model's x in km; convert it\n"),
        "{}",
        run.err
    );
}

#[test]
fn objects_that_were_held_out_go_to_their_groups() {
    // A small mock Milky Way, four fifths of its stars clustered and the rest predicted.
    let desk = Desk::new();
    desk.done("simulate --dwarfs 12 --stars 10 --seed 3 -o c.csv");
    let text = desk.text("c.csv");
    let mut lines = text.lines();
    let head = lines.next().unwrap();
    let (mut old, mut new) = (format!("{head}\n"), format!("{head}\n"));
    let (mut object, mut count) = (String::new(), 0);
    for line in lines {
        let name = line.split(',').next().unwrap();
        if name != object {
            (object, count) = (name.to_string(), count + 1);
        }
        let to = if count % 5 == 0 { &mut new } else { &mut old };
        to.push_str(&format!("{line}\n"));
    }
    desk.put("old.csv", old.as_bytes());
    desk.put("new.csv", new.as_bytes());
    let fitted = desk.json("cluster old.csv --method marginal --json -o l.csv --save-model m.json");
    let found = desk.json("predict m.json new.csv --json");
    let of = |json: &serde_json::Value, key: &str| json[key].as_f64().unwrap();
    println!("fitted {fitted}, predicted {found}");
    assert!(of(&found, "nmi") > of(&fitted, "nmi") - 0.05, "{found} {fitted}");
}
