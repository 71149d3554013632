//! Where a file's bytes are written, so that a reader never sees a partial table.
//!
//! An ordinary file is written to a temporary name in the same folder and renamed when it is
//! complete; on failure the temporary file is removed and an existing file of that name is left
//! unchanged. A program that is asked to end removes it with [`abandon_writing`]. A symbolic link
//! is followed: its target is replaced. The new file gets the mode of the one that it replaces, and
//! its owner where that is allowed. What cannot be replaced by renaming is written directly: a
//! FIFO, a device, or a stream of the process such as /dev/stdout.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Result, TableError};

/// Maximum number of links that are followed, as in Linux.
const LINKS: usize = 40;

/// Where the bytes of one output go.
pub(crate) enum Destination {
    /// A file that is created or replaced by a rename: its resolved name, after following all
    /// links.
    File(PathBuf),
    /// Something that takes bytes as they are written.
    Stream(PathBuf),
}

impl Destination {
    /// What a path refers to.
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

/// A stream that the process has open. If it is a file, renaming over it would detach the two.
fn is_stream_of_process(path: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd"];
    cfg!(unix)
        && (["/dev/stdout", "/dev/stderr"].iter().any(|name| path == Path::new(name))
            || path.parent().is_some_and(|folder| folders.iter().any(|name| folder == Path::new(name))))
}

/// The file at the end of a chain of symbolic links, whether it exists or not.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        let Ok(target) = fs::read_link(&path) else { return Ok(path) };
        // A relative link is resolved from its own folder; an absolute one replaces the whole path.
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other("its symbolic links form a loop"))
}

/// A system error with the file's name.
pub(crate) fn failed(path: &Path, doing: &'static str) -> impl Fn(io::Error) -> TableError {
    move |source| TableError::Io { file: path.to_path_buf(), doing, source }
}

/// Lets `fill` write the file `path`, atomically where the system allows it.
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
            // Append, in case it is a file that another process writes too.
            let file = OpenOptions::new().append(true).open(name).map_err(failed(path, "open"))?;
            write(file).map(drop)
        }
    }
}

/// Creates the temporary file of `path` and removes it, so that the system reports errors now
/// rather than later.
pub(crate) fn try_to_create(path: &Path) -> Result<()> {
    match Destination::of(path)? {
        Destination::File(name) => Temporary::beside(&name).map(drop).map_err(failed(path, "create")),
        // Opening a FIFO would wait for its reader.
        Destination::Stream(_) => Ok(()),
    }
}

/// The existing temporary files. The lock is held while one is created, renamed or removed.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every incomplete file, for a program that was asked to end. Nothing is written
/// afterwards: further attempts block until the process ends.
pub fn abandon_writing() {
    let mut unfinished = unfinished();
    for path in unfinished.drain(..) {
        let _ = fs::remove_file(path); // there is nobody left to tell
    }
    std::mem::forget(unfinished);
}

/// The same without waiting or allocating, for a program that is out of memory. A file that is
/// being created or renamed at this moment stays.
pub fn abandon_writing_at_once() {
    if let Ok(mut unfinished) = UNFINISHED.try_lock() {
        for path in unfinished.iter() {
            let _ = fs::remove_file(path); // there is nobody left to tell
        }
        unfinished.clear();
        std::mem::forget(unfinished);
    }
}

/// An incomplete file, removed when dropped.
struct Temporary(PathBuf);

impl Temporary {
    /// A new file in the folder of `path`, with a unique name and the mode of the existing file.
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

    /// Gives the completed file its final name.
    fn rename(self, to: &Path) -> io::Result<()> {
        // The lock is released before `self` is dropped, which takes it too.
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
            // The first error is the one to report; a left-over temporary file does less harm.
            let _ = fs::remove_file(&self.0);
        }
    }
}

/// A new file with the mode and owner of `old`, if that exists.
#[cfg(unix)]
fn create_like(new: &Path, old: &Path) -> io::Result<File> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};

    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let Ok(like) = fs::metadata(old) else { return options.open(new) };
    // Readable by nobody else until it has the permissions of the old one.
    let file = options.mode(0o600).open(new)?;
    let mine = file.metadata()?;
    let mut mode = like.mode() & 0o7777;
    if (like.uid(), like.gid()) != (mine.uid(), mine.gid())
        && fchown(&file, Some(like.uid()), Some(like.gid())).is_err()
    {
        // The file then belongs to us, like any new one; the old group's permissions do not apply
        // to our group.
        mode &= 0o707;
    }
    file.set_permissions(fs::Permissions::from_mode(mode)).inspect_err(|_| {
        let _ = fs::remove_file(new);
    })?;
    Ok(file)
}

/// For systems without such modes.
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
        assert!(said.contains("links form a loop"), "{said}");
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
