//! Random steps that fit a tree, made from bytes.

use ::steps::{Formula, Loops, Place, State, Step, Verb, Word};
use layout::iter::{Operation, SplitKind, SwizzleKind};
use poly::{Entry, LoopKind, Tree};
use program::{Affine, Cond, IterId};

pub(crate) struct Choices<'a> {
    bytes: std::slice::Iter<'a, u8>,
}

impl<'a> Choices<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Choices { bytes: bytes.iter() }
    }

    /// A choice among `n`; 0 when there are no bytes left.
    pub(crate) fn pick(&mut self, n: usize) -> usize {
        self.bytes.next().map_or(0, |byte| usize::from(*byte) % n.max(1))
    }

    fn size(&mut self) -> i64 {
        [2, 3, 4, 1][self.pick(4)]
    }

    fn recount(&mut self, loops: Loops, operation: impl Fn(i64) -> Operation) -> Verb {
        Verb::Recount { loops, operation: operation(self.size()), names: Vec::new() }
    }

    pub(crate) fn step(&mut self, state: &State) -> Step {
        let (scop, tree) = (&state.subject.scop, &state.tree);
        let branches = tree.branches();
        let verb = self.pick(27);
        let branch = &branches[self.pick(branches.len())];
        let statement = scop.at(branch.statement);
        let names: Vec<&str> = branch.loops().map(|(_, id, _)| tree.info(id).name.as_str()).collect();
        let other = scop.at(branches[self.pick(branches.len())].statement);
        let wanted = match verb {
            0 | 2 | 23 | 25 => 2,
            1 | 6 => 2 + self.pick(2),
            _ => 1,
        };
        let mut chosen: Vec<String> = Vec::new();
        for _ in 0..wanted {
            let name = names.get(self.pick(names.len())).copied().unwrap_or("none").to_string();
            if !chosen.contains(&name) {
                chosen.push(name);
            }
        }
        // A step of two loops has two, whatever was drawn.
        if matches!(verb, 0 | 2 | 23 | 25) && chosen.len() == 1 {
            chosen.push("none".into());
        }
        let at = Word::new(chosen[0].clone());
        let (first, second) = (Word::new(statement.source.clone()), Word::new(other.source.clone()));
        let loops = Loops::of(statement.source.clone(), chosen.clone());
        let reads = &statement.reads;
        let array = reads.get(self.pick(reads.len())).map_or("none", |read| &scop.array(read.array).name);
        let array = Word::new(array);
        let place = Place { statement: Some(Word::new(statement.name.clone())), at: at.clone() };
        Step::new(match verb {
            0 => Verb::Interchange { loops },
            1 => Verb::Tile { sizes: chosen.iter().map(|_| self.size()).collect(), loops, names: Vec::new() },
            2 => Verb::Skew { loops, factor: [1, -1, 2][self.pick(3)] },
            3 => Verb::Shift { loops, distance: [1, -1, 2, -2][self.pick(4)] },
            4 => Verb::Reverse { loops },
            5 => Verb::Strip { loops, size: self.size(), name: None },
            6 => Verb::Reorder { loops },
            7 => Verb::Fuse { first, second, at },
            8 => Verb::Fission { first, second, at },
            9 => Verb::Sequence { statements: vec![first, second] },
            10 => {
                // `name < 2`, or `name != 1`, of the loop's first iterator.
                let bound = Affine::constant(1).sub(&Affine::iter(IterId(0))).unwrap();
                let cond =
                    if self.pick(2) == 0 { Cond::NonNegative(bound) } else { Cond::Zero(bound).negate().unwrap() };
                Verb::Split { loops, condition: Formula::new(vec![at], cond) }
            }
            11 => Verb::Parallel { loops },
            12 => Verb::Jam { loops, size: self.size(), name: None },
            13 => Verb::Vectorize { loops, lanes: self.size() as u32, name: None },
            14 => Verb::Scale { loops, factor: self.size() },
            15 => Verb::Rfactor { loops, names: Vec::new() },
            16 => Verb::Inline { array },
            17 => {
                // Panels for so many subscripts, if the array has them.
                let panels = (0..self.pick(3)).map(|_| 1 + self.pick(3) as i64).collect();
                Verb::Pack { array, reads: None, at: Some(place), panels, name: None }
            }
            20 => Verb::Separate { loops },
            22 => self.recount(loops, |size| Operation::Split { kind: SplitKind::Inner, factor: size }),
            23 => self.recount(loops, |_| Operation::Merge),
            24 => self.recount(loops, |size| Operation::Resize { left: size - 1, right: 1 }),
            25 => self.recount(loops, |_| Operation::Swizzle(SwizzleKind::CyclicShift)),
            26 => self.recount(loops, |size| Operation::Split { kind: SplitKind::Outer, factor: size }),
            21 => Verb::Place { loops, axis: poly::Axis::ALL[self.pick(6)] },
            _ => Verb::ComputeAt { array, at: place, name: None },
        })
    }
}

/// The tree with each of its parallel and vector loops run backwards.
pub(crate) fn reversals_of_parallel_loops(tree: &Tree) -> Vec<Tree> {
    let concurrent =
        tree.loops().filter(|(_, found)| found.kind.is_parallel() || matches!(found.kind, LoopKind::Vector(_)));
    let reversed = |id| {
        let mut branches = tree.branches();
        for entry in branches.iter_mut().flat_map(|branch| &mut branch.entries) {
            if let Entry::Loop(own, expr) = entry
                && *own == id
            {
                *expr = expr.scale(-1).unwrap();
            }
        }
        Tree::grow(tree.table(), branches)
    };
    concurrent.map(|(id, _)| reversed(id)).collect()
}
