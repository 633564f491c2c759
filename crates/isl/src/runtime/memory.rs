//! Memory: how much isl holds, and a limit on it.
//!
//! In: a context and a number of bytes.  Out: `isl_ctx_abort` when isl holds more, or when the system has none left.
//! Needs: isl built with our site file, which makes isl count. It counts per thread, which is exact, because a context and
//! all of its objects belong to one thread; so other threads of the process neither use up a limit nor hide behind it.

use std::cell::Cell;
use std::ffi::{c_int, c_longlong, c_void};
use std::ptr::null_mut;

use super::context::Context;

unsafe extern "C" {
    fn farkas_isl_memory_held() -> c_longlong;
    fn farkas_isl_memory_watch(ctx: *mut c_void, limit: c_longlong);
    fn farkas_isl_memory_exceeded() -> c_int;
    fn farkas_isl_free(memory: *mut c_void);
}

/// The limit in force in a thread.
#[derive(Clone, Copy)]
struct Limit {
    ctx: *mut c_void,
    bytes: c_longlong,
}

thread_local! {
    static IN_FORCE: Cell<Option<Limit>> = const { Cell::new(None) };
}

/// The limit that was in force before.
pub(super) struct Outer(Option<Limit>);

/// Lets isl hold so many bytes more than now, but not more than an outer limit allows.
///
/// Without a number only the outer limit and the system's own count. The context must live until [`end`].
pub(super) fn begin(context: &Context, bytes: Option<u64>) -> Outer {
    let outer = IN_FORCE.get();
    let own = bytes.map(|bytes| held().saturating_add(c_longlong::try_from(bytes).unwrap_or(c_longlong::MAX)));
    let bytes = own.unwrap_or(c_longlong::MAX).min(outer.map_or(c_longlong::MAX, |outer| outer.bytes));
    watch(Some(Limit { ctx: context.as_ptr(), bytes }));
    Outer(outer)
}

/// Puts the outer limit in force again. The context of the inner one works by now, or is aborted by the outer one.
pub(super) fn end(outer: &Outer) {
    watch(outer.0);
}

fn watch(limit: Option<Limit>) {
    IN_FORCE.set(limit);
    let Limit { ctx, bytes } = limit.unwrap_or(Limit { ctx: null_mut(), bytes: 0 });
    // SAFETY: the context is NULL, or alive until its watch ends, which replaces it.
    unsafe { farkas_isl_memory_watch(ctx, bytes) }
}

/// The bytes that isl holds in this thread.
fn held() -> c_longlong {
    // SAFETY: no preconditions.
    unsafe { farkas_isl_memory_held() }
}

/// True if the innermost limit was passed.
pub(super) fn is_exceeded() -> bool {
    // SAFETY: no preconditions.
    unsafe { farkas_isl_memory_exceeded() != 0 }
}

/// Frees what isl has given away, such as a string.
///
/// # Safety
/// `memory` was allocated by isl, belongs to the caller, and is not used again.
pub(super) unsafe fn free(memory: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { farkas_isl_free(memory) }
}

impl Context {
    /// The bytes that isl holds in this thread, in all of its contexts.
    pub fn memory_held(&self) -> u64 {
        u64::try_from(held()).unwrap_or_default()
    }
}
