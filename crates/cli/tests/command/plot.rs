//! `goc plot`: a picture of each kind, and what is refused.

use crate::desk::Desk;
use crate::marginal::actions;

/// A desk with actions of 21 stars, clustered two ways.
fn desk() -> Desk {
    let desk = Desk::with(&[("a.csv", &actions())]);
    desk.done("cluster a.csv --k 3 --history h.csv -o goc.parquet");
    desk.done("cluster a.csv --method uk-means --k 3 -o uk.parquet");
    desk
}

fn is_png(bytes: &[u8], width: u32) -> bool {
    bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes[16..20] == width.to_be_bytes()
}

#[test]
fn two_clusterings_stand_side_by_side_with_a_mark_an_object() {
    let desk = desk();
    let run = desk.done("plot clusters uk.parquet goc.parquet --candidates a.csv -o f.svg");
    assert_eq!((run.out.as_str(), run.err.as_str()), ("", "figure in f.svg\n"));
    let svg = desk.text("f.svg");
    assert_eq!(svg.matches("<use ").count(), 2 * 21);
    assert_eq!(svg.matches("class=\"cluster\"").count(), 2 * 3);
    assert_eq!(svg.matches("class=\"cloud\"").count(), 2);
    assert!(svg.contains(">uk-means, 3 clusters<") && svg.contains(">goc, 3 clusters<"), "{svg}");
    desk.done("plot clusters uk.parquet goc.parquet --candidates a.csv -o g.svg --threads 2");
    assert_eq!(desk.bytes("f.svg"), desk.bytes("g.svg"));
    desk.done("plot clusters uk.parquet goc.parquet --candidates a.csv -o f.png --width 640");
    assert!(is_png(&desk.bytes("f.png"), 640));
    // Nothing else is left behind.
    assert_eq!(desk.files(), ["a.csv", "f.png", "f.svg", "g.svg", "goc.parquet", "h.csv", "uk.parquet"]);
}

#[test]
fn features_are_drawn_as_they_are_with_their_units() {
    let desk = Desk::new();
    let table = "# %ECSV 1.0\n# ---\n# delimiter: ','\n# datatype:\n# - {name: object, datatype: int64}\n\
        # - {name: Jr, unit: kpc km / s, datatype: float64}\n# - {name: Jz, unit: kpc km / s, datatype: float64}\n\
        # - {name: Jphi, unit: kpc km / s, datatype: float64}\n# - {name: truth, datatype: int64}\n\
        object,Jr,Jz,Jphi,truth\n1,10.0,20.0,-500.0,1\n1,11.0,22.0,-510.0,1\n2,110.0,2.0,50.0,2\n";
    desk.put("c.ecsv", table.as_bytes());
    desk.put("l.csv", b"object,label\n1,0\n2,-1\n");
    desk.done("plot clusters l.csv --candidates c.ecsv --axes Jphi,Jr --titles two<b> -o f.svg");
    let svg = desk.text("f.svg");
    assert!(svg.contains(">Jphi (kpc km / s)<") && svg.contains(">Jr (kpc km / s)<"), "{svg}");
    assert!(svg.contains(">two&lt;b&gt;<"), "{svg}");
    // One in a cluster, one that is noise; labels without features stand at the means of their sets.
    assert_eq!((svg.matches("class=\"cluster\"").count(), svg.matches("<use ").count()), (1, 2));
    desk.done("plot truth c.ecsv -o t.svg");
    assert!(desk.text("t.svg").contains(">true group 1<"));
    desk.done("plot truth c.ecsv c.ecsv --groups 2 -o t.png --width 400");
    assert!(is_png(&desk.bytes("t.png"), 400));
}

#[test]
fn chosen_candidates_are_drawn_of_what_goc_stars_writes() {
    let labels =
        "object,goc_label,Jr,goc_Jr,goc_Jz,goc_Jphi\n1,0,999,10,20,-500\n2,1,999,110,2,50\n3,,999,,,\n";
    let candidates = "object,Jr,Jz,Jphi\n1,10,20,-500\n1,30,22,-400\n2,110,2,50\n2,150,2,150\n";
    let desk = Desk::with(&[("c.csv", candidates), ("stars.csv", labels)]);
    // The same without a prefix, and without the candidates.
    desk.put("plain.csv", b"object,label,Jr,Jz,Jphi\n1,0,10,20,-500\n2,1,110,2,50\n");
    desk.put("bare.csv", b"object,label\n1,0\n2,1\n");
    let plot = |labels: &str| {
        let words = format!("plot clusters {labels}.csv --candidates c.csv --titles t -o {labels}.svg");
        (desk.done(&words).err, desk.text(&format!("{labels}.svg")))
    };
    let (said, stars) = plot("stars");
    assert_eq!(said, "figure in stars.svg\n");
    assert!(stars == plot("plain").1, "drawn elsewhere than without a prefix");
    let (said, bare) = plot("bare");
    assert_eq!(
        said,
        "bare.csv: no columns Jr, Jz, Jphi of chosen candidates; the mean of each set is drawn\nfigure in bare.svg\n"
    );
    assert!(stars != bare, "the means are drawn");
}

#[test]
fn one_object_far_out_does_not_squeeze_the_others() {
    let row = |i: usize| {
        format!("{i},{},{}\n", if i == 7 { 1e6 } else { i as f64 } + 0.5, 0.5 + ((i * i) % 97) as f64)
    };
    let candidates: String = (0..400).map(row).collect();
    let labels: String = (0..400).map(|i| format!("{i},{}\n", i % 2)).collect();
    let desk = Desk::with(&[
        ("c.csv", &format!("object,x,y\n{candidates}")),
        ("l.csv", &format!("object,label\n{labels}")),
    ]);
    for axes in ["--axes x,y", ""] {
        let run = desk.done(&format!("plot clusters l.csv --candidates c.csv {axes} -o f.svg"));
        let outside = "1 of 400 objects outside the limits; --whole shows all\n";
        assert!(run.err.contains(outside), "{axes}: {}", run.err);
        let run = desk.done(&format!("plot clusters l.csv --candidates c.csv {axes} --whole -o w.svg"));
        assert!(!run.err.contains("outside"), "{axes}: {}", run.err);
        assert_ne!(desk.bytes("f.svg"), desk.bytes("w.svg"), "{axes}");
    }
    desk.refused("plot truth c.csv --whole -o t.svg", 2, "error: plot truth does not use --whole");
}

#[test]
fn labels_are_not_drawn_as_candidates() {
    let desk = desk();
    desk.put("p.csv", b"object,x,y,label\n1,1,2,1\n2,2,3,1\n3,7,9,2\n");
    desk.refused(
        "plot truth goc.parquet -o t.svg",
        2,
        "error: goc.parquet: a table of labels (one row per object, column `label`), but plot truth draws candidates: \
         give the table that was clustered, or draw the labels with plot clusters",
    );
    // Points with a group of that name are drawn where it is requested.
    desk.done("plot truth p.csv --truth label --features x,y -o t.svg");
}

#[test]
fn what_the_marginal_mixture_writes_can_be_drawn() {
    let desk = Desk::with(&[("a.csv", &actions())]);
    desk.done(
        "cluster a.csv --method marginal --chains 2 --burn 20 --keep 30 -o l.csv --together t.csv --k-posterior k.csv",
    );
    desk.done("plot k-posterior k.csv -o k.svg");
    assert_eq!(desk.text("k.svg").matches("class=\"bar\"").count(), desk.table("k.csv").rows());
    desk.done("plot together t.csv --labels l.csv -o t.svg");
    assert!(desk.text("t.svg").contains("class=\"cells\""));
    desk.done("plot clusters l.csv --candidates a.csv --features sqrt(JR),sqrt(Jz),jphi -o c.svg");
    assert_eq!(desk.text("c.svg").matches("<use ").count(), 21);
}

#[test]
fn convergence_is_drawn_from_histories_and_from_what_reproduce_writes() {
    let desk = desk();
    desk.done("plot convergence h.csv -o h.svg");
    let rows = desk.table("h.csv").rows();
    let svg = desk.text("h.svg");
    assert_eq!(svg.matches("class=\"mean\"").count(), 3);
    let first = svg.lines().find(|line| line.contains("class=\"mean\"")).unwrap();
    let path = first.split('"').nth(1).unwrap();
    assert_eq!(path.matches(['M', 'L']).count(), rows);
    let head = "oracle,k0,set,seed,t,eta1,eta2,eta3\n";
    desk.put("c.csv", format!("{head}a,30,1,1,1,.5,.4,.9\na,30,1,1,2,1,0,1\nb,50,1,1,1,1,0,1\n").as_bytes());
    desk.refused("plot convergence c.csv -o c.svg", 2, "error: c.csv: choose with --oracle: a, b");
    desk.done("plot convergence c.csv --oracle a -o c.svg");
    assert!(desk.text("c.svg").contains(">K(0) = 30<"));
}

#[test]
fn benches_are_bars_or_lines() {
    let desk = Desk::with(&[
        ("bars.csv", "path,times_faster\nk-means,5.3\nk-medoids,14\n"),
        ("lines.csv", "series,n,seconds\nsweep,1000,.003\nsweep,10000,.17\nother,1000,.1\n"),
        ("cal.csv", "kind,said,came_true,count\ntogether,.1,.15,20\ntogether,.9,.8,50\nalone,.5,.5,3\n"),
    ]);
    desk.done("plot bench bars.csv -o b.svg");
    let svg = desk.text("b.svg");
    assert_eq!(svg.matches("class=\"bar\"").count(), 2);
    assert!(svg.contains(">times faster<") && svg.contains(">5.3<"), "{svg}");
    desk.done("plot bench lines.csv -o l.svg");
    assert_eq!(desk.text("l.svg").matches("<use ").count(), 3);
    desk.done("plot calibration cal.csv -o c.svg");
    assert_eq!(desk.text("c.svg").matches("class=\"bin\"").count(), 3);
}

#[test]
fn the_simulation_needs_no_input() {
    let desk = Desk::new();
    desk.done("plot simulation --seed 2 -o s.svg");
    desk.done("plot simulation --seed 2 -o again.svg --threads 1");
    assert_eq!(desk.bytes("s.svg"), desk.bytes("again.svg"));
    let svg = desk.text("s.svg");
    // Two dwarfs, three times, three planes, 200 stars each.
    let dots: usize =
        svg.lines().filter(|l| l.contains("class=\"dots\"")).map(|l| l.matches("h0").count()).sum();
    assert_eq!(dots, 2 * 3 * 3 * 200);
    desk.put("x.csv", b"a\n1\n");
    desk.refused(
        "plot simulation x.csv -o t.svg",
        2,
        "error: x.csv: plot simulation makes its own stars and takes no input; choose them with --seed",
    );
}

#[test]
fn what_cannot_be_drawn_is_refused_by_name() {
    let desk = desk();
    desk.put("k.csv", b"k,probability\n3,.5\n4,1.5\n");
    desk.put("nan.csv", b"object,label,JR,Jz,jphi\n100,0,1,2,nan\n");
    desk.put("short.csv", b"object,label\n100,0\n");
    desk.put("none.csv", b"path,value\n");
    desk.put("pairs.csv", b"object_a,object_b,probability\n100,99,.5\n");
    let cases: [(&str, i32, &str); 14] = [
        ("plot k-posterior k.csv -o f.pdf", 2, "f.pdf: a figure is written as .svg or .png"),
        ("plot k-posterior k.csv -o f", 2, "f: a figure is written as .svg or .png"),
        ("plot k-posterior k.csv -o no/f.svg", 1, "no/f.svg: there is no folder no; make it first"),
        (
            "plot k-posterior k.csv -o f.svg",
            1,
            "k.csv: row 2 (line 3), column `probability`: 1.5 is not from 0 to 1",
        ),
        ("plot k-posterior -o f.svg", 2, "plot k-posterior needs an input table"),
        ("plot k-posterior k.csv k.csv -o f.svg", 2, "plot k-posterior takes one input table, not 2"),
        ("plot k-posterior k.csv --labels k.csv -o f.svg", 2, "plot k-posterior does not use --labels"),
        ("plot truth a.csv --candidates a.csv -o f.svg", 2, "plot truth does not use --candidates"),
        (
            "plot truth a.csv --groups 77 -o f.svg",
            1,
            "a.csv: there is no true group 77; choose others with --groups",
        ),
        (
            "plot clusters goc.parquet -o f.svg",
            2,
            "plot clusters needs --candidates FILE, or --features with columns of the labels",
        ),
        ("plot clusters short.csv --candidates a.csv -o f.svg", 1, "short.csv: object 101 has no label"),
        (
            "plot together pairs.csv -o f.svg",
            2,
            "plot together needs --labels FILE: the label of each object",
        ),
        (
            "plot bench none.csv -o f.svg",
            1,
            "none.csv: a table of benchmarks has a column n, or a column of names; the table has path, value",
        ),
        (
            "plot clusters goc.parquet --candidates a.csv --axes JR -o f.svg",
            2,
            "--axes takes two features, not 1",
        ),
    ];
    for (words, code, message) in cases {
        desk.refused(words, code, &format!("error: {message}"));
    }
    let run = desk.goc("plot together pairs.csv --labels goc.parquet -o f.svg");
    assert!(run.err.contains("pairs.csv: row 1") && run.err.contains("`object_b`: 99"), "{}", run.err);
    let run = desk.goc("plot clusters nan.csv --candidates a.csv -o f.svg");
    assert!(run.err.contains("nan.csv: row 1") && run.err.contains("`jphi`"), "{}", run.err);
    let run = desk.goc("plot convergence k.csv -o f.svg");
    assert!(run.code == 2 && run.err.contains("objective"), "{}", run.err);
}
