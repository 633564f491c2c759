//! Launching on a real GPU where there is one, and a clear error where there is none.
#![forbid(unsafe_code)]
#![expect(clippy::panic, reason = "a test fails by panicking")]

use farkas_ptx::device::{Device, DeviceArgument, DeviceError, DeviceLaunch, count_devices};
use farkas_ptx::emulate::{Argument, Emulator, Launch, Memory, Options};
use farkas_ptx::ir::Target;

const SAXPY: &str = include_str!("foreign/kernels.ptx");

/// The first GPU; where there is none, the error has been looked at.
fn first_device() -> Option<Device> {
    match Device::open(0) {
        Ok(device) => Some(device),
        Err(error @ (DeviceError::NoDriver | DeviceError::NoDevice { .. })) => {
            assert!(error.to_string().contains("`--device emulate`"), "{error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_gpu_that_does_not_exist_is_an_error_that_names_the_emulator() {
    let error = Device::open(1000).expect_err("nobody has a thousand GPUs");
    assert!(error.to_string().contains("`--device emulate`"), "{error}");
    match count_devices() {
        Ok(count) => assert_eq!(error, DeviceError::NoDevice { wanted: 1000, count }),
        Err(reason) => assert_eq!(error, reason),
    }
}

#[test]
fn kernels_on_the_gpu_agree_with_the_emulator() {
    let x: Vec<u8> = (0..1000).flat_map(|i| (i as f32 * 0.37).to_le_bytes()).collect();
    let mut memory = Memory::new();
    let (emulated_x, emulated_y) = (memory.allocate("x", &x), memory.allocate("y", &x));
    let arguments =
        [Argument::S32(1000), Argument::F32(1.5), Argument::Pointer(emulated_x, 0), Argument::Pointer(emulated_y, 0)];
    let (grid, block) = ([8, 1, 1], [128, 1, 1]);
    let launch = Launch { kernel: "saxpy", grid, block, dynamic_shared: 0, arguments: &arguments };
    let emulator = Emulator::load(SAXPY).expect("the text is PTX");
    emulator.launch(&launch, &mut memory, &Options::default()).expect("the kernel is right");

    let Some(device) = first_device() else { return };
    let there = |bytes: &[u8]| device.upload(bytes).unwrap_or_else(|error| panic!("{error}"));
    let (device_x, device_y) = (there(&x), there(&x));
    let arguments = [
        DeviceArgument::S32(1000),
        DeviceArgument::F32(1.5),
        DeviceArgument::Array(&device_x),
        DeviceArgument::Array(&device_y),
    ];
    let launch = DeviceLaunch { kernel: "saxpy", grid, block, dynamic_shared: 0, arguments: &arguments };
    device.launch(SAXPY, &launch).unwrap_or_else(|error| panic!("{error}"));
    let result = device.download(&device_y).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(result, memory.read(emulated_y));
}

#[test]
fn text_that_the_driver_refuses_comes_with_its_log() {
    let Some(device) = first_device() else { return };
    let text = ".version 7.0\n.target sm_70\n.address_size 64\n.entry k() { frobnicate; }\n";
    let launch = DeviceLaunch { kernel: "k", grid: [1; 3], block: [1; 3], dynamic_shared: 0, arguments: &[] };
    match device.launch(text, &launch) {
        Err(DeviceError::Refused { log }) => assert!(log.contains("frobnicate"), "{log}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn programs_on_the_gpu_agree_with_the_emulator() {
    let text = "kernel staged(N; x: in f64[N], y: out f64[N]) {
        array s: f64[64]
        parallel for b in 0..floor(N / 64) {
            alloc s in shared {
                parallel for t in 0..64 { s[t] = x[64 * b + t] }
                parallel for u in 0..64 { y[64 * b + u] = s[63 - u] + s[u] }
            }
        }
    }";
    let tree = loops::verify(loops::parse(text).expect("a tree")).expect("a tree that is right");
    let program = farkas_ptx::emit(&tree, Target::default()).unwrap_or_else(|error| panic!("{error}"));
    let x: Vec<f64> = (0..640).map(f64::from).collect();
    let start = || vec![Some(program::Data::from(x.clone())), None, None];
    let (mut expected, mut found) = (start(), start());
    program.emulate(&[640], &[], &mut expected, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let y: Vec<f64> = (0..640).map(|i| f64::from(64 * (i / 64) + 63 - i % 64 + i)).collect();
    assert_eq!(expected[1], Some(program::Data::from(y)));
    let Some(device) = first_device() else { return };
    program.launch(&[640], &[], &mut found, &device).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found, expected);
}
