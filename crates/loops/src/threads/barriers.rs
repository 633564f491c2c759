//! Where the threads of a block wait for each other: between two phases of which one touches what another thread wrote, or
//! writes what another thread touches, in the other; and nowhere else.

use crate::promote::not_empty;
use crate::{ArrayId, Cond, For, Stmt, VarId};

use super::owner::Access;
use super::phases::{Phase, Phases};
use super::{under, walk};

/// What all threads of a block run through.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Phase(Phase),
    /// The loop, without its body.
    Loop(Box<For>, Vec<Item>),
    If(Cond, Vec<Item>, Vec<Item>),
    Barrier,
}

/// The statements of a thread, with barriers. Each thread has the arrays `private` for itself.
pub(super) fn placed(mut items: Vec<Item>, phases: &Phases, private: &[ArrayId]) -> Vec<Stmt> {
    forget(&mut items, private);
    let (items, _) = Waits { phases }.sequence(items, &[]);
    statements(items)
}

/// The arrays of which each cell has one thread of the block that touches it, if anybody writes it.
pub(super) fn owned(items: &[Item], phases: &Phases) -> Vec<ArrayId> {
    let mut loops = Vec::new();
    collect_loops(items, &mut loops);
    let mut all: Vec<&Access> = Vec::new();
    walk(items, &mut |phase| all.extend(&phase.accesses));
    let mut arrays: Vec<ArrayId> = all.iter().map(|access| access.array).collect();
    arrays.sort_unstable();
    arrays.dedup();
    arrays.retain(|array| {
        let own = || all.iter().filter(|access| access.array == *array);
        !own().any(|one| own().any(|two| one.conflicts(two, &loops, phases)))
    });
    arrays
}

fn collect_loops(items: &[Item], found: &mut Vec<VarId>) {
    for item in items {
        match item {
            Item::Loop(f, body) => {
                found.push(f.var);
                collect_loops(body, found);
            }
            Item::If(_, then, otherwise) => {
                collect_loops(then, found);
                collect_loops(otherwise, found);
            }
            Item::Phase(_) | Item::Barrier => {}
        }
    }
}

/// Nobody waits for arrays of which each thread has one.
fn forget(items: &mut [Item], private: &[ArrayId]) {
    for item in items {
        match item {
            Item::Phase(phase) => phase.accesses.retain(|access| !private.contains(&access.array)),
            Item::Loop(_, body) => forget(body, private),
            Item::If(_, then, otherwise) => {
                forget(then, private);
                forget(otherwise, private);
            }
            Item::Barrier => {}
        }
    }
}

/// What a sequence touches.
#[derive(Clone, Debug, Default)]
struct Flow {
    /// Before its first barrier.
    head: Vec<Access>,
    /// After its last barrier; with what was in front of the sequence, if a way through has none.
    tail: Vec<Access>,
    /// Every way through has a barrier.
    waits: bool,
}

impl Flow {
    fn add(&mut self, accesses: &[Access]) {
        if !self.waits {
            merge(&mut self.head, accesses);
        }
        merge(&mut self.tail, accesses);
    }

    fn wait(&mut self) {
        self.tail.clear();
        self.waits = true;
    }

    /// As it is seen from outside of a loop.
    fn leaving(self, var: VarId) -> Flow {
        let out = |accesses: Vec<Access>| accesses.into_iter().map(|access| access.leaving(var)).collect();
        Flow { head: out(self.head), tail: out(self.tail), waits: self.waits }
    }
}

fn merge(into: &mut Vec<Access>, accesses: &[Access]) {
    for access in accesses {
        if !into.contains(access) {
            into.push(access.clone());
        }
    }
}

struct Waits<'a> {
    phases: &'a Phases,
}

impl Waits<'_> {
    fn conflict(&self, one: &[Access], two: &[Access], apart: &[VarId]) -> bool {
        one.iter().any(|first| two.iter().any(|second| first.conflicts(second, apart, self.phases)))
    }

    /// `before` is what has been touched since the last barrier.
    fn sequence(&self, items: Vec<Item>, before: &[Access]) -> (Vec<Item>, Flow) {
        let mut done = Vec::new();
        let mut flow = Flow { tail: before.to_vec(), ..Flow::default() };
        for item in items {
            match item {
                Item::Phase(phase) => {
                    if self.conflict(&flow.tail, &phase.accesses, &[]) {
                        done.push(Item::Barrier);
                        flow.wait();
                    }
                    flow.add(&phase.accesses);
                    done.push(Item::Phase(phase));
                }
                Item::Barrier => {
                    done.push(Item::Barrier);
                    flow.wait();
                }
                Item::If(cond, then, otherwise) => {
                    let (then, one) = self.sequence(then, &flow.tail);
                    let (otherwise, two) = self.sequence(otherwise, &flow.tail);
                    if !flow.waits {
                        merge(&mut flow.head, &one.head);
                        merge(&mut flow.head, &two.head);
                    }
                    flow.waits |= one.waits && two.waits;
                    flow.tail = one.tail;
                    merge(&mut flow.tail, &two.tail);
                    done.push(Item::If(cond, then, otherwise));
                }
                Item::Loop(head, body) => self.repeated(head, body, &mut flow, &mut done),
            }
        }
        (done, flow)
    }

    /// A loop: its iterations may have to wait for each other, and the first for what was in front of it.
    fn repeated(&self, f: Box<For>, body: Vec<Item>, flow: &mut Flow, done: &mut Vec<Item>) {
        let (mut body, mut inner) = self.sequence(body, &[]);
        let entry = self.conflict(&flow.tail, &inner.head, &[]);
        let again = self.conflict(&inner.tail, &inner.head, &[f.var]);
        match (entry, again) {
            (true, true) => {
                body.insert(0, Item::Barrier);
                inner.head.clear();
                inner.waits = true;
            }
            (true, false) => {
                done.push(Item::Barrier);
                flow.wait();
            }
            (false, true) => {
                body.push(Item::Barrier);
                inner.wait();
            }
            (false, false) => {}
        }
        let runs = not_empty(&f, &[]);
        let inner = inner.leaving(f.var);
        if !flow.waits {
            merge(&mut flow.head, &inner.head);
        }
        if runs && inner.waits {
            flow.wait();
        }
        merge(&mut flow.tail, &inner.tail);
        done.push(Item::Loop(f, body));
    }
}

/// Items as statements; neighbours of the same threads are under one condition.
fn statements(items: Vec<Item>) -> Vec<Stmt> {
    let mut done = Vec::new();
    let mut open: Option<Phase> = None;
    for item in items {
        if let (Item::Phase(phase), Some(known)) = (&item, &mut open)
            && known.guard == phase.guard
        {
            known.stmts.extend(phase.stmts.iter().cloned());
            continue;
        }
        if let Some(phase) = open.take() {
            done.extend(under(&phase.guard, phase.stmts));
        }
        match item {
            Item::Phase(phase) => open = Some(phase),
            Item::Loop(f, body) => done.push(Stmt::For(For { body: statements(body), ..*f })),
            Item::If(cond, then, otherwise) => {
                done.push(Stmt::If { cond, then: statements(then), otherwise: statements(otherwise) });
            }
            Item::Barrier => done.push(Stmt::Barrier),
        }
    }
    if let Some(phase) = open {
        done.extend(under(&phase.guard, phase.stmts));
    }
    done
}
