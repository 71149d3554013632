//! Checkpoints: what was finished is kept, the second run goes on to the same bytes.

use crate::desk::{Desk, three_groups};

fn desk() -> Desk {
    Desk::with(&[("c.csv", &three_groups())])
}

/// The pieces in a folder.
fn pieces(desk: &Desk, folder: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(desk.path(folder)) else { return Vec::new() };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> =
        names.filter(|name| name.ends_with(".json") && name != "checkpoint.json").collect();
    names.sort();
    names
}

/// Kills `goc` once it has kept some pieces, but not all of them.
#[cfg(unix)]
fn killed(desk: &Desk, words: &str, folder: &str, after: usize) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_goc"));
    command.current_dir(desk.path(".")).args(words.split_whitespace());
    let mut child =
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    while pieces(desk, folder).len() < after {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before it kept {after} pieces");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
#[cfg(unix)]
fn a_comparison_that_was_killed_goes_on_to_the_same_bytes() {
    let desk = desk();
    let command = "compare c.csv --k 3 --seeds 3 -o runs.csv";
    let whole = (desk.done(command).out, desk.bytes("runs.csv"));
    killed(&desk, &format!("{command} --checkpoint kept"), "kept", 5);
    let first = pieces(&desk, "kept");
    assert!((5..100).contains(&first.len()), "{}", first.len());
    let before: Vec<_> = first.iter().map(|name| desk.bytes(&format!("kept/{name}"))).collect();
    for _ in 0..2 {
        let again = (desk.done(&format!("{command} --checkpoint kept")).out, desk.bytes("runs.csv"));
        assert!(again == whole);
    }
    let after: Vec<_> = first.iter().map(|name| desk.bytes(&format!("kept/{name}"))).collect();
    assert!(before == after, "what was finished was done again");
}

#[test]
fn what_was_kept_is_not_done_again() {
    let desk = desk();
    let command = "compare c.csv --k 3 --only goc/k-means,worlds --format csv --checkpoint kept";
    let honest = desk.done(command).out;
    let piece = "kept/goc~k-means.set-0.seed-1.json";
    desk.put(piece, desk.text(piece).replace("\"k\":3", "\"k\":77").as_bytes());
    assert_eq!(desk.done(command).out, honest.replacen(",3,", ",77,", 1));
    desk.put(piece, b"{}");
    let run = desk.goc(command);
    assert!(run.code == 1 && run.err.contains("not a part of this checkpoint"), "{}", run.err);
}

#[test]
fn a_checkpoint_of_other_work_is_refused_by_name() {
    let desk = desk();
    desk.put("d.csv", three_groups().replace("0.25", "0.26").as_bytes());
    desk.put("t.csv", three_groups().replace("g0", "g9").as_bytes());
    desk.done("compare c.csv --k 3 --only worlds --checkpoint kept");
    desk.done("cluster c.csv --k 3 --stability 2 --checkpoint fit");
    for (command, words) in [
        ("compare d.csv --k 3 --only worlds --checkpoint kept", "its candidates is"),
        ("compare t.csv --k 3 --only worlds --checkpoint kept", "its truth is"),
        ("compare c.csv --k 4 --only worlds --checkpoint kept", "its k_asked is 3, not 4"),
        ("compare c.csv --k 3 --lambda 0.5 --checkpoint kept", "its lambda is 0.01, not 0.5"),
        ("compare c.csv --k 3 --checkpoint kept -- --worlds 7", "its flags_for_all is , not --worlds 7"),
        ("cluster c.csv --k 3 --stability 2 --checkpoint kept", "its work is compare, not fit"),
        ("cluster c.csv --k 4 --stability 2 --checkpoint fit", "its k is 3, not 4"),
        ("cluster c.csv --k 3 --stability 2 --seed 2 --checkpoint fit", "its seed is 1, not 2"),
        ("cluster d.csv --k 3 --stability 2 --checkpoint fit", "its candidates is"),
        ("cluster c.csv --k 3 --checkpoint new", "ask for one"),
        ("cluster c.csv --k 3 --stability 2 --checkpoint .", "neither empty nor a checkpoint"),
    ] {
        let run = desk.goc(command);
        assert!(run.code == 2 && run.err.contains(words), "{command}: {}", run.err);
    }
}

#[test]
#[cfg(unix)]
fn stability_and_significance_go_on_to_the_same_bytes() {
    let desk = desk();
    let fit = "cluster c.csv --k 3 --starts 300";
    let command = format!("{fit} --stability 40 --significance 60 --noise -o l.csv --clusters k.csv");
    desk.done(&command);
    let whole = (desk.bytes("l.csv"), desk.bytes("k.csv"));
    killed(&desk, &format!("{command} --checkpoint kept"), "kept", 3);
    let first = pieces(&desk, "kept").len();
    assert!((3..180).contains(&first), "{first}");
    for threads in [1, 4] {
        desk.done(&format!("{command} --checkpoint kept --threads {threads}"));
        assert!((desk.bytes("l.csv"), desk.bytes("k.csv")) == whole, "{threads} threads");
    }
    assert_eq!(pieces(&desk, "kept").len(), 3 * 40 + 60);
    // More of them go on with those that are there.
    desk.done(&format!("{fit} --stability 41 -o l.csv --checkpoint kept"));
    assert_eq!(pieces(&desk, "kept").len(), 3 * 41 + 60);
}

#[test]
#[cfg(unix)]
fn chains_of_the_mixture_go_on_to_the_same_bytes() {
    let desk = desk();
    let outputs = ["l.csv", "k.csv", "t.csv", "w.csv", "m.json"];
    let command = "cluster c.csv --method marginal --chains 2 --burn 3000 --keep 3000 -o l.csv --clusters k.csv \
                   --together t.csv --candidate-weights w.csv --save-model m.json";
    desk.done(command);
    let whole = outputs.map(|name| desk.bytes(name));
    let again = format!("{command} --checkpoint kept");
    // Before any draw is kept, and among them.
    killed(&desk, &again, "kept", 3);
    killed(&desk, &again, "kept", 12);
    assert!(pieces(&desk, "kept").len() < 50, "{:?}", pieces(&desk, "kept"));
    for threads in [1, 4] {
        outputs.iter().for_each(|name| std::fs::remove_file(desk.path(name)).unwrap());
        desk.done(&format!("{again} --threads {threads}"));
        assert!(outputs.map(|name| desk.bytes(name)) == whole, "{threads} threads");
    }
    let run = desk.goc(&again.replace("--keep 3000", "--keep 2000"));
    assert!(run.code == 2 && run.err.contains("its keep is 3000, not 2000"), "{}", run.err);
    desk.put("kept/chain-1.drawn.json", b"{}");
    let run = desk.goc(&again);
    assert!(run.code == 1 && run.err.contains("not a part of this checkpoint"), "{}", run.err);
}

#[test]
#[cfg(unix)]
fn the_papers_experiments_go_on_to_the_same_bytes() {
    let desk = Desk::new();
    let command = "reproduce --preset authors --oracles k-means -o out";
    let read = |name: &str| desk.bytes(&format!("out/{name}"));
    let whole = (desk.done(command).out, read("runs.csv"), read("convergence.csv"));
    killed(&desk, &format!("{command} --checkpoint kept"), "kept", 2);
    let again =
        (desk.done(&format!("{command} --checkpoint kept")).out, read("runs.csv"), read("convergence.csv"));
    assert!(again == whole);
    let run = desk.goc("reproduce --preset paper --oracles k-means -o out --checkpoint kept");
    assert!(run.code == 2 && run.err.contains("its preset is authors, not paper"), "{}", run.err);
}
