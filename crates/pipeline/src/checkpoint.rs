//! A folder of finished pieces, with a description of the work they belong to.
//!
//! `checkpoint.json` identifies the work: the version of goc, the task, the settings and a digest
//! of the input. A folder with a different identity is refused, because its pieces would be wrong,
//! and the error names the difference. Each piece is a separate file, written under a temporary
//! name and then renamed, so work that is killed at any moment leaves only complete pieces.

use std::fs;
use std::path::{Path, PathBuf};

use goc::Candidates;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::PipelineError;
use crate::error::Result;
use crate::keep::Keep;
use crate::prepared::Prepared;
use crate::settings::{LIST, Settings};

/// The file that identifies the work and its settings.
const IDENTITY: &str = "checkpoint.json";

/// A folder of finished pieces of one task.
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("goc-doc-checkpoint-{}", std::process::id()));
/// use goc_pipeline::checkpoint::Checkpoint;
/// use goc_pipeline::keep::Keep;
/// let first = Checkpoint::open(&folder, "sums", &[("seed", "1".into())])?;
/// first.keep("half", &serde_json::json!(0.5))?;
/// let again = Checkpoint::open(&folder, "sums", &[("seed", "1".into())])?;
/// assert_eq!(again.kept("half")?, Some(serde_json::json!(0.5)));
/// let other = Checkpoint::open(&folder, "sums", &[("seed", "2".into())]);
/// assert!(other.unwrap_err().to_string().contains("its seed is 1, not 2"));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Checkpoint {
    folder: PathBuf,
}

impl Checkpoint {
    /// Opens a folder for the work that these settings describe, and creates it if it does not
    /// exist.
    pub fn open(folder: &Path, work: &str, settings: &[(&str, String)]) -> Result<Self> {
        let mut identity = Map::new();
        identity.insert("format".into(), json!("goc checkpoint"));
        identity.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
        identity.insert("work".into(), json!(work));
        for (name, value) in settings {
            identity.insert((*name).into(), json!(value));
        }
        let io = |error: std::io::Error| failed!("{}: {error}", folder.display());
        fs::create_dir_all(folder).map_err(io)?;
        let path = folder.join(IDENTITY);
        match fs::read_to_string(&path) {
            Ok(text) => check(folder, &text, &identity)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                // Pieces must not be mixed with unrelated files.
                let visible = |entry: &fs::DirEntry| !entry.file_name().to_string_lossy().starts_with('.');
                if fs::read_dir(folder).map_err(io)?.flatten().any(|entry| visible(&entry)) {
                    let folder = folder.display();
                    return Err(usage!("{folder}: is neither empty nor a checkpoint; use another folder"));
                }
                goc_tables::write_text(&format!("{:#}\n", Value::Object(identity)), &path)?;
            }
            Err(error) => return Err(failed!("{}: {error}", path.display())),
        }
        Ok(Self { folder: folder.to_path_buf() })
    }

    /// The file of a piece. Names contain slashes, which file names cannot.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{}.json", name.replace('/', "~")))
    }
}

/// Refuses a folder of different work.
fn check(folder: &Path, text: &str, identity: &Map<String, Value>) -> Result<()> {
    let shown = folder.display();
    let Ok(Value::Object(there)) = serde_json::from_str(text) else {
        return Err(usage!("{shown}: {IDENTITY} is damaged; use another folder, or remove this one"));
    };
    let plain = |value: Option<&Value>| match value {
        None => "absent".to_string(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let names = identity.keys().chain(there.keys());
    match names.into_iter().find(|name| there.get(*name) != identity.get(*name)) {
        None => Ok(()),
        Some(name) => Err(usage!(
            "{shown}: a checkpoint of different work: its {name} is {}, not {}; use another folder, or \
             remove this one",
            plain(there.get(name)),
            plain(identity.get(name))
        )),
    }
}

impl Keep for Checkpoint {
    fn kept(&self, name: &str) -> Result<Option<Value>> {
        let path = self.path(name);
        match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map(Some).map_err(|_| self.damaged(name)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed!("{}: {error}", path.display())),
        }
    }

    fn keep(&self, name: &str, piece: &Value) -> Result<()> {
        Ok(goc_tables::write_text(&format!("{piece}\n"), &self.path(name))?)
    }

    fn damaged(&self, name: &str) -> PipelineError {
        failed!("{}: not a part of this checkpoint; remove it", self.path(name).display())
    }
}

/// Settings that say how often a fit is repeated and how the repeats are judged. They do not change
/// the repeats themselves, so work may continue with other values of them.
const OF_THE_REPEATS: [&str; 4] = ["stability", "significance", "noise", "fdr"];

/// Opens a folder for a fit: the chains of the mixture, and the repeats for stability and significance.
pub fn of_fit(folder: &Path, prepared: &Prepared, settings: &Settings, seed: u64) -> Result<Checkpoint> {
    let mut identity = vec![
        ("candidates", digest([&prepared.data.candidates])),
        ("kind of penalties", format!("{:?}", prepared.data.penalties)),
        ("seed", seed.to_string()),
    ];
    let listed = LIST.iter().filter(|setting| !OF_THE_REPEATS.contains(&setting.name));
    identity.extend(listed.filter_map(|setting| setting.get(settings).map(|value| (setting.name, value))));
    if let Some(labels) = &settings.initial_labels {
        identity.push(("initial_labels", digest_of(labels.iter().map(|label| label.to_le_bytes()))));
    }
    Checkpoint::open(folder, "fit", &identity)
}

/// A digest of pieces of data.
pub fn digest_of<B: AsRef<[u8]>>(pieces: impl IntoIterator<Item = B>) -> String {
    let mut hash = Sha256::new();
    for piece in pieces {
        hash.update((piece.as_ref().len() as u64).to_le_bytes());
        hash.update(piece.as_ref());
    }
    shown(hash)
}

fn shown(hash: Sha256) -> String {
    hash.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A digest of candidates as a method sees them: features, penalties and ids.
pub fn digest<'c>(all: impl IntoIterator<Item = &'c Candidates>) -> String {
    let mut hash = Sha256::new();
    for candidates in all {
        hash.update((candidates.objects() as u64).to_le_bytes());
        hash.update((candidates.features() as u64).to_le_bytes());
        for i in 0..candidates.objects() {
            hash.update(candidates.name(i).as_bytes());
            hash.update([0]);
            hash.update((candidates.count(i) as u64).to_le_bytes());
            for f in 0..candidates.features() {
                candidates.feature(i, f).iter().for_each(|value| hash.update(value.to_le_bytes()));
            }
            candidates.penalties(i).iter().for_each(|value| hash.update(value.to_le_bytes()));
        }
    }
    shown(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(result: Result<Checkpoint>) -> String {
        result.map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[test]
    fn another_version_setting_or_folder_is_refused_by_name() {
        let folder = std::env::temp_dir().join(format!("goc-checkpoint-{}", std::process::id()));
        let open = |work: &str, seed: &str| Checkpoint::open(&folder, work, &[("seed", seed.to_string())]);
        open("compare", "1").unwrap();
        assert_eq!(said(open("compare", "1")), "");
        assert!(said(open("compare", "2")).contains("its seed is 1, not 2"));
        assert!(said(open("fit", "1")).contains("its work is compare, not fit"));
        let fewer = Checkpoint::open(&folder, "compare", &[]);
        assert!(said(fewer).contains("its seed is 1, not absent"));
        let path = folder.join(IDENTITY);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace(env!("CARGO_PKG_VERSION"), "0.0.9")).unwrap();
        assert!(said(open("compare", "1")).contains("its version is 0.0.9, not"));
        fs::write(&path, "{").unwrap();
        assert!(said(open("compare", "1")).contains("is damaged"));
        fs::remove_file(&path).unwrap();
        fs::write(folder.join("thesis.txt"), "").unwrap();
        assert!(said(open("compare", "1")).contains("neither empty nor a checkpoint"));
        fs::remove_dir_all(&folder).unwrap();
    }
}
