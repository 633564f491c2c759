//! The canonical layout.

use super::{source, tree_of};
use crate::format;

/// Formats, and checks that the result is stable and means the same.
fn formatted(text: &str) -> String {
    let once = format(&source(text)).unwrap();
    assert_eq!(format(&source(&once)).unwrap(), once, "formatting is not stable");
    assert_eq!(tree_of(&once), tree_of(text), "formatting changes the program");
    once
}

#[test]
fn comments_and_single_blank_lines_stay() {
    let text = r#"# Header comment


# second
fn   gemm<N,M,K>(alpha:f64,A:f64[N,K],B:f64[K,M],inout C:f64[N,M]){# open
 C[i,j]+=alpha*sum[k]A[i,k]*B[k,j];;  # trailing


  # own


  let t:f64[N,M]; S0:C[i,j|i=j and 0<=i<N]=if A[i,k]=3 then 1 else if b then -2 else- -3   # end
  # last
}
# between
fn cholesky<N>(inout A: f64[N, N]) { for i in 0..N by -1 rev { for j in 0..i { A[i, j] = (A[i, j] - sum[k | k < j] A[i, k] * A[j, k]) / A[j, j] } 
        A[i, i] = sqrt(A[i, i] - sum[k : 0 .. i | k == i] A[i, k] * A[i, k]) } } # after
fn e() {}
fn e2() { # only

# x

}
# eof"#;
    let expected = r#"# Header comment

# second
fn gemm<N, M, K>(alpha: f64, A: f64[N, K], B: f64[K, M], inout C: f64[N, M]) { # open
    C[i, j] += alpha * sum[k] A[i, k] * B[k, j] # trailing

    # own

    let t: f64[N, M]
    S0: C[i, j | i = j and 0 <= i < N] = if A[i, k] == 3 then 1 else if b then -2 else --3 # end
    # last
}

# between
fn cholesky<N>(inout A: f64[N, N]) {
    for i in 0..N by -1 rev {
        for j in 0..i {
            A[i, j] = (A[i, j] - sum[k | k < j] A[i, k] * A[j, k]) / A[j, j]
        }
        A[i, i] = sqrt(A[i, i] - sum[k: 0..i | k = i] A[i, k] * A[i, k])
    }
} # after

fn e() {}

fn e2() { # only
    # x
}

# eof
"#;
    assert_eq!(formatted(text), expected);
}

#[test]
fn long_lines_break() {
    let text = r#"fn long_function_name<N, M, K>(alpha: f64, A: f64[N, K], B: f64[K, M], inout C: f64[N, M], inout D: f64[N, M]) -> (Y: f32[B, N]) where N >= 1, M % 4 == 0, {
   let x[i, j] = aaaaaaaaaaaaaaaaaaaaaaaaa[i, j] + bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb[i, j] * ccccccccccccccccccc - dddddddddddddddddddddd
   let y = some_function(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, ccccccccccc)
   let z = if aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa then bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb else if cccccccccccccccccccccccc then ddddddddd else e
   C[i, j | 0 <= i < N and 0 <= j < M] += (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa + bbbbbbbbbbbbbbbbbbbbbbbbbbb) / (bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb - cccccc)
   let x = a # why
      + b
      # own
      + c # c
   let # weird
     q = 1
   let s = # c
     f(a, # first
       b
       # second
     )
   let r = sum[k: 0..KKKKKKKKKKKKKKKKKKKKKKKKKKK] aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa[k] * bbbbbbbbbbbbbbbbbbbbbbbbbbbb[k] * ccccc[k]
}"#;
    let expected = r#"fn long_function_name<N, M, K>(
    alpha: f64,
    A: f64[N, K],
    B: f64[K, M],
    inout C: f64[N, M],
    inout D: f64[N, M],
) -> (Y: f32[B, N]) where N >= 1, M % 4 = 0 {
    let x[i, j] = aaaaaaaaaaaaaaaaaaaaaaaaa[i, j]
        + bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb[i, j] * ccccccccccccccccccc
        - dddddddddddddddddddddd
    let y = some_function(
        aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,
        bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb,
        ccccccccccc,
    )
    let z = if aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa then bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
        else if cccccccccccccccccccccccc then ddddddddd
        else e
    C[i, j | 0 <= i < N and 0 <= j < M] += (
        aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa + bbbbbbbbbbbbbbbbbbbbbbbbbbb
    )
        / (bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb - cccccc)
    let x = a # why
        + b
        # own
        + c # c
    let # weird
        q = 1
    let s = # c
        f(
            a, # first
            b,
            # second
        )
    let r = sum[k: 0..KKKKKKKKKKKKKKKKKKKKKKKKKKK]
        aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa[k] * bbbbbbbbbbbbbbbbbbbbbbbbbbbb[k] * ccccc[k]
}
"#;
    assert_eq!(formatted(text), expected);
}

#[test]
fn equality_is_single_in_conditions_on_indices_and_double_in_values() {
    let text = "fn f() where N==1 { A[i|i==0] = (a=b) B[i] = sum[k|k==i and any[l|l==1](l==k)] if a=b then 1 else 2 }";
    let expected = "\
fn f() where N = 1 {
    A[i | i = 0] = (a == b)
    B[i] = sum[k | k = i and any[l | l = 1] (l = k)] if a == b then 1 else 2
}
";
    assert_eq!(formatted(text), expected);
}

#[test]
fn a_file_of_comments_or_nothing_stays() {
    assert_eq!(formatted("  # a\n\n\n\n# b  \n"), "# a\n\n# b\n");
    assert_eq!(formatted("\n\n"), "");
    assert_eq!(formatted("\r\n# a\r\nfn f(){}\r\n"), "# a\nfn f() {}\n");
}

#[test]
fn a_broken_program_is_not_formatted() {
    assert_eq!(format(&source("fn f( {")).unwrap_err()[0].code, "E0001");
}

#[test]
fn constants_stand_together_and_calls_in_their_lines() {
    let text = r#"const   A=3;const B:f32=  1.5
# Weights.
const W:f64[2,2]=[[1,2,],[A,4]]; ;


const C = -A # last
fn f<N>(inout x:f64[N]){g(x,A);let(q,r,)=h(x , 2)
 L:g ( q ) }
const LONG: f64[12] = [1000000.25, 1000000.25, 1000000.25, 1000000.25, 1000000.25, 1000000.25, 1000000.25, 1000000.25, 1000000.25, 1000000.25, 1, 2]
"#;
    let expected = r#"const A = 3
const B: f32 = 1.5
# Weights.
const W: f64[2, 2] = [[1, 2], [A, 4]]

const C = -A # last

fn f<N>(inout x: f64[N]) {
    g(x, A)
    let (q, r) = h(x, 2)
    L: g(q)
}

const LONG: f64[12] = [
    1000000.25,
    1000000.25,
    1000000.25,
    1000000.25,
    1000000.25,
    1000000.25,
    1000000.25,
    1000000.25,
    1000000.25,
    1000000.25,
    1,
    2,
]
"#;
    assert_eq!(formatted(text), expected);
}

#[test]
fn schedules_beside_functions_have_a_step_a_line() {
    let text = "fn f() { }\n# why\nschedule f{tile S0[ i,j ] by 2,2;unroll i # last\n# own\n\n\n map {S0[i,j]->[i,j]} } schedule g {}\nfn g() {}";
    let expected = "fn f() {}

# why
schedule f {
    tile S0[i, j] by 2, 2
    unroll i # last
    # own

    map { S0[i, j] -> [i, j] }
}

schedule g {}

fn g() {}
";
    assert_eq!(formatted(text), expected);
}

#[test]
fn scans_are_reductions_with_a_word_in_front() {
    let text = "fn f(){y[i]=1+scan  sum[ k|k<=i ]x[k]*2;z[i]=(scan # why
  max [k|k>i] x[k]);a=argmax[ j ]x[j]
 H[ at[i]+1 ]+=E[ token[i],j ]}";
    let expected = "fn f() {
    y[i] = 1 + scan sum[k | k <= i] x[k] * 2
    z[i] = (
        scan # why
        max[k | k > i]
            x[k]
    )
    a = argmax[j] x[j]
    H[at[i] + 1] += E[token[i], j]
}
";
    assert_eq!(formatted(text), expected);
    assert_eq!(formatted(expected), expected);
}

#[test]
fn verbs_stay_in_one_line() {
    let text = "fn f(){C=A(+rank 1 1)b;C=(reduce 1+)A*  B
  C = ((reduce 2 max)rank 2) # why
     A
  C=A( (* rank 1   1) rank 1 - 2)(take N-1 rank 1)B
  F = A (= rank 1) b
  C = a_rather_long_name_of_an_array_that_is_added (+ rank 1 1) another_long_name_of_an_array_to_add (* rank 1 0) third
}";
    let expected = "fn f() {
    C = A (+ rank 1 1) b
    C = (reduce 1 +) A * B
    C = ((reduce 2 max) rank 2) # why
        A
    C = A ((* rank 1 1) rank 1 -2) (take N - 1 rank 1) B
    F = A (== rank 1) b
    C = a_rather_long_name_of_an_array_that_is_added
        (+ rank 1 1) another_long_name_of_an_array_to_add (* rank 1 0) third
}
";
    assert_eq!(formatted(text), expected);
}

#[test]
fn long_heads_and_conditions_keep_their_shape() {
    let head = "fn a_function_with_quite_a_name<N, M>(first: f64[N, M], second: f64[N, M]) -> (third: f64[N, M])";
    let text = format!(
        "{head} where N >= 1, M >= 1 {{ third[i, j] = max[k: 0..N] (if first[k, j] > 0.5 and second[k, j] < 100.0 or second[k, j] == 3.25 and N > 2 then first[k, j] else -second[k, j]) }}"
    );
    let expected = format!(
        "{head}
where N >= 1, M >= 1
{{
    third[i, j] = max[k: 0..N] (
        if first[k, j] > 0.5 and second[k, j] < 100.0 or second[k, j] == 3.25 and N > 2
            then first[k, j]
            else -second[k, j]
    )
}}
"
    );
    assert_eq!(formatted(&text), expected);
}
