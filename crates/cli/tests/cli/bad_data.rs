//! Bad `.npy` files: every lie in a header and every missing byte is an error of its own.

use crate::support::{Outcome, Place, npy, npy_f64, npy_with_header};

fn run(bytes: &[u8]) -> Outcome {
    let place = Place::new();
    place.write("a.npy", bytes);
    let run = place.farkas("run copy.fks --in A=@a.npy --out B=@b.npy");
    assert!(!place.path("b.npy").exists() || run.code == Some(0));
    run
}

#[test]
fn types_must_be_the_same() {
    run(&npy("'<f4'", "False", "(1,)", &[0; 4])).fails(2, &["`A` is f64, but `a.npy` holds f32", "float64"]);
    run(&npy("'<i8'", "False", "(1,)", &[0; 8])).fails(2, &["`A` is f64, but `a.npy` holds i64"]);
    run(&npy("'<u4'", "False", "(1,)", &[0; 4])).fails(2, &["`A` is f64, but `a.npy` holds u32"]);
    let complex = run(&npy("'<c16'", "False", "(1,)", &[0; 16]));
    // A conversion to a real type would lose half of the data.
    complex.fails(2, &["holds elements of dtype '<c16'", "numpy.stack([array.real, array.imag], axis=-1)"]);
    run(&npy("'|O'", "False", "(1,)", &[0; 16])).fails(2, &["holds elements of dtype '|O'"]);
    run(&npy("[('x', '<f8'), ('y', '<f8')]", "False", "(1,)", &[0; 16])).fails(2, &["holds elements of dtype"]);
}

#[test]
fn files_must_be_npy() {
    run(b"").fails(2, &["cannot read `a.npy` for `A`: it is not a .npy file"]);
    run(b"\x93NUM").fails(2, &["not a .npy file"]);
    run(b"PK\x03\x04 this is a zip file, such as .npz").fails(2, &["not a .npy file"]);
    run(b"1 2 3 4 5 6\n").fails(2, &["not a .npy file"]);
    run(b"\x93NUMPY\x09\x00\x10\x00\x00\x00{'shape': (1,)} ").fails(2, &["version"]);
}

#[test]
fn every_truncation_is_noticed() {
    let whole = npy_f64("(3,)", &[1.0, 2.0, 3.0]);
    run(&whole).succeeds();
    // Each end of the file byte by byte, the padding between in steps.
    let cuts = (0..whole.len()).filter(|len| *len < 12 || len % 9 == 0 || len + 9 > whole.len());
    for len in cuts {
        run(&whole[..len]).fails(2, &["cannot read `a.npy`"]);
    }
}

#[test]
fn shapes_that_claim_too_much_are_refused() {
    for shape in [
        "(1099511627776,)",
        "(18446744073709551615,)",
        "(18446744073709551616,)",
        "(4294967296, 4294967296)",
        "(0, 18446744073709551615, 18446744073709551615)",
        "(99999999999999999999999999999999,)",
    ] {
        run(&npy("'<f8'", "False", shape, &[0; 64])).fails(2, &["cannot read `a.npy`"]);
    }
    run(&npy("'<f8'", "False", "(1099511627776,)", &[0; 64])).fails(2, &["truncated"]);
    // Four gigabytes of header are not there either.
    run(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}").fails(2, &["header"]);
}

#[test]
fn headers_must_make_sense() {
    for header in [
        "",
        "{",
        "{}",
        "[]",
        "nonsense",
        "{'descr': '<f8', 'fortran_order': False}",
        "{'descr': '<f8', 'shape': (1,)}",
        "{'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order': 3, 'shape': (1,)}",
        "{'descr': 'what', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': 7, 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 1}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': ('1',)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'shape': (18446744073709551615, 3)}",
        "{'descr': '<f99999999999999999999', 'fortran_order': False, 'shape': (1,)}",
        "\u{fffd}\u{fffd}",
    ] {
        run(&npy_with_header(header, &[0; 8])).fails(2, &["cannot read `a.npy`"]);
    }
    let nested = format!("{{'descr': {}, 'fortran_order': False, 'shape': (1,)}}", "[".repeat(5000));
    run(&npy_with_header(&nested, &[0; 8])).fails(2, &["nested too deeply"]);
}

#[test]
fn booleans_are_zero_or_one() {
    let place = Place::new();
    place.write("b.fks", b"fn b<N>(A: bool[N]) -> (B: bool[N]) { B[i] = not A[i] }\n");
    place.write("a.npy", &npy("'|b1'", "False", "(2,)", &[1, 7]));
    place.farkas("run b.fks --in A=@a.npy").fails(2, &["cannot read `a.npy`", "bool"]);
}

#[test]
fn ranks_and_lengths_must_fit() {
    let place = Place::new();
    place.write("a.npy", &npy_f64("(2, 2)", &[0.0; 4]));
    place.farkas("run copy.fks --in A=@a.npy").fails(2, &["`A` is an array of 1 dimension", "shape [2, 2]"]);
    place.farkas("run copy.fks -D N=4 --in A=[1,2]").fails(2, &["dimension 1 of `A` has length 2"]);
}

#[test]
fn files_must_be_there() {
    let place = Place::new();
    std::fs::create_dir(place.path("dir")).expect("a directory");
    place.farkas("run copy.fks --in A=@nowhere.npy").fails(2, &["cannot read `nowhere.npy` for `A`", "no such file"]);
    place.farkas("run copy.fks --in A=@dir").fails(2, &["cannot read `dir` for `A`: it is a directory"]);
    place.farkas("run copy.fks --in A=[1] --expect B=@nowhere.npy").fails(2, &["cannot read `nowhere.npy` for `B`"]);
}
