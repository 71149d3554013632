//! The files of one task, checked before it begins.
//!
//! An output must not overwrite an input or another output, and it must be possible to write it: an
//! error now is better than one after an hour of work. Paths are compared by the file they refer
//! to, so `s.csv`, `./s.csv`, an absolute path, a symbolic link and a hard link are all the same.
//! An existing file is replaced, unless the caller wants to keep it ([`Existing`]).

use std::fs;
use std::path::{Path, PathBuf};

use crate::Format;
use crate::destination::{Destination, try_to_create};
use crate::error::{Result, TableError};

/// What to do with an existing file of the output's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// It is replaced once the new file is complete.
    #[default]
    Replace,
    /// It stays: the work is refused before it begins.
    Keep,
}

/// The files that a task reads and writes.
///
/// ```
/// use goc_tables::{Existing, Files};
/// let files = Files::default().reads(["stars.csv"]).writes_tables(["./stars.csv"]);
/// assert_eq!(
///     files.check(Existing::Replace).unwrap_err().to_string(),
///     "./stars.csv: the output would overwrite the input; name another file"
/// );
/// ```
#[derive(Clone, Debug, Default)]
pub struct Files {
    inputs: Vec<PathBuf>,
    outputs: Vec<Output>,
}

#[derive(Clone, Debug)]
struct Output {
    path: PathBuf,
    /// Its ending must be that of a table.
    table: bool,
    /// The format, if the extension need not determine it.
    format: Option<Format>,
    /// Whether a format could have been named.
    any_ending: bool,
    /// Its folder is created if it does not exist.
    makes_folder: bool,
}

impl Files {
    /// Also reads these.
    pub fn reads<P: Into<PathBuf>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        self.inputs.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Also writes these tables.
    pub fn writes_tables<P: Into<PathBuf>>(self, paths: impl IntoIterator<Item = P>) -> Self {
        self.writes_as(paths, true, false)
    }

    /// Also writes this table, in a format that its extension need not determine.
    pub fn writes_table_as(mut self, path: Option<&Path>, format: Option<Format>) -> Self {
        let output = |path: &Path| Output {
            path: path.into(),
            table: true,
            format,
            any_ending: true,
            makes_folder: false,
        };
        self.outputs.extend(path.map(output));
        self
    }

    /// Also writes these files, which may be of any kind.
    pub fn writes<P: Into<PathBuf>>(self, paths: impl IntoIterator<Item = P>) -> Self {
        self.writes_as(paths, false, false)
    }

    /// Also writes files of these names into a folder, which is created if it does not exist.
    pub fn writes_into<N: AsRef<Path>>(self, folder: &Path, names: impl IntoIterator<Item = N>) -> Self {
        self.writes_as(names.into_iter().map(|name| folder.join(name)), false, true)
    }

    fn writes_as<P: Into<PathBuf>>(
        mut self,
        paths: impl IntoIterator<Item = P>,
        table: bool,
        makes_folder: bool,
    ) -> Self {
        let output =
            |path: P| Output { path: path.into(), table, format: None, any_ending: false, makes_folder };
        self.outputs.extend(paths.into_iter().map(output));
        self
    }

    /// Refuses outputs that cannot be written or would destroy something.
    pub fn check(&self, existing: Existing) -> Result<()> {
        let inputs: Vec<Identity> = self.inputs.iter().map(|path| Identity::of(path)).collect();
        let mut outputs = Vec::with_capacity(self.outputs.len());
        for Output { path, table, format, any_ending, makes_folder } in &self.outputs {
            if *table {
                Format::asked(path, *format).map_err(|error| match any_ending {
                    true => TableError::UnknownOutput { file: path.clone() },
                    false => error,
                })?;
            }
            let overwrites =
                |problem: &str| TableError::Overwrites { file: path.clone(), problem: problem.to_string() };
            let identity = Identity::of(path);
            if inputs.contains(&identity) {
                return Err(overwrites("the output would overwrite the input; name another file"));
            }
            if outputs.contains(&identity) {
                return Err(overwrites("named for two outputs; give each a file of its own"));
            }
            outputs.push(identity);
            // Nothing is lost in a stream.
            let stream = matches!(Destination::of(path)?, Destination::Stream(_));
            if existing == Existing::Keep && !stream && fs::metadata(path).is_ok() {
                return Err(overwrites("already exists and is not to be replaced; name another file"));
            }
            check_place(path, *makes_folder)?;
        }
        Ok(())
    }
}

/// Refuses a file that could not be written.
fn check_place(path: &Path, makes_folder: bool) -> Result<()> {
    let no_place = |problem: String| Err(TableError::NoPlace { file: path.to_path_buf(), problem });
    if path.is_dir() {
        return no_place("is a folder; name a file".to_string());
    }
    let folder = folder_of(path);
    match folder.is_dir() {
        true => try_to_create(path),
        false if makes_folder => Ok(()),
        false => no_place(format!("there is no folder {}; make it first", folder.display())),
    }
}

/// The folder that a file is in, or `.` if the path has none.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Which file a path refers to, however it is written.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    /// Device and inode number of an existing file.
    #[cfg(unix)]
    Number(u64, u64),
    /// The full path of a file that does not exist yet, or on systems where files have no numbers.
    Name(PathBuf),
}

impl Identity {
    fn of(path: &Path) -> Self {
        #[cfg(unix)]
        if let Ok(metadata) = fs::metadata(path) {
            use std::os::unix::fs::MetadataExt;
            return Self::Number(metadata.dev(), metadata.ino());
        }
        let full = fs::canonicalize(path).or_else(|_| {
            let folder = fs::canonicalize(folder_of(path))?;
            Ok::<_, std::io::Error>(folder.join(path.file_name().unwrap_or_default()))
        });
        // Without a folder there is no such file, and nothing to overwrite.
        Self::Name(full.unwrap_or_else(|_| path.to_path_buf()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(files: Files) -> String {
        files.check(Existing::Replace).map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn every_spelling_of_the_input_is_the_input() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("s.csv");
        fs::write(&input, "x\n1\n").unwrap();
        let mut spellings = vec![
            input.clone(),
            folder.path().join(".").join("s.csv"),
            folder.path().join("..").join(folder.path().file_name().unwrap()).join("s.csv"),
        ];
        #[cfg(unix)]
        {
            let (soft, hard) = (folder.path().join("soft.csv"), folder.path().join("hard.csv"));
            std::os::unix::fs::symlink(&input, &soft).unwrap();
            fs::hard_link(&input, &hard).unwrap();
            spellings.extend([soft, hard]);
        }
        for spelling in spellings {
            let files = Files::default().reads([&input]).writes_tables([&spelling]);
            assert!(said(files).contains("overwrite the input"), "{}", spelling.display());
        }
        let other = folder.path().join("t.csv");
        assert_eq!(said(Files::default().reads([&input]).writes_tables([&other])), "");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), if cfg!(unix) { 3 } else { 1 });
    }

    #[test]
    fn two_outputs_on_one_file_that_is_not_there_yet_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, dotted) = (folder.path().join("a.csv"), folder.path().join("./a.csv"));
        assert!(said(Files::default().writes_tables([plain, dotted])).contains("two outputs"));
    }

    #[test]
    fn an_output_that_is_to_be_kept_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let files = Files::default().writes_tables([&path]);
        files.check(Existing::Keep).unwrap();
        fs::write(&path, "x\n").unwrap();
        files.check(Existing::Replace).unwrap();
        assert!(files.check(Existing::Keep).unwrap_err().to_string().contains("is not to be replaced"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_folder_that_takes_no_files_is_refused_beforehand() {
        // Nobody makes files here, root neither.
        let said = said(Files::default().writes_tables(["/proc/self/a.csv"]));
        assert!(said.starts_with("/proc/self/a.csv: cannot create"), "{said}");
    }
}
