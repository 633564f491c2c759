//! What every launch must satisfy, emulated or not: grids and blocks that exist, arguments that fit.

/// The most threads of a block, on any GPU.
const MAX_THREADS: u128 = 1024;
/// The most blocks along y and z.
const MAX_DOWN: u32 = 65_535;

/// A grid of two axes whose rows of blocks go on along z where there are more than y can have. There may be a few too many.
pub(crate) fn folded([x, y, z]: [u32; 3]) -> [u32; 3] {
    if z != 1 || y <= MAX_DOWN {
        return [x, y, z];
    }
    let layers = y.div_ceil(MAX_DOWN);
    [x, y.div_ceil(layers), layers]
}

/// Checks the number of blocks and threads along each axis.
pub(crate) fn check_shape(
    kernel: &str,
    max_threads: Option<[u32; 3]>,
    grid: [u32; 3],
    block: [u32; 3],
) -> Result<(), String> {
    let product = |axes: [u32; 3]| axes.iter().map(|axis| u128::from(*axis)).product::<u128>();
    let [x, y, z] = grid;
    if product(grid) == 0 {
        return Err(format!("a grid of {x} × {y} × {z} blocks does not exist"));
    }
    if x > i32::MAX as u32 || y > MAX_DOWN || z > MAX_DOWN {
        let most = format!("no GPU has more than {MAX_DOWN} blocks along y or z, nor more than {} along x", i32::MAX);
        return Err(format!("a grid of {x} × {y} × {z} blocks does not exist: {most}"));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_blocks_go_on_along_z() {
        assert_eq!(folded([7, 65_535, 1]), [7, 65_535, 1]);
        assert_eq!(folded([7, 65_536, 1]), [7, 32_768, 2]);
        for rows in [65_537, 200_000, 750_000, u32::MAX] {
            let [_, y, z] = folded([1, rows, 1]);
            let all = u64::from(y) * u64::from(z);
            assert!(all >= u64::from(rows) && all - u64::from(rows) < u64::from(z), "{rows} are {y} × {z}");
        }
        assert_eq!(folded([1, 70_000, 2]), [1, 70_000, 2], "the third axis is taken");
    }
}
