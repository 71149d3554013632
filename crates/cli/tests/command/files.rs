//! Files: nothing that is wanted is overwritten, nothing is left behind.

use crate::desk::Desk;

/// Three stars with errors.
const STARS: &str = "\
source_id,ra,dec,parallax,parallax_error,pmra,pmra_error,pmdec,pmdec_error,radial_velocity,\
radial_velocity_error
1,10,40,1.0,0.02,3,0.02,-2,0.02,20,1
2,11,41,1.1,0.02,3,0.02,-2,0.02,21,1
3,12,42,1.2,0.02,4,0.02,-3,0.02,25,1
";
const LONG: &str = "object,x\na,0.0\nb,1.0\nc,5.0\nd,6.0\n";

/// Refused as wrong usage with these words, and the input is as it was.
#[track_caller]
fn keeps(desk: &Desk, command: &str, file: &str, words: &str) {
    let before = desk.text(file);
    let run = desk.goc(command);
    assert_eq!(run.code, 2, "{command}: {}", run.err);
    assert!(run.err.contains(words), "{command}: {}", run.err);
    assert_eq!(desk.text(file), before, "{command}");
}

#[test]
fn no_command_overwrites_its_input_however_it_is_spelled() {
    let desk = Desk::with(&[("s.csv", STARS), ("c.csv", LONG), ("m.json", "{}")]);
    let whole = desk.path("s.csv").display().to_string();
    for spelling in ["s.csv", "./s.csv", whole.as_str()] {
        for command in ["candidates s.csv -m 3", "actions s.csv", "stars s.csv --k 2 -m 3"] {
            keeps(&desk, &format!("{command} -o {spelling}"), "s.csv", "overwrite the input");
        }
    }
    for command in ["cluster c.csv --features x --k 2 -o ./c.csv", "predict m.json c.csv -o ./c.csv"] {
        keeps(&desk, command, "c.csv", "overwrite the input");
    }
    keeps(&desk, "cluster c.csv --features x --k 2 --init-labels c.csv -o ./c.csv", "c.csv", "overwrite");
    keeps(&desk, "compare c.csv --k 2 --only goc -o ./c.csv", "c.csv", "overwrite the input");
    keeps(&desk, "candidates s.csv -m 3 --losses ./s.csv", "s.csv", "overwrite the input");
}

#[test]
fn no_command_writes_two_outputs_to_one_file() {
    let desk = Desk::with(&[("s.csv", STARS), ("c.csv", LONG)]);
    for command in [
        "simulate --stars-out z.csv -o ./z.csv",
        "cluster c.csv --features x --k 2 -o z.csv --clusters ./z.csv",
        "stars s.csv --k 2 -m 3 -o z.csv --candidates ./z.csv",
        "candidates s.csv -m 3 -o z.csv --losses ./z.csv",
    ] {
        let run = desk.goc(command);
        assert_eq!(run.code, 2, "{command}: {}", run.err);
        assert!(run.err.contains("z.csv: named for two outputs"), "{command}: {}", run.err);
        assert!(!desk.path("z.csv").exists(), "{command}");
    }
}

#[test]
fn an_output_that_is_there_is_replaced_unless_no_clobber_is_given() {
    let desk = Desk::with(&[("c.csv", LONG), ("labels.csv", "old\n")]);
    let command = "cluster c.csv --features x --k 2 -o labels.csv";
    keeps(&desk, &format!("{command} --no-clobber"), "labels.csv", "labels.csv: is there already");
    let run = desk.goc(command);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_ne!(desk.text("labels.csv"), "old\n");
}

/// Runs `goc` in a shell, which can close a stream or point it to a full disk.
#[cfg(unix)]
fn shell(desk: &Desk, words: &str) -> (Option<i32>, String) {
    let mut shell = std::process::Command::new("sh");
    shell.current_dir(desk.path(".")).args([
        "-c",
        &format!("exec \"$0\" {words}"),
        env!("CARGO_BIN_EXE_goc"),
    ]);
    let output = shell.output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn messages_that_cannot_be_written_do_not_stop_the_work() {
    for stream in ["2>/dev/full", "2>&-"] {
        let desk = Desk::with(&[("c.csv", LONG)]);
        let (code, _) = shell(&desk, &format!("cluster c.csv --k 2 -o labels.csv {stream}"));
        assert_eq!(code, Some(0), "{stream}");
        assert_eq!(desk.table("labels.csv").rows(), 4, "{stream}");
        let (code, _) = shell(&desk, &format!("cluster gone.csv --k 2 {stream}"));
        assert_eq!(code, Some(1), "{stream}");
        assert_eq!(shell(&desk, &format!("cluster --no-such-flag {stream}")).0, Some(2), "{stream}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn standard_output_that_cannot_be_written_is_an_error() {
    let desk = Desk::with(&[("c.csv", LONG)]);
    for command in ["--help", "cluster --help", "--version", "cluster c.csv --features x --k 2"] {
        for (stream, why) in [(">/dev/full", "No space left"), (">&-", "it is closed")] {
            let (code, err) = shell(&desk, &format!("{command} {stream}"));
            assert_eq!(code, Some(1), "{command} {stream}: {err}");
            let expected = format!("error: cannot write to standard output: {why}");
            assert!(err.lines().any(|line| line.starts_with(&expected)), "{command} {stream}: {err}");
        }
        assert_eq!(shell(&desk, &format!("{command} >/dev/null")).0, Some(0), "{command}");
    }
}

#[test]
#[cfg(unix)]
fn a_command_that_is_interrupted_leaves_nothing_behind() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let desk = Desk::with(&[("s.csv", STARS)]);
        // Long enough to be caught while the file is written.
        let flags = "candidates s.csv --values parallax --transform none -m 1000000 -o c.csv.gz";
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_goc"));
        command.current_dir(desk.path(".")).args(flags.split_whitespace());
        let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
        let temporary = desk.path(&format!(".c.csv.gz.{}-0.tmp", child.id()));
        while std::fs::metadata(&temporary).map_or(0, |file| file.len()) == 0 {
            assert_eq!(child.try_wait().unwrap(), None, "it ended before it wrote");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let killed = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(killed.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
        assert_eq!(desk.files(), ["s.csv"], "{signal}");
    }
}

#[test]
fn what_the_output_cannot_hold_is_refused_before_the_work() {
    let labelled = STARS.replacen("radial_velocity_error\n", "radial_velocity_error,goc_label\n", 1);
    let labelled = labelled.replace(",1\n", ",1,0\n");
    let desk = Desk::with(&[("s.csv", &STARS.replacen("source_id", "\u{3b1}", 1)), ("l.csv", &labelled)]);
    for (command, words) in [
        ("stars s.csv --object \u{3b1} --k 2 -m 3 -o o.fits --candidates c.csv", "is not ASCII"),
        ("actions s.csv -o o.fits", "is not ASCII"),
        ("stars l.csv --k 2 -m 3 -o o.csv --candidates c.csv", "has a column `goc_label` already"),
    ] {
        let run = desk.goc(command);
        assert!(run.code != 0 && run.err.contains(words), "{command}: {}", run.err);
        // The candidates come first, so they were not made.
        assert_eq!(desk.files(), ["l.csv", "s.csv"], "{command}");
    }
}

#[test]
fn columns_that_are_left_out_are_named() {
    let desk = Desk::new();
    desk.put("odd.fits", include_bytes!("../../../tables/tests/golden/odd.fits"));
    let run = desk.goc("actions odd.fits -o o.csv");
    assert!(run.err.starts_with("odd.fits: left out on reading: "), "{}", run.err);
    assert!(run.err.contains("a further table; only the first is read"), "{}", run.err);
}
