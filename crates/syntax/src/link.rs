//! Linking: a program and the files that it uses, as one text.
//!
//! In: a source, where it lies below the root, and a reader of files.  Out: a linked source with every file once, the program first;
//! or what is wrong, in a source that shows it. Paths are relative to the file that names them, and stay below the root: the reader gets
//! them from there, with neither `.` nor `..` in them.
//! Not here: reading files; what is done with the functions of other files (`program`).

use diag::{Diagnostic, Source, Span};

use crate::ast::Use;
use crate::{MAX_SOURCE_BYTES, parse};

/// The files that one program may consist of.
const MAX_FILES: usize = 256;

/// What is wrong, and the text that it is wrong in.
pub type Unlinked = (Source, Vec<Diagnostic>);

/// Reads the file at a path below the root, or says why that cannot be done.
pub type Read<'a> = dyn FnMut(&str) -> Result<Source, String> + 'a;

/// The program with all files that it uses. `at` is its own path below the root.
pub fn link(program: &Source, at: &str, read: &mut Read<'_>) -> Result<Source, Unlinked> {
    let mut linker = Linker { read, files: Vec::new(), paths: Vec::new(), starts: Vec::new(), open: Vec::new() };
    let path = resolve("", at).unwrap_or_default();
    linker.add(program.clone(), path)?;
    if linker.files.len() == 1 {
        return Ok(program.clone());
    }
    Ok(Source::linked(&linker.files))
}

struct Linker<'r, 'a> {
    read: &'r mut Read<'a>,
    files: Vec<Source>,
    /// Of each file, its path and where it begins in the linked text.
    paths: Vec<String>,
    starts: Vec<usize>,
    /// The files under way, from the program on, each with the `use` that leads on.
    open: Vec<(usize, Span)>,
}

impl Linker<'_, '_> {
    /// Adds a file, and behind it those that it uses.
    fn add(&mut self, file: Source, path: String) -> Result<(), Unlinked> {
        let number = self.files.len();
        let start = self.files.last().map_or(0, |last| self.starts[number - 1] + last.text().len() + 1);
        // A program that is too large by itself is told so as any other.
        if number > 0 && start + file.text().len() > MAX_SOURCE_BYTES {
            let message = format!("all files together have more than {} KiB", MAX_SOURCE_BYTES >> 10);
            return Err(self.refuse(Diagnostic::error("E0002", self.place(), message)));
        }
        let parsed = parse(&file);
        self.files.push(file);
        self.paths.push(path);
        self.starts.push(start);
        let shift = |span: Span| Span::new(start + span.start as usize, start + span.end as usize);
        let parsed = parsed.map_err(|errors| {
            let shifted = errors.into_iter().map(|mut error| {
                error.labels.iter_mut().for_each(|label| label.span = shift(label.span));
                error
            });
            (Source::linked(&self.files), shifted.collect())
        })?;
        for Use { path, span } in parsed.uses {
            self.open.push((number, shift(span)));
            self.follow(number, &path)?;
            self.open.pop();
        }
        Ok(())
    }

    /// Adds the file that another one names, unless it is there.
    fn follow(&mut self, from: usize, named: &str) -> Result<(), Unlinked> {
        let folder = self.paths[from].rsplit_once('/').map_or("", |(folder, _)| folder);
        let Some(path) = resolve(folder, named) else {
            let message = format!("`{named}` does not stay below the root of the program");
            return Err(self.refuse(
                Diagnostic::error("E0115", self.place(), message).note(
                    "files are found below the folder of the program, or below the one that is given as the root",
                ),
            ));
        };
        if let Some(known) = self.paths.iter().position(|other| *other == path) {
            return match self.open.iter().position(|(file, _)| *file == known) {
                Some(begin) => Err(self.circle(begin)),
                None => Ok(()),
            };
        }
        if self.files.len() >= MAX_FILES {
            let message = format!("a program consists of at most {MAX_FILES} files");
            return Err(self.refuse(Diagnostic::error("E0115", self.place(), message)));
        }
        match (self.read)(&path) {
            Ok(file) => self.add(file, path),
            Err(why) => {
                let message = format!("cannot read `{named}`: {why}");
                Err(self.refuse(Diagnostic::error("E0115", self.place(), message).here("used here")))
            }
        }
    }

    fn circle(&self, begin: usize) -> Unlinked {
        let round = &self.open[begin..];
        let mut names: Vec<String> = round.iter().map(|(file, _)| format!("`{}`", self.files[*file].name())).collect();
        names.push(names[0].clone());
        let message = match round {
            [_] => format!("{} uses itself", names[0]),
            _ => format!("files use each other in a circle: {}", names.join(" → ")),
        };
        let mut diagnostic = Diagnostic::error("E0115", self.place(), message).here("comes back here");
        for (_, span) in round.iter().take(round.len() - 1) {
            diagnostic = diagnostic.label(*span, "from here");
        }
        self.refuse(diagnostic)
    }

    /// The `use` that is being followed.
    fn place(&self) -> Span {
        self.open.last().map_or(Span::default(), |(_, span)| *span)
    }

    fn refuse(&self, diagnostic: Diagnostic) -> Unlinked {
        (Source::linked(&self.files), vec![diagnostic])
    }
}

/// A path from a folder, both below the root, without `.` and `..`; `None` if it leaves the root.
fn resolve(folder: &str, named: &str) -> Option<String> {
    if named.starts_with('/') || named.contains(['\\', ':', '\0']) {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in named.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)], main: &str) -> Result<Source, String> {
        let mut asked = Vec::new();
        let mut reader = |path: &str| {
            asked.push(path.to_owned());
            let found = files.iter().find(|(name, _)| *name == path);
            found.map(|(name, text)| Source::new(*name, *text)).ok_or_else(|| "there is no such file".to_owned())
        };
        let program = Source::new("main.fks", main);
        link(&program, "main.fks", &mut reader)
            .map_err(|(source, errors)| diag::render(&source, &errors, diag::Style::Plain))
    }

    #[test]
    fn each_file_is_there_once_and_paths_are_relative() {
        let files = [
            ("lib/a.fks", "use \"b.fks\"\nfn a() -> (y: f64) { y = 1 }\n"),
            ("lib/b.fks", "use \"../c.fks\"\nfn b() -> (y: f64) { y = 1 }\n"),
            ("c.fks", "const C = 1\n"),
        ];
        let linked = read(&files, "use \"lib/a.fks\"; use \"./lib/../c.fks\"\n").map(|source| source.text().to_owned());
        let text = linked.unwrap_or_else(|error| error);
        assert_eq!(text.matches("fn a").count(), 1, "{text}");
        assert_eq!(text.matches("const C").count(), 1, "{text}");
    }

    #[test]
    fn what_is_wrong_is_shown_in_its_file() {
        let files = [
            ("a.fks", "fn a() -> (y: f64) { y = 1 }\n\nuse \"b.fks\"\n"),
            ("b.fks", "use \"a.fks\"\n"),
            ("broken.fks", "\n\nfn f( { }\n"),
            ("out.fks", "use \"../x.fks\"\n"),
        ];
        for (main, words) in [
            ("use \"a.fks\"\n", &["circle: `a.fks` → `b.fks` → `a.fks`", "b.fks:1:", "a.fks:3:"] as &[&str]),
            ("use \"main.fks\"\n", &["`main.fks` uses itself", "main.fks:1:"]),
            ("use \"broken.fks\"\n", &["broken.fks:3:"]),
            ("use \"out.fks\"\n", &["`../x.fks` does not stay below the root", "out.fks:1:"]),
            ("use \"/etc/passwd\"\n", &["does not stay below the root"]),
            ("use \"none.fks\"\n", &["cannot read `none.fks`: there is no such file"]),
        ] {
            let error = read(&files, main).map(|source| source.text().to_owned()).expect_err(main);
            words.iter().for_each(|word| assert!(error.contains(word), "{word} in\n{error}"));
        }
    }
}
