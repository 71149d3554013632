//! A folder to work in, and the command run there: messages name files relative to it, so that
//! nothing of the machine is in them.

use std::path::PathBuf;

use assert_cmd::Command;
use goc::synthetic::{COORDINATES, SyntheticParams};
use goc_tables::{Column, Data, Table};
use tempfile::TempDir;

pub struct Desk {
    folder: TempDir,
}

/// What a command left.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Desk {
    pub fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// A desk with these files on it.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let desk = Self::new();
        for (name, text) in files {
            desk.put(name, text.as_bytes());
        }
        desk
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub fn write(&self, name: &str, table: &Table) {
        goc_tables::write(table, &self.path(name)).unwrap();
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    pub fn table(&self, name: &str) -> Table {
        goc_tables::read(&self.path(name)).unwrap()
    }

    /// The files on the desk, hidden ones too, in order.
    pub fn files(&self) -> Vec<String> {
        let folder = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_goc"));
        command.current_dir(self.folder.path()).env_remove("COLUMNS").env_remove("RUST_BACKTRACE");
        command
    }

    /// Runs `goc` with words separated by blanks.
    pub fn goc(&self, words: &str) -> Run {
        let output = self.command().args(words.split_whitespace()).output().unwrap();
        Run {
            code: output.status.code().expect("ended by a signal"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs `goc`, which must do its work.
    pub fn done(&self, words: &str) -> Run {
        let run = self.goc(words);
        assert_eq!(run.code, 0, "goc {words}: {}", run.err);
        run
    }

    /// Runs `goc ... --json` and reads what it says.
    pub fn json(&self, words: &str) -> serde_json::Value {
        serde_json::from_str(&self.done(words).out).unwrap()
    }

    /// Runs `goc`, which must refuse with exactly this on standard error and leave the desk as it was.
    #[track_caller]
    pub fn refused(&self, words: &str, code: i32, message: &str) {
        let before = self.files();
        let run = self.goc(words);
        assert_eq!(run.err, format!("{message}\n"), "goc {words}");
        assert_eq!((run.code, run.out.as_str()), (code, ""), "goc {words}");
        assert!(run.err.lines().count() <= 2, "too long: {}", run.err);
        assert_eq!(self.files(), before, "goc {words} left something behind");
    }
}

/// `0.123 s` as `# s`, and the last column of the demonstration's table.
pub fn without_seconds(text: &str) -> String {
    let is_time = |word: &str| word.parse::<f64>().is_ok() && word.contains('.');
    let line = |line: &str| -> String {
        if let Some(before) = line.strip_suffix(" s")
            && let Some((rest, time)) = before.rsplit_once(' ')
            && is_time(time)
        {
            return format!("{rest} # s");
        }
        line.to_string()
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Twelve objects in three groups on a line, three candidates each, with penalties and the truth.
pub fn three_groups() -> String {
    let mut text = String::from("object,x,y,penalty,truth\n");
    for i in 0..12 {
        let group = i % 3;
        for j in 0..3 {
            let x = 10.0 * f64::from(group) + 0.25 * f64::from(i / 3) + 2.0 * f64::from(j - 1);
            let y = 0.5 * f64::from(i / 3) - f64::from(group);
            text.push_str(&format!("star-{i},{x:?},{y:?},{:?},g{group}\n", f64::from((j - 1) * (j - 1))));
        }
    }
    text
}

/// A catalogue of the library's own kind.
pub fn catalogue(groups: usize, seed: u64) -> Table {
    let made = SyntheticParams { groups, ..Default::default() }.draw(seed).unwrap();
    let n = made.truth.len() as i64;
    let mut columns = vec![Column::new("object", Data::I64((0..n).map(|i| 100 + 7 * i).collect()))];
    for (c, name) in COORDINATES.iter().enumerate() {
        let of = |points: &goc::Points| Data::F64(points.rows().map(|row| row[c]).collect());
        columns.push(Column::new(*name, of(&made.values)));
        columns.push(Column::new(format!("{name}_error"), of(&made.errors)));
    }
    columns.push(Column::new("truth", Data::I64(made.truth)));
    Table::new(columns).unwrap()
}

/// The names of a table's columns with a blank between.
pub fn columns(table: &Table) -> String {
    table.names().join(" ")
}

/// The shared data, or none after saying so; where `CI=true`, absence is a failure.
pub fn data(test: &str) -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("GOC_DATA").map_or(beside, PathBuf::from);
    if folder.join("paper").is_dir() {
        return folder.canonicalize().ok();
    }
    let message = format!("{test}: SKIPPED: no data in {} (set GOC_DATA)", folder.display());
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{message}");
    eprintln!("{message}");
    None
}
