//! Running a program on the emulator: the host's part, with arrays as the interpreter has them.
//!
//! In: a [`Program`] and its arguments.  Out: the arrays afterwards and what it cost.
//! Not here: the interpretation of arguments by name, which is the façade's.

use std::collections::HashMap;

use loops::{ArrayId, Cond, Index};
use program::{Data, Role, ScalarType, Value};

use crate::emit::{Axis, HostStep, LaunchPlan, Program};
use crate::emulate::{Argument, BufferId, Counts, Emulator, Fault, Launch, Memory, Options};

/// Buffers longer than this are refused: the emulator keeps records of every cell.
const MAX_BYTES: i64 = 1 << 32;

/// Why a program could not be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// Arguments that do not fit the program.
    #[error("{0}")]
    Arguments(String),
    #[error("{kernel}: {fault}")]
    Fault { kernel: String, fault: Fault },
    /// We are at fault.
    #[error("internal error: {0}")]
    Bug(String),
}

impl Program {
    /// Runs the program on the emulator. One entry for every array, in the order of their declaration; those of local
    /// arrays, and of outputs that start as zeros, may be left out.
    pub fn emulate(
        &self,
        params: &[i64],
        scalars: &[Value],
        arrays: &mut [Option<Data>],
        options: &Options,
    ) -> Result<Counts, RunError> {
        let emulator = Emulator::load(&self.module.text()).map_err(|error| RunError::Bug(error.to_string()))?;
        let mut host = Host {
            program: self,
            emulator,
            memory: Memory::new(),
            params,
            scalars,
            vars: HashMap::new(),
            buffers: Vec::new(),
            own: HashMap::new(),
            options,
            counts: Counts::default(),
        };
        host.check_arguments(arrays)?;
        host.upload(arrays)?;
        host.block(&self.host)?;
        host.download(arrays)?;
        Ok(host.counts)
    }
}

struct Host<'a> {
    program: &'a Program,
    emulator: Emulator,
    memory: Memory,
    params: &'a [i64],
    scalars: &'a [Value],
    vars: HashMap<loops::VarId, i64>,
    /// One for each array.
    buffers: Vec<BufferId>,
    /// Copies of an array for each thread, with their length.
    own: HashMap<ArrayId, (BufferId, i64)>,
    options: &'a Options,
    counts: Counts,
}

impl Host<'_> {
    fn check_arguments(&self, arrays: &[Option<Data>]) -> Result<(), RunError> {
        let kernel = &self.program.loops;
        let check = |what: &str, wanted: usize, found: usize| {
            if wanted == found {
                return Ok(());
            }
            Err(RunError::Arguments(format!("`{}` has {wanted} {what}, not {found}", kernel.name)))
        };
        check("parameters", kernel.params.len(), self.params.len())?;
        check("scalars", kernel.scalars.len(), self.scalars.len())?;
        check("arrays", kernel.arrays.len(), arrays.len())?;
        for (declared, value) in kernel.scalars.iter().zip(self.scalars) {
            if declared.ty != value.ty() {
                let message = format!("`{}` is {}, not {}", declared.name, declared.ty, value.ty());
                return Err(RunError::Arguments(message));
            }
        }
        Ok(())
    }

    fn upload(&mut self, arrays: &[Option<Data>]) -> Result<(), RunError> {
        for (declared, data) in self.program.loops.arrays.iter().zip(arrays) {
            let mut cells = 1i64;
            for extent in &declared.shape {
                cells = self.index(extent)?.max(0).checked_mul(cells).unwrap_or(MAX_BYTES);
            }
            let bytes = cells.saturating_mul(declared.ty.bytes() as i64);
            if bytes >= MAX_BYTES {
                let message = format!("`{}` is too large for the emulator", declared.name);
                return Err(RunError::Arguments(message));
            }
            let content = match data {
                Some(data) if data.ty() != declared.ty => {
                    let message = format!("`{}` is {}, not {}", declared.name, declared.ty, data.ty());
                    return Err(RunError::Arguments(message));
                }
                Some(data) if data.len() as i64 != cells => {
                    let message = format!("`{}` has {cells} cells, not {}", declared.name, data.len());
                    return Err(RunError::Arguments(message));
                }
                Some(data) => to_bytes(data),
                None if matches!(declared.role, Role::In | Role::InOut) => {
                    return Err(RunError::Arguments(format!("`{}` is missing", declared.name)));
                }
                None => vec![0; bytes as usize],
            };
            self.buffers.push(self.memory.allocate(declared.name.clone(), &content));
        }
        Ok(())
    }

    fn download(&self, arrays: &mut [Option<Data>]) -> Result<(), RunError> {
        for ((declared, buffer), place) in self.program.loops.arrays.iter().zip(&self.buffers).zip(arrays) {
            if matches!(declared.role, Role::Out | Role::InOut) {
                let bytes = self.memory.read(*buffer);
                let data = from_bytes(declared.ty, &bytes);
                *place = Some(data.ok_or_else(|| RunError::Bug(format!("`{}` cannot be read", declared.name)))?);
            }
        }
        Ok(())
    }

    fn block(&mut self, steps: &[HostStep]) -> Result<(), RunError> {
        for step in steps {
            match step {
                HostStep::Launch(plan) => self.launch(plan)?,
                HostStep::For { var, lo, hi, step, body } => {
                    let (mut at, end) = (self.index(lo)?, self.index(hi)?);
                    while at < end {
                        self.vars.insert(*var, at);
                        self.block(body)?;
                        at = at.checked_add(*step).ok_or_else(overflow)?;
                    }
                    self.vars.remove(var);
                }
                HostStep::If { cond, then, otherwise } => {
                    let side = if self.cond(cond)? { then } else { otherwise };
                    self.block(side)?;
                }
            }
        }
        Ok(())
    }

    /// How many iterations an axis has.
    fn iterations(&self, axis: &Axis) -> Result<i64, RunError> {
        let (lo, hi) = (self.index(&axis.lo)?, self.index(&axis.hi)?);
        let length = hi.checked_sub(lo).ok_or_else(overflow)?.max(0);
        Ok(length / axis.step + i64::from(length % axis.step != 0))
    }

    fn launch(&mut self, plan: &LaunchPlan) -> Result<(), RunError> {
        let mut grid = [1u32; 3];
        for ((blocks, threads), axis) in grid.iter_mut().zip(plan.block).zip(&plan.axes) {
            let iterations = self.iterations(axis)?;
            if iterations == 0 {
                return Ok(());
            }
            let in_block = if plan.per_block { 1 } else { u64::from(threads) };
            *blocks = u32::try_from((iterations as u64).div_ceil(in_block)).unwrap_or(u32::MAX);
        }
        let threads = grid.iter().chain(&plan.block).map(|axis| i64::from(*axis)).try_fold(1i64, i64::checked_mul);
        let threads = threads.ok_or_else(overflow)?;
        let mut arguments: Vec<Argument> = self.params.iter().map(|param| Argument::S64(*param)).collect();
        for var in &plan.vars {
            let value = self.vars.get(var).copied();
            arguments.push(Argument::S64(value.ok_or_else(|| RunError::Bug("a loop of the host is gone".to_owned()))?));
        }
        arguments.extend(self.scalars.iter().map(|value| argument(*value)));
        for position in 0..self.buffers.len() {
            let array = ArrayId(position as u32);
            let buffer = if plan.private.contains(&array) {
                self.copies(array, threads)?
            } else {
                self.buffers.get(position).copied().ok_or_else(|| RunError::Bug("an array is gone".to_owned()))?
            };
            arguments.push(Argument::Pointer(buffer, 0));
        }
        let launch = Launch { kernel: &plan.kernel, grid, block: plan.block, dynamic_shared: 0, arguments: &arguments };
        let counts = self
            .emulator
            .launch(&launch, &mut self.memory, self.options)
            .map_err(|fault| RunError::Fault { kernel: plan.kernel.clone(), fault })?;
        self.counts.add(&counts);
        Ok(())
    }

    /// A buffer with a copy of the array for each of so many threads.
    fn copies(&mut self, array: ArrayId, threads: i64) -> Result<BufferId, RunError> {
        let declared = self.program.loops.arrays.get(array.index());
        let declared = declared.ok_or_else(|| RunError::Bug("an array is gone".to_owned()))?;
        let mut bytes = threads.checked_mul(declared.ty.bytes() as i64).ok_or_else(overflow)?;
        for extent in &declared.shape {
            bytes = bytes.checked_mul(self.index(extent)?.max(0)).ok_or_else(overflow)?;
        }
        if bytes >= MAX_BYTES {
            let message = format!("a copy of `{}` for each of {threads} threads is too much", declared.name);
            return Err(RunError::Arguments(message));
        }
        match self.own.get(&array) {
            Some((buffer, length)) if *length >= bytes => Ok(*buffer),
            _ => {
                let buffer = self.memory.allocate(declared.name.clone(), &vec![0; bytes as usize]);
                self.own.insert(array, (buffer, bytes));
                Ok(buffer)
            }
        }
    }

    fn index(&self, index: &Index) -> Result<i64, RunError> {
        let pair = |a: &Index, b: &Index| Ok::<_, RunError>((self.index(a)?, self.index(b)?));
        Ok(match index {
            Index::Const(value) => *value,
            Index::Param(param) => {
                let value = self.params.get(param.index()).copied();
                value.ok_or_else(|| RunError::Bug("a parameter is gone".to_owned()))?
            }
            Index::Var(var) => {
                let value = self.vars.get(var).copied();
                value.ok_or_else(|| RunError::Bug("a loop of the host is gone".to_owned()))?
            }
            Index::Add(a, b) => pair(a, b).and_then(|(a, b)| a.checked_add(b).ok_or_else(overflow))?,
            Index::Sub(a, b) => pair(a, b).and_then(|(a, b)| a.checked_sub(b).ok_or_else(overflow))?,
            Index::Mul(a, factor) => self.index(a)?.checked_mul(*factor).ok_or_else(overflow)?,
            Index::FloorDiv(a, divisor) => self.index(a)?.checked_div_euclid(*divisor).ok_or_else(overflow)?,
            Index::Mod(a, divisor) => self.index(a)?.checked_rem_euclid(*divisor).ok_or_else(overflow)?,
            Index::Min(a, b) => pair(a, b).map(|(a, b)| a.min(b))?,
            Index::Max(a, b) => pair(a, b).map(|(a, b)| a.max(b))?,
            Index::Select(cond, a, b) => {
                if self.cond(cond)? {
                    self.index(a)?
                } else {
                    self.index(b)?
                }
            }
        })
    }

    fn cond(&self, cond: &Cond) -> Result<bool, RunError> {
        Ok(match cond {
            Cond::Compare(op, a, b) => op.holds(self.index(a)?, self.index(b)?),
            Cond::Not(inner) => !self.cond(inner)?,
            Cond::And(parts) => {
                for part in parts {
                    if !self.cond(part)? {
                        return Ok(false);
                    }
                }
                true
            }
            Cond::Or(parts) => {
                for part in parts {
                    if self.cond(part)? {
                        return Ok(true);
                    }
                }
                false
            }
        })
    }
}

fn overflow() -> RunError {
    RunError::Arguments("the sizes are too large: index arithmetic overflows".to_owned())
}

/// A scalar as kernels take it: narrow integers and `bool` in 32 bits.
fn argument(value: Value) -> Argument {
    match value {
        Value::F32(v) => Argument::F32(v),
        Value::F64(v) => Argument::F64(v),
        Value::I64(v) => Argument::S64(v),
        Value::I8(v) => Argument::S32(i32::from(v)),
        Value::I16(v) => Argument::S32(i32::from(v)),
        Value::I32(v) => Argument::S32(v),
        Value::U64(v) => Argument::U64(v),
        Value::U8(v) => Argument::U32(u32::from(v)),
        Value::U16(v) => Argument::U32(u32::from(v)),
        Value::U32(v) => Argument::U32(v),
        Value::Bool(v) => Argument::U32(u32::from(v)),
    }
}

fn to_bytes(data: &Data) -> Vec<u8> {
    match data {
        Data::F32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Data::F64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Data::I8(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Data::I16(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Data::I32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Data::I64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Data::U8(v) => v.clone(),
        Data::U16(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Data::U32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Data::U64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Data::Bool(v) => v.iter().map(|x| u8::from(*x)).collect(),
    }
}

fn from_bytes(ty: ScalarType, bytes: &[u8]) -> Option<Data> {
    macro_rules! read {
        ($variant:ident, $element:ty) => {
            Data::$variant(
                bytes
                    .chunks(size_of::<$element>())
                    .map(|chunk| Some(<$element>::from_le_bytes(chunk.try_into().ok()?)))
                    .collect::<Option<_>>()?,
            )
        };
    }
    Some(match ty {
        ScalarType::F32 => read!(F32, f32),
        ScalarType::F64 => read!(F64, f64),
        ScalarType::I8 => read!(I8, i8),
        ScalarType::I16 => read!(I16, i16),
        ScalarType::I32 => read!(I32, i32),
        ScalarType::I64 => read!(I64, i64),
        ScalarType::U8 => Data::U8(bytes.to_vec()),
        ScalarType::U16 => read!(U16, u16),
        ScalarType::U32 => read!(U32, u32),
        ScalarType::U64 => read!(U64, u64),
        ScalarType::Bool => Data::Bool(bytes.iter().map(|byte| *byte != 0).collect()),
    })
}
