//! Schedule trees: text form, walking, rewriting, and isolation of full tiles.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails says so by panicking")]

use farkas_isl as isl;
use isl::{
    AstBuild, AstLoopType, Context, Error, Id, MultiUnionPwAff, MultiVal, Schedule, ScheduleNode, ScheduleNodeType,
    UnionSet,
};

/// Two statements in order, each under one band of two members.
fn tree(context: &Context) -> Schedule {
    let domain = UnionSet::read_from_str(context, "[N] -> { S[i, j] : 0 <= i, j < N; T[i, j] : 0 <= i, j < N }");
    let filters =
        ["[N] -> { S[i, j] }", "[N] -> { T[i, j] }"].map(|text| UnionSet::read_from_str(context, text).unwrap());
    let band = |name: &str| {
        let text = format!("[N] -> L[{{ {name}[i, j] -> [(i)] }}, {{ {name}[i, j] -> [(j)] }}]");
        MultiUnionPwAff::read_from_str(context, &text).unwrap()
    };
    let node = Schedule::from_domain(domain.unwrap()).unwrap().get_root().unwrap();
    let node = node.child(0).unwrap().insert_sequence(&filters).unwrap();
    let node = node.child(0).unwrap().child(0).unwrap();
    let node = node.insert_partial_schedule(band("S")).unwrap();
    let node = node.ancestor(2).unwrap().child(1).unwrap().child(0).unwrap();
    let node = node.insert_partial_schedule(band("T")).unwrap();
    node.get_schedule().unwrap()
}

fn first_band(schedule: &Schedule) -> ScheduleNode {
    let mut found = None;
    schedule
        .foreach_schedule_node_top_down(|node| {
            if found.is_none() && node.get_type()? == ScheduleNodeType::Band {
                found = Some(node.clone());
            }
            Ok(true)
        })
        .unwrap();
    found.unwrap()
}

#[test]
fn yaml_round_trip() {
    let context = Context::new().unwrap();
    let schedule = tree(&context);
    let yaml = schedule.to_yaml().unwrap();
    assert!(yaml.starts_with("domain:"), "{yaml}");
    assert!(yaml.lines().count() > 5, "{yaml}");
    let elsewhere = Context::new().unwrap();
    let back = Schedule::read_from_yaml(&elsewhere, &yaml).unwrap();
    assert_eq!(back.to_yaml().unwrap(), yaml);
    let back = Schedule::read_from_yaml(&context, &yaml).unwrap();
    assert!(schedule.plain_is_equal(&back).unwrap());
    assert!(schedule.is_equal(&back).unwrap());
}

#[test]
fn hostile_yaml_is_refused() {
    let context = Context::new().unwrap();
    let yaml = tree(&context).to_yaml().unwrap();
    let text_error = |text: &str| match Schedule::read_from_yaml(&context, text) {
        Err(Error::Text { problem }) => problem,
        other => panic!("{other:?}"),
    };
    let flow_style = tree(&context).to_str().unwrap();
    assert!(text_error(&format!("{flow_style} more")).contains("after the end"));
    assert!(text_error(&format!("{yaml}\n- more")).contains("after the end"));
    assert!(text_error(&format!("{yaml}\nmore: 3")).contains("`more`"));
    assert!(text_error(&" ".repeat(8 << 20)).contains("longer"));
    assert!(text_error(&"{ a: ".repeat(5_000)).contains("deep"));
    let mut ladder = String::new();
    for level in 0..500 {
        ladder += &format!("{}child:\n", "  ".repeat(level));
    }
    assert!(text_error(&ladder).contains("deep"));
    // isl's own reader takes the number for a pointer.
    let number_for_text = "domain: \"{ A[i] }\"\nchild:\n  schedule: 3";
    assert!(text_error(number_for_text).contains("wrong kind"));
    for text in [
        "",
        "domain:",
        "domain: 3",
        "schedule: x",
        "child: { domain: \"{ A[i] }\" }",
        "filter: \"{ A[i] }\"",
        "domain: \"{ A[i] }\"\nchild:\n  sequence:\n  - mark: \"m\"",
        "domain: \"{ A[i] }\"\nchild:\n  sequence: [ ]",
        "domain: \"{ A[i] }\"\nchild:\n  mark: \"m\"",
        "domain: \"{ A[i] }\"\nchild: { domain: \"{ A[i] }\" }",
        "domain: \"{ A[i] }\"\ndomain: \"{ A[i] }\"",
        "domain: \"{ A[i] } }\"",
        "domain: \"{ A[i]\"",
        "domain: \"{ A[i] }\"\nchild:\n  expansion: \"{ A[i] -> B[i] }\"",
        "domain: \"{ A[i] }\"\nchild:\n  schedule: \"[{ A[i] -> [(i)] }]\"\n  coincident: [ 1, \"x\" ]",
        "\u{feff}[[",
    ] {
        let outcome = Schedule::read_from_yaml(&context, text);
        assert!(outcome.is_err(), "{text:?}: {outcome:?}");
    }
    assert!(Schedule::read_from_yaml(&context, &yaml).is_ok());
}

#[test]
fn walking() {
    use ScheduleNodeType::{Band, Domain, Filter, Leaf, Sequence};
    let context = Context::new().unwrap();
    let root = tree(&context).get_root().unwrap();
    let mut kinds = Vec::new();
    root.foreach_descendant_top_down(|node| {
        kinds.push(node.get_type()?);
        // Not below the second filter.
        Ok(!(node.get_type()? == Filter && node.get_child_position()? == 1))
    })
    .unwrap();
    assert_eq!(kinds, [Domain, Sequence, Filter, Band, Leaf, Filter]);

    let band = first_band(&root.get_schedule().unwrap());
    assert_eq!(band.get_tree_depth().unwrap(), 3);
    assert_eq!(band.band_n_member().unwrap(), 2);
    assert!(!band.has_next_sibling().unwrap());
    let sibling = band.clone().parent().unwrap().next_sibling().unwrap();
    assert_eq!(sibling.filter_get_filter().unwrap().sets().unwrap().len(), 1);
    let below = band.clone().first_child().unwrap();
    assert_eq!(below.get_schedule_depth().unwrap(), 2);
    assert!(!below.get_prefix_schedule_union_map().unwrap().is_empty().unwrap());
    let mut ancestors = 0;
    band.foreach_ancestor_top_down(|_| {
        ancestors += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(ancestors, 3);
    assert!(root.every_descendant(|node| Ok(node.get_type()? != ScheduleNodeType::Mark)).unwrap());
    assert!(band.clone().root().unwrap().is_equal(&root).unwrap());
    assert!(root.clone().parent().is_err());
    assert!(root.child(3).is_err());
}

#[test]
fn rewriting() {
    let context = Context::new().unwrap();
    let schedule = tree(&context);
    let before = schedule.get_map().unwrap();
    let tile = Id::new(&context, "tile").unwrap();
    let tiled = schedule
        .map_schedule_node_bottom_up(|node| {
            if node.get_type()? != ScheduleNodeType::Band {
                return Ok(node);
            }
            let sizes = MultiVal::from_i64s(node.band_get_space()?, &[8, 4])?;
            let node = node.band_set_permutable(true)?.band_member_set_coincident(0, true)?;
            node.band_tile(sizes)?.insert_mark(tile.clone())
        })
        .unwrap();
    let yaml = tiled.to_yaml().unwrap();
    assert_eq!(yaml.matches("mark: \"tile\"").count(), 2, "{yaml}");
    assert!(!tiled.get_map().unwrap().is_equal(&before).unwrap());
    assert!(tiled.get_map().unwrap().domain().unwrap().is_equal(&before.domain().unwrap()).unwrap());

    let band = first_band(&tiled);
    assert!(band.band_get_permutable().unwrap());
    assert!(band.band_member_get_coincident(0).unwrap());
    assert!(!band.band_member_get_coincident(1).unwrap());
    let split = band.band_split(1).unwrap();
    assert_eq!(split.band_n_member().unwrap(), 1);
    assert_eq!(split.child(0).unwrap().band_n_member().unwrap(), 1);

    let error = tiled.map_schedule_node_bottom_up(|_| Err(Error::callback("stop")));
    assert_eq!(error.unwrap_err(), Error::callback("stop"));
}

#[test]
fn isolated_full_tiles_have_constant_bounds() {
    let context = Context::new().unwrap();
    let node = first_band(&tree(&context)).band_set_permutable(true).unwrap();
    let sizes = MultiVal::from_i64s(node.band_get_space().unwrap(), &[8, 8]).unwrap();
    let node = node.band_tile(sizes).unwrap();
    let loops = |node: &ScheduleNode| {
        let build = AstBuild::alloc(&context).unwrap();
        let ast = build.node_from_schedule(node.get_schedule().unwrap()).unwrap();
        ast.to_c_str().unwrap()
    };
    let mixed = loops(&node);
    assert!(!mixed.contains("<= 7"), "without isolation every tile is guarded:\n{mixed}");
    // isl scales tile loops: a full tile starts at x, y and ends at x + 7, y + 7.
    let options = "[N] -> { isolate[[] -> L[x, y]] : 0 <= x <= N - 8 and 0 <= y <= N - 8 }";
    let options = UnionSet::read_from_str(&context, options).unwrap();
    let node = node.band_set_ast_build_options(options).unwrap();
    let isolated = node.band_get_ast_isolate_option().unwrap();
    assert!(!isolated.is_empty().unwrap());
    let node = node.band_member_set_ast_loop_type(0, AstLoopType::Atomic).unwrap();
    assert_eq!(node.band_member_get_ast_loop_type(0).unwrap(), AstLoopType::Atomic);
    let text = loops(&node);
    assert!(text.contains("<= 7"), "a loop over a full tile in\n{text}");
}
