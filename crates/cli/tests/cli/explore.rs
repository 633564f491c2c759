//! `explore`: tables, summaries and exit codes.

use serde_json::Value;

use crate::support::{Place, command, outcome, repository};

/// Values travel one row down and one column left, so that neither loop can go backwards and they cannot be swapped.
const WAVE: &str = "fn wave<N>(inout A: f64[N, N]) {
    for i in 1..N {
        for j in 0..N - 1 { A[i, j] = A[i - 1, j + 1] + 1 }
    }
}
";

fn place() -> Place {
    let place = Place::new();
    place.write("wave.fks", WAVE.as_bytes());
    place
}

#[test]
fn a_space_is_summed_up() {
    let place = place();
    let line = ["explore", "wave.fks", "--space", "permute(i, j), reverse(j)"];
    let explore = place.farkas_words(&line).succeeds();
    let lines: Vec<&str> = explore.stdout.lines().collect();
    assert!(lines[0].starts_with("point  permute(i, j)  reverse(j)  verdict"), "{explore:#?}");
    assert!(lines[1].starts_with("0      i j") && lines[1].ends_with("legal"), "{explore:#?}");
    explore.prints(&[
        "is reversed",
        "4 points: 3 legal, 1 illegal, 0 refused, 0 unknown; 0 have the schedule of an earlier one",
        "most often in the way: the flow dependence S0 -> S0 through A, 1 points",
    ]);
}

#[test]
fn all_rows_go_to_a_file() {
    let place = place();
    let before = place.names().len();
    let space = "permute(i, j), tile(i, j; 8), parallel(i)";
    let line = ["explore", "wave.fks", "--space", space, "--threads", "2", "-o", "t.csv"];
    let explore = place.farkas_words(&line).succeeds();
    assert!(explore.stdout.starts_with("8 points: "), "{explore:#?}");
    assert!(explore.stderr.contains("points/s") && !explore.stderr.contains('\r'), "{explore:#?}");
    let csv = String::from_utf8(place.read("t.csv")).expect("it is text");
    let head = "point,\"permute(i, j)\",\"tile(i, j; 8)\",parallel(i),verdict,same_as,seconds,kind,array,cell,source,sink,params,message";
    assert_eq!(csv.lines().next(), Some(head));
    assert_eq!(csv.lines().count(), 9);
    let carried = csv.lines().find(|line| line.starts_with("1,")).expect("point 1");
    assert!(carried.contains("illegal,,,flow,A,") && carried.contains("\"S0(i=1, j=1)\""), "{carried}");

    place.farkas_words(&["explore", "wave.fks", "--space", space, "-o", "t.json"]).succeeds();
    let rows: Value = serde_json::from_slice(&place.read("t.json")).expect("it is JSON");
    assert_eq!(rows.as_array().map(Vec::len), Some(8));
    assert_eq!((&rows[0]["permute(i, j)"], &rows[0]["verdict"]), (&"i j".into(), &"legal".into()));
    assert_eq!((&rows[1]["verdict"], &rows[1]["kind"]), (&"illegal".into(), &"flow".into()));
    assert_eq!(rows[1]["source"]["values"]["i"], 1);
    assert_eq!(place.names().len(), before + 2);
}

#[test]
fn rows_and_summary_can_be_json() {
    let place = place();
    let line = ["explore", "wave.fks", "--space", "reverse(i), reverse(i)", "--message-format=json"];
    let explore = place.farkas_words(&line).succeeds();
    let lines: Vec<Value> =
        explore.stdout.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    assert_eq!(lines.len(), 5);
    assert_eq!((&lines[3]["reverse(i)"], &lines[3]["reverse(i) #2"]), (&"yes".into(), &"yes".into()));
    assert_eq!((&lines[4]["points"], &lines[4]["illegal"]), (&4.into(), &2.into()));
    assert_eq!(lines[4]["obstacles"][0]["array"], "A");
}

#[test]
fn samples_are_the_same_for_one_seed() {
    let place = place();
    let draw = |seed: &str, threads: &str| {
        let space = "tile(i, j; 4, 8, 16), permute(i, j)";
        let line = ["explore", "wave.fks", "--space", space, "--sample", "5", "--seed", seed, "--threads", threads];
        place.farkas_words(&line).succeeds().stdout
    };
    assert_eq!(draw("1", "1"), draw("1", "2"));
    assert_ne!(draw("1", "1"), draw("2", "1"));
    assert!(draw("1", "1").contains("5 points: "));
}

#[test]
fn refused_points_say_why() {
    let place = place();
    let explore = place.farkas_words(&["explore", "wave.fks", "--space", "fuse(S0, S7 at i)"]).succeeds();
    explore.prints(&["refused  there is no statement `S7`", "1 legal, 0 illegal, 1 refused"]);
}

#[test]
fn strict_order_counts_the_order_of_terms() {
    let run = |flag: &[&str]| {
        let line = [&["explore", "examples/gemm.fks", "--space", "parallel(k)"], flag].concat();
        outcome(&command(&repository()).args(line).output().expect("the binary starts")).succeeds()
    };
    run(&[]).prints(&["2 points: 2 legal"]);
    run(&["--strict-order"]).prints(&["2 points: 1 legal, 1 illegal"]);
}

#[test]
fn undecided_points_are_unknown() {
    let place = place();
    // So little time that at most the dependences are found.
    let line = ["explore", "wave.fks", "--space", "tile(i, j; 8), permute(i, j)", "--time-limit", "0.000001"];
    place.farkas_words(&line).fails(3, &[]);
}

#[test]
fn bad_spaces_and_files_are_explained() {
    let place = place();
    let explore = |space: &str| place.farkas_words(&["explore", "wave.fks", "--space", space]);
    explore("tile(i").fails(2, &["not closed"]);
    explore("twist(i)").fails(2, &["unknown dimension `twist`"]);
    explore("tile(i, j)").fails(2, &["needs sizes"]);
    let huge = "tile(i; 1..999), tile(i; 1..999), tile(i; 1..9)";
    explore(huge).fails(2, &["10000000 points", "--sample N"]);
    place.farkas("explore wave.fks").fails(2, &["--space"]);
    place.farkas("explore nowhere.fks --space reverse(i)").fails(2, &["no such file"]);
    place.farkas("explore wave.fks --space reverse(i) -o t.txt").fails(2, &[".csv or .json"]);
    place.farkas("explore wave.fks --space reverse(i) -o nowhere/t.csv").fails(2, &["no such directory"]);
    place.farkas("explore wave.fks --space reverse(i) --sample 0").fails(2, &["--sample"]);
    place.farkas("explore wave.fks --space reverse(i) --fn other").fails(2, &["no function `other`"]);
    place.write("bad.fks", b"fn f() -> (x: f64) { x = y }");
    place.farkas("explore bad.fks --space reverse(i)").fails(1, &["E0101"]);
    assert!(!place.names().iter().any(|name| name.starts_with('t') && name != "two.fks"));
}

#[test]
fn legal_points_are_measured_once_per_schedule() {
    let place = place();
    let line = ["explore", "wave.fks", "--space", "permute(i, j), reverse(i), reverse(i)", "--measure"];
    let with = |more: &[&'static str]| place.farkas_words(&[&line[..], more].concat());
    let explore = with(&["-D", "N=20", "-o", "t.json"]).succeeds().prints(&["fastest: point 0 (", "point 0 takes "]);
    assert!(explore.stdout.starts_with("8 points: "), "{explore:#?}");
    let rows: Value = serde_json::from_slice(&place.read("t.json")).expect("it is JSON");
    for row in rows.as_array().expect("a list") {
        let once = row["verdict"] == "legal" && row["same_as"].is_null();
        assert_eq!(row["seconds"].is_number(), once, "{row}");
    }
    with(&["-D", "N=2"]).succeeds().prints(&["verdict  ms"]);
    with(&[]).fails(2, &["the size is not known: N"]);
    with(&["-D", "N=2", "--in", "B=1"]).fails(2, &["has no input `B`"]);
    place.farkas_words(&["explore", "wave.fks", "--space", "reverse(i)", "-D", "N=2"]).fails(2, &["--measure"]);
}

/// Bare loops mean all statements that have them, and a fusion without a loop goes as far in as it can.
#[test]
fn spaces_reach_all_statements_of_a_loop() {
    let place = place();
    let two = "fn two<N, T>(inout A: f64[N], inout B: f64[N]) {
    for t in 0..T {
        for i in 1..N - 1 { B[i] = A[i - 1] + A[i + 1] }
        for i in 1..N - 1 { A[i] = B[i - 1] + B[i + 1] }
    }
}
";
    place.write("two.fks", two.as_bytes());
    let space = "shift(S1[i]; 0..1), fuse(S0, S1), skew(t, i; 2), tile(t, i; 8)";
    let explore = place.farkas_words(&["explore", "two.fks", "--space", space, "--order", "original"]).succeeds();
    let verdict = |point: &str| {
        let line = explore.stdout.lines().find(|line| line.starts_with(point)).unwrap_or_default().to_string();
        line.split_whitespace()
            .find(|word| ["legal", "illegal", "refused"].contains(word))
            .unwrap_or_default()
            .to_string()
    };
    let verdicts: Vec<String> = (0..8).map(|point| verdict(&format!("{point}  "))).collect();
    assert_eq!(
        verdicts,
        ["legal", "illegal", "illegal", "illegal", "legal", "legal", "legal", "legal"],
        "{explore:#?}"
    );
}

/// A space is applied to the schedule that `run` would use, which here is skewed and fused already.
#[test]
fn spaces_start_from_the_schedule_in_use() {
    let place = place();
    let two = "fn two<N, T>(inout A: f64[N], inout B: f64[N]) {
    for t in 0..T {
        B[i | 1 <= i < N - 1] = A[i - 1] + A[i + 1]
        A[i | 1 <= i < N - 1] = B[i - 1] + B[i + 1]
    }
}
";
    place.write("two.fks", two.as_bytes());
    place.write("apart.sched", b"schedule two { fission S0, S1 at t }\n");
    place.write("two.sched", b"schedule two { shift S1[i] by 1; fuse S0, S1 at i }\n");
    let explore =
        |flags: &[&str]| place.farkas_words(&[&["explore", "two.fks", "--space", "tile(t, i; 8)"], flags].concat());
    explore(&[]).succeeds().prints(&["2 points: 2 legal"]);
    explore(&["--order", "original"]).succeeds().prints(&["2 points: 1 legal, 1 illegal"]);
    explore(&["--schedule", "two.sched"]).succeeds().prints(&["2 points: 1 legal, 1 illegal"]);
    explore(&["--schedule", "apart.sched"]).fails(1, &["apart.sched:1:16", "`fission` is illegal here"]);
    // Loops that are not there are told with those that are.
    let line = ["explore", "two.fks", "--space", "reverse(S0[j])"];
    place.farkas_words(&line).succeeds().prints(&["there is no loop `j`; the loops are t, i"]);
}
