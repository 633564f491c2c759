//! Memory for local arrays that a host owns, so that calls need not ask the system for it.
//!
//! In: what arrays need, call after call.  Out: buffers that earlier calls have left, where one is large enough.
//! Not here: arrays of which every thread of a parallel loop has its own.

use crate::code::Scratch;

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
