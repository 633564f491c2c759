//! Files: sources are read with a limit; results replace a file as a whole or not at all.
//!
//! Out: a result is first written beside its target and then renamed over it, so that no reader ever sees half of it.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use farkas::Source;
use tempfile::NamedTempFile;

use crate::failure::{Failure, reason};

/// More than any source may have; the library says so of what is between its limit and this one.
const MAX_SOURCE_BYTES: u64 = 16 << 20;

/// Reads a program.
pub(crate) fn read_source(path: &Path) -> Result<Source, Failure> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_SOURCE_BYTES).read_to_end(&mut bytes))
        .map_err(|error| Failure::usage(format!("cannot read `{name}`: {}", reason(&error))))?;
    Ok(farkas::decode(&name, &bytes)?)
}

/// Reads a program and the files that it uses, which lie below `root`: the folder of the program, if nobody gives another.
pub(crate) fn read_program(path: &Path, root: Option<&Path>) -> Result<Source, Failure> {
    let program = read_source(path)?;
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let root = root.unwrap_or(folder);
    // Links are followed before it is looked where a file lies.
    let below = |path: &Path| -> Result<PathBuf, String> {
        let (root, path) = (fs::canonicalize(root), fs::canonicalize(path));
        let (root, path) = (root.map_err(|error| reason(&error))?, path.map_err(|error| reason(&error))?);
        let relative = path.strip_prefix(&root);
        relative.map(Path::to_path_buf).map_err(|_| format!("it is not below `{}`", root.display()))
    };
    let own = path.file_name().map(PathBuf::from).unwrap_or_default();
    let at = if root == folder { own } else { below(path).map_err(|why| outside(path, &why))? };
    let at = at.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
    let mut read = |used: &str| {
        let path = root.join(used);
        below(&path)?;
        read_source(&path).map_err(|failure| failure.to_string())
    };
    Ok(farkas::link(&program, &at, &mut read)?)
}

fn outside(path: &Path, why: &str) -> Failure {
    Failure::usage(format!("cannot use `{}` with this --root: {why}", path.display()))
}

/// Reads a program from stdin.
pub(crate) fn read_stdin() -> Result<Source, Failure> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(MAX_SOURCE_BYTES)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::usage(format!("cannot read stdin: {}", reason(&error))))?;
    Ok(farkas::decode("<stdin>", &bytes)?)
}

/// A place for a result, known to be writable as far as that can be known beforehand.
#[derive(Debug)]
pub(crate) struct Target {
    /// As the user wrote it.
    name: String,
    /// Links resolved, so that a link stays one.
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// A regular file, or one to be; with the permissions it has.
    File(Option<Permissions>),
    /// A device or a pipe, which cannot be replaced and is written to.
    Stream,
}

impl Target {
    pub(crate) fn new(path: &Path) -> Result<Target, Failure> {
        let name = path.display().to_string();
        let refuse = |why: String| Failure::usage(format!("cannot write `{name}`: {why}"));
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => return Err(refuse("it is a directory".to_string())),
            Ok(metadata) if !metadata.is_file() => {
                return Ok(Target { path: path.to_path_buf(), kind: Kind::Stream, name });
            }
            Ok(metadata) if metadata.permissions().readonly() => return Err(refuse("it is read-only".to_string())),
            Ok(metadata) => {
                let path = fs::canonicalize(path).map_err(|error| refuse(reason(&error)))?;
                check_directory(&path).map_err(|error| refuse(reason(&error)))?;
                return Ok(Target { path, kind: Kind::File(Some(metadata.permissions())), name });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(refuse(reason(&error))),
        }
        let Some(file_name) = path.file_name() else { return Err(refuse("it is not the name of a file".to_string())) };
        let directory =
            fs::canonicalize(directory_of(path)).map_err(|_| refuse("there is no such directory".into()))?;
        let path = directory.join(file_name);
        check_directory(&path).map_err(|error| refuse(reason(&error)))?;
        Ok(Target { path, kind: Kind::File(None), name })
    }

    /// Whether both would end up in one file.
    pub(crate) fn is_same(&self, other: &Target) -> bool {
        self.path == other.path && matches!(self.kind, Kind::File(_))
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Writes the contents beside the target. Dropping the result removes them again.
    pub(crate) fn stage(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Staged, Failure> {
        let failed = |error: io::Error| Failure::run(format!("cannot write `{}`: {}", self.name, reason(&error)));
        let written = match &self.kind {
            Kind::Stream => File::options().write(true).open(&self.path).and_then(|file| {
                let mut buffer = BufWriter::new(file);
                write(&mut buffer)?;
                buffer.flush()?;
                Ok(None)
            }),
            Kind::File(permissions) => beside(&self.path, permissions.as_ref()).and_then(|file| {
                let mut buffer = BufWriter::new(file);
                write(&mut buffer)?;
                let file = buffer.into_inner().map_err(io::IntoInnerError::into_error)?;
                // Else a crash of the machine could leave the new name with none of the new content.
                file.as_file().sync_all()?;
                Ok(Some(file))
            }),
        };
        match written {
            Ok(temporary) => Ok(Staged { name: self.name, path: self.path, temporary }),
            // A reader that closes a pipe early has what it wants.
            Err(error) if matches!(self.kind, Kind::Stream) && error.kind() == io::ErrorKind::BrokenPipe => {
                Ok(Staged { name: self.name, path: self.path, temporary: None })
            }
            Err(error) => Err(failed(error)),
        }
    }
}

/// Complete contents that wait to take their place.
#[derive(Debug)]
pub(crate) struct Staged {
    name: String,
    path: PathBuf,
    temporary: Option<NamedTempFile>,
}

/// Moves complete files to their places.
pub(crate) fn commit(staged: Vec<Staged>) -> Result<(), Failure> {
    for Staged { name, path, temporary } in staged {
        if let Some(temporary) = temporary {
            temporary
                .persist(&path)
                .map_err(|error| Failure::run(format!("cannot write `{name}`: {}", reason(&error.error))))?;
        }
    }
    Ok(())
}

/// Writes one text as a whole.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    let staged = Target::new(path)?.stage(|out| out.write_all(text.as_bytes()))?;
    commit(vec![staged])
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Whether files can be made in the directory of `path`; leaves nothing behind.
fn check_directory(path: &Path) -> io::Result<()> {
    tempfile::tempfile_in(directory_of(path)).map(drop)
}

/// A temporary file in the directory of `path`, with the permissions that a new file, or the replaced one, has.
fn beside(path: &Path, permissions: Option<&Permissions>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".farkas-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(directory_of(path))?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions.clone())?;
    }
    Ok(file)
}
