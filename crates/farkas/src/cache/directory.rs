//! A directory of stored texts, one file each, that any number of processes may use at once.
//!
//! A file appears under its name when it is complete (a rename), and is never changed but for its time, which says when it was used
//! last. Whoever stores removes what was not used longest when there is too much. Whatever goes wrong costs a compilation.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use etcetera::BaseStrategy;

use super::{Key, open, seal};

/// What is kept if nobody says.
const DEFAULT_LIMIT: u64 = 64 << 20;
/// Larger files are not ours.
const LARGEST_FILE: u64 = 16 << 20;
/// A file that is still being written after so long belongs to a process that is no more.
const ABANDONED: Duration = Duration::from_secs(3600);
/// What is left of the limit after making room, in percent, so that not every store has to.
const LEFT_PERCENT: u64 = 80;

const SUFFIX: &str = ".loops";
const UNFINISHED: &str = ".unfinished-";

/// A directory in which compiled functions are kept, and how much it may hold.
///
/// ```
/// use farkas::{Cache, CacheDirectory, Engine, Options};
///
/// let place = tempfile::tempdir()?;
/// let directory = CacheDirectory::new(place.path()).limit(1 << 20);
/// let options = Options { cache: Cache::Disk(directory.clone()), ..Options::default() };
/// Engine::with_options(options).compile("fn f<N>(x: f64[N]) -> (y: f64[N]) { y[i] = 2 * x[i] }")?;
/// assert_eq!(directory.size()?.functions, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheDirectory {
    path: PathBuf,
    limit: u64,
}

/// How much is in a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheSize {
    /// Functions that were compiled, each for some options, and what tuning has found out about some.
    pub functions: usize,
    /// Of all files.
    pub bytes: u64,
}

/// A file of a cache.
struct Stored {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
    unfinished: bool,
}

impl CacheDirectory {
    /// A directory, which is made when something is stored.
    pub fn new(path: impl Into<PathBuf>) -> CacheDirectory {
        CacheDirectory { path: path.into(), limit: DEFAULT_LIMIT }
    }

    /// The user's: what the environment variable `FARKAS_CACHE_DIR` says, or `farkas` among the user's caches. None if the variable is
    /// empty, or if there is no home.
    pub fn of_user() -> Option<CacheDirectory> {
        match std::env::var_os("FARKAS_CACHE_DIR") {
            Some(path) if path.is_empty() => None,
            Some(path) => Some(CacheDirectory::new(path)),
            None => {
                let caches = etcetera::choose_base_strategy().ok()?.cache_dir();
                Some(CacheDirectory::new(caches.join("farkas")))
            }
        }
    }

    /// The same with room for so many bytes.
    pub fn limit(self, bytes: u64) -> CacheDirectory {
        CacheDirectory { limit: bytes, ..self }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes it may hold.
    pub fn limit_bytes(&self) -> u64 {
        self.limit
    }

    /// What is in it; nothing if it is not there, but an error if it cannot be made either.
    pub fn size(&self) -> io::Result<CacheSize> {
        self.check_can_be_made()?;
        let stored = self.stored()?;
        let functions = stored.iter().filter(|file| !file.unfinished).count();
        Ok(CacheSize { functions, bytes: stored.iter().map(|file| file.bytes).sum() })
    }

    /// Removes what is in it, and says what that was. Files that are not of a cache stay.
    pub fn clear(&self) -> io::Result<CacheSize> {
        self.check_can_be_made()?;
        let mut removed = CacheSize::default();
        for file in self.stored()? {
            match fs::remove_file(&file.path) {
                Ok(()) => {
                    removed.functions += usize::from(!file.unfinished);
                    removed.bytes += file.bytes;
                }
                // Another process was quicker.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(removed)
    }

    /// What was stored under the key. A file that cannot be used is told of.
    pub(crate) fn recall(&self, key: &Key) -> Option<String> {
        let path = self.file(key);
        let found = match self.read(&path) {
            Ok(found) => found?,
            Err(error) => {
                warn(&path, &error);
                return None;
            }
        };
        match open(key, &found) {
            Ok(text) => Some(text.to_owned()),
            Err(why) => {
                warn(&path, &why);
                None
            }
        }
    }

    /// Tells that what a file says does not hold.
    pub(crate) fn disbelieve(&self, key: &Key, why: &str) {
        warn(&self.file(key), &why);
    }

    /// Stores a text; that it cannot be is told, and no failure.
    pub(crate) fn remember(&self, key: &Key, text: &str) {
        if let Err(error) = self.write(key, text).and_then(|()| self.make_room()) {
            tracing::warn!(directory = %self.path.display(), %error, "nothing can be stored in the cache");
        }
    }

    fn file(&self, key: &Key) -> PathBuf {
        self.path.join(format!("{key}{SUFFIX}"))
    }

    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let about = match fs::metadata(path) {
            Ok(about) => about,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        // Opening a pipe would wait for someone to write.
        if !about.is_file() || about.len() > LARGEST_FILE {
            return Err(io::Error::other("it is no file of a cache"));
        }
        self.check_owner()?;
        let file = File::open(path)?;
        let mut bytes = Vec::new();
        (&file).take(LARGEST_FILE).read_to_end(&mut bytes)?;
        // That it was used is worth knowing, but not worth failing for.
        let _ = file.set_modified(SystemTime::now());
        Ok(Some(bytes))
    }

    fn write(&self, key: &Key, text: &str) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.path)?;
        self.check_owner()?;
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.path)?;
        file.write_all(&seal(key, text))?;
        file.persist(self.file(key)).map_err(|error| error.error)?;
        Ok(())
    }

    /// Loops are proven to stay inside their arrays, but not to compute what the program says; a directory that everyone can write
    /// to is none to take them from.
    fn check_owner(&self) -> io::Result<()> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            if fs::metadata(&self.path)?.permissions().mode() & 0o002 != 0 {
                return Err(io::Error::other("everyone can write to the directory"));
            }
        }
        Ok(())
    }

    /// Whether a directory that is not there can be: whether the nearest one above it takes another. Made for a moment, a folder
    /// of any name shows it, whatever the reason may be: permissions, a file system that takes none, a full disk.
    fn check_can_be_made(&self) -> io::Result<()> {
        if self.path.try_exists()? {
            return Ok(());
        }
        let mut above = self.path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty());
        let above = above.find(|path| path.exists()).unwrap_or(Path::new("."));
        tempfile::tempdir_in(above).map(drop).map_err(|error| {
            let path = above.display();
            io::Error::other(format!("it is not there, and `{path}` takes no new directories ({})", error.kind()))
        })
    }

    fn make_room(&self) -> io::Result<()> {
        let mut stored = self.stored()?;
        let mut bytes: u64 = stored.iter().map(|file| file.bytes).sum();
        let abandoned = |file: &Stored| file.unfinished && file.used.elapsed().is_ok_and(|age| age > ABANDONED);
        let full = bytes > self.limit;
        stored.sort_by_key(|file| file.used);
        for file in stored {
            let too_much = full && bytes > self.limit / 100 * LEFT_PERCENT && !file.unfinished;
            if abandoned(&file) || too_much {
                match fs::remove_file(&file.path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => bytes = bytes.saturating_sub(file.bytes),
                }
            }
        }
        Ok(())
    }

    /// The files that are of a cache.
    fn stored(&self) -> io::Result<Vec<Stored>> {
        let files = match fs::read_dir(&self.path) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut stored = Vec::new();
        for file in files {
            let file = file?;
            let name = file.file_name();
            let Some(name) = name.to_str() else { continue };
            let unfinished = name.starts_with(UNFINISHED);
            let key = name.strip_suffix(SUFFIX).unwrap_or_default();
            let finished = key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
            // Another process may have removed it meanwhile.
            let Ok(about) = file.metadata() else { continue };
            if (unfinished || finished) && about.is_file() {
                let used = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                stored.push(Stored { path: file.path(), bytes: about.len(), used, unfinished });
            }
        }
        Ok(stored)
    }
}

fn warn(path: &Path, why: &dyn std::fmt::Display) {
    tracing::warn!(file = %path.display(), "a file of the cache is not used: {why}");
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn key(number: usize) -> Key {
        Key::of_text(&number.to_string())
    }

    #[test]
    fn what_was_not_used_longest_makes_room() {
        let place = tempfile::tempdir().unwrap();
        let cache = CacheDirectory::new(place.path().join("made")).limit(10_000);
        let text = "x".repeat(1500);
        for number in 0..5 {
            cache.remember(&key(number), &text);
            let time = SystemTime::now() - Duration::from_secs(100 - number as u64);
            File::open(cache.file(&key(number))).unwrap().set_modified(time).unwrap();
        }
        assert_eq!(cache.size().unwrap().functions, 5);
        assert!(cache.recall(&key(0)).is_some(), "now it was used last");
        cache.remember(&key(5), &text);
        cache.remember(&key(6), &text);
        let left: Vec<usize> = (0..7).filter(|number| cache.recall(&key(*number)).is_some()).collect();
        assert!(cache.size().unwrap().bytes <= 10_000);
        assert!(left.contains(&0) && left.contains(&6) && !left.contains(&1), "{left:?}");
    }

    #[test]
    fn only_files_of_a_cache_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let cache = CacheDirectory::new(place.path());
        cache.remember(&key(1), "text");
        fs::write(place.path().join("letter.txt"), "dear").unwrap();
        fs::write(place.path().join(format!("{UNFINISHED}1")), "half").unwrap();
        assert_eq!(cache.clear().unwrap().functions, 1);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
        assert_eq!(cache.size().unwrap(), CacheSize::default());
    }

    #[test]
    fn files_that_no_process_finishes_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let cache = CacheDirectory::new(place.path());
        let path = place.path().join(format!("{UNFINISHED}1"));
        fs::write(&path, "half").unwrap();
        cache.remember(&key(1), "text");
        assert!(path.exists(), "another process may be writing it");
        File::open(&path).unwrap().set_modified(SystemTime::now() - 2 * ABANDONED).unwrap();
        cache.remember(&key(2), "text");
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn directories_that_everyone_writes_to_are_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let cache = CacheDirectory::new(place.path());
        cache.remember(&key(1), "text");
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(cache.recall(&key(1)).is_none());
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o700)).unwrap();
        assert!(cache.recall(&key(1)).is_some());
    }
}
