//! Bytes of a function: prologue, items, epilogue, constants.
//!
//! In: items and their registers.  Out: position-independent code that follows the System V convention.

use std::collections::HashMap;
use std::time::Duration;

use diag::deadline;
use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, Decoder, DecoderOptions, Formatter, Instruction, InstructionBlock,
    IntelFormatter, MemoryOperand, OpKind, Register,
};

use super::allocate::{Allocation, GENERAL};
use super::family;
use super::machine::{Base, Class, Inst, Item, Label, Mem, Operand, Stream, VReg, View};
use crate::compile::STAGE;

/// Registers from here on belong to the caller.
const FIRST_SAVED: usize = 8;

/// Where constants are taken to be while the length of the code is not known.
const FAR: i64 = 1 << 20;

/// What encoding takes for an item, on a slow machine. iced cannot be stopped once it has begun.
const PER_ITEM: Duration = Duration::from_nanos(500);

pub(super) fn encode(stream: &Stream, allocation: &Allocation, wide512: bool) -> diag::Result<Vec<u8>> {
    let items = u32::try_from(stream.items.len()).unwrap_or(u32::MAX);
    deadline::check_ahead(STAGE, PER_ITEM.saturating_mul(items))?;
    let bug = |what: String| diag::Error::bug("lanes", what);
    let Encoded { mut code, distances } = Encoder::new(stream, allocation, wide512).encode().map_err(bug)?;
    if stream.pool.is_empty() {
        return Ok(code);
    }
    // Distances from the instruction pointer always take 4 bytes, so they can be corrected in their places.
    let pool = code.len().next_multiple_of(64);
    for place in distances {
        let field = code.get_mut(place..).and_then(<[u8]>::first_chunk_mut::<4>);
        let field = field.ok_or_else(|| bug("a distance outside of the code".into()))?;
        let distance = i64::from(i32::from_le_bytes(*field)) - FAR + pool as i64;
        *field = i32::try_from(distance).map_err(|_| bug("constants too far away".into()))?.to_le_bytes();
    }
    // A trap, should the code ever run on into its constants.
    code.resize(pool, 0xcc);
    code.extend_from_slice(&stream.pool);
    Ok(code)
}

/// The bytes of a function, and where in them the distances to its constants stand.
struct Encoded {
    code: Vec<u8>,
    distances: Vec<usize>,
}

struct Encoder<'a> {
    stream: &'a Stream,
    allocation: &'a Allocation,
    wide512: bool,
    saved: Vec<Register>,
    instructions: Vec<Instruction>,
    /// Labels at the next instruction.
    pending: Vec<Label>,
    /// Several labels of one instruction are one target.
    targets: HashMap<Label, u64>,
}

/// The label of the end; those of the stream count from 1.
const END: Label = Label(0);

impl<'a> Encoder<'a> {
    fn new(stream: &'a Stream, allocation: &'a Allocation, wide512: bool) -> Encoder<'a> {
        let used = |position: usize| {
            let general = stream.classes.iter().zip(&allocation.registers);
            general.filter(|(class, _)| **class == Class::General).any(|(_, reg)| usize::from(*reg) == position)
        };
        let saved = (FIRST_SAVED..GENERAL.len()).filter(|position| used(*position));
        let saved = saved.map(|position| GENERAL[position]).collect();
        let mut encoder = Encoder {
            stream,
            allocation,
            wide512,
            saved,
            instructions: Vec::new(),
            pending: Vec::new(),
            targets: HashMap::new(),
        };
        encoder.find_targets();
        encoder
    }

    /// Gives labels at one place one target.
    fn find_targets(&mut self) {
        let mut here = None;
        for item in &self.stream.items {
            match item {
                Item::Label(label) => {
                    let target = *here.get_or_insert(u64::from(label.0) + 1);
                    self.targets.insert(*label, target);
                }
                Item::LoopStart | Item::LoopEnd => {}
                // A copy may come to nothing, and then labels around it would meet; so it always counts as nothing.
                Item::Copy { to, from } if self.register(*to) == self.register(*from) => {}
                _ => here = None,
            }
        }
        let target = here.unwrap_or(u64::from(END.0) + 1);
        self.targets.insert(END, target);
    }

    fn register(&self, reg: VReg) -> (Class, u8) {
        (self.stream.classes[reg.index()], self.allocation.registers[reg.index()])
    }

    fn encode(mut self) -> Result<Encoded, String> {
        let frame = 64 * i32::try_from(self.stream.frame).map_err(|_| "the frame is too large")?;
        for register in self.saved.clone() {
            self.push(Instruction::with1(Code::Push_r64, register));
        }
        if frame > 0 {
            self.push(Instruction::with2(Code::Sub_rm64_imm32, Register::RSP, frame));
        }
        let stream = self.stream;
        for (position, item) in stream.items.iter().enumerate() {
            self.item(item, position + 1 == stream.items.len())?;
        }
        self.pending.push(END);
        self.push(Ok(Instruction::with(Code::VEX_Vzeroupper)));
        if frame > 0 {
            self.push(Instruction::with2(Code::Add_rm64_imm32, Register::RSP, frame));
        }
        for register in self.saved.clone().into_iter().rev() {
            self.push(Instruction::with1(Code::Pop_r64, register));
        }
        self.push(Ok(Instruction::with(Code::Retnq)));
        let block = InstructionBlock::new(&self.instructions, 0);
        let told = BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS | BlockEncoderOptions::RETURN_CONSTANT_OFFSETS;
        let encoded = BlockEncoder::encode(64, block, told).map_err(|error| error.to_string())?;
        let places = encoded.new_instruction_offsets.iter().zip(&encoded.constant_offsets);
        let of_constants = self.instructions.iter().zip(places).filter(|(one, _)| one.is_ip_rel_memory_operand());
        let distances = of_constants.map(|(_, (start, fields))| match fields.displacement_size() {
            4 => Ok(*start as usize + fields.displacement_offset()),
            _ => Err("a distance that is not of 4 bytes".to_owned()),
        });
        let distances = distances.collect::<Result<_, _>>()?;
        Ok(Encoded { code: encoded.code_buffer, distances })
    }

    fn push(&mut self, instruction: Result<Instruction, iced_x86::IcedError>) {
        let mut instruction = instruction.unwrap_or_default();
        if let Some(label) = self.pending.first() {
            instruction.set_ip(self.targets[label]);
            self.pending.clear();
        }
        self.instructions.push(instruction);
    }

    fn item(&mut self, item: &Item, last: bool) -> Result<(), String> {
        match item {
            Item::Inst(inst) => {
                let instruction = self.inst(inst)?;
                self.push(Ok(instruction));
            }
            Item::Copy { to, from } => {
                if self.register(*to) != self.register(*from) {
                    let instruction = self.copy(*to, *from)?;
                    self.push(Ok(instruction));
                }
            }
            Item::Label(label) => self.pending.push(*label),
            Item::Jump(code, label) => {
                let target = self.targets[label];
                self.push(Instruction::with_branch(*code, target));
            }
            Item::Return(status) => {
                self.push(Instruction::with2(Code::Mov_r32_imm32, Register::EAX, *status));
                // The last one runs on into the end.
                if !last {
                    let target = self.targets[&END];
                    self.push(Instruction::with_branch(Code::Jmp_rel32_64, target));
                }
            }
            Item::LoopStart | Item::LoopEnd => {}
        }
        Ok(())
    }

    fn copy(&self, to: VReg, from: VReg) -> Result<Instruction, String> {
        let (code, view) = match self.register(to).0 {
            Class::General => (Code::Mov_r64_rm64, View::Q),
            Class::Mask => (Code::VEX_Kmovq_kr_km64, View::K),
            Class::Vector => {
                let view = if self.wide512 { View::Z } else { View::Y };
                (family::LOAD.code(self.wide512, view).unwrap_or_default(), view)
            }
        };
        let instruction = Instruction::with2(code, self.physical(to, view), self.physical(from, view));
        instruction.map_err(|error| error.to_string())
    }

    fn physical(&self, reg: VReg, view: View) -> Register {
        let number = u32::from(self.allocation.registers[reg.index()]);
        match view {
            View::X => Register::XMM0 + number,
            View::Y => Register::YMM0 + number,
            View::Z => Register::ZMM0 + number,
            View::K => Register::K1 + number,
            View::Q => GENERAL[number as usize],
            View::D => Register::EAX + (GENERAL[number as usize] as u32 - Register::RAX as u32),
        }
    }

    fn memory(&self, mem: &Mem) -> MemoryOperand {
        let (base, offset) = match mem.base {
            Base::Reg(base) => (self.physical(base, View::Q), i64::from(mem.offset)),
            Base::Arguments => (Register::RDI, i64::from(mem.offset)),
            Base::Frame => (Register::RSP, i64::from(mem.offset)),
            // iced takes the address itself and computes the distance.
            Base::Pool => (Register::RIP, FAR + i64::from(mem.offset)),
        };
        let (index, scale) =
            mem.index.map_or((Register::None, 1), |(index, scale)| (self.physical(index, View::Q), u32::from(scale)));
        let size = if mem.base == Base::Pool {
            8
        } else if offset == 0 {
            0
        } else {
            1
        };
        MemoryOperand::new(base, index, scale, offset, size, mem.broadcast, Register::None)
    }

    fn inst(&self, inst: &Inst) -> Result<Instruction, String> {
        let mut instruction = Instruction::new();
        instruction.set_code(inst.code);
        for (position, operand) in inst.operands.iter().enumerate() {
            let position = position as u32;
            match operand {
                Operand::Reg(reg, view) => {
                    instruction.set_op_kind(position, OpKind::Register);
                    instruction.set_op_register(position, self.physical(*reg, *view));
                }
                Operand::Mem(mem) => {
                    let memory = self.memory(mem);
                    instruction.set_op_kind(position, OpKind::Memory);
                    instruction.set_memory_base(memory.base);
                    instruction.set_memory_index(memory.index);
                    instruction.set_memory_index_scale(memory.scale);
                    instruction.set_memory_displ_size(memory.displ_size);
                    instruction.set_memory_displacement64(memory.displacement.cast_unsigned());
                    instruction.set_is_broadcast(memory.is_broadcast);
                }
                Operand::Imm(value) => {
                    let kind = immediate_kind(inst.code);
                    instruction.set_op_kind(position, kind);
                    match kind {
                        OpKind::Immediate8 => instruction.set_immediate8(*value as u8),
                        OpKind::Immediate8to64 => instruction.set_immediate8to64(*value),
                        OpKind::Immediate64 => instruction.set_immediate64(value.cast_unsigned()),
                        OpKind::Immediate32 => instruction.set_immediate32(*value as u32),
                        _ => instruction.set_immediate32to64(*value),
                    }
                }
            }
        }
        if let Some(mask) = inst.mask {
            instruction.set_op_mask(self.physical(mask, View::K));
            instruction.set_zeroing_masking(inst.zeroing);
        }
        Ok(instruction)
    }
}

/// How the few general instructions that selection makes write their constants; all others have 8 bits.
fn immediate_kind(code: Code) -> OpKind {
    match code {
        Code::Mov_r64_imm64 => OpKind::Immediate64,
        Code::Mov_r32_imm32 => OpKind::Immediate32,
        Code::Mov_rm64_imm32 | Code::Add_rm64_imm32 | Code::And_rm64_imm32 | Code::Cmp_rm64_imm32 => {
            OpKind::Immediate32to64
        }
        Code::Imul_r64_rm64_imm32 => OpKind::Immediate32to64,
        Code::Add_rm64_imm8 => OpKind::Immediate8to64,
        _ => OpKind::Immediate8,
    }
}

/// The code as text, without its constants.
pub(crate) fn disassemble(code: &[u8]) -> String {
    let mut formatter = IntelFormatter::new();
    let mut text = String::new();
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let mut line = String::new();
    while decoder.can_decode() {
        let instruction = decoder.decode();
        line.clear();
        formatter.format(&instruction, &mut line);
        text.push_str(&format!("{:6x}: {line}\n", instruction.ip()));
        if instruction.code() == Code::Retnq {
            break;
        }
    }
    text
}
