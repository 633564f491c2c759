//! Programs of several files: `use "file.fks"`.

use crate::support::{Place, npy};

const ACT: &str = "use \"../consts.fks\"\n\nfn scaled(x: f64) -> (y: f64) { y = x * SCALE }\n";

fn place() -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.path("lib")).expect("a folder");
    place.write("lib/act.fks", ACT.as_bytes());
    place.write("consts.fks", b"const SCALE = 3\n");
    place
}

#[test]
fn functions_and_constants_of_other_files_are_known() {
    let place = place();
    let main = "use \"lib/act.fks\"\nuse \"consts.fks\"\n\nfn f<N>(x: f64[N]) -> (y: f64[N]) { y[i] = scaled(x[i]) + SCALE }\n";
    place.write("main.fks", main.as_bytes());
    place.farkas("run main.fks --in x=[1,2]").succeeds().prints(&["[6.0, 9.0]"]);
    let info = place.farkas("info main.fks").succeeds();
    assert!(!info.stdout.contains("scaled"), "{info:#?}");
    // Below another root the same files are found, from wherever they are named.
    place.farkas("check lib/act.fks --root .").succeeds();
}

/// Functions over types and shapes are made for the program that uses them, and take what it reads from files.
#[test]
fn layers_of_another_file_take_arrays_of_any_rank() {
    let place = Place::new();
    let layers = "fn half<T: float>(x: T) -> (y: T) { y = x / 2 }\n
fn centred<T: float, S: shape, N>(x: T[S, N]) -> (y: T[S, N]) where N >= 1 {
    y = x (- rank 1 0) ((reduce 1 +) x / T(N))
}\n
fn linear<S: shape, N, M>(x: f32[S, M], W: bf16[N, M]) -> (y: f32[S, N]) {
    y = (reduce 1 +) (x ((* rank 1 1) rank 1 2) W)
}\n";
    let main = "use \"layers.fks\"\n
fn f<B, N, M>(x: f32[M], X: f32[B, M], W: bf16[N, M]) -> (y: f32[N], Y: f32[B, N]) where M >= 1 {
    y = linear(centred(x), W)
    Y = half(linear(centred(X), W))
}\n";
    place.write("layers.fks", layers.as_bytes());
    place.write("main.fks", main.as_bytes());
    // 1, 2 and -4, as the upper halves of floats.
    place.write("w.npy", &npy("'<V2'", "False", "(1, 3)", &[0x80, 0x3f, 0, 0x40, 0x80, 0xc0]));
    let run = place.farkas("run main.fks --in x=[1,2,3] --in X=[[0,0,3],[4,1,1]] --in W=@w.npy --verify").succeeds();
    run.prints(&["y: f32[1]", "[-5.0]", "Y: f32[2, 1]", "[[-5.5],\n [ 2.0]]"]);
}

#[test]
fn what_is_wrong_is_shown_in_the_file_that_it_is_in() {
    let place = place();
    place.write("lib/bad.fks", b"\nfn shift<N>(x: f64[N]) -> (y: f64[N]) { y[i] = x[i + 1] }\n");
    place.write("main.fks", b"use \"lib/bad.fks\"\nfn f<N>(x: f64[N]) -> (y: f64[N]) {\n    y = shift(x)\n}\n");
    place.farkas("check main.fks").fails(1, &["error[E0401]", "lib/bad.fks:2:", "main.fks:2:", "called here"]);
    place.write("lib/typo.fks", b"fn f( {}\n");
    place.write("main.fks", b"use \"lib/typo.fks\"\n");
    place.farkas("check main.fks").fails(1, &["error[E0001]", "lib/typo.fks:1:"]);
    place.write("lib/fault.fks", b"fn inverse<N>(x: i64[N]) -> (y: i64[N]) {\n    y[i] = 12 / x[i]\n}\n");
    place.write("main.fks", b"use \"lib/fault.fks\"\nfn f<N>(x: i64[N]) -> (y: i64[N]) { y = inverse(x) }\n");
    place.farkas("run main.fks --in x=[1,0]").fails(4, &["integer division by zero", "lib/fault.fks:2:"]);
}

#[test]
fn files_stay_below_the_root_and_come_to_an_end() {
    let place = place();
    place.farkas("check lib/act.fks").fails(1, &["error[E0115]", "`../consts.fks` does not stay below the root"]);
    place.farkas("check consts.fks --root lib").fails(2, &["with this --root", "it is not below"]);
    place.write("main.fks", b"use \"none.fks\"\n");
    place.farkas("check main.fks").fails(1, &["error[E0115]", "cannot read `none.fks`", "no such file"]);
    place.write("a.fks", b"use \"b.fks\"\n");
    place.write("b.fks", b"\nuse \"a.fks\"\n");
    place.farkas("check a.fks").fails(1, &["circle", "a.fks:1:", "b.fks:2:"]);
    place.write("main.fks", b"use \"lib/act.fks\"\nfn scaled(x: f64) -> (y: f64) { y = x }\n");
    place.farkas("check main.fks").fails(1, &["error[E0102]", "main.fks:2:", "lib/act.fks:3:"]);
}

#[cfg(unix)]
#[test]
fn a_link_does_not_leave_the_root() {
    let place = place();
    std::os::unix::fs::symlink(place.path("consts.fks"), place.path("lib/link.fks")).expect("a link");
    place.write("lib/main.fks", b"use \"link.fks\"\n");
    place.farkas("check lib/main.fks").fails(1, &["error[E0115]", "it is not below"]);
}
