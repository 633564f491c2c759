//! Which operator binds what: source on the left, all parentheses on the right.

use super::parsed;
use crate::ast::{ExprKind, StmtKind};
use crate::expr_to_string;

fn value_of(expr: &str) -> crate::ast::Expr {
    let file = parsed(&format!("fn f() {{ s = {expr} }}"));
    match &file.functions[0].body[0].kind {
        StmtKind::Assign { value, .. } if file.functions[0].body.len() == 1 => value.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn verbs_bind_as_the_operator_in_them() {
    let table = [
        ("A (+ rank 1 1) b * c", "(A (+ rank 1 1) (b * c))"),
        ("A (* rank 1 1) b + c", "((A (* rank 1 1) b) + c)"),
        ("a - A (- rank 1) b - c", "(((a - A) (- rank 1) b) - c)"),
        ("a < A (= rank 1 0) b", "((a < A) (== rank 1 0) b)"),
        ("a or A (and rank 1) b or c", "((a or (A (and rank 1) b)) or c)"),
        ("A (max rank 1 1) b / c", "((A (max rank 1 1) b) / c)"),
        ("A ((* rank 1 1) rank 1 -2) B", "(A ((* rank 1 1) rank 1 -2) B)"),
        ("(reduce 1 +) A * B + C", "(((reduce 1 +) (A * B)) + C)"),
        ("E (/ rank 1 0) (reduce 1 +) E / 2", "(E (/ rank 1 0) ((reduce 1 +) (E / 2)))"),
        ("-(oblique max) A", "(-((oblique max) A))"),
        ("((reduce 1 or) rank 2) A", "(((reduce 1 or) rank 2) A)"),
        ("(take 2 * N - 1 rank 1) A", "((take ((2 * N) - 1) rank 1) A)"),
        ("(transpose 1 0 2) A", "((transpose 1 0 2) A)"),
        ("f (x) (f rank 1) y", "(f(x) (f rank 1) y)"),
        ("(reduce) + (rank - 1) * (take * 2)", "(reduce + ((rank - 1) * (take * 2)))"),
    ];
    for (source, expected) in table {
        assert_eq!(expr_to_string(&value_of(source)), expected, "{source}");
    }
}

#[test]
fn operators_bind_as_the_table_says() {
    let table = [
        ("a + b * c", "(a + (b * c))"),
        ("a - b - c", "((a - b) - c)"),
        ("a / b / c % d", "(((a / b) / c) % d)"),
        ("a * b + c", "((a * b) + c)"),
        ("-a * b", "((-a) * b)"),
        ("a * -b", "(a * (-b))"),
        ("- -a", "(-(-a))"),
        ("a - -b", "(a - (-b))"),
        ("a or b and c", "(a or (b and c))"),
        ("a and b or c and d", "((a and b) or (c and d))"),
        ("not a and b", "((not a) and b)"),
        ("not a = b", "(not (a == b))"),
        ("not not a", "(not (not a))"),
        ("a and not b < c", "(a and (not (b < c)))"),
        ("a + 1 < b * 2", "((a + 1) < (b * 2))"),
        ("a = b and c == d", "((a == b) and (c == d))"),
        ("(a + b) * c", "((a + b) * c)"),
        ("A[i + 1, j] * f(x, -y)", "(A[(i + 1), j] * f(x, (-y)))"),
    ];
    for (source, expected) in table {
        assert_eq!(expr_to_string(&value_of(source)), expected, "{source}");
    }
}

#[test]
fn a_reduction_takes_in_products_and_stops_at_sums() {
    let table = [
        ("sum[k] a * b + c", "((sum[k] (a * b)) + c)"),
        ("sum[k] a * b - c", "((sum[k] (a * b)) - c)"),
        ("alpha * sum[k] a * b", "(alpha * (sum[k] (a * b)))"),
        ("alpha * sum[k] a * b + c", "((alpha * (sum[k] (a * b))) + c)"),
        ("e / sum[k] e % m", "(e / (sum[k] (e % m)))"),
        ("sum[k] a < b", "((sum[k] a) < b)"),
        ("-sum[k] a * b", "(-(sum[k] (a * b)))"),
        ("sum[k] -a * b", "(sum[k] ((-a) * b))"),
        ("sum[k] sum[l] a * b", "(sum[k] (sum[l] (a * b)))"),
        ("sum[k] a * max[l] b * c", "(sum[k] (a * (max[l] (b * c))))"),
        ("sum[k] a + sum[l] b", "((sum[k] a) + (sum[l] b))"),
        ("any[k] (a < b)", "(any[k] (a < b))"),
        ("all[k] a and b", "((all[k] a) and b)"),
        ("sum[k: 0..K, l | k < l and k != 3] a", "(sum[k: 0..K, l | ((k < l) and (k != 3))] a)"),
        ("sum [k,] a", "(sum[k] a)"),
        ("min(a, b) + min[k] a", "(min(a, b) + (min[k] a))"),
        ("sum[k] if a then b else c + d", "(sum[k] (if a then b else (c + d)))"),
        ("a * not b", "(a * (not b))"),
    ];
    for (source, expected) in table {
        assert_eq!(expr_to_string(&value_of(source)), expected, "{source}");
    }
}

#[test]
fn if_extends_as_far_right_as_possible() {
    let table = [
        ("if a then b else c + d", "(if a then b else (c + d))"),
        ("1 + if a then b else c * 2", "(1 + (if a then b else (c * 2)))"),
        ("if a then b else if c then d else e", "(if a then b else (if c then d else e))"),
        ("if a then if b then c else d else e", "(if a then (if b then c else d) else e)"),
        ("(if a then b else c) + d", "((if a then b else c) + d)"),
        ("if a < 1 or b then 1 else 2", "(if ((a < 1) or b) then 1 else 2)"),
    ];
    for (source, expected) in table {
        assert_eq!(expr_to_string(&value_of(source)), expected, "{source}");
    }
}

#[test]
fn comparisons_chain_unless_parenthesised() {
    assert_eq!(expr_to_string(&value_of("0 <= x + r - 1 < H")), "(0 <= ((x + r) - 1) < H)");
    assert_eq!(expr_to_string(&value_of("a < b = c >= d")), "(a < b == c >= d)");
    let ExprKind::Compare { rest, .. } = value_of("a < b < c").kind else { panic!("not a chain") };
    assert_eq!(rest.len(), 2);
    for source in ["(a < b) < c", "a < (b < c)"] {
        let ExprKind::Compare { rest, .. } = value_of(source).kind else { panic!("not a comparison") };
        assert_eq!(rest.len(), 1, "{source}");
    }
}

#[test]
fn literals() {
    let table = [
        ("1_000", ExprKind::Int(1000)),
        ("9223372036854775807", ExprKind::Int(i64::MAX.into())),
        ("18446744073709551615", ExprKind::Int(u64::MAX.into())),
        ("0xFF_ff", ExprKind::Int(0xFFFF)),
        ("0b1_01", ExprKind::Int(5)),
        ("1.5", ExprKind::Float(1.5)),
        ("1e-3", ExprKind::Float(1e-3)),
        ("1_0.2_5E+2", ExprKind::Float(1025.0)),
        ("true", ExprKind::Bool(true)),
        ("inf", ExprKind::Name("inf".to_owned())),
        ("truex", ExprKind::Name("truex".to_owned())),
        ("if_", ExprKind::Name("if_".to_owned())),
        ("max", ExprKind::Name("max".to_owned())),
    ];
    for (source, expected) in table {
        assert_eq!(value_of(source).kind, expected, "{source}");
    }
}
