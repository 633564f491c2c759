//! Whatever is done to an expression, it keeps its value.

extern crate farkas_index as index;

use index::{
    Affine, CompareOp, Cond, Index, IterId, Linear, ParamId, VarId, gather_bits, gather_remainders, linear,
    simplify_cond, simplify_index,
};
use proptest::prelude::*;

fn tree() -> impl Strategy<Value = Index> {
    let leaf = prop_oneof![
        (-9..9i64).prop_map(Index::Const),
        (0..2u32).prop_map(|param| Index::Param(ParamId(param))),
        (0..3u32).prop_map(|var| Index::Var(VarId(var))),
    ];
    leaf.prop_recursive(4, 24, 2, |inner| {
        let pair = (inner.clone(), inner.clone()).prop_map(|(a, b)| (Box::new(a), Box::new(b))).boxed();
        prop_oneof![
            pair.clone().prop_map(|(a, b)| Index::Add(a, b)),
            pair.clone().prop_map(|(a, b)| Index::Sub(a, b)),
            pair.clone().prop_map(|(a, b)| Index::Xor(a, b)),
            pair.clone().prop_map(|(a, b)| Index::Min(a, b)),
            pair.clone().prop_map(|(a, b)| Index::Max(a, b)),
            (inner.clone(), -4..5i64).prop_map(|(a, factor)| Index::Mul(Box::new(a), factor)),
            (inner.clone(), 1..6i64).prop_map(|(a, divisor)| Index::FloorDiv(Box::new(a), divisor)),
            (inner.clone(), 1..6i64).prop_map(|(a, divisor)| Index::Mod(Box::new(a), divisor)),
            (pair, inner).prop_map(|((a, b), c)| {
                let cond = Cond::Not(Box::new(Cond::Compare(CompareOp::Lt, c, (*a).clone())));
                Index::Select(Box::new(cond), a, b)
            }),
        ]
    })
}

proptest! {
    #[test]
    fn the_normal_form_has_the_same_value(
        tree in tree(),
        params in [0..50i64, 0..50],
        vars in [-40..40i64, -40..40, -40..40],
    ) {
        let expected = tree.value(&params, &vars);
        prop_assert!(expected.is_some());
        prop_assert_eq!(simplify_index(&tree).value(&params, &vars), expected);
        prop_assert_eq!(gather_bits(&tree).value(&params, &vars), expected);
        prop_assert_eq!(gather_remainders(&tree).value(&params, &vars), expected);
        let sum = linear(&tree).expect("small numbers");
        prop_assert_eq!(sum.build().value(&params, &vars), expected);
        let cond = Cond::Compare(CompareOp::Le, tree, Index::Var(VarId(0)));
        prop_assert_eq!(simplify_cond(&cond).holds(&params, &vars), cond.holds(&params, &vars));
    }

    #[test]
    fn a_variable_gives_way_to_what_replaces_it(
        tree in tree(),
        vars in [-40..40i64, -40..40, -40..40],
        with in -5..5i64,
    ) {
        if let Some(replaced) = linear(&tree).and_then(|sum| sum.replace(VarId(1), &Linear::constant(with))) {
            let changed = [vars[0], with, vars[2]];
            prop_assert_eq!(replaced.build().value(&[3, 4], &vars), tree.value(&[3, 4], &changed));
        }
    }
}

#[test]
fn affine_expressions_become_trees() {
    let iter = Affine::iter(IterId(0));
    let quotient = iter.scale(3).and_then(|sum| sum.add(&Affine::param(ParamId(0)))).and_then(|sum| sum.div(4));
    let sum = quotient.and_then(|quotient| quotient.add_scaled(&iter, -2)).expect("small numbers");
    let param = |param| Some(Index::Param(param));
    let tree = Index::of_affine(&sum, &param, &|iter| Some(Index::Var(VarId(iter.0)))).expect("all atoms are known");
    for (n, i) in [(0, 0), (5, -7), (6, 11)] {
        assert_eq!(tree.value(&[n], &[i]), sum.eval(&|_| n, &|_| i));
    }
    assert!(tree.uses(VarId(0)) && !tree.uses(VarId(1)));
    assert_eq!(Index::of_affine(&sum, &param, &|_| None), None);
}

#[test]
fn overflow_is_no_value() {
    let large = Index::Mul(Box::new(Index::Var(VarId(0))), i64::MAX);
    assert_eq!(large.value(&[], &[1]), Some(i64::MAX));
    assert_eq!(large.value(&[], &[2]), None);
    assert_eq!(large.value(&[], &[]), None);
}
