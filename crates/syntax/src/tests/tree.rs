//! What each construct parses to, where its spans are, and how the tree prints.

use super::{errors_of, parsed, source, tree_of};
use crate::ast::{Expr, ExprKind, StmtKind};
use crate::{decode, parse};

const EXAMPLE: &str = "
# Everything once.
fn f<N, M,>(alpha: f64, inout C: f64[N, 2 * M],) -> (Y: f32[N]) where N >= 1, M % 4 = 0 and N < M, {
    let tmp: f64[N, M];
    let m[b: 0..N | b > 0] = 1
    let s: f32 = inf ; let t = max(s, 1.0)
    S0: C[i, 0 | i < M] += alpha
    C[i, j] min= 2 Y[i] = 0
    for i in 0..N by -1 rev { max /= 3 }
}
fn g() {}
";

#[test]
fn every_construct_prints_as_a_tree() {
    let expected = "\
fn f<N, M>
  in alpha: f64
  inout C: f64[N, (2 * M)]
  out Y: f32[N]
  where
    compare >=
      name N
      int 1
  where
    and
      compare ==
        %
          name M
          int 4
        int 0
      compare <
        name N
        name M
  let tmp: f64[N, M]
  let m[b: 0..N | (b > 0)]
    int 1
  let s: f32
    name inf
  let t
    call max
      name s
      float 1.0
  S0: assign C[i, 0 | (i < M)] +=
    name alpha
  assign C[i, j] min=
    int 2
  assign Y[i] =
    int 0
  for i in 0..N by (-1) rev
    assign max /=
      int 3
fn g
";
    assert_eq!(tree_of(EXAMPLE), expected);
}

#[test]
fn the_design_programs_parse() {
    let text = "
fn cholesky<N>(inout A: f64[N, N]) {
    for i in 0..N {
        for j in 0..i { A[i, j] = (A[i, j] - sum[k | k < j] A[i, k] * A[j, k]) / A[j, j] }
        A[i, i] = sqrt(A[i, i] - sum[k | k < i] A[i, k] * A[i, k])
    }
}
fn heat<T, N>(A: f64[N]) -> (U: f64[T, N]) {
    U[0,i] = A[i]
    U[t+1,i | 1<=i<N-1] = (U[t,i-1]+U[t,i]+U[t,i+1])/3
}";
    let file = parsed(text);
    assert_eq!(file.functions.len(), 2);
    assert_eq!(file.functions[1].body.len(), 2);
}

#[test]
fn spans_hold_the_tokens_and_nothing_else() {
    let text = "fn f ( inout A : f64 [ N ] ) -> ( y : f32 ) where N > 1  # c
{ S : A [ i  | i > 0 ] = if a  then b  else sum[k] c + d  # c
  let s : f64  # c
  let t = ( a < b  )  # c
  for i in 0 .. N  by 2  { t = - x  } }  # c";
    let source = source(text);
    let file = parse(&source).unwrap();
    let function = &file.functions[0];
    let at = |span| source.slice(span);
    assert!(at(function.span).starts_with("fn f (") && at(function.span).ends_with("- x  } }"));
    assert_eq!(at(function.args[0].span), "inout A : f64 [ N ]");
    assert_eq!(at(function.args[0].ty.span), "f64 [ N ]");
    assert_eq!(at(function.outs[0].span), "y : f32");
    assert_eq!(at(function.context[0].span), "N > 1");
    assert_eq!(at(function.body[0].span), "S : A [ i  | i > 0 ] = if a  then b  else sum[k] c + d");
    let StmtKind::Assign { target, value, .. } = &function.body[0].kind else { panic!("not an assignment") };
    assert_eq!(at(target.span), "A [ i  | i > 0 ]");
    assert_eq!(at(value.span), "if a  then b  else sum[k] c + d");
    let ExprKind::If { otherwise, .. } = &value.kind else { panic!("not an `if`") };
    let ExprKind::Binary { lhs, .. } = &otherwise.kind else { panic!("not a sum") };
    assert_eq!(at(lhs.span), "sum[k] c");
    assert_eq!(at(function.body[1].span), "let s : f64");
    assert_eq!(at(function.body[2].span), "let t = ( a < b  )");
    let StmtKind::For { range, step, body, .. } = &function.body[3].kind else { panic!("not a loop") };
    assert_eq!(at(range.span), "0 .. N");
    assert_eq!(step.as_ref().map(|step: &Expr| at(step.span)), Some("2"));
    assert_eq!(at(body[0].span), "t = - x");
}

#[test]
fn spans_are_right_after_an_error_too() {
    let errors = errors_of("fn a() { x = }\n\nfn b() { y = 1 }\nfn c() { z = 1 + }\n");
    assert!(errors.contains("f.fks:1:14") && errors.contains("f.fks:4:18"), "{errors}");
}

#[test]
fn an_empty_file_has_no_functions() {
    for text in ["", " \n", "# only a comment", "\r\n# c\r\n"] {
        assert!(parsed(text).functions.is_empty());
    }
}

#[test]
fn bytes_are_text_or_refused() {
    assert_eq!(decode("a", "\u{FEFF}fn".as_bytes()).unwrap().text(), "fn");
    for (bytes, note) in
        [(&b"ab\xFF"[..], "the byte 0xFF is not UTF-8 at byte 2"), (&b"a\0b"[..], "there is a NUL byte at byte 1")]
    {
        let diagnostic = decode("a", bytes).unwrap_err();
        assert_eq!((diagnostic.code, diagnostic.notes[0].as_str()), ("E0005", note));
    }
}
