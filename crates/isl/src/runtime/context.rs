//! The isl context: owner of all objects, of the error state and of the operation counter.
//!
//! In: nothing.  Out: [`Context`], a cheap handle; the C context is freed with its last object.
//! Not here: budgets (`budget`), options (`crate::options`).

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_ulong, c_void};
use std::fmt;
use std::ptr::NonNull;
use std::rc::Rc;

use super::budget::Frame;
use super::error::{Error, ErrorKind, Resource, Result};
use super::memory;

unsafe extern "C" {
    fn isl_ctx_alloc() -> *mut c_void;
    fn isl_ctx_free(ctx: *mut c_void);
    fn isl_ctx_last_error(ctx: *mut c_void) -> c_int;
    fn isl_ctx_last_error_msg(ctx: *mut c_void) -> *const c_char;
    fn isl_ctx_last_error_file(ctx: *mut c_void) -> *const c_char;
    fn isl_ctx_last_error_line(ctx: *mut c_void) -> c_int;
    fn isl_ctx_reset_error(ctx: *mut c_void);
    fn isl_ctx_next_operation(ctx: *mut c_void) -> c_int;
    fn isl_ctx_reset_operations(ctx: *mut c_void);
    fn isl_ctx_set_max_operations(ctx: *mut c_void, max: c_ulong);
    fn isl_options_set_on_error(ctx: *mut c_void, value: c_int) -> c_int;
    fn isl_version() -> *const c_char;
    fn farkas_isl_is_repaired__if_this_is_missing_set_CONFIG_SITE_and_clean_isl_rs() -> c_int;
}

const ON_ERROR_CONTINUE: c_int = 1;

/// An isl context: a cheap handle, kept alive by every object made in it.
///
/// A context and its objects belong to the thread that made them.
#[derive(Clone)]
pub struct Context {
    inner: Rc<Inner>,
}

struct Inner {
    ptr: NonNull<c_void>,
    frames: RefCell<Vec<Frame>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: `ptr` came from `isl_ctx_alloc`. Every object and every watched budget holds an `Rc` of this
        // value, so none is left.
        unsafe { isl_ctx_free(self.ptr.as_ptr()) }
    }
}

impl Context {
    /// A fresh context that reports errors only through results.
    pub fn new() -> Result<Context> {
        let failed = |kind, message: &str| Error::Isl {
            kind,
            message: message.to_owned(),
            function: "isl_ctx_alloc",
            location: None,
        };
        // Asked for the linker's sake: an isl that was not built with our site file has no such function.
        // SAFETY: no preconditions.
        if unsafe { farkas_isl_is_repaired__if_this_is_missing_set_CONFIG_SITE_and_clean_isl_rs() } == 0 {
            return Err(failed(ErrorKind::Internal, "isl was built without its repairs"));
        }
        // SAFETY: no preconditions.
        let ptr = NonNull::new(unsafe { isl_ctx_alloc() }).ok_or_else(|| failed(ErrorKind::Alloc, "out of memory"))?;
        // SAFETY: `ptr` is a live context.
        unsafe { isl_options_set_on_error(ptr.as_ptr(), ON_ERROR_CONTINUE) };
        Ok(Context { inner: Rc::new(Inner { ptr, frames: RefCell::default() }) })
    }

    pub(crate) fn as_ptr(&self) -> *mut c_void {
        self.inner.ptr.as_ptr()
    }

    /// True if both are handles of one context.
    pub fn is_same(&self, other: &Context) -> bool {
        Rc::ptr_eq(&self.inner, &other.inner)
    }

    pub(super) fn frames(&self) -> &RefCell<Vec<Frame>> {
        &self.inner.frames
    }

    pub(super) fn reset_error(&self) {
        // SAFETY: the context is live.
        unsafe { isl_ctx_reset_error(self.as_ptr()) }
    }

    /// True if the last call left an error behind.
    pub(super) fn has_error(&self) -> bool {
        // SAFETY: the context is live.
        unsafe { isl_ctx_last_error(self.as_ptr()) != 0 }
    }

    /// True if the last call was cut short by a budget, whatever it returned.
    pub(super) fn was_cut_short(&self) -> bool {
        // SAFETY: the context is live.
        let kind = ErrorKind::from_raw(unsafe { isl_ctx_last_error(self.as_ptr()) });
        kind.is_budget()
    }

    /// True if isl would refuse to do any further work: aborted, or out of operations.
    pub(super) fn is_exhausted(&self) -> bool {
        // SAFETY: the context is live.
        unsafe { isl_ctx_next_operation(self.as_ptr()) < 0 }
    }

    pub(super) fn set_max_operations(&self, max: u64) {
        let max = c_ulong::try_from(max).unwrap_or(c_ulong::MAX);
        // SAFETY: the context is live.
        unsafe { isl_ctx_set_max_operations(self.as_ptr(), max) }
    }

    pub(super) fn reset_operations(&self) {
        // SAFETY: the context is live.
        unsafe { isl_ctx_reset_operations(self.as_ptr()) }
    }

    /// The error of a call that has just failed. Clears the error state.
    pub(super) fn take_error(&self, function: &'static str) -> Error {
        let ctx = self.as_ptr();
        // SAFETY: the context is live; messages and file names are static strings of isl or NULL.
        let (kind, message, file, line) = unsafe {
            (
                ErrorKind::from_raw(isl_ctx_last_error(ctx)),
                static_text(isl_ctx_last_error_msg(ctx)),
                static_text(isl_ctx_last_error_file(ctx)),
                isl_ctx_last_error_line(ctx),
            )
        };
        // A budget that ran out deep inside may surface as a later, less telling error.
        if kind.is_budget() || self.is_exhausted() {
            return self.take_budget_error();
        }
        self.reset_error();
        Error::Isl {
            kind,
            message: message.unwrap_or_else(|| "failed without a message".to_owned()),
            function,
            location: file.zip(u32::try_from(line).ok()),
        }
    }

    /// The error of a call that was cut short. Clears the error state.
    pub(super) fn take_budget_error(&self) -> Error {
        // SAFETY: the context is live.
        let kind = ErrorKind::from_raw(unsafe { isl_ctx_last_error(self.as_ptr()) });
        self.reset_error();
        let resource = match kind {
            ErrorKind::Alloc => Resource::Memory,
            _ if memory::is_exceeded() => Resource::Memory,
            ErrorKind::Quota => Resource::Operations,
            _ => Resource::Time,
        };
        Error::Budget { resource, spent: self.frames().borrow().last().map(Frame::spent).unwrap_or_default() }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Context").field(&self.inner.ptr).finish()
    }
}

/// The version of isl and the arithmetic it was built with.
pub fn version() -> String {
    // SAFETY: returns a static string.
    let text = unsafe { static_text(isl_version()) };
    text.unwrap_or_default().trim_end().to_owned()
}

/// # Safety
/// `text` is NULL or a NUL-terminated string that lives through the call.
unsafe fn static_text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not NULL, and a C string by contract.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}
