//! `build`, `check` and `info`: the stages in text, verdicts, signatures.

use crate::support::{MATMUL, Place, TWO, command, outcome, repository};

const FORMS: [(&str, &str); 13] = [
    ("ast", "sum k"),
    ("program", "forall"),
    ("statements", "domain"),
    ("deps", "flow"),
    ("deps-dot", "digraph"),
    ("schedule", "domain:"),
    ("script", "S0_update[i, j, k] -> ["),
    ("layouts", "row by row"),
    ("loops", "for "),
    ("lanes", "lanes"),
    ("c", "int matmul(int64_t"),
    ("clif", "function"),
    ("asm", "ret"),
];

#[test]
fn every_form_has_a_text() {
    for (form, word) in FORMS {
        let line = ["build", "examples/matmul.fks", "--emit", form];
        let output = command(&repository()).args(line).output().expect("the binary starts");
        let build = outcome(&output).succeeds().prints(&[word]);
        assert!(!build.stdout.starts_with("---") && build.stdout.ends_with('\n'), "{build:#?}");
    }
}

#[test]
fn vector_loops_have_lane_programs_for_the_instructions_asked_for() {
    let place = Place::new();
    place.write("v.fks", b"fn f<N>(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] * 2 }\nschedule f { vectorize i by 8 }\n");
    place.farkas("build v.fks --emit=lanes").succeeds().prints(&["lanes"]);
    place.farkas("run v.fks --cpu baseline --in x=[1,2,3] --verify").succeeds().prints(&["2.0, 4.0, 6.0"]);
    place.farkas("run v.fks --cpu 486 --in x=[1]").fails(2, &["the levels are native, baseline"]);
}

#[test]
fn recipes_can_be_left_out() {
    let place = Place::new();
    place.farkas("build matmul.fks --recipes none --emit=lanes").succeeds().prints(&["no vector loops"]);
    place.farkas("build matmul.fks --emit=script").succeeds().prints(&["vectorize S0_", "# "]);
    // Scripts of several functions are one script, which is read again.
    place.write(
        "two.fks",
        b"fn f<N>(x: f64[N]) -> (y: f64[N]) { y[i] = x[i] }\nfn g<N>(x: f64[N]) -> (y: f64[N]) { y[i] = x[i] }\n",
    );
    place.farkas("build two.fks --emit=script -o two.sched").succeeds();
    place.farkas("check two.fks --schedule two.sched").succeeds().prints(&["f: legal", "g: legal"]);
    place.farkas("info --machine").succeeds().prints(&["vectors", "caches", "threads"]);
    place.farkas("info --machine --message-format=json").succeeds().prints(&["\"vector_bytes\":"]);
    place.farkas("info").fails(2, &["required"]);
}

#[test]
fn reductions_show_init_update_and_fini() {
    let place = Place::new();
    let build = place.farkas("build matmul.fks --emit=statements").succeeds();
    build.prints(&[
        "S0_init: init of sum",
        "S0_update: update of sum",
        "S0_fini: fini",
        "S0_update[i, j, k] -> C[i, j]",
    ]);
}

#[test]
fn several_forms_have_headings_in_the_order_of_the_pipeline() {
    let place = Place::new();
    let build = place.farkas("build matmul.fks --emit=asm,loops,ast,loops").succeeds();
    let headings: Vec<&str> = build.stdout.lines().filter(|line| line.starts_with("--- ")).collect();
    assert_eq!(headings, ["--- ast", "--- matmul: loops", "--- matmul: asm"]);
    let loops = place.farkas("build matmul.fks").succeeds();
    assert!(loops.stdout.starts_with("kernel matmul"), "{loops:#?}");
}

/// Divisions by 3 and 15 are multiplications; the remainders beside them cost no more.
#[test]
fn quotients_by_numbers_are_no_divisions_in_machine_code() {
    let place = Place::new();
    place.write("threes.fks", b"fn threes<N>(x: f64[N], u: f64[N]) -> (y: f64[N]) {\n    stored x[i] => [i % 3, i / 3 % 5, i / 15] in [3, 5, (N + 14) / 15]\n    y[i] = x[i] * u[i]\n}\n");
    let loops = place.farkas("build threes.fks").succeeds();
    loops.prints(&["c0 mod 3, floor(c0 / 3) mod 5, floor(c0 / 15)]"]);
    let asm = place.farkas("build threes.fks --emit=asm").succeeds();
    assert!(asm.stdout.contains("mul"), "{asm:#?}");
    assert!(!asm.stdout.contains("div"), "{asm:#?}");
}

#[test]
fn one_function_or_all() {
    let place = Place::new();
    place.write("both.fks", format!("{MATMUL}{TWO}").as_bytes());
    place.farkas("build both.fks").succeeds().prints(&["--- matmul: loops", "--- two: loops"]);
    let one = place.farkas("build both.fks --fn two").succeeds().prints(&["kernel two"]);
    assert!(!one.stdout.contains("matmul"), "{one:#?}");
    place.farkas("build both.fks --fn three").fails(2, &["it has matmul, two"]);
}

#[test]
fn texts_go_to_a_file_or_a_directory() {
    let place = Place::new();
    place.farkas("build matmul.fks -o loops.txt").succeeds();
    assert!(place.read("loops.txt").starts_with(b"kernel matmul"));
    let before = place.names().len();
    place.farkas("build matmul.fks --emit=ast,schedule,deps-dot -o out/").succeeds();
    for name in ["out/matmul.ast", "out/matmul.schedule", "out/matmul.deps-dot"] {
        assert!(!place.read(name).is_empty(), "{name}");
    }
    assert_eq!(place.names().len(), before + 1);
    place.farkas("build matmul.fks -o nowhere/x").fails(2, &["there is no such directory"]);
    place.farkas("build matmul.fks -o copy.fks/").fails(2, &["cannot make the directory"]);
}

#[test]
fn legal_functions_are_named() {
    let place = Place::new();
    place.write("both.fks", format!("{MATMUL}{TWO}").as_bytes());
    let check = place.farkas("check both.fks").succeeds();
    assert_eq!(check.stdout, "matmul: legal\ntwo: legal\n");
    let check = place.farkas("check copy.fks double.fks").succeeds();
    assert_eq!(check.stdout, "copy.fks: copy: legal\ndouble.fks: double: legal\n");
}

const OVERWRITES: &str = "fn shift<N>(inout A: f64[N]) where N >= 1 {
    A[i | i < N - 1] = A[i + 1]
}
";

#[test]
fn a_forall_that_overwrites_its_input_is_shown_with_instances_and_cell() {
    let place = Place::new();
    place.write("shift.fks", OVERWRITES.as_bytes());
    let check = place.farkas("check shift.fks");
    let check = check.fails(1, &["shift.fks:2:24", "(i = 0) reads A[1]", "(i = 1) writes A[1]", "N = 3"]);
    assert_eq!(check.stdout, "");
    place.farkas("run shift.fks --in A=[1,2]").fails(1, &["(i = 0) reads A[1]"]);
    place.farkas("build shift.fks").fails(1, &["(i = 0) reads A[1]"]);
}

#[test]
fn all_files_are_checked_and_the_gravest_failure_counts() {
    let place = Place::new();
    place.write("shift.fks", OVERWRITES.as_bytes());
    let check = place.farkas("check shift.fks copy.fks").fails(1, &["E0402"]);
    assert_eq!(check.stdout, "copy.fks: copy: legal\n");
    place.farkas("check shift.fks nowhere.fks copy.fks").fails(2, &["E0402", "nowhere.fks"]).prints(&["copy: legal"]);
}

#[test]
fn verdicts_can_be_json() {
    let place = Place::new();
    place.write("shift.fks", OVERWRITES.as_bytes());
    let check = place.farkas("check shift.fks copy.fks nowhere.fks --message-format=json");
    assert_eq!((check.code, check.stderr.as_str()), (Some(2), ""), "{check:#?}");
    let lines: Vec<serde_json::Value> =
        check.stdout.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    assert_eq!(lines[0]["code"], "E0402");
    assert_eq!(lines[0]["labels"][0]["line"], 2);
    assert_eq!((&lines[1]["function"], &lines[1]["verdict"]), (&"copy".into(), &"legal".into()));
    assert_eq!((&lines[2]["severity"], &lines[2]["code"]), (&"error".into(), &"usage".into()));
}

#[test]
fn diagnostics_of_other_commands_are_json_on_stderr() {
    let place = Place::new();
    place.write("shift.fks", OVERWRITES.as_bytes());
    let run = place.farkas("run shift.fks --in A=[1,2] --message-format=json").fails(1, &[r#""code":"E0402""#]);
    assert_eq!((run.stdout.as_str(), run.stderr.lines().count()), ("", 1));
}

#[test]
fn signatures_are_data() {
    let place = Place::new();
    place.write(
        "g.fks",
        b"fn g<N, M>(a: f32, X: i8[N, 2 * M], inout S: f64[M]) -> (t: bool) where N >= 1, M <= N { S[i] = S[i] + 1; t = true }\n",
    );
    let info = place.farkas("info g.fks --message-format=json").succeeds();
    let expected = serde_json::json!({ "functions": [{
        "name": "g",
        "params": ["N", "M"],
        "where": ["N >= 1", "M <= N"],
        "args": [
            { "name": "a", "kind": "in", "dtype": "f32", "shape": [] },
            { "name": "X", "kind": "in", "dtype": "i8", "shape": ["N", "2*M"] },
            { "name": "S", "kind": "inout", "dtype": "f64", "shape": ["M"] },
            { "name": "t", "kind": "out", "dtype": "bool", "shape": [] },
        ],
    }]});
    let found: serde_json::Value = serde_json::from_str(&info.stdout).expect("it is JSON");
    assert_eq!(found, expected);
    let text = place.farkas("info g.fks").succeeds();
    text.prints(&["fn g<N, M> where N >= 1, M <= N", "in     X: i8[N, 2*M]", "inout  S: f64[M]", "out    t: bool"]);
}

#[test]
fn a_schedule_in_the_file_is_followed_unless_another_is_asked_for() {
    let place = Place::new();
    place.write("both.fks", format!("{MATMUL}schedule matmul {{ interchange S0[i, j] }}\n").as_bytes());
    place.write("none.sched", b"schedule matmul {}\n");
    let swapped = "for c0 in 0..M";
    place.farkas("build both.fks").succeeds().prints(&[swapped]);
    for other in ["--order=scheduled", "--order=original", "--schedule=none.sched"] {
        let build = place.farkas(&format!("build both.fks {other}")).succeeds();
        assert!(!build.stdout.contains(swapped), "{build:#?}");
    }
}

#[test]
fn layouts_are_drawn_at_the_sizes_asked_for() {
    let place = Place::new();
    let program = b"fn f<N, M>(x: f32[N, M]) -> (y: f32[N, M]) where N >= 1 {\n    layout x = (N, M):(1, N)\n    y[i, j] = x[i, j]\n}\n";
    place.write("t.fks", program);
    let drawn = place.farkas("build t.fks --emit=layouts --draw --recipes=none --specialize=N=2,M=3").succeeds();
    drawn
        .prints(&["offsets of the cells of x_stored for N = 2, M = 3\n    0 2 4\n    1 3 5\n", "with the sizes given"]);
    let usual = place.farkas("build t.fks --emit=layouts --draw --recipes=none").succeeds();
    usual.prints(&["x_stored for N = 8, M = 8\n     0  8 16", "with 1024 for each size", "4 lines in 64 iterations"]);
    let large = place.farkas("build t.fks --emit=layouts --draw --specialize=N=200,M=300").succeeds();
    large.prints(&["x_stored: too many cells to draw for N = 200, M = 300"]);
    let none = place.farkas("build t.fks --emit=layouts --draw --specialize=N=2,M=0").succeeds();
    none.prints(&["x_stored: no cells for N = 2, M = 0"]);
    place.farkas("build t.fks --draw").fails(2, &["--emit=layouts"]);
}
