//! Kernels as text: read again they are the same, and the verifier tells what is wrong with those that are not PTX.

use farkas_ptx::build::Builder;
use farkas_ptx::ir::{
    BinaryOp, Cache, Compare, Float, Kernel, Module, Op, Operand, SourcePlace, Space, Special, Target, Type,
};
use farkas_ptx::{parse, verify};

use crate::{cases, elementwise, exchange, matmul, reduce, stencil, text_of};

fn all() -> Vec<Kernel> {
    let kernels = [elementwise::all(), reduce::all(), stencil::all(), exchange::all(), matmul::all()];
    kernels.into_iter().flatten().chain([exchange::copy_async(256)]).collect()
}

#[test]
fn printed_kernels_are_read_as_they_were() {
    for kernel in all() {
        let text = text_of(&kernel);
        let module = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", kernel.name));
        assert_eq!(module.to_string(), text, "{}", kernel.name);
        assert_eq!(module.kernels[0].body.len(), kernel.body.len());
        assert_eq!(module.kernels[0].params, kernel.params);
        assert!(verify(module).is_ok(), "{}", kernel.name);
    }
}

#[test]
fn every_example_has_a_case() {
    let covered: Vec<String> = cases::all().into_iter().map(|case| case.kernel.name).collect();
    for kernel in all() {
        assert!(covered.contains(&kernel.name), "{}", kernel.name);
    }
}

#[test]
fn the_kernel_that_the_documentation_explains_is_the_one_we_write() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/gpu.md");
    let page = std::fs::read_to_string(page).expect("the page exists");
    let shown = page.split("```").find(|block| block.contains(".entry axpy_f32")).expect("the page shows the kernel");
    let without_comments = shown.trim().lines().map(|line| line.split("//").next().unwrap_or(line).trim_end());
    let written = text_of(&elementwise::axpy(Type::F32, 256));
    assert_eq!(without_comments.collect::<Vec<_>>().join("\n"), written.trim_end());
}

/// The first problem of a kernel that `body` writes.
fn problem(body: impl FnOnce(&mut Builder)) -> String {
    let mut b = Builder::new("k");
    body(&mut b);
    let module = Module { target: Target::default(), files: Vec::new(), kernels: vec![b.finish()] };
    match verify(module) {
        Ok(verified) => panic!("nothing is wrong with\n{}", verified.text()),
        Err(problems) => problems[0].to_string(),
    }
}

#[test]
fn a_register_must_be_assigned_on_every_path() {
    let found = problem(|b| {
        let n = b.mov(Type::U32, Special::TidX);
        let small = b.compare(Compare::Lt, Type::U32, n, 5);
        let value = b.reg(Type::U32);
        b.guarded(small, false, |b| b.set(Type::U32, value, 1));
        b.add(Type::U32, value, 1);
        b.ret();
    });
    assert_eq!(found, "k: `add.u32 %r2, %r1, 1;`: `%r1` may be read before it is assigned");
}

#[test]
fn rounding_must_be_said() {
    let found = problem(|b| {
        let a = b.mov(Type::F32, Operand::f32(1.0));
        let (op, ty, dst) = (BinaryOp::Add, Type::F32, a);
        b.push(Op::Binary { op, ty, float: Float::EXACT, dst, a: a.into(), b: a.into() });
        b.ret();
    });
    assert_eq!(found, "k: `add.f32 %f0, %f0, %f0;`: the rounding must be said");
}

#[test]
fn types_must_fit() {
    let found = problem(|b| {
        let a = b.mov(Type::F32, Operand::f32(1.0));
        b.add(Type::U32, a, 1);
        b.ret();
    });
    assert_eq!(found, "k: `add.u32 %r0, %f0, 1;`: `%f0` is .f32, not .u32");
    let found = problem(|b| {
        let narrow = b.mov(Type::U32, 64);
        b.load(Space::Global, Cache::Default, Type::F32, narrow);
        b.ret();
    });
    assert_eq!(found, "k: `ld.global.f32 %f0, [%r0];`: `%r0` is no address");
}

#[test]
fn the_target_must_know_the_instruction() {
    let found = problem(|b| {
        b.push(Op::CommitGroup);
        b.ret();
    });
    assert_eq!(found, "k: `cp.async.commit_group;`: needs sm_80, but the target is sm_70");
}

#[test]
fn a_kernel_must_end() {
    let found = problem(|b| {
        b.mov(Type::U32, 1);
    });
    assert_eq!(found, "k: `mov.u32 %r0, 1;`: a kernel must not run past its end");
}

#[test]
fn limits_of_blocks_are_known() {
    let found = problem(|b| {
        b.max_threads([64, 32, 1]);
        b.ret();
    });
    assert_eq!(found, "k: a block of 2048 threads; it must have 1 to 1024");
    let found = problem(|b| {
        b.shared("room", 16, 50_000);
        b.ret();
    });
    assert_eq!(found, "k: 50000 bytes of shared memory; at most 49152 may be static");
    let found = problem(|b| {
        b.min_blocks(2);
        b.ret();
    });
    assert_eq!(found, "k: a number of blocks without the number of their threads");
}

#[test]
fn places_in_the_source_are_printed_and_read() {
    let mut b = Builder::new("k");
    b.source(Some(SourcePlace { file: 1, line: 3, column: 7 }));
    b.mov(Type::U32, 1);
    b.mov(Type::U32, 2);
    b.source(Some(SourcePlace { file: 1, line: 4, column: 1 }));
    b.ret();
    let files = vec![(1, "sum.fks".to_owned())];
    let module = Module { target: Target::sm(90), files, kernels: vec![b.finish()] };
    let text = module.to_string();
    assert!(text.starts_with(".version 7.8\n.target sm_90\n"), "{text}");
    assert_eq!(text.matches(".loc 1 3 7").count(), 1, "{text}");
    let read = parse(&text).expect("the text is PTX");
    assert_eq!(read.files, module.files);
    assert_eq!(read.to_string(), text);
}
