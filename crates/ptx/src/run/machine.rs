//! What a program runs on: the emulator, or a GPU.

use program::Value;

use super::RunError;
use crate::emulate::{Argument, BufferId, Counts, Emulator, Launch, Memory, Options};

/// Something with memory of its own that runs kernels. Buffers are counted from 0.
pub(super) trait Machine {
    fn allocate(&mut self, name: &str, content: &[u8]) -> Result<usize, RunError>;
    fn read(&self, buffer: usize) -> Result<Vec<u8>, RunError>;
    fn launch(&mut self, work: &Work<'_>) -> Result<(), RunError>;
}

/// One launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work<'a> {
    pub(super) kernel: &'a str,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) arguments: &'a [Passed],
}

/// What a kernel is given. Narrow integers and `bool` are passed in 32 bits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Passed {
    Buffer(usize),
    Scalar(Value),
}

fn gone() -> RunError {
    RunError::Bug("a buffer is gone".to_owned())
}

#[derive(Debug)]
pub(super) struct Emulated<'a> {
    emulator: Emulator,
    memory: Memory,
    buffers: Vec<BufferId>,
    options: &'a Options,
    /// Of all launches so far.
    pub(super) counts: Counts,
}

impl<'a> Emulated<'a> {
    pub(super) fn new(text: &str, options: &'a Options) -> Result<Emulated<'a>, RunError> {
        let emulator = Emulator::load(text).map_err(|error| RunError::Bug(error.to_string()))?;
        Ok(Emulated { emulator, memory: Memory::new(), buffers: Vec::new(), options, counts: Counts::default() })
    }
}

impl Machine for Emulated<'_> {
    fn allocate(&mut self, name: &str, content: &[u8]) -> Result<usize, RunError> {
        self.buffers.push(self.memory.allocate(name, content));
        Ok(self.buffers.len() - 1)
    }

    fn read(&self, buffer: usize) -> Result<Vec<u8>, RunError> {
        self.buffers.get(buffer).map(|buffer| self.memory.read(*buffer)).ok_or_else(gone)
    }

    fn launch(&mut self, work: &Work<'_>) -> Result<(), RunError> {
        let argument = |passed: &Passed| match passed {
            Passed::Buffer(buffer) => {
                self.buffers.get(*buffer).map(|buffer| Argument::Pointer(*buffer, 0)).ok_or_else(gone)
            }
            Passed::Scalar(value) => Ok(match *value {
                Value::F16(v) => Argument::U32(u32::from(v.to_bits())),
                Value::BF16(v) => Argument::U32(u32::from(v.to_bits())),
                Value::F32(v) => Argument::F32(v),
                Value::F64(v) => Argument::F64(v),
                Value::I64(v) => Argument::S64(v),
                Value::U64(v) => Argument::U64(v),
                Value::I8(v) => Argument::S32(i32::from(v)),
                Value::I16(v) => Argument::S32(i32::from(v)),
                Value::I32(v) => Argument::S32(v),
                Value::U8(v) => Argument::U32(u32::from(v)),
                Value::U16(v) => Argument::U32(u32::from(v)),
                Value::U32(v) => Argument::U32(v),
                Value::Bool(v) => Argument::U32(u32::from(v)),
            }),
        };
        let arguments = work.arguments.iter().map(argument).collect::<Result<Vec<_>, _>>()?;
        let Work { kernel, grid, block, .. } = *work;
        let launch = Launch { kernel, grid, block, dynamic_shared: 0, arguments: &arguments };
        let counts = self
            .emulator
            .launch(&launch, &mut self.memory, self.options)
            .map_err(|fault| RunError::Fault { kernel: kernel.to_owned(), fault })?;
        self.counts.add(&counts);
        Ok(())
    }
}

#[cfg(feature = "cuda")]
pub(super) use device::OnDevice;

#[cfg(feature = "cuda")]
mod device {
    use std::time::Duration;

    use program::Value;

    use super::{Machine, Passed, RunError, Work, gone};
    use crate::device::{Device, DeviceArgument, DeviceArray, DeviceLaunch};

    #[derive(Debug)]
    pub(in crate::run) struct OnDevice<'a> {
        text: String,
        device: &'a Device,
        arrays: Vec<DeviceArray>,
        /// Of all launches so far.
        pub(in crate::run) time: Duration,
    }

    impl<'a> OnDevice<'a> {
        pub(in crate::run) fn new(text: String, device: &'a Device) -> OnDevice<'a> {
            OnDevice { text, device, arrays: Vec::new(), time: Duration::ZERO }
        }
    }

    impl Machine for OnDevice<'_> {
        fn allocate(&mut self, _name: &str, content: &[u8]) -> Result<usize, RunError> {
            self.arrays.push(self.device.upload(content)?);
            Ok(self.arrays.len() - 1)
        }

        fn read(&self, buffer: usize) -> Result<Vec<u8>, RunError> {
            Ok(self.device.download(self.arrays.get(buffer).ok_or_else(gone)?)?)
        }

        fn launch(&mut self, work: &Work<'_>) -> Result<(), RunError> {
            let argument = |passed: &Passed| match passed {
                Passed::Buffer(buffer) => self.arrays.get(*buffer).map(DeviceArgument::Array).ok_or_else(gone),
                Passed::Scalar(value) => Ok(match *value {
                    Value::F16(v) => DeviceArgument::U32(u32::from(v.to_bits())),
                    Value::BF16(v) => DeviceArgument::U32(u32::from(v.to_bits())),
                    Value::F32(v) => DeviceArgument::F32(v),
                    Value::F64(v) => DeviceArgument::F64(v),
                    Value::I64(v) => DeviceArgument::S64(v),
                    Value::U64(v) => DeviceArgument::U64(v),
                    Value::I8(v) => DeviceArgument::S32(i32::from(v)),
                    Value::I16(v) => DeviceArgument::S32(i32::from(v)),
                    Value::I32(v) => DeviceArgument::S32(v),
                    Value::U8(v) => DeviceArgument::U32(u32::from(v)),
                    Value::U16(v) => DeviceArgument::U32(u32::from(v)),
                    Value::U32(v) => DeviceArgument::U32(v),
                    Value::Bool(v) => DeviceArgument::U32(u32::from(v)),
                }),
            };
            let arguments = work.arguments.iter().map(argument).collect::<Result<Vec<_>, _>>()?;
            let Work { kernel, grid, block, .. } = *work;
            let launch = DeviceLaunch { kernel, grid, block, dynamic_shared: 0, arguments: &arguments };
            self.time += self.device.launch(&self.text, &launch)?;
            Ok(())
        }
    }
}
