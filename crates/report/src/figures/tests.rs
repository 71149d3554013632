//! What every figure promises: the numbers that were given, text as text, the same bytes twice, and
//! no panic on poor input.

use resvg::usvg::{Node, Tree};

use super::*;

/// One of each, small.
fn all() -> Vec<(&'static str, Figure)> {
    let spiral = |n: usize, turn: f64| -> Vec<[f64; 2]> {
        (0..n)
            .map(|i| i as f64 / n as f64)
            .map(|t| [turn + 3.0 * t, (9.0 * t + turn).sin() * (1.0 + t)])
            .collect()
    };
    let labels: Vec<Option<u32>> = (0..40).map(|i| (i % 9 > 0).then_some(i / 8)).collect();
    let panel = |title: &str, turn: f64| ClusterPanel {
        title: title.into(),
        points: spiral(40, turn),
        labels: labels.clone(),
    };
    let plane = Plane { names: ["PC 1".into(), "PC 2".into()], equal: true };
    let units = Plane { names: ["Jphi (kpc km/s)".into(), "vx (km/s)".into()], equal: false };
    let groups = (0..300).map(|i| (i % 3 > 0).then_some(i % 2)).collect();
    let truths = TruthPanel { title: "instance 1".into(), points: spiral(300, 0.0), groups };
    let run = |end: usize| (0..end).map(|t| 1.0 / (t + 1) as f64).map(|v| [1.0 - v, v, 1.0 + v]).collect();
    let runs = |k: usize| Runs { name: format!("K(0) = {k}"), runs: vec![run(k / 10), run(9)] };
    let snapshot = |time: f64| Snapshot {
        time,
        positions: spiral(20, time),
        velocities: spiral(20, 2.0 * time),
        actions: spiral(20, 1000.0),
    };
    let dwarf = |name: &str| Dwarf { name: name.into(), snapshots: [0.0, 3.0, 10.0].map(snapshot).to_vec() };
    let bins = (0..10).map(|b| f64::from(b) / 10.0).map(|p| [p, p * p, 1.0 + 100.0 * p]).collect::<Vec<_>>();
    let kind = |name: &str| Calibration { name: name.into(), bins: bins.clone() };
    let pairs: Vec<Pair> = (0..39).map(|i| Pair { a: i, b: i + 1, probability: i as f64 / 39.0 }).collect();
    let wide: Vec<Option<i64>> = labels.iter().map(|label| label.map(i64::from)).collect();
    let quantity = |quantity: &str| Bars { quantity: quantity.into(), values: vec![5.3, 0.7, 198.0] };
    let names = ["k-means".into(), "a name that is far too long for a picture ".repeat(4), "x".into()];
    let line = |name: &str, power: f64| Line {
        name: name.into(),
        points: [1e3_f64, 3e3, 1e4].map(|n| [n, 1e-6 * n.powf(power)]).to_vec(),
    };
    vec![
        ("clusters", clusters(&spiral(500, 0.5), &[panel("one", 0.0), panel("two", 0.3)], &plane).unwrap()),
        ("clusters in units", clusters(&[], &[panel("one", 0.0)], &units).unwrap()),
        ("truth", truth(std::slice::from_ref(&truths), &["1".into(), "2".into()], &plane).unwrap()),
        (
            "three truths",
            truth(&[truths.clone(), truths.clone(), truths], &["1".into(), "2".into()], &plane).unwrap(),
        ),
        ("convergence", convergence("k-means", &[runs(30), runs(50), runs(70)]).unwrap()),
        ("history", history("", &[runs(50)]).unwrap()),
        ("simulation", simulation(&[dwarf("A"), dwarf("B")]).unwrap()),
        ("bars", bars(&names, &[quantity("times faster")]).unwrap()),
        ("two bars", bars(&names, &[quantity("times faster"), quantity("looks saved")]).unwrap()),
        ("scaling", scaling(&[line("a", 1.0), line("b", 1.5)], ["n", "seconds"]).unwrap()),
        ("calibration", calibration(&[kind("together"), kind("membership"), kind("alone")]).unwrap()),
        ("k posterior", k_posterior(&[(47, 0.2), (48, 0.5), (50, 0.3)]).unwrap()),
        ("together", together(&wide, &pairs).unwrap()),
    ]
}

fn texts_of<'t>(node: &'t Node, found: &mut Vec<&'t resvg::usvg::Text>) {
    match node {
        Node::Group(group) => group.children().iter().for_each(|child| texts_of(child, found)),
        Node::Text(text) => found.push(text),
        _ => {}
    }
}

/// Every line of text with its box: left, top, right, bottom.
fn boxes(tree: &Tree) -> Vec<(String, [f32; 4])> {
    let mut found = Vec::new();
    tree.root().children().iter().for_each(|child| texts_of(child, &mut found));
    let of = |text: &resvg::usvg::Text| {
        let b = text.abs_bounding_box();
        let words: String = text.chunks().iter().map(|chunk| chunk.text().to_string()).collect();
        (words, [b.left(), b.top(), b.right(), b.bottom()])
    };
    found.into_iter().map(of).collect()
}

/// Knuth's congruential numbers in [0, 1).
pub(super) fn congruential(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[test]
fn no_text_touches_another_or_leaves_the_page() {
    for (name, figure) in all() {
        let tree = png::tree(figure.svg()).unwrap();
        let boxes = boxes(&tree);
        assert!(boxes.len() > 5, "{name}: {} texts", boxes.len());
        for (i, (a, p)) in boxes.iter().enumerate() {
            let (w, h) = (tree.size().width(), tree.size().height());
            // The SVG is shown at twice its units; its tree is measured in those.
            assert!(p[0] >= 0.0 && p[1] >= 0.0 && p[2] <= w && p[3] <= h, "{name}: {a} {p:?} {w} {h}");
            for (b, q) in &boxes[..i] {
                let apart = p[2] <= q[0] || q[2] <= p[0] || p[3] <= q[1] || q[3] <= p[1];
                assert!(apart, "{name}: `{a}` {p:?} and `{b}` {q:?}");
            }
        }
    }
}

#[test]
fn the_same_numbers_give_the_same_bytes() {
    for ((name, a), (_, b)) in all().into_iter().zip(all()) {
        assert_eq!(a, b, "{name}");
        assert_eq!(a.png(300).unwrap(), b.png(300).unwrap(), "{name}");
    }
}

#[test]
fn a_png_has_the_size_asked_for_and_something_in_it() {
    for (name, figure) in all() {
        let bytes = figure.png(400).unwrap();
        let pixels = resvg::tiny_skia::Pixmap::decode_png(&bytes).unwrap();
        assert_eq!(pixels.width(), 400, "{name}");
        let dark = pixels.pixels().iter().filter(|p| p.red() < 128).count();
        assert!(dark > 300, "{name}: {dark} dark pixels");
    }
    let figure = k_posterior(&[(1, 1.0)]).unwrap();
    for width in [0, 15, 8193] {
        assert_eq!(figure.png(width), Err(FigureError::Width { width }));
    }
}

#[test]
fn no_letter_is_smaller_than_eleven_pixels_at_400() {
    for (name, figure) in all() {
        for size in figure.svg().split("font-size=\"").skip(1) {
            let size: f64 = size.split('"').next().unwrap().parse().unwrap();
            assert!(size >= FONT, "{name}: {size}");
        }
        assert!(figure.svg().contains(&format!("viewBox=\"0 0 {WIDTH} ")), "{name}");
    }
}

/// The numbers of attributes in tags of one kind.
fn attributes(svg: &str, tag: &str, names: &[&str]) -> Vec<Vec<f64>> {
    svg.split(&format!("<{tag} "))
        .skip(1)
        .map(|rest| {
            let rest = rest.split('>').next().unwrap();
            let value = |name: &&str| {
                let from = rest.find(&format!("{name}=\"")).unwrap() + name.len() + 2;
                rest[from..].split('"').next().unwrap().parse().unwrap()
            };
            names.iter().map(value).collect()
        })
        .collect()
}

#[test]
fn a_mark_a_point_and_every_member_in_a_circle_of_its_cluster() {
    let points: Vec<[f64; 2]> =
        (0..60).map(|i| [f64::from(i * 37 % 61), f64::from(i * 17 % 53) * 0.3]).collect();
    let labels: Vec<Option<u32>> = (0..60).map(|i| (i % 7 > 0).then_some(i % 4)).collect();
    let panel = ClusterPanel { title: "t".into(), points, labels: labels.clone() };
    for equal in [true, false] {
        let plane = Plane { names: ["x".into(), "y".into()], equal };
        let figure = clusters(&[], std::slice::from_ref(&panel), &plane).unwrap();
        let groups: Vec<&str> = figure.svg().split("class=\"points\"").skip(1).collect();
        let circles = attributes(figure.svg(), "circle", &["cx", "cy", "r"]);
        assert_eq!((groups.len(), circles.len()), (5, 4));
        // Noise first, then the clusters in the order of their circles.
        let count = |wanted: Option<u32>| labels.iter().filter(|label| **label == wanted).count();
        assert_eq!(attributes(groups[0].split("</g>").next().unwrap(), "use", &["x"]).len(), count(None));
        let mut frame = attributes(figure.svg(), "rect", &["width", "height"]);
        let frame = frame.pop().unwrap();
        for (k, circle) in circles.iter().enumerate() {
            let marks = attributes(groups[k + 1].split("</g>").next().unwrap(), "use", &["x", "y"]);
            assert_eq!(marks.len(), count(Some(k as u32)));
            for mark in marks {
                let distance = (mark[0] - circle[0]).hypot(mark[1] - circle[1]);
                assert!(distance <= circle[2], "{mark:?} {circle:?}");
            }
            assert!(circle[2] * 2.0 < frame[0] && circle[2] * 2.0 < frame[1], "{circle:?} {frame:?}");
        }
    }
}

#[test]
fn distances_are_the_same_in_both_directions_where_geometry_is_shown() {
    let corners = vec![[0.0, 0.0], [10.0, 0.0], [0.0, 2.0], [10.0, 2.0]];
    let panel = ClusterPanel { title: String::new(), points: corners, labels: vec![None; 4] };
    let plane = Plane { names: ["x".into(), "y".into()], equal: true };
    let figure = clusters(&[], &[panel], &plane).unwrap();
    let at = attributes(figure.svg(), "use", &["x", "y"]);
    let (across, up) = (at[1][0] - at[0][0], at[0][1] - at[2][1]);
    assert!((across / 10.0 - up / 2.0).abs() < 0.01, "{across} {up}");
}

#[test]
fn bars_and_discs_have_the_values_that_were_given() {
    let posterior = [(3, 0.1), (4, 0.6), (6, 0.3)];
    let figure = k_posterior(&posterior).unwrap();
    let bars: Vec<&str> = figure.svg().lines().filter(|line| line.contains("class=\"bar\"")).collect();
    let bars = attributes(&bars.join("\n"), "rect", &["x", "height"]);
    assert_eq!(bars.len(), 3);
    for ((k, p), bar) in posterior.iter().zip(&bars) {
        assert!((bar[1] / bars[1][1] - p / 0.6).abs() < 1e-3);
        let step = (bars[1][0] - bars[0][0]) * (*k as f64 - 3.0);
        assert!((bar[0] - bars[0][0] - step).abs() < 0.05);
    }
    let kinds =
        [Calibration { name: "a".into(), bins: vec![[0.0, 0.0, 1.0], [0.5, 0.25, 4.0], [1.0, 1.0, 0.0]] }];
    let figure = calibration(&kinds).unwrap();
    let at = attributes(figure.svg(), "circle", &["cx", "cy"]);
    let part = |c: usize| (at[1][c] - at[0][c]) / (at[2][c] - at[0][c]);
    assert!((part(0) - 0.5).abs() < 1e-3 && (part(1) - 0.25).abs() < 1e-3);
    assert!(figure.svg().contains("error 0.200"));
}

#[test]
fn the_matrix_has_the_area_of_its_probabilities() {
    // Two clusters of 3 and 2, all sure: cells cover 9 + 4 of 25.
    let labels = [Some(7), Some(2), Some(7), Some(2), Some(7)];
    let sure = |a, b| Pair { a, b, probability: 1.0 };
    let figure = together(&labels, &[sure(0, 2), sure(4, 0), sure(2, 4), sure(3, 1)]).unwrap();
    let frame = attributes(figure.svg(), "rect", &["width"]).pop().unwrap()[0];
    let cells = figure.svg().lines().find(|line| line.contains("class=\"cells\"")).unwrap();
    let mut area = 0.0;
    for piece in cells.split('h').filter(|piece| piece.contains('v')) {
        let (w, rest) = piece.split_once('v').unwrap();
        area += w.parse::<f64>().unwrap() * rest.parse::<f64>().unwrap();
    }
    assert!((area / (frame * frame) - 13.0 / 25.0).abs() < 1e-3, "{area} {frame}");
    assert_eq!(cells.matches('M').count(), 5);
}

#[test]
fn every_star_of_the_simulation_is_drawn_at_every_time() {
    let (_, figure) = all().into_iter().find(|(name, _)| *name == "simulation").unwrap();
    let dots: usize = figure
        .svg()
        .lines()
        .filter(|line| line.contains("class=\"dots\""))
        .map(|line| line.matches("h0").count())
        .sum();
    assert_eq!(dots, 2 * 3 * 3 * 20);
}

#[test]
fn text_from_data_stays_text() {
    let nasty = "<script>alert(\"1\")</script> & 'x' \u{7}";
    let labels = vec![Some(0); 2];
    let panel = ClusterPanel { title: nasty.into(), points: vec![[0.0, 0.0], [1.0, 1.0]], labels };
    let plane = Plane { names: [nasty.into(), nasty.into()], equal: true };
    let figures = [
        clusters(&[], &[panel], &plane).unwrap(),
        bars(&[nasty.into()], &[Bars { quantity: nasty.into(), values: vec![2.0] }]).unwrap(),
        convergence(nasty, &[Runs { name: nasty.into(), runs: vec![vec![[1.0; 3]; 3]] }]).unwrap(),
        calibration(&[Calibration { name: nasty.into(), bins: vec![[0.5, 0.5, 3.0]] }]).unwrap(),
    ];
    for figure in figures {
        assert!(!figure.svg().contains("<script"), "{}", figure.svg());
        let tree = png::tree(figure.svg()).unwrap();
        assert!(boxes(&tree).iter().any(|(text, _)| text.contains("<scri")), "{}", figure.svg());
    }
}

#[test]
fn poor_input_is_drawn_or_refused_but_never_panics() {
    let plane = Plane { names: ["x".into(), "y".into()], equal: true };
    let panel = |points: Vec<[f64; 2]>| {
        let labels = vec![Some(0); points.len()];
        ClusterPanel { title: String::new(), points, labels }
    };
    assert_eq!(clusters(&[], &[], &plane), Err(FigureError::Empty { what: "points" }));
    assert_eq!(clusters(&[], &[panel(vec![])], &plane), Err(FigureError::Empty { what: "points" }));
    for points in
        [vec![[1.0, 2.0]], vec![[0.0; 2]; 50], vec![[1e99, -1e99], [-1e99, 1e99]], vec![[1e-300, 0.0]; 2]]
    {
        for equal in [true, false] {
            let figure =
                clusters(&points, &[panel(points.clone())], &Plane { equal, ..plane.clone() }).unwrap();
            figure.png(200).unwrap();
            assert!(!figure.svg().contains("NaN") && !figure.svg().contains("inf"), "{}", figure.svg());
        }
    }
    let error = clusters(&[], &[panel(vec![[0.0, f64::NAN]])], &plane).unwrap_err();
    assert_eq!(error.to_string(), "point 0: NaN is not a finite number and cannot be drawn");
    let error = clusters(&[], &[panel(vec![[0.0; 2], [-1e300, 0.0]])], &plane).unwrap_err();
    assert!(matches!(error, FigureError::Range { index: 1, .. }), "{error}");
    assert!(clusters(&[[f64::INFINITY, 0.0]], &[panel(vec![[0.0; 2]])], &plane).is_err());
    assert!(
        k_posterior(&[]).is_err()
            && k_posterior(&[(3, 1.5)]).is_err()
            && k_posterior(&[(3, f64::NAN)]).is_err()
    );
    assert!(k_posterior(&[(0, 0.0)]).is_ok());
    assert!(calibration(&[]).is_err());
    assert!(calibration(&[Calibration { name: "a".into(), bins: vec![[0.5, 2.0, 1.0]] }]).is_err());
    assert!(
        convergence("", &[]).is_err()
            && convergence("", &[Runs { name: "a".into(), runs: vec![vec![]] }]).is_err()
    );
    assert!(convergence("", &[Runs { name: "a".into(), runs: vec![vec![[1.0; 3]]] }]).is_ok());
    assert!(simulation(&[]).is_err());
    assert!(bars(&[], &[]).is_err());
    assert!(bars(&["a".into()], &[Bars { quantity: "q".into(), values: vec![0.0] }]).is_err());
    assert!(scaling(&[Line { name: "a".into(), points: vec![[1.0, 1.0]] }], ["n", "s"]).is_ok());
    assert!(scaling(&[Line { name: "a".into(), points: vec![[0.0, 1.0]] }], ["n", "s"]).is_err());
    assert!(together(&[], &[]).is_err() && together(&[None], &[]).is_ok());
    assert!(together(&[None], &[Pair { a: 0, b: 1, probability: 0.5 }]).is_err());
    let groups = vec![Some(4)];
    let outside = TruthPanel { title: String::new(), points: vec![[0.0; 2]], groups };
    let error = truth(&[outside], &["a".into()], &plane).unwrap_err();
    assert_eq!(error.to_string(), "group 0: 4 is not one of the names");
}

#[test]
fn large_figures_stay_below_two_megabytes() {
    let mut draw = congruential(3);
    let cloud: Vec<[f64; 2]> = (0..505_000).map(|_| [draw(), draw()]).collect();
    let panel = ClusterPanel {
        title: String::new(),
        points: cloud[..5000].to_vec(),
        labels: (0..5000).map(|i| Some(i / 100)).collect(),
    };
    let plane = Plane { names: ["x".into(), "y".into()], equal: true };
    let figure = clusters(&cloud, std::slice::from_ref(&panel), &plane).unwrap();
    assert!(figure.svg().len() < 2_000_000, "{}", figure.svg().len());
    let labels: Vec<Option<i64>> = (0..5000).map(|i| Some(i / 50)).collect();
    let pairs: Vec<Pair> = (0..400_000)
        .map(|_| Pair { a: (draw() * 5000.0) as usize, b: (draw() * 5000.0) as usize, probability: draw() })
        .collect();
    let figure = together(&labels, &pairs).unwrap();
    assert!(figure.svg().len() < 2_000_000, "{}", figure.svg().len());
}
