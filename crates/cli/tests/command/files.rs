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
    keeps(&desk, &format!("{command} --no-clobber"), "labels.csv", "labels.csv: already exists");
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
        ("stars l.csv --k 2 -m 3 -o o.csv --candidates c.csv", "already has a column `goc_label`"),
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
    assert!(run.err.contains("another table of the file, which --hdu 3 reads"), "{}", run.err);
}

#[test]
fn the_table_of_a_file_is_chosen_by_hdu_or_table() {
    let desk = Desk::new();
    desk.put("u.fits", include_bytes!("../../../tables/tests/golden/units.fits"));
    let run = desk.done("cluster u.fits --hdu binary --object none --features x --k 2 -o o.csv");
    assert!(run.err.contains("unit 2 ASCII (another table of the file, which --hdu 2 reads)"), "{}", run.err);
    assert_eq!(desk.table("o.csv").rows(), 2);
    let refused = desk.goc("candidates u.fits --hdu 7 -m 3 -o c.csv");
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("u.fits: no HDU 7; there are: 0 (an image), 1 PICTURE"), "{}", refused.err);
    desk.put("s.csv", STARS.as_bytes());
    for (flag, said) in [("--hdu 1", "only FITS files have HDUs"), ("--table 2", "only VOTable files")] {
        for command in ["stars s.csv --k 2", "actions s.csv", "score s.csv"] {
            let refused = desk.goc(&format!("{command} {flag}"));
            assert!(refused.code == 2 && refused.err.contains(said), "{command}: {}", refused.err);
        }
    }
}

#[test]
#[cfg(unix)]
fn links_modes_and_pipes_stay_what_they_are() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let desk = Desk::with(&[("c.csv", LONG), ("real.csv", "old\n"), ("private.csv", "old\n")]);
    symlink("real.csv", desk.path("link.csv")).unwrap();
    std::fs::set_permissions(desk.path("private.csv"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let cluster = "cluster c.csv --features x --k 2";
    desk.done(&format!("{cluster} -o link.csv"));
    assert!(desk.path("link.csv").is_symlink());
    assert_eq!(desk.table("real.csv").rows(), 4);
    desk.done(&format!("{cluster} -o private.csv"));
    let mode = std::fs::metadata(desk.path("private.csv")).unwrap().permissions().mode();
    assert_eq!((mode & 0o777, desk.table("private.csv").rows()), (0o600, 4));

    assert!(std::process::Command::new("mkfifo").arg(desk.path("pipe")).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = desk.path("pipe");
        move || std::fs::read(pipe).unwrap()
    });
    desk.done(&format!("{cluster} -o pipe --format parquet --no-clobber"));
    let table = goc_tables::from_bytes(&reader.join().unwrap(), goc_tables::Format::Parquet).unwrap();
    assert_eq!(table.rows(), 4);
    let refused = desk.goc(&format!("{cluster} -o pipe"));
    assert!(refused.err.contains("pipe: unknown kind of table") && refused.err.contains("--format"));
}

#[test]
#[cfg(unix)]
fn standard_output_takes_a_table_of_any_format() {
    let desk = Desk::with(&[("c.csv", LONG), ("s.csv", STARS)]);
    let cluster = "cluster c.csv --features x --k 2";
    let plain = desk.done(cluster).out;
    for output in ["-o -", "-o /dev/stdout", "-o - --format csv"] {
        assert_eq!(desk.done(&format!("{cluster} {output}")).out, plain, "{output}");
    }
    // A file behind standard output is written into, not replaced: what stands before stays.
    for output in ["-o /dev/stdout --format ecsv", "-o - --format ecsv", "--format ecsv"] {
        desk.put("o.ecsv", b"");
        assert_eq!(shell(&desk, &format!("{cluster} {output} >>o.ecsv")).0, Some(0), "{output}");
        assert_eq!(desk.table("o.ecsv").rows(), 4, "{output}");
    }
    for (command, name) in [
        ("candidates s.csv -m 3", "c.fits"),
        ("actions s.csv", "a.fits"),
        ("stars s.csv --k 2 -m 3", "t.fits"),
        ("simulate --dwarfs 2 --full --age 1", "m.fits"),
    ] {
        assert_eq!(shell(&desk, &format!("{command} -o - --format fits >{name}")).0, Some(0), "{command}");
        assert!(desk.table(name).rows() >= 1, "{command}");
    }
    let both = desk.goc(&format!("{cluster} -o - --json"));
    assert!(both.code == 2 && both.err.contains("cannot both go to standard output"), "{}", both.err);
    assert_eq!(shell(&desk, &format!("{cluster} -o - --format parquet >&-")).0, Some(1));
}

const ESCAPES: &str = "object,x\n\u{1b}[31mred,0.0\n\u{1b}[31mred,0.5\nb,1.0\nc,5.0\n";
const TWICE: &str = "object,x,truth\n\u{1b}[31mred,0.0,a\n\u{1b}[31mred,0.5,b\nb,1.0,a\n";

/// Runs `goc` with these bytes on standard input.
fn piped(desk: &Desk, words: &str, input: Vec<u8>) -> (Option<i32>, Vec<u8>, String) {
    let done = desk.command().args(words.split_whitespace()).write_stdin(input).output().unwrap();
    (done.status.code(), done.stdout, String::from_utf8(done.stderr).unwrap())
}

#[test]
fn standard_input_gives_a_table_of_any_format() {
    let desk = Desk::with(&[("c.csv", LONG), ("s.csv", STARS)]);
    let words = "--k 2 --features x --format csv -o -";
    let expected = desk.done(&format!("cluster c.csv {words}")).out;
    assert!(expected.starts_with("object,label"), "{expected}");
    let table = desk.table("c.csv");
    for (_, format) in goc_tables::Format::ALL {
        desk.write(&format!("c.{format}"), &table);
        let (code, out, err) =
            piped(&desk, &format!("cluster - {words}"), desk.bytes(&format!("c.{format}")));
        assert_eq!((code, String::from_utf8(out).unwrap()), (Some(0), expected.clone()), "{format}: {err}");
    }
    desk.write("c.csv.gz", &table);
    let (code, out, err) = piped(&desk, &format!("cluster - {words}"), desk.bytes("c.csv.gz"));
    assert_eq!((code, String::from_utf8(out).unwrap()), (Some(0), expected), "{err}");

    // Stars pass through with all their columns; two commands in a row.
    let (code, fits, err) = piped(&desk, "actions - --format fits -o -", STARS.into());
    assert_eq!(code, Some(0), "{err}");
    let (code, out, err) = piped(&desk, "candidates - -m 3 --format csv", fits);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(String::from_utf8(out).unwrap(), desk.done("candidates s.csv -m 3 --format csv").out);
}

#[test]
fn messages_about_standard_input_name_it() {
    let desk = Desk::with(&[]);
    for (input, message) in [
        (
            "object,x\na,0.0\nb\n",
            "error: standard input: row 2 (line 3): 1 fields, but the header names 2 columns",
        ),
        ("", "error: standard input: the file is empty; its first line must name the columns"),
    ] {
        let (code, out, err) = piped(&desk, "cluster - --k 2", input.into());
        assert_eq!((code, out.as_slice(), err.trim_end()), (Some(1), &b""[..], message));
    }
    let (code, _, err) = piped(&desk, "cluster - --k 2 --hdu 1", LONG.into());
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("standard input: only FITS files have HDUs"), "{err}");
}

#[test]
fn escape_sequences_of_names_are_shown_escaped_in_messages() {
    let desk = Desk::with(&[("c.csv", &ESCAPES.replace(",x\n", ",\u{1b}[2Jx\n")), ("e.csv", TWICE)]);
    for command in [
        "cluster c.csv --features y --k 2",
        "cluster e.csv --features x --k 2",
        "cluster \u{1b}[1m.csv --k 2",
    ] {
        let run = desk.goc(command);
        assert_ne!(run.code, 0, "{command}");
        assert!(!run.err.contains('\u{1b}') && run.err.contains(r"\u{1b}"), "{command}: {}", run.err);
    }
}

/// Runs `goc` with a terminal for its standard output; what the terminal was sent.
#[cfg(target_os = "linux")]
fn on_a_terminal(desk: &Desk, words: &str) -> (Option<i32>, String) {
    use std::io::Read;
    use std::os::fd::FromRawFd;

    let (mut master, mut slave) = (0, 0);
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: the two numbers are ours to be filled; nothing else is passed.
    let made = unsafe { libc::openpty(&mut master, &mut slave, none.cast(), none.cast(), none.cast()) };
    assert_eq!(made, 0);
    // SAFETY: both descriptors were just opened, and nobody else has them.
    let (mut screen, terminal) =
        unsafe { (std::fs::File::from_raw_fd(master), std::fs::File::from_raw_fd(slave)) };
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_goc"));
    command.current_dir(desk.path(".")).args(words.split_whitespace());
    let mut child = command.stdout(terminal).stderr(std::process::Stdio::null()).spawn().unwrap();
    drop(command); // it holds the terminal too
    let mut sent = Vec::new();
    let _ = screen.read_to_end(&mut sent); // a terminal that nobody writes to any more is an error
    (child.wait().unwrap().code(), String::from_utf8(sent).unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn a_table_on_a_terminal_is_harmless_and_in_a_pipe_exact() {
    let desk = Desk::with(&[("c.csv", ESCAPES)]);
    let (code, sent) = on_a_terminal(&desk, "cluster c.csv --features x --k 2");
    assert_eq!(code, Some(0), "{sent}");
    assert!(!sent.contains('\u{1b}') && sent.contains(r"\u{1b}[31mred"), "{sent}");
    assert!(desk.done("cluster c.csv --features x --k 2").out.contains("\u{1b}[31mred"));
    let (code, sent) = on_a_terminal(&desk, "cluster c.csv --features x --k 2 --format parquet");
    assert_eq!((code, sent.as_str()), (Some(2), ""));
}

#[test]
fn whatever_the_label_table_cannot_hold_is_refused_before_the_work() {
    // A mixture of this many sweeps would take hours.
    let long = "--method marginal --chains 4 --burn 100000000 --keep 100000000";
    let desk = Desk::with(&[
        ("ids.csv", &LONG.replace("a,", "größe,")),
        ("names.csv", &LONG.replace("x", "größe")),
        ("truth.csv", "object,x,truth\na,0.5,größe\nb,1.5,q\nc,5.5,q\n"),
        ("s.csv", &STARS.replace("_error\n1", "_error,goc_probability\n1").replace(",1\n", ",1,0.5\n")),
    ]);
    for name in ["ids", "names", "truth"] {
        let run = desk.goc(&format!("cluster {name}.csv {long} -o l.fits"));
        assert_eq!(run.code, 1, "{}", run.err);
        assert!(run.err.contains("größe") && run.err.contains("ASCII"), "{}", run.err);
    }
    // The label, and what goes with it: an older probability beside a new label would mislead.
    let run = desk.goc(&format!("stars s.csv -m 3 {long} -o o.csv"));
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("already has a column `goc_probability`"), "{}", run.err);
    assert_eq!(desk.files(), ["ids.csv", "names.csv", "s.csv", "truth.csv"]);
}

/// Whatever the limit on the memory: all of the work, or an error that says so and nothing left.
#[cfg(target_os = "linux")]
#[test]
fn where_memory_ends_the_command_says_so_and_leaves_nothing() {
    let columns = 20_000;
    let wide = |first: &str, cell: &str| format!("{first}{}\n", format!(",{cell}").repeat(columns));
    let names: String = (0..columns).map(|c| format!(",w{c}")).collect();
    let (header, rows) = STARS.split_once('\n').unwrap();
    let rows: String = rows.lines().map(|row| wide(row, "1.5")).collect();
    let desk = Desk::with(&[("wide.csv", &format!("{header}{names}\n{rows}"))]);
    desk.done("stars wide.csv --k 1 -m 3 -o whole.parquet");
    let (mut whole, mut failed) = (0, 0);
    for megabytes in [60, 80, 100, 120, 140, 160, 200, 240, 2000] {
        let goc = env!("CARGO_BIN_EXE_goc");
        let line = format!(
            "ulimit -v {megabytes}000; exec {goc} stars wide.csv --k 1 -m 3 --threads 2 -o out.parquet"
        );
        let ran = std::process::Command::new("sh")
            .args(["-c", &line])
            .current_dir(desk.path(""))
            .env_remove("RUST_BACKTRACE")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        match ran.status.code() {
            Some(0) => {
                whole += 1;
                assert_eq!(desk.bytes("out.parquet"), desk.bytes("whole.parquet"));
                std::fs::remove_file(desk.path("out.parquet")).unwrap();
            }
            Some(1) => {
                failed += 1;
                assert!(said.contains("memory") || said.contains("threads"), "{megabytes} MB: {said}");
            }
            code => panic!("{megabytes} MB: {code:?}: {said}"),
        }
        assert_eq!(desk.files(), ["whole.parquet", "wide.csv"], "{megabytes} MB: {said}");
    }
    assert!(whole > 0 && failed > 0, "{whole} {failed}");
}

/// The stars as FITS, with a column of two numbers a star, and what those bytes are.
fn stars_with_arrays(desk: &Desk) -> Vec<u8> {
    desk.put("s.csv", STARS.as_bytes());
    let mut table = desk.table("s.csv");
    let cells = ["abcdefghABCDEFGH", "ijklmnopIJKLMNOP", "qrstuvwxQRSTUVWX"];
    let texts = cells.iter().map(ToString::to_string).collect();
    table.push(goc_tables::Column::new("spectrum", goc_tables::Data::Text(texts)).with_unit("Jy")).unwrap();
    let mut bytes = goc_tables::to_bytes(&table, goc_tables::Format::Fits).unwrap();
    // Sixteen characters are the bytes of two doubles; no test data come to harm.
    let at = bytes.windows(5).position(|found| found == b"'16A ").unwrap();
    bytes[at..at + 5].copy_from_slice(b"'2D  ");
    desk.put("arrays.fits", &bytes);
    cells.concat().into_bytes()
}

#[test]
fn columns_of_arrays_go_from_fits_to_fits_as_they_are() {
    let desk = Desk::new();
    let cells = stars_with_arrays(&desk);
    for command in ["stars arrays.fits --k 2 -m 3 -o out.fits", "actions arrays.fits -o out.fits"] {
        let run = desk.done(command);
        assert!(!run.err.contains("left out"), "{}", run.err);
        let written = desk.bytes("out.fits");
        for cell in cells.chunks(16) {
            assert!(written.windows(16).any(|found| found == cell), "{command}");
        }
        let table = goc_tables::read(&desk.path("out.fits")).unwrap();
        assert_eq!(table.skipped()[0].name, "spectrum");
        let header = String::from_utf8_lossy(&written).into_owned();
        assert!(header.contains("TFORM12 = '2D") && header.contains("TUNIT12 = 'Jy"), "{command}");
    }
    // Another format has no place for them: they are named.
    let run = desk.done("stars arrays.fits --k 2 -m 3 -o out.parquet");
    assert!(run.err.contains("left out on reading: spectrum (each value is an array of 2)"), "{}", run.err);
    // A new column does not take the name of one that is carried along.
    let run = desk.goc("stars arrays.fits --k 2 -m 3 --prefix spec --columns ra=ra -o new.fits");
    assert_eq!(run.code, 0, "{}", run.err);
}
