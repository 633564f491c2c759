//! What the kernels compute.

use crate::{cases, run, text_of};

#[test]
fn kernels_compute_what_they_say_under_any_interleaving() {
    for case in cases::all() {
        let text = text_of(&case.kernel);
        for seed in 0..3 {
            match run(&case, &text, seed) {
                Ok((found, _)) => assert_eq!(found, case.expected.1, "{}, seed {seed}", case.kernel.name),
                Err(fault) => panic!("{}, seed {seed}: {fault}", case.kernel.name),
            }
        }
    }
}
