//! What Cranelift calls where a host lacks an instruction.

extern "C" fn fma(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}

extern "C" fn fmaf(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}

extern "C" fn floor(x: f64) -> f64 {
    x.floor()
}

extern "C" fn floorf(x: f32) -> f32 {
    x.floor()
}

extern "C" fn ceil(x: f64) -> f64 {
    x.ceil()
}

extern "C" fn ceilf(x: f32) -> f32 {
    x.ceil()
}

extern "C" fn trunc(x: f64) -> f64 {
    x.trunc()
}

extern "C" fn truncf(x: f32) -> f32 {
    x.trunc()
}

extern "C" fn nearest(x: f64) -> f64 {
    x.round_ties_even()
}

extern "C" fn nearestf(x: f32) -> f32 {
    x.round_ties_even()
}

/// Names that generated code imports, with their addresses.
pub(crate) fn symbols() -> Vec<(&'static str, *const u8)> {
    vec![
        ("fma", fma as *const u8),
        ("fmaf", fmaf as *const u8),
        ("floor", floor as *const u8),
        ("floorf", floorf as *const u8),
        ("ceil", ceil as *const u8),
        ("ceilf", ceilf as *const u8),
        ("trunc", trunc as *const u8),
        ("truncf", truncf as *const u8),
        ("nearbyint", nearest as *const u8),
        ("nearbyintf", nearestf as *const u8),
        #[cfg(target_arch = "x86_64")]
        ("__cranelift_x86_pshufb", crate::code::shuffle_bytes as *const u8),
    ]
}
