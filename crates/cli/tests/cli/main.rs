//! The real binary, as a user runs it: results, messages, exit codes, and what is left on the disk.
#![forbid(unsafe_code)]

mod bad_data;
mod bad_input;
mod cache;
mod eval;
mod examples;
mod explain;
mod explore;
mod interrupt;
mod layout;
mod limits;
mod outputs;
mod run;
mod stages;
mod support;
mod texts;
mod tune;
mod used;
