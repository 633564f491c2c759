//! Where instructions lead, and where threads that parted meet again.
//!
//! Instructions are counted without labels. In: a kernel.  Out: successors, and for each branch its immediate
//! post-dominator.

use crate::ir::{Kernel, Op, Statement};

/// The position of the instruction after each label; the number of instructions for a label at the end.
pub(crate) fn label_targets(kernel: &Kernel) -> Vec<Option<usize>> {
    let mut targets = vec![None; kernel.labels.len()];
    let mut at = 0;
    for statement in &kernel.body {
        match statement {
            Statement::Label(label) => {
                if let Some(target) = targets.get_mut(label.index()) {
                    *target = Some(at);
                }
            }
            Statement::Instruction(_) => at += 1,
        }
    }
    targets
}

/// For each instruction what may run next. Running past the end, and leaving, lead nowhere.
pub(crate) fn successors(kernel: &Kernel) -> Vec<Vec<usize>> {
    let targets = label_targets(kernel);
    let instructions = kernel.body.iter().filter_map(|statement| match statement {
        Statement::Instruction(instruction) => Some(instruction),
        Statement::Label(_) => None,
    });
    let mut found: Vec<Vec<usize>> = instructions
        .enumerate()
        .map(|(at, instruction)| match &instruction.op {
            Op::Branch { target, .. } => {
                let target = targets.get(target.index()).copied().flatten();
                let next = instruction.guard.map(|_| at + 1).filter(|next| Some(*next) != target);
                target.into_iter().chain(next).collect()
            }
            Op::Return if instruction.guard.is_none() => Vec::new(),
            _ => vec![at + 1],
        })
        .collect();
    let count = found.len();
    found.iter_mut().for_each(|next| next.retain(|at| *at < count));
    found
}

/// For each instruction the first one that all paths from it to the end of the kernel share.
///
/// The end is the last instruction that leads nowhere: paths that leave elsewhere are as if they did not exist, because
/// threads that leave need not be waited for. `None` where no such instruction exists.
pub(crate) fn reconvergence(kernel: &Kernel) -> Vec<Option<usize>> {
    let successors = successors(kernel);
    let count = successors.len();
    let blocks = Blocks::new(&successors);
    let mut meets = vec![None; count];
    let Some(end) = successors.iter().rposition(Vec::is_empty) else { return meets };
    let immediate = blocks.post_dominators(blocks.of[end]);
    for at in 0..count {
        if successors[at].len() > 1 {
            let block = blocks.of[at];
            meets[at] = immediate[block].filter(|meet| *meet != block).map(|meet| blocks.first[meet]);
        }
    }
    meets
}

/// Runs of instructions without a jump in or out of their middle.
struct Blocks {
    first: Vec<usize>,
    /// The block of each instruction.
    of: Vec<usize>,
    next: Vec<Vec<usize>>,
}

impl Blocks {
    fn new(successors: &[Vec<usize>]) -> Blocks {
        let count = successors.len();
        let mut leads = vec![false; count];
        if let Some(first) = leads.first_mut() {
            *first = true;
        }
        for (at, next) in successors.iter().enumerate() {
            if next.as_slice() != [at + 1] {
                next.iter().for_each(|next| leads[*next] = true);
                if let Some(after) = leads.get_mut(at + 1) {
                    *after = true;
                }
            }
        }
        let first: Vec<usize> = (0..count).filter(|at| leads[*at]).collect();
        let of: Vec<usize> = (0..count).map(|at| first.partition_point(|start| *start <= at) - 1).collect();
        let ends = first.iter().skip(1).copied().chain([count]);
        let next = ends.map(|end| successors[end - 1].iter().map(|next| of[*next]).collect()).collect();
        Blocks { first, of, next }
    }

    /// Immediate post-dominators towards `end`, by Cooper, Harvey and Kennedy's iteration. The end has itself.
    fn post_dominators(&self, end: usize) -> Vec<Option<usize>> {
        let mut previous = vec![Vec::new(); self.next.len()];
        for (block, next) in self.next.iter().enumerate() {
            next.iter().for_each(|next| previous[*next].push(block));
        }
        let order = post_order(end, &previous);
        let mut rank = vec![usize::MAX; self.next.len()];
        for (position, block) in order.iter().enumerate() {
            rank[*block] = position;
        }
        let mut immediate = vec![None; self.next.len()];
        immediate[end] = Some(end);
        let mut changed = true;
        while changed {
            changed = false;
            for block in order.iter().rev().copied().filter(|block| *block != end) {
                let known = self.next[block].iter().copied().filter(|next| immediate[*next].is_some());
                let meet = known.reduce(|a, b| common(a, b, &immediate, &rank));
                if meet.is_some() && immediate[block] != meet {
                    immediate[block] = meet;
                    changed = true;
                }
            }
        }
        immediate
    }
}

fn common(mut a: usize, mut b: usize, immediate: &[Option<usize>], rank: &[usize]) -> usize {
    while a != b {
        // The end has the highest rank, and both chains lead there.
        let lower = if rank[a] < rank[b] { &mut a } else { &mut b };
        match immediate[*lower] {
            Some(next) if next != *lower => *lower = next,
            _ => return *lower,
        }
    }
    a
}

fn post_order(start: usize, next: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; next.len()];
    let mut order = Vec::new();
    let mut stack = vec![(start, 0)];
    seen[start] = true;
    while let Some((block, child)) = stack.last_mut() {
        match next[*block].get(*child) {
            Some(after) => {
                *child += 1;
                if !seen[*after] {
                    seen[*after] = true;
                    stack.push((*after, 0));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order
}
