//! What every launch must satisfy, emulated or not: grids and blocks that exist, arguments that fit.

/// The most threads of a block, on any GPU.
const MAX_THREADS: u128 = 1024;

/// Checks the number of blocks and threads along each axis.
pub(crate) fn check_shape(
    kernel: &str,
    max_threads: Option<[u32; 3]>,
    grid: [u32; 3],
    block: [u32; 3],
) -> Result<(), String> {
    let product = |axes: [u32; 3]| axes.iter().map(|axis| u128::from(*axis)).product::<u128>();
    let [x, y, z] = grid;
    if product(grid) == 0 || x > i32::MAX as u32 || y > 65_535 || z > 65_535 {
        return Err(format!("a grid of {x} × {y} × {z} blocks does not exist"));
    }
    let [x, y, z] = block;
    let threads = product(block);
    if threads == 0 || threads > MAX_THREADS || z > 64 {
        return Err(format!("a block of {x} × {y} × {z} threads does not exist"));
    }
    match max_threads.map(product) {
        Some(most) if threads > most => Err(format!("{threads} threads in a block; `{kernel}` allows {most}")),
        _ => Ok(()),
    }
}

/// Checks the number of arguments and their sizes against the parameters, which are given by name and size.
pub(crate) fn check_arguments<'a>(
    kernel: &str,
    params: impl ExactSizeIterator<Item = (&'a str, u64)>,
    sizes: &[u64],
) -> Result<(), String> {
    if params.len() != sizes.len() {
        return Err(format!("`{kernel}` takes {} arguments, not {}", params.len(), sizes.len()));
    }
    for ((name, size), got) in params.zip(sizes) {
        if size != *got {
            return Err(format!("the parameter `{name}` has {size} bytes, its argument {got}"));
        }
    }
    Ok(())
}
