//! What an opcode and its operands mean.
//!
//! In: `ld.global.v4.f32` and operands as written.  Out: an [`Op`], or that the instruction is not supported, or that
//! its operands are wrong. Words that say nothing about the result (cache hints, scopes) are dropped.

use super::operand::Raw;
use super::scope::{Scopes, param};
use crate::ir::{
    Address, AtomicOp, Base, BinaryOp, Cache, Combine, Compare, Float, Kernel, Label, Op, Operand, Reg, Rounding,
    ShuffleMode, Space, Special, TernaryOp, Type, UnaryOp, VoteMode,
};

#[derive(Debug, PartialEq)]
pub(super) enum Refusal {
    /// It may be PTX, but this crate does not know it.
    Unsupported,
    Wrong(String),
}

impl From<String> for Refusal {
    fn from(message: String) -> Refusal {
        Refusal::Wrong(message)
    }
}

type Read<T> = Result<T, Refusal>;

pub(super) fn read(opcode: &str, operands: &[Raw<'_>], scopes: &mut Scopes, kernel: &mut Kernel) -> Read<Op> {
    let mut words = opcode.split('.').collect::<Vec<_>>().into_iter();
    let head = words.next().unwrap_or_default();
    let mut reader = Reader { opcode, words: words.collect(), operands, scopes, kernel };
    let op = reader.op(head)?;
    // A word that nobody took may change the meaning.
    if reader.words.is_empty() { Ok(op) } else { Err(Refusal::Unsupported) }
}

struct Reader<'a, 'b> {
    opcode: &'a str,
    words: Vec<&'a str>,
    operands: &'a [Raw<'a>],
    scopes: &'b mut Scopes,
    kernel: &'b mut Kernel,
}

/// Hints for caches, and how far other threads may look at an access: nothing that the emulator's result depends on.
const HINTS: [&str; 24] = [
    "weak",
    "relaxed",
    "volatile",
    "cta",
    "gpu",
    "sys",
    "cluster",
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "noftz",
    "L1::evict_normal",
    "L1::evict_first",
    "L1::evict_last",
    "L1::no_allocate",
    "L1::evict_unchanged",
    "L2::64B",
    "L2::128B",
    "L2::256B",
    "aligned",
];

impl<'a> Reader<'a, '_> {
    fn op(&mut self, head: &str) -> Read<Op> {
        if let Some(op) = UnaryOp::from_word(head) {
            let float = self.float();
            let ty = self.ty()?;
            let [dst, a] = self.take_operands()?;
            return Ok(Op::Unary { op, ty, float, dst: self.reg(dst)?, a: self.value(a)? });
        }
        match head {
            "ld" | "st" => self.memory(head),
            "mov" => self.mov(),
            "cvt" => {
                let float = self.float();
                let (to, from) = (self.ty()?, self.ty()?);
                let [dst, src] = self.take_operands()?;
                Ok(Op::Convert { to, from, float, dst: self.reg(dst)?, src: self.value(src)? })
            }
            "cvta" => {
                let to_space = self.take("to");
                let space = self.space()?;
                if !self.take("u64") {
                    return Err(Refusal::Unsupported);
                }
                let [dst, src] = self.take_operands()?;
                Ok(Op::Address { space, to_space, dst: self.reg(dst)?, src: self.value(src)? })
            }
            "mad" | "fma" | "bfe" | "prmt" | "shf" => self.ternary(head),
            "setp" => self.compare(),
            "selp" => {
                let ty = self.ty()?;
                let [dst, a, b, condition] = self.take_operands()?;
                let (dst, condition) = (self.reg(dst)?, self.reg(condition)?);
                Ok(Op::Select { ty, dst, a: self.value(a)?, b: self.value(b)?, condition })
            }
            "bra" => {
                let uniform = self.take("uni");
                let [target] = self.take_operands()?;
                Ok(Op::Branch { target: self.label(target)?, uniform })
            }
            "ret" | "exit" => {
                self.take("uni");
                self.take_operands::<0>()?;
                Ok(Op::Return)
            }
            "bar" | "barrier" => self.barrier(),
            "membar" | "fence" => {
                self.words.clear();
                Ok(Op::Fence { words: self.opcode.to_owned() })
            }
            "shfl" | "vote" | "activemask" => self.warp(head),
            "atom" | "red" => self.atomic(head),
            "cp" => self.copy(),
            _ => self.binary(head),
        }
    }

    // ---- Words ------------------------------------------------------------------------------------------

    fn take(&mut self, word: &str) -> bool {
        let position = self.words.iter().position(|known| *known == word);
        position.map(|position| self.words.remove(position)).is_some()
    }

    /// The first word that `meaning` knows.
    fn take_meaning<T>(&mut self, meaning: impl Fn(&str) -> Option<T>) -> Option<T> {
        let position = self.words.iter().position(|word| !word.is_empty() && meaning(word).is_some())?;
        meaning(self.words.remove(position))
    }

    fn drop_hints(&mut self) {
        self.words.retain(|word| !HINTS.contains(word));
    }

    fn ty(&mut self) -> Read<Type> {
        self.take_meaning(Type::from_word).ok_or(Refusal::Unsupported)
    }

    fn float(&mut self) -> Float {
        Float { rounding: self.take_meaning(Rounding::from_word), ftz: self.take("ftz"), sat: self.take("sat") }
    }

    fn space(&mut self) -> Read<Space> {
        if self.take("const") || self.take("shared::cluster") || self.take("param::func") {
            return Err(Refusal::Unsupported);
        }
        if self.take("shared::cta") {
            return Ok(Space::Shared);
        }
        if self.take("param::entry") {
            return Ok(Space::Param);
        }
        Ok(self.take_meaning(Space::from_word).unwrap_or(Space::Generic))
    }

    // ---- Operands ---------------------------------------------------------------------------------------

    fn take_operands<const N: usize>(&self) -> Read<[&'a Raw<'a>; N]> {
        let operands: Vec<&'a Raw<'a>> = self.operands.iter().collect();
        let count = operands.len();
        operands.try_into().map_err(|_| Refusal::Wrong(format!("`{}` takes {N} operands, not {count}", self.opcode)))
    }

    fn wrong<T>(&self, what: &str) -> Read<T> {
        Err(Refusal::Wrong(format!("`{}`: {what}", self.opcode)))
    }

    fn reg(&mut self, raw: &Raw<'_>) -> Read<Reg> {
        match raw {
            Raw::Name(name) => Ok(self.scopes.register(name)?),
            _ => self.wrong("a register must stand here"),
        }
    }

    fn value(&mut self, raw: &Raw<'_>) -> Read<Operand> {
        match raw {
            Raw::Int(value) => Ok(Operand::Int(*value)),
            Raw::F32(bits) => Ok(Operand::F32(*bits)),
            Raw::F64(bits) => Ok(Operand::F64(*bits)),
            Raw::Name(name) => {
                if let Some(special) = Special::from_word(name) {
                    return Ok(Operand::Special(special));
                }
                if let Some(variable) = self.scopes.variable(name, self.kernel) {
                    return Ok(Operand::Variable(variable));
                }
                if self.scopes.other_space(name).is_some() {
                    return Err(Refusal::Unsupported);
                }
                match self.scopes.register(name) {
                    Ok(reg) => Ok(Operand::Reg(reg)),
                    // Registers of the machine that this crate does not know, such as `%clock64`.
                    Err(_) if name.starts_with('%') && !name.ends_with(|c: char| c.is_ascii_digit()) => {
                        Err(Refusal::Unsupported)
                    }
                    Err(_) if param(name, &self.kernel.params).is_some() => Err(Refusal::Unsupported),
                    Err(message) => Err(Refusal::Wrong(message)),
                }
            }
            _ => self.wrong("a value must stand here"),
        }
    }

    fn address(&mut self, raw: &Raw<'_>) -> Read<Address> {
        let Raw::Address(base, offset) = raw else { return self.wrong("an address in brackets must stand here") };
        let base = match &**base {
            Raw::Int(value) => {
                let offset = value.wrapping_add(*offset);
                return Ok(Address { base: Base::Absolute, offset });
            }
            Raw::Name(name) => match param(name, &self.kernel.params) {
                Some(id) => Base::Param(id),
                None => match self.value(&Raw::Name(name))? {
                    Operand::Reg(reg) => Base::Reg(reg),
                    Operand::Variable(id) => Base::Variable(id),
                    _ => return self.wrong("an address is a register or a variable"),
                },
            },
            _ => return self.wrong("an address is a register or a variable"),
        };
        Ok(Address { base, offset: *offset })
    }

    fn label(&mut self, raw: &Raw<'_>) -> Read<Label> {
        match raw {
            Raw::Name(name) => self.scopes.label(name).ok_or_else(|| Refusal::Wrong(format!("no label `{name}`"))),
            _ => self.wrong("a label must stand here"),
        }
    }

    fn registers(&mut self, raw: &Raw<'_>) -> Read<Vec<Reg>> {
        match raw {
            Raw::Vector(elements) => elements.iter().map(|element| self.reg(element)).collect(),
            one => Ok(vec![self.reg(one)?]),
        }
    }

    fn values(&mut self, raw: &Raw<'_>) -> Read<Vec<Operand>> {
        match raw {
            Raw::Vector(elements) => elements.iter().map(|element| self.value(element)).collect(),
            one => Ok(vec![self.value(one)?]),
        }
    }

    // ---- Kinds of instructions --------------------------------------------------------------------------

    fn memory(&mut self, head: &str) -> Read<Op> {
        self.drop_hints();
        let space = self.space()?;
        let cache = if self.take("nc") { Cache::NonCoherent } else { Cache::Default };
        let elements = if self.take("v2") {
            2
        } else if self.take("v4") {
            4
        } else {
            1
        };
        let ty = self.ty()?;
        let [first, second] = self.take_operands()?;
        let (op, found) = if head == "ld" {
            let dst = self.registers(first)?;
            let found = dst.len();
            (Op::Load { space, cache, ty, dst, from: self.address(second)? }, found)
        } else {
            let src = self.values(second)?;
            let found = src.len();
            (Op::Store { space, ty, to: self.address(first)?, src }, found)
        };
        if found == elements { Ok(op) } else { self.wrong(&format!("{elements} elements are needed, not {found}")) }
    }

    fn mov(&mut self) -> Read<Op> {
        let ty = self.ty()?;
        let [dst, src] = self.take_operands()?;
        match (dst, src) {
            (Raw::Vector(_), _) => Ok(Op::Unpack { ty, dst: self.registers(dst)?, src: self.value(src)? }),
            (_, Raw::Vector(_)) => Ok(Op::Pack { ty, dst: self.reg(dst)?, src: self.values(src)? }),
            _ => Ok(Op::Move { ty, dst: self.reg(dst)?, src: self.value(src)? }),
        }
    }

    fn binary(&mut self, head: &str) -> Read<Op> {
        let mode = self.take_meaning(|word| ["lo", "hi", "wide", "NaN"].into_iter().find(|mode| *mode == word));
        let word = mode.map_or(head.to_owned(), |mode| format!("{head}.{mode}"));
        let op = BinaryOp::from_word(&word).ok_or(Refusal::Unsupported)?;
        let float = self.float();
        let ty = self.ty()?;
        let [dst, a, b] = self.take_operands()?;
        Ok(Op::Binary { op, ty, float, dst: self.reg(dst)?, a: self.value(a)?, b: self.value(b)? })
    }

    fn ternary(&mut self, head: &str) -> Read<Op> {
        let mode = self.take_meaning(|word| ["lo", "hi", "wide"].into_iter().find(|mode| *mode == word));
        let word = match (head, mode) {
            ("shf", _) if self.take("wrap") => format!("shf.{}.wrap", if self.take("l") { "l" } else { "r" }),
            (_, Some(mode)) => format!("{head}.{mode}"),
            // `mad` of floats is `fma`.
            ("mad", None) => "fma".to_owned(),
            (_, None) => head.to_owned(),
        };
        self.take("r");
        let op = TernaryOp::from_word(&word).ok_or(Refusal::Unsupported)?;
        let float = self.float();
        let ty = self.ty()?;
        let [dst, a, b, c] = self.take_operands()?;
        let (dst, a, b, c) = (self.reg(dst)?, self.value(a)?, self.value(b)?, self.value(c)?);
        Ok(Op::Ternary { op, ty, float, dst, a, b, c })
    }

    fn compare(&mut self) -> Read<Op> {
        let compare = self.take_meaning(Compare::from_word).ok_or(Refusal::Unsupported)?;
        let joined = self.take_meaning(|word| {
            let op = BinaryOp::from_word(word)?;
            matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor).then_some(op)
        });
        let ftz = self.take("ftz");
        let ty = self.ty()?;
        let (dst, a, b, combine) = match (joined, self.operands) {
            (None, [dst, a, b]) => (dst, a, b, None),
            (Some(op), [dst, a, b, last]) => {
                let (name, negated) = match last {
                    Raw::Name(name) => (name, false),
                    Raw::Negated(name) => (name, true),
                    _ => return self.wrong("a predicate must stand last"),
                };
                (dst, a, b, Some(Combine { op, predicate: self.scopes.register(name)?, negated }))
            }
            _ => return self.wrong("wrong number of operands"),
        };
        let (dst, inverse) = match dst {
            Raw::Pair(dst, inverse) => (self.scopes.register(dst)?, Some(self.scopes.register(inverse)?)),
            one => (self.reg(one)?, None),
        };
        Ok(Op::Compare { compare, ty, ftz, dst, inverse, a: self.value(a)?, b: self.value(b)?, combine })
    }

    fn barrier(&mut self) -> Read<Op> {
        self.take("aligned");
        let warp = self.take("warp");
        self.take("cta");
        if !self.take("sync") {
            return Err(Refusal::Unsupported);
        }
        let [which] = match self.take_operands() {
            Ok(operands) => operands,
            Err(_) => return Err(Refusal::Unsupported),
        };
        match (warp, self.value(which)?) {
            (true, mask) => Ok(Op::WarpBarrier { mask }),
            (false, Operand::Int(0)) => Ok(Op::Barrier),
            _ => Err(Refusal::Unsupported),
        }
    }

    fn warp(&mut self, head: &str) -> Read<Op> {
        if head == "activemask" {
            self.take("b32");
            let [dst] = self.take_operands()?;
            return Ok(Op::ActiveMask { dst: self.reg(dst)? });
        }
        if !self.take("sync") {
            return Err(Refusal::Unsupported);
        }
        if head == "vote" {
            let mode = self.take_meaning(VoteMode::from_word).ok_or(Refusal::Unsupported)?;
            self.ty()?;
            let [dst, predicate, mask] = self.take_operands()?;
            let (predicate, negated) = match predicate {
                Raw::Negated(name) => (self.scopes.register(name)?, true),
                one => (self.reg(one)?, false),
            };
            return Ok(Op::Vote { mode, dst: self.reg(dst)?, predicate, negated, mask: self.value(mask)? });
        }
        let mode = self.take_meaning(ShuffleMode::from_word).ok_or(Refusal::Unsupported)?;
        self.take("b32");
        let [dst, src, lane, clamp, mask] = self.take_operands()?;
        let (dst, valid) = match dst {
            Raw::Pair(dst, valid) => (self.scopes.register(dst)?, Some(self.scopes.register(valid)?)),
            one => (self.reg(one)?, None),
        };
        let (src, lane) = (self.value(src)?, self.value(lane)?);
        Ok(Op::Shuffle { mode, dst, valid, src, lane, clamp: self.value(clamp)?, mask: self.value(mask)? })
    }

    fn atomic(&mut self, head: &str) -> Read<Op> {
        self.drop_hints();
        for order in ["acquire", "release", "acq_rel"] {
            self.take(order);
        }
        let space = self.space()?;
        let op = self.take_meaning(AtomicOp::from_word).ok_or(Refusal::Unsupported)?;
        let ty = self.ty()?;
        let (dst, rest) = match (head, self.operands) {
            ("red", rest) => (None, rest),
            (_, [dst, rest @ ..]) => (Some(self.reg(dst)?), rest),
            _ => return self.wrong("wrong number of operands"),
        };
        let (at, b, c) = match (op, rest) {
            (AtomicOp::CompareSwap, [at, b, c]) => (at, b, Some(self.value(c)?)),
            (AtomicOp::CompareSwap, _) => return self.wrong("wrong number of operands"),
            (_, [at, b]) => (at, b, None),
            _ => return self.wrong("wrong number of operands"),
        };
        Ok(Op::Atomic { space, op, ty, dst, at: self.address(at)?, b: self.value(b)?, c })
    }

    fn copy(&mut self) -> Read<Op> {
        if !self.take("async") {
            return Err(Refusal::Unsupported);
        }
        if self.take("commit_group") {
            self.take_operands::<0>()?;
            return Ok(Op::CommitGroup);
        }
        if self.take("wait_group") {
            let [pending] = self.take_operands()?;
            return match pending {
                Raw::Int(pending @ 0..=1024) => Ok(Op::WaitGroup { pending: *pending as u32 }),
                _ => self.wrong("a small number must stand here"),
            };
        }
        self.drop_hints();
        let shared = self.take("shared") || self.take("shared::cta");
        let [to, from, bytes] = match self.take_operands() {
            Ok(operands) if shared && self.take("global") => operands,
            _ => return Err(Refusal::Unsupported),
        };
        match bytes {
            Raw::Int(bytes @ (4 | 8 | 16)) => {
                Ok(Op::CopyAsync { bytes: *bytes as u32, to: self.address(to)?, from: self.address(from)? })
            }
            _ => self.wrong("4, 8 or 16 bytes are copied"),
        }
    }
}
