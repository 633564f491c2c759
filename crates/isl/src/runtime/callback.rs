//! Closures called back by isl: no panic and no error crosses C.
//!
//! In: a Rust closure.  Out: a C function pointer with its `user` pointer; what stopped the closure is kept here and
//! surfaces when the enclosing call returns.
//! Not here: hooks that outlive one call (`ast::build`).

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{NonNull, null_mut};

use super::call::{Arg, Call};
use super::context::Context;
use super::error::{Error, Result};
use super::object::Object;

/// A closure on loan to isl for one call.
pub(crate) struct Callback<F> {
    context: Context,
    body: F,
    failure: Option<Failure>,
}

/// Why a closure did not return normally.
pub(crate) enum Failure {
    Error(Error),
    Panic(Box<dyn Any + Send>),
}

impl Failure {
    /// Runs `body`, turning an error or a panic into a `Failure`.
    pub(crate) fn catch<T>(body: impl FnOnce() -> Result<T>) -> Result<T, Failure> {
        match catch_unwind(AssertUnwindSafe(body)) {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(Failure::Error(error)),
            Err(panic) => Err(Failure::Panic(panic)),
        }
    }

    /// Continues on the Rust side of C what `catch` stopped.
    pub(crate) fn surface(self) -> Error {
        match self {
            Failure::Error(error) => error,
            Failure::Panic(panic) => resume_unwind(panic),
        }
    }
}

/// The `user` argument that belongs to one of the function pointers below.
pub(crate) struct User(*mut c_void);

/// `isl_stat` or `isl_bool` of one object.
pub(crate) struct OnOne(unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int);

/// `isl_stat` of two objects.
pub(crate) struct OnTwo(unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void) -> c_int);

/// An object from an object.
pub(crate) struct Rewrite(unsafe extern "C" fn(*mut c_void, *mut c_void) -> *mut c_void);

impl<F> Callback<F> {
    pub(crate) fn new(context: &Context, body: F) -> Callback<F> {
        Callback { context: context.clone(), body, failure: None }
    }

    /// For `isl_stat (*)(__isl_take T *, void *)`.
    pub(crate) fn each<T: Object>(&mut self) -> (OnOne, User)
    where
        F: FnMut(T) -> Result<()>,
    {
        (OnOne(each::<T, F>), self.user())
    }

    /// For `isl_stat (*)(__isl_take A *, __isl_take B *, void *)`.
    pub(crate) fn each_pair<A: Object, B: Object>(&mut self) -> (OnTwo, User)
    where
        F: FnMut(A, B) -> Result<()>,
    {
        (OnTwo(each_pair::<A, B, F>), self.user())
    }

    /// For `isl_bool (*)(__isl_keep T *, void *)`.
    pub(crate) fn test<T: Object>(&mut self) -> (OnOne, User)
    where
        F: FnMut(&T) -> Result<bool>,
    {
        (OnOne(test::<T, F>), self.user())
    }

    /// For `isl_stat (*)(__isl_keep T *, void *)`.
    pub(crate) fn visit<T: Object>(&mut self) -> (OnOne, User)
    where
        F: FnMut(&T) -> Result<()>,
    {
        (OnOne(visit::<T, F>), self.user())
    }

    /// For `__isl_give T *(*)(__isl_take T *, void *)`.
    pub(crate) fn rewrite<T: Object>(&mut self) -> (Rewrite, User)
    where
        F: FnMut(T) -> Result<T>,
    {
        (Rewrite(rewrite::<T, F>), self.user())
    }

    fn user(&mut self) -> User {
        User((self as *mut Self).cast())
    }

    /// The outcome of the enclosing call, or what stopped the closure.
    pub(crate) fn finish<T>(self, outcome: Result<T>) -> Result<T> {
        match self.failure {
            Some(failure) => Err(failure.surface()),
            None => outcome,
        }
    }

    fn run<T>(&mut self, body: impl FnOnce(&mut F) -> Result<T>) -> Option<T> {
        let outcome = Failure::catch(|| body(&mut self.body));
        outcome.map_err(|failure| self.failure = Some(failure)).ok()
    }

    /// # Safety
    /// As for [`Object::from_ptr`], but `raw` may be NULL.
    unsafe fn own<T: Object>(&self, raw: *mut c_void) -> Option<T> {
        let ptr = NonNull::new(raw)?;
        // SAFETY: the caller's promise.
        Some(unsafe { T::from_ptr(ptr, self.context.clone()) })
    }
}

unsafe extern "C" fn each<T: Object, F: FnMut(T) -> Result<()>>(item: *mut c_void, user: *mut c_void) -> c_int {
    // SAFETY: `user` was made by `Callback::<F>::each`, which is on loan; isl gives us `item`.
    let (callback, item) = unsafe {
        let callback = &mut *user.cast::<Callback<F>>();
        let item = callback.own::<T>(item);
        (callback, item)
    };
    status(item.and_then(|item| callback.run(|body| body(item))))
}

unsafe extern "C" fn each_pair<A: Object, B: Object, F: FnMut(A, B) -> Result<()>>(
    first: *mut c_void,
    second: *mut c_void,
    user: *mut c_void,
) -> c_int {
    // SAFETY: `user` was made by `Callback::<F>::each_pair`, which is on loan; isl gives us both objects.
    let (callback, pair) = unsafe {
        let callback = &mut *user.cast::<Callback<F>>();
        let pair = (callback.own::<A>(first), callback.own::<B>(second));
        (callback, pair)
    };
    match pair {
        (Some(first), Some(second)) => status(callback.run(|body| body(first, second))),
        _ => -1,
    }
}

unsafe extern "C" fn test<T: Object, F: FnMut(&T) -> Result<bool>>(item: *mut c_void, user: *mut c_void) -> c_int {
    // SAFETY: `user` was made by `Callback::<F>::test`, which is on loan; isl keeps `item`, so the reference taken
    // here is handed back by `into_ptr`.
    let (callback, item) = unsafe {
        let callback = &mut *user.cast::<Callback<F>>();
        let item = callback.own::<T>(item);
        (callback, item)
    };
    let Some(item) = item else { return -1 };
    let answer = callback.run(|body| body(&item));
    item.into_ptr();
    answer.map_or(-1, c_int::from)
}

unsafe extern "C" fn visit<T: Object, F: FnMut(&T) -> Result<()>>(item: *mut c_void, user: *mut c_void) -> c_int {
    // SAFETY: `user` was made by `Callback::<F>::visit`, which is on loan; isl keeps `item`, so the reference taken
    // here is handed back by `into_ptr`.
    let (callback, item) = unsafe {
        let callback = &mut *user.cast::<Callback<F>>();
        let item = callback.own::<T>(item);
        (callback, item)
    };
    let Some(item) = item else { return -1 };
    let outcome = callback.run(|body| body(&item));
    item.into_ptr();
    status(outcome)
}

unsafe extern "C" fn rewrite<T: Object, F: FnMut(T) -> Result<T>>(item: *mut c_void, user: *mut c_void) -> *mut c_void {
    // SAFETY: `user` was made by `Callback::<F>::rewrite`, which is on loan; isl gives us `item`.
    let (callback, item) = unsafe {
        let callback = &mut *user.cast::<Callback<F>>();
        let item = callback.own::<T>(item);
        (callback, item)
    };
    let context = callback.context.clone();
    let rewritten = item.and_then(|item| {
        callback.run(|body| {
            let rewritten = body(item)?;
            if !rewritten.context_of().is_same(&context) {
                return Err(Error::ContextMix { function: "a callback" });
            }
            Ok(rewritten)
        })
    });
    rewritten.map_or(null_mut(), Object::into_ptr)
}

fn status(outcome: Option<()>) -> c_int {
    if outcome.is_some() { 0 } else { -1 }
}

impl Arg for User {
    type Raw = *mut c_void;
    fn into_raw(self, _: &Call) -> Self::Raw {
        self.0
    }
}

impl Arg for OnOne {
    type Raw = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;
    fn into_raw(self, _: &Call) -> Self::Raw {
        self.0
    }
}

impl Arg for OnTwo {
    type Raw = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void) -> c_int;
    fn into_raw(self, _: &Call) -> Self::Raw {
        self.0
    }
}

impl Arg for Rewrite {
    type Raw = unsafe extern "C" fn(*mut c_void, *mut c_void) -> *mut c_void;
    fn into_raw(self, _: &Call) -> Self::Raw {
        self.0
    }
}

/// Declares methods that take a closure, by the shape of the callback in C (see the methods of `Callback`).
macro_rules! bind_callbacks {
    ($type:ident, $prefix:literal; $(fn $name:ident: $shape:ident($($item:ty),*);)*) => {
        impl $type {
            $(bind_callbacks!(@$shape $type, concat!($prefix, stringify!($name)), $name, $($item),*);)*
        }
        $(bind_callbacks!(@probe $shape $type, $name);)*
    };
    (@probe each $type:ident, $name:ident) => {
        probe!($type, $name, |source| <&$type as Odd>::store(source)?.$name(|_| Ok(())));
    };
    (@probe visit $type:ident, $name:ident) => {
        probe!($type, $name, |source| <&$type as Odd>::store(source)?.$name(|_| Ok(())));
    };
    (@probe each_pair $type:ident, $name:ident) => {
        probe!($type, $name, |source| <&$type as Odd>::store(source)?.$name(|_, _| Ok(())));
    };
    (@probe rewrite $type:ident, $name:ident) => {
        probe!($type, $name, |source| <&$type as Odd>::store(source)?.$name(Ok));
    };
    // `test` and `descend`.
    (@probe $shape:ident $type:ident, $name:ident) => {
        probe!($type, $name, |source| <&$type as Odd>::store(source)?.$name(|_| Ok(true)));
    };
    (@each $type:ident, $c_name:expr, $name:ident, $item:ty) => {
        #[doc = concat!("`", $c_name, "` of the isl manual.")]
        pub fn $name(
            &self,
            body: impl FnMut($item) -> $crate::runtime::Result<()>,
        ) -> $crate::runtime::Result<()> {
            let mut callback = $crate::runtime::Callback::new(&self.context, body);
            let (function, user) = callback.each::<$item>();
            let outcome = bind_callbacks!(@call $c_name, (), self: &$type, function: OnOne, user);
            callback.finish(outcome)
        }
    };
    (@each_pair $type:ident, $c_name:expr, $name:ident, $first:ty, $second:ty) => {
        #[doc = concat!("`", $c_name, "` of the isl manual.")]
        pub fn $name(
            &self,
            body: impl FnMut($first, $second) -> $crate::runtime::Result<()>,
        ) -> $crate::runtime::Result<()> {
            let mut callback = $crate::runtime::Callback::new(&self.context, body);
            let (function, user) = callback.each_pair::<$first, $second>();
            let outcome = bind_callbacks!(@call $c_name, (), self: &$type, function: OnTwo, user);
            callback.finish(outcome)
        }
    };
    (@test $type:ident, $c_name:expr, $name:ident, $item:ty) => {
        #[doc = concat!("`", $c_name, "` of the isl manual.")]
        pub fn $name(
            &self,
            body: impl FnMut(&$item) -> $crate::runtime::Result<bool>,
        ) -> $crate::runtime::Result<bool> {
            let mut callback = $crate::runtime::Callback::new(&self.context, body);
            let (function, user) = callback.test::<$item>();
            let outcome = bind_callbacks!(@call $c_name, bool, self: &$type, function: OnOne, user);
            callback.finish(outcome)
        }
    };
    // The closure says whether to go on below the node.
    (@descend $type:ident, $c_name:expr, $name:ident, $item:ty) => {
        #[doc = concat!("`", $c_name, "` of the isl manual: the closure says whether to go on below.")]
        pub fn $name(
            &self,
            body: impl FnMut(&$item) -> $crate::runtime::Result<bool>,
        ) -> $crate::runtime::Result<()> {
            let mut callback = $crate::runtime::Callback::new(&self.context, body);
            let (function, user) = callback.test::<$item>();
            let outcome = bind_callbacks!(@call $c_name, (), self: &$type, function: OnOne, user);
            callback.finish(outcome)
        }
    };
    (@visit $type:ident, $c_name:expr, $name:ident, $item:ty) => {
        #[doc = concat!("`", $c_name, "` of the isl manual.")]
        pub fn $name(
            &self,
            body: impl FnMut(&$item) -> $crate::runtime::Result<()>,
        ) -> $crate::runtime::Result<()> {
            let mut callback = $crate::runtime::Callback::new(&self.context, body);
            let (function, user) = callback.visit::<$item>();
            let outcome = bind_callbacks!(@call $c_name, (), self: &$type, function: OnOne, user);
            callback.finish(outcome)
        }
    };
    (@rewrite $type:ident, $c_name:expr, $name:ident, $item:ty) => {
        #[doc = concat!("`", $c_name, "` of the isl manual.")]
        pub fn $name(
            self,
            body: impl FnMut($item) -> $crate::runtime::Result<$item>,
        ) -> $crate::runtime::Result<$type> {
            let mut callback = $crate::runtime::Callback::new(&self.context, body);
            let (function, user) = callback.rewrite::<$item>();
            let outcome =
                bind_callbacks!(@call $c_name, $type, self: $type, function: Rewrite, user);
            callback.finish(outcome)
        }
    };
    (@call $c_name:expr, $ret:ty, $this:tt: $type:ty, $function:ident: $shape:ident, $user:ident) => {
        (|| -> $crate::runtime::Result<$ret> {
            bind!(@call $c_name, $ret,
                $this: $type,
                $function: $crate::runtime::$shape,
                $user: $crate::runtime::User)
        })()
    };
}
