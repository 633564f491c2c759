//! Real GPUs, through the driver's library, which is loaded when it is first asked for.
//!
//! In: PTX text, arrays on the device, a launch.  Out: what the kernel wrote and the time it took, or a
//! [`DeviceError`].  This is the only part of the crate with unsafe code.
//! Not here: the emulator, which needs no driver (`emulate`).
#![expect(unsafe_code, reason = "the driver is a C library")]

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cudarc::driver::sys::{self, CUevent_flags, CUjit_option};
use cudarc::driver::{CudaContext, CudaModule, CudaSlice, CudaStream, DriverError, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

use crate::ir::{Kernel, Module, Target};
use crate::parse::{SyntaxError, parse};
use crate::shape::{check_arguments, check_shape};

/// Why something could not be done on a GPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    #[error(
        "no NVIDIA driver is installed here (its library `libcuda` cannot be loaded); `--device emulate` runs without one"
    )]
    NoDriver,
    #[error("there is no GPU number {wanted}, the driver knows {count}; `--device emulate` runs without one")]
    NoDevice { wanted: usize, count: usize },
    /// The text does not even parse.
    #[error("{0}")]
    Syntax(#[from] SyntaxError),
    #[error("the driver refuses the PTX: {log}")]
    Refused { log: String },
    /// The launch makes no sense.
    #[error("{0}")]
    Launch(String),
    #[error("the driver reports: {0}")]
    Driver(String),
}

impl From<DriverError> for DeviceError {
    fn from(error: DriverError) -> DeviceError {
        DeviceError::Driver(error.to_string())
    }
}

/// A GPU that is ready for work. Work is done in the order it is given.
#[derive(Debug)]
pub struct Device {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    target: Target,
    /// Modules by their text: translating PTX takes the driver longer than most kernels run.
    modules: Mutex<HashMap<String, Loaded>>,
}

#[derive(Clone, Debug)]
struct Loaded {
    module: Arc<CudaModule>,
    /// What the text declares, to check arguments against.
    parsed: Arc<Module>,
}

/// Bytes that stay on the device between calls.
#[derive(Debug)]
pub struct DeviceArray {
    bytes: CudaSlice<u8>,
}

impl DeviceArray {
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// An argument of a kernel. A kernel may write to every array that it is given.
#[derive(Clone, Copy, Debug)]
pub enum DeviceArgument<'a> {
    Array(&'a DeviceArray),
    U32(u32),
    S32(i32),
    U64(u64),
    S64(i64),
    F32(f32),
    F64(f64),
    /// A structure.
    Bytes(&'a [u8]),
}

impl DeviceArgument<'_> {
    fn size(&self) -> u64 {
        match self {
            DeviceArgument::U32(_) | DeviceArgument::S32(_) | DeviceArgument::F32(_) => 4,
            DeviceArgument::Bytes(bytes) => bytes.len() as u64,
            _ => 8,
        }
    }
}

/// Which kernel to run, on how many threads, with what.
#[derive(Clone, Copy, Debug)]
pub struct DeviceLaunch<'a> {
    pub kernel: &'a str,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    pub arguments: &'a [DeviceArgument<'a>],
}

/// How many GPUs there are.
pub fn count_devices() -> Result<usize, DeviceError> {
    // SAFETY: tries to load the library by its usual names and closes it again; the library's own start-up code is
    // trusted, as in every program that uses CUDA.
    if !unsafe { sys::is_culib_present() } {
        return Err(DeviceError::NoDriver);
    }
    match CudaContext::device_count() {
        Ok(count) => Ok(usize::try_from(count).unwrap_or(0)),
        // The driver is installed, but finds nothing to drive.
        Err(DriverError(sys::CUresult::CUDA_ERROR_NO_DEVICE)) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

impl Device {
    /// Opens the GPU with this number, from 0. Without the driver's library, or without such a GPU, an error.
    pub fn open(number: usize) -> Result<Device, DeviceError> {
        // Asked first, because opening a context panics without the library.
        let count = count_devices()?;
        if number >= count {
            return Err(DeviceError::NoDevice { wanted: number, count });
        }
        let context = CudaContext::new(number)?;
        let (major, minor) = context.compute_capability()?;
        let target = target_for(major, minor);
        let stream = context.default_stream();
        Ok(Device { context, stream, target, modules: Mutex::new(HashMap::new()) })
    }

    pub fn name(&self) -> Result<String, DeviceError> {
        Ok(self.context.name()?)
    }

    /// The target whose instructions this GPU has.
    pub fn target(&self) -> Target {
        self.target
    }

    pub fn upload(&self, bytes: &[u8]) -> Result<DeviceArray, DeviceError> {
        if bytes.is_empty() {
            return Ok(DeviceArray { bytes: self.stream.null()? });
        }
        Ok(DeviceArray { bytes: self.stream.clone_htod(bytes)? })
    }

    /// An array of zeros.
    pub fn allocate(&self, bytes: usize) -> Result<DeviceArray, DeviceError> {
        if bytes == 0 {
            return Ok(DeviceArray { bytes: self.stream.null()? });
        }
        Ok(DeviceArray { bytes: self.stream.alloc_zeros(bytes)? })
    }

    /// The content of an array, after all work that was given before.
    pub fn download(&self, array: &DeviceArray) -> Result<Vec<u8>, DeviceError> {
        self.owns(array)?;
        if array.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.stream.clone_dtoh(&array.bytes)?)
    }

    fn owns(&self, array: &DeviceArray) -> Result<(), DeviceError> {
        if Arc::ptr_eq(array.bytes.context(), &self.context) {
            return Ok(());
        }
        Err(DeviceError::Launch("an array is on another device".to_owned()))
    }

    /// Runs a kernel to its end; returns the time that the GPU took for it.
    pub fn launch(&self, text: &str, launch: &DeviceLaunch<'_>) -> Result<Duration, DeviceError> {
        let loaded = self.load(text)?;
        check_launch(&loaded.parsed, launch)?;
        for argument in launch.arguments {
            if let DeviceArgument::Array(array) = argument {
                self.owns(array)?;
            }
        }
        let function = loaded.module.load_function(launch.kernel)?;
        let mut builder = self.stream.launch_builder(&function);
        for argument in launch.arguments {
            match argument {
                DeviceArgument::Array(array) => builder.arg(&array.bytes),
                DeviceArgument::U32(value) => builder.arg(value),
                DeviceArgument::S32(value) => builder.arg(value),
                DeviceArgument::U64(value) => builder.arg(value),
                DeviceArgument::S64(value) => builder.arg(value),
                DeviceArgument::F32(value) => builder.arg(value),
                DeviceArgument::F64(value) => builder.arg(value),
                DeviceArgument::Bytes(bytes) => match bytes.first() {
                    // The driver reads as many bytes from here as the parameter has, and the sizes agree.
                    Some(first) => builder.arg(first),
                    None => return Err(DeviceError::Launch("a structure without bytes".to_owned())),
                },
            };
        }
        let [grid, block] = [launch.grid, launch.block].map(|[x, y, z]| (x, y, z));
        let config = LaunchConfig { grid_dim: grid, block_dim: block, shared_mem_bytes: launch.dynamic_shared };
        let start = self.stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT))?;
        // SAFETY: `check_launch` compared number and sizes of the arguments with what the text declares, all of them
        // outlive this call, and the driver copies them before it returns. What the kernel does touches memory of the
        // device only, where arrays are plain bytes: a kernel that runs out of bounds ends in an error of the driver or
        // in wrong bytes, never in a broken value of the host.
        unsafe { builder.launch(config) }?;
        let end = self.stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT))?;
        let milliseconds = start.elapsed_ms(&end)?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1e3))
    }

    /// The module of a text, from the cache or translated by the driver.
    fn load(&self, text: &str) -> Result<Loaded, DeviceError> {
        let cached = |modules: &HashMap<String, Loaded>| modules.get(text).cloned();
        if let Some(loaded) = cached(&self.modules.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(loaded);
        }
        let parsed = Arc::new(parse(text)?);
        if text.contains('\0') {
            return Err(DeviceError::Launch("the PTX holds a zero byte".to_owned()));
        }
        let module = match self.context.load_module(Ptx::from_src(text)) {
            Ok(module) => module,
            Err(error) => return Err(DeviceError::Refused { log: self.translation_log(text, &error.to_string()) }),
        };
        let loaded = Loaded { module, parsed };
        self.modules.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned(), loaded.clone());
        Ok(loaded)
    }

    /// What the driver's compiler says about a text that it has refused; `otherwise` if it says nothing.
    fn translation_log(&self, text: &str, otherwise: &str) -> String {
        let (Ok(text), Ok(())) = (CString::new(text), self.context.bind_to_thread()) else {
            return otherwise.to_owned();
        };
        let mut log = vec![0u8; 16 << 10];
        let mut module = std::ptr::null_mut();
        let mut options = [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        // Numbers are passed in the place of a pointer.
        let mut values = [log.as_mut_ptr().cast::<c_void>(), std::ptr::without_provenance_mut(log.len())];
        // SAFETY: the text ends in a zero byte; the options and their values are two each and outlive the call; the
        // driver writes at most `log.len()` bytes into `log`, which nothing else uses meanwhile.
        let result = unsafe {
            sys::cuModuleLoadDataEx(
                &mut module,
                text.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        if result == sys::CUresult::CUDA_SUCCESS {
            // SAFETY: the module was loaded just now and is used by nobody.
            let _ = unsafe { sys::cuModuleUnload(module) };
        }
        let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
        let said = String::from_utf8_lossy(&log[..end]).trim().to_owned();
        if said.is_empty() { otherwise.to_owned() } else { said }
    }
}

/// The newest target that a GPU of this compute capability runs.
fn target_for(major: i32, minor: i32) -> Target {
    Target::sm((major.max(0) * 10 + minor.clamp(0, 9)) as u32)
}

fn check_launch(module: &Module, launch: &DeviceLaunch<'_>) -> Result<(), DeviceError> {
    let find = |kernel: &&Kernel| kernel.name == launch.kernel;
    let kernel = module.kernels.iter().find(find).ok_or_else(|| {
        let known: Vec<_> = module.kernels.iter().map(|kernel| format!("`{}`", kernel.name)).collect();
        DeviceError::Launch(format!("no kernel `{}`; there is {}", launch.kernel, known.join(", ")))
    })?;
    check_shape(&kernel.name, kernel.max_threads, launch.grid, launch.block).map_err(DeviceError::Launch)?;
    let params = kernel.params.iter().map(|param| (param.name.as_str(), param.bytes()));
    let sizes: Vec<u64> = launch.arguments.iter().map(DeviceArgument::size).collect();
    check_arguments(&kernel.name, params, &sizes).map_err(DeviceError::Launch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_follow_the_compute_capability() {
        assert_eq!(target_for(8, 6), Target { version: (7, 4), sm: 86 });
        assert_eq!(target_for(12, 0), Target { version: (8, 7), sm: 120 });
    }

    #[test]
    fn launches_are_checked_before_the_driver_sees_them() {
        let text = ".version 7.0\n.target sm_70\n.address_size 64\n.entry k(.param .u32 n) .maxntid 64, 1, 1 { ret; }";
        let module = parse(text).expect("the text is PTX");
        let check = |kernel, grid, block, arguments: &[DeviceArgument<'_>]| {
            let launch = DeviceLaunch { kernel, grid, block, dynamic_shared: 0, arguments };
            check_launch(&module, &launch).map_err(|error| error.to_string())
        };
        let (one, n) = ([1, 1, 1], [DeviceArgument::U32(1)]);
        assert_eq!(check("k", one, one, &n), Ok(()));
        assert_eq!(check("j", one, one, &n), Err("no kernel `j`; there is `k`".to_owned()));
        let too_large = check("k", [1, 70_000, 1], one, &n).expect_err("there is no such grid");
        assert!(too_large.starts_with("a grid of 1 × 70000 × 1 blocks does not exist"), "{too_large}");
        assert_eq!(check("k", one, [128, 1, 1], &n), Err("128 threads in a block; `k` allows 64".to_owned()));
        assert_eq!(check("k", one, one, &[]), Err("`k` takes 1 arguments, not 0".to_owned()));
        let wide = [DeviceArgument::F64(1.0)];
        assert_eq!(check("k", one, one, &wide), Err("the parameter `n` has 4 bytes, its argument 8".to_owned()));
    }
}
