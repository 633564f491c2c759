//! Bad command lines and bad programs: a clear message, the right exit code, never a panic.

use crate::support::{MATMUL, Place, TWO};

#[test]
fn shapes_must_fit_each_other() {
    let place = Place::new();
    let run = place.farkas("run matmul.fks --in A=[[1,2]] --in B=[[1,2]]");
    run.fails(2, &["dimension 1 of `B` has length 1, but must have length K", "K = 2"]);
    place.farkas("run matmul.fks --in A=[1,2] --in B=[[1]]").fails(2, &["`A` is an array of 2 dimensions", "[2]"]);
    place.farkas("run copy.fks -D N=3 --in A=[1,2]").fails(2, &["dimension 1 of `A` has length 2", "N = 3"]);
    place.farkas("run copy.fks -D N=3,N=4 --in A=iota").fails(2, &["parameter `N` is given two values"]);
    place.farkas("run copy.fks --in A=[[1],[1,2]]").fails(2, &["the items of a list differ"]);
}

#[test]
fn sizes_must_be_known_and_right() {
    let place = Place::new();
    let run = place.farkas("run matmul.fks --in A=iota --in B=iota");
    run.fails(2, &["the sizes are not known: N, M, K", "-D N=…,M=…,K=…"]);
    place.farkas("run matmul.fks --in A=[[1]] --in B=iota").fails(2, &["the size is not known: M", "-D M=…"]);
    place.farkas("run copy.fks -D N=-1 --in A=iota").fails(2, &["sizes are never negative"]);
    place.farkas("run copy.fks -D N=x --in A=iota").fails(2, &["`x` is not an integer"]);
    place.farkas("run copy.fks -D N --in A=iota").fails(2, &["expected NAME=VALUE, such as N=512"]);
    place.farkas("run copy.fks -D N=99999999999999999999 --in A=iota").fails(2, &["not an integer"]);
    place.farkas("run copy.fks -D N=2,Q=3 --in A=iota").fails(2, &["`copy` has no size `Q`", "it has N"]);
    place.write("w.fks", b"fn w<N>(A: f64[N]) -> (m: f64) where N >= 1 { m = max[i] A[i] }\n");
    place
        .farkas("run w.fks -D N=0 --in A=iota")
        .fails(2, &["do not satisfy `where N >= 1`", "N = 0", "--> w.fks:1:38"]);
}

#[test]
fn derived_sizes_are_refused_at_their_place() {
    let place = Place::new();
    let text = "fn blocks<N, B>(x: f64[N]) -> (s: f64[N / B]) {\n    s[b] = sum[k: 0..B] x[b * B + k]\n}\n";
    place.write("blocks.fks", text.as_bytes());
    let refused = place.farkas("run blocks.fks -D B=3 --in x=[1,2,3,4]");
    refused
        .fails(2, &["the size N / B does not divide, with N = 4, B = 3", "--> blocks.fks:1:39", "^^^^^ this is 4 / 3"]);
    let refused = place.farkas("run blocks.fks -D B=0 --in x=[1,2,3,4]");
    refused.fails(2, &["the size N / B does not divide", "--> blocks.fks:1:39", "this is 4 / 0"]);
    let refused = place.farkas("run blocks.fks -D B=3 --in x=[1,2,3,4] --message-format=json");
    refused.fails(2, &["\"code\":\"usage\"", "\"file\":\"blocks.fks\"", "\"line\":1", "\"column\":39"]);
    let text = "fn table<N, M>() -> (n: i64) {\n    let t: f64[N * M + 1]\n    t[i] = 1\n    n = i64(t[0])\n}\n";
    place.write("table.fks", text.as_bytes());
    let refused = place.farkas("run table.fks -D N=4294967296,M=4294967296");
    refused.fails(2, &["the size N * M does not fit 64 bits", "--> table.fks:2:16", "this is 4294967296 * 4294967296"]);
    let text =
        "fn rest<N, M>() -> (n: i64) {\n    let t: f64[N * (M - 4)]\n    t[i] = 1\n    n = sum[i] i64(t[i])\n}\n";
    place.write("rest.fks", text.as_bytes());
    let refused = place.farkas("run rest.fks -D N=2,M=1");
    refused.fails(2, &["the size (M - 4) * N is negative, with N = 2, M = 1", "--> rest.fks:2:16", "this is -3 * 2"]);
}

#[test]
fn layouts_that_overflow_are_refused_at_their_line() {
    let place = Place::new();
    let layouts = [
        ("layout a = (N, M):(4611686018427387904*M, 1)", "the layout of `a` has more places than 64 bits can count"),
        ("layout a[i, j] => [i, j] in [2147483648 * N, 2147483648 * M]", "the layout of `a` has more places"),
        ("stored x[i, j] => [i, j] in [N, 4611686018427387904 * M]", "cannot have the extent 4611686018427387904*M"),
    ];
    for (line, message) in layouts {
        let text = format!(
            "fn f<N, M>(x: f64[N, M]) -> (y: f64[M, N]) {{\n    {line}\n    let a[i, j] = x[i, j] * 3 + 1\n    y[j, i] = a[i, j] + a[0, j]\n}}\n"
        );
        place.write("wide.fks", text.as_bytes());
        place.farkas("run wide.fks -D N=8,M=8 --in x=iota").fails(2, &[message, "--> wide.fks:2:5", "^^^^^^"]);
        // The same line in a schedule, which only layouts that the compiler decides about can stand in.
        let Some(line) = line.strip_prefix("layout ") else { continue };
        let schedule = format!("schedule f {{\n    layout {line}\n}}\n");
        let plain = text.replace(&format!("    layout {line}\n"), "");
        place.write("plain.fks", plain.as_bytes());
        place.write("wide.sched", schedule.as_bytes());
        place.write("beside.fks", format!("{plain}{schedule}").as_bytes());
        let run = "-D N=8,M=8 --in x=iota";
        let refused = place.farkas(&format!("run plain.fks {run} --schedule wide.sched"));
        refused.fails(2, &[message, "--> wide.sched:2:5", "^^^^^^"]);
        place.farkas(&format!("run beside.fks {run}")).fails(2, &[message, "--> beside.fks:6:5", "^^^^^^"]);
        let fixed = "-D N=8,M=8 --in x=iota --specialize --schedule wide.sched";
        place.farkas(&format!("run plain.fks {fixed}")).fails(2, &[message, "--> wide.sched:2:5"]);
    }
}

#[test]
fn sizes_beyond_memory_are_refused() {
    let place = Place::new();
    for size in [1i64 << 60, i64::MAX, 1 << 50] {
        place.farkas(&format!("run copy.fks -D N={size} --in A=iota")).fails(4, &["not enough memory for `A`"]);
    }
    let square = format!("run matmul.fks -D N={0},M={0},K=0 --in A=iota --in B=iota", i64::MAX);
    place.farkas(&square).fails(4, &["not enough memory for `C`"]);
}

#[test]
fn names_must_be_known() {
    let place = Place::new();
    place.farkas("run copy.fks --in A=[1] --in Z=[1]").fails(2, &["`copy` has no input `Z`", "A: f64[N]"]);
    place.farkas("run copy.fks --in A=[1] --in N=1").fails(2, &["`N` is a size of `copy`", "-D N=…"]);
    place.farkas("run copy.fks --in A=[1] --in B=[1]").fails(2, &["`B` is a result of `copy`, and takes no --in"]);
    place.farkas("run copy.fks --in A=[1] --in A=[1]").fails(2, &["--in A is given twice"]);
    place.farkas("run copy.fks --in A=[1] --out Z=@z.npy").fails(2, &["`copy` has no result `Z`", "B: f64[N]"]);
    place.farkas("run copy.fks --in A=[1] --out A=@z.npy").fails(2, &["`A` is an input of `copy`, not a result"]);
    place.farkas("run copy.fks --in A=[1] --expect Z=[1]").fails(2, &["no result `Z`"]);
    place.farkas("run copy.fks -D A=3").fails(2, &["`copy` has no size `A`", "--in A=3"]);
    place.farkas("run copy.fks --fn coppy --in A=[1]").fails(2, &["has no function `coppy`; it has copy"]);
    place.farkas("run matmul.fks").fails(2, &["inputs are missing: A: f64[N, K], B: f64[K, M]", "--in A=rand:1"]);
    place.farkas("run matmul.fks --in A=iota").fails(2, &["an input is missing: B: f64[K, M]"]);
}

#[test]
fn several_functions_need_a_choice() {
    let place = Place::new();
    place.write("both.fks", format!("{MATMUL}{TWO}").as_bytes());
    place.farkas("run both.fks --in A=[1]").fails(2, &["several functions: matmul, two", "--fn matmul, or --fn two"]);
    place.farkas("run both.fks --fn two --in A=[1]").succeeds().prints(&["B: f64[1]", "C: f64[1]"]);
    // What the others call is not meant; an index of the same name is no call.
    let square = "fn square(x: f64) -> (y: f64) { y = x * x }\n";
    let twice = "fn twice<N>(x: f64[N]) -> (y: f64[N]) { y[i] = 2 * x[i] }\n";
    let main = "fn both<N>(x: f64[N]) -> (z: f64[N]) {\n    let y = twice(x)\n    z[square_] = square(y[square_])\n}\n";
    place.write("helpers.fks", format!("{square}{twice}{main}").as_bytes());
    place.farkas("run helpers.fks --in x=[1,2]").succeeds().prints(&["z: f64[2]", "[4.0, 16.0]"]);
    place.farkas("run helpers.fks --fn twice --in x=[1,2]").succeeds().prints(&["[2.0, 4.0]"]);
}

#[test]
fn values_must_have_a_form() {
    let place = Place::new();
    for (value, words) in [
        ("A", "expected NAME=VALUE"),
        ("A=", "a value is missing"),
        ("A=what", "`what` is not a number"),
        ("A=rand", "write A=rand:1"),
        ("A=rand:x", "the seed `x`"),
        ("A=a.npy", "write A=@a.npy"),
        ("A=@", "the name of a file is missing"),
        ("A=[1,2", "is missing"),
        ("A=[1,,2]", "a value is missing"),
    ] {
        place.farkas(&format!("run copy.fks --in {value}")).fails(2, &[words]);
    }
    place.farkas("run copy.fks --in A=[1.5.2]").fails(2, &["`1.5.2` is not a value of type f64"]);
    place.farkas("run copy.fks --in A=[1] --out B=b.npy").fails(2, &["write B=@b.npy"]);
    place.farkas("run copy.fks --in A=[1] --repeat 0").fails(2, &["--repeat"]);
    place.farkas("run copy.fks --in A=[1] --time-limit 0").fails(2, &["positive number of seconds"]);
    place.farkas("run copy.fks --in A=[1] --rtol -1").fails(2, &[]);
    place.farkas("run copy.fks --in A=[1] --atol nan").fails(2, &["not negative"]);
}

#[test]
fn programs_must_be_readable_text() {
    let place = Place::new();
    let garbage: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    place.write("garbage.fks", &garbage);
    place.write("latin.fks", b"fn f() { # caf\xe9\n}\n");
    place.write("words.fks", b"This is not a program.\n");
    place.write(
        "deep.fks",
        format!("fn f() -> (s: f64) {{ s = {}1{} }}\n", "(".repeat(50_000), ")".repeat(50_000)).as_bytes(),
    );
    place.write("long.fks", &b"# comment\n".repeat(200_000));
    place.write("empty.fks", b"");
    std::fs::create_dir(place.path("dir.fks")).expect("a directory");
    for command in ["run", "check", "build", "info", "fmt"] {
        place.farkas(&format!("{command} garbage.fks")).fails(1, &["garbage.fks", "is not a text file"]);
        place.farkas(&format!("{command} latin.fks")).fails(1, &["0xE9 is not UTF-8"]);
        place.farkas(&format!("{command} words.fks")).fails(1, &["words.fks:1:1"]);
        place.farkas(&format!("{command} deep.fks")).fails(1, &["nested too deeply"]);
        place.farkas(&format!("{command} long.fks")).fails(1, &["long.fks"]);
        place.farkas(&format!("{command} dir.fks")).fails(2, &["cannot read `dir.fks`: it is a directory"]);
        place.farkas(&format!("{command} nowhere.fks")).fails(2, &["cannot read `nowhere.fks`: there is no such file"]);
    }
    place.farkas("run empty.fks").fails(1, &["`empty.fks` defines no function"]);
    place.farkas("build empty.fks").fails(1, &["`empty.fks` defines no function"]);
    place.farkas("check empty.fks").succeeds();
    assert_eq!(place.read("garbage.fks"), garbage);
}

#[test]
fn run_time_errors_have_their_own_code() {
    let place = Place::new();
    place.write("div.fks", b"fn div<N>(A: i32[N]) -> (B: i32[N]) { B[i] = 7 / A[i] }\n");
    let run = place.farkas("run div.fks --in A=[1,0] --out B=@b.npy").fails(4, &["division by zero"]);
    assert_eq!(run.stdout, "");
    assert!(!place.path("b.npy").exists());
}

#[test]
fn a_budget_that_ran_out_has_its_own_code() {
    let place = Place::new();
    place.farkas("check matmul.fks --memory-limit 0").fails(2, &["1.."]);
    place.farkas("check matmul.fks --time-limit 0.0000001").fails(3, &["the budget of stage", "--time-limit"]);
    // Many pieces in many dimensions: what runs out is what has to be raised.
    let names: Vec<String> = (0..16).map(|at| format!("i{at}")).collect();
    let pieces: Vec<String> = (0..29).map(|at| format!("i{} < i{} + {at}", at % 16, (at * 7 + 3) % 16)).collect();
    let program = format!(
        "fn f<N>() -> (A: f64[{}]) {{ A[{names}] = 1  A[{names} | {}] = 2 }}\n",
        vec!["N"; 16].join(", "),
        pieces.join(" or "),
        names = names.join(", "),
    );
    place.write("pieces.fks", program.as_bytes());
    let run = place.farkas("check pieces.fks --memory-limit 1 --time-limit 60");
    let run = run.fails(3, &["ran out of memory", "--memory-limit MIB"]);
    assert!(!run.stderr.contains("--time-limit"), "{run:#?}");
}

#[test]
fn usage_errors_are_told_on_stderr() {
    let place = Place::new();
    for line in ["", "frobnicate", "run", "check", "run copy.fks --nonsense", "build copy.fks --emit=loop"] {
        let run = place.farkas(line);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{line}");
        assert!(run.stderr.contains("Usage") || run.stderr.contains("--help"), "{run:#?}");
    }
}
