//! Calls of one kernel for fixed sizes: what follows from the sizes is found out once.
//!
//! In: sizes.  Out: a plan with everything computed, checked and allocated that does not depend on the buffers, so that a
//! call has nothing to do but to look at these.

use std::sync::atomic::{AtomicBool, Ordering};

use loops::ArrayDecl;
use program::{Role, Value};

use crate::Compiled;
use crate::call::{Buffer, CallError, Run, allocate, argument, length, slot};
use crate::code::Scratch;
use crate::emit::fault::{CANCELLED, DONE, NO_MEMORY, PANICKED};
use crate::parallel::{State, Team};
use crate::workspace::Workspace;

/// Calls of one kernel with one set of sizes. Holds the memory of its local arrays.
#[derive(Debug)]
pub struct Plan {
    /// The kernel that it is for.
    kernel: u64,
    params: Vec<i64>,
    /// The parameters, and what is derived from them.
    slots: Vec<i64>,
    scalars: Vec<u64>,
    /// The number of elements of each array.
    lengths: Vec<usize>,
    /// About how many operations an iteration of each parallel loop has.
    operations: Vec<u64>,
    /// One address per array; those of local arrays stay, the others are those of the last call.
    pointers: Vec<*mut u8>,
    locals: Vec<Scratch>,
}

// SAFETY: addresses of buffers are read during a call only, which has set them before; those of local arrays are of memory
// that the plan owns and nobody else knows.
unsafe impl Send for Plan {}
// SAFETY: as above, and nothing is done through `&Plan`.
unsafe impl Sync for Plan {}

impl Plan {
    /// Finds out what follows from the sizes.
    pub fn new(compiled: &Compiled, params: &[i64]) -> Result<Plan, CallError> {
        Plan::new_in(compiled, params, &mut Workspace::new())
    }

    /// The same with memory for local arrays from a workspace, which has it back with [`Plan::leave`].
    pub(crate) fn new_in(compiled: &Compiled, params: &[i64], workspace: &mut Workspace) -> Result<Plan, CallError> {
        let signature = &compiled.signature;
        if params.len() != signature.params {
            return Err(CallError::ParamCount { expected: signature.params, given: params.len() });
        }
        let mut slots = params.to_vec();
        for derived in &signature.derived {
            slots.push(derived.evaluate(params).ok_or(CallError::Stride)?);
        }
        let of_array = |decl: &ArrayDecl| length(decl, params);
        let lengths = signature.arrays.iter().map(of_array).collect::<Result<Vec<usize>, CallError>>()?;
        let mut locals = Vec::new();
        let mut pointers = Vec::with_capacity(lengths.len());
        for (decl, len) in signature.arrays.iter().zip(&lengths) {
            if decl.role != Role::Local {
                pointers.push(std::ptr::null_mut());
                continue;
            }
            let mut local = allocate(decl, *len, workspace)?;
            pointers.push(local.as_mut_ptr());
            locals.push(local);
        }
        let scalars = vec![0; signature.scalars.len()];
        let (kernel, params) = (compiled.id, params.to_vec());
        let operations = signature.regions.iter().map(|region| region.work.per_iteration(&params, signature.vars));
        let operations = operations.collect();
        Ok(Plan { kernel, params, slots, scalars, lengths, operations, pointers, locals })
    }

    /// Ends it, and gives its memory back.
    pub(crate) fn leave(self, workspace: &mut Workspace) {
        workspace.give_back(self.locals);
    }

    /// Runs the kernel that the plan was made for. One buffer per array that is not local, in the order of declaration. After
    /// an error while running, written arrays hold part of the result.
    pub fn call(
        &mut self,
        compiled: &Compiled,
        scalars: &[Value],
        arrays: &mut [Buffer<'_>],
        run: &Run<'_>,
    ) -> Result<(), CallError> {
        if self.kernel != compiled.id {
            return Err(CallError::OtherKernel);
        }
        if run.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return Err(CallError::Cancelled);
        }
        let signature = &compiled.signature;
        signature.check_counts(scalars.len(), arrays.len())?;
        for ((place, decl), value) in self.scalars.iter_mut().zip(&signature.scalars).zip(scalars) {
            if value.ty() != decl.ty {
                return Err(CallError::ScalarType { name: decl.name.clone(), expected: decl.ty, given: value.ty() });
            }
            *place = slot(*value);
        }
        let declared = signature.arrays.iter().zip(&self.lengths).zip(&mut self.pointers);
        let mut buffers = arrays.iter_mut();
        for ((decl, len), pointer) in declared.filter(|((decl, _), _)| decl.role != Role::Local) {
            if let Some(buffer) = buffers.next() {
                *pointer = argument(decl, *len, buffer, &self.params)?;
            }
        }
        let never = AtomicBool::new(false);
        let team = Team {
            regions: &signature.regions,
            operations: &self.operations,
            arrays: &signature.arrays,
            params: &self.params,
            pool: run.pool,
            threads: run.threads,
            worth_sharing: run.worth_sharing,
        };
        let mut state = State::new(run.cancel.unwrap_or(&never), &team);
        // SAFETY: the plan is of this kernel, and counts were checked, so every pointer of an argument was set above. Every
        // pointer comes from a slice, or from memory that the plan holds, with exactly the elements that the declared shape
        // has at these sizes, or from a view of that shape whose cells lie at the strides that the code uses, so it is aligned and readable; arrays of a role that allows stores come from `&mut` slices, mutable views or
        // from that memory, so they are writable and exclusive during the call. A `loops::Verified` kernel stores to no `in`
        // array; its subscripts are proven to be in bounds, or checked by the code.
        let status = unsafe { compiled.code.run(&self.slots, &self.scalars, &self.pointers, &mut state) };
        match status {
            DONE => Ok(()),
            CANCELLED => Err(CallError::Cancelled),
            NO_MEMORY => Err(CallError::NoMemoryForThreads),
            PANICKED => Err(CallError::Panicked),
            status => Err(CallError::Fault(signature.fault(status, state.report(), &self.params))),
        }
    }
}
