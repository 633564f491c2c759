//! What the engines of a process remember: code, because nobody else can have touched it.

use std::sync::{Arc, Mutex, PoisonError};

use super::Key;
use crate::pipeline::Code;

/// How many functions are kept; the one that was not asked for longest goes first.
const MOST: usize = 64;

/// Code by key, what was used last at the end.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<Vec<(Key, Arc<Code>)>>);

impl Memory {
    pub(crate) fn recall(&self, key: &Key) -> Option<Arc<Code>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let position = known.iter().position(|(known, _)| known == key)?;
        let found = known.remove(position);
        let code = Arc::clone(&found.1);
        known.push(found);
        Some(code)
    }

    pub(crate) fn remember(&self, key: Key, code: &Arc<Code>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(known, _)| *known != key);
        if known.len() >= MOST {
            known.remove(0);
        }
        known.push((key, Arc::clone(code)));
    }
}
