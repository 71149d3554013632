//! Where a file's bytes go, so that a reader never sees half a table.
//!
//! An ordinary file is written to a temporary name in the same folder and renamed when it is complete;
//! on failure the temporary file is removed and an older file of that name stays as it was; a program
//! that is told to end removes it by [`abandon_writing`]. A symbolic link stays one: the file that it
//! points to is the one that is replaced. The new file has the mode of the one that it replaces, and
//! its owner where that is allowed. What cannot be renamed over is written into as it is: a FIFO, a
//! device, a stream of the process such as /dev/stdout.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Result, TableError};

/// Links that are followed, at most, as Linux does.
const LINKS: usize = 40;

/// Where the bytes of one output go.
pub(crate) enum Destination {
    /// A file that is replaced, or made, by a rename: its own name, behind all links.
    File(PathBuf),
    /// Something that takes bytes as they come.
    Stream(PathBuf),
}

impl Destination {
    /// What a name stands for.
    pub fn of(path: &Path) -> Result<Self> {
        if is_stream_of_process(path) {
            return Ok(Self::Stream(path.to_path_buf()));
        }
        let name = behind_links(path).map_err(failed(path, "create"))?;
        Ok(match fs::metadata(&name) {
            Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => Self::Stream(name),
            _ => Self::File(name),
        })
    }
}

/// A stream that the process has open. If it is a file, renaming over it would part the two.
fn is_stream_of_process(path: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd"];
    cfg!(unix)
        && (["/dev/stdout", "/dev/stderr"].iter().any(|name| path == Path::new(name))
            || path.parent().is_some_and(|folder| folders.iter().any(|name| folder == Path::new(name))))
}

/// The file that a chain of symbolic links ends at, whether it is there or not.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        let Ok(target) = fs::read_link(&path) else { return Ok(path) };
        // A relative link is seen from its own folder; an absolute one replaces all of it.
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other("its symbolic links go round in a ring"))
}

/// An error of the system, with the file's name.
pub(crate) fn failed(path: &Path, doing: &'static str) -> impl Fn(io::Error) -> TableError {
    move |source| TableError::Io { file: path.to_path_buf(), doing, source }
}

/// Lets `fill` write the file `path`: complete or not at all, where the system allows it.
pub(crate) fn write_to(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> Result<()>) -> Result<()> {
    let write = |file: File| {
        let mut out = BufWriter::with_capacity(1 << 18, file);
        fill(&mut out)?;
        out.into_inner().map_err(|error| failed(path, "write")(error.into_error()))
    };
    match Destination::of(path)? {
        Destination::File(name) => {
            let (temporary, file) = Temporary::beside(&name).map_err(failed(path, "create"))?;
            write(file)?;
            temporary.rename(&name).map_err(failed(path, "rename the finished file to its name"))
        }
        Destination::Stream(name) => {
            // At the end of what is there, in case it is a file that somebody else writes too.
            let file = OpenOptions::new().append(true).open(name).map_err(failed(path, "open"))?;
            write(file).map(drop)
        }
    }
}

/// Makes the temporary file of `path` and removes it: the system says now what it would say later.
pub(crate) fn try_to_create(path: &Path) -> Result<()> {
    match Destination::of(path)? {
        Destination::File(name) => Temporary::beside(&name).map(drop).map_err(failed(path, "create")),
        // To open a FIFO is to wait for its reader.
        Destination::Stream(_) => Ok(()),
    }
}

/// The temporary files there are. Whoever makes, renames or removes one holds the lock.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every file that is not complete, for a program that was told to end. Nothing is written
/// from then on: whoever tries waits for the end.
pub fn abandon_writing() {
    let mut unfinished = unfinished();
    for path in unfinished.drain(..) {
        let _ = fs::remove_file(path); // there is nobody left to tell
    }
    std::mem::forget(unfinished);
}

/// The same where nothing may be waited for or allocated: for a program that has no memory left. A
/// file that is made or renamed at this very moment stays.
pub fn abandon_writing_at_once() {
    if let Ok(mut unfinished) = UNFINISHED.try_lock() {
        for path in unfinished.iter() {
            let _ = fs::remove_file(path); // there is nobody left to tell
        }
        unfinished.clear();
        std::mem::forget(unfinished);
    }
}

/// A file that is not complete; removed when dropped.
struct Temporary(PathBuf);

impl Temporary {
    /// A new file in the folder of `path`, by a name nobody else has, with the mode of the file there.
    fn beside(path: &Path) -> io::Result<(Self, File)> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let process = std::process::id();
        let mut unfinished = unfinished();
        let mut attempt = 0;
        loop {
            let temporary = path.with_file_name(format!(".{name}.{process}-{attempt}.tmp"));
            match create_like(&temporary, path) {
                Ok(file) => {
                    unfinished.push(temporary.clone());
                    return Ok((Self(temporary), file));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => attempt += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// It is complete: gives it its name.
    fn rename(self, to: &Path) -> io::Result<()> {
        // The lock is let go before `self` is dropped, which takes it too.
        let mut unfinished = unfinished();
        let renamed = fs::rename(&self.0, to);
        if renamed.is_ok() {
            unfinished.retain(|path| *path != self.0);
        }
        drop(unfinished);
        renamed
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut unfinished = unfinished();
        if let Some(at) = unfinished.iter().position(|path| *path == self.0) {
            unfinished.swap_remove(at);
            // The first error is the one to report; a left-over temporary file is the lesser harm.
            let _ = fs::remove_file(&self.0);
        }
    }
}

/// A new file with mode and owner of `old`, where that is there.
#[cfg(unix)]
fn create_like(new: &Path, old: &Path) -> io::Result<File> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};

    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let Ok(like) = fs::metadata(old) else { return options.open(new) };
    // Readable by nobody else until it is as private as the old one.
    let file = options.mode(0o600).open(new)?;
    let mine = file.metadata()?;
    let mut mode = like.mode() & 0o7777;
    if (like.uid(), like.gid()) != (mine.uid(), mine.gid())
        && fchown(&file, Some(like.uid()), Some(like.gid())).is_err()
    {
        // The file is ours then, as any new one; what the old group was allowed is not our group's.
        mode &= 0o707;
    }
    file.set_permissions(fs::Permissions::from_mode(mode)).inspect_err(|_| {
        let _ = fs::remove_file(new);
    })?;
    Ok(file)
}

/// Where there are no such modes.
#[cfg(not(unix))]
fn create_like(new: &Path, _old: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(new)
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn write(path: &Path, bytes: &[u8]) -> Result<()> {
        write_to(path, |out| out.write_all(bytes).map_err(failed(path, "write")))
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn a_link_stays_a_link_and_its_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        fs::write(at("deep/real.csv"), "old").unwrap();
        symlink("deep/real.csv", at("first.csv")).unwrap();
        symlink(at("first.csv"), at("second.csv")).unwrap();
        write(&at("second.csv"), b"new").unwrap();
        assert_eq!(fs::read(at("deep/real.csv")).unwrap(), b"new");
        assert!(at("second.csv").is_symlink() && at("first.csv").is_symlink());
        // A link to a file that is not there yet makes it.
        symlink("deep/none.csv", at("hanging.csv")).unwrap();
        write(&at("hanging.csv"), b"made").unwrap();
        assert_eq!(fs::read(at("deep/none.csv")).unwrap(), b"made");
        assert!(at("hanging.csv").is_symlink());
        // A ring of links is an error, and nothing is left.
        symlink("b.csv", at("a.csv")).unwrap();
        symlink("a.csv", at("b.csv")).unwrap();
        let before = fs::read_dir(folder.path()).unwrap().count();
        let said = write(&at("a.csv"), b"x").unwrap_err().to_string();
        assert!(said.contains("go round in a ring"), "{said}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before);
    }

    #[test]
    fn the_mode_of_the_file_that_is_replaced_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("private.csv");
        for bits in [0o600, 0o640, 0o664] {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(bits)).unwrap();
            write(&path, b"new").unwrap();
            assert_eq!((mode(&path), fs::read(&path).unwrap()), (bits, b"new".to_vec()));
        }
        let (made, usual) = (folder.path().join("made.csv"), folder.path().join("usual"));
        write(&made, b"new").unwrap();
        fs::write(&usual, "").unwrap();
        assert_eq!(mode(&made), mode(&usual));
    }

    #[test]
    fn a_fifo_is_written_into_and_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        try_to_create(&pipe).unwrap();
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || {
                let mut text = String::new();
                File::open(pipe).unwrap().read_to_string(&mut text).unwrap();
                text
            }
        });
        write(&pipe, b"through").unwrap();
        assert_eq!(reader.join().unwrap(), "through");
        assert!(!fs::metadata(&pipe).unwrap().is_file());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
