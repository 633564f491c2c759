//! The theorems of the categories of tuples and nested tuples: over thousands of random cases by evaluation, over
//! hundreds through isl.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod random;

use farkas_layout::morphism::{
    NestMorphism, TupleMorphism, mutual_refinement, nest_standard_form, refines, standard_form,
};
use farkas_layout::{Equivalence, Layout, Nested, Solver, Transform, Truth};
use proptest::prelude::*;
use random::{composable, divisible, layout, nest_morphism, nested, tuple_morphism};

fn same_function(a: &Layout, b: &Layout) -> bool {
    a.size() == b.size() && (0..a.size()).all(|index| a.at(index).unwrap() == b.at(index).unwrap())
}

fn size(tuple: &[i64]) -> i64 {
    tuple.iter().product()
}

fn nest_of(f: &TupleMorphism) -> NestMorphism {
    NestMorphism::new(Nested::flat(f.domain()), Nested::flat(f.codomain()), f.map().to_vec()).unwrap()
}

/// As isl maps, whatever the extents of the outputs.
fn same_map(solver: &Solver, a: &Transform, b: &Transform) -> bool {
    let (a, b) = (solver.map(a).unwrap(), solver.map(b).unwrap());
    a.is_equal(&b).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn realisation_is_a_functor((f, g) in composable()) {
        let both = f.compose(&g).unwrap();
        for index in 0..size(f.domain()).min(500) {
            let through = g.realise(f.realise(index).unwrap()).unwrap();
            prop_assert_eq!(both.realise(index).unwrap(), through);
        }
        let identity = TupleMorphism::identity(f.domain()).unwrap();
        prop_assert_eq!(&identity.compose(&f).unwrap(), &f);
        prop_assert!((0..size(f.domain()).min(100)).all(|index| identity.realise(index).unwrap() == index));
    }

    #[test]
    fn composition_is_associative((f, g) in composable(), seed in any::<prop::sample::Index>()) {
        // The third: an entry of the codomain of g, projected.
        let codomain = g.codomain();
        prop_assume!(!codomain.is_empty());
        let kept = seed.index(codomain.len());
        let map = (0..codomain.len()).map(|j| usize::from(j == kept)).collect();
        let h = TupleMorphism::new(codomain.to_vec(), vec![codomain[kept]], map).unwrap();
        let left = f.compose(&g).unwrap().compose(&h).unwrap();
        prop_assert_eq!(left, f.compose(&g.compose(&h).unwrap()).unwrap());
    }

    #[test]
    fn layouts_of_composites_are_composites_of_layouts((f, g) in composable()) {
        let composite = f.compose(&g).unwrap().layout().unwrap();
        let composed = g.layout().unwrap().composition(&f.layout().unwrap()).unwrap();
        prop_assert!(same_function(&composite, &composed), "{} then {}", f, g);
    }

    #[test]
    fn coalescing_keeps_the_function(f in tuple_morphism(true)) {
        let layout = f.layout().unwrap();
        for coalesced in [f.coalesce().unwrap(), f.strong_coalesce().unwrap(), f.squeeze()] {
            prop_assert!(same_function(&coalesced.layout().unwrap(), &layout), "{} to {}", f, coalesced);
        }
        prop_assert!(f.coalesce().unwrap().is_coalesced());
        prop_assert_eq!(nest_of(&f).coalesce().unwrap().layout().unwrap(), layout.coalesce());
    }

    #[test]
    fn a_morphism_and_its_complement_are_an_isomorphism(f in tuple_morphism(false)) {
        let complement = f.complement().unwrap();
        prop_assert!(f.is_complementary_to(&complement));
        let mut image = (0..size(f.codomain()))
            .map(|index| f.concat(&complement).unwrap().realise(index).unwrap())
            .collect::<Vec<_>>();
        image.sort_unstable();
        prop_assert!(image.iter().copied().eq(0..size(f.codomain())));
        let by_layout = f.layout().unwrap().complement(size(f.codomain())).unwrap();
        prop_assert_eq!(complement.layout().unwrap().coalesce(), by_layout);
        // The complement is sorted, and of a sorted morphism the complement of the complement is the morphism.
        prop_assert!(complement.is_sorted());
        prop_assert_eq!(complement.complement().unwrap(), f.sort());
    }

    #[test]
    fn division_agrees_with_layouts((f, g) in divisible()) {
        let divided = f.flat_divide(&g).unwrap();
        let by_layout = f.layout().unwrap().logical_divide(&g.layout().unwrap()).unwrap();
        prop_assert!(same_function(&divided.layout().unwrap(), &by_layout), "{} by {}", f, g);
        let nested = nest_of(&f).logical_divide(&nest_of(&g)).unwrap();
        prop_assert!(same_function(&nested.layout().unwrap(), &by_layout));
    }

    #[test]
    fn products_agree_with_layouts(f in tuple_morphism(false), seed in any::<u64>()) {
        // A copy per entry of the complement that a bit of the seed selects.
        let room = f.complement().unwrap();
        let chosen = (1..=room.domain().len()).filter(|k| seed >> k & 1 == 1).collect::<Vec<_>>();
        let domain = chosen.iter().map(|&k| room.domain()[k - 1]).collect::<Vec<_>>();
        let g = TupleMorphism::new(domain, room.domain().to_vec(), chosen).unwrap();
        let product = f.flat_product(&g).unwrap();
        let by_layout = f.layout().unwrap().logical_product(&g.layout().unwrap());
        if let Ok(by_layout) = by_layout {
            prop_assert!(same_function(&product.layout().unwrap(), &by_layout), "{} by {}", f, g);
        }
        prop_assert_eq!(nest_of(&f).logical_product(&nest_of(&g)).unwrap().flatten(), product);
    }

    #[test]
    fn standard_form_encodes_the_layout(layout in layout()) {
        match standard_form(&layout) {
            Ok(f) => {
                prop_assert!(layout.is_tractable());
                prop_assert_eq!(f.layout().unwrap(), layout.flatten());
                let nested = nest_standard_form(&layout).unwrap();
                prop_assert_eq!(nested.layout().unwrap(), layout.clone());
                prop_assert_eq!(layout.is_non_degenerate(), f.is_non_degenerate());
            }
            Err(_) => prop_assert!(!layout.is_tractable()),
        }
    }

    #[test]
    fn standard_form_of_a_morphism_has_its_layout(f in nest_morphism(true)) {
        let layout = f.layout().unwrap();
        prop_assert_eq!(nest_standard_form(&layout).unwrap().layout().unwrap(), layout);
    }

    #[test]
    fn sums_act_side_by_side(f in tuple_morphism(true), g in tuple_morphism(true)) {
        let sum = f.sum(&g);
        let (a, b) = (size(f.domain()), size(f.codomain()));
        for index in (0..a * size(g.domain())).step_by(7).take(200) {
            let wanted = f.realise(index % a).unwrap() + b * g.realise(index / a).unwrap();
            prop_assert_eq!(sum.realise(index).unwrap(), wanted);
        }
    }

    #[test]
    fn restriction_and_factorisation(f in tuple_morphism(true)) {
        let all = (1..=f.domain().len()).collect::<Vec<_>>();
        prop_assert_eq!(&f.restrict(&all).unwrap(), &f);
        let image = {
            let mut image = f.map().iter().copied().filter(|&target| target != 0).collect::<Vec<_>>();
            image.sort_unstable();
            image
        };
        let onto = f.factorise(&image).unwrap();
        let domain = image.iter().map(|&j| f.codomain()[j - 1]).collect::<Vec<_>>();
        let inclusion = TupleMorphism::new(domain, f.codomain().to_vec(), image.clone()).unwrap();
        prop_assert_eq!(onto.compose(&inclusion).unwrap(), f.clone());
        if let Some((_, fewer)) = image.split_last() {
            prop_assert!(f.factorise(fewer).is_err());
        }
    }

    #[test]
    fn mutual_refinements_refine(t in nested(0..4), u in nested(0..4)) {
        if let Ok((fine_t, fine_u)) = mutual_refinement(&t, &u) {
            prop_assert!(refines(&fine_t, &t) && refines(&fine_u, &u));
            prop_assert!(fine_u.entries().starts_with(&fine_t.entries()));
        }
    }

    #[test]
    fn refinement_keeps_layout_functions(f in nest_morphism(true), g in nest_morphism(true)) {
        let Ok((fine, _)) = mutual_refinement(f.codomain(), g.domain()) else { return Ok(()) };
        let pulled = f.pullback(&fine).unwrap();
        prop_assert!(same_function(&pulled.layout().unwrap(), &f.layout().unwrap()));
        if let Ok((_, fine)) = mutual_refinement(f.domain(), g.domain()) {
            let pushed = g.pushforward(&fine).unwrap();
            prop_assert!(same_function(&pushed.layout().unwrap(), &g.layout().unwrap()));
        }
        let weak = f.weak_composite(&g).unwrap().layout().unwrap();
        let composed = g.layout().unwrap().composition(&f.layout().unwrap());
        // The last mode of a layout is unbounded, while a morphism ends with its domain.
        if let Ok(composed) = composed {
            prop_assert!(same_function(&weak, &composed), "{} then {}", f, g);
        }
    }

    #[test]
    fn layout_composition_is_associative_where_it_fits(a in layout(), b in layout(), c in layout()) {
        if c.cosize() > b.size() {
            return Ok(());
        }
        let left = a.composition(&b).and_then(|ab| ab.composition(&c));
        let right = b.composition(&c).and_then(|bc| a.composition(&bc));
        if let (Ok(left), Ok(right)) = (left, right) {
            prop_assert!(same_function(&left, &right), "{} {} {}", a, b, c);
        }
    }

    #[test]
    fn layout_operations_keep_their_promises(a in layout(), b in layout()) {
        prop_assert!(same_function(&a.coalesce(), &a));
        if let Ok(composed) = a.composition(&b) {
            prop_assert!(b.is_compatible(&composed), "{} of {}: {}", a, b, composed);
            for index in 0..b.size() {
                prop_assert_eq!(composed.at(index).unwrap(), a.at(b.at(index).unwrap()).unwrap());
            }
        }
        // The lenient form gives the same where both answer, and is right past its own size.
        if let Ok(composed) = a.composition_running_on(&b) {
            prop_assert!(a.composition(&b).is_ok_and(|strict| strict == composed) || composed.size() < b.size());
            for index in 0..b.size() {
                prop_assert_eq!(composed.at(index).unwrap(), a.at(b.at(index).unwrap()).unwrap(), "{} of {}", a, b);
            }
        }
        let right = a.right_inverse().unwrap();
        prop_assert!((0..right.size()).all(|index| a.at(right.at(index).unwrap()).unwrap() == index));
        if let Ok(left) = a.left_inverse() {
            prop_assert!((0..a.size()).all(|index| left.at(a.at(index).unwrap()).unwrap() == index));
        }
        for target in [1, 7, 24, 100] {
            if let Ok(complement) = a.complement(target) {
                // Filtered, the layout and its complement reach every index below the target once.
                let both = Layout::tuple([a.filter(), complement]).unwrap();
                let mut image = (0..both.size()).map(|index| both.at(index).unwrap()).collect::<Vec<_>>();
                image.sort_unstable();
                prop_assert!(image.iter().copied().eq(0..both.size()), "{} in {}", a, target);
                prop_assert!(both.size() >= target);
            }
        }
    }

    #[test]
    fn complement_is_an_involution_of_sorted_layouts(f in tuple_morphism(false)) {
        let sorted = f.sort().layout().unwrap();
        let target = size(f.codomain());
        let twice = sorted.complement(target).unwrap().complement(target).unwrap();
        prop_assert_eq!(twice, sorted.coalesce());
    }

    #[test]
    fn text_round_trip(layout in layout()) {
        prop_assert_eq!(layout.to_string().parse::<Layout>().unwrap(), layout);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn isl_confirms_composition((f, g) in composable()) {
        let solver = Solver::new().unwrap();
        let (nf, ng) = (nest_of(&f), nest_of(&g));
        let through = solver.map(&nf.to_transform().unwrap()).unwrap()
            .then(solver.map(&ng.to_transform().unwrap()).unwrap()).unwrap();
        let both = solver.map(&nf.compose(&ng).unwrap().to_transform().unwrap()).unwrap();
        prop_assert!(both.is_equal(&through).unwrap(), "{} then {}", f, g);
    }

    #[test]
    fn isl_confirms_coalescing(f in nest_morphism(true)) {
        let solver = Solver::new().unwrap();
        let (whole, coalesced) = (f.to_transform().unwrap(), f.coalesce().unwrap().to_transform().unwrap());
        prop_assert!(same_map(&solver, &whole, &coalesced), "{}", f);
        let layout = f.layout().unwrap();
        prop_assert!(same_map(&solver, &layout.to_transform().unwrap(), &layout.coalesce().to_transform().unwrap()));
    }

    #[test]
    fn isl_confirms_complements(f in tuple_morphism(false)) {
        let solver = Solver::new().unwrap();
        let both = nest_of(&f.concat(&f.complement().unwrap()).unwrap()).to_transform().unwrap();
        prop_assert!(!matches!(solver.bijective(&both).unwrap(), Truth::No(_)), "{}", f);
    }

    #[test]
    fn isl_confirms_the_involution(f in tuple_morphism(false)) {
        let solver = Solver::new().unwrap();
        let sorted = f.sort().layout().unwrap();
        let target = size(f.codomain());
        let twice = sorted.complement(target).unwrap().complement(target).unwrap();
        let (twice, sorted) = (twice.to_transform().unwrap(), sorted.to_transform().unwrap());
        prop_assert_eq!(solver.equivalent(&twice, &sorted).unwrap(), Equivalence::Equal, "{}", f);
    }

    #[test]
    fn isl_confirms_division((f, g) in divisible()) {
        let solver = Solver::new().unwrap();
        let divided = nest_of(&f).logical_divide(&nest_of(&g)).unwrap().layout().unwrap();
        let by_layout = f.layout().unwrap().logical_divide(&g.layout().unwrap()).unwrap();
        prop_assert!(same_map(&solver, &divided.to_transform().unwrap(), &by_layout.to_transform().unwrap()));
    }

    #[test]
    fn isl_confirms_products(f in tuple_morphism(false)) {
        let solver = Solver::new().unwrap();
        let room = f.complement().unwrap();
        let whole = TupleMorphism::identity(room.domain()).unwrap();
        let product = nest_of(&f).logical_product(&nest_of(&whole)).unwrap();
        let by_layout = f.layout().unwrap().logical_product(&whole.layout().unwrap()).unwrap();
        let (product, by_layout) = (product.to_transform().unwrap(), by_layout.to_transform().unwrap());
        prop_assert!(same_map(&solver, &product, &by_layout), "{}", f);
        prop_assert!(!matches!(solver.bijective(&product).unwrap(), Truth::No(_)), "{}", f);
    }

    #[test]
    fn isl_confirms_weak_composites(f in nest_morphism(true), g in nest_morphism(true)) {
        let Ok(weak) = f.weak_composite(&g) else { return Ok(()) };
        let solver = Solver::new().unwrap();
        let size = |tuple: &Nested<i64>| tuple.entries().iter().product::<i64>();
        prop_assert!(size(f.codomain()) <= size(g.domain()));
        let through = solver.map(&f.to_transform().unwrap()).unwrap()
            .then(solver.map(&g.to_transform().unwrap()).unwrap()).unwrap();
        prop_assert!(solver.map(&weak.to_transform().unwrap()).unwrap().is_equal(&through).unwrap());
    }

    #[test]
    fn isl_confirms_guarded_associativity(a in layout(), b in layout(), c in layout()) {
        if c.cosize() > b.size() {
            return Ok(());
        }
        let left = a.composition(&b).and_then(|ab| ab.composition(&c));
        let right = b.composition(&c).and_then(|bc| a.composition(&bc));
        if let (Ok(left), Ok(right)) = (left, right) {
            let solver = Solver::new().unwrap();
            prop_assert!(same_map(&solver, &left.to_transform().unwrap(), &right.to_transform().unwrap()));
        }
    }

    #[test]
    fn isl_confirms_layout_composition(a in layout(), b in layout()) {
        if b.cosize() > a.size() {
            return Ok(());
        }
        let Ok(composed) = a.composition(&b) else { return Ok(()) };
        let solver = Solver::new().unwrap();
        let through = solver.map(&b.to_transform().unwrap()).unwrap()
            .then(solver.map(&a.to_transform().unwrap()).unwrap()).unwrap();
        prop_assert!(solver.map(&composed.to_transform().unwrap()).unwrap().is_equal(&through).unwrap());
    }

    #[test]
    fn isl_confirms_standard_forms(layout in layout()) {
        let Ok(f) = nest_standard_form(&layout) else { return Ok(()) };
        let solver = Solver::new().unwrap();
        prop_assert!(same_map(&solver, &f.to_transform().unwrap(), &layout.to_transform().unwrap()), "{}", layout);
    }

    #[test]
    fn isl_confirms_inverses(layout in layout()) {
        let solver = Solver::new().unwrap();
        let map = solver.map(&layout.to_transform().unwrap()).unwrap();
        if let Ok(left) = layout.left_inverse() {
            prop_assume!(layout.cosize() <= left.size());
            let back = map.then(solver.map(&left.to_transform().unwrap()).unwrap()).unwrap();
            prop_assert!(back.is_identity().unwrap(), "{}", layout);
        }
    }
}
