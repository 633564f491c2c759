//! Running a program: the host's part, with arrays as the interpreter has them, on the emulator or on a GPU.
//!
//! In: a [`Program`] and its arguments.  Out: the arrays afterwards and what it cost.
//! Not here: the interpretation of arguments by name, which is the façade's; the machines themselves (`run/machine`).

mod machine;

use std::collections::HashMap;

use loops::{ArrayId, Cond, Index};
use program::{Data, Role, ScalarType, Value};

#[cfg(feature = "cuda")]
use crate::device::DeviceError;
use crate::emit::fault::REPORT_WORDS;
use crate::emit::{Axis, HostStep, LaunchPlan, Program};
use crate::emulate::{Counts, Fault, FaultKind, Options};
use crate::shape::folded;
use machine::{Emulated, Machine, Passed, Work};

/// Buffers that are longer are refused: the emulator keeps records of every cell.
const MAX_BYTES: i64 = 1 << 32;

/// Why a program could not be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// Arguments that do not fit the program.
    #[error("{0}")]
    Arguments(String),
    #[error("{kernel}: {fault}")]
    Fault { kernel: String, fault: Fault },
    /// A check of the program itself failed: its data is at fault.
    #[error("{0}")]
    Data(program::Fault),
    #[cfg(feature = "cuda")]
    #[error("{0}")]
    Device(#[from] DeviceError),
    /// We are at fault.
    #[error("internal error: {0}")]
    Bug(String),
}

/// Who is at fault when kernels do not run to their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// What the call gave: arrays, sizes that make a grid that no GPU has, or a GPU that is not there.
    Arguments,
    /// The emulator's budget of instructions ran out.
    Budget,
    /// A fault of a kernel, or of the GPU.
    Run,
    /// Ours.
    Bug,
}

impl RunError {
    pub fn failure(&self) -> Failure {
        match self {
            RunError::Arguments(_) => Failure::Arguments,
            RunError::Data(_) => Failure::Run,
            RunError::Fault { fault, .. } => match fault.kind {
                FaultKind::Launch => Failure::Arguments,
                FaultKind::Budget => Failure::Budget,
                _ => Failure::Run,
            },
            #[cfg(feature = "cuda")]
            RunError::Device(error) => match error {
                DeviceError::NoDriver | DeviceError::NoDevice { .. } | DeviceError::Launch(_) => Failure::Arguments,
                DeviceError::Syntax(_) | DeviceError::Refused { .. } => Failure::Bug,
                DeviceError::Driver(_) => Failure::Run,
            },
            RunError::Bug(_) => Failure::Bug,
        }
    }
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
        self.emulate_text(&self.module.text(), params, scalars, arrays, options)
    }

    /// The same with another text for the kernels, for those who want to know what becomes of a change in it.
    pub fn emulate_text(
        &self,
        text: &str,
        params: &[i64],
        scalars: &[Value],
        arrays: &mut [Option<Data>],
        options: &Options,
    ) -> Result<Counts, RunError> {
        let mut machine = Emulated::new(text, options)?;
        self.run(&mut machine, params, scalars, arrays)?;
        Ok(machine.counts)
    }

    /// Runs the program on a GPU; arguments are those of [`Program::emulate`]. Returns the time that kernels took.
    #[cfg(feature = "cuda")]
    pub fn launch(
        &self,
        params: &[i64],
        scalars: &[Value],
        arrays: &mut [Option<Data>],
        device: &crate::device::Device,
    ) -> Result<std::time::Duration, RunError> {
        let mut machine = machine::OnDevice::new(self.module.text(), device);
        self.run(&mut machine, params, scalars, arrays)?;
        Ok(machine.time)
    }

    fn run(
        &self,
        machine: &mut impl Machine,
        params: &[i64],
        scalars: &[Value],
        arrays: &mut [Option<Data>],
    ) -> Result<(), RunError> {
        let (vars, buffers, own) = (HashMap::new(), Vec::new(), HashMap::new());
        let mut host = Host { program: self, machine, params, scalars, vars, buffers, own, report: None };
        host.check_arguments(arrays)?;
        host.upload(arrays)?;
        host.block(&self.host)?;
        host.download(arrays)
    }
}

struct Host<'a, M> {
    program: &'a Program,
    machine: &'a mut M,
    params: &'a [i64],
    scalars: &'a [Value],
    vars: HashMap<loops::VarId, i64>,
    /// The machine's buffer for each array.
    buffers: Vec<usize>,
    /// Copies of an array for each thread, with their length.
    own: HashMap<ArrayId, (usize, i64)>,
    /// Where kernels report failed checks, once one of them can.
    report: Option<usize>,
}

impl<M: Machine> Host<'_, M> {
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
        check("arrays", self.program.given, arrays.len())?;
        for (declared, value) in kernel.scalars.iter().zip(self.scalars) {
            if declared.ty != value.ty() {
                let message = format!("`{}` is {}, not {}", declared.name, declared.ty, value.ty());
                return Err(RunError::Arguments(message));
            }
        }
        Ok(())
    }

    fn upload(&mut self, arrays: &[Option<Data>]) -> Result<(), RunError> {
        // What `emit` has added are local arrays.
        let arrays = arrays.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        for (declared, data) in self.program.loops.arrays.iter().zip(arrays) {
            let mut cells = 1i64;
            for extent in &declared.shape {
                cells = self.index(extent)?.max(0).checked_mul(cells).unwrap_or(MAX_BYTES);
            }
            let bytes = cells.saturating_mul(declared.ty.bytes() as i64);
            if bytes >= MAX_BYTES {
                let message = format!("`{}` is too large", declared.name);
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
            self.buffers.push(self.machine.allocate(&declared.name, &content)?);
        }
        Ok(())
    }

    fn download(&self, arrays: &mut [Option<Data>]) -> Result<(), RunError> {
        for ((declared, buffer), place) in self.program.loops.arrays.iter().zip(&self.buffers).zip(arrays) {
            if matches!(declared.role, Role::Out | Role::InOut) {
                let bytes = self.machine.read(*buffer)?;
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
        let grid = if plan.folds() { folded(grid) } else { grid };
        let threads = grid.iter().chain(&plan.block).map(|axis| i64::from(*axis)).try_fold(1i64, i64::checked_mul);
        let threads = threads.ok_or_else(overflow)?;
        let mut arguments: Vec<Passed> = self.params.iter().map(|param| Passed::Scalar(Value::I64(*param))).collect();
        for var in &plan.vars {
            let value = self.vars.get(var).copied();
            let value = value.ok_or_else(|| RunError::Bug("a loop of the host is gone".to_owned()))?;
            arguments.push(Passed::Scalar(Value::I64(value)));
        }
        arguments.extend(self.scalars.iter().map(|value| Passed::Scalar(*value)));
        for position in 0..self.buffers.len() {
            let array = ArrayId(position as u32);
            let buffer = if plan.private.contains(&array) {
                self.copies(array, threads)?
            } else {
                self.buffers.get(position).copied().ok_or_else(|| RunError::Bug("an array is gone".to_owned()))?
            };
            arguments.push(Passed::Buffer(buffer));
        }
        let work = Work { kernel: &plan.kernel, grid, block: plan.block, arguments: &arguments };
        if !plan.reports {
            return self.machine.launch(&work);
        }
        let report = match self.report {
            Some(report) => report,
            None => *self.report.insert(self.machine.allocate("report", &[0; 8 * REPORT_WORDS])?),
        };
        let arguments = [work.arguments, &[Passed::Buffer(report)]].concat();
        self.machine.launch(&Work { arguments: &arguments, ..work })?;
        self.check_report(report)
    }

    /// What the kernels so far have found wrong with the data.
    fn check_report(&self, report: usize) -> Result<(), RunError> {
        let bytes = self.machine.read(report)?;
        let Some(Data::I64(words)) = from_bytes(ScalarType::I64, &bytes) else {
            return Err(RunError::Bug("a report cannot be read".to_owned()));
        };
        let [number, value, earlier] = words[..] else {
            return Err(RunError::Bug("a report has another length".to_owned()));
        };
        if number == 0 {
            return Ok(());
        }
        let site = usize::try_from(number).ok().and_then(|number| self.program.sites.get(number.checked_sub(1)?));
        let site = site.ok_or_else(|| RunError::Bug("a check is reported that does not exist".to_owned()))?;
        Err(RunError::Data(site.fault([value, earlier], &self.program.loops.arrays, self.params)))
    }

    /// A buffer with a copy of the array for each of so many threads.
    fn copies(&mut self, array: ArrayId, threads: i64) -> Result<usize, RunError> {
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
                let buffer = self.machine.allocate(&declared.name, &vec![0; bytes as usize])?;
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
            Index::Xor(a, b) => pair(a, b).map(|(a, b)| a ^ b)?,
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

fn to_bytes(data: &Data) -> Vec<u8> {
    match data {
        Data::F16(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Data::BF16(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
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
        ScalarType::F16 => read!(F16, program::f16),
        ScalarType::BF16 => read!(BF16, program::bf16),
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
