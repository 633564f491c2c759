//! What the engines of a process remember: code, because nobody else can have touched it, and notes.

use std::sync::{Arc, Mutex, PoisonError};

use super::Key;
use crate::pipeline::Code;

/// How many of each are kept; the one that was not asked for longest goes first.
const MOST: usize = 64;

/// Code and notes by key, what was used last at the end.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    code: Kept<Arc<Code>>,
    notes: Kept<Arc<str>>,
}

impl Memory {
    pub(crate) fn recall(&self, key: &Key) -> Option<Arc<Code>> {
        self.code.recall(key)
    }

    pub(crate) fn remember(&self, key: Key, code: &Arc<Code>) {
        self.code.remember(key, Arc::clone(code));
    }

    /// What was noted under a key.
    pub(crate) fn note(&self, key: &Key) -> Option<String> {
        self.notes.recall(key).map(|text| text.to_string())
    }

    pub(crate) fn take_note(&self, key: Key, text: &str) {
        self.notes.remember(key, text.into());
    }
}

/// A few things of one kind.
#[derive(Debug)]
struct Kept<T>(Mutex<Vec<(Key, T)>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept(Mutex::default())
    }
}

impl<T: Clone> Kept<T> {
    fn recall(&self, key: &Key) -> Option<T> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let position = known.iter().position(|(known, _)| known == key)?;
        let found = known.remove(position);
        let value = found.1.clone();
        known.push(found);
        Some(value)
    }

    fn remember(&self, key: Key, value: T) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(known, _)| *known != key);
        if known.len() >= MOST {
            known.remove(0);
        }
        known.push((key, value));
    }
}
