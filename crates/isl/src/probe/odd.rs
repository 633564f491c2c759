//! Arguments that no caller means to give.
//!
//! In: a number that decides everything.  Out: values of every type that a binding takes, in one context.

use std::ffi::c_int;

use crate::ast::AstBuild;
use crate::ast::build::Build;
use crate::runtime::{Listed, OutBool};
use crate::{
    Aff, AstExpr, AstLoopType, AstNode, BasicMap, BasicSet, Constraint, Context, Dim, FixedBox, Id, LocalSpace, Map,
    MultiAff, MultiUnionPwAff, MultiVal, Point, PwAff, PwMultiAff, Result, Schedule, ScheduleConstraints, ScheduleNode,
    Set, Space, UnionAccessInfo, UnionFlow, UnionMap, UnionPwAff, UnionPwMultiAff, UnionSet, Val,
};

/// Where arguments come from.
pub(crate) struct Source {
    context: Context,
    state: u64,
    /// Set for calls whose arguments should fit each other: then all are about the same thing.
    theme: Option<usize>,
}

impl Source {
    pub(crate) fn new(context: &Context, seed: u64) -> Source {
        let mut source = Source { context: context.clone(), state: seed, theme: None };
        source.theme = (source.below(3) > 0).then(|| source.below(THEMES));
        source
    }

    /// A number below `end`, as good as random (SplitMix64).
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }

    fn choose<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// One of the texts: mostly that of the theme.
    fn text(&mut self, texts: [&'static str; THEMES]) -> &'static str {
        let strays = self.below(8) == 0;
        match self.theme {
            Some(theme) if !strays => texts[theme],
            _ => self.choose(&texts),
        }
    }
}

/// Lines of the tables below that belong together: one dimension; none; many with divisions; a wrapped relation;
/// parameters; nothing at all; two spaces of one name; unbounded.
const THEMES: usize = 8;

const SPACES: [&str; THEMES] = [
    "{ S[i] }",
    "{ [] }",
    "[n, m] -> { S[i, j, k] }",
    "{ [A[i] -> B[j, k]] }",
    "[n] -> { : }",
    "{ S[i] -> T[j] }",
    "{ S[i, j] -> [S[i] -> T[j]] }",
    "[n] -> { S[i, j] -> S[i, j] }",
];

const SETS: [&str; THEMES] = [
    "{ S[i] : 0 <= i < 9 }",
    "{ [] }",
    "[n, m] -> { S[i, j, k] : 0 <= i < n and 2j = i + m and k % 3 = 1 and 0 <= k < 20 }",
    "{ [A[i] -> B[j, k]] : j = 2i and 0 <= k < 4 and 0 <= i < 5 }",
    "[n] -> { : n > 5 }",
    "{ S[i] : false }",
    "{ S[i, j] : (0 <= i < 5 and j = 3) or (i = 10 and 0 <= j < 4) or (i + j = 30 and 3 <= i) }",
    "[n] -> { S[i, j] : i > n or (exists e: j = 5e + i and i = 1 + 2e) }",
];

const MAPS: [&str; THEMES] = [
    "{ S[i] -> S[i + 1] : 0 <= i < 9 }",
    "{ [] -> [] }",
    "[n, m] -> { S[i, j, k] -> T[a, b] : a = 2i + m and b % 3 = k and 0 <= b < n }",
    "{ [A[i] -> B[j, k]] -> [A[i] -> C[j]] : 0 <= i < j < 5 and k = 1 }",
    "[n] -> { S[i, j] -> S[j, i] : 0 <= i < n and 0 <= j < n }",
    "{ S[i] -> T[j] : false }",
    "{ S[i, j] -> [S[i] -> T[j]] : (0 <= i < 5 and j > i) or (exists e: i = 4e and j = 3e) }",
    "[n] -> { S[i] -> T[j, k, l] }",
];

const UNION_SETS: [&str; THEMES] = [
    "{ S[i] : 0 <= i < 9 }",
    "{ [] }",
    "[n, m] -> { S[i, j, k] : 0 <= i < n and 0 <= j < i and k = j; T[i] : 0 <= i < m }",
    "{ [A[i] -> B[j, k]] : j = 2i and 0 <= k < 4 and 0 <= i < 5 }",
    "[n] -> { S[i, j] : 0 <= i < n and 0 <= j < n; T[i] : i % 2 = 0 and 0 <= i < n }",
    "{ }",
    "{ S[i] : 0 <= i < 3; S[i, j] : 0 <= i < 3 and 0 <= j < i; [i] : i = 7 }",
    "[n] -> { S[i]; T[i, j] : i > n }",
];

const UNION_MAPS: [&str; THEMES] = [
    "{ S[i] -> S[i + 1] : 0 <= i < 9 }",
    "{ [] -> [] }",
    "[n, m] -> { S[i, j, k] -> T[i] : k = 0; T[i] -> [0, i] : 0 <= i < m }",
    "{ [A[i] -> B[j, k]] -> [A[i] -> C[j]] : 0 <= i < j < 5 and k = 1 }",
    "[n] -> { S[i, j] -> S[i, j + 1] : 0 <= i < n and 0 <= j < n; T[i] -> S[i, 0] : 0 <= i < n }",
    "{ }",
    "{ S[i] -> [i, 0] : 0 <= i < 3; S[i, j] -> [j, i] : 0 <= i < 3 and 0 <= j < i }",
    "[n] -> { S[i] -> S[j] : j > i; S[i] -> T[i, j]; T[i, j] -> [i] }",
];

const AFFS: [&str; THEMES] = [
    "{ S[i] -> [(2 + 3i)] }",
    "{ [] -> [(5)] }",
    "[n, m] -> { S[i, j, k] -> [(floor((i + 2j + n)/3) - m)] }",
    "{ [A[i] -> B[j, k]] -> [((i)/2)] }",
    "[n] -> { S[i, j] -> [(n - i - j)] }",
    "{ S[i] -> [NaN] }",
    "{ S[i, j] -> [(i + floor((j)/2) + floor((i + j)/4))] }",
    "{ [(0)] }",
];

const PW_AFFS: [&str; THEMES] = [
    "{ S[i] -> [(2 + 3i)] : i > 3; S[i] -> [(i)] : i < 0 }",
    "{ [] -> [(5)] }",
    "[n, m] -> { S[i, j, k] -> [(floor((i + 2j + n)/3) - m)] : k % 3 = 1 }",
    "{ [A[i] -> B[j, k]] -> [((i)/2)] }",
    "[n] -> { S[i, j] -> [(n - i - j)] : i < j }",
    "{ S[i] -> [NaN] }",
    "{ S[i, j] -> [(0)] : false }",
    "[n] -> { [(n)] : n > 0 }",
];

const MULTI_AFFS: [&str; THEMES] = [
    "{ S[i] -> S[(2 + 3i)] }",
    "{ [] -> [] }",
    "[n, m] -> { S[i, j, k] -> T[(floor((i + 2j + n)/3) - m), (k)] }",
    "{ [A[i] -> B[j, k]] -> A[((i)/2), (0), (j)] }",
    "[n] -> { S[i, j] -> S[(n - i - j), (i)] }",
    "{ S[i] -> T[NaN] }",
    "{ S[i, j] -> [S[(i)] -> T[(j)]] }",
    "{ [(0), (1)] }",
];

const PW_MULTI_AFFS: [&str; THEMES] = [
    "{ S[i] -> S[(2 + 3i)] : i > 3; S[i] -> S[(0)] : i < 0 }",
    "{ [] -> [] }",
    "[n, m] -> { S[i, j, k] -> T[(floor((i + 2j + n)/3) - m), (k)] : k % 3 = 1 }",
    "{ [A[i] -> B[j, k]] -> A[(i), (0), (j)] : j > 0 }",
    "[n] -> { S[i, j] -> S[(n - i - j), (i)] : n > i }",
    "{ S[i] -> T[(i)] : false }",
    "{ S[i, j] -> [S[(i)] -> T[(j)]] }",
    "{ [(0), (1)] }",
];

const UNION_PW_AFFS: [&str; THEMES] = [
    "{ S[i] -> [(2 + 3i)] : i > 3 }",
    "{ [] -> [(5)] }",
    "[n, m] -> { S[i, j, k] -> [(i)]; T[i] -> [(i + n)] }",
    "{ [A[i] -> B[j, k]] -> [(i)] }",
    "[n] -> { S[i, j] -> [(n - i - j)]; T[i] -> [(floor((i)/2))] : i > 0 }",
    "{ }",
    "{ S[i] -> [(i)]; S[i, j] -> [(j)]; [i] -> [(7)] }",
    "[n] -> { S[i] -> [(n)]; T[i, j] -> [NaN] }",
];

const MULTI_UNION_PW_AFFS: [&str; THEMES] = [
    "[{ S[i] -> [(2 + 3i)] }]",
    "[]",
    "[n, m] -> L[{ S[i, j, k] -> [(i)]; T[i] -> [(i + n)] }, { S[i, j, k] -> [(j)]; T[i] -> [(0)] }]",
    "[{ [A[i] -> B[j, k]] -> [(i)] }, { [A[i] -> B[j, k]] -> [(k)] }]",
    "[n] -> [{ S[i, j] -> [(n - i - j)]; T[i] -> [(floor((i)/2))] }]",
    "([] : { S[i] })",
    "M[{ S[i] -> [(i)]; S[i, j] -> [(j)]; [i] -> [(7)] }]",
    "[{ }, { }]",
];

const MULTI_VALS: [&str; THEMES] =
    ["{ [4] }", "{ [] }", "{ L[3, 0] }", "{ [2, NaN] }", "{ [0] }", "{ [-1, 1/2, infty] }", "{ M[5] }", "{ [7, 7] }"];

const VALS: [&str; 10] = ["0", "0", "1", "2", "-7", "1/2", "NaN", "infty", "-infty", "123456789012345678901234567890"];

/// How an argument of this type is made: stored first, so that it can be lent as well as given.
pub(crate) trait Odd<'a>: Sized {
    type Store;
    fn store(source: &mut Source) -> Option<Self::Store>;
    fn lend(store: &'a mut Self::Store) -> Self;
}

/// A type of objects: how one is made.
trait Made: Sized {
    fn made(source: &mut Source) -> Result<Self>;
}

macro_rules! objects {
    ($($type:ty: |$source:ident| $make:expr;)*) => {$(
        impl Made for $type {
            fn made($source: &mut Source) -> Result<$type> {
                $make
            }
        }
        impl Odd<'_> for $type {
            type Store = Option<$type>;
            fn store(source: &mut Source) -> Option<Self::Store> {
                Some(Some(<$type as Made>::made(source).ok()?))
            }
            fn lend(store: &mut Self::Store) -> $type {
                store.take().expect("lent once")
            }
        }
        impl<'a> Odd<'a> for &'a $type {
            type Store = $type;
            fn store(source: &mut Source) -> Option<$type> {
                <$type as Made>::made(source).ok()
            }
            fn lend(store: &'a mut $type) -> &'a $type {
                store
            }
        }
    )*};
}

/// Objects that isl reads from text.
macro_rules! read_objects {
    ($($type:ty, $texts:ident;)*) => {
        objects! {$(
            $type: |source| {
                let text = source.text($texts);
                <$type>::read_from_str(&source.context, text)
            };
        )*}
    };
}

read_objects! {
    Space, SPACES;
    Set, SETS;
    Map, MAPS;
    UnionSet, UNION_SETS;
    UnionMap, UNION_MAPS;
    Aff, AFFS;
    PwAff, PW_AFFS;
    MultiAff, MULTI_AFFS;
    PwMultiAff, PW_MULTI_AFFS;
    UnionPwAff, UNION_PW_AFFS;
    UnionPwMultiAff, PW_MULTI_AFFS;
    MultiUnionPwAff, MULTI_UNION_PW_AFFS;
    MultiVal, MULTI_VALS;
}

fn some<T: Clone>(source: &mut Source, from: Vec<T>) -> Result<T> {
    let end = from.len();
    if end == 0 { Err(crate::Error::callback("none")) } else { Ok(from[source.below(end)].clone()) }
}

objects! {
    Val: |source| {
        let text = source.choose(&VALS);
        Val::read_from_str(&source.context, text)
    };
    Id: |source| {
        let name = source.choose(&["n", "S", "x", "", "a b", "int"]);
        Id::new(&source.context, name)
    };
    Point: |source| Set::made(source)?.sample_point();
    BasicSet: |source| {
        let sets = Set::made(source)?.basic_sets()?;
        some(source, sets)
    };
    BasicMap: |source| {
        let maps = Map::made(source)?.basic_maps()?;
        some(source, maps)
    };
    Constraint: |source| {
        let constraints = BasicSet::made(source)?.constraints()?;
        some(source, constraints)
    };
    LocalSpace: |source| {
        if source.below(2) == 0 {
            return LocalSpace::from_space(Space::made(source)?);
        }
        Aff::made(source)?.get_domain_local_space()
    };
    FixedBox: |source| Map::made(source)?.get_range_simple_fixed_box_hull();
    Schedule: |source| {
        let schedule = Schedule::from_domain(UnionSet::made(source)?)?;
        if source.below(3) == 0 {
            return Ok(schedule);
        }
        schedule.insert_partial_schedule(MultiUnionPwAff::made(source)?)
    };
    ScheduleNode: |source| {
        let mut node = Schedule::made(source)?.get_root()?;
        for _ in 0..source.below(4) {
            let children = node.n_children()?;
            if children == 0 {
                break;
            }
            node = node.child(source.below(children))?;
            node = match source.below(6) {
                0 => node.insert_mark(Id::made(source)?)?,
                2 => node.insert_guard(Set::made(source)?.params()?)?,
                3 => node.insert_context(Set::made(source)?.params()?)?,
                1 => {
                    let filters = node.get_domain()?.sets()?.into_iter().map(Set::to_union_set);
                    node.insert_sequence(&filters.collect::<Result<Vec<UnionSet>>>()?)?
                }
                _ => node,
            };
        }
        Ok(node)
    };
    ScheduleConstraints: |source| {
        ScheduleConstraints::on_domain(UnionSet::made(source)?)?.set_validity(UnionMap::made(source)?)
    };
    UnionAccessInfo: |source| {
        let info = UnionAccessInfo::from_sink(UnionMap::made(source)?)?;
        info.set_may_source(UnionMap::made(source)?)?.set_schedule_map(UnionMap::made(source)?)
    };
    Build: |source| {
        if source.below(2) == 0 {
            return Build::alloc(&source.context);
        }
        Build::from_context(Set::made(source)?.params()?)
    };
    UnionFlow: |source| UnionAccessInfo::made(source)?.compute_flow();
    AstNode: |source| {
        let mut node = if source.below(2) == 0 {
            AstBuild::alloc(&source.context)?.node_from_schedule(Schedule::made(source)?)?
        } else {
            AstBuild::alloc(&source.context)?.node_from_schedule_map(UnionMap::made(source)?)?
        };
        for _ in 0..source.below(4) {
            let below = match source.below(3) {
                0 => node.for_get_body(),
                1 => node.if_get_then_node(),
                _ => node.block_get_children().and_then(|children| some(source, children)),
            };
            node = below.unwrap_or(node);
        }
        Ok(node)
    };
    AstExpr: |source| {
        let node = AstNode::made(source)?;
        let parts = [node.for_get_iterator(), node.for_get_init(), node.for_get_cond(), node.user_get_expr()];
        let parts = parts.into_iter().flatten().collect();
        let part = some(source, parts)?;
        if source.below(2) == 0 {
            return Ok(part);
        }
        Ok(part.op_get_arg(0).unwrap_or(part))
    };
}

impl<'a> Odd<'a> for &'a Context {
    type Store = Context;
    fn store(source: &mut Source) -> Option<Context> {
        Some(source.context.clone())
    }
    fn lend(store: &'a mut Context) -> &'a Context {
        store
    }
}

impl<'a, T: Made + Listed> Odd<'a> for &'a [T] {
    type Store = Vec<T>;
    fn store(source: &mut Source) -> Option<Vec<T>> {
        (0..source.below(4)).map(|_| T::made(source).ok()).collect()
    }
    fn lend(store: &'a mut Vec<T>) -> &'a [T] {
        store
    }
}

impl<'a> Odd<'a> for OutBool<'a> {
    type Store = c_int;
    fn store(_: &mut Source) -> Option<c_int> {
        Some(0)
    }
    fn lend(store: &'a mut c_int) -> OutBool<'a> {
        OutBool::new(store)
    }
}

macro_rules! plain {
    ($($type:ty: $values:expr;)*) => {$(
        impl Odd<'_> for $type {
            type Store = $type;
            fn store(source: &mut Source) -> Option<$type> {
                Some(source.choose(&$values))
            }
            fn lend(store: &mut $type) -> $type {
                *store
            }
        }
    )*};
}

plain! {
    usize: [0, 0, 0, 1, 1, 1, 2, 3, 7, 1 << 14, (1 << 14) + 1, 1 << 31, usize::MAX];
    i32: [0, 1, -1, 2, 7, i32::MIN, i32::MAX];
    i64: [0, 1, -1, 2, 1 << 40, i64::MIN, i64::MAX];
    bool: [false, true];
    Dim: [Dim::Param, Dim::Param, Dim::In, Dim::In, Dim::Out, Dim::Out, Dim::Set, Dim::Div];
    AstLoopType: [AstLoopType::Default, AstLoopType::Atomic, AstLoopType::Unroll, AstLoopType::Separate];
    &'static str: ["", "x", "S", "n", "a b", "{", "\u{e9}", "\0", "a very long name that nobody would give to anything at all"];
}
