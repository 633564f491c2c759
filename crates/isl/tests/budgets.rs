//! Budgets stop isl in time and leave the context as if nothing had happened.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails says so by panicking")]

use std::time::{Duration, Instant};

use farkas_isl as isl;
use isl::{Allowance, Budget, Context, Dim, Error, Resource, Result, Set, Space};

/// A computation that would run for hours: the complement of many overlapping simplices blows up exponentially.
fn hostile(context: &Context) -> Result<Set> {
    let mut union = Set::read_from_str(context, "{ [a, b, c, d, e, f] : false }")?;
    for i in 1..60_i64 {
        let coefficient = |k: i64| (i * k * 7919 + k * k * 104_729) % 23 - 11;
        let text = format!(
            "{{ [a,b,c,d,e,f] : {}a + {}b + {}c + {}d + {}e + {}f >= {} and {}a + {}b + {}c >= d + {}e - {}f }}",
            coefficient(1),
            coefficient(2),
            coefficient(3),
            coefficient(4),
            coefficient(5),
            coefficient(6),
            i * 3,
            coefficient(7),
            coefficient(8),
            coefficient(9),
            coefficient(10),
            coefficient(11),
        );
        union = union.union(Set::read_from_str(context, &text)?)?;
    }
    union.complement()?.coalesce()
}

fn time(time: Duration) -> Budget {
    Budget { time: Some(time), ..Budget::default() }
}

fn operations(operations: u64) -> Budget {
    Budget { operations: Some(operations), ..Budget::default() }
}

fn memory(bytes: u64) -> Budget {
    Budget { memory: Some(bytes), ..Budget::default() }
}

/// Makes sets of many dimensions until it is stopped: about a megabyte each.
fn hoard(context: &Context) -> Result<usize> {
    let space = Space::set_alloc(context, 0, 8000)?;
    let mut sets = Vec::new();
    for round in 0..20_000 {
        let mut set = Set::universe(space.clone())?;
        for dim in 0..16 {
            set = set.lower_bound_si(Dim::Set, dim, round)?;
        }
        sets.push(set);
    }
    Ok(sets.len())
}

fn works(context: &Context) {
    let set = Set::read_from_str(context, "[n] -> { [i] : 0 <= i < n }").unwrap();
    assert!(!set.clone().is_empty().unwrap());
    assert_eq!(set.lexmin().unwrap().to_string(), "[n] -> { [i = 0] : n > 0 }");
}

#[test]
fn hostile_computation_stops_at_its_deadline_and_the_next_call_works() {
    let context = Context::new().unwrap();
    let allowed = Duration::from_secs(2);
    let start = Instant::now();
    let outcome = context.with_budget(time(allowed), || hostile(&context));
    let took = start.elapsed();
    let Err(Error::Budget { resource: Resource::Time, spent }) = outcome else {
        panic!("expected the budget to run out, got {outcome:?} after {took:?}");
    };
    assert!(spent >= allowed, "{spent:?}");
    assert!(took < allowed + Duration::from_millis(100), "{took:?}");
    works(&context);
}

#[test]
fn operations_run_out() {
    let context = Context::new().unwrap();
    let outcome = context.with_budget(operations(50_000), || hostile(&context));
    assert!(matches!(outcome, Err(Error::Budget { resource: Resource::Operations, .. })), "{outcome:?}");
    works(&context);
}

#[test]
fn operations_are_the_same_every_time() {
    let least = |context: &Context| {
        let enough = |n: u64| {
            let work = || Set::read_from_str(context, "{ [i, j] : 0 <= i < j < 10 }")?.count_val();
            context.with_budget(operations(n), work).is_ok()
        };
        (1..10_000).find(|&n| enough(n)).unwrap()
    };
    let (first, second) = (Context::new().unwrap(), Context::new().unwrap());
    assert_eq!(least(&first), least(&second));
}

#[test]
fn calls_after_the_deadline_fail_until_the_budget_ends() {
    let context = Context::new().unwrap();
    let set = Set::read_from_str(&context, "{ [i] : 0 <= i < 10 }").unwrap();
    let outcome = context.with_budget(time(Duration::ZERO), || {
        let first = Set::read_from_str(&context, "{ [i] }").unwrap_err();
        assert!(first.is_budget());
        // Copies and drops still work, and text says what happened.
        drop(set.clone());
        assert!(set.to_string().contains("budget"), "{set}");
        set.clone().lexmin()
    });
    assert!(outcome.unwrap_err().is_budget());
    assert_eq!(set.to_string(), "{ [i] : 0 <= i <= 9 }");
    works(&context);
}

#[test]
fn late_abort_cannot_reach_the_next_call() {
    let context = Context::new().unwrap();
    for round in 0..2000 {
        // Deadlines fall before, within and after the work.
        let allowed = Duration::from_micros(round % 200);
        let _ = context
            .with_budget(time(allowed), || Set::read_from_str(&context, "{ [i, j] : 0 <= i < j < 100 }")?.lexmax());
        works(&context);
    }
}

#[test]
fn inner_budget_ends_before_the_outer_one() {
    let context = Context::new().unwrap();
    let outcome = context.with_budget(time(Duration::from_secs(60)), || {
        let inner = context.with_budget(time(Duration::from_millis(20)), || hostile(&context));
        assert!(inner.unwrap_err().is_budget());
        Set::read_from_str(&context, "{ [5] }")?.count_val()
    });
    assert_eq!(outcome.unwrap().to_i64().unwrap(), Some(1));
}

#[test]
fn inner_budget_is_capped_by_the_outer_one() {
    let context = Context::new().unwrap();
    let start = Instant::now();
    let outcome = context.with_budget(time(Duration::from_millis(50)), || {
        let inner = context.with_budget(time(Duration::from_secs(60)), || hostile(&context));
        assert!(inner.unwrap_err().is_budget());
        // The outer deadline has passed, so the outer work is over as well.
        Set::read_from_str(&context, "{ [5] }")
    });
    assert!(outcome.unwrap_err().is_budget());
    assert!(start.elapsed() < Duration::from_millis(500));
    works(&context);
}

#[test]
fn nested_operations_are_counted_by_both_budgets() {
    let context = Context::new().unwrap();
    let outcome = context.with_budget(operations(20_000), || {
        let inner = context.with_budget(operations(2_000), || hostile(&context));
        assert!(inner.unwrap_err().is_budget());
        works(&context);
        let generous = context.with_budget(operations(1_000_000), || hostile(&context));
        assert!(generous.unwrap_err().is_budget());
        Set::read_from_str(&context, "{ [5] }")
    });
    assert!(outcome.unwrap_err().is_budget());
    works(&context);
}

#[test]
fn panic_under_a_budget_ends_it() {
    let context = Context::new().unwrap();
    let work =
        std::panic::AssertUnwindSafe(|| context.with_budget(time(Duration::ZERO), || -> Result<()> { panic!("mine") }));
    assert!(std::panic::catch_unwind(work).is_err());
    works(&context);
}

#[test]
fn budgets_of_many_threads_do_not_disturb_each_other() {
    let threads: Vec<_> = (0..4)
        .map(|i| {
            std::thread::spawn(move || {
                let context = Context::new().unwrap();
                for _ in 0..10 {
                    let allowed = time(Duration::from_millis(5 + i));
                    let outcome = context.with_budget(allowed, || hostile(&context));
                    assert!(outcome.unwrap_err().is_budget());
                    works(&context);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn a_budget_costs_microseconds() {
    let context = Context::new().unwrap();
    let rounds = 10_000;
    let start = Instant::now();
    for _ in 0..rounds {
        context.with_budget(time(Duration::from_secs(2)), || Ok(())).unwrap();
    }
    let each = start.elapsed() / rounds;
    assert!(each < Duration::from_micros(50), "{each:?}");
}

#[test]
fn memory_runs_out() {
    let context = Context::new().unwrap();
    let outcome = context.with_budget(memory(50 << 20), || {
        let outcome = hoard(&context);
        assert!(outcome.is_err());
        outcome
    });
    assert!(matches!(outcome, Err(Error::Budget { resource: Resource::Memory, .. })), "{outcome:?}");
    works(&context);
    // A context keeps some blocks for later use; with it, all is free again.
    drop(context);
    assert!(Context::new().unwrap().memory_held() < 1 << 20);
}

#[test]
fn memory_of_nested_budgets_and_of_two_contexts_is_counted_together() {
    let (first, second) = (Context::new().unwrap(), Context::new().unwrap());
    let outcome = first.with_budget(memory(50 << 20), || {
        let little = first.with_budget(memory(10 << 20), || hoard(&first));
        assert!(matches!(little, Err(Error::Budget { resource: Resource::Memory, .. })), "{little:?}");
        works(&first);
        let generous = second.with_budget(memory(1 << 40), || hoard(&second));
        assert!(matches!(generous, Err(Error::Budget { resource: Resource::Memory, .. })), "{generous:?}");
        works(&second);
        hoard(&first)
    });
    assert!(matches!(outcome, Err(Error::Budget { resource: Resource::Memory, .. })), "{outcome:?}");
    works(&first);
}

#[test]
fn memory_of_other_threads_does_not_count() {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let context = Context::new().unwrap();
            let outcome = context.with_budget(memory(100 << 20), || hoard(&context));
            assert!(outcome.unwrap_err().is_budget());
        });
        let context = Context::new().unwrap();
        for _ in 0..200 {
            context.with_budget(memory(1 << 20), || Set::read_from_str(&context, "{ [i] : 0 <= i < 9 }")).unwrap();
        }
    });
}

/// Runs `work` in a forked child, and says whether it returned `true` within a generous time.
#[cfg(unix)]
fn in_a_fork(work: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child only runs `work` and leaves by `_exit`. The lock of the C library's allocator, the only one that it
    // shares with other threads of this process, is handed over by `fork`.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            libc::_exit(if outcome.unwrap_or(false) { 0 } else { 1 });
        }
        assert!(child > 0, "fork failed");
        let (mut status, start) = (0, Instant::now());
        while libc::waitpid(child, &raw mut status, libc::WNOHANG) == 0 {
            if start.elapsed() > Duration::from_secs(60) {
                libc::kill(child, libc::SIGKILL);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
    }
}

#[cfg(unix)]
#[test]
fn time_limits_survive_a_fork() {
    let context = Context::new().unwrap();
    let allowed = time(Duration::from_millis(50));
    // The thread that watches runs in this process, and will not run in the child.
    assert!(context.with_budget(allowed, || hostile(&context)).unwrap_err().is_budget());
    assert!(in_a_fork(|| context.with_budget(allowed, || hostile(&context)).unwrap_err().is_budget()));
    // A budget that began before the fork.
    let outcome = context.with_budget(time(Duration::from_millis(200)), || {
        assert!(in_a_fork(|| hostile(&context).unwrap_err().is_budget()));
        Ok(())
    });
    outcome.unwrap();
    works(&context);
}

#[cfg(target_os = "linux")]
#[test]
fn memory_that_the_machine_does_not_have_is_a_budget() {
    assert!(in_a_fork(|| {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        let now = pages.split(' ').next().unwrap().parse::<u64>().unwrap() * 4096;
        // SAFETY: the structure is initialised and only read; the child alone is limited.
        unsafe {
            let limit = libc::rlimit { rlim_cur: now + (128 << 20), rlim_max: now + (128 << 20) };
            assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &raw const limit), 0);
        }
        let context = Context::new().unwrap();
        let outcome = context.with_budget(Budget::default(), || hoard(&context));
        works(&context);
        let without = hoard(&context);
        works(&context);
        [outcome, without].iter().all(|it| matches!(it, Err(Error::Budget { resource: Resource::Memory, .. })))
    }));
}

#[test]
fn a_part_is_counted_in_operations_whatever_time_is_left() {
    let limit = Duration::from_secs(12);
    let part = |left| Allowance { limit, left }.part(4);
    let (early, late) = (part(limit), part(Duration::from_millis(1)));
    assert_eq!(early.operations, late.operations);
    assert_eq!(early.time, Some(Duration::from_secs(3)));
    // What does not end is ended by operations where there is time enough for them, at the same place each time.
    let stops = || {
        let context = Context::new().unwrap();
        let small = Allowance { limit: Duration::from_millis(4), left: Duration::from_secs(400) }.part(4);
        match context.with_budget(small, || hostile(&context)) {
            Err(Error::Budget { resource, .. }) => resource,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(stops(), Resource::Operations);
}
