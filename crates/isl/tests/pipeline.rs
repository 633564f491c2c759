//! Dependences, schedule and loops of a matrix product, as the compiler uses them.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails says so by panicking")]

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use farkas_isl as isl;
use isl::ast::{Expr, Node, Op};
use isl::{
    AstBuild, Context, Error, Id, Result, Schedule, ScheduleConstraints, ScheduleNodeType, Set, UnionAccessInfo,
    UnionMap, UnionSet,
};

struct Matmul {
    domain: UnionSet,
    reads: UnionMap,
    writes: UnionMap,
    order: UnionMap,
}

/// `C[i,j] = 0; for k: C[i,j] += A[i,k] * B[k,j]; use C[i,j]`: init, update and fini of a reduction.
fn matmul(context: &Context) -> Matmul {
    let map = |text: &str| UnionMap::read_from_str(context, text).unwrap();
    let domain = UnionSet::read_from_str(
        context,
        "[N] -> { init[i,j] : 0 <= i,j < N; update[i,j,k] : 0 <= i,j,k < N; fini[i,j] : 0 <= i,j < N }",
    )
    .unwrap();
    let reads =
        map("{ update[i,j,k] -> C[i,j]; update[i,j,k] -> A[i,k]; update[i,j,k] -> B[k,j]; fini[i,j] -> C[i,j] }");
    let writes = map("{ init[i,j] -> C[i,j]; update[i,j,k] -> C[i,j]; fini[i,j] -> D[i,j] }");
    Matmul {
        reads: reads.intersect_domain(domain.clone()).unwrap(),
        writes: writes.intersect_domain(domain.clone()).unwrap(),
        order: map("{ init[i,j] -> [0,i,j,0]; update[i,j,k] -> [1,i,j,k]; fini[i,j] -> [2,i,j,0] }"),
        domain,
    }
}

fn flow(m: &Matmul) -> Result<UnionMap> {
    UnionAccessInfo::from_sink(m.reads.clone())?
        .set_must_source(m.writes.clone())?
        .set_schedule_map(m.order.clone())?
        .compute_flow()?
        .get_must_dependence()
}

fn schedule(m: &Matmul) -> Result<Schedule> {
    let flow = flow(m)?;
    ScheduleConstraints::on_domain(m.domain.clone())?
        .set_validity(flow.clone())?
        .set_coincidence(flow.clone())?
        .set_proximity(flow)?
        .compute_schedule()
}

#[test]
fn flow_finds_the_last_write_of_every_read() {
    let context = Context::new().unwrap();
    let m = matmul(&context);
    let expected = UnionMap::read_from_str(
        &context,
        "[N] -> { init[i,j] -> update[i,j,0] : 0 <= i,j < N; update[i,j,k] -> update[i,j,k+1] : 0 <= i,j < N and 0 <= k < N-1; update[i,j,N-1] -> fini[i,j] : 0 <= i,j < N }",
    )
    .unwrap();
    assert!(flow(&m).unwrap().is_equal(&expected).unwrap());

    let info = UnionAccessInfo::from_sink(m.reads.clone()).unwrap();
    let info = info.set_must_source(m.writes.clone()).unwrap();
    let info = info.set_schedule_map(m.order.clone()).unwrap();
    let found = info.compute_flow().unwrap();
    // With the memory cell, and the reads of inputs that no one wrote.
    assert!(found.get_full_must_dependence().unwrap().to_string().contains("C["));
    let inputs = found.get_must_no_source().unwrap().range().unwrap();
    assert_eq!(inputs.sets().unwrap().len(), 2);
    assert!(found.get_may_dependence().unwrap().is_equal(&expected).unwrap());
}

#[test]
fn the_schedule_runs_every_dependence_forwards() {
    let context = Context::new().unwrap();
    let m = matmul(&context);
    let time = schedule(&m).unwrap().get_map().unwrap();
    assert!(!time.is_empty().unwrap());
    let pairs = flow(&m).unwrap().apply_domain(time.clone()).unwrap().apply_range(time).unwrap();
    for pair in pairs.maps().unwrap() {
        let forwards = isl::Map::lex_lt(pair.get_space().unwrap().range().unwrap()).unwrap();
        assert!(pair.is_subset(&forwards).unwrap(), "{pair}");
    }
}

#[test]
fn loops_come_out_as_a_plain_tree() {
    let context = Context::new().unwrap();
    let m = matmul(&context);
    let known = Set::read_from_str(&context, "[N] -> { : N >= 1 }").unwrap();
    let names: Vec<Id> = ["x", "y", "z", "w"].iter().map(|name| Id::new(&context, name).unwrap()).collect();
    let build = AstBuild::from_context(known).unwrap().set_iterators(&names).unwrap();
    let order = m.order.intersect_domain(m.domain).unwrap();
    let node = build.node_from_schedule_map(order).unwrap();
    let Node::Block(nests) = node.to_tree().unwrap() else {
        panic!("{}", node.to_c_str().unwrap());
    };
    assert_eq!(nests.len(), 3, "{}", node.to_c_str().unwrap());
    let mut depth = 0;
    let mut inner = &nests[1];
    while let Node::For { body, degenerate, init, cond, inc, .. } = inner {
        assert!(!degenerate);
        assert_eq!((init, inc), (&Expr::Int(0), &Expr::Int(1)));
        assert!(matches!(cond, Expr::Op(Op::Lt, args) if args[1] == Expr::Id("N".to_owned())));
        depth += 1;
        inner = body;
    }
    assert_eq!(depth, 3);
    let Node::User(Expr::Op(Op::Call, call), None) = inner else {
        panic!("{inner:?}");
    };
    let id = |name: &str| Expr::Id(name.to_owned());
    assert_eq!(call, &vec![id("update"), id("y"), id("z"), id("w")]);
}

#[test]
fn hooks_see_every_statement_and_loop() {
    let context = Context::new().unwrap();
    let m = matmul(&context);
    let schedule = schedule(&m).unwrap();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let kept = Rc::new(RefCell::new(None));
    let (at_domain, at_loop) = (Rc::clone(&seen), Rc::clone(&seen));
    let keep = Rc::clone(&kept);
    let build = AstBuild::alloc(&context)
        .unwrap()
        .set_at_each_domain(move |node, build| {
            let around = build.get_schedule()?;
            at_domain.borrow_mut().push(around.domain()?.to_string());
            // A build may outlive the generation it comes from, hooks included.
            *keep.borrow_mut() = Some(build.clone());
            let mark = Id::new(build.context(), "seen")?;
            node.set_annotation(mark)
        })
        .unwrap()
        .set_before_each_for(move |build| {
            at_loop.borrow_mut().push("loop".to_owned());
            Id::new(build.context(), "parallel")
        })
        .unwrap()
        .set_after_each_for(|node, _| Ok(node))
        .unwrap();
    let node = build.node_from_schedule(schedule.clone()).unwrap();
    drop(build);
    let tree = format!("{:?}", node.to_tree().unwrap());
    assert!(tree.contains("Some(\"seen\")"), "{tree}");
    assert!(tree.contains("Some(\"parallel\")"), "{tree}");
    let statements = seen.borrow().iter().filter(|text| text.contains("update")).count();
    assert!(statements >= 1, "{:?}", seen.borrow());
    let kept = kept.borrow_mut().take().unwrap();
    drop(context);
    assert!(kept.get_schedule_space().is_ok());
}

#[test]
fn failures_of_hooks_come_out() {
    let context = Context::new().unwrap();
    let schedule = schedule(&matmul(&context)).unwrap();
    let build = AstBuild::alloc(&context).unwrap().set_at_each_domain(|_, _| Err(Error::callback("no"))).unwrap();
    let outcome = build.node_from_schedule(schedule.clone());
    assert_eq!(outcome.unwrap_err(), Error::callback("no"));

    let build = build.set_at_each_domain(|_, _| panic!("in a hook")).unwrap();
    let outcome = catch_unwind(AssertUnwindSafe(|| build.node_from_schedule(schedule.clone())));
    let payload = outcome.unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"in a hook"));

    let elsewhere = Context::new().unwrap();
    let build = build.set_at_each_domain(|node, _| Ok(node)).unwrap();
    let build = build.set_before_each_for(move |_| Id::new(&elsewhere, "foreign")).unwrap();
    let outcome = build.node_from_schedule(schedule.clone());
    assert!(matches!(outcome, Err(Error::ContextMix { .. })), "{outcome:?}");
    // The context is none the worse.
    let node = AstBuild::alloc(&context).unwrap().node_from_schedule(schedule);
    assert!(node.unwrap().to_c_str().unwrap().contains("for ("));
}

#[test]
fn whole_pipeline_fits_a_small_budget() {
    let context = Context::new().unwrap();
    let budget =
        isl::Budget { time: Some(std::time::Duration::from_secs(20)), operations: Some(2_000_000), memory: None };
    let root = context.with_budget(budget, || schedule(&matmul(&context))?.get_root()).unwrap();
    assert_eq!(root.get_type().unwrap(), ScheduleNodeType::Domain);
}
