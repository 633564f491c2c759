//! What decides which loops a function has: its source, the options, and who compiles.

use std::fmt;
use std::sync::OnceLock;

use diag::Source;

use crate::{Options, Schedule};

/// A hash of everything that the loops of a function depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(blake3::Hash);

impl Key {
    /// The key of one function of a source; `options` are those that it is compiled with.
    pub(crate) fn new(source: &Source, function: &str, options: &Options) -> Key {
        // Every option is named, so that a new one cannot be forgotten here.
        let Options {
            emit: _,
            time_limit,
            operation_limit,
            memory_limit,
            order,
            strict_order,
            math,
            verify_dynamic: _,
            cpu,
            threads: _,
            worth_sharing: _,
            recipes: _,
            machine: _,
            passed_over,
            // The code for all sizes is what is kept.
            specialize: _,
            ahead: _,
            draw: _,
            target,
            device,
            schedule,
            cache: _,
        } = options;
        let (kind, script) = match schedule {
            None => ("none", ""),
            Some(Schedule::Beside(_)) => ("beside", ""),
            Some(Schedule::Script(script)) => ("script", script.text()),
            Some(Schedule::Tree(tree)) => ("tree", tree.text()),
        };
        let limits = format!("{time_limit:?} {operation_limit:?} {memory_limit:?}");
        // Recipes and the machine that they are for.
        let facts = options.facts();
        let choices = format!("{order:?} {strict_order} {math:?} {cpu:?} {target} {device:?} {facts:?} {passed_over}");
        Key::of([compiler(), function, source.text(), &limits, &choices, kind, script])
    }

    /// The key of a text that says all there is to say.
    pub(crate) fn of_text(text: &str) -> Key {
        Key::of([text])
    }

    fn of<'a>(parts: impl IntoIterator<Item = &'a str>) -> Key {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            // With their lengths, so that nothing can move from one part to the next.
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        Key(hasher.finalize())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.to_hex().as_str())
    }
}

/// The compiler: its version, and when the program that it is part of was built, because a compiler that is worked on keeps its
/// version while it changes.
fn compiler() -> &'static str {
    static COMPILER: OnceLock<String> = OnceLock::new();
    COMPILER.get_or_init(|| {
        let built = std::env::current_exe().and_then(|path| path.metadata()).and_then(|file| {
            let time = file.modified()?.duration_since(std::time::UNIX_EPOCH);
            Ok((file.len(), time.unwrap_or_default()))
        });
        format!("{} {:?}", env!("CARGO_PKG_VERSION"), built.ok())
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn all_that_decides_is_in_the_key() {
        let (source, other) = (Source::new("a", "fn f() {}"), Source::new("a", "fn f() { }"));
        let options = Options::default();
        let key = Key::new(&source, "f", &options);
        assert_eq!(key, Key::new(&Source::new("b", "fn f() {}"), "f", &options));
        assert_ne!(key, Key::new(&other, "f", &options));
        assert_ne!(key, Key::new(&source, "g", &options));
        let script = Schedule::Script(other);
        for changed in [
            Options { time_limit: Duration::from_secs(1), ..Options::default() },
            Options { strict_order: true, ..Options::default() },
            Options { math: crate::Math::Fast, ..Options::default() },
            Options { order: crate::Order::Original, ..Options::default() },
            Options { recipes: crate::Recipes::None, ..Options::default() },
            Options { passed_over: 1, ..Options::default() },
            Options { schedule: Some(script), ..Options::default() },
        ] {
            assert_ne!(key, Key::new(&source, "f", &changed), "{changed:?}");
        }
        let quick = Options { worth_sharing: Some(Duration::ZERO), verify_dynamic: true, ..Options::default() };
        assert_eq!(key, Key::new(&source, "f", &quick));
    }

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(Key::of(["ab", "c"]), Key::of(["a", "bc"]));
    }
}
