//! Wide x86-64 code for lane programs: AVX2 with FMA, and AVX-512.
//!
//! In: a verified program.  Out: bytes of a leaf function by the System V convention: the address of the argument block
//! in `rdi`, the status in `eax`.
//! Selection (`select`) makes instructions over virtual registers, `unread` takes back those in vain, `allocate` gives them registers, `encode` bytes.

mod allocate;
mod encode;
mod family;
mod machine;
mod select;
mod unread;

pub(crate) use encode::disassemble;

use super::verify::Verified;

/// Which instructions a host has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wide {
    Avx2,
    Avx512,
}

impl Wide {
    /// Whether this host runs such code.
    pub(crate) fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            match self {
                Wide::Avx2 => avx2,
                Wide::Avx512 => avx2 && avx512,
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            false
        }
    }
}

/// Finished code of a leaf.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) code: Vec<u8>,
    /// Values that had to live in memory.
    pub(crate) spills: usize,
    /// Constants and arguments that are loaded again at each use.
    pub(crate) repeated: usize,
}

pub(crate) fn emit(program: &Verified, wide: Wide) -> diag::Result<Leaf> {
    let wide512 = wide == Wide::Avx512;
    let mut stream = select::select(program, wide512)?;
    unread::drop_unread(&mut stream);
    let allocation = allocate::allocate(&mut stream, wide512)?;
    let code = encode::encode(&stream, &allocation, wide512)?;
    Ok(Leaf { code, spills: allocation.spills, repeated: allocation.repeated })
}
