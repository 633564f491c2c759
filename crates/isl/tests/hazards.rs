//! Every hazard of binding isl naively, shown not to exist here.
//!
//! That objects are not `Send` is shown by the `compile_fail` examples of the crate; aborts are in `budgets.rs`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails says so by panicking")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use farkas_isl as isl;
use isl::{
    Aff, Context, Dim, Error, ErrorKind, Id, LocalSpace, Map, PwAff, Result, Schedule, Set, Space, UnionMap, UnionSet,
    Val,
};

fn set(context: &Context, text: &str) -> Set {
    Set::read_from_str(context, text).unwrap()
}

#[test]
fn small_integers_are_in_use() {
    let version = isl::version();
    assert!(version.contains("-IMath-32"), "isl was built without small integers: {version}. Is CONFIG_SITE set?");
}

#[test]
fn objects_outlive_the_handle_of_their_context() {
    let context = Context::new().unwrap();
    let small = set(&context, "{ [i] : 0 <= i < 4 }");
    let copy = small.clone();
    drop(context);
    drop(small);
    assert_eq!(copy.count_val().unwrap().to_i64().unwrap(), Some(4));
    let context = copy.context().clone();
    drop(copy);
    assert!(set(&context, "{ [i] : false }").is_empty().unwrap());
}

#[test]
fn missing_names_are_none() {
    let context = Context::new().unwrap();
    let space = Space::alloc(&context, 0, 1, 1).unwrap();
    assert_eq!(space.get_dim_name(Dim::In, 0).unwrap(), None);
    assert_eq!(space.get_tuple_name(Dim::Out).unwrap(), None);
    assert_eq!(space.find_dim_by_name(Dim::Param, "n").unwrap(), None);
    assert!(!space.has_tuple_id(Dim::Out).unwrap());
    assert!(space.get_tuple_id(Dim::Out).is_err());
    let space = space.set_tuple_name(Dim::Out, "S").unwrap();
    assert_eq!(space.get_tuple_name(Dim::Out).unwrap().as_deref(), Some("S"));
}

#[test]
fn strings_with_nul_are_refused() {
    let context = Context::new().unwrap();
    assert_eq!(Id::new(&context, "a\0b").unwrap_err(), Error::InteriorNul);
    let space = Space::unit(&context).unwrap().add_unnamed_tuple_ui(1);
    let named = space.unwrap().set_tuple_name(Dim::Set, "\0");
    assert_eq!(named.unwrap_err(), Error::InteriorNul);
}

#[test]
fn a_failed_test_is_an_error_and_does_not_poison_the_next_call() {
    let context = Context::new().unwrap();
    let one = set(&context, "{ [i] }");
    let two = set(&context, "{ [i, j] }");
    let error = one.clone().lex_lt_set(two.clone()).unwrap_err();
    assert!(matches!(error, Error::Isl { kind: ErrorKind::Invalid, .. }), "{error}");
    let pw = PwAff::read_from_str(&context, "{ [i] -> [(i)] }").unwrap();
    assert!(pw.get_dim_id(Dim::In, 7).is_err());
    assert!(one.involves_dims(Dim::Set, 7, 1).is_err());
    assert!(one.is_equal(&one.clone()).unwrap());
    assert!(!two.is_empty().unwrap());
}

#[test]
fn errors_say_which_function_and_why() {
    let context = Context::new().unwrap();
    let error = set(&context, "{ [i] }").project_out(Dim::Set, 0, 5).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("isl_set_project_out"), "{text}");
    assert!(text.contains("out of bounds"), "{text}");
}

#[test]
fn mixing_contexts_is_an_error_and_nothing_leaks() {
    let here = Context::new().unwrap();
    let there = Context::new().unwrap();
    let outcome = set(&here, "{ [i] }").intersect(set(&there, "{ [i] }"));
    assert!(matches!(outcome, Err(Error::ContextMix { .. })));
    let kept = set(&here, "{ [i] }").is_equal(&set(&there, "{ [i] }"));
    assert!(matches!(kept, Err(Error::ContextMix { .. })));
    // Also inside lists, where the first element alone does not tell.
    let zero = |context: &Context| {
        let space = Space::set_alloc(context, 0, 1).unwrap();
        Aff::zero_on_domain(LocalSpace::from_space(space).unwrap()).unwrap()
    };
    let space = Space::alloc(&here, 0, 1, 2).unwrap();
    let outcome = isl::MultiAff::from_aff_list(space, &[zero(&here), zero(&there)]);
    assert!(matches!(outcome, Err(Error::ContextMix { .. })));
    let outcome = Set::universe(Space::set_alloc(&here, 0, 1).unwrap()).unwrap().foreach_point(|_| Ok(()));
    assert!(outcome.is_err(), "an unbounded set has no last point");
}

#[test]
fn a_callback_cannot_smuggle_in_another_context() {
    let here = Context::new().unwrap();
    let there = Context::new().unwrap();
    let tree = |context: &Context| {
        let domain = UnionSet::read_from_str(context, "{ S[i] : 0 <= i < 4 }").unwrap();
        Schedule::from_domain(domain).unwrap()
    };
    let foreign = tree(&there).get_root().unwrap();
    let outcome = tree(&here).map_schedule_node_bottom_up(|_| Ok(foreign.clone()));
    assert!(matches!(outcome, Err(Error::ContextMix { .. })), "{outcome:?}");
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    let context = Context::new().unwrap();
    let error = Space::set_alloc(&context, 0, usize::MAX).unwrap_err();
    assert!(matches!(error, Error::OutOfRange { .. }));
    let huge = Val::read_from_str(&context, "123456789012345678901234567890").unwrap();
    assert!(huge.is_int().unwrap());
    assert_eq!(huge.to_i64().unwrap(), None);
    let third = Val::read_from_str(&context, "1/3").unwrap();
    assert_eq!(third.to_i64().unwrap(), None);
    assert_eq!(third.get_num_val().unwrap().to_i64().unwrap(), Some(1));
    assert_eq!(third.get_den_val().unwrap().to_i64().unwrap(), Some(3));
    for value in [i64::MIN, -1, 0, i64::MAX] {
        let there_and_back = Val::from_i64(&context, value).unwrap().to_i64().unwrap();
        assert_eq!(there_and_back, Some(value));
    }
}

#[test]
fn an_error_in_a_callback_comes_out() {
    let context = Context::new().unwrap();
    let map = UnionMap::read_from_str(&context, "{ A[i] -> B[i]; B[i] -> C[i]; C[i] -> A[i] }");
    let map = map.unwrap();
    let mut seen = 0;
    let outcome = map.foreach_map(|_| {
        seen += 1;
        if seen == 2 {
            return Err(Error::callback("enough"));
        }
        Ok(())
    });
    assert_eq!(outcome.unwrap_err(), Error::callback("enough"));
    assert_eq!(seen, 2);
    assert_eq!(map.maps().unwrap().len(), 3);
}

#[test]
fn a_panic_in_a_callback_comes_out_as_that_panic() {
    let context = Context::new().unwrap();
    let points = set(&context, "{ [i] : 0 <= i < 5 }");
    let outcome = catch_unwind(AssertUnwindSafe(|| points.foreach_point(|_| -> Result<()> { panic!("from inside") })));
    let payload = outcome.unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"from inside"));
    assert_eq!(points.points().unwrap().len(), 5);
}

#[test]
fn callbacks_may_call_isl() {
    let context = Context::new().unwrap();
    let map = UnionMap::read_from_str(&context, "{ A[i] -> B[i+1]; C[i, j] -> D[j] }").unwrap();
    let mut reversed = UnionMap::empty_ctx(&context).unwrap();
    map.foreach_map(|map| {
        // A failing call inside does not disturb the enclosing one.
        assert!(map.clone().project_out(Dim::In, 0, 9).is_err());
        let sum = reversed.clone().union(UnionMap::from_map(map.reverse()?)?)?;
        reversed = sum;
        Ok(())
    })
    .unwrap();
    assert!(reversed.is_equal(&map.reverse().unwrap()).unwrap());
    assert!(reversed.every_map(|map| map.is_single_valued()).is_ok());
}

#[test]
fn pieces_and_disjuncts_come_as_vectors() {
    let context = Context::new().unwrap();
    let abs = PwAff::read_from_str(&context, "{ [i] -> [(i)] : i >= 0; [i] -> [(-i)] : i < 0 }");
    let pieces = abs.unwrap().pieces().unwrap();
    assert_eq!(pieces.len(), 2);
    let map = Map::read_from_str(&context, "{ [i] -> [j] : j < i or j > i }").unwrap();
    assert_eq!(map.basic_maps().unwrap().len(), 2);
    let constraints = set(&context, "{ [i] : 0 <= i < 9 }").basic_sets().unwrap()[0].constraints().unwrap();
    assert_eq!(constraints.len(), 2);
}

#[test]
fn default_options_are_those_of_isl() {
    let context = Context::new().unwrap();
    assert_eq!(context.schedule_options().unwrap(), isl::ScheduleOptions::default());
    assert_eq!(context.ast_options().unwrap(), isl::AstOptions::default());
    let schedule = isl::ScheduleOptions {
        max_coefficient: Some(3),
        outer_coincidence: true,
        algorithm: isl::ScheduleAlgorithm::Feautrier,
        ..Default::default()
    };
    context.set_schedule_options(&schedule).unwrap();
    assert_eq!(context.schedule_options().unwrap(), schedule);
    let ast = isl::AstOptions { detect_min_max: true, iterator_type: "long".to_owned(), ..Default::default() };
    context.set_ast_options(&ast).unwrap();
    assert_eq!(context.ast_options().unwrap(), ast);
}

#[test]
fn a_modulus_of_zero_is_an_error() {
    let context = Context::new().unwrap();
    let number = |value| Val::from_i64(&context, value).unwrap();
    assert_eq!(number(-7).modulo(number(3)).unwrap().to_i64().unwrap(), Some(2));
    assert!(number(1).modulo(number(0)).is_err());
}

#[test]
fn gist_wants_equal_spaces() {
    let context = Context::new().unwrap();
    let line = set(&context, "{ [i] : 0 <= i < 9 and i % 2 = 0 }");
    assert!(line.clone().gist(set(&context, "{ [i, j, k] : i = 2j and k = 3j }")).is_err());
    assert!(line.gist(set(&context, "{ [i] : i >= 0 }")).is_ok());
    let map = |text| Map::read_from_str(&context, text).unwrap();
    assert!(map("{ [i] -> [j] }").gist(map("{ [i] -> [j, k] : j = 2k }")).is_err());
}

#[test]
fn dimensions_move_only_between_parameters_and_the_set() {
    let context = Context::new().unwrap();
    let given = set(&context, "[n, m] -> { [i, j] : n <= i < m and j = n }");
    let moved = given.clone().move_dims(Dim::Set, 0, Dim::Param, 0, 2).unwrap();
    assert_eq!((moved.dim(Dim::Set).unwrap(), moved.dim(Dim::Param).unwrap()), (4, 0));
    for (to, to_pos, from, from_pos, n) in [
        (Dim::Set, 3, Dim::Param, 0, 1),
        (Dim::Set, 0, Dim::Param, 1, 2),
        (Dim::Set, 0, Dim::Set, 1, 1),
        (Dim::Div, 0, Dim::Set, 0, 1),
        (Dim::Param, 0, Dim::In, 0, 1),
    ] {
        let outcome = given.clone().move_dims(to, to_pos, from, from_pos, n);
        assert!(outcome.is_err(), "{to:?} {to_pos} {from:?} {from_pos} {n}");
    }
    let wider = Space::set_alloc(&context, 2, 3).unwrap();
    assert!(given.reset_space(wider).is_err());
}
