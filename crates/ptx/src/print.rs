//! Modules as text that NVIDIA's assembler and `parse` read.
//!
//! In: a [`Module`].  Out: PTX. Registers are declared by type as `%f<9>` where their names allow it.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use crate::ir::{
    Address, Base, Cache, Float, Instruction, Kernel, Module, Op, Operand, Reg, SourcePlace, Space, Statement, Type,
};

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.target.version;
        writeln!(f, ".version {major}.{minor}\n.target sm_{}\n.address_size 64", self.target.sm)?;
        if !self.files.is_empty() {
            writeln!(f)?;
        }
        for (number, name) in &self.files {
            writeln!(f, ".file {number} \"{name}\"")?;
        }
        let dynamic = self.kernels.iter().flat_map(|kernel| &kernel.variables).filter(|v| v.bytes.is_none());
        let dynamic: BTreeMap<_, _> = dynamic.map(|variable| (&variable.name, variable.align)).collect();
        for (name, align) in dynamic {
            writeln!(f, "\n.extern .shared .align {align} .b8 {name}[];")?;
        }
        for kernel in &self.kernels {
            writeln!(f)?;
            print_kernel(kernel, f)?;
        }
        Ok(())
    }
}

fn print_kernel(kernel: &Kernel, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, ".visible .entry {}(", kernel.name)?;
    for (position, param) in kernel.params.iter().enumerate() {
        f.write_str(if position == 0 { "\n" } else { ",\n" })?;
        let natural = param.ty.bytes();
        let align = if param.align == natural { String::new() } else { format!(" .align {}", param.align) };
        write!(f, "    .param{align} .{} {}", param.ty.word(), param.name)?;
        if param.count != 1 {
            write!(f, "[{}]", param.count)?;
        }
    }
    f.write_str(if kernel.params.is_empty() { ")\n" } else { "\n)\n" })?;
    if let Some([x, y, z]) = kernel.max_threads {
        writeln!(f, ".maxntid {x}, {y}, {z}")?;
    }
    if let Some(blocks) = kernel.min_blocks {
        writeln!(f, ".minnctapersm {blocks}")?;
    }
    writeln!(f, "{{")?;
    print_registers(kernel, f)?;
    for variable in &kernel.variables {
        if let Some(bytes) = variable.bytes {
            let (space, align, name) = (variable.space.word(), variable.align, &variable.name);
            writeln!(f, "    .{space} .align {align} .b8 {name}[{bytes}];")?;
        }
    }
    writeln!(f)?;
    let printer = Printer { kernel };
    let mut place = None;
    for statement in &kernel.body {
        match statement {
            Statement::Label(label) => writeln!(f, "{}:", printer.label(*label))?,
            Statement::Instruction(instruction) => {
                if let Some(SourcePlace { file, line, column }) = instruction.source
                    && place != instruction.source
                {
                    writeln!(f, "    .loc {file} {line} {column}")?;
                    place = instruction.source;
                }
                writeln!(f, "    {}", printer.instruction(instruction))?;
            }
        }
    }
    writeln!(f, "}}")
}

/// `.reg .f32 %f<3>;` for `%f0 %f1 %f2`; names that are no such row are declared one by one.
fn print_registers(kernel: &Kernel, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut rows: BTreeMap<(Type, &str), Vec<u32>> = BTreeMap::new();
    let mut alone = Vec::new();
    for register in &kernel.registers {
        let stem = register.name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = &register.name[stem.len()..];
        match number.parse::<u32>() {
            Ok(value) if value.to_string() == number => rows.entry((register.ty, stem)).or_default().push(value),
            _ => alone.push((register.ty, register.name.clone())),
        }
    }
    for ((ty, stem), mut numbers) in rows {
        numbers.sort_unstable();
        if numbers.iter().copied().eq(0..numbers.len() as u32) {
            writeln!(f, "    .reg .{} {stem}<{}>;", ty.word(), numbers.len())?;
        } else {
            alone.extend(numbers.iter().map(|number| (ty, format!("{stem}{number}"))));
        }
    }
    for (ty, name) in alone {
        writeln!(f, "    .reg .{} {name};", ty.word())?;
    }
    Ok(())
}

/// One instruction as text, with the names of its kernel.
pub(crate) fn print_instruction(kernel: &Kernel, instruction: &Instruction) -> String {
    Printer { kernel }.instruction(instruction)
}

struct Printer<'a> {
    kernel: &'a Kernel,
}

impl Printer<'_> {
    fn instruction(&self, instruction: &Instruction) -> String {
        let guard = instruction.guard.map_or(String::new(), |guard| {
            format!("@{}{} ", if guard.negated { "!" } else { "" }, self.reg(guard.predicate))
        });
        format!("{guard}{};", self.op(&instruction.op))
    }

    fn op(&self, op: &Op) -> String {
        match op {
            Op::Load { space, cache, ty, dst, from } => {
                let cache = if *cache == Cache::Default { String::new() } else { format!(".{}", cache.word()) };
                let dst = self.row(&dst.iter().map(|reg| self.reg(*reg)).collect::<Vec<_>>());
                format!("ld{}{cache}{}.{} {}, {}", word(*space), dst.0, ty.word(), dst.1, self.address(*from))
            }
            Op::Store { space, ty, to, src } => {
                let src = self.row(&src.iter().map(|operand| self.operand(*operand)).collect::<Vec<_>>());
                format!("st{}{}.{} {}, {}", word(*space), src.0, ty.word(), self.address(*to), src.1)
            }
            Op::Move { ty, dst, src } => format!("mov.{} {}, {}", ty.word(), self.reg(*dst), self.operand(*src)),
            Op::Unpack { ty, dst, src } => {
                let dst: Vec<_> = dst.iter().map(|reg| self.reg(*reg)).collect();
                format!("mov.{} {{{}}}, {}", ty.word(), dst.join(", "), self.operand(*src))
            }
            Op::Pack { ty, dst, src } => {
                let src: Vec<_> = src.iter().map(|operand| self.operand(*operand)).collect();
                format!("mov.{} {}, {{{}}}", ty.word(), self.reg(*dst), src.join(", "))
            }
            Op::Convert { to, from, float, dst, src } => {
                let types = format!("{}.{}", to.word(), from.word());
                format!("cvt{}.{types} {}, {}", modifiers(*float), self.reg(*dst), self.operand(*src))
            }
            Op::Address { space, to_space, dst, src } => {
                let to = if *to_space { ".to" } else { "" };
                format!("cvta{to}{}.u64 {}, {}", word(*space), self.reg(*dst), self.operand(*src))
            }
            Op::Unary { op, ty, float, dst, a } => self.arithmetic(op.word(), *float, *ty, *dst, &[*a]),
            Op::Binary { op, ty, float, dst, a, b } => {
                // The word that says how NaN is treated stands after `ftz`.
                match op.word().strip_suffix(".NaN") {
                    Some(stem) => {
                        let stem = format!("{stem}{}.NaN", if float.ftz { ".ftz" } else { "" });
                        self.arithmetic(&stem, Float { ftz: false, ..*float }, *ty, *dst, &[*a, *b])
                    }
                    None => self.arithmetic(op.word(), *float, *ty, *dst, &[*a, *b]),
                }
            }
            Op::Ternary { op, ty, float, dst, a, b, c } => self.arithmetic(op.word(), *float, *ty, *dst, &[*a, *b, *c]),
            Op::Compare { compare, ty, ftz, dst, inverse, a, b, combine } => {
                let mut text = format!("setp.{}", compare.word());
                let mut last = String::new();
                if let Some(combine) = combine {
                    let _ = write!(text, ".{}", combine.op.word());
                    let not = if combine.negated { "!" } else { "" };
                    last = format!(", {not}{}", self.reg(combine.predicate));
                }
                let ftz = if *ftz { ".ftz" } else { "" };
                let both = inverse.map_or(String::new(), |inverse| format!("|{}", self.reg(inverse)));
                let (dst, a, b) = (self.reg(*dst), self.operand(*a), self.operand(*b));
                format!("{text}{ftz}.{} {dst}{both}, {a}, {b}{last}", ty.word())
            }
            Op::Select { ty, dst, a, b, condition } => {
                let (dst, a, b) = (self.reg(*dst), self.operand(*a), self.operand(*b));
                format!("selp.{} {dst}, {a}, {b}, {}", ty.word(), self.reg(*condition))
            }
            Op::Branch { target, uniform } => {
                format!("bra{} {}", if *uniform { ".uni" } else { "" }, self.label(*target))
            }
            Op::Return => "ret".to_owned(),
            Op::Barrier => "bar.sync 0".to_owned(),
            Op::WarpBarrier { mask } => format!("bar.warp.sync {}", self.operand(*mask)),
            Op::Fence { words } => words.clone(),
            Op::Shuffle { mode, dst, valid, src, lane, clamp, mask } => {
                let valid = valid.map_or(String::new(), |valid| format!("|{}", self.reg(valid)));
                let operands = [src, lane, clamp, mask].map(|operand| self.operand(*operand)).join(", ");
                format!("shfl.sync.{}.b32 {}{valid}, {operands}", mode.word(), self.reg(*dst))
            }
            Op::Vote { mode, dst, predicate, negated, mask } => {
                let ty = if mode.word() == "ballot" { "b32" } else { "pred" };
                let not = if *negated { "!" } else { "" };
                let (dst, predicate) = (self.reg(*dst), self.reg(*predicate));
                format!("vote.sync.{}.{ty} {dst}, {not}{predicate}, {}", mode.word(), self.operand(*mask))
            }
            Op::ActiveMask { dst } => format!("activemask.b32 {}", self.reg(*dst)),
            Op::Atomic { space, op, ty, dst, at, b, c } => {
                let (name, dst) = dst.map_or(("red", String::new()), |dst| ("atom", format!("{}, ", self.reg(dst))));
                let c = c.map_or(String::new(), |c| format!(", {}", self.operand(c)));
                let (at, b) = (self.address(*at), self.operand(*b));
                format!("{name}{}.{}.{} {dst}{at}, {b}{c}", word(*space), op.word(), ty.word())
            }
            Op::CopyAsync { bytes, to, from } => {
                let cache = if *bytes == 16 { "cg" } else { "ca" };
                format!("cp.async.{cache}.shared.global {}, {}, {bytes}", self.address(*to), self.address(*from))
            }
            Op::CommitGroup => "cp.async.commit_group".to_owned(),
            Op::WaitGroup { pending } => format!("cp.async.wait_group {pending}"),
            Op::Unsupported { text } => text.clone(),
        }
    }

    fn arithmetic(&self, name: &str, float: Float, ty: Type, dst: Reg, operands: &[Operand]) -> String {
        let operands: Vec<_> = operands.iter().map(|operand| self.operand(*operand)).collect();
        format!("{name}{}.{} {}, {}", modifiers(float), ty.word(), self.reg(dst), operands.join(", "))
    }

    /// The word for the number of elements, and the elements.
    fn row(&self, elements: &[String]) -> (String, String) {
        match elements {
            [one] => (String::new(), one.clone()),
            many => (format!(".v{}", many.len()), format!("{{{}}}", many.join(", "))),
        }
    }

    fn reg(&self, reg: Reg) -> String {
        self.kernel.register(reg).map_or_else(|| format!("%undeclared{}", reg.0), |register| register.name.clone())
    }

    fn label(&self, label: crate::ir::Label) -> String {
        self.kernel.labels.get(label.index()).cloned().unwrap_or_else(|| format!("$undeclared{}", label.0))
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Reg(reg) => self.reg(reg),
            Operand::Int(value) => value.to_string(),
            Operand::F32(bits) => format!("0f{bits:08X}"),
            Operand::F64(bits) => format!("0d{bits:016X}"),
            Operand::Special(special) => special.word().to_owned(),
            Operand::Variable(id) => {
                self.kernel.variables.get(id.index()).map_or_else(|| "undeclared".to_owned(), |v| v.name.clone())
            }
        }
    }

    fn address(&self, address: Address) -> String {
        let base = match address.base {
            Base::Reg(reg) => self.reg(reg),
            Base::Param(id) => {
                self.kernel.params.get(id.index()).map_or_else(|| "undeclared".to_owned(), |p| p.name.clone())
            }
            Base::Variable(id) => self.operand(Operand::Variable(id)),
            Base::Absolute => return format!("[{}]", address.offset),
        };
        match address.offset {
            0 => format!("[{base}]"),
            offset => format!("[{base}+{offset}]"),
        }
    }
}

fn word(space: Space) -> String {
    if space == Space::Generic { String::new() } else { format!(".{}", space.word()) }
}

fn modifiers(float: Float) -> String {
    let mut text = float.rounding.map_or(String::new(), |rounding| format!(".{}", rounding.word()));
    text.push_str(if float.ftz { ".ftz" } else { "" });
    text.push_str(if float.sat { ".sat" } else { "" });
    text
}
