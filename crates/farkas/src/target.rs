//! What code is made for, and where it runs.

use std::fmt;
use std::str::FromStr;

use program::{Data, Value};

use crate::CallError;

/// What a function is compiled to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// Machine code of this host.
    #[default]
    Cpu,
    /// PTX for NVIDIA's GPUs from this architecture on: 70 for `sm_70`.
    Ptx {
        /// The number of the architecture.
        sm: u32,
    },
}

/// The architectures that have a name, the oldest first.
const ARCHITECTURES: [u32; 14] = [70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 110, 120, 121];

impl Target {
    /// What PTX is for if nobody says.
    pub(crate) fn ptx(self) -> ptx::ir::Target {
        match self {
            Target::Cpu => ptx::ir::Target::default(),
            Target::Ptx { sm } => ptx::ir::Target::sm(sm),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Cpu => f.write_str("cpu"),
            Target::Ptx { sm } => write!(f, "ptx:sm_{sm}"),
        }
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        let known = || ARCHITECTURES.map(|sm| format!("sm_{sm}")).join(", ");
        match text {
            "cpu" => Ok(Target::Cpu),
            "ptx" => Ok(Target::Ptx { sm: ARCHITECTURES[0] }),
            _ => {
                let Some(name) = text.strip_prefix("ptx:") else {
                    return Err("the targets are cpu, ptx, and ptx with an architecture: ptx:sm_80".to_owned());
                };
                let sm = name.strip_prefix("sm_").and_then(|number| number.parse().ok());
                let sm = sm.filter(|sm| ARCHITECTURES.contains(sm));
                sm.map(|sm| Target::Ptx { sm }).ok_or_else(|| format!("the architectures are {}", known()))
            }
        }
    }
}

/// Where PTX runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// On the first GPU if there is one, otherwise on the emulator.
    #[default]
    Any,
    /// On the emulator, which reports races, uninitialised reads and accesses past the end.
    Emulate,
    /// On the first GPU.
    Gpu,
}

/// Runs a program with one entry for each of its arrays, those of local ones empty.
pub(crate) fn run(
    program: &ptx::Program,
    device: Device,
    params: &[i64],
    scalars: &[Value],
    arrays: &mut [Option<Data>],
) -> Result<(), CallError> {
    match opened(device)? {
        #[cfg(feature = "cuda")]
        Some(gpu) => {
            program.launch(params, scalars, arrays, &gpu)?;
        }
        #[cfg(not(feature = "cuda"))]
        Some(never) => match never {},
        None => {
            program.emulate(params, scalars, arrays, &ptx::emulate::Options::default())?;
        }
    }
    Ok(())
}

/// The GPU to use, or none for the emulator.
#[cfg(feature = "cuda")]
fn opened(device: Device) -> Result<Option<ptx::device::Device>, CallError> {
    let open = || ptx::device::Device::open(0).map(Some).map_err(|error| CallError::Gpu(error.into()));
    match device {
        Device::Emulate => Ok(None),
        Device::Gpu => open(),
        Device::Any if ptx::device::count_devices().is_ok_and(|count| count > 0) => open(),
        Device::Any => Ok(None),
    }
}

/// The GPU to use, or none for the emulator.
#[cfg(not(feature = "cuda"))]
fn opened(device: Device) -> Result<Option<std::convert::Infallible>, CallError> {
    match device {
        Device::Any | Device::Emulate => Ok(None),
        Device::Gpu => Err(CallError::NoLauncher),
    }
}
