//! Kernels in the form that is run: operands are rows of 32 lanes, labels are positions, sizes are worked out.
//!
//! In: a parsed kernel.  Out: [`Code`], or the line of an instruction whose operands do not fit.

use std::collections::HashMap;

use super::count::Class;
use super::fault::{Fault, FaultKind, Trouble, file_name};
use crate::flow::{label_targets, reconvergence};
use crate::ir::{
    Address, AtomicOp, Base, BinaryOp, Cache, Compare, Float, Instruction, Kernel, Module, Op, Operand, Reg,
    ShuffleMode, Space, Special, Statement, TernaryOp, Type, UnaryOp, VoteMode,
};
use crate::verify::{check_types, supports};

/// One value for each lane of a warp.
pub(super) type Lanes = [u64; 32];

/// Where an operand's lanes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Row(u32),
    Constant(u32),
    /// One of [`Code::fixed`].
    Fixed(u32),
}

/// What is the same for a thread from its first instruction to its last: worked out once for each block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fixed {
    Special(Special),
    /// So far into the memory of the thread itself.
    Local(u64),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Guard {
    pub(super) predicate: u32,
    pub(super) negated: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Inst {
    pub(super) guard: Option<Guard>,
    pub(super) class: Class,
    pub(super) action: Action,
}

/// Bytes of global or shared memory, for each lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) space: Space,
    pub(super) base: Source,
    pub(super) offset: i64,
    /// Of one element.
    pub(super) size: u32,
    pub(super) count: u32,
}

#[derive(Clone, Debug)]
pub(super) enum Action {
    /// `extend`: the bits of the destination if the value is signed and must fill it.
    Load {
        place: Place,
        touch_nc: bool,
        extend: Option<u32>,
        dst: [u32; 4],
    },
    Store {
        place: Place,
        src: [Source; 4],
    },
    LoadParam {
        offset: u64,
        size: u32,
        count: u32,
        extend: Option<u32>,
        dst: [u32; 4],
    },
    Move {
        dst: u32,
        src: Source,
    },
    MovePredicate {
        dst: u32,
        src: Result<u32, bool>,
    },
    Unpack {
        bits: u32,
        dst: Vec<u32>,
        src: Source,
    },
    Pack {
        bits: u32,
        dst: u32,
        src: Vec<Source>,
    },
    /// `bits`: of the destination, which may be wider than the type.
    Convert {
        to: Type,
        from: Type,
        float: Float,
        bits: u32,
        dst: u32,
        src: Source,
    },
    /// Adds to (or takes from) an address of shared memory the start of its window.
    Window {
        add: bool,
        dst: u32,
        src: Source,
    },
    Unary {
        op: UnaryOp,
        ty: Type,
        float: Float,
        dst: u32,
        a: Source,
    },
    Binary {
        op: BinaryOp,
        ty: Type,
        float: Float,
        dst: u32,
        a: Source,
        b: Source,
    },
    Ternary {
        op: TernaryOp,
        ty: Type,
        float: Float,
        dst: u32,
        a: Source,
        b: Source,
        c: Source,
    },
    NotPredicate {
        dst: u32,
        a: u32,
    },
    Logic {
        op: BinaryOp,
        dst: u32,
        a: u32,
        b: u32,
    },
    Compare {
        compare: Compare,
        ty: Type,
        ftz: bool,
        dst: u32,
        inverse: Option<u32>,
        a: Source,
        b: Source,
        combine: Option<(BinaryOp, u32, bool)>,
    },
    Select {
        dst: u32,
        a: Source,
        b: Source,
        condition: u32,
    },
    Branch {
        target: u32,
        meet: Option<u32>,
    },
    Return,
    Barrier,
    WarpBarrier {
        mask: Source,
    },
    Nothing,
    Shuffle {
        mode: ShuffleMode,
        dst: u32,
        valid: Option<u32>,
        src: Source,
        lane: Source,
        clamp: Source,
        mask: Source,
    },
    Ballot {
        dst: u32,
        predicate: u32,
        negated: bool,
        mask: Source,
    },
    Vote {
        mode: VoteMode,
        dst: u32,
        predicate: u32,
        negated: bool,
        mask: Source,
    },
    ActiveMask {
        dst: u32,
    },
    Atomic {
        place: Place,
        op: AtomicOp,
        ty: Type,
        dst: Option<u32>,
        b: Source,
        c: Option<Source>,
    },
    CopyAsync {
        to: Place,
        from: Place,
    },
    CommitGroup,
    WaitGroup {
        pending: u32,
    },
    Unsupported {
        text: String,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Code {
    pub(super) name: String,
    pub(super) instructions: Vec<Inst>,
    pub(super) constants: Vec<Lanes>,
    pub(super) fixed: Vec<Fixed>,
    /// Names of the rows and of the predicates.
    pub(super) rows: Vec<String>,
    pub(super) predicates: Vec<String>,
    pub(super) lines: Vec<u32>,
    pub(super) sources: Vec<Option<(String, u32, u32)>>,
    pub(super) params: Vec<(String, u64, u64)>,
    pub(super) param_bytes: u64,
    pub(super) max_threads: Option<[u32; 3]>,
    pub(super) static_shared: u64,
    /// Of each thread.
    pub(super) local_bytes: u64,
    /// Name, start and length of the variables in shared memory.
    pub(super) variables: Vec<(String, u64, Option<u64>)>,
    /// Cells of memory, as a power of two of bytes: no access is smaller, so no two accesses share a part of a cell.
    pub(super) global_granule: u32,
    pub(super) shared_granule: u32,
}

impl Code {
    /// A fault at an instruction, with its places.
    pub(super) fn fault(&self, at: usize, trouble: Trouble) -> Fault {
        let Trouble { kind, message, earlier } = trouble;
        let line = |at: usize| self.lines.get(at).copied();
        let source = self.sources.get(at).cloned().flatten();
        Fault { kind, message, line: line(at), source, earlier: earlier.and_then(|at| line(at as usize)) }
    }
}

pub(super) fn decode(module: &Module, kernel: &Kernel) -> Result<Code, Fault> {
    let (param_offsets, param_bytes) = kernel.param_offsets();
    let (variable_offsets, [static_shared, local_bytes]) = kernel.variable_offsets();
    let mut decoder = Decoder {
        kernel,
        places: place_registers(kernel),
        constants: Vec::new(),
        known_constants: HashMap::new(),
        fixed: Vec::new(),
        targets: label_targets(kernel),
        meets: reconvergence(kernel),
        param_offsets: &param_offsets,
        variable_offsets: &variable_offsets,
        granules: [2, 2],
    };
    let (mut instructions, mut lines, mut sources) = (Vec::new(), Vec::new(), Vec::new());
    for statement in &kernel.body {
        let Statement::Instruction(instruction) = statement else { continue };
        let decoded =
            check_types(kernel, instruction).and_then(|()| decoder.instruction(instructions.len(), instruction));
        let source = instruction.source.map(|at| (file_name(module, at.file), at.line, at.column));
        let inst = decoded.map_err(|message| Fault {
            kind: FaultKind::Launch,
            message,
            line: Some(instruction.line),
            source: source.clone(),
            earlier: None,
        })?;
        instructions.push(inst);
        lines.push(instruction.line);
        sources.push(source);
    }
    // Running past the end is leaving.
    instructions.push(Inst { guard: None, class: Class::Branch, action: Action::Return });
    lines.push(lines.last().copied().unwrap_or(0));
    sources.push(None);
    let named = |predicate: bool| {
        let mut named: Vec<(u32, String)> = Vec::new();
        for (register, place) in kernel.registers.iter().zip(&decoder.places) {
            if let Some(row) = place
                && (register.ty == Type::Pred) == predicate
            {
                named.push((*row, register.name.clone()));
            }
        }
        named.sort_unstable();
        named.into_iter().map(|(_, name)| name).collect()
    };
    let params = kernel.params.iter().zip(&param_offsets);
    let variables = kernel.variables.iter().zip(&variable_offsets);
    Ok(Code {
        name: kernel.name.clone(),
        instructions,
        constants: decoder.constants,
        fixed: decoder.fixed,
        rows: named(false),
        predicates: named(true),
        lines,
        sources,
        params: params.map(|(param, offset)| (param.name.clone(), *offset, param.bytes())).collect(),
        param_bytes,
        max_threads: kernel.max_threads,
        static_shared,
        local_bytes,
        variables: variables
            .filter(|(variable, _)| variable.space == Space::Shared)
            .map(|(variable, offset)| (variable.name.clone(), *offset, variable.bytes))
            .collect(),
        global_granule: decoder.granules[0],
        shared_granule: decoder.granules[1],
    })
}

/// The row of each register that some instruction mentions: predicates are bits of a mask, and counted apart.
fn place_registers(kernel: &Kernel) -> Vec<Option<u32>> {
    let mut places = vec![None; kernel.registers.len()];
    let mut counts = [0; 2];
    for statement in &kernel.body {
        let Statement::Instruction(instruction) = statement else { continue };
        for reg in instruction.reads().into_iter().chain(instruction.writes()) {
            if let (Some(place), Some(register)) = (places.get_mut(reg.index()), kernel.register(reg))
                && place.is_none()
            {
                let count = &mut counts[usize::from(register.ty == Type::Pred)];
                *place = Some(*count);
                *count += 1;
            }
        }
    }
    places
}

struct Decoder<'a> {
    kernel: &'a Kernel,
    places: Vec<Option<u32>>,
    constants: Vec<Lanes>,
    known_constants: HashMap<u64, u32>,
    fixed: Vec<Fixed>,
    targets: Vec<Option<usize>>,
    meets: Vec<Option<usize>>,
    param_offsets: &'a [u64],
    variable_offsets: &'a [u64],
    /// Of global and of shared memory.
    granules: [u32; 2],
}

impl Decoder<'_> {
    fn instruction(&mut self, at: usize, instruction: &Instruction) -> Result<Inst, String> {
        let guard = match instruction.guard {
            Some(guard) => Some(Guard { predicate: self.row(guard.predicate)?, negated: guard.negated }),
            None => None,
        };
        let action = match supports(&instruction.op) {
            Ok(()) => self.action(at, instruction)?,
            Err(_) => {
                let text = crate::print::print_instruction(self.kernel, instruction);
                Action::Unsupported { text: text.trim_end_matches(';').to_owned() }
            }
        };
        Ok(Inst { guard, class: class(&instruction.op), action })
    }

    fn row(&self, reg: Reg) -> Result<u32, String> {
        self.places.get(reg.index()).copied().flatten().ok_or_else(|| "no such register".to_owned())
    }

    fn rows(&self, regs: &[Reg]) -> Result<[u32; 4], String> {
        let mut rows = [0; 4];
        for (row, reg) in rows.iter_mut().zip(regs) {
            *row = self.row(*reg)?;
        }
        Ok(rows)
    }

    fn constant(&mut self, value: u64) -> Source {
        let constants = &mut self.constants;
        let position = self.known_constants.entry(value).or_insert_with(|| {
            constants.push([value; 32]);
            constants.len() as u32 - 1
        });
        Source::Constant(*position)
    }

    fn fixed(&mut self, wanted: Fixed) -> Source {
        let known = self.fixed.iter().position(|fixed| *fixed == wanted);
        let position = known.unwrap_or_else(|| {
            self.fixed.push(wanted);
            self.fixed.len() - 1
        });
        Source::Fixed(position as u32)
    }

    fn source(&mut self, operand: Operand, ty: Type) -> Result<Source, String> {
        Ok(match operand {
            Operand::Reg(reg) => Source::Row(self.row(reg)?),
            Operand::Int(value) => self.constant(mask(value as u64, ty.bits())),
            Operand::F32(bits) => self.constant(u64::from(bits)),
            Operand::F64(bits) if ty.bits() == 32 => self.constant(u64::from((f64::from_bits(bits) as f32).to_bits())),
            Operand::F64(bits) => self.constant(bits),
            Operand::Special(special) => self.fixed(Fixed::Special(special)),
            Operand::Variable(id) => {
                let offset = self.variable_offsets.get(id.index()).copied().ok_or("no such variable")?;
                match self.kernel.variables.get(id.index()).map(|variable| variable.space) {
                    Some(Space::Local) => self.fixed(Fixed::Local(offset)),
                    _ => self.constant(offset),
                }
            }
        })
    }

    fn place(&mut self, space: Space, address: Address, size: u32, count: usize) -> Result<Place, String> {
        let smallest = size.min(4).ilog2();
        if matches!(space, Space::Global | Space::Generic) {
            self.granules[0] = self.granules[0].min(smallest);
        }
        if matches!(space, Space::Shared | Space::Local | Space::Generic) {
            self.granules[1] = self.granules[1].min(smallest);
        }
        let base = match address.base {
            Base::Reg(reg) => Source::Row(self.row(reg)?),
            Base::Variable(id) => self.source(Operand::Variable(id), Type::U64)?,
            Base::Param(_) | Base::Absolute => self.constant(0),
        };
        Ok(Place { space, base, offset: address.offset, size, count: count as u32 })
    }

    /// The width that a signed value of memory must fill, if the destination is wider.
    fn extension(&self, ty: Type, dst: &[Reg]) -> Option<u32> {
        let wide = dst.first().and_then(|reg| self.kernel.register(*reg)).map(|register| register.ty.bits())?;
        (ty.is_signed() && wide > ty.bits()).then_some(wide)
    }

    fn action(&mut self, at: usize, instruction: &Instruction) -> Result<Action, String> {
        Ok(match &instruction.op {
            Op::Load { space: Space::Param, ty, dst, from, .. } => {
                let Base::Param(id) = from.base else { return Err("a parameter is read by its name".to_owned()) };
                let start = self.param_offsets.get(id.index()).copied().unwrap_or(0) as i64 + from.offset;
                let param = self.kernel.params.get(id.index()).ok_or("no such parameter")?;
                let end = from.offset.saturating_add(dst.len() as i64 * i64::from(ty.bytes()));
                if from.offset < 0 || end > param.bytes() as i64 {
                    return Err(format!("the parameter `{}` has only {} bytes", param.name, param.bytes()));
                }
                let (size, count) = (ty.bytes(), dst.len() as u32);
                let extend = self.extension(*ty, dst);
                Action::LoadParam { offset: start as u64, size, count, extend, dst: self.rows(dst)? }
            }
            Op::Load { space, cache, ty, dst, from } => Action::Load {
                place: self.place(*space, *from, ty.bytes(), dst.len())?,
                touch_nc: *cache == Cache::NonCoherent,
                extend: self.extension(*ty, dst),
                dst: self.rows(dst)?,
            },
            Op::Store { space, ty, to, src } => {
                let mut sources = [Source::Constant(0); 4];
                for (source, operand) in sources.iter_mut().zip(src) {
                    *source = self.source(*operand, *ty)?;
                }
                if *space == Space::Param {
                    return Err("a parameter of a kernel cannot be written".to_owned());
                }
                Action::Store { place: self.place(*space, *to, ty.bytes(), src.len())?, src: sources }
            }
            Op::Move { ty: Type::Pred, dst, src } => {
                let src = match src {
                    Operand::Reg(reg) => Ok(self.row(*reg)?),
                    Operand::Int(value) => Err(*value != 0),
                    _ => return Err("an operand is not .pred".to_owned()),
                };
                Action::MovePredicate { dst: self.row(*dst)?, src }
            }
            Op::Move { ty, dst, src } => Action::Move { dst: self.row(*dst)?, src: self.source(*src, *ty)? },
            Op::Unpack { ty, dst, src } => {
                let rows = dst.iter().map(|reg| self.row(*reg)).collect::<Result<_, _>>()?;
                Action::Unpack { bits: ty.bits() / dst.len() as u32, dst: rows, src: self.source(*src, *ty)? }
            }
            Op::Pack { ty, dst, src } => {
                let bits = ty.bits() / src.len() as u32;
                let part = if bits == 16 { Type::B16 } else { Type::B32 };
                let sources = src.iter().map(|operand| self.source(*operand, part)).collect::<Result<_, _>>()?;
                Action::Pack { bits, dst: self.row(*dst)?, src: sources }
            }
            Op::Convert { to, from, float, dst, src } => {
                let bits = self.kernel.register(*dst).map_or(to.bits(), |register| register.ty.bits());
                let (dst, src) = (self.row(*dst)?, self.source(*src, *from)?);
                Action::Convert { to: *to, from: *from, float: *float, bits, dst, src }
            }
            Op::Address { space, to_space, dst, src } => {
                let (dst, src) = (self.row(*dst)?, self.source(*src, Type::U64)?);
                match space {
                    Space::Shared | Space::Local => Action::Window { add: !to_space, dst, src },
                    _ => Action::Move { dst, src },
                }
            }
            Op::Unary { op: UnaryOp::Not, ty: Type::Pred, dst, a: Operand::Reg(a), .. } => {
                Action::NotPredicate { dst: self.row(*dst)?, a: self.row(*a)? }
            }
            Op::Binary { op, ty: Type::Pred, dst, a: Operand::Reg(a), b: Operand::Reg(b), .. } => {
                Action::Logic { op: *op, dst: self.row(*dst)?, a: self.row(*a)?, b: self.row(*b)? }
            }
            Op::Unary { ty: Type::Pred, .. } | Op::Binary { ty: Type::Pred, .. } => {
                return Err("an operand is not a predicate".to_owned());
            }
            Op::Unary { op, ty, float, dst, a } => {
                Action::Unary { op: *op, ty: *ty, float: *float, dst: self.row(*dst)?, a: self.source(*a, *ty)? }
            }
            Op::Binary { op, ty, float, dst, a, b } => {
                let shifts = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
                let (a, b) = (self.source(*a, *ty)?, self.source(*b, if shifts { Type::U32 } else { *ty })?);
                Action::Binary { op: *op, ty: *ty, float: *float, dst: self.row(*dst)?, a, b }
            }
            Op::Ternary { op, ty, float, dst, a, b, c } => {
                let last = if *op == TernaryOp::MadWide { ty.widened().unwrap_or(*ty) } else { *ty };
                let (a, b, c) = (self.source(*a, *ty)?, self.source(*b, *ty)?, self.source(*c, last)?);
                Action::Ternary { op: *op, ty: *ty, float: *float, dst: self.row(*dst)?, a, b, c }
            }
            Op::Compare { compare, ty, ftz, dst, inverse, a, b, combine } => Action::Compare {
                compare: *compare,
                ty: *ty,
                ftz: *ftz,
                dst: self.row(*dst)?,
                inverse: inverse.map(|reg| self.row(reg)).transpose()?,
                a: self.source(*a, *ty)?,
                b: self.source(*b, *ty)?,
                combine: match combine {
                    Some(combine) => Some((combine.op, self.row(combine.predicate)?, combine.negated)),
                    None => None,
                },
            },
            Op::Select { ty, dst, a, b, condition } => {
                let (a, b) = (self.source(*a, *ty)?, self.source(*b, *ty)?);
                Action::Select { dst: self.row(*dst)?, a, b, condition: self.row(*condition)? }
            }
            Op::Branch { target, .. } => {
                let target = self.targets.get(target.index()).copied().flatten().ok_or("no such label")?;
                let meet = self.meets.get(at).copied().flatten().map(|meet| meet as u32);
                Action::Branch { target: target as u32, meet }
            }
            Op::Return => Action::Return,
            Op::Barrier => Action::Barrier,
            Op::WarpBarrier { mask } => Action::WarpBarrier { mask: self.source(*mask, Type::B32)? },
            Op::Fence { .. } => Action::Nothing,
            Op::Shuffle { mode, dst, valid, src, lane, clamp, mask } => Action::Shuffle {
                mode: *mode,
                dst: self.row(*dst)?,
                valid: valid.map(|reg| self.row(reg)).transpose()?,
                src: self.source(*src, Type::B32)?,
                lane: self.source(*lane, Type::B32)?,
                clamp: self.source(*clamp, Type::B32)?,
                mask: self.source(*mask, Type::B32)?,
            },
            Op::Vote { mode, dst, predicate, negated, mask } => {
                let (dst, predicate, negated) = (self.row(*dst)?, self.row(*predicate)?, *negated);
                let mask = self.source(*mask, Type::B32)?;
                match mode {
                    VoteMode::Ballot => Action::Ballot { dst, predicate, negated, mask },
                    mode => Action::Vote { mode: *mode, dst, predicate, negated, mask },
                }
            }
            Op::ActiveMask { dst } => Action::ActiveMask { dst: self.row(*dst)? },
            Op::Atomic { space, op, ty, dst, at, b, c } => Action::Atomic {
                place: self.place(*space, *at, ty.bytes(), 1)?,
                op: *op,
                ty: *ty,
                dst: dst.map(|reg| self.row(reg)).transpose()?,
                b: self.source(*b, *ty)?,
                c: c.map(|operand| self.source(operand, *ty)).transpose()?,
            },
            Op::CopyAsync { bytes, to, from } => Action::CopyAsync {
                to: self.place(Space::Shared, *to, 4, *bytes as usize / 4)?,
                from: self.place(Space::Global, *from, 4, *bytes as usize / 4)?,
            },
            Op::CommitGroup => Action::CommitGroup,
            Op::WaitGroup { pending } => Action::WaitGroup { pending: *pending },
            Op::Unsupported { text } => Action::Unsupported { text: text.clone() },
        })
    }
}

fn class(op: &Op) -> Class {
    match op {
        Op::Load { space, .. } | Op::Store { space, .. } => match space {
            Space::Shared => Class::Shared,
            Space::Param => Class::Move,
            Space::Global | Space::Local | Space::Generic => Class::Global,
        },
        Op::Move { .. } | Op::Unpack { .. } | Op::Pack { .. } | Op::Address { .. } => Class::Move,
        Op::Convert { .. } => Class::Convert,
        Op::Ternary { op: TernaryOp::Fma, .. } => Class::Fma,
        Op::Unary { ty, .. } | Op::Binary { ty, .. } if ty.is_float() => Class::Float,
        Op::Unary { .. } | Op::Binary { .. } | Op::Ternary { .. } | Op::Compare { .. } | Op::Select { .. } => {
            Class::Integer
        }
        Op::Branch { .. } | Op::Return | Op::Unsupported { .. } => Class::Branch,
        Op::Barrier | Op::WarpBarrier { .. } | Op::Fence { .. } => Class::Barrier,
        Op::CommitGroup | Op::WaitGroup { .. } => Class::Barrier,
        Op::Shuffle { .. } | Op::Vote { .. } | Op::ActiveMask { .. } => Class::Warp,
        Op::Atomic { .. } => Class::Atomic,
        Op::CopyAsync { .. } => Class::Global,
    }
}

/// The lowest bits of a value.
pub(super) fn mask(value: u64, bits: u32) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}
