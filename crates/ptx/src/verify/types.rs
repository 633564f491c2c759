//! Do operands fit their instruction, and is the instruction known for its type?

use crate::ir::{
    Address, AtomicOp, Base, BinaryOp, Compare, Instruction, Kernel, Op, Operand, Reg, Rounding, Space, TernaryOp,
    Type, UnaryOp,
};

type Check = Result<(), String>;

/// Every id exists, and every operand has a type that its instruction takes.
pub(crate) fn check_types(kernel: &Kernel, instruction: &Instruction) -> Check {
    let check = Checker { kernel };
    if let Some(guard) = instruction.guard {
        check.register(guard.predicate, Type::Pred)?;
    }
    check.op(&instruction.op)
}

struct Checker<'a> {
    kernel: &'a Kernel,
}

impl Checker<'_> {
    fn op(&self, op: &Op) -> Check {
        match op {
            Op::Load { space, ty, dst, from, .. } => {
                dst.iter().try_for_each(|reg| self.at_least(*reg, *ty))?;
                elements(dst.len(), *ty)?;
                self.address(*space, *from)
            }
            Op::Store { space, ty, to, src } => {
                for operand in src {
                    match operand {
                        Operand::Reg(reg) => self.at_least(*reg, *ty)?,
                        operand => self.operand(*operand, *ty)?,
                    }
                }
                elements(src.len(), *ty)?;
                self.address(*space, *to)
            }
            Op::Move { ty, dst, src } => {
                self.register(*dst, *ty)?;
                self.operand(*src, *ty)
            }
            Op::Unpack { ty, dst, src } => {
                self.operand(*src, *ty)?;
                let part = part(*ty, dst.len())?;
                dst.iter().try_for_each(|reg| self.register(*reg, part))
            }
            Op::Pack { ty, dst, src } => {
                self.register(*dst, *ty)?;
                let part = part(*ty, src.len())?;
                src.iter().try_for_each(|operand| self.operand(*operand, part))
            }
            Op::Convert { to, from, dst, src, .. } => {
                self.at_least(*dst, *to)?;
                match src {
                    Operand::Reg(reg) => self.at_least(*reg, *from),
                    operand => self.operand(*operand, *from),
                }
            }
            Op::Address { dst, src, .. } => {
                self.register(*dst, Type::U64)?;
                self.operand(*src, Type::U64)
            }
            Op::Unary { op, ty, dst, a, .. } => {
                let counted = matches!(op, UnaryOp::Popc | UnaryOp::Clz);
                self.register(*dst, if counted { Type::U32 } else { *ty })?;
                self.operand(*a, *ty)
            }
            Op::Binary { op, ty, dst, a, b, .. } => {
                let wide = *op == BinaryOp::MulWide;
                self.register(*dst, if wide { ty.widened().unwrap_or(*ty) } else { *ty })?;
                self.operand(*a, *ty)?;
                let shifts = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
                self.operand(*b, if shifts { Type::U32 } else { *ty })
            }
            Op::Ternary { op, ty, dst, a, b, c, .. } => {
                let result = if *op == TernaryOp::MadWide { ty.widened().unwrap_or(*ty) } else { *ty };
                self.register(*dst, result)?;
                self.operand(*a, *ty)?;
                if *op == TernaryOp::Bfe {
                    self.operand(*b, Type::U32)?;
                    return self.operand(*c, Type::U32);
                }
                self.operand(*b, *ty)?;
                self.operand(*c, result)
            }
            Op::Compare { ty, dst, inverse, a, b, combine, .. } => {
                let predicates = [Some(*dst), *inverse, combine.map(|combine| combine.predicate)];
                predicates.into_iter().flatten().try_for_each(|reg| self.register(reg, Type::Pred))?;
                self.operand(*a, *ty)?;
                self.operand(*b, *ty)
            }
            Op::Select { ty, dst, a, b, condition } => {
                self.register(*condition, Type::Pred)?;
                self.register(*dst, *ty)?;
                self.operand(*a, *ty)?;
                self.operand(*b, *ty)
            }
            Op::Branch { target, .. } => match self.kernel.labels.get(target.index()) {
                Some(_) => Ok(()),
                None => Err("no such label".to_owned()),
            },
            Op::WarpBarrier { mask } => self.operand(*mask, Type::B32),
            Op::Shuffle { dst, valid, src, lane, clamp, mask, .. } => {
                self.register(*dst, Type::B32)?;
                valid.iter().try_for_each(|reg| self.register(*reg, Type::Pred))?;
                [src, lane, clamp, mask].into_iter().try_for_each(|operand| self.operand(*operand, Type::B32))
            }
            Op::Vote { mode, dst, predicate, mask, .. } => {
                self.register(*dst, if mode.word() == "ballot" { Type::B32 } else { Type::Pred })?;
                self.register(*predicate, Type::Pred)?;
                self.operand(*mask, Type::B32)
            }
            Op::ActiveMask { dst } => self.register(*dst, Type::B32),
            Op::Atomic { space, ty, dst, at, b, c, .. } => {
                dst.iter().try_for_each(|reg| self.register(*reg, *ty))?;
                self.operand(*b, *ty)?;
                c.iter().try_for_each(|operand| self.operand(*operand, *ty))?;
                self.address(*space, *at)
            }
            Op::CopyAsync { to, from, .. } => {
                self.address(Space::Shared, *to)?;
                self.address(Space::Global, *from)
            }
            Op::Return
            | Op::Barrier
            | Op::Fence { .. }
            | Op::CommitGroup
            | Op::WaitGroup { .. }
            | Op::Unsupported { .. } => Ok(()),
        }
    }

    fn type_of(&self, reg: Reg) -> Result<(&str, Type), String> {
        let register = self.kernel.register(reg).ok_or("no such register")?;
        Ok((&register.name, register.ty))
    }

    /// The same width, and not a float where an integer is meant; `.bN` is either.
    fn register(&self, reg: Reg, ty: Type) -> Check {
        let (name, found) = self.type_of(reg)?;
        let compatible =
            found.bits() == ty.bits() && (found.is_float() == ty.is_float() || found.is_bits() || ty.is_bits());
        if compatible { Ok(()) } else { Err(format!("`{name}` is .{}, not .{}", found.word(), ty.word())) }
    }

    /// Loads, stores and conversions take wider registers than their type.
    fn at_least(&self, reg: Reg, ty: Type) -> Check {
        let (name, found) = self.type_of(reg)?;
        let wider = found.bits() > ty.bits() && !ty.is_float() && !found.is_float();
        // `.f16` values live in 16-bit registers of any name.
        if ty == Type::Pred || found == Type::Pred || !(wider || self.register(reg, ty).is_ok()) {
            return Err(format!("`{name}` is .{}, too narrow for .{}", found.word(), ty.word()));
        }
        Ok(())
    }

    fn operand(&self, operand: Operand, ty: Type) -> Check {
        let fits = match operand {
            Operand::Reg(reg) => return self.register(reg, ty),
            Operand::Int(_) => !ty.is_float(),
            Operand::F32(_) => matches!(ty, Type::F32 | Type::B32),
            Operand::F64(_) => matches!(ty, Type::F32 | Type::F64 | Type::B64),
            Operand::Special(_) => !ty.is_float() && ty.bits() == 32,
            Operand::Variable(id) => {
                self.kernel.variables.get(id.index()).ok_or("no such variable")?;
                !ty.is_float() && ty.bits() >= 32
            }
        };
        if fits { Ok(()) } else { Err(format!("an operand is not .{}", ty.word())) }
    }

    fn address(&self, space: Space, address: Address) -> Check {
        match (address.base, space) {
            (Base::Param(id), Space::Param) => {
                self.kernel.params.get(id.index()).map(|_| ()).ok_or("no such parameter".to_owned())
            }
            (_, Space::Param) => Err("a parameter is read by its name".to_owned()),
            (Base::Param(_), _) => Err("a parameter is read by `ld.param`".to_owned()),
            (Base::Variable(id), space) => match self.kernel.variables.get(id.index()) {
                Some(variable) if variable.space == space => Ok(()),
                Some(variable) => Err(format!("the variable is in {} memory", variable.space.word())),
                None => Err("no such variable".to_owned()),
            },
            (Base::Absolute, _) => Ok(()),
            (Base::Reg(reg), space) => {
                let (name, ty) = self.type_of(reg)?;
                let wide = ty.bits() == 64 || (ty.bits() == 32 && matches!(space, Space::Shared | Space::Local));
                if wide && !ty.is_float() { Ok(()) } else { Err(format!("`{name}` is no address")) }
            }
        }
    }
}

fn elements(count: usize, ty: Type) -> Check {
    let bytes = count as u64 * u64::from(ty.bytes());
    match (count, ty) {
        (_, Type::Pred) => Err("a predicate is never in memory".to_owned()),
        (1 | 2 | 4, _) if bytes <= 16 => Ok(()),
        _ => Err(format!("{count} elements of .{} cannot move at once", ty.word())),
    }
}

fn part(ty: Type, count: usize) -> Result<Type, String> {
    match (ty.bits(), count) {
        (32, 2) => Ok(Type::B16),
        (64, 2) => Ok(Type::B32),
        (64, 4) => Ok(Type::B16),
        (32, 4) => Ok(Type::B8),
        (bits, count) => Err(format!("{bits} bits cannot be {count} registers")),
    }
}

/// Whether the instruction exists for its type and modifiers, as far as this crate knows.
pub(crate) fn supports(op: &Op) -> Check {
    use Type::{B16, B32, B64, F16, F32, F64, Pred, S8, S16, S32, S64, U8, U16, U32, U64};
    let integer = |ty: Type| matches!(ty, U16 | U32 | U64 | S16 | S32 | S64);
    let float = |ty: Type| matches!(ty, F32 | F64);
    let bits = |ty: Type| matches!(ty, B16 | B32 | B64);
    let (ty, modifiers, fits) = match op {
        Op::Unary { op, ty, float: modifiers, .. } => {
            let fits = match op {
                UnaryOp::Neg | UnaryOp::Abs => ty.is_signed() && *ty != S8 || float(*ty),
                UnaryOp::Not => bits(*ty) || *ty == Pred,
                UnaryOp::Popc | UnaryOp::Clz | UnaryOp::Brev => matches!(ty, B32 | B64),
                UnaryOp::Sqrt | UnaryOp::Rcp | UnaryOp::Rsqrt => float(*ty),
                UnaryOp::Ex2 | UnaryOp::Lg2 | UnaryOp::Sin | UnaryOp::Cos | UnaryOp::Tanh => *ty == F32,
            };
            (*ty, modifiers, fits)
        }
        Op::Binary { op, ty, float: modifiers, .. } => {
            let fits = match op {
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Div | BinaryOp::Min | BinaryOp::Max => {
                    integer(*ty) || float(*ty)
                }
                BinaryOp::Mul | BinaryOp::CopySign => float(*ty),
                BinaryOp::MulLo | BinaryOp::MulHi | BinaryOp::Rem => integer(*ty),
                BinaryOp::MulWide => ty.widened().is_some(),
                BinaryOp::MinNan | BinaryOp::MaxNan => *ty == F32,
                BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => bits(*ty) || *ty == Pred,
                BinaryOp::Shl => bits(*ty),
                BinaryOp::Shr => bits(*ty) || integer(*ty),
            };
            (*ty, modifiers, fits)
        }
        Op::Ternary { op, ty, float: modifiers, .. } => {
            let fits = match op {
                TernaryOp::MadLo | TernaryOp::MadHi => integer(*ty),
                TernaryOp::MadWide => ty.widened().is_some(),
                TernaryOp::Fma => float(*ty),
                TernaryOp::Bfe => matches!(ty, U32 | U64 | S32 | S64),
                TernaryOp::Prmt | TernaryOp::ShfLeft | TernaryOp::ShfRight => *ty == B32,
            };
            (*ty, modifiers, fits)
        }
        Op::Convert { to, from, float, .. } => return supports_conversion(*to, *from, float),
        Op::Compare { compare, ty, .. } => {
            let fits = match compare {
                Compare::Eq | Compare::Ne => bits(*ty) || integer(*ty) || float(*ty),
                Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge => integer(*ty) || float(*ty),
                Compare::Lo | Compare::Ls | Compare::Hi | Compare::Hs => matches!(ty, U16 | U32 | U64),
                _ => float(*ty),
            };
            return if fits { Ok(()) } else { Err(format!("not known for .{}", ty.word())) };
        }
        Op::Select { ty, .. } => {
            let fits = bits(*ty) || integer(*ty) || float(*ty);
            return if fits { Ok(()) } else { Err(format!("not known for .{}", ty.word())) };
        }
        Op::Move { ty, .. } if matches!(ty, Type::B8 | U8 | S8 | F16) => {
            return Err(format!("not known for .{}", ty.word()));
        }
        Op::Atomic { op, ty, .. } => {
            let fits = match op {
                AtomicOp::Add => matches!(ty, U32 | S32 | U64 | F32 | F64),
                AtomicOp::Min | AtomicOp::Max => matches!(ty, U32 | S32 | U64 | S64),
                AtomicOp::Inc | AtomicOp::Dec => *ty == U32,
                _ => matches!(ty, B32 | B64),
            };
            return if fits { Ok(()) } else { Err(format!("not known for .{}", ty.word())) };
        }
        Op::Unsupported { .. } => return Err("not known".to_owned()),
        _ => return Ok(()),
    };
    if !fits {
        return Err(format!("not known for .{}", ty.word()));
    }
    let approximate = |op: &Op| match op {
        Op::Unary { op, .. } => !matches!(op, UnaryOp::Neg | UnaryOp::Abs),
        Op::Binary { op, .. } => *op == BinaryOp::Div,
        _ => false,
    };
    match modifiers.rounding {
        None => {}
        Some(Rounding::Nearest) if ty.is_float() => {}
        Some(Rounding::Approx | Rounding::Full) if ty == F32 && approximate(op) => {}
        Some(rounding) => return Err(format!("rounding .{} is not supported", rounding.word())),
    }
    if ty != F32 && (modifiers.sat || modifiers.ftz) {
        return Err(format!("modifiers that are not known for .{}", ty.word()));
    }
    Ok(())
}

fn supports_conversion(to: Type, from: Type, float: &crate::ir::Float) -> Check {
    if [to, from].iter().any(|ty| matches!(ty, Type::Pred | Type::F16) || ty.is_bits()) {
        return Err(format!("conversion from .{} to .{} is not known", from.word(), to.word()));
    }
    let fits = match float.rounding {
        None => true,
        Some(Rounding::Nearest) => to.is_float(),
        Some(rounding) => from.is_float() && rounding.word().ends_with('i'),
    };
    if fits { Ok(()) } else { Err("a conversion with this rounding is not supported".to_owned()) }
}
