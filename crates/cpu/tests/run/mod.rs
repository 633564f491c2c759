//! Kernels from text, run on owned data.
#![allow(dead_code, clippy::allow_attributes, reason = "each test file uses part of it")]
#![expect(clippy::panic, reason = "a test fails by panicking")]

use farkas_cpu::{Buffer, CallError, Compiled, Options, compile_with};
use loops::{InBounds, Verified, parse};
use program::{Data, Role, Value};

pub(crate) fn verified(text: &str) -> Verified {
    let kernel = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    InBounds::by_proof(loops::unroll(kernel)).verified().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub(crate) fn compiled(text: &str) -> Compiled {
    compiled_with(text, &Options::default())
}

pub(crate) fn compiled_with(text: &str, options: &Options) -> Compiled {
    compile_with(&verified(text), options).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// One `Data` per array that is not local, read-only where the kernel only reads.
pub(crate) fn buffers<'a>(kernel: &Verified, arrays: &'a mut [Data]) -> Vec<Buffer<'a>> {
    let roles = kernel.arrays.iter().map(|array| array.role).filter(|role| *role != Role::Local);
    let buffer = |(role, data): (Role, &'a mut Data)| match role {
        Role::In => Buffer::Read(data.as_slice()),
        _ => Buffer::Write(data.as_mut_slice()),
    };
    roles.zip(arrays).map(buffer).collect()
}

pub(crate) fn run(text: &str, params: &[i64], scalars: &[Value], arrays: &mut [Data]) -> Result<(), CallError> {
    compiled(text).call(params, scalars, &mut buffers(&verified(text), arrays))
}

/// What a kernel with one output writes.
pub(crate) fn output(text: &str, params: &[i64], inputs: &[Data], mut out: Data) -> Data {
    let mut arrays = inputs.to_vec();
    arrays.push(out);
    run(text, params, &[], &mut arrays).unwrap_or_else(|error| panic!("{error}\n{text}"));
    out = arrays.pop().expect("just pushed");
    out
}
