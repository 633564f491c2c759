//! One call to isl: what goes in, what comes out, and how its outcome is judged.
//!
//! In: Rust arguments ([`Arg`]).  Out: a Rust result ([`Ret`]) or an [`Error`].
//! Needs: nothing global; a [`Call`] lives on the stack of one wrapper made by `bind!`.

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_uint, c_void};

use super::context::Context;
use super::error::{Error, Result};
use super::memory;

/// A value that can be an argument of a C function of isl.
pub(crate) trait Arg {
    /// The C type.
    type Raw;
    /// The context the value belongs to, if it belongs to one.
    fn context(&self) -> Option<&Context> {
        None
    }
    /// Refuses what C cannot take; strings are stored in the call. Nothing is given away yet.
    fn check(&self, _call: &mut Call) -> Result<()> {
        Ok(())
    }
    /// Hands the value to C. `check` has succeeded for all arguments.
    fn into_raw(self, call: &Call) -> Self::Raw;
}

/// A value that can be the result of a C function of isl.
pub(crate) trait Ret: Sized {
    /// The C type.
    type Raw;
    /// The result, or `None` if `raw` says that the call failed.
    ///
    /// # Safety
    /// `raw` was just returned by a function of isl whose declared C type and ownership are those of `Self`,
    /// in `context`.
    unsafe fn receive(raw: Self::Raw, context: &Context) -> Option<Self>;
}

/// The state of one call.
#[derive(Debug)]
pub(crate) struct Call {
    function: &'static str,
    context: Option<Context>,
    text: Option<CString>,
}

impl Call {
    pub(crate) fn new(function: &'static str) -> Call {
        Call { function, context: None, text: None }
    }

    /// Looks at one argument before anything is handed over.
    pub(crate) fn admit<A: Arg>(&mut self, arg: &A) -> Result<()> {
        if let Some(context) = arg.context() {
            match &self.context {
                None => self.context = Some(context.clone()),
                Some(known) if known.is_same(context) => {}
                Some(_) => {
                    return Err(Error::ContextMix { function: self.function });
                }
            }
        }
        arg.check(self)
    }

    /// All arguments are admitted: clears the error state.
    pub(crate) fn begin(&self) -> Result<()> {
        let context = self.context()?;
        context.watch_after_fork()?;
        context.reset_error();
        Ok(())
    }

    pub(crate) fn context(&self) -> Result<&Context> {
        self.context.as_ref().ok_or(Error::NoContext { function: self.function })
    }

    /// Judges the outcome by the value returned.
    ///
    /// # Safety
    /// As for [`Ret::receive`].
    pub(crate) unsafe fn finish<R: Ret>(self, raw: R::Raw) -> Result<R> {
        let context = self.context()?;
        // SAFETY: the caller's promise.
        match unsafe { R::receive(raw, context) } {
            // A result made while isl swallowed an abort is not trusted.
            Some(_) if context.was_cut_short() => Err(context.take_budget_error()),
            Some(result) => Ok(result),
            None => Err(context.take_error(self.function)),
        }
    }
}

impl Arg for &Context {
    type Raw = *mut c_void;
    fn context(&self) -> Option<&Context> {
        Some(self)
    }
    fn into_raw(self, _: &Call) -> *mut c_void {
        self.as_ptr()
    }
}

/// No wrapped function takes two strings, so the call has room for one.
impl Arg for &str {
    type Raw = *const c_char;
    fn check(&self, call: &mut Call) -> Result<()> {
        call.text = Some(CString::new(*self).map_err(|_| Error::InteriorNul)?);
        Ok(())
    }
    fn into_raw(self, call: &Call) -> *const c_char {
        call.text.as_deref().map_or(std::ptr::null(), CStr::as_ptr)
    }
}

/// The largest position or count: far beyond what isl can handle in any time, and small enough for its sums of positions,
/// which are of C's `int`, and for its loops over dimensions, which do not look at the clock.
const MAX_POSITION: usize = 1 << 14;

/// Positions and counts: `unsigned` or `int` in C.
impl Arg for usize {
    type Raw = c_uint;
    fn check(&self, _: &mut Call) -> Result<()> {
        if *self > MAX_POSITION {
            return Err(Error::OutOfRange { number: *self as i128 });
        }
        Ok(())
    }
    fn into_raw(self, _: &Call) -> c_uint {
        self as c_uint
    }
}

impl Arg for i32 {
    type Raw = c_int;
    fn into_raw(self, _: &Call) -> c_int {
        self
    }
}

/// C's `long`, which is narrower than 64 bits on some hosts.
impl Arg for i64 {
    type Raw = c_long;
    fn check(&self, _: &mut Call) -> Result<()> {
        match c_long::try_from(*self) {
            Ok(_) => Ok(()),
            Err(_) => Err(Error::OutOfRange { number: i128::from(*self) }),
        }
    }
    fn into_raw(self, _: &Call) -> c_long {
        self as c_long
    }
}

impl Arg for bool {
    type Raw = c_int;
    fn into_raw(self, _: &Call) -> c_int {
        c_int::from(self)
    }
}

/// `isl_stat`.
impl Ret for () {
    type Raw = c_int;
    unsafe fn receive(raw: c_int, _: &Context) -> Option<()> {
        (raw >= 0).then_some(())
    }
}

/// `isl_bool`: −1 is an error, not a truth.
impl Ret for bool {
    type Raw = c_int;
    unsafe fn receive(raw: c_int, _: &Context) -> Option<bool> {
        (raw >= 0).then_some(raw != 0)
    }
}

/// `isl_size`.
impl Ret for usize {
    type Raw = c_int;
    unsafe fn receive(raw: c_int, _: &Context) -> Option<usize> {
        usize::try_from(raw).ok()
    }
}

/// A position that may not exist: −1 without an error.
impl Ret for Option<usize> {
    type Raw = c_int;
    unsafe fn receive(raw: c_int, context: &Context) -> Option<Option<usize>> {
        match usize::try_from(raw) {
            Ok(position) => Some(Some(position)),
            Err(_) => (!context.has_error()).then_some(None),
        }
    }
}

/// A plain `int` has no value to spare for failure, so the error state decides.
impl Ret for i32 {
    type Raw = c_int;
    unsafe fn receive(raw: c_int, context: &Context) -> Option<i32> {
        (!context.has_error()).then_some(raw)
    }
}

/// A plain `long`, as for `int`.
impl Ret for i64 {
    type Raw = c_long;
    #[cfg_attr(
        target_pointer_width = "64",
        expect(clippy::useless_conversion, reason = "`long` is 32 bits on some hosts")
    )]
    unsafe fn receive(raw: c_long, context: &Context) -> Option<i64> {
        (!context.has_error()).then_some(i64::from(raw))
    }
}

/// `__isl_give char *`: copied, then freed.
impl Ret for String {
    type Raw = *mut c_char;
    unsafe fn receive(raw: *mut c_char, _: &Context) -> Option<String> {
        if raw.is_null() {
            return None;
        }
        // SAFETY: a NUL-terminated string that isl allocated with malloc and gave to us.
        unsafe {
            let text = CStr::from_ptr(raw).to_string_lossy().into_owned();
            memory::free(raw.cast());
            Some(text)
        }
    }
}

/// `const char *`: copied and left alone; NULL means that there is none.
impl Ret for Option<String> {
    type Raw = *const c_char;
    unsafe fn receive(raw: *const c_char, context: &Context) -> Option<Option<String>> {
        if raw.is_null() {
            return (!context.has_error()).then_some(None);
        }
        // SAFETY: a NUL-terminated string owned by an object that is still alive.
        let text = unsafe { CStr::from_ptr(raw) };
        Some(Some(text.to_string_lossy().into_owned()))
    }
}

/// An `isl_bool *` that the call writes to.
pub(crate) struct OutBool<'a>(&'a mut c_int);

impl<'a> OutBool<'a> {
    pub(crate) fn new(place: &'a mut c_int) -> OutBool<'a> {
        OutBool(place)
    }
}

impl Arg for OutBool<'_> {
    type Raw = *mut c_int;
    fn into_raw(self, _: &Call) -> *mut c_int {
        self.0
    }
}

/// An object that may be absent: NULL without an error.
pub(crate) struct Maybe<T>(pub(crate) Option<T>);

impl<T: Ret<Raw = *mut c_void>> Ret for Maybe<T> {
    type Raw = *mut c_void;
    unsafe fn receive(raw: *mut c_void, context: &Context) -> Option<Maybe<T>> {
        if raw.is_null() {
            return (!context.has_error()).then_some(Maybe(None));
        }
        // SAFETY: the caller's promise.
        unsafe { T::receive(raw, context) }.map(|object| Maybe(Some(object)))
    }
}
