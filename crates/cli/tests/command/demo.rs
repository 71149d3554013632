//! `goc demo`.

use crate::desk::Desk;

/// The table's last column is a time: out with it.
fn without_times(text: &str) -> String {
    let clean = |line: &str| match line.trim_end().rsplit_once("  ") {
        Some((before, time))
            if ["GOC", "UK-means", "marginal mixture  "].iter().any(|way| line.starts_with(way)) =>
        {
            assert!(time.trim().parse::<f64>().is_ok(), "{line}");
            format!("{} #", before.trim_end())
        }
        _ => line.to_string(),
    };
    text.lines().map(clean).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_demonstration_writes_its_files_and_prints_the_commands_that_make_them_again() {
    let desk = Desk::new();
    let run = desk.done("demo");
    insta::assert_snapshot!("demo_out", without_times(&run.out));
    insta::assert_snapshot!("demo_err", run.err);
    let files = [
        "candidates.parquet",
        "labels-goc-best.csv",
        "labels-goc.csv",
        "labels-marginal.ecsv",
        "labels-uk-means.csv",
        "report.html",
        "stars.csv",
        "together.csv",
    ];
    let mut found: Vec<String> = std::fs::read_dir(desk.path("goc-demo"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    assert_eq!(found, files);

    // The printed commands, typed by hand, give the same bytes.
    let before: Vec<Vec<u8>> = files.iter().map(|file| desk.bytes(&format!("goc-demo/{file}"))).collect();
    let commands: Vec<&str> = run.out.lines().filter_map(|line| line.strip_prefix("  goc ")).collect();
    assert_eq!(commands.len(), 8);
    for file in &files {
        std::fs::remove_file(desk.path(&format!("goc-demo/{file}"))).unwrap();
    }
    for command in commands {
        // As a shell takes them: the title stands in quotes.
        let mut words: Vec<String> = Vec::new();
        for (at, part) in command.replace(r"'\''", "\u{1}").split('\'').enumerate() {
            match at % 2 {
                0 => words.extend(part.split_whitespace().map(str::to_string)),
                _ => words.push(part.replace('\u{1}', "'")),
            }
        }
        assert!(desk.command().args(&words).output().unwrap().status.success(), "{command}");
    }
    assert!(run.out.ends_with("open this page in a browser: goc-demo/report.html\n"), "{}", run.out);
    for (file, bytes) in files.iter().zip(before) {
        assert!(desk.bytes(&format!("goc-demo/{file}")) == bytes, "{file}");
    }
}

#[test]
fn optimism_beats_the_baseline_in_the_printed_table() {
    let desk = Desk::new();
    let out = desk.done("demo --out d --seed 6").out;
    let nmi = |name: &str| -> f64 {
        let line = out.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len()..].split_whitespace().next().unwrap().parse().unwrap()
    };
    assert!(nmi("GOC ") > nmi("UK-means ") + 0.01, "{out}");
    assert!(nmi("GOC, best of 10 ") > nmi("UK-means ") + 0.01, "{out}");
    // Without K, and still better than all that were told it.
    assert!(nmi("marginal mixture ") > nmi("GOC, best of 10 "), "{out}");
}

#[test]
fn a_folder_that_cannot_be_made_is_refused() {
    let desk = Desk::with(&[("file", "")]);
    let run = desk.goc("demo --out file/demo");
    assert_eq!(run.code, 1);
    assert!(run.err.starts_with("error: file/demo: cannot create the folder: "), "{}", run.err);
}
