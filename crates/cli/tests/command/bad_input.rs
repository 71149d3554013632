//! Bad input: a line that says what, where and what to do; exit 1 (failed) or 2 (wrong usage); no
//! output file, no panic.

use goc_tables::{Column, Data, Table};

use crate::desk::{Desk, three_groups};

/// Four objects, one column.
const FOUR: &str = "object,x\na,0.0\nb,1.0\nc,5.0\nd,6.0\n";

fn four() -> Desk {
    Desk::with(&[("c.csv", FOUR)])
}

/// `goc cluster` on this text, two clusters, features and object named so that no remark is made.
#[track_caller]
fn refused(text: &str, code: i32, message: &str) {
    let desk = Desk::with(&[("c.csv", text)]);
    desk.refused("cluster c.csv --features x --k 2 -o labels.csv", code, &format!("error: {message}"));
}

/// `goc cluster` on four good objects with these flags.
#[track_caller]
fn flags_refused(flags: &str, code: i32, message: &str) {
    four().refused(
        &format!("cluster c.csv --features x {flags} -o labels.csv"),
        code,
        &format!("error: {message}"),
    );
}

#[test]
fn a_catalogue_with_error_bars_is_not_taken_for_candidates() {
    let desk = Desk::with(&[("c.csv", "object,x,x_error\na,0.5,0.1\nb,1.5,0.1\n")]);
    let message = "error: c.csv: column `x_error` looks like an error bar: make candidates first (goc candidates), \
                   or name the features with --features";
    desk.refused("cluster c.csv --k 2 -o labels.csv", 2, message);
}

#[test]
fn ids_that_lost_their_digits_in_a_float() {
    refused(
        "object,x\n6.9e18,0.0\n1.0,1.0\n",
        1,
        "c.csv: row 1 (line 2), column `object`: 6.9e18 is a real number too large to be an exact integer; \
         store it as an integer",
    );
}

#[test]
fn values_whose_squares_overflow_are_named() {
    let message = "c.csv: row 2 (line 3), column `x`: 1e200 is so far out that squared distances overflow; \
                   fix or drop it, or use --scale standard";
    let text = "object,x\na,0.0\nb,1e200\nc,5.0\nd,6.0\ne,7.0\nf,8.0\ng,9.0\n";
    for flags in ["--scale none", "--scale robust", "--scale none --method marginal"] {
        let k = if flags.contains("marginal") { "" } else { "--k 2" };
        let desk = Desk::with(&[("c.csv", text)]);
        let command = format!("cluster c.csv --features x {k} {flags} -o labels.csv");
        desk.refused(&command, 1, &format!("error: {message}"));
    }
}

#[test]
fn errors_that_cannot_be_squared_are_named_or_cost_their_row() {
    for error in ["1e308", "1e-308"] {
        let text = format!("object,x,x_error\na,0.5,0.1\nb,1.5,{error}\n");
        let desk = Desk::with(&[("x.csv", &text)]);
        let run = desk.goc("candidates x.csv -m 3 -o c.csv");
        let place = format!("error: x.csv: row 2 (line 3), column `x_error`: {error} is not an error");
        assert!(run.code == 1 && run.err.lines().any(|line| line.starts_with(&place)), "{}", run.err);
        let run = desk.done("candidates x.csv -m 3 --bad-rows drop -o c.csv");
        assert!(run.err.contains("dropped 1 of 2 objects"), "{}", run.err);
        assert_eq!(desk.table("c.csv").rows(), 3);
    }
}

#[test]
fn output_over_the_input() {
    let desk = four();
    let message = "error: c.csv: the output would overwrite the input; name another file";
    let run = desk.goc("cluster c.csv --features x --k 2 -o c.csv");
    assert_eq!((run.code, run.err.trim()), (2, message));
    assert_eq!(desk.text("c.csv"), FOUR);
}

#[test]
fn an_object_scored_twice() {
    let desk = Desk::with(&[("l.csv", "object,label,truth\na,0,0\na,0,0\n")]);
    let run = desk.goc("score l.csv");
    let message = "error: l.csv: row 2 (line 3), column `object`: \"a\" is labelled twice\n";
    assert_eq!((run.code, run.err.as_str()), (1, message));
}

#[test]
fn empty_file() {
    refused("", 1, "c.csv: the file is empty; its first line must name the columns");
}

#[test]
fn header_without_rows() {
    refused("object,x\n", 1, "c.csv: the table has no rows");
}

#[test]
fn no_such_column() {
    flags_refused("--object star --k 2", 2, "c.csv: no column `star`; there are: object, x");
}

#[test]
fn no_such_feature() {
    four().refused(
        "cluster c.csv --features X --k 2 -o labels.csv",
        2,
        "error: c.csv: no column `X` (did you mean `x`?); there are: object, x",
    );
}

#[test]
fn no_feature_named() {
    four().refused("cluster c.csv --features , --k 2 -o l.csv", 2, "error: --features names no column");
}

#[test]
fn no_feature_found() {
    let desk = Desk::with(&[("c.csv", "object,name\n1,a\n2,b\n")]);
    desk.refused(
        "cluster c.csv --k 2 -o l.csv",
        2,
        "error: c.csv: no feature columns found; name them with --features (the table has object, name)",
    );
}

#[test]
fn no_feature_but_whole_numbers() {
    let desk = Desk::with(&[("c.csv", "object,x,y\n1,2,3\n2,4,5\n")]);
    desk.refused(
        "cluster c.csv --k 2 -o l.csv",
        2,
        "error: c.csv: no feature columns found; columns of whole numbers (x, y) are features only if named: --features x,y",
    );
}

#[test]
fn text_in_a_number_column() {
    refused("object,x\na,1.0\nb,two\n", 1, "c.csv: row 2 (line 3), column `x`: \"two\" is not a number");
}

#[test]
fn nan_in_a_feature() {
    refused(
        "object,x\na,1.0\nb,NaN\nc,2.0\n",
        1,
        "c.csv: row 2 (line 3), column `x`: NaN is not a finite number; fix it, or drop such rows with \
         --missing nan",
    );
}

#[test]
fn null_in_a_feature() {
    refused(
        "object,x\na,1.0\nb,\nc,2.0\n",
        1,
        "c.csv: row 2 (line 3), column `x`: \"\" is null where a number is needed; fill it, or drop such rows with --missing nan",
    );
}

#[test]
fn infinity_in_a_feature() {
    refused(
        "object,x\na,1.0\nb,-inf\nc,2.0\n",
        1,
        "c.csv: row 2 (line 3), column `x`: -inf is not a finite number; fix it or drop the row",
    );
}

#[test]
fn negative_penalty() {
    refused(
        "object,x,penalty\na,1.0,0.0\nb,3.0,-0.5\nc,2.0,0.0\n",
        1,
        "c.csv: row 2 (line 3), column `penalty`: -0.5 is not a penalty; penalties are finite and not below 0",
    );
}

#[test]
fn nan_penalty() {
    refused(
        "object,x,penalty\na,1.0,NaN\nb,3.0,0.5\nc,2.0,0.0\n",
        1,
        "c.csv: row 1 (line 2), column `penalty`: NaN is not a penalty; penalties are finite and not below 0",
    );
}

#[test]
fn object_without_candidates() {
    refused(
        "object,x\na,1.0\nb,-9999\nb,-9999\nc,2.0\n",
        1,
        "c.csv: object b has no candidates left: all 2 have a missing feature; drop the object or change --missing",
    );
}

#[test]
fn object_without_a_name() {
    refused(
        "object,x\na,1.0\n,2.0\nc,2.0\n",
        1,
        "c.csv: row 2 (line 3), column `object`: \"\" is null where the name of an object is needed",
    );
}

#[test]
fn truth_that_contradicts_itself() {
    refused(
        "object,x,truth\na,1.0,g\na,1.5,h\nc,2.0,g\n",
        1,
        "c.csv: row 2 (line 3), column `truth`: \"h\" contradicts g for the same object a",
    );
}

#[test]
fn no_clusters() {
    for method in ["goc", "gpc", "uk-means"] {
        flags_refused(&format!("--k 0 --method {method}"), 2, "the number of clusters must be at least 1");
    }
}

#[test]
fn more_clusters_than_objects() {
    for method in ["goc", "gpc", "uk-means"] {
        flags_refused(
            &format!("--k 5 --method {method}"),
            2,
            "5 clusters were asked for, but there are only 4 objects",
        );
    }
}

#[test]
fn negative_lambda() {
    for method in ["goc", "gpc"] {
        flags_refused(
            &format!("--k 2 --lambda -0.5 --method {method}"),
            2,
            "lambda is -0.5; it must be a finite number not below 0",
        );
    }
}

#[test]
fn nan_lambda() {
    for method in ["goc", "gpc"] {
        flags_refused(
            &format!("--k 2 --lambda nan --method {method}"),
            2,
            "lambda is NaN; it must be a finite number not below 0",
        );
    }
}

#[test]
fn no_threads() {
    flags_refused("--k 2 --threads 0", 2, "--threads must be at least 1");
}

#[test]
fn more_threads_than_make_sense() {
    flags_refused("--k 2 --threads 1000000000", 2, "--threads is 1000000000, but must be at most 4096");
}

#[test]
fn bandwidths_of_any_size_have_an_answer() {
    for (bandwidth, clusters) in [("1e155", "1 cluster"), ("1e308", "1 cluster"), ("1e-300", "4 clusters")] {
        let run = four().goc(&format!(
            "cluster c.csv --features x --k 2 --oracle mean-shift --bandwidth {bandwidth} -o labels.csv"
        ));
        assert_eq!(run.code, 0, "{bandwidth}: {}", run.err);
        assert!(run.err.contains(clusters), "{bandwidth}: {}", run.err);
    }
}

#[test]
fn no_starts() {
    for flag in ["--starts", "--oracle-starts", "--max-iterations"] {
        let desk = four();
        let run = desk.goc(&format!("cluster c.csv --k 2 {flag} 0 -o labels.csv"));
        assert_eq!((run.code, desk.files().len()), (2, 1));
        assert!(run.err.starts_with(&format!("error: invalid value '0' for '{flag} <N>'")), "{}", run.err);
    }
}

#[test]
fn tolerance_that_is_no_share() {
    flags_refused(
        "--k 2 --tolerance 1.5",
        2,
        "the tolerance is 1.5; it is a share of the objects, from 0 to below 1",
    );
}

#[test]
fn trace_of_a_method_without_one() {
    flags_refused("--k 2 --method uk-means --trace t.csv", 2, "--trace needs --method goc");
}

#[test]
fn first_labels_of_unknown_objects() {
    let desk = four();
    desk.put("first.csv", b"object,label\na,0\nb,0\nc,1\nd,1\nz,1\n");
    desk.refused(
        "cluster c.csv --features x --k 2 --init-labels first.csv -o l.csv",
        1,
        "error: first.csv: row 5 (line 6), column `object`: \"z\" is not an object of the candidates",
    );
}

#[test]
fn object_without_a_first_label() {
    let desk = four();
    desk.put("first.csv", b"object,label\na,0\nb,0\nd,1\n");
    desk.refused(
        "cluster c.csv --features x --k 2 --init-labels first.csv -o l.csv",
        1,
        "error: first.csv: object c has no label",
    );
}

#[test]
fn object_labelled_twice() {
    let desk = four();
    desk.put("first.csv", b"object,label\na,0\nb,0\nc,1\nd,1\nb,1\n");
    desk.refused(
        "cluster c.csv --features x --k 2 --init-labels first.csv -o l.csv",
        1,
        "error: first.csv: row 5 (line 6), column `object`: \"b\" is labelled twice",
    );
}

#[test]
fn first_labels_and_several_starts() {
    let desk = four();
    desk.put("first.csv", b"object,label\na,0\nb,0\nc,1\nd,1\n");
    desk.refused(
        "cluster c.csv --features x --k 2 --init-labels first.csv --starts 3 -o l.csv",
        2,
        "error: first labels fix the start, so there cannot be 3 starts",
    );
}

/// A table of the candidates of [`three_groups`].
fn some_table() -> Table {
    let desk = Desk::with(&[("c.csv", &three_groups())]);
    let mut table = desk.table("c.csv");
    table.push(Column::new("more", Data::F64((0..36).map(f64::from).collect()))).unwrap();
    table
}

/// The file cut at many lengths is refused every time, in a line that names it.
fn cut_file_is_refused(name: &str) {
    let desk = Desk::new();
    desk.write(name, &some_table());
    let whole = desk.bytes(name);
    for part in [0, 1, 5, 20, 40, 60, 80, 95, 99] {
        desk.put(name, &whole[..whole.len() * part / 100]);
        let run = desk.goc(&format!("cluster {name} --k 2 -o labels.csv"));
        assert_eq!((run.code, run.out.as_str()), (1, ""), "{part} %: {}", run.err);
        assert!(run.err.starts_with(&format!("error: {name}: ")), "{part} %: {}", run.err);
        assert!(run.err.lines().count() <= 2 && !run.err.contains("panicked"), "{part} %: {}", run.err);
        assert_eq!(desk.files(), [name]);
    }
}

#[test]
fn truncated_fits() {
    cut_file_is_refused("c.fits");
}

#[test]
fn truncated_parquet() {
    cut_file_is_refused("c.parquet");
}

#[test]
fn empty_parquet() {
    let desk = Desk::with(&[("c.parquet", "")]);
    let message = "error: c.parquet: the file is empty: it has 0 bytes; fetch or write it again";
    desk.refused("cluster c.parquet --k 2", 1, message);
}

#[test]
fn one_object_is_not_many() {
    let desk = Desk::with(&[("c.csv", "object,x\na,1.5\na,2.5\n")]);
    let message = "features: x\nerror: 2 clusters were asked for, but there is only 1 object";
    desk.refused("cluster c.csv --k 2", 2, message);
}

#[test]
fn truncated_gzip() {
    cut_file_is_refused("c.csv.gz");
}

#[test]
fn file_of_unknown_kind() {
    let desk = Desk::with(&[("c.hdf5", FOUR)]);
    desk.refused(
        "cluster c.hdf5 --k 2 -o l.csv",
        1,
        "error: c.hdf5: unknown kind of table; name it .csv, .tsv, .ecsv, .parquet, .pq, .fits, .fit, .vot, .votable or .xml (all but Parquet also with .gz)",
    );
}

#[test]
fn output_of_unknown_kind_is_refused_before_the_work() {
    let desk = four();
    desk.refused(
        "cluster c.csv --features x --k 2 -o labels.hdf5",
        1,
        "error: labels.hdf5: unknown kind of table; name it .csv, .tsv, .ecsv, .parquet, .pq, .fits, .fit, .vot, .votable or .xml (all but Parquet also with .gz), or give its --format",
    );
}

#[test]
fn folder_without_partitions_as_input() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("c.csv")).unwrap();
    desk.refused(
        "cluster c.csv --k 2 -o l.csv",
        1,
        "error: c.csv: there are no Parquet files in the folder; give a file",
    );
}

#[test]
fn missing_file() {
    let desk = Desk::new();
    desk.refused(
        "cluster c.csv --k 2 -o l.csv",
        1,
        "error: c.csv: cannot read: No such file or directory (os error 2)",
    );
}

#[test]
fn output_into_a_folder_that_is_not_there() {
    let desk = four();
    desk.refused(
        "cluster c.csv --features x --k 2 -o nowhere/labels.csv",
        1,
        "error: nowhere/labels.csv: there is no folder nowhere; make it first",
    );
}

#[test]
fn output_onto_a_folder() {
    let desk = four();
    std::fs::create_dir(desk.path("labels.csv")).unwrap();
    desk.refused(
        "cluster c.csv --features x --k 2 -o labels.csv",
        1,
        "error: labels.csv: is a folder; name a file",
    );
}

/// A folder nobody may write in; the superuser may, so then there is nothing to prove.
#[cfg(unix)]
#[test]
fn output_into_a_folder_that_is_locked() {
    use std::os::unix::fs::PermissionsExt;
    let desk = four();
    let folder = desk.path("locked");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(folder.join("probe"), "").is_ok() {
        eprintln!("output_into_a_folder_that_is_locked: SKIPPED: this user may write anywhere");
        return;
    }
    desk.refused(
        "cluster c.csv --features x --k 2 -o locked/labels.csv",
        1,
        "error: locked/labels.csv: cannot create: Permission denied (os error 13)",
    );
}

/// /dev/full takes nothing: a write that fails in the middle, on standard output.
#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written() {
    let desk = four();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_goc"))
        .args(["cluster", "c.csv", "--features", "x", "--k", "2"])
        .current_dir(desk.path(""))
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(err, "error: cannot write to standard output: No space left on device (os error 28)\n");
}

#[test]
fn missing_rule_that_is_none() {
    flags_refused(
        "--k 2 --missing x",
        2,
        "`x` is not a rule for missing values; give numbers such as -9999, `nan` or `none`",
    );
}

/// Runs `goc` with at most this many kilobytes of addresses.
#[cfg(target_os = "linux")]
fn within(desk: &Desk, kilobytes: usize, words: &str) -> (Option<i32>, String) {
    let mut shell = std::process::Command::new("sh");
    let line = format!("ulimit -v {kilobytes}; exec \"$0\" {words}");
    shell.current_dir(desk.path(".")).args(["-c", &line, env!("CARGO_BIN_EXE_goc")]);
    let output = shell.output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn a_small_file_that_unpacks_to_more_than_there_is_is_refused() {
    let desk = Desk::new();
    let zeros = Column::new("x", Data::F64(vec![0.0; 30_000_000]));
    desk.write("c.fits.gz", &Table::new(vec![zeros]).unwrap());
    // The table takes 240 MB and is read with the first, not with the second; candidates take 960
    // MB.
    for (kilobytes, words) in [
        (1_000_000, "c.fits.gz: the candidates of 30000000 rows: 960 MB"),
        (240_000, "c.fits.gz: 30000000 rows of 1 columns need 240 MB"),
    ] {
        let (code, err) =
            within(&desk, kilobytes, "cluster c.fits.gz --features x --k 2 --threads 1 -o l.csv");
        assert!(code == Some(1) && err.contains(words), "{kilobytes} kB: {code:?}: {err}");
        assert_eq!(desk.files(), ["c.fits.gz"]);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_does_not_fit_into_memory_is_refused_beforehand() {
    let mut text = String::from("object,x\n");
    for i in 0..40_000 {
        text.push_str(&format!("{i},{}\n", (i * 7919) % 10_007));
    }
    let desk = Desk::with(&[("c.csv", &text)]);
    // 4 GB of addresses; the pairs of 40000 objects take 6.4 GB and more.
    let goc = |words: &str| within(&desk, 4_000_000, words);
    for (flags, words) in [
        ("--method linkage", "--method linkage of 40000 objects: 6.4 GB of memory are needed, but "),
        ("--method hdbscan-draws", "--method hdbscan-draws of 40000 objects: 6.4 GB"),
        ("--method foptics", "--method foptics of 40000 objects: 25.6 GB"),
        ("--method significant-linkage", "--method significant-linkage of 40000 objects: 6.5 GB"),
        ("--method uk-means --oracle mclust-vvv", "--oracle mclust-vvv of 40000 objects: 6.4 GB"),
        ("--method uk-means --oracle affinity", "--oracle affinity of 40000 objects: 51.2 GB"),
        ("--method uk-means --oracle mean-shift", "--oracle mean-shift of 40000 objects: 7.7 GB"),
    ] {
        let (code, err) = goc(&format!("cluster c.csv --features x --k 3 --threads 2 {flags} -o labels.csv"));
        assert_eq!(code, Some(1), "{flags}: {err}");
        assert!(err.contains(words), "{flags}: {err}");
    }
    for flags in ["--dwarfs 1000000000", "--field 1000000000"] {
        let (code, err) = goc(&format!("simulate --threads 2 --stars-out s.csv {flags}"));
        assert_eq!(code, Some(1), "{flags}: {err}");
        assert!(err.contains("a catalogue of ") && err.contains("; simulate fewer"), "{flags}: {err}");
    }
    assert_eq!(desk.files(), ["c.csv"]);
}
