//! Every kind of fault, with the line and the words that name it.
#![forbid(unsafe_code)]
#![expect(clippy::panic, reason = "a test fails by panicking")]

use farkas_ptx::emulate::{Argument, Counts, Emulator, Fault, FaultKind, Launch, Memory, Options};

/// A kernel of one pointer `x`, with some registers; `body` starts in line 9.
fn kernel(body: &str) -> String {
    format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.file 1 \"sum.fks\"\n.visible .entry k(.param .u64 x) {{\n\
         .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .shared .align 16 .b8 room[1024];\n\
         ld.param.u64 %rd0, [x]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd2, %rd0, %rd1;\n\
         mov.u32 %r1, room; mad.lo.u32 %r1, %r0, 4, %r1; mov.u32 %r2, %ctaid.x; mov.f32 %f0, 0f3F800000;\n\
         {body}\nret;\n}}\n"
    )
}

/// Runs the kernel on `blocks` of `threads`, with a buffer of 256 floats.
fn run(body: &str, blocks: u32, threads: u32) -> Result<Counts, Fault> {
    let emulator = Emulator::load(&kernel(body)).unwrap_or_else(|error| panic!("{error}"));
    let mut memory = Memory::new();
    let x = memory.allocate("x", &[0; 1024]);
    let arguments = [Argument::Pointer(x, 0)];
    let (grid, block) = ([blocks, 1, 1], [threads, 1, 1]);
    let launch = Launch { kernel: "k", grid, block, dynamic_shared: 0, arguments: &arguments };
    emulator.launch(&launch, &mut memory, &Options { seed: 3, host_threads: 2, budget: 1_000_000 })
}

fn fault(body: &str, blocks: u32, threads: u32) -> Fault {
    match run(body, blocks, threads) {
        Ok(_) => panic!("nothing was wrong with\n{body}"),
        Err(fault) => fault,
    }
}

#[test]
fn a_race_in_global_memory_names_both_lines() {
    let found = fault("st.global.f32 [%rd2], %f0;\nld.global.f32 %f1, [%rd0];", 1, 64);
    assert_eq!(found.kind, FaultKind::Race);
    assert!(found.message.contains("race: thread "), "{found}");
    assert!(found.message.contains("of `x`"), "{found}");
    let mut lines = [found.line, found.earlier];
    lines.sort();
    assert_eq!(lines, [Some(9), Some(10)], "{found}");
}

#[test]
fn blocks_race_even_if_their_threads_do_not() {
    let found = fault("st.global.f32 [%rd2], %f0;", 2, 32);
    assert_eq!(found.kind, FaultKind::Race);
    assert!(found.message.ends_with("blocks are not ordered"), "{found}");
    assert!(run("st.global.f32 [%rd2], %f0;", 1, 32).is_ok());
}

#[test]
fn a_barrier_orders_threads_but_not_blocks() {
    let body = "st.global.f32 [%rd2], %f0;\nbar.sync 0;\nld.global.f32 %f1, [%rd0];";
    assert!(run(body, 1, 64).is_ok());
    assert_eq!(fault(body, 2, 64).kind, FaultKind::Race);
}

#[test]
fn a_warp_barrier_orders_a_warp() {
    let body = "st.shared.f32 [%r1], %f0;\nbar.warp.sync -1;\nld.shared.f32 %f1, [room];";
    assert!(run(body, 1, 32).is_ok());
    let found = fault(body, 1, 64);
    assert_eq!(found.kind, FaultKind::Race, "{found}");
    assert!(found.message.contains("byte 0 of shared `room`"), "{found}");
}

#[test]
fn two_threads_of_an_instruction_race_as_well() {
    assert_eq!(fault("st.shared.f32 [room], %f0;", 1, 32).kind, FaultKind::Race);
    assert_eq!(fault("st.global.f32 [%rd0], %f0;", 1, 2).kind, FaultKind::Race);
}

#[test]
fn atomics_do_not_race_with_each_other() {
    assert!(run("red.global.add.f32 [%rd0], %f0;", 4, 64).is_ok());
    let found = fault("red.global.add.f32 [%rd0], %f0;\nld.global.f32 %f1, [%rd0];", 1, 64);
    assert_eq!(found.kind, FaultKind::Race);
}

#[test]
fn uninitialised_registers_are_named() {
    let found = fault("add.rn.f32 %f2, %f1, %f0;", 1, 32);
    assert_eq!((found.kind, found.line), (FaultKind::UninitialisedRegister, Some(9)));
    assert!(found.message.contains("`%f1`"), "{found}");
    let found = fault("@%p2 mov.u32 %r5, 1;", 1, 32);
    assert_eq!(found.kind, FaultKind::UninitialisedRegister);
    assert!(found.message.contains("`%p2`"), "{found}");
}

#[test]
fn a_register_that_only_some_threads_assign() {
    let body = "setp.lt.u32 %p0, %r0, 5;\n@%p0 mov.u32 %r5, 1;\nadd.u32 %r6, %r5, 1;";
    let found = fault(body, 1, 32);
    assert_eq!((found.kind, found.line), (FaultKind::UninitialisedRegister, Some(11)));
    assert!(found.message.starts_with("thread 5 "), "{found}");
}

#[test]
fn uninitialised_shared_memory_is_reported_and_not_its_consequences() {
    // The loaded value becomes an address that is nowhere.
    let body = "ld.shared.u32 %r3, [%r1+512];\ncvt.u64.u32 %rd3, %r3;\nld.global.f32 %f1, [%rd3];";
    let found = fault(body, 1, 32);
    assert_eq!((found.kind, found.line), (FaultKind::UninitialisedShared, Some(9)), "{found}");
    assert!(found.message.contains("of shared `room`, which no thread has written"), "{found}");
}

#[test]
fn out_of_bounds_names_the_buffer() {
    let found = fault("ld.global.f32 %f1, [%rd2+1000];", 1, 32);
    assert_eq!(found.kind, FaultKind::OutOfBounds);
    assert!(found.message.ends_with("touches byte 1024 of `x`, which has 1024 bytes"), "{found}");
    let found = fault("ld.global.f32 %f1, [%rd0+-4];", 1, 1);
    assert!(found.message.ends_with("touches 4 bytes in front of `x`"), "{found}");
    let found = fault("mov.u32 %r3, 1024;\nst.shared.f32 [%r3], %f0;", 1, 1);
    assert_eq!(found.kind, FaultKind::OutOfBounds);
    assert!(found.message.ends_with("touches byte 1024 of shared memory, which has 1024 bytes"), "{found}");
    assert_eq!(fault("ld.global.f32 %f1, [64];", 1, 1).kind, FaultKind::OutOfBounds);
    assert_eq!(fault("ld.global.f32 %f1, [-4];", 1, 1).kind, FaultKind::OutOfBounds);
}

#[test]
fn misaligned_accesses() {
    let found = fault("ld.global.f32 %f1, [%rd0+2];", 1, 1);
    assert_eq!((found.kind, found.line), (FaultKind::Misaligned, Some(9)));
    assert!(found.message.contains("4 bytes at byte 2 of `x`"), "{found}");
    let found = fault("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd0+8];", 1, 1);
    assert_eq!(found.kind, FaultKind::Misaligned, "{found}");
}

#[test]
fn divergent_barriers_and_shuffles() {
    let found = fault("setp.lt.u32 %p0, %r0, 5;\n@%p0 bra L;\nbar.sync 0;\nL:", 1, 32);
    assert_eq!((found.kind, found.line), (FaultKind::Divergent, Some(11)), "{found}");
    let found = fault("setp.lt.u32 %p0, %r0, 5;\n@%p0 bar.sync 0;", 1, 32);
    assert_eq!(found.kind, FaultKind::Divergent);
    let body = "setp.lt.u32 %p0, %r0, 5;\n@%p0 bra L;\nshfl.sync.bfly.b32 %r3, %r0, 1, 31, -1;\nL:";
    assert_eq!(fault(body, 1, 32).kind, FaultKind::Divergent);
    // The same mask is right when the other threads have left.
    let body = "setp.lt.u32 %p0, %r0, 5;\n@%p0 ret;\nshfl.sync.bfly.b32 %r3, %r0, 1, 31, -1;\nbar.sync 0;";
    assert!(run(body, 1, 32).is_ok());
    // Whole warps may wait at different barriers of the text.
    let body = "setp.lt.u32 %p0, %r0, 32;\n@%p0 bra L;\nbar.sync 0;\nbra M;\nL: bar.sync 0;\nM:";
    assert!(run(body, 1, 64).is_ok());
}

#[test]
fn threads_that_return_early_are_not_waited_for() {
    let body = "setp.lt.u32 %p0, %r0, 40;\n@%p0 bra L;\nret;\nL: st.shared.f32 [%r1], %f0;\nbar.sync 0;\n\
                ld.shared.f32 %f1, [room+4];";
    assert!(run(body, 1, 64).is_ok());
}

#[test]
fn what_a_shuffle_takes_from_nobody_is_uninitialised() {
    let body = "setp.lt.u32 %p0, %r0, 31;\n@!%p0 ret;\nshfl.sync.idx.b32 %r3, %r0, 31, 31, -1;\nadd.u32 %r4, %r3, 1;";
    let found = fault(body, 1, 32);
    assert_eq!((found.kind, found.line), (FaultKind::UninitialisedRegister, Some(12)), "{found}");
}

#[test]
fn unsupported_instructions_fault_when_they_are_reached() {
    let found = fault("bfind.u32 %r3, %r0;", 1, 1);
    assert_eq!((found.kind, found.line), (FaultKind::Unsupported, Some(9)));
    assert_eq!(found.message, "`bfind.u32 %r3, %r0` is not supported by the emulator");
    assert!(run("bra L;\nbfind.u32 %r3, %r0;\nL:", 1, 1).is_ok());
    assert_eq!(fault("add.rz.f32 %f1, %f0, %f0;", 1, 1).kind, FaultKind::Unsupported);
    assert_eq!(fault("bar.sync 1, 64;", 1, 64).kind, FaultKind::Unsupported);
}

#[test]
fn endless_loops_end() {
    let found = fault("L: bra L;", 3, 64);
    assert_eq!(found.kind, FaultKind::Budget);
    assert!(found.message.contains("1000000 thread-instructions"), "{found}");
    assert_eq!(fault("L: bar.sync 0;\nbra L;", 1, 64).kind, FaultKind::Budget);
    assert_eq!(fault("setp.lt.u32 %p0, %r0, 7;\nL: @%p0 bra L;\nM: bra M;", 1, 64).kind, FaultKind::Budget);
}

#[test]
fn faults_carry_the_place_in_the_source() {
    let found = fault(".loc 1 12 5\nld.global.f32 %f1, [%rd0+4096];", 1, 1);
    assert_eq!(found.source, Some(("sum.fks".to_owned(), 12, 5)));
    assert!(found.to_string().starts_with("PTX line 10: thread (0, 0, 0) of block (0, 0, 0) touches"), "{found}");
    assert!(found.to_string().ends_with("(from sum.fks:12:5)"), "{found}");
}

#[test]
fn generic_addresses_reach_both_memories() {
    let body = "cvta.shared.u64 %rd4, room;\nadd.u64 %rd4, %rd4, %rd1;\nst.f32 [%rd4], %f0;\nld.f32 %f1, [%rd4];\n\
                st.f32 [%rd2], %f1;\nld.shared.f32 %f2, [%r1];";
    let body = body.replace("cvta.shared.u64 %rd4, room", "mov.u64 %rd4, room;\ncvta.shared.u64 %rd4, %rd4");
    assert!(run(&body, 1, 32).is_ok(), "{:?}", run(&body, 1, 32));
}

#[test]
fn launches_that_make_no_sense() {
    let emulator = Emulator::load(&kernel("")).expect("the text is PTX");
    let mut memory = Memory::new();
    let x = memory.allocate("x", &[0; 64]);
    let pointer = [Argument::Pointer(x, 0)];
    let mut launch = |kernel, grid, block, dynamic_shared, arguments: &[Argument]| {
        let launch = Launch { kernel, grid, block, dynamic_shared, arguments };
        match emulator.launch(&launch, &mut memory, &Options::default()) {
            Ok(_) => panic!("nothing was wrong"),
            Err(fault) => {
                assert_eq!(fault.kind, FaultKind::Launch);
                fault.to_string()
            }
        }
    };
    let one = [1, 1, 1];
    assert_eq!(launch("other", one, one, 0, &pointer), "no kernel `other`; there is `k`");
    assert_eq!(launch("k", [0, 1, 1], one, 0, &pointer), "a grid of 0 × 1 × 1 blocks does not exist");
    assert!(launch("k", [u32::MAX, u32::MAX, u32::MAX], one, 0, &pointer).contains("does not exist"));
    assert!(launch("k", [1 << 30, 1, 1], one, 0, &pointer).contains("runs at most 16777216"));
    assert!(launch("k", one, [2048, 1, 1], 0, &pointer).contains("does not exist"));
    assert!(launch("k", one, [0, 1, 1], 0, &pointer).contains("does not exist"));
    assert!(launch("k", one, one, 1 << 40, &pointer).contains("bytes of shared memory"));
    assert_eq!(launch("k", one, one, 0, &[]), "`k` takes 1 arguments, not 0");
    assert_eq!(launch("k", one, one, 0, &[Argument::U32(1)]), "the parameter `x` has 8 bytes, its argument 4");
    let mut other = Memory::new();
    other.allocate("a", &[]);
    let foreign = other.allocate("b", &[]);
    assert!(launch("k", one, one, 0, &[Argument::Pointer(foreign, 0)]).contains("another memory"));
}
