//! Memory for local arrays that calls leave for the next one, so that these need not ask the system for it.
//!
//! In: what arrays need, call after call.  Out: buffers that earlier calls have left, where one is large enough. A host can own them; else
//! each thread keeps a few, because small calls would otherwise spend most of their time on pages that the system takes back and forth.

use std::cell::Cell;

use crate::code::Scratch;

/// So many bytes does a thread keep at most.
const KEPT: usize = 4 << 20;

thread_local! {
    /// What calls of this thread have left.
    static SPARE: Cell<Workspace> = Cell::default();
}

/// Memory for the local arrays of calls, of any functions and sizes, one after the other. It grows to what the largest of them needs, and
/// is freed on drop. What a call leaves in it no other call reads: local arrays are written before they are read.
#[derive(Debug, Default)]
pub struct Workspace {
    free: Vec<Scratch>,
}

impl Workspace {
    /// Nothing yet.
    pub fn new() -> Workspace {
        Workspace::default()
    }

    /// Runs something with what the thread has kept, and keeps what that leaves.
    pub(crate) fn with_spare<T>(work: impl FnOnce(&mut Workspace) -> T) -> T {
        // A thread that is about to end keeps nothing.
        let mut spare = SPARE.try_with(Cell::take).unwrap_or_default();
        let result = work(&mut spare);
        spare.free.sort_by_key(Scratch::bytes);
        while spare.bytes() > KEPT {
            spare.free.pop();
        }
        let _ = SPARE.try_with(|kept| kept.set(spare));
        result
    }

    /// How much memory it holds.
    pub fn bytes(&self) -> usize {
        self.free.iter().map(Scratch::bytes).sum()
    }

    /// The smallest buffer that is large enough, or a new one instead of the largest that is not; `None` if that cannot be had.
    pub(crate) fn take(&mut self, bytes: usize) -> Option<Scratch> {
        let sized = || self.free.iter().map(Scratch::bytes).enumerate();
        if let Some((position, _)) = sized().filter(|(_, size)| *size >= bytes).min_by_key(|(_, size)| *size) {
            return Some(self.free.swap_remove(position));
        }
        if let Some((position, _)) = sized().max_by_key(|(_, size)| *size) {
            self.free.swap_remove(position);
        }
        Scratch::new(bytes)
    }

    /// Takes buffers back.
    pub(crate) fn give_back(&mut self, buffers: Vec<Scratch>) {
        self.free.extend(buffers);
    }
}
