//! A missing barrier is a race, not luck.

use farkas_ptx::emulate::FaultKind;

use crate::{cases, run, text_of};

#[test]
fn removing_any_one_barrier_is_reported() {
    let (mut kernels, mut removed) = (0, 0);
    for case in cases::all() {
        let text = text_of(&case.kernel);
        let lines: Vec<&str> = text.lines().collect();
        let barriers: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].trim() == "bar.sync 0;").collect();
        kernels += usize::from(!barriers.is_empty());
        for at in barriers {
            removed += 1;
            let without = [&lines[..at], &lines[at + 1..]].concat().join("\n");
            for seed in 0..4 {
                match run(&case, &without, seed) {
                    Ok(_) => panic!("{}: nothing is wrong without the barrier in line {}", case.kernel.name, at + 1),
                    Err(fault) => assert_eq!(fault.kind, FaultKind::Race, "{}: {fault}", case.kernel.name),
                }
            }
        }
    }
    assert_eq!(kernels, 16, "as many as the documentation says");
    assert!(removed > kernels, "some kernels have several");
}
