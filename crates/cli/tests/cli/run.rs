//! `run`: where data come from, what is shown, and the comparisons.

use crate::support::{COPY, Place, npy, npy_f64, tail_f64};

#[test]
fn sizes_come_from_lists() {
    let place = Place::new();
    let run = place.farkas("run matmul.fks --in A=[[1,2],[3,4]] --in B=[[1,0,1],[0,1,1]]").succeeds();
    run.prints(&["C: f64[2, 3]", "[[1.0, 2.0, 3.0],\n [3.0, 4.0, 7.0]]", "sum 20.0", "fnv1a "]);
}

#[test]
fn made_up_data_are_the_same_everywhere() {
    let place = Place::new();
    place.farkas("run copy.fks -D N=2 --in A=rand:1").succeeds().prints(&["[0.5665615751722809, 0.7457817572627011]"]);
    place.farkas("run copy.fks -D N=3 --in A=iota").succeeds().prints(&["[0.0, 1.0, 2.0]"]);
    place.farkas("run copy.fks -D N=2 --in A=ones").succeeds().prints(&["[1.0, 1.0]"]);
    place.farkas("run copy.fks -D N=2 --in A=zeros").succeeds().prints(&["[0.0, 0.0]"]);
    place.farkas("run copy.fks -D N=2 --in A=-1.5e3").succeeds().prints(&["[-1500.0, -1500.0]"]);
}

#[test]
fn empty_arrays_give_empty_results() {
    let place = Place::new();
    place.farkas("run copy.fks -D N=0 --in A=iota --verify").succeeds().prints(&["B: f64[0]", "[]", "sum 0.0"]);
    place.farkas("run copy.fks --in A=[]").succeeds().prints(&["B: f64[0]"]);
    place.farkas("run matmul.fks -D N=0,M=3,K=2 --in A=iota --in B=iota --verify").succeeds().prints(&["C: f64[0, 3]"]);
    let no_terms = place.farkas("run matmul.fks -D N=1,M=2,K=0 --in A=iota --in B=iota --verify").succeeds();
    no_terms.prints(&["[[0.0, 0.0]]"]);
    place.write("e.npy", &npy_f64("(0,)", &[]));
    place.farkas("run copy.fks --in A=@e.npy --out B=@b.npy").succeeds();
    place.farkas("run copy.fks --in A=@b.npy").succeeds().prints(&["B: f64[0]"]);
}

#[test]
fn not_a_number_goes_through_and_equals_itself() {
    let place = Place::new();
    let run = place.farkas("run copy.fks --in A=[nan,inf,-inf] --verify --expect B=[nan,inf,-inf]").succeeds();
    run.prints(&["[NaN, inf, -inf]", "sum NaN"]);
    place.write("nan.npy", &npy_f64("(2,)", &[f64::NAN, 1.0]));
    place.farkas("run copy.fks --in A=@nan.npy --verify").succeeds().prints(&["[NaN, 1.0]"]);
    place.farkas("run copy.fks --in A=[nan] --expect B=[1]").fails(4, &["B[0] is NaN, but expected is 1.0"]);
}

#[test]
fn every_type_and_byte_order_is_read_and_written() {
    let place = Place::new();
    let cases: [(&str, &str, &str, &[u8]); 15] = [
        ("f16", "'<f2'", "[1.5, -2.0]", &[0, 0x3e, 0, 0xc0]),
        ("f16", "'>f2'", "[1.5, -2.0]", &[0x3e, 0, 0xc0, 0]),
        // As the package ml_dtypes stores them, and as NumPy stores that again.
        ("bf16", "'<V2'", "[1.5, -2.0]", &[0xc0, 0x3f, 0, 0xc0]),
        ("bf16", "'|V2'", "[1.5, -2.0]", &[0xc0, 0x3f, 0, 0xc0]),
        ("f32", "'<f4'", "[1.5, -2.0]", &[0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0]),
        ("f32", "'>f4'", "[1.5, -2.0]", &[0x3f, 0xc0, 0, 0, 0xc0, 0, 0, 0]),
        ("f64", "'>f8'", "[1.0, 2.0]", &[0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0]),
        ("i8", "'|i1'", "[-1, 2]", &[0xff, 2]),
        ("u8", "'|u1'", "[255, 2]", &[0xff, 2]),
        ("i16", "'<i2'", "[256, -1]", &[0, 1, 0xff, 0xff]),
        ("i16", "'>i2'", "[1, -1]", &[0, 1, 0xff, 0xff]),
        ("i32", "'>i4'", "[1, -1]", &[0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff]),
        ("i64", "'<i8'", "[1, 2]", &[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]),
        ("i64", "'>i8'", "[1, 2]", &[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2]),
        ("bool", "'|b1'", "[true, false]", &[1, 0]),
    ];
    for (ty, descr, shown, bytes) in cases {
        place.write("c.fks", COPY.replace("f64", ty).as_bytes());
        place.write("a.npy", &npy(descr, "False", "(2,)", bytes));
        place.farkas("run c.fks --in A=@a.npy --verify").succeeds().prints(&[shown]);
        place.farkas("run c.fks --in A=@a.npy --out B=@b.npy").succeeds();
        place.farkas("run c.fks --in A=@b.npy --expect B=@a.npy").succeeds().prints(&[shown]);
    }
}

#[test]
fn fortran_order_is_turned_around() {
    let place = Place::new();
    let elements: Vec<u8> =
        [1.0f64, 4.0, 2.0, 5.0, 3.0, 6.0].iter().flat_map(|element| element.to_le_bytes()).collect();
    place.write("a.npy", &npy("'<f8'", "True", "(2, 3)", &elements));
    let run = place.farkas("run matmul.fks --in A=@a.npy --in B=[[1,0,0],[0,1,0],[0,0,1]]").succeeds();
    run.prints(&["[[1.0, 2.0, 3.0],\n [4.0, 5.0, 6.0]]"]);
}

#[test]
fn repetitions_start_from_the_same_inputs() {
    let place = Place::new();
    let run = place.farkas("run double.fks --in A=[1,2] --repeat 3 --time --verify").succeeds();
    assert!(run.stdout.contains("[2.0, 4.0]"), "{run:#?}");
    for stage in ["parse", "schedule", "loops", "codegen", "total", "run", "verify"] {
        let line = run.stderr.lines().find_map(|line| line.strip_prefix(&format!("time: {stage} ")));
        let number = line.and_then(|rest| rest.strip_suffix(" ms")).and_then(|number| number.parse::<f64>().ok());
        assert!(number.is_some_and(|number| number >= 0.0), "{stage} in {run:#?}");
    }
}

#[test]
fn one_file_can_be_input_and_output() {
    let place = Place::new();
    place.write("a.npy", &npy_f64("(3,)", &[1.0, 2.0, 3.0]));
    place.farkas("run double.fks --in A=@a.npy --out A=@a.npy").succeeds();
    assert_eq!(tail_f64(&place.read("a.npy"), 3), [2.0, 4.0, 6.0]);
    place.farkas("run copy.fks --in A=@a.npy --out B=@./a.npy").succeeds();
    assert_eq!(tail_f64(&place.read("a.npy"), 3), [2.0, 4.0, 6.0]);
}

#[test]
fn expectations_have_a_tolerance() {
    let place = Place::new();
    place.farkas("run copy.fks --in A=[1,2] --expect B=[1.0000001,2]").succeeds();
    let differs = place.farkas("run copy.fks --in A=[1,2,3] --expect B=[1,2.5,3.25]");
    differs.fails(4, &["B[1] is 2.0, but expected is 2.5", "2 of 3 elements differ"]);
    place.farkas("run copy.fks --in A=[1,2] --expect B=[1,2.5] --rtol 0.3").succeeds();
    place.farkas("run copy.fks --in A=[1,2] --expect B=[1,2.5] --atol 0.5").succeeds();
    place.farkas("run copy.fks --in A=[1,2] --expect B=[1,2,3]").fails(4, &["shape [2], but [3] is expected"]);
    place.farkas("run copy.fks --in A=[1,1] --expect B=ones").succeeds();
}

#[test]
fn both_orders_give_the_result() {
    let place = Place::new();
    for order in ["original", "scheduled"] {
        let line = format!("run matmul.fks -D N=3,M=4,K=5 --in A=iota --in B=iota --order {order} --verify");
        place.farkas(&line).succeeds().prints(&["C: f64[3, 4]"]);
    }
}

#[test]
fn scalars_are_arguments_and_results() {
    let place = Place::new();
    place.write("s.fks", b"fn s<N>(a: f64, k: i32, A: f64[N]) -> (t: f64) { t = a * sum[i] A[i] * f64(k) }\n");
    place.farkas("run s.fks --in a=0.5 --in k=-2 --in A=[1,2,3] --verify").succeeds().prints(&["t: f64 ", "\n-6.0\n"]);
    place.write("a.npy", &npy_f64("()", &[0.5]));
    place.farkas("run s.fks --in a=@a.npy --in k=2 --in A=[1]").succeeds().prints(&["\n1.0\n"]);
    place.farkas("run s.fks --in a=[1] --in k=2 --in A=[1]").fails(2, &["`a` is a scalar", "shape [1]"]);
    place
        .farkas("run s.fks --in a=1 --in k=2.5 --in A=[1]")
        .fails(2, &["`k` is i32: `2.5` is not a value of type i32"]);
}

#[test]
fn results_can_be_json() {
    let place = Place::new();
    let run = place.farkas("run copy.fks --in A=[1,nan] --message-format=json").succeeds();
    assert!(run.stdout.starts_with(r#"{"name":"B","dtype":"f64","shape":[2],"values":[1.0,"NaN"],"#), "{run:#?}");
}

#[test]
fn large_results_are_shown_by_their_ends() {
    let place = Place::new();
    let run = place.farkas("run copy.fks -D N=1000 --in A=iota").succeeds();
    let run = run.prints(&["B: f64[1000]  (sum 499500.0", "0.0, 1.0, 2.0, 3.0, …, 996.0, 997.0, 998.0, 999.0"]);
    assert!(run.stdout.len() < 300, "{run:#?}");
}

#[test]
fn code_for_the_sizes_gives_the_same_results() {
    let place = Place::new();
    let general = place.farkas("run matmul.fks -D N=5,M=6,K=7 --in A=rand:1 --in B=rand:2").succeeds();
    for flag in ["--specialize", "--specialize=N=5,M=6,K=7", "--specialize=N=1,M=1,K=1"] {
        let words = format!("run matmul.fks -D N=5,M=6,K=7 --in A=rand:1 --in B=rand:2 --verify {flag}");
        assert_eq!(place.farkas(&words).succeeds().stdout, general.stdout, "{flag}");
    }
    let built = place.farkas("build matmul.fks --specialize=N=5,M=6,K=7").succeeds();
    assert!(!built.stdout.contains("0..N"), "{built:#?}");
    built.prints(&["0..5", "0..7"]);
    place.farkas("build matmul.fks --specialize").fails(2, &["needs sizes", "--specialize=N=64"]);
    place.farkas("build matmul.fks --specialize=N=5").fails(2, &["parameter `M` is neither given"]);
    place.farkas("build matmul.fks --specialize=N=5,X=1").fails(2, &["no parameter `X`"]);
}

#[test]
fn nobody_sees_a_bar_where_there_is_no_terminal() {
    let place = Place::new();
    let run = place.farkas("run matmul.fks -D N=90,M=90,K=90 --in A=ones --in B=ones --repeat 200").succeeds();
    assert_eq!(run.stderr, "");
}
