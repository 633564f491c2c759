//! Wide accesses: neighbouring cells are loaded and stored by one instruction of 64 or 128 bits, where the address is known to be
//! a multiple of that.
//!
//! In: the body of a kernel, and of what power of two each address register is a multiple.  Out: the same with fewer
//! instructions. Loads move up to the first of their group, stores down to the last, past nothing that could touch the
//! same memory and within straight code.

use std::collections::HashMap;

use crate::ir::{Base, Cache, Instruction, Op, Operand, Reg, Space, Statement, Type};

/// Registers that hold addresses, with a power of two that divides each.
pub(super) type Alignments = HashMap<Reg, i64>;

pub(super) fn widen(body: Vec<Statement>, known: &Alignments) -> Vec<Statement> {
    let mut done = Vec::with_capacity(body.len());
    let mut straight: Vec<Instruction> = Vec::new();
    for statement in body {
        match statement {
            Statement::Instruction(instruction) if !is_end(&instruction) => straight.push(instruction),
            other => {
                done.extend(widened(std::mem::take(&mut straight), known));
                done.push(other);
            }
        }
    }
    done.extend(widened(straight, known));
    done
}

/// Whether nothing moves past an instruction.
fn is_end(instruction: &Instruction) -> bool {
    let moves = matches!(
        instruction.op,
        Op::Load { .. }
            | Op::Store { .. }
            | Op::Move { .. }
            | Op::Unpack { .. }
            | Op::Pack { .. }
            | Op::Convert { .. }
            | Op::Address { .. }
            | Op::Unary { .. }
            | Op::Binary { .. }
            | Op::Ternary { .. }
            | Op::Compare { .. }
            | Op::Select { .. }
    );
    instruction.guard.is_some() || !moves
}

/// Accesses that differ in their offsets only.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Kind {
    store: bool,
    space: Space,
    cache: Cache,
    ty: Type,
    base: Reg,
}

fn access(instruction: &Instruction) -> Option<(Kind, i64)> {
    match &instruction.op {
        Op::Load { space, cache, ty, dst, from } if dst.len() == 1 => match from.base {
            Base::Reg(base) => Some((Kind { store: false, space: *space, cache: *cache, ty: *ty, base }, from.offset)),
            _ => None,
        },
        Op::Store { space, ty, to, src } if src.len() == 1 => match to.base {
            Base::Reg(base) => {
                Some((Kind { store: true, space: *space, cache: Cache::Default, ty: *ty, base }, to.offset))
            }
            _ => None,
        },
        _ => None,
    }
}

fn widened(code: Vec<Instruction>, known: &Alignments) -> impl Iterator<Item = Statement> {
    let mut code: Vec<Option<Instruction>> = code.into_iter().map(Some).collect();
    for (store, cells) in [(false, 4), (false, 2), (true, 4), (true, 2)] {
        let mut groups: HashMap<(Kind, i64), Vec<usize>> = HashMap::new();
        for (place, instruction) in code.iter().enumerate() {
            let Some((kind, offset)) = instruction.as_ref().and_then(access) else { continue };
            let bytes = i64::from(kind.ty.bytes());
            let width = bytes * cells;
            let fits = matches!(bytes, 4 | 8) && width <= 16 && known.get(&kind.base).is_some_and(|of| of % width == 0);
            if kind.store == store && fits {
                groups.entry((kind, offset.div_euclid(width))).or_default().push(place);
            }
        }
        let mut groups: Vec<((Kind, i64), Vec<usize>)> = groups.into_iter().collect();
        groups.sort_by(|(_, one), (_, two)| one.cmp(two));
        for ((kind, number), places) in groups {
            join(&mut code, kind, number, &places, cells);
        }
    }
    code.into_iter().flatten().map(Statement::Instruction)
}

/// One instruction for all of a group, if each cell is accessed once and nothing is in the way.
fn join(code: &mut [Option<Instruction>], kind: Kind, number: i64, places: &[usize], cells: i64) {
    let bytes = i64::from(kind.ty.bytes());
    let at = |place: usize| code.get(place).and_then(Option::as_ref).and_then(access).map(|(_, offset)| offset);
    let wanted = (0..cells).map(|cell| number * cells * bytes + cell * bytes);
    let members: Option<Vec<usize>> =
        wanted.map(|offset| places.iter().copied().find(|place| at(*place) == Some(offset))).collect();
    let (Some(members), true) = (members, places.len() as i64 == cells) else { return };
    let (Some(first), Some(last)) = (members.iter().min().copied(), members.iter().max().copied()) else { return };
    // Each register of the group, and where it is loaded or stored.
    let mut own: Vec<(Reg, usize)> = Vec::new();
    for place in &members {
        match code.get(*place).and_then(Option::as_ref).map(|found| &found.op) {
            Some(Op::Load { dst, .. }) => own.extend(dst.iter().map(|reg| (*reg, *place))),
            Some(Op::Store { src, .. }) => own.extend(src.iter().filter_map(|src| match src {
                Operand::Reg(reg) => Some((*reg, *place)),
                _ => None,
            })),
            _ => return,
        }
    }
    let mut between = code.iter().enumerate().take(last).skip(first).filter(|(place, _)| !members.contains(place));
    // What is stored later may still be computed before that.
    let in_the_way = between.any(|(at, instruction)| {
        let kept = own.iter().filter(|(_, place)| !kind.store || *place < at);
        let kept: Vec<Reg> = kept.map(|(reg, _)| *reg).collect();
        instruction.as_ref().is_some_and(|instruction| is_in_the_way(instruction, kind, &kept))
    });
    if in_the_way {
        return;
    }
    let Some(mut joined) = code.get(first).cloned().flatten() else { return };
    match &mut joined.op {
        Op::Load { dst, from, .. } => {
            *dst = own.iter().map(|(reg, _)| *reg).collect();
            from.offset = number * cells * bytes;
        }
        Op::Store { to, src, .. } => {
            to.offset = number * cells * bytes;
            let value = |place: &usize| match code.get(*place).and_then(Option::as_ref).map(|found| &found.op) {
                Some(Op::Store { src, .. }) => src.first().copied(),
                _ => None,
            };
            let Some(values) = members.iter().map(value).collect::<Option<Vec<_>>>() else { return };
            *src = values;
        }
        _ => return,
    }
    for place in &members {
        code[*place] = None;
    }
    code[if kind.store { last } else { first }] = Some(joined);
}

/// Whether a group cannot move past an instruction: it may touch the same memory, or write a register of the group. A register that is
/// loaded has no other value before, so nothing reads it too early.
fn is_in_the_way(instruction: &Instruction, kind: Kind, own: &[Reg]) -> bool {
    let memory = match &instruction.op {
        Op::Store { space, .. } => *space == kind.space && kind.cache != Cache::NonCoherent,
        Op::Load { space, cache, .. } => kind.store && *space == kind.space && *cache != Cache::NonCoherent,
        _ => false,
    };
    let writes = instruction.writes();
    let registers = writes.iter().any(|reg| own.contains(reg) || *reg == kind.base);
    memory || registers
}
