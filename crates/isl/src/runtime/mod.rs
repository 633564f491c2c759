//! What every wrapped type stands on: contexts, calls, errors, budgets, callbacks.
//!
//! Not here: any isl type but the context.

#[macro_use]
mod object;

mod budget;
mod call;
#[macro_use]
mod callback;
mod context;
mod error;
mod list;
mod memory;
mod watchdog;

pub use budget::{Allowance, Budget};
pub(crate) use call::{Arg, Call, Maybe, OutBool, Ret};
pub(crate) use callback::{Callback, Failure, OnOne, OnTwo, Rewrite, User};
pub use context::{Context, version};
pub use error::{Error, ErrorKind, Resource, Result};
#[cfg(all(test, target_os = "linux"))]
pub(crate) use list::Listed;
pub(crate) use object::Object;
