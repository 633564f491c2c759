//! Memory that holds or feeds generated code: the one place that is unsafe.
//!
//! In: a finished Cranelift module.  Out: a function that can be called and whose memory goes when it goes.
//! Not here: checking that arguments fit the kernel (`call`).

use std::alloc::{Layout, alloc, dealloc};
use std::fmt;
use std::ptr::NonNull;
use std::sync::Mutex;

use cranelift_jit::JITModule;
use cranelift_module::FuncId;

use crate::parallel::State;

/// Parameters and what is derived from them, scalars, each in 8-byte slots; one pointer per array; the state of the call, which
/// begins with a slot for a report. The result is a status, 0 for success.
pub(crate) type Entry = unsafe extern "C" fn(*const i64, *const u64, *const *mut u8, *mut State) -> i32;

/// A module under construction that frees its memory, also when compilation fails half-way.
pub(crate) struct OwnedModule(Option<JITModule>);

impl OwnedModule {
    pub(crate) fn new(module: JITModule) -> Self {
        OwnedModule(Some(module))
    }

    pub(crate) fn get(&mut self) -> diag::Result<&mut JITModule> {
        self.0.as_mut().ok_or_else(|| diag::Error::bug("cpu", "the module is gone"))
    }
}

impl Drop for OwnedModule {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: the only pointer into the module is the one in `Code`, which owns this value, is private, and
            // is called under `&Code` only; so no call is running and none can follow.
            unsafe { module.free_memory() };
        }
    }
}

/// Finished machine code of one kernel.
pub(crate) struct Code {
    entry: Entry,
    /// Keeps the code mapped. Locked by nobody: the mutex makes `Sync` what is only `Send`.
    _module: Mutex<OwnedModule>,
}

impl Code {
    /// Takes over a module whose definitions are finalised. `function` has the signature of [`Entry`], and its code
    /// begins at byte `start`.
    pub(crate) fn new(mut module: OwnedModule, function: FuncId, start: usize) -> diag::Result<Code> {
        let address = module.get()?.get_finalized_function(function).wrapping_add(start);
        // SAFETY: the address is that of finalised code, compiled with the host's default C convention for the
        // parameters and result of `Entry` (see `compile::signature`), of which `compile::define` put the first byte
        // at `start`; a function pointer is as wide as an address.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(address) };
        Ok(Code { entry, _module: Mutex::new(module) })
    }

    /// Runs the kernel and returns its status; a failed check leaves its value in `state`.
    ///
    /// # Safety
    /// One entry per parameter, derived argument, scalar and array of the kernel, in order. Every array pointer is aligned for its
    /// element type and valid for reads of all its elements; those of arrays the kernel stores to are valid for writes
    /// and overlap no other array.
    pub(crate) unsafe fn run(&self, params: &[i64], scalars: &[u64], arrays: &[*mut u8], state: &mut State) -> i32 {
        // SAFETY: the caller vouches for the arguments. The code is mapped as long as `self` lives.
        let status = unsafe { (self.entry)(params.as_ptr(), scalars.as_ptr(), arrays.as_ptr(), state) };
        settle_stores();
        status
    }
}

/// What has been written past the caches is seen by other threads not later than what this one writes from now on, such as a flag that it is done.
pub(crate) fn settle_stores() {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86-64 processor has this instruction, which touches no memory.
        unsafe { std::arch::x86_64::_mm_sfence() }
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").finish_non_exhaustive()
    }
}

/// Memory for one local array, with arbitrary content: every cell is written before it is read. Pages that are never touched cost nothing.
#[derive(Debug)]
pub(crate) struct Scratch {
    memory: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it owns its memory, like a box, and nothing about that belongs to a thread.
unsafe impl Send for Scratch {}
// SAFETY: nothing can be done with the memory through `&Scratch`.
unsafe impl Sync for Scratch {}

impl Scratch {
    /// A line of the cache, so that the rows of packed tiles are not split between two.
    const ALIGN: usize = 64;

    /// `None` if that much memory cannot be had.
    pub(crate) fn new(bytes: usize) -> Option<Scratch> {
        let layout = Layout::from_size_align(bytes.max(1), Scratch::ALIGN).ok()?;
        // SAFETY: the size of the layout is not zero.
        let memory = NonNull::new(unsafe { alloc(layout) })?;
        Some(Scratch { memory, layout })
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.memory.as_ptr()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.layout.size()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout, and freed once.
        unsafe { dealloc(self.memory.as_ptr(), self.layout) };
    }
}

/// Bytes of `a` in the order that `b` says, zero where its top bit is set: what Cranelift calls on a host without SSSE3.
#[cfg(target_arch = "x86_64")]
#[expect(improper_ctypes_definitions, reason = "the C convention passes such vectors in registers, as Cranelift does")]
pub(crate) extern "C" fn shuffle_bytes(
    a: std::arch::x86_64::__m128i,
    b: std::arch::x86_64::__m128i,
) -> std::arch::x86_64::__m128i {
    // SAFETY: both types are 16 bytes long, and any bytes are a value of either.
    let (a, b) = unsafe {
        (
            std::mem::transmute::<std::arch::x86_64::__m128i, [u8; 16]>(a),
            std::mem::transmute::<std::arch::x86_64::__m128i, [u8; 16]>(b),
        )
    };
    let moved: [u8; 16] = b.map(|from| if from & 0x80 != 0 { 0 } else { a[usize::from(from & 15)] });
    // SAFETY: as above.
    unsafe { std::mem::transmute::<[u8; 16], std::arch::x86_64::__m128i>(moved) }
}

/// A leaf: the block of arguments, and the status.
#[cfg(test)]
pub(crate) type LeafEntry = unsafe extern "sysv64" fn(*const u64) -> i32;

/// Memory that begins at a cache line.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Line(pub(crate) [u64; 8]);

/// Leaves in a module of their own, for the tier that Cranelift's pieces are needed on, to run lane programs on one stretch of memory in tests.
#[cfg(test)]
pub(crate) struct Leaves {
    module: OwnedModule,
}

#[cfg(test)]
impl Leaves {
    pub(crate) fn new() -> diag::Result<Leaves> {
        use cranelift_jit::JITBuilder;
        let mut builder =
            JITBuilder::with_isa(crate::isa::host(crate::Tier::Baseline)?, cranelift_module::default_libcall_names());
        builder.symbols(crate::math::symbols());
        builder.symbols(crate::libcalls::symbols());
        Ok(Leaves { module: OwnedModule::new(JITModule::new(builder)) })
    }

    /// A program in Cranelift's pieces.
    pub(crate) fn add_program(&mut self, name: &str, program: &crate::lanes::Verified) -> diag::Result<FuncId> {
        use cranelift_module::{Linkage, Module};
        let module = self.module.get()?;
        let bug = |error: cranelift_module::ModuleError| diag::Error::bug("cpu", format!("{error:?}"));
        let mut context = module.make_context();
        context.func.signature = crate::lanes::signature(module);
        let id = module.declare_function(name, Linkage::Local, &context.func.signature).map_err(bug)?;
        let fused = crate::isa::has_fma(module.isa());
        crate::lanes::clif::emit(program, module.target_config(), fused, &[], &mut context.func)?;
        module.define_function(id, &mut context).map_err(bug)?;
        Ok(id)
    }

    pub(crate) fn add_bytes(&mut self, name: &str, code: &[u8]) -> diag::Result<FuncId> {
        use cranelift_module::{Linkage, Module};
        let module = self.module.get()?;
        let signature = crate::lanes::signature(module);
        let bug = |error: cranelift_module::ModuleError| diag::Error::bug("cpu", error.to_string());
        let id = module.declare_function(name, Linkage::Local, &signature).map_err(bug)?;
        module.define_function_bytes(id, 64, code, &[]).map_err(bug)?;
        Ok(id)
    }

    pub(crate) fn finish(mut self) -> diag::Result<Leaves> {
        let bug = |error: cranelift_module::ModuleError| diag::Error::bug("cpu", error.to_string());
        self.module.get()?.finalize_definitions().map_err(bug)?;
        Ok(self)
    }

    /// Runs a leaf whose first slot counts bytes of `memory` and whose last one takes the address of the report. The
    /// program must have been found, by the evaluator, to stay inside that memory.
    pub(crate) fn run_on(
        &mut self,
        id: FuncId,
        slots: &[u64],
        content: &[u8],
        memory: &mut [Line],
        report: &mut i64,
    ) -> (i32, Vec<u8>) {
        let address = self.module.get().expect("a finished module").get_finalized_function(id);
        assert_eq!(content.len(), size_of_val(memory));
        let words = memory.iter_mut().flat_map(|line| &mut line.0);
        for (word, bytes) in words.zip(content.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().expect("8 bytes"));
        }
        let mut slots = slots.to_vec();
        slots[0] = slots[0].wrapping_add(memory.as_mut_ptr() as u64);
        *slots.last_mut().expect("a slot for the report") = std::ptr::from_mut(report) as u64;
        // SAFETY: the address is that of finalised code with the signature of a leaf, which by the caller's word reads
        // and writes `memory` only, beside the slots and the report.
        let status = unsafe {
            let entry = std::mem::transmute::<*const u8, LeafEntry>(address);
            entry(slots.as_ptr())
        };
        (status, memory.iter().flat_map(|line| line.0).flat_map(u64::to_le_bytes).collect())
    }
}
