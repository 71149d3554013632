//! The file itself: markup, style and script from `assets/page/`, and the data as JSON.
//!
//! The data are never written as markup. They are in a data block (`<script
//! type="application/json">`), where `<`, `>` and `&` are written as JSON escapes, so that no text
//! can end the block; the script displays them as text only. Should both fail, the content security
//! policy only lets the browser run the one script whose digest is in the page's head, and prevents
//! it from fetching anything.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::clusters::{Cluster, clusters, confusion};
use super::input::{NOISE, PARTNERS, Page, PageError, SkyFrame};
use super::pack::{of_f64, of_i32, of_u16, of_u32, quantise};
use super::principal::principal;
use crate::colours::{GREY, Mark, look};

const MARKUP: &str = include_str!("../../assets/page/page.html");
const STYLE: &str = include_str!("../../assets/page/page.css");

/// The parts of the script in the order in which they are joined; each may use those before it.
const SCRIPTS: [&str; 11] = [
    include_str!("../../assets/page/text.js"),
    include_str!("../../assets/page/data.js"),
    include_str!("../../assets/page/marks.js"),
    include_str!("../../assets/page/axes.js"),
    include_str!("../../assets/page/state.js"),
    include_str!("../../assets/page/paint.js"),
    include_str!("../../assets/page/view.js"),
    include_str!("../../assets/page/star.js"),
    include_str!("../../assets/page/table.js"),
    include_str!("../../assets/page/run.js"),
    include_str!("../../assets/page/main.js"),
];

impl Page {
    /// The page as one HTML file that needs nothing else. The same page gives the same bytes.
    pub fn html(&self) -> Result<String, PageError> {
        let script = format!("\"use strict\";\n(() => {{\n{}}})();\n", SCRIPTS.concat());
        let allowed = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
        let policy = format!(
            "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
            allowed(&script),
            allowed(STYLE)
        );
        let told = block(&self.told()?);
        let parts = [
            ("{{policy}}", policy.as_str()),
            ("{{style}}", STYLE),
            ("{{data}}", told.as_str()),
            ("{{candidates}}", &self.packed_candidates()),
            ("{{script}}", script.as_str()),
        ];
        // One pass from left to right: inserted text is never searched for the next mark.
        let mut html = String::with_capacity(MARKUP.len() + parts.iter().map(|p| p.1.len()).sum::<usize>());
        let mut rest = MARKUP;
        for (mark, text) in parts {
            let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
            html.push_str(before);
            html.push_str(text);
            rest = after;
        }
        html.push_str(rest);
        Ok(html)
    }

    /// Everything but the candidates' numbers.
    fn told(&self) -> Result<Value, PageError> {
        let found = clusters(self);
        let confusion = confusion(self, &found)?;
        let label = |label: Option<u32>| label.map_or(NOISE, |label| label.min(i32::MAX as u32) as i32);
        let labels: Vec<i32> = self.labels.iter().map(|l| label(*l)).collect();
        let slices: Vec<&[f64]> = self.features.iter().map(|f| f.values.as_slice()).collect();
        let features: Vec<Value> = self
            .features
            .iter()
            .map(|f| json!({ "name": f.name, "unit": f.unit, "values": of_f64(&f.values) }))
            .collect();
        let extras: Vec<Value> = self
            .extras
            .iter()
            .map(|e| json!({ "name": e.name, "description": e.description, "values": of_f64(&e.values) }))
            .collect();
        let cluster_extras: Vec<Value> = self
            .cluster_extras
            .iter()
            .map(|(e, by_label)| {
                let value =
                    |c: &Cluster| c.label.and_then(|l| by_label.get(&l)).copied().filter(|v| v.is_finite());
                let values: Vec<Value> = found.iter().map(|c| json!(value(c))).collect();
                json!({ "name": e.name, "description": e.description, "values": values })
            })
            .collect();
        let rows: Vec<Value> = found
            .iter()
            .map(|c| {
                let (colour, mark) = c.label.map_or((GREY, Mark::Disc), |l| look(l as usize));
                json!({
                    "label": label(c.label), "size": c.size, "colour": colour, "mark": name_of(mark),
                    "centre": c.centre, "spread": c.spread,
                    "probability": Some(c.probability).filter(|p| p.is_finite()),
                })
            })
            .collect();
        let history: Vec<Value> = self
            .history
            .iter()
            .map(|s| json!([s.k, Some(s.objective).filter(|v| v.is_finite()), s.changed]))
            .collect();
        Ok(json!({
            "version": env!("CARGO_PKG_VERSION"),
            "title": self.title,
            "ids": self.ids,
            "labels": of_i32(&labels),
            "features": features,
            "probability": self.probability.as_ref().map(of_f64),
            "runnerUp": self.runner_up.as_ref().map(|(labels, p)| json!({
                "labels": of_i32(&labels.iter().map(|l| label(*l)).collect::<Vec<_>>()),
                "probability": of_f64(p),
            })),
            "extras": extras,
            "clusters": rows,
            "clusterExtras": cluster_extras,
            "truth": confusion.map(|c| json!({
                "groups": c.groups,
                "of": of_i32(&c.group_of.iter().map(|g| label(*g)).collect::<Vec<_>>()),
                "judged": c.judged,
                "cells": c.cells,
                "scores": [
                    ["NMI", c.scores.nmi], ["F", c.scores.f], ["ARI", c.scores.ari], ["AMI", c.scores.ami],
                    ["purity", c.scores.purity],
                ],
            })),
            "principal": principal(&slices).map(|p| json!({
                "mean": p.mean, "scale": p.scale, "axes": p.axes, "share": p.share,
            })),
            "sky": self.sky.as_ref().map(|sky| json!({
                "frame": match sky.frame {
                    SkyFrame::Galactic => "galactic",
                    SkyFrame::Equatorial => "equatorial",
                },
                "longitude": of_f64(&sky.longitude),
                "latitude": of_f64(&sky.latitude),
            })),
            "sets": self.sets.as_ref().map(|sets| {
                let count = |&i: &usize| sets.candidates.count(i) as u32;
                let ranges: Vec<[f64; 2]> = (0..self.features.len())
                    .map(|f| quantise(&sets.candidates, &sets.objects, f))
                    .map(|packed| [packed.least, packed.step])
                    .collect();
                json!({
                    "counts": of_u32(&sets.objects.iter().map(count).collect::<Vec<_>>()),
                    "ranges": ranges,
                    "chosen": sets.chosen.as_ref().map(|chosen| of_u32(chosen)),
                })
            }),
            "together": self.together.as_ref().map(|lists| {
                let counts: Vec<u32> = lists.iter().map(|list| list.len() as u32).collect();
                let all = || lists.iter().flatten();
                json!({
                    "most": PARTNERS,
                    "counts": of_u32(&counts),
                    "partners": of_u32(&all().map(|pair| pair.0).collect::<Vec<_>>()),
                    // Drawn as line widths and stated in percent: 16 bits are plenty.
                    "probability": of_u16(&all().map(|pair| (pair.1 * 65535.0).round() as u16).collect::<Vec<_>>()),
                })
            }),
            "history": history,
            "facts": self.facts,
            "remarks": self.remarks,
            "leftOut": self.left_out,
        }))
    }

    /// The candidates' codes, feature by feature.
    fn packed_candidates(&self) -> String {
        let Some(sets) = &self.sets else { return String::new() };
        let codes: Vec<u16> = (0..self.features.len())
            .flat_map(|f| quantise(&sets.candidates, &sets.objects, f).codes)
            .collect();
        of_u16(&codes)
    }
}

/// The script's names of the shapes.
fn name_of(mark: Mark) -> &'static str {
    match mark {
        Mark::Disc => "disc",
        Mark::Square => "square",
        Mark::Up => "up",
        Mark::Diamond => "diamond",
        Mark::Down => "down",
        Mark::Plus => "plus",
        Mark::Cross => "cross",
    }
}

/// JSON that may stand within a data block: no character in it can be taken for markup or for the end of a
/// line.
fn block(value: &Value) -> String {
    let plain = value.to_string();
    let mut safe = String::with_capacity(plain.len());
    for c in plain.chars() {
        match c {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::super::input::{AngleUnit, Extra, Feature, Step};
    use super::*;
    use goc::candidates::CandidatesBuilder;
    use goc::{Candidates, Ids};

    const NASTY: [&str; 5] = [
        "</script><script>alert(1)</script>",
        "<!--<script>",
        "\"quoted\", 'so' & so",
        "a\u{2028}b\u{2029}c",
        "{{script}}",
    ];

    fn feature(name: &str, values: &[f64]) -> Feature {
        Feature { name: name.into(), unit: Some("kpc km/s".into()), values: values.to_vec() }
    }

    fn page(ids: &[&str]) -> Page {
        let n = ids.len();
        let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let y: Vec<f64> = x.iter().map(|x| x * x).collect();
        let labels = (0..n).map(|i| (i > 0).then_some(i as u32 % 2)).collect();
        let ids = ids.iter().map(|id| (*id).to_string()).collect();
        Page::new(ids, labels, vec![feature("x", &x), feature("y", &y)]).unwrap()
    }

    fn sets(ids: &[&str]) -> Candidates {
        let mut builder = CandidatesBuilder::new(2);
        for (i, _) in ids.iter().enumerate() {
            let i = i as f64;
            builder.push(&[i - 1.0, i * i, i + 1.0, i * i + 2.0], &[]).unwrap();
        }
        builder.build_with(Ids::Text(ids.iter().map(|id| (*id).to_string()).collect())).unwrap()
    }

    /// The JSON of the page, read back.
    fn read(html: &str) -> Value {
        let (_, rest) = html.split_once("<script type=\"application/json\" id=\"goc-data\">").unwrap();
        serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
    }

    #[test]
    fn text_of_the_data_never_becomes_markup() {
        let page = page(&NASTY)
            .title(NASTY[0])
            .remark(NASTY[1])
            .facts(NASTY[0], vec![(NASTY[2].into(), NASTY[0].into())]);
        let page = page.truth(NASTY.map(String::from).to_vec()).unwrap();
        let page = page.left_out(vec![(NASTY[0].into(), NASTY[1].into())]);
        let html = page.html().unwrap();
        let plain = self::page(&["a", "b", "c", "d", "e"]).html().unwrap();
        // As many tags, comments and ends of script as in a page of harmless names.
        for mark in ["<script", "</script", "<!--", "\u{2028}", "\u{2029}"] {
            assert_eq!(html.matches(mark).count(), plain.matches(mark).count(), "{mark}");
        }
        let json = read(&html);
        assert_eq!(json["ids"], json!(NASTY));
        assert_eq!(json["title"], json!(NASTY[0]));
    }

    #[test]
    fn the_policy_names_the_digests_of_the_one_style_and_the_one_script() {
        let html = page(&["a", "b"]).html().unwrap();
        let between =
            |from: &str, to: &str| html.split_once(from).unwrap().1.split_once(to).unwrap().0.to_string();
        for text in [between("<style>", "</style>"), between("<script>", "</script>")] {
            let hash = STANDARD.encode(Sha256::digest(text));
            assert_eq!(html.matches(&format!("'sha256-{hash}'")).count(), 1);
        }
        assert!(html.contains("default-src 'none'"));
        // Nothing that could be fetched.
        for mark in ["http:", "https:", " src=", " href=", "url(", "@import"] {
            assert!(!html.contains(mark), "{mark}");
        }
    }

    #[test]
    fn the_same_page_has_the_same_bytes() {
        let ids = ["a", "b", "c"];
        let make = || {
            page(&ids)
                .candidates(sets(&ids), Some(vec![0, 1, 0]))
                .unwrap()
                .cluster_extra("stability", "", [(0, 0.5), (1, 0.25)])
                .sky(
                    SkyFrame::Galactic,
                    AngleUnit::Degrees,
                    vec![10.0, 350.0, f64::NAN],
                    vec![0.0, 90.0, -90.0],
                )
                .unwrap()
                .html()
                .unwrap()
        };
        assert_eq!(make(), make());
    }

    #[test]
    fn candidates_are_found_by_name_and_come_back_within_half_a_step() {
        // The candidates stand in another order and hold one object more.
        let page =
            page(&["a", "b", "c"]).candidates(sets(&["c", "x", "b", "a"]), Some(vec![1, 0, 1])).unwrap();
        let html = page.html().unwrap();
        let json = read(&html);
        let (_, rest) = html.split_once("id=\"goc-candidates\">").unwrap();
        let bytes = STANDARD.decode(rest.split_once("</script>").unwrap().0.trim()).unwrap();
        let codes: Vec<f64> =
            bytes.chunks_exact(2).map(|b| f64::from(u16::from_le_bytes([b[0], b[1]]))).collect();
        let want = [[2.0, 4.0, 1.0, 3.0, -1.0, 1.0], [9.0, 11.0, 4.0, 6.0, 0.0, 2.0]];
        for (f, want) in want.iter().enumerate() {
            let range = &json["sets"]["ranges"][f];
            let (least, step) = (range[0].as_f64().unwrap(), range[1].as_f64().unwrap());
            for (at, want) in want.iter().enumerate() {
                let got = least + step * codes[f * 6 + at];
                assert!((got - want).abs() <= step / 2.0 + 1e-12, "{f} {at}: {got} {want}");
            }
        }
    }

    #[test]
    fn partners_are_the_likeliest_of_each_object() {
        let ids: Vec<String> = (0..40).map(|i| i.to_string()).collect();
        let names: Vec<&str> = ids.iter().map(String::as_str).collect();
        let pairs: Vec<(usize, usize, f64)> = (1..40).map(|j| (0, j, j as f64 / 40.0)).collect();
        let json = read(&page(&names).together(&pairs).unwrap().html().unwrap());
        let counts = STANDARD.decode(json["together"]["counts"].as_str().unwrap()).unwrap();
        assert_eq!(counts[..8], [PARTNERS as u8, 0, 0, 0, 1, 0, 0, 0]);
        let partners = STANDARD.decode(json["together"]["partners"].as_str().unwrap()).unwrap();
        assert_eq!(partners[..8], [39, 0, 0, 0, 38, 0, 0, 0]);
    }

    #[test]
    fn what_is_not_given_is_not_there() {
        let json = read(&page(&["a", "b"]).html().unwrap());
        for key in ["probability", "runnerUp", "truth", "sky", "sets", "together"] {
            assert!(json[key].is_null(), "{key}");
        }
        let json = read(&page(&["a", "b"]).truth(vec![String::new(); 2]).unwrap().html().unwrap());
        assert!(json["truth"].is_null());
    }

    #[test]
    fn one_object_one_feature_and_noise_alone_make_a_page() {
        let one = Page::new(vec!["a".into()], vec![None], vec![feature("x", &[2.0])]).unwrap();
        let json = read(&one.html().unwrap());
        assert!(json["principal"].is_null());
        assert_eq!(json["clusters"][0]["label"], json!(-1));
        assert_eq!(json["clusters"][0]["colour"], json!(GREY));
    }

    #[test]
    fn what_cannot_be_shown_is_refused_by_name() {
        let refused = |result: Result<Page, PageError>, message: &str| {
            assert_eq!(result.map(|_| ()).unwrap_err().to_string(), message);
        };
        let x = || vec![feature("x", &[1.0, 2.0])];
        let ids = |names: &[&str]| names.iter().map(|n| (*n).to_string()).collect::<Vec<_>>();
        refused(
            Page::new(vec![], vec![], x()),
            "there are no objects; give a label table with at least one row",
        );
        refused(
            Page::new(ids(&["a", "b"]), vec![None; 2], vec![]),
            "there are no features; name the columns that hold the objects' places",
        );
        refused(
            Page::new(ids(&["a", "a"]), vec![None; 2], x()),
            "object a occurs twice; each needs a name of its own",
        );
        refused(
            Page::new(ids(&["a", "b"]), vec![None], x()),
            "the list of labels has 1 entries for 2 objects; give one per object",
        );
        refused(
            Page::new(ids(&["a", "b"]), vec![None; 2], vec![feature("x", &[1.0, f64::NAN])]),
            "feature x of object b: NaN cannot be drawn; fix it or drop the object",
        );
        refused(
            Page::new(ids(&["a", "b"]), vec![None; 2], [x(), x()].concat()),
            "feature x occurs twice; each needs a name of its own",
        );
        let page = || page(&["a", "b"]);
        refused(page().probability(vec![0.5, 1.5]), "probability of object b: 1.5 is not between 0 and 1");
        refused(
            page().candidates(sets(&["a"]), None),
            "object b has no candidates; give the candidates that were clustered",
        );
        refused(
            page().candidates(sets(&["a", "b"]), Some(vec![0, 2])),
            "object b has 2 candidates, but number 2 (from 0) is said to be chosen; give the candidates that were clustered",
        );
        refused(
            page()
                .candidates(Candidates::from_points(&goc::Points::new(vec![1.0], 1).unwrap()).unwrap(), None),
            "the candidates have 1 features, the labels 2; give the candidates that were clustered",
        );
        refused(
            page().sky(SkyFrame::Galactic, AngleUnit::Radians, vec![0.0; 2], vec![0.0, 2.0]),
            "latitude of object b: 2 is beyond a pole; check the unit (degrees or radians) and the column",
        );
        refused(
            page().together(&[(0, 5, 0.5)]),
            "the list of pairs has 6 entries for 2 objects; give one per object",
        );
        refused(
            page().extra(Extra { name: "alone".into(), description: String::new(), values: vec![] }),
            "alone has 0 entries for 2 objects; give one per object",
        );
    }

    #[test]
    fn history_keeps_its_order() {
        let steps =
            vec![Step { k: 5, objective: 2.5, changed: 10 }, Step { k: 4, objective: f64::NAN, changed: 0 }];
        let json = read(&page(&["a", "b"]).history(steps).html().unwrap());
        assert_eq!(json["history"], json!([[5, 2.5, 10], [4, null, 0]]));
    }
}
