//! What each form of a step parses to, where steps end, where spans are, and the canonical form of scripts.

use diag::{Source, Span, Style, render};

use crate::ast::{BinaryOp, Expr, ExprKind, Ident, UnaryOp};
use crate::script::{Map, Number, Schedule, Script, Step};
use crate::{expr_to_string, parse_script, print_script};

pub(super) fn script_source(text: &str) -> Source {
    Source::new("s.sched", text)
}

pub(super) fn parsed_script(text: &str) -> Script {
    let source = script_source(text);
    parse_script(&source).unwrap_or_else(|errors| panic!("{text}\n{}", render(&source, &errors, Style::Plain)))
}

/// A step as data, without spans and parentheses.
fn shape(step: &Step) -> String {
    let idents = |names: &[Ident]| names.iter().map(|name| name.name.as_str()).collect::<Vec<_>>().join(" ");
    let mut out = step.verb.name.clone();
    for target in &step.targets {
        out += &match &target.loops {
            Some(loops) => format!(" {}[{}]", target.name.name, idents(loops)),
            None => format!(" {}", target.name.name),
        };
    }
    if !step.by.is_empty() {
        out += &format!(" by={:?}", step.by.iter().map(|number| number.value).collect::<Vec<_>>());
    }
    if !step.names.is_empty() {
        out += &format!(" as={}", idents(&step.names));
    }
    if let Some(at) = &step.at {
        let loops = at.loops.iter().flatten().map(|name| format!("[{}]", name.name)).collect::<String>();
        out += &format!(" at={}{loops}", at.name.name);
    }
    if let Some(condition) = &step.condition {
        out += &format!(" where={}", expr_to_string(condition));
    }
    for map in &step.maps {
        let outputs = map.outputs.iter().map(expr_to_string).collect::<Vec<_>>();
        out += &format!(" {}[{}]->[{}]", map.statement.name, idents(&map.inputs), outputs.join(" "));
    }
    out
}

pub(super) fn shapes(script: &Script) -> Vec<String> {
    script.schedules.iter().flat_map(|schedule| schedule.steps.iter().map(shape)).collect()
}

/// The steps of a schedule with this body, which also survive printing.
fn steps(body: &str) -> Vec<String> {
    let script = parsed_script(&format!("schedule f {{{body}}}"));
    let printed = print_script(&script);
    let again = parsed_script(&printed);
    assert_eq!(shapes(&again), shapes(&script), "printing changes the script\n{printed}");
    assert_eq!(print_script(&again), printed, "printing is not stable");
    shapes(&script)
}

const EXAMPLE: &str = "\
# comments as in programs
schedule gemm {
    tile  S0[i, j, k] by 64, 64, 256 as (it, jt, kt)
    parallel it
    unroll i by 8 ; vectorize j by 16
    pack B at kt   # a copy
    interchange S0[i, j]
    reorder S0[k, i, j]
    skew S1[t, i] by 2
    shift S1[i] by -1
    reverse S0[i]
    compute_at a at S1[i]
    fuse S0, S1 at i
    fission S0, S1 at t
    split S0[i] where i < 5 as (lo, hi)
    rfactor S0[k] by 16 as (ko, ki)
    sequence S1, S0
    map { S0[i, j] -> [i + j, j]; S1[i] -> [2*i, 0] }
}
schedule other{}
";

#[test]
fn every_form_of_a_step() {
    let script = parsed_script(EXAMPLE);
    let names: Vec<_> = script.schedules.iter().map(|schedule| schedule.function.name.as_str()).collect();
    assert_eq!(names, ["gemm", "other"]);
    let expected = [
        "tile S0[i j k] by=[64, 64, 256] as=it jt kt",
        "parallel it",
        "unroll i by=[8]",
        "vectorize j by=[16]",
        "pack B at=kt",
        "interchange S0[i j]",
        "reorder S0[k i j]",
        "skew S1[t i] by=[2]",
        "shift S1[i] by=[-1]",
        "reverse S0[i]",
        "compute_at a at=S1[i]",
        "fuse S0 S1 at=i",
        "fission S0 S1 at=t",
        "split S0[i] as=lo hi where=(i < 5)",
        "rfactor S0[k] by=[16] as=ko ki",
        "sequence S1 S0",
        "map S0[i j]->[(i + j) j] S1[i]->[(2 * i) 0]",
    ];
    assert_eq!(shapes(&script), expected);
}

#[test]
fn the_canonical_form_has_one_step_a_line() {
    let expected = "\
schedule gemm {
    tile S0[i, j, k] by 64, 64, 256 as (it, jt, kt)
    parallel it
    unroll i by 8
    vectorize j by 16
    pack B at kt
    interchange S0[i, j]
    reorder S0[k, i, j]
    skew S1[t, i] by 2
    shift S1[i] by -1
    reverse S0[i]
    compute_at a at S1[i]
    fuse S0, S1 at i
    fission S0, S1 at t
    split S0[i] where i < 5 as (lo, hi)
    rfactor S0[k] by 16 as (ko, ki)
    sequence S1, S0
    map { S0[i, j] -> [i + j, j]; S1[i] -> [2 * i, 0] }
}

schedule other {}
";
    assert_eq!(print_script(&parsed_script(EXAMPLE)), expected);
    assert_eq!(print_script(&parsed_script(expected)), expected);
}

#[test]
fn long_maps_stand_on_lines_of_their_own() {
    let text = "schedule f { map { first[i, j] -> [0, i + j, j]; second[i, j] -> [1, i + j, j]; third[i, j, k] -> [2, i + j, j] } }";
    let expected = "\
schedule f {
    map {
        first[i, j] -> [0, i + j, j]
        second[i, j] -> [1, i + j, j]
        third[i, j, k] -> [2, i + j, j]
    }
}
";
    assert_eq!(print_script(&parsed_script(text)), expected);
    assert_eq!(print_script(&parsed_script(expected)), expected);
}

#[test]
fn clauses_come_in_any_order() {
    let expected = ["v S0[i] by=[2] as=a b at=k where=(i < 5) S0[i]->[i]"];
    let clauses = ["by 2", "as (a, b)", "at k", "where i < 5", "{ S0[i] -> [i] }"];
    // All rotations, forwards and backwards.
    for start in 0..clauses.len() {
        let mut order: Vec<_> = clauses.iter().cycle().skip(start).take(clauses.len()).copied().collect();
        assert_eq!(steps(&format!("v S0[i] {}", order.join(" "))), expected);
        order.reverse();
        assert_eq!(steps(&format!("v S0[i]\n{}", order.join("\n"))), expected);
    }
}

#[test]
fn a_step_ends_with_its_line_or_a_semicolon() {
    assert_eq!(steps("a x\nb y;c;;d\r\n;e z # c\n"), ["a x", "b y", "c", "d", "e z"]);
    // A verb alone does not take its targets from the next line.
    assert_eq!(steps("a\nb x\nc # no target\nd"), ["a", "b x", "c", "d"]);
    assert_eq!(
        steps("a where i < 5\nb where j\nc where (k) # c\nd"),
        ["a where=(i < 5)", "b where=j", "c where=k", "d"]
    );
    assert_eq!(steps("map { S[i] -> [i] }\nb\nc {S->[]};d"), ["map S[i]->[i]", "b", "c S[]->[]", "d"]);
}

#[test]
fn a_step_goes_on_after_commas_in_brackets_and_before_clauses() {
    assert_eq!(steps("fuse A,\n # c\n B\n , C\n at\n k"), ["fuse A B C at=k"]);
    assert_eq!(steps("tile S [\n i,\n j,\n ]\n by 1,\n -2\n as (\n a,\n b,)"), ["tile S[i j] by=[1, -2] as=a b"]);
    assert_eq!(
        steps("s S[i] where i\n < 5 and\n not j = 2\n as lo\nb"),
        ["s S[i] as=lo where=((i < 5) and (not (j == 2)))", "b"]
    );
    assert_eq!(steps("map\n{\n S[i]\n -> [\ni\n,\n]\n T -> []\n}"), ["map S[i]->[i] T[]->[]"]);
}

#[test]
fn the_words_of_clauses_are_names_where_nothing_else_can_stand() {
    assert_eq!(steps("tile S[as, at] where as < at as x"), ["tile S[as at] as=x where=(as < at)"]);
    assert_eq!(steps("attach S at asset as bytes"), ["attach S as=bytes at=asset"]);
    assert_eq!(parsed_script("schedule at {}").schedules[0].function.name, "at");
}

#[test]
fn conditions_are_those_of_programs() {
    assert_eq!(
        steps("s S[i] where 0 <= i < 5 or not (i = N and j != 2) as (a, b)"),
        ["s S[i] as=a b where=((0 <= i < 5) or (not ((i == N) and (j != 2))))"]
    );
    assert_eq!(steps("s where if a then b else c\nt"), ["s where=(if a then b else c)", "t"]);
    assert_eq!(
        steps("s where a * sum[k: 0..4 | k == 1] b % 2 < -max(c, d[1]) + 1e3"),
        ["s where=((a * (sum[k: 0..4 | (k == 1)] (b % 2))) < ((-max(c, d[1])) + 1000.0))"]
    );
}

#[test]
fn integers_reach_to_both_ends() {
    assert_eq!(
        steps("a by 9223372036854775807, -9223372036854775808, - 1_000"),
        ["a by=[9223372036854775807, -9223372036854775808, -1000]"]
    );
}

#[test]
fn spans_hold_the_tokens_and_nothing_else() {
    let text = "  # c
schedule  f  where  N  <= 4 , M < 3  # c
 { tile  S0 [ i , j ] , k  by  8 , - 2  as ( a , b )  at  t  where  i  <  5  # c
  ; map  { S0 [ i ]  ->  [ i  +  1 ]  ; }  # c
  split  S  where a  # c
}  # c";
    let source = script_source(text);
    let script = parse_script(&source).unwrap();
    let at = |span: Span| source.slice(span);
    let Schedule { function, sizes, steps, span } = &script.schedules[0];
    assert_eq!(at(function.span), "f");
    assert!(at(*span).starts_with("schedule  f") && at(*span).ends_with("# c\n}"));
    assert_eq!(sizes.iter().map(|cond| at(cond.span)).collect::<Vec<_>>(), ["N  <= 4", "M < 3"]);
    assert_eq!(at(steps[0].span), "tile  S0 [ i , j ] , k  by  8 , - 2  as ( a , b )  at  t  where  i  <  5");
    assert_eq!(at(steps[0].verb.span), "tile");
    assert_eq!(steps[0].targets.iter().map(|target| at(target.span)).collect::<Vec<_>>(), ["S0 [ i , j ]", "k"]);
    assert_eq!(at(steps[0].targets[0].loops.as_ref().unwrap()[1].span), "j");
    assert_eq!(steps[0].by.iter().map(|number| at(number.span)).collect::<Vec<_>>(), ["8", "- 2"]);
    assert_eq!(steps[0].names.iter().map(|name| at(name.span)).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(at(steps[0].at.as_ref().unwrap().span), "t");
    assert_eq!(at(steps[0].condition.as_ref().unwrap().span), "i  <  5");
    assert_eq!(at(steps[1].span), "map  { S0 [ i ]  ->  [ i  +  1 ]  ; }");
    assert_eq!(at(steps[1].maps[0].span), "S0 [ i ]  ->  [ i  +  1 ]");
    assert_eq!(at(steps[1].maps[0].outputs[0].span), "i  +  1");
    assert_eq!(at(steps[2].span), "split  S  where a");
}

#[test]
fn a_schedule_says_for_which_sizes_it_is() {
    let text = "schedule f where (N<=4 and M<3) or N=M{reverse i}\nschedule f where N > 8,M=2, {\n}\nschedule f{}";
    let printed = print_script(&parsed_script(text));
    let expected = "schedule f where (N <= 4 and M < 3) or N = M {\n    reverse i\n}\n
schedule f where N > 8, M = 2 {}\n\nschedule f {}\n";
    assert_eq!(printed, expected);
    assert_eq!(print_script(&parsed_script(&printed)), printed);
}

#[test]
fn an_empty_file_has_no_schedules() {
    for text in ["", " \n", "# only a comment", "\r\n# c\r\n"] {
        assert!(parsed_script(text).schedules.is_empty());
    }
    for text in ["schedule f {}", "schedule f { ; }", "schedule f {\n# c\n;;\n}"] {
        assert!(parsed_script(text).schedules[0].steps.is_empty());
    }
}

/// Trees that no text parses to get the parentheses that keep their meaning.
#[test]
fn made_trees_print_with_their_meaning() {
    let node = |kind| Expr { kind, span: Span::default() };
    let boxed = |kind| Box::new(node(kind));
    let name = |name: &str| ExprKind::Name(name.to_owned());
    let binary = |op, lhs, rhs| ExprKind::Binary { op, lhs: boxed(lhs), rhs: boxed(rhs) };
    let ident = |name: &str| Ident { name: name.to_owned(), span: Span::default() };
    let sum = || binary(BinaryOp::Add, name("a"), name("b"));
    let choice = || ExprKind::If { cond: boxed(name("a")), then: boxed(name("b")), otherwise: boxed(name("c")) };
    let outputs = vec![
        node(binary(BinaryOp::Mul, ExprKind::Int(-2), sum())),
        node(binary(BinaryOp::Sub, name("a"), sum())),
        node(binary(BinaryOp::Add, sum(), ExprKind::Int(-1))),
        node(ExprKind::Unary { op: UnaryOp::Neg, operand: boxed(sum()) }),
        node(binary(BinaryOp::Or, choice(), choice())),
    ];
    let step = Step {
        verb: ident("map"),
        targets: Vec::new(),
        by: vec![Number { value: i64::MIN, span: Span::default() }],
        names: vec![ident("x")],
        at: None,
        condition: None,
        maps: vec![Map { statement: ident("S"), inputs: Vec::new(), outputs, span: Span::default() }],
        storage: None,
        axis: None,
        fill: None,
        span: Span::default(),
    };
    let schedule = Schedule { function: ident("f"), sizes: Vec::new(), steps: vec![step], span: Span::default() };
    let printed = print_script(&Script { schedules: vec![schedule] });
    let map = "S[] -> [-2 * (a + b), a - (a + b), a + b + -1, -(a + b), (if a then b else c) or (if a then b else c)]";
    let expected = format!("schedule f {{\n    map by -9223372036854775808 as x {{\n        {map}\n    }}\n}}\n");
    assert_eq!(printed, expected);
    assert_eq!(print_script(&parsed_script(&printed)), printed);
}
