//! Identifiers of parameters, tuples and dimensions.
//!
//! Only named identifiers are made here: no user pointers, which would tie Rust data to isl's lifetimes.

use std::ffi::c_void;

use crate::Context;
use crate::runtime::{Arg, Call, Result};

object! {
    /// An identifier: two with one name are the same.
    Id, "isl_id_"
}

bind! { trusted Id;
    fn alloc = "isl_id_alloc"(context: &Context, name: &str, user: NoUser) -> Id;
}

bind! { Id;
    fn get_name = "isl_id_get_name"(&self) -> Option<String>;
}

/// The user pointer of an identifier, which is never set.
struct NoUser;

impl Arg for NoUser {
    type Raw = *mut c_void;
    fn into_raw(self, _: &Call) -> Self::Raw {
        std::ptr::null_mut()
    }
}

impl Id {
    /// The identifier of this name in `context`.
    pub fn new(context: &Context, name: &str) -> Result<Id> {
        Id::alloc(context, name, NoUser)
    }

    /// The name; empty for an identifier without one.
    pub fn name(&self) -> String {
        self.get_name().ok().flatten().unwrap_or_default()
    }
}

/// isl keeps one identifier per name and context, so equality is that of pointers.
impl PartialEq for Id {
    fn eq(&self, other: &Id) -> bool {
        self.ptr == other.ptr
    }
}

impl Eq for Id {}
