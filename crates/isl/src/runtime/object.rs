//! The two macros that turn C types and functions into Rust ones.
//!
//! `object!` declares an owned, reference-counted isl type; `bind!` declares C functions and their methods in one
//! line each, so that a declaration and its wrapper cannot disagree.

use std::ffi::c_void;
use std::ptr::NonNull;

use super::context::Context;

/// An owned isl object: one reference to it, and one to its context.
pub(crate) trait Object: Sized {
    /// The context the object was made in.
    fn context_of(&self) -> &Context;
    /// The pointer, now owned by the caller.
    fn into_ptr(self) -> *mut c_void;
    /// # Safety
    /// `ptr` is one owned reference to a live object of this type, made in `context`.
    unsafe fn from_ptr(ptr: NonNull<c_void>, context: Context) -> Self;
}

/// Declares an owned isl type.
///
/// `object!(Set, "isl_set_")` gives a struct with `Drop`, `Clone` (a reference count, so it cannot fail), `Display`,
/// `Debug` and `context`. `object!(unique …)` is for types that isl copies deeply: no `Clone`, but a fallible `copy`.
/// `object!(private …)` gives only what ownership needs.
macro_rules! object {
    ($(#[$doc:meta])* $type:ident, $prefix:literal) => {
        object!(private $(#[$doc])* pub $type, $prefix);
        object!(@public $type, $prefix);

        impl Clone for $type {
            fn clone(&self) -> Self {
                unsafe extern "C" {
                    #[link_name = concat!($prefix, "copy")]
                    fn copy(this: *mut std::ffi::c_void) -> *mut std::ffi::c_void;
                }
                // SAFETY: `ptr` is live, and the copy is one owned reference of the same type.
                let copied = std::ptr::NonNull::new(unsafe { copy(self.ptr.as_ptr()) });
                Self {
                    ptr: copied.expect("isl copies finished objects by counting a reference, which cannot fail"),
                    context: self.context.clone(),
                }
            }
        }
    };
    (unique $(#[$doc:meta])* $type:ident, $prefix:literal) => {
        object!(private $(#[$doc])* pub $type, $prefix);
        object!(@public $type, $prefix);
        bind! { $type, $prefix;
            fn copy(&self) -> $type;
        }
    };
    (private $(#[$doc:meta])* $vis:vis $type:ident, $prefix:literal) => {
        $(#[$doc])*
        $vis struct $type {
            ptr: std::ptr::NonNull<std::ffi::c_void>,
            context: $crate::runtime::Context,
        }

        impl Drop for $type {
            fn drop(&mut self) {
                unsafe extern "C" {
                    #[link_name = concat!($prefix, "free")]
                    fn free(this: *mut std::ffi::c_void) -> *mut std::ffi::c_void;
                }
                // SAFETY: `ptr` is one owned reference, given up here; the context outlives it.
                unsafe { free(self.ptr.as_ptr()) };
            }
        }

        impl $crate::runtime::Object for $type {
            fn context_of(&self) -> &$crate::runtime::Context {
                &self.context
            }
            fn into_ptr(self) -> *mut std::ffi::c_void {
                let this = std::mem::ManuallyDrop::new(self);
                // SAFETY: `this` is never used again, so the context handle is moved out exactly once.
                drop(unsafe { std::ptr::read(&this.context) });
                this.ptr.as_ptr()
            }
            unsafe fn from_ptr(
                ptr: std::ptr::NonNull<std::ffi::c_void>,
                context: $crate::runtime::Context,
            ) -> Self {
                Self { ptr, context }
            }
        }

        impl $crate::runtime::Arg for $type {
            type Raw = *mut std::ffi::c_void;
            fn context(&self) -> Option<&$crate::runtime::Context> {
                Some(&self.context)
            }
            fn into_raw(self, _: &$crate::runtime::Call) -> Self::Raw {
                $crate::runtime::Object::into_ptr(self)
            }
        }

        impl $crate::runtime::Arg for &$type {
            type Raw = *mut std::ffi::c_void;
            fn context(&self) -> Option<&$crate::runtime::Context> {
                Some(&self.context)
            }
            fn into_raw(self, _: &$crate::runtime::Call) -> Self::Raw {
                self.ptr.as_ptr()
            }
        }

        impl $crate::runtime::Ret for $type {
            type Raw = *mut std::ffi::c_void;
            unsafe fn receive(
                raw: Self::Raw,
                context: &$crate::runtime::Context,
            ) -> Option<Self> {
                let ptr = std::ptr::NonNull::new(raw)?;
                Some(Self { ptr, context: context.clone() })
            }
        }
    };
    (@public $type:ident, $prefix:literal) => {
        impl $type {
            /// The context the object was made in.
            pub fn context(&self) -> &$crate::runtime::Context {
                &self.context
            }
        }

        bind! { $type, $prefix;
            fn to_str(&self) -> String;
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.to_str() {
                    Ok(text) => f.write_str(&text),
                    Err(error) => write!(f, "<{error}>"),
                }
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({self})", stringify!($type))
            }
        }
    };
}

/// Declares C functions and the methods that call them, one line each.
///
/// `self` and `Set` stand for `__isl_take`, `&self` and `&Set` for `__isl_keep`, `&[Set]` for an `isl_set_list`; the
/// C name is the prefix and the method name. The types say how each argument is checked and handed over ([`Arg`]) and
/// how the outcome is judged ([`Ret`]).
///
/// [`Arg`]: super::call::Arg
/// [`Ret`]: super::call::Ret
macro_rules! bind {
    ($type:ident, $prefix:literal; $(fn $name:ident($($params:tt)*) -> $ret:ty;)*) => {
        impl $type {
            $(bind!(@method $type, concat!($prefix, stringify!($name)), pub $name, $ret, $($params)*);)*
        }
        $(bind!(@probe $type, $name, $($params)*);)*
    };
    // For functions that are not safe with every argument, and private for that reason.
    (trusted $type:ident; $(fn $name:ident = $c_name:literal($($params:tt)*) -> $ret:ty;)*) => {
        impl $type {
            $(bind!(@method $type, $c_name, pub(self) $name, $ret, $($params)*);)*
        }
    };
    // For a method whose Rust name or visibility differs from C's.
    ($type:ident; $($vis:vis fn $name:ident = $c_name:literal($($params:tt)*) -> $ret:ty;)*) => {
        impl $type {
            $(bind!(@method $type, $c_name, $vis $name, $ret, $($params)*);)*
        }
        $(bind!(@probe $type, $name, $($params)*);)*
    };
    (@method $type:ident, $c_name:expr, $vis:vis $name:ident, $ret:ty, self $(, $arg:ident: $ty:ty)*) => {
        #[doc = concat!("`", $c_name, "` of the isl manual.")]
        $vis fn $name(self $(, $arg: $ty)*) -> $crate::runtime::Result<$ret> {
            bind!(@call $c_name, $ret, self: $type $(, $arg: $ty)*)
        }
    };
    (@method $type:ident, $c_name:expr, $vis:vis $name:ident, $ret:ty, &self $(, $arg:ident: $ty:ty)*) => {
        #[doc = concat!("`", $c_name, "` of the isl manual.")]
        $vis fn $name(&self $(, $arg: $ty)*) -> $crate::runtime::Result<$ret> {
            bind!(@call $c_name, $ret, self: &$type $(, $arg: $ty)*)
        }
    };
    (@method $type:ident, $c_name:expr, $vis:vis $name:ident, $ret:ty, $($arg:ident: $ty:ty),*) => {
        #[doc = concat!("`", $c_name, "` of the isl manual.")]
        $vis fn $name($($arg: $ty),*) -> $crate::runtime::Result<$ret> {
            bind!(@call $c_name, $ret, $($arg: $ty),*)
        }
    };
    (@probe $type:ident, $name:ident, self $(, $arg:ident: $ty:ty)*) => {
        bind!(@probe $type, $name, this: $type $(, $arg: $ty)*);
    };
    (@probe $type:ident, $name:ident, &self $(, $arg:ident: $ty:ty)*) => {
        bind!(@probe $type, $name, this: &$type $(, $arg: $ty)*);
    };
    (@probe $type:ident, $name:ident, $($arg:ident: $ty:ty),*) => {
        probe!($type, $name, |source| {
            $(let mut $arg = <$ty as Odd>::store(source)?;)*
            <$type>::$name($(<$ty as Odd>::lend(&mut $arg)),*)
        });
    };
    (@call $c_name:expr, $ret:ty, $($arg:tt: $ty:ty),*) => {{
        unsafe extern "C" {
            #[link_name = $c_name]
            fn raw($(_: <$ty as $crate::runtime::Arg>::Raw),*) -> <$ret as $crate::runtime::Ret>::Raw;
        }
        let mut call = $crate::runtime::Call::new($c_name);
        $(call.admit(&$arg)?;)*
        call.begin()?;
        // SAFETY: the signature is that of isl's header. All pointers are live and of one context, owned ones are
        // given away, borrowed ones outlive the call.
        let result = unsafe { raw($($crate::runtime::Arg::into_raw($arg, &call)),*) };
        // SAFETY: `result` comes straight from the function declared with this result type.
        unsafe { call.finish(result) }
    }};
}

/// Leaves a probe for one bound function, with which `crate::probe` tries it.
macro_rules! probe {
    ($type:ident, $name:ident, |$source:ident| $call:expr) => {
        #[cfg(all(test, target_os = "linux"))]
        const _: () = {
            #[allow(
                unused_imports,
                unused_mut,
                unused_variables,
                clippy::allow_attributes,
                reason = "which of them are needed depends on the types"
            )]
            fn call($source: &mut $crate::probe::Source) -> Option<bool> {
                use $crate::probe::{Hide, Odd, Seen, Show};
                let outcome = $call;
                if let Ok(result) = &outcome {
                    (&Seen(result)).look();
                }
                Some(outcome.is_ok())
            }
            extern "C" fn register() {
                let name = concat!(stringify!($type), "::", stringify!($name));
                $crate::probe::register($crate::probe::Probe { name, call });
            }
            // SAFETY: the loader calls what stands in this section before `main`; `register` needs nothing but memory.
            #[used]
            #[unsafe(link_section = ".init_array")]
            static REGISTER: extern "C" fn() = register;
        };
    };
}
